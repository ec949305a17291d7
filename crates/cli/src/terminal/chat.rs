//! A chat on a terminal: replies as they come, code, output, and what was changed.

use super::{
    gallery::Exhibit,
    ours::{Ours, count, duration, ours, word},
    screen::{Screen, Section},
    transcript::{self, Ending},
};
use interpreter_agent::Live;
use interpreter_core::{
    Body, Confinement, Merged, Origin, Output, Record, Stream, Untrusted, forms, session::Question,
};
use std::io;

/// Findings that a question lists; the rest is a key away.
const FINDINGS: usize = 12;

/// Lines of one finding that are named.
const LINES: usize = 5;

/// The kind of text at the end of the screen.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(super) screen: Screen,
    /// Where every run happens, and what bounds it.
    confinement: Confinement,
    /// Whether something stands right above.
    is_below: bool,
    /// The code that was shown last, if nothing came after it.
    shown: Option<String>,
    /// How full the model's context is, where that is known.
    full: Option<Ours>,
}

impl Chat {
    pub(crate) fn new(screen: Screen, confinement: Confinement) -> Self {
        Self { screen, confinement, is_below: false, shown: None, full: None }
    }

    /// The screen, for rows of ours and for questions.
    pub(crate) fn screen(&mut self) -> &mut Screen {
        self.shown = None;
        self.is_below = true;
        &mut self.screen
    }

    /// Shows a piece of a reply.
    pub(crate) fn live(&mut self, live: &Live) -> io::Result<()> {
        match live {
            Live::Text(text) => self.write(Section::Prose, text),
            Live::Reasoning(text) => self.write(Section::Thoughts, text),
            Live::CodeBegins(language) => {
                self.screen.close()?;
                self.label(language.as_ref())?;
                self.shown = Some(String::new());
                Ok(())
            }
            Live::Code(code) => self.write(Section::Code, code),
            Live::CodeEnds | Live::ReplyEnds => self.screen.close(),
        }
    }

    /// The language of the code below, as the model wrote it.
    fn label(&mut self, language: Option<&Untrusted>) -> io::Result<()> {
        let tag = language.map(|tag| tag.for_terminal_line(40)).unwrap_or_default();
        self.screen.stream(Section::Thoughts, &Untrusted::new(format!("{tag}\n")))?;
        self.screen.close()
    }

    /// Shows a record, if there is anything to say about it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are not shown")]
    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        match &record.body {
            Body::Output(output) => self.output(output),
            Body::RunFinished { .. } => match Ending::of(&record.body) {
                Some((ending, ms)) => self.ended(&ending, ms),
                None => Ok(()),
            },
            Body::ModelChanged { model } => {
                self.full = None;
                let screen = self.screen();
                screen.say("Switched model; it receives the conversation so far:")?;
                screen.row(model)
            }
            Body::Usage { input, output, context, .. } => {
                self.full = context.and_then(|most| transcript::fullness(*input, *output, most));
                Ok(())
            }
            Body::TurnFinished { end } => {
                match transcript::turn_end(*end) {
                    Some(words) => self.screen().say(words)?,
                    None => self.screen.close()?,
                }
                match self.full.take() {
                    Some(full) => self.screen().say_quietly(full),
                    None => Ok(()),
                }
            }
            Body::RunStarted { .. }
            | Body::Effects { .. }
            | Body::Changes(_)
            | Body::StandingGiven(_)
            | Body::StandingRevoked { .. }
            | Body::NotProposed { .. }
            | Body::Error { .. }
            | Body::Note { .. } => transcript::show(self.screen(), &record.body, true),
            _ => Ok(()),
        }
    }

    fn output(&mut self, output: &Output) -> io::Result<()> {
        if let Some(text) = forms::legible(&output.mime, &output.text) {
            self.write(Section::Output, &text)?;
        }
        match output.stream {
            Stream::Result => self.screen.close(),
            Stream::Stdout | Stream::Stderr => Ok(()),
        }
    }

    /// Shows the file of a result, and the picture where that is possible.
    pub(super) fn exhibit(&mut self, exhibit: &Exhibit) -> io::Result<()> {
        exhibit.paint(&mut self.screen)?;
        exhibit.show(self.screen())
    }

    fn ended(&mut self, ending: &Ending<'_>, ms: u64) -> io::Result<()> {
        let words = ending.words() + " · " + duration(ms);
        let screen = self.screen();
        if ending.is_fine() {
            return screen.say_quietly(words);
        }
        screen.warn(words)?;
        ending.limit().iter().try_for_each(|limit| screen.row(limit))
    }

    /// Shows a question: the code, unless it stands right above, and what it would do.
    pub(crate) fn question(&mut self, question: &Question) -> io::Result<()> {
        self.screen.close()?;
        let proposal = &question.proposal;
        if self.shown.take().as_deref() != Some(proposal.code().raw()) {
            self.code(question)?;
        }
        let lines = proposal.code().raw().lines().count();
        let words = word(&proposal.id)
            + " "
            + word(proposal.language.name())
            + ", "
            + count(lines, "line")
            + ", risk "
            + question.findings.risk.word()
            + "; "
            + transcript::within(&self.confinement)
            + ": "
            + transcript::bounds(&self.confinement);
        let granted = transcript::granted(&self.confinement);
        let alarming = transcript::is_alarming(&self.confinement);
        let screen = self.screen();
        screen.announce(words, alarming)?;
        granted.iter().try_for_each(|row| screen.row(row))?;
        let found = question.findings.by_severity();
        findings(screen, &found[..found.len().min(FINDINGS)])?;
        if let Some(rest) = found.get(FINDINGS..).filter(|rest| !rest.is_empty()) {
            screen.say(ours("and ") + rest.len() + " more (press d): " + kinds(rest))?;
        }
        // That a model's code is asked about needs no explaining.
        match (proposal.origin, question.verdict.rule.strip_prefix("default: ")) {
            (Origin::Model, Some(_)) => Ok(()),
            (Origin::Model | Origin::Person, _) => {
                screen.row(&format!("reason to ask: {}", question.verdict.rule))
            }
        }
    }

    /// Shows the code of a question.
    fn code(&mut self, question: &Question) -> io::Result<()> {
        let proposal = &question.proposal;
        self.label(Some(&Untrusted::new(proposal.language.name())))?;
        self.screen.stream(Section::Code, proposal.code())?;
        self.screen.close()
    }

    /// Shows which line of the code runs, until something else is shown.
    pub(crate) fn line(&mut self, line: u32) -> io::Result<()> {
        self.screen.say_in_passing(ours("line ") + line + " …")
    }

    fn write(&mut self, section: Section, text: &Untrusted) -> io::Result<()> {
        match section {
            Section::Code => {
                if let Some(shown) = &mut self.shown {
                    shown.push_str(text.raw());
                }
            }
            // Blank lines after code are how Markdown ends, not something said.
            Section::Prose | Section::Thoughts if text.raw().trim().is_empty() => {
                if !self.screen.is_open() {
                    return Ok(());
                }
            }
            Section::Prose | Section::Thoughts | Section::Output => self.shown = None,
        }
        if !self.screen.is_open() && section == Section::Prose && self.is_below {
            // A blank row between a reply and whatever came before it.
            self.is_below = false;
            self.screen.blank()?;
        }
        self.is_below = true;
        self.screen.stream(section, text)
    }
}

/// Lists findings.
pub(super) fn findings(screen: &mut Screen, found: &[Merged<'_>]) -> io::Result<()> {
    found.iter().try_for_each(|one| screen.row(&finding(one)))
}

/// One finding, with its lines.
pub(super) fn finding(one: &Merged<'_>) -> String {
    let Merged { name, argument, lines, .. } = one;
    let argument = argument.for_terminal_line(usize::MAX);
    let numbers: Vec<_> = lines.iter().take(LINES).map(u32::to_string).collect();
    let more = if lines.len() > LINES { " …" } else { "" };
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    format!("{name} {argument} ({noun} {}{more})", numbers.join(", "))
}

/// How many of each kind there are.
fn kinds(rest: &[Merged<'_>]) -> Ours {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for one in rest {
        match counts.iter_mut().find(|(name, _)| *name == one.name) {
            Some((_, number)) => *number += 1,
            None => counts.push((one.name, 1)),
        }
    }
    Ours::joined(counts.into_iter().map(|(name, number)| ours(number) + " " + word(name)), ", ")
}
