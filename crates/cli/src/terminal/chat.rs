//! A chat on a terminal: replies as they come, code, output, and what was changed.
//!
//! Lines of ours start on the first column; lines of the model and of programs never do.

use super::{gutter::Gutter, hosts, story, style::Style};
use interpreter_agent::Live;
use interpreter_core::{Body, Confinement, Origin, Record, Stream, Untrusted, session::Question};
use std::{
    fmt::Write as _,
    io::{self, Write},
};

const PROSE: &str = "  ";
const CODE: &str = "  │ ";
const OUTPUT: &str = "  ┆ ";

/// What is on the screen right now.
#[derive(Debug)]
pub(crate) struct Chat {
    style: Style,
    /// What every run is in, in words.
    within: String,
    /// What bounds every run, in words.
    bounds: String,
    /// Whether something stands right above.
    lines: Lines,
    passing: Passing,
    open: Option<(Section, Gutter)>,
    /// The code that was shown last, if nothing came after it.
    shown: Option<String>,
    /// How full the model's context is, where that is known.
    full: Option<String>,
}

/// Clears the line that the cursor is on.
const CLEAR: &str = "\u{1b}[2K";

/// Whether a line stands there that the next one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    None,
    Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    None,
    Some,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Prose,
    Thoughts,
    Code,
    Output(Stream),
}

impl Chat {
    pub(crate) fn new(style: Style, confinement: &Confinement) -> Self {
        let within = story::within(confinement, style);
        let bounds = story::bounds(confinement, style);
        Self {
            style,
            within,
            bounds,
            open: None,
            shown: None,
            full: None,
            lines: Lines::None,
            passing: Passing::None,
        }
    }

    /// Shows a piece of a reply.
    pub(crate) fn live(&mut self, live: &Live) -> io::Result<()> {
        match live {
            Live::Text(text) => self.write(Section::Prose, text),
            Live::Reasoning(text) => self.write(Section::Thoughts, text),
            Live::CodeBegins(language) => {
                self.close()?;
                let language = language.as_ref().map(|tag| tag.for_terminal_line(40));
                let mut out = io::stdout().lock();
                writeln!(
                    out,
                    "{}",
                    self.style.dim(&format!("  {}", language.unwrap_or_default()))
                )?;
                self.shown = Some(String::new());
                Ok(())
            }
            Live::Code(code) => self.write(Section::Code, code),
            Live::CodeEnds | Live::ReplyEnds => self.close(),
        }
    }

    /// Shows what there is to say of a record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not shown")]
    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        match &record.body {
            Body::Output { stream, text, mime, bundle, .. } => {
                let plain = mime.starts_with("text/");
                let kind = Untrusted::new(format!("[{mime}, {} bytes]", text.raw().len()));
                self.write(Section::Output(*stream), if plain { text } else { &kind })?;
                if *stream != Stream::Result {
                    return Ok(());
                }
                self.close()?;
                let others: Vec<_> = bundle.keys().map(String::as_str).collect();
                if others.is_empty() {
                    return Ok(());
                }
                let others = Untrusted::new(format!("[also as {}]", others.join(", ")));
                self.write(Section::Output(*stream), &others)?;
                self.close()
            }
            Body::RunStarted { backend, missing, .. } => match story::header(backend, missing) {
                Some(words) => self.say(&self.style.red(&words)),
                None => Ok(()),
            },
            Body::Effects { network, denials, .. } => {
                let lines = hosts::lines(network) + &story::denial_lines(denials);
                if lines.is_empty() {
                    return Ok(());
                }
                self.close()?;
                self.print(&self.style.dim(&lines))
            }
            Body::RunFinished { status, signal, limit, kernel_ended, ms, .. } => {
                let how = story::ending(*status, *signal, limit.as_deref(), *kernel_ended);
                let line = format!("{how} · {ms} ms");
                let fine = *status == Some(0) && signal.is_none() && limit.is_none();
                let line = if fine { self.style.dim(&line) } else { self.style.red(&line) };
                self.say(&line)
            }
            Body::Changes { id, state, files, left_out } => {
                let files_word = story::count(files.len(), "file");
                self.say(&format!("{files_word} {} (set {id}):", state.word()))?;
                self.print(&(story::file_lines(files) + &story::left_out_lines(left_out)))
            }
            Body::NotProposed { reason, .. } => {
                self.say(&self.style.dim(&format!("Not run: {reason}")))
            }
            Body::Error { message, hint } => self.error(message, hint.as_deref()),
            Body::Note { text } => {
                let text = Untrusted::new(&**text).for_terminal_line(400);
                self.say(&self.style.dim(&format!("note: {text}")))
            }
            Body::ModelChanged { model } => {
                let model = Untrusted::new(&**model).for_terminal_line(80);
                self.full = None;
                self.say(&format!(
                    "Talking to {model} from now on; it is sent all that was said so far."
                ))
            }
            Body::Usage { input, output, context, .. } => {
                self.full = context.and_then(|most| story::fullness(*input, *output, most));
                Ok(())
            }
            Body::TurnFinished { end } => {
                match story::turn_end(*end) {
                    Some(words) => self.say(words)?,
                    None => self.close()?,
                }
                match self.full.take() {
                    Some(full) => self.say(&self.style.dim(&full)),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn error(&mut self, message: &str, hint: Option<&str>) -> io::Result<()> {
        let message = Untrusted::new(message).for_terminal_line(1_000);
        self.say(&self.style.red(&format!("error: {message}")))?;
        match hint {
            Some(hint) => {
                self.say(&format!("hint: {}", Untrusted::new(hint).for_terminal_line(1_000)))
            }
            None => Ok(()),
        }
    }

    /// Shows a question: the code, unless it is what stands right above, and what it would do.
    pub(crate) fn question(&mut self, question: &Question) -> io::Result<()> {
        self.close()?;
        let proposal = &question.proposal;
        let code = proposal.code();
        if self.shown.take().as_deref() != Some(code.raw()) {
            self.print(&format!("{}\n", self.style.dim(&format!("  {}", proposal.language))))?;
            self.write(Section::Code, code)?;
            self.close()?;
            self.shown = None;
        }
        self.say(&format!(
            "{} {}, {}, risk {}; {}: {}",
            self.style.bold(&proposal.id),
            proposal.language,
            story::count(code.raw().lines().count(), "line"),
            question.findings.risk.word(),
            self.within,
            self.bounds,
        ))?;
        let mut would = String::new();
        for found in question.findings.capabilities.iter().take(12) {
            let object = found.argument.for_terminal_line(80);
            // Writing to a string cannot fail.
            _ = writeln!(would, "  {} {object} (line {})", found.name, found.line);
        }
        self.print(&would)?;
        // That a model's code is asked about needs no explaining.
        match (proposal.origin, question.verdict.rule.strip_prefix("default: ")) {
            (Origin::Model, Some(_)) => Ok(()),
            (Origin::Model | Origin::Person, _) => {
                self.say(&self.style.dim(&format!("asked because: {}", question.verdict.rule)))
            }
        }
    }

    /// Shows which line of the code runs, until something else is shown. Only between lines: what
    /// a program has begun to print is not written over.
    pub(crate) fn line(&mut self, line: u32) -> io::Result<()> {
        if self.style.width().is_none() || self.open.is_some() {
            return Ok(());
        }
        self.passing = Passing::Shown;
        let mut out = io::stdout().lock();
        write!(out, "\r{CLEAR}{}", self.style.dim(&format!("line {line} …")))?;
        out.flush()
    }

    /// Takes the passing line away.
    fn clear(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.passing, Passing::None) {
            Passing::Shown => write!(io::stdout(), "\r{CLEAR}"),
            Passing::None => Ok(()),
        }
    }

    /// Says something of our own, on a line of its own.
    pub(crate) fn say(&mut self, line: &str) -> io::Result<()> {
        self.print(&format!("{line}\n"))
    }

    /// Shows foreign text of several lines, such as a diff.
    pub(crate) fn quote(&mut self, text: &Untrusted) -> io::Result<()> {
        self.write(Section::Output(Stream::Stdout), text)?;
        self.close()
    }

    /// A blank line between what was there and a reply.
    fn set_apart(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.lines, Lines::None) {
            Lines::Some => writeln!(io::stdout()),
            Lines::None => Ok(()),
        }
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        self.close()?;
        self.lines = Lines::Some;
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn write(&mut self, section: Section, text: &Untrusted) -> io::Result<()> {
        self.clear()?;
        if self.open.as_ref().is_some_and(|(open, _)| *open != section) {
            self.close()?;
        }
        match section {
            Section::Code => {
                if let Some(shown) = &mut self.shown {
                    shown.push_str(text.raw());
                }
            }
            // Blank lines after code are how Markdown ends, not something said.
            Section::Prose | Section::Thoughts if text.raw().trim().is_empty() => {
                if self.open.is_none() {
                    return Ok(());
                }
            }
            Section::Prose | Section::Thoughts | Section::Output(_) => self.shown = None,
        }
        if self.open.is_none() && section == Section::Prose {
            self.set_apart()?;
        }
        self.lines = Lines::Some;
        let (_, gutter) = self.open.get_or_insert_with(|| {
            let mark = match section {
                Section::Prose | Section::Thoughts => PROSE,
                Section::Code => CODE,
                Section::Output(_) => OUTPUT,
            };
            (section, Gutter::new(mark, self.style.width()))
        });
        let text = gutter.feed(text);
        let text = match section {
            Section::Thoughts => self.style.dim(&text),
            Section::Prose | Section::Code | Section::Output(_) => text,
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Ends what is open, so that the next line starts on the first column.
    fn close(&mut self) -> io::Result<()> {
        self.clear()?;
        let Some((_, mut gutter)) = self.open.take() else { return Ok(()) };
        let mut out = io::stdout().lock();
        out.write_all(gutter.end().as_bytes())?;
        out.flush()
    }
}
