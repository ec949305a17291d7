//! The question whether code may run, and the answers that hold for more than this code.

use super::{
    ask::{Choice, Left, choice},
    editor,
    found::finding,
    keyboard::Typing,
    ours::{count, ours},
    pager,
    person::Console,
    questions::gone,
    screen::{Screen, Section},
    syntax::Syntax,
};
use interpreter_core::{
    Coverage, Span,
    session::{Covered, GivenAnswer, Question},
};

/// An answer to the question whether code may run.
#[derive(Clone, Copy, Debug)]
enum Said {
    Run,
    Reject,
    Why,
    Edit,
    Details,
    Stand,
    Quit,
}

/// Code that may run from now on without a question.
#[derive(Clone, Copy, Debug)]
enum Standing {
    Turn,
    Kind,
    Session,
    Lasting,
    Back,
}

impl Console {
    /// Asks whether code may run, as often as it takes. `None` means that the person leaves.
    pub(super) async fn about_code(
        &mut self,
        screen: &mut Screen,
        question: &Question,
    ) -> Result<Option<GivenAnswer>, Left> {
        let mut choices = vec![
            choice('y', "run", Said::Run),
            choice('n', "reject", Said::Reject),
            choice('w', "reject and say why", Said::Why),
            choice('e', "edit", Said::Edit),
            choice('d', "details", Said::Details),
            choice('q', "quit", Said::Quit),
        ];
        if question.may_stand {
            choices.insert(1, choice('a', "run, and more without asking …", Said::Stand));
        }
        loop {
            match self.asker.choose(screen, &ours("Run it?"), &choices).await? {
                Said::Run => return Ok(Some(GivenAnswer::Run)),
                Said::Reject => return Ok(Some(GivenAnswer::Reject { reason: None })),
                Said::Why => {
                    let draw = |screen: &mut Screen| screen.say("Why not? (sent to the model)");
                    let why = self.asker.line(screen, draw, Typing::Shown).await?;
                    let reason = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
                    return Ok(Some(GivenAnswer::Reject { reason }));
                }
                Said::Edit => {
                    let proposal = &question.proposal;
                    let name = format!("edit-{}-{}.txt", std::process::id(), proposal.id);
                    let text = proposal.code().raw().to_owned();
                    match self.written(screen, text, name).await {
                        Some(code) => return Ok(Some(GivenAnswer::Edit { code })),
                        None => {
                            gone(
                                screen.say("Nothing saved in the editor; the code is unchanged."),
                            )?;
                        }
                    }
                }
                Said::Details => self.details(screen, question).await?,
                Said::Stand => {
                    if let Some(answer) = self.standing(screen, question).await? {
                        return Ok(Some(answer));
                    }
                }
                Said::Quit => return Ok(None),
            }
        }
    }

    /// Asks which code runs from now on without a question. It takes a second key, different from
    /// the first, because it holds for code that nobody has seen yet.
    async fn standing(
        &mut self,
        screen: &mut Screen,
        question: &Question,
    ) -> Result<Option<GivenAnswer>, Left> {
        let kind = Coverage::kind_of(&question.proposal, &question.findings);
        gone(screen.say("This kind means:"))?;
        gone(screen.row(&kind.words()))?;
        gone(screen.say(
            "Rules, edited code and higher risk are still asked about. /rules lists what holds; \
             /deny takes it back.",
        ))?;
        let mut choices: Vec<Choice<Standing>> = vec![
            choice('t', "all code, this turn", Standing::Turn),
            choice('k', "this kind, this session", Standing::Kind),
            choice('s', "all code, this session", Standing::Session),
            choice('b', "back", Standing::Back),
        ];
        if question.may_last {
            choices.insert(2, choice('f', "this kind, for good", Standing::Lasting));
        }
        let asked = ours("Run it, and from now on run which code without asking?");
        let stand = |span, covers| Some(GivenAnswer::Stand { span, covers });
        Ok(match self.asker.choose(screen, &asked, &choices).await? {
            Standing::Turn => stand(Span::Turn, Covered::All),
            Standing::Kind => stand(Span::Session, Covered::Kind),
            Standing::Lasting => stand(Span::Always, Covered::Kind),
            Standing::Session => stand(Span::Session, Covered::All),
            Standing::Back => None,
        })
    }

    /// A text as the person's editor saved it, or `None` if nothing was saved.
    pub(crate) async fn written(
        &mut self,
        screen: &mut Screen,
        text: String,
        name: String,
    ) -> Option<String> {
        let folder = self.folders.make_cache_folder().ok()?.to_owned();
        let copy = editor::Copy { text, name, folder };
        let editor = self.editor.clone();
        let device = self.asker.lent_device();
        let edit = move || editor::edit(&copy, editor.as_deref(), device.as_ref());
        let saved = self.asker.lend(edit).await?;
        match saved {
            Ok(text) => text,
            Err(error) => {
                // If that cannot be said, the terminal is gone, and the next question notices.
                _ = screen.error(&error.to_string(), None).is_ok();
                None
            }
        }
    }

    /// Shows the whole code and every finding.
    async fn details(&mut self, screen: &mut Screen, question: &Question) -> Result<(), Left> {
        let code = question.drawn.text();
        let section = Section::Code(Syntax::of(question.proposal.language.written_in()));
        let shown = pager::text(&mut self.asker, screen, section, code);
        shown.await.unwrap_or(Err(Left::Ended))?;
        let found = question.findings.by_severity();
        let rows: Vec<_> = found
            .iter()
            .map(|one| format!("{:<7} {}", one.severity.word(), finding(one)))
            .collect();
        gone(screen.say(count(rows.len(), "finding") + ":"))?;
        pager::rows(&mut self.asker, screen, &rows).await.unwrap_or(Err(Left::Ended)).map(drop)
    }
}
