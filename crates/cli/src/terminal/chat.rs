//! A chat on a terminal: replies as they come, code, output, and what was changed.

use super::{
    confined,
    fold::{Fold, Folded},
    found,
    gallery::Exhibit,
    life::{Doing, Life, time},
    ours::{count, duration, ours, thousands, word},
    screen::{Screen, Section},
    status::Status,
    syntax::Syntax,
    transcript::{self, Ending},
};
use interpreter_agent::{Headway, Live};
use interpreter_core::{
    Body, Confinement, Grantor, Origin, Output, Record, Stream, Untrusted, forms,
    record::Decision,
    redact::named,
    session::{INTERRUPTED, Question},
};
use std::{collections::HashMap, io, time::Instant};

/// Findings that a question lists; the rest is a key away.
const FINDINGS: usize = 12;

/// The last lines of a long output that are shown while more of it comes.
const WINDOW: usize = 4;

/// A chat on its screen.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(super) screen: Screen,
    /// Where every run happens, and what bounds it.
    confinement: Confinement,
    /// Whether something stands right above.
    is_below: bool,
    /// The code that was shown last, if nothing came after it.
    shown: Option<String>,
    /// The language of the code that is being shown.
    syntax: Syntax,
    /// The language of the code that was asked about last: a call may name its own at the end.
    usual: Syntax,
    status: Status,
    life: Life,
    /// Whether long output and thoughts are folded where the screen folds anything.
    folds: bool,
    /// The run whose output comes, and how much of it.
    printed: Option<(String, Fold)>,
    /// The cells that run again, by the ids that they have now.
    again: HashMap<String, String>,
    /// Whether the run whose output comes is one of them.
    is_again: bool,
    /// Words of the thoughts that are folded.
    thoughts: u64,
    /// Notes that came below code that is about to be asked about.
    held: Vec<Body>,
    /// The line that the person is typing meanwhile.
    draft: String,
}

impl Chat {
    pub(crate) fn new(screen: Screen, confinement: Confinement) -> Self {
        Self {
            screen,
            confinement,
            is_below: false,
            shown: None,
            syntax: Syntax::default(),
            usual: Syntax::of("python"),
            status: Status::default(),
            life: Life::default(),
            folds: false,
            printed: None,
            again: HashMap::new(),
            is_again: false,
            thoughts: 0,
            held: Vec::new(),
            draft: String::new(),
        }
    }

    /// The same, with long output and thoughts folded where a person reads along.
    pub(crate) fn folding(self) -> Self {
        Self { folds: true, ..self }
    }

    fn is_folding(&self) -> bool {
        self.folds && self.screen.folds()
    }

    /// The screen, for rows of ours and for questions.
    pub(crate) fn screen(&mut self) -> &mut Screen {
        // If it cannot be written to, whoever gets it finds out.
        _ = self.unfold().is_ok();
        self.shown = None;
        self.is_below = true;
        &mut self.screen
    }

    /// Whether a person reads along.
    pub(super) fn is_at_terminal(&self) -> bool {
        self.screen.is_terminal()
    }

    /// Shows a piece of a reply.
    pub(crate) fn live(&mut self, live: &Live) -> io::Result<()> {
        match live {
            Live::Reasoning(text) => return self.think(text),
            Live::ReplyEnds => {
                self.end_thoughts()?;
                self.life.rest();
            }
            Live::Text(_)
            | Live::CodeBegins(_)
            | Live::CallBegins(_)
            | Live::Code(_)
            | Live::CodeEnds => {
                self.end_thoughts()?;
                self.life.turn_into(Doing::Writing);
            }
        }
        match live {
            Live::Text(text) => self.write(Section::Prose, text),
            Live::Reasoning(text) => self.write(Section::Thoughts, text),
            Live::CodeBegins(language) => self.begin_code(language.as_ref(), Syntax::default()),
            Live::CallBegins(language) => self.begin_code(language.as_ref(), self.usual),
            Live::Code(code) => self.write(Section::Code(self.syntax), code),
            Live::CodeEnds | Live::ReplyEnds => self.screen.close(),
        }
    }

    /// Code begins, in this language or else in `usual`.
    fn begin_code(&mut self, language: Option<&Untrusted>, usual: Syntax) -> io::Result<()> {
        self.screen.close()?;
        self.label(language)?;
        self.syntax = language.map_or(usual, |language| Syntax::of(language.raw()));
        self.shown = Some(String::new());
        Ok(())
    }

    /// Shows thoughts, or counts them.
    fn think(&mut self, text: &Untrusted) -> io::Result<()> {
        if !self.is_folding() {
            self.life.turn_into(Doing::Writing);
            return self.write(Section::Thoughts, text);
        }
        self.thoughts += text.raw().split_whitespace().count() as u64;
        self.life.turn_into(Doing::Thinking { words: self.thoughts });
        self.come()
    }

    fn end_thoughts(&mut self) -> io::Result<()> {
        let words = std::mem::take(&mut self.thoughts);
        if words == 0 {
            return Ok(());
        }
        let told = ours("thought for ") + time(self.life.seconds()) + ", " + count(words, "word");
        self.screen().say_quietly(told)
    }

    /// Shows how the model comes on before it says anything.
    pub(crate) fn headway(&mut self, headway: Headway) -> io::Result<()> {
        self.life.turn_into(Doing::Waiting(Some(headway)));
        self.come()
    }

    /// When the row that tells what is going on is to be drawn next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.life.due().filter(|_| self.screen.is_terminal())
    }

    /// Tells what is going on, where nothing else can be seen.
    pub(crate) fn pulse(&mut self) -> io::Result<()> {
        self.screen.settle()?;
        let Some(words) = self.life.row() else { return Ok(()) };
        let window = match &self.printed {
            Some((_, fold)) if fold.is_hiding() => fold.last(WINDOW),
            Some(_) | None => Vec::new(),
        };
        self.screen.show_in_passing(&window, words, &self.draft)
    }

    /// The person types the next prompt while something else is going on.
    pub(crate) fn typed(&mut self, draft: String) -> io::Result<()> {
        self.draft = draft;
        if self.due().is_some() { self.pulse() } else { Ok(()) }
    }

    /// The same because something came, but not each time.
    fn come(&mut self) -> io::Result<()> {
        if self.life.is_old() { self.pulse() } else { Ok(()) }
    }

    /// Takes in a record that may not be shown.
    pub(super) fn notice(&mut self, body: &Body) {
        self.status.notice(body);
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
            Body::Request { .. } => {
                self.release()?;
                self.unfold()?;
                self.life.begin(Doing::Waiting(None));
                Ok(())
            }
            Body::Proposal { id, again: Some(cell), .. } => {
                self.again.insert(id.clone(), cell.clone());
                Ok(())
            }
            Body::RunStarted { proposal, .. } => {
                let (proposal, line, lines) = (proposal.clone(), None, 0);
                self.is_again = self.is_folding() && self.again.contains_key(&proposal);
                let fold = if self.is_again { Fold::hidden() } else { Fold::default() };
                self.printed = self.is_folding().then(|| (proposal.clone(), fold));
                self.life.begin(Doing::Running { proposal, line, lines });
                transcript::show(self.screen(), &record.body, true)
            }
            Body::RunFinished { proposal, .. } => match Ending::of(&record.body) {
                Some((ending, ms)) => self.ended(proposal, &ending, ms),
                None => Ok(()),
            },
            Body::ModelChanged { model, .. } => {
                let screen = self.screen();
                screen.say("Switched model; it receives the conversation so far:")?;
                screen.row(model)
            }
            Body::TurnFinished { end } => {
                self.life.rest();
                self.release()?;
                match transcript::turn_end(*end) {
                    Some(words) => self.screen().say(words)?,
                    None => self.screen().close()?,
                }
                let at_terminal = self.screen.is_terminal();
                let row = if at_terminal { self.status.row() } else { self.status.take_full() };
                match row {
                    Some(row) => self.screen().say_quietly(row),
                    None => Ok(()),
                }
            }
            Body::Answer {
                decision: Decision::Reject,
                by: Grantor::Person,
                proposal,
                reason,
                ..
            } => {
                let told = if reason.is_some() { "; the model gets the reason." } else { "." };
                self.screen().say(ours("Rejected. ") + word(proposal) + " did not run" + told)
            }
            // The end of the turn says so too, and without code that comes at once.
            Body::Note { text } if text == INTERRUPTED && !self.life.is_running() => Ok(()),
            // Nothing stands between code and its question.
            Body::Note { .. } | Body::TriedLate { .. } if self.shown.is_some() => {
                self.held.push(record.body.clone());
                Ok(())
            }
            Body::Effects { .. }
            | Body::TriedLate { .. }
            | Body::Changes(_)
            | Body::StandingGiven(_)
            | Body::StandingRevoked { .. }
            | Body::HostRevoked { .. }
            | Body::NotProposed { .. }
            | Body::PackagesGranted { .. }
            | Body::PackagesChanged { .. }
            | Body::PackagesFailed { .. }
            | Body::Restarted { .. }
            | Body::Rewound { .. }
            | Body::CameBack(_)
            | Body::Error { .. }
            | Body::FileHeader(_)
            | Body::Note { .. } => transcript::show(self.screen(), &record.body, true),
            _ => Ok(()),
        }
    }

    /// Shows the notes that were held back.
    fn release(&mut self) -> io::Result<()> {
        for note in std::mem::take(&mut self.held) {
            transcript::show(self.screen(), &note, true)?;
        }
        Ok(())
    }

    fn output(&mut self, output: &Output) -> io::Result<()> {
        let text = forms::legible(&output.mime, &output.text);
        if let Some(text) = text.filter(|_| !forms::is_mere_name(output)) {
            self.print(&output.proposal, &text)?;
        }
        match output.stream {
            Stream::Result => self.screen.close(),
            Stream::Stdout | Stream::Stderr => Ok(()),
        }
    }

    /// Shows the file of a result, and the picture where that is possible.
    pub(super) fn exhibit(&mut self, exhibit: &Exhibit) -> io::Result<()> {
        if self.is_again {
            return Ok(());
        }
        exhibit.paint(&mut self.screen)?;
        exhibit.show(self.screen())
    }

    /// Shows output, or as much of it as is not folded.
    fn print(&mut self, proposal: &str, text: &Untrusted) -> io::Result<()> {
        if let Some(Doing::Running { lines, .. }) = self.life.doing() {
            *lines += text.raw().bytes().filter(|byte| *byte == b'\n').count() as u64;
        }
        let Some((_, fold)) = self.printed.as_mut().filter(|(run, _)| run == proposal) else {
            return self.write(Section::Printed, text);
        };
        let shown = fold.take(text.raw());
        if shown.len() == text.raw().len() {
            self.write(Section::Printed, text)?;
            return self.come();
        }
        if !shown.is_empty() {
            self.write(Section::Printed, &Untrusted::new(shown))?;
            self.screen.close()?;
        }
        self.come()
    }

    /// Shows the end of the output that was folded, and how to see the rest of it.
    fn unfold(&mut self) -> io::Result<()> {
        if self.is_again {
            return Ok(());
        }
        let Some((proposal, fold)) = &mut self.printed else { return Ok(()) };
        let Some(Folded { more, is_cut, tail }) = fold.show() else { return Ok(()) };
        let left_out = match more {
            0 if is_cut => Some(ours("part of a long line left out")),
            0 => None,
            1 => Some(ours("1 line more")),
            _ => Some(thousands(more) + " lines more"),
        };
        if let Some(left_out) = left_out {
            self.screen.say_quietly(left_out + ": /output " + word(proposal))?;
        }
        self.screen.stream(Section::Printed, &Untrusted::new(tail))?;
        self.screen.close()
    }

    fn ended(&mut self, proposal: &str, ending: &Ending<'_>, ms: u64) -> io::Result<()> {
        self.life.rest();
        let mut words = ending.words() + " · " + duration(ms);
        let again = self.again.remove(proposal);
        if let Some(cell) = &again {
            words = word(cell) + " again, as " + word(proposal) + ": " + words;
        }
        if std::mem::take(&mut self.is_again) && ending.is_fine() {
            // Its output was seen when it first ran.
            let lines = self.printed.take().map_or(0, |(_, fold)| fold.hidden_lines());
            if lines > 0 {
                words = words + " · " + count(lines, "line") + ": /output " + word(proposal);
            }
        }
        let screen = self.screen();
        if ending.is_fine() {
            return screen.say_quietly(words);
        }
        screen.warn(words)?;
        ending.limit().iter().try_for_each(|limit| screen.row(limit))
    }

    /// Shows a question: the code, unless it stands right above, and what it would do.
    pub(crate) fn question(&mut self, question: &Question) -> io::Result<()> {
        self.unfold()?;
        self.life.rest();
        self.screen.close()?;
        let proposal = &question.proposal;
        self.usual = Syntax::of(proposal.language.written_in());
        if self.shown.take().as_deref() != Some(question.drawn.text().raw()) {
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
            + confined::within(&self.confinement)
            + ": "
            + confined::bounds(&self.confinement);
        let granted = confined::granted(&self.confinement);
        let alarming = confined::is_alarming(&self.confinement);
        let screen = self.screen();
        screen.announce(words, alarming)?;
        granted.iter().chain(&question.hosts).try_for_each(|row| screen.row(row))?;
        let found = question.findings.by_severity();
        let most = if screen.folds() { FINDINGS } else { usize::MAX };
        found::findings(screen, &found[..found.len().min(most)])?;
        if let Some(rest) = found.get(most..).filter(|rest| !rest.is_empty()) {
            screen.say(ours("and ") + rest.len() + " more (press d): " + found::kinds(rest))?;
        }
        if !question.drawn.is_whole() {
            let named = named(question.drawn.masked());
            screen.row(&format!("masked: the value of {named}; a yes is for this code alone"))?;
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
        let syntax = Syntax::of(proposal.language.written_in());
        self.screen.stream(Section::Code(syntax), question.drawn.text())?;
        self.screen.close()
    }

    /// The run has come to this line.
    pub(crate) fn line(&mut self, now: u32) -> io::Result<()> {
        if let Some(Doing::Running { line, .. }) = self.life.doing() {
            *line = Some(now);
        }
        self.come()
    }

    fn write(&mut self, section: Section, text: &Untrusted) -> io::Result<()> {
        if section != Section::Printed {
            self.unfold()?;
        }
        match section {
            Section::Code(_) => {
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
            Section::Prose
            | Section::Thoughts
            | Section::Printed
            | Section::Diff
            | Section::Told
            | Section::Output => self.shown = None,
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
