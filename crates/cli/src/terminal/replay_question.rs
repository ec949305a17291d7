//! The question whether cells may run again.

use super::{
    ask::{Left, choice},
    frontend::Frontend,
    ours::{count, ours, word},
    person::Console,
    questions::gone,
    screen::{Screen, Section},
    syntax::Syntax,
};
use crate::report::Error;
use interpreter_core::{
    Findings, Grantor, Risk, Untrusted,
    session::{Event, GivenAnswer, Posed, ReplayCell, ReplayQuestion},
};

/// Cells and findings that are listed; the rest is a key away.
const LISTED: usize = 12;

/// Characters of the first line of a cell.
const LINE: usize = 200;

#[derive(Clone, Copy)]
enum Said {
    Run,
    No,
    Show,
}

impl Frontend {
    /// Cells are to run again. Nobody to ask means no.
    pub(super) async fn replay(&mut self, posed: &Posed<ReplayQuestion>) -> Result<(), Error> {
        let _held = self.view.hold_input();
        let said = match self.asked().await {
            Ok((_lock, console, screen)) => console.about_cells(screen, &posed.about).await,
            Err(left) => Err(left),
        };
        let reject = GivenAnswer::Reject { reason: None };
        let event = match said {
            Ok(true) => posed.answer(GivenAnswer::Run),
            Ok(false) | Err(Left::Ended) => posed.answer(reject),
            Err(Left::Interrupted) => Event::Interrupted,
            Err(Left::Terminated) => Event::Quit,
            Err(Left::Nobody(_)) => posed.answer_by(reject, Grantor::Nobody),
        };
        self.session.send(event);
        Ok(())
    }
}

impl Console {
    /// Lists cells with what they would do, and asks whether they run again.
    async fn about_cells(
        &mut self,
        screen: &mut Screen,
        asked: &ReplayQuestion,
    ) -> Result<bool, Left> {
        let ReplayQuestion { cells, left_out } = asked;
        gone(draw(screen, cells))?;
        for one in left_out {
            gone(screen.row_of_words(&format!("left out: {}, {}", one.cell, one.why)))?;
        }
        let (noun, all) =
            if cells.len() == 1 { ("it", "its code") } else { ("them", "all the code") };
        let choices = [
            choice('y', "run again", Said::Run),
            choice('n', "no", Said::No),
            choice('d', all, Said::Show),
        ];
        loop {
            let question = ours("Run ") + noun + " again, in new interpreters?";
            match self.asker.choose(screen, &question, &choices).await? {
                Said::Run => return Ok(true),
                Said::No => return Ok(false),
                Said::Show => {
                    for ReplayCell { proposal, .. } in cells {
                        let language = proposal.language.name();
                        gone(screen.say(word(proposal.again_id()) + " " + word(language)))?;
                        let syntax = Syntax::of(proposal.language.written_in());
                        gone(screen.quote(Section::Code(syntax), proposal.code()))?;
                    }
                }
            }
        }
    }
}

fn draw(screen: &mut Screen, cells: &[ReplayCell]) -> std::io::Result<()> {
    let most = if screen.folds() { LISTED } else { usize::MAX };
    for ReplayCell { proposal, .. } in cells.iter().take(most) {
        let (id, language) = (proposal.again_id(), proposal.language.name());
        screen.row(&format!("{id:<4} {language:<8} {}", first_line(proposal.code())))?;
    }
    if cells.len() > most {
        screen.say(ours("and ") + (cells.len() - most) + " more (press d)")?;
    }
    let all = cells.iter().flat_map(|cell| cell.findings.capabilities.iter().cloned());
    let all = Findings::new(all.collect());
    let risk = cells.iter().map(|cell| cell.findings.risk).max().unwrap_or(Risk::Low);
    let words = count(cells.len(), "cell") + " would run again, risk at most " + risk.word();
    let found = all.by_severity();
    if found.is_empty() {
        return screen.say(words + ".");
    }
    screen.say(words + ":")?;
    for one in found.iter().take(most) {
        screen.row(&one.words())?;
    }
    if found.len() > most {
        screen.say(ours("and ") + (found.len() - most) + " more")?;
    }
    Ok(())
}

/// The first line of code that says something.
pub(crate) fn first_line(code: &Untrusted) -> String {
    let mut lines = code.raw().lines().map(str::trim).filter(|line| !line.is_empty());
    let first = Untrusted::new(lines.next().unwrap_or_default()).for_terminal_line(LINE);
    let more = if lines.next().is_some() { " …" } else { "" };
    first + more
}
