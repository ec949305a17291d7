//! The way from code to findings, and its limits.
//!
//! # Threat
//! Code written to exhaust or mislead whoever reads it: too long, too deep, nested in itself,
//! reordered on the screen.
//!
//! # Mechanism
//! Size, nesting and the amount of nested code are bounded before a parser sees them. Scripts
//! inside code (`sh -c '…'`) wait in a queue instead of recursing. Everything runs on a stack of
//! known size.
//!
//! # Limits
//! Names are resolved without running anything: what is computed, fetched or patched at run time
//! is at best found to hide something.

use crate::{
    collected::{Collected, Doing},
    javascript,
    literal::Literal,
    place, python, shell,
};
use interpreter_core::{Findings, Language, Risk};

/// Most bytes that are read, of one script and of all scripts within it together.
const SIZE: usize = 1024 * 1024;

/// How deep scripts may sit in scripts.
const NESTING: usize = 4;

/// Stack for parsers and walks. Their recursion is bounded by the nesting checks; this is about
/// eight times what the deepest allowed code was measured to need in a debug build.
pub(crate) const STACK: usize = 16 * 1024 * 1024;

/// Stack that suffices: twice that need. Where so much is left nothing is set up, which takes
/// longer than reading a line of code.
pub(crate) const ENOUGH: usize = 4 * 1024 * 1024;

/// What `code` would do, as far as its text tells. Never fails: code that cannot be read, or in a
/// language that is not known here, is a finding of its own.
pub fn analyze(language: &Language, code: &str) -> Findings {
    stacker::maybe_grow(ENOUGH, STACK, || read(language.written_in(), code))
}

fn read(language: &str, code: &str) -> Findings {
    let mut analysis = Analysis::default();
    note_reordered_text(code, &mut analysis.found);
    match Tongue::of(language) {
        None => analysis.unreadable("no analysis for this language", 1),
        Some(_) if code.len() > SIZE => analysis.unreadable("more than 1 MiB of code", 1),
        Some(tongue) => {
            analysis.queue.push(Script {
                tongue,
                text: code.into(),
                position: Position::Own,
                depth: 0,
            });
        }
    }
    while let Some(script) = analysis.queue.pop() {
        match script.tongue {
            Tongue::Python => python::read(&script, &mut analysis),
            Tongue::Shell => shell::read(&script, &mut analysis),
            Tongue::JavaScript => javascript::read(&script, &mut analysis),
        }
    }
    analysis.found.finish()
}

/// The languages that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tongue {
    Python,
    Shell,
    JavaScript,
}

impl Tongue {
    fn of(name: &str) -> Option<Self> {
        match name {
            "python" => Some(Self::Python),
            "shell" => Some(Self::Shell),
            "javascript" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

/// One piece of code to read: the whole, or a script within it.
#[derive(Debug)]
pub(crate) struct Script {
    tongue: Tongue,
    pub(crate) text: String,
    position: Position,
    depth: usize,
}

/// Which line of the whole a line of a script is.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// Its own: the script is the whole.
    Own,
    /// This one: the script sits inside something that starts there.
    Line(u32),
    /// It begins there and goes on line by line.
    From(u32),
}

impl Script {
    /// The line of the whole for a line of this script, both from 1.
    pub(crate) fn line(&self, own: usize) -> u32 {
        match self.position {
            Position::Own => u32::try_from(own).unwrap_or(u32::MAX).max(1),
            Position::Line(line) => line,
            Position::From(first) => {
                first.saturating_add(u32::try_from(own).unwrap_or(u32::MAX).saturating_sub(1))
            }
        }
    }

    /// The line of the whole for a line of something that begins on line `first` of this script.
    fn position_from(&self, first: usize) -> Position {
        match self.position {
            Position::Own | Position::From(_) => Position::From(self.line(first)),
            Position::Line(line) => Position::Line(line),
        }
    }

    /// Whether brackets nest deeper than `most`, counting those in strings and comments too.
    pub(crate) fn is_deeper_than(&self, most: usize) -> bool {
        nests_deeper_than(&self.text, most)
    }
}

/// Whether brackets nest deeper than `most`, counting those in strings and comments too.
pub(crate) fn nests_deeper_than(text: &str, most: usize) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// What was found, and what is still to read.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    found: Collected,
    queue: Vec<Script>,
    nested_bytes: usize,
}

impl Analysis {
    /// Notes that the code does something to `object`.
    pub(crate) fn note(&mut self, doing: Doing, severity: Risk, object: &Literal, line: u32) {
        // What reads a path often reads an address just as well.
        let (doing, severity) = if doing == Doing::Reads && object.is_remote() {
            (Doing::Connects, severity.max(Risk::High))
        } else {
            (doing, severity)
        };
        match doing {
            Doing::Connects => {
                let host = object.host().unwrap_or_default();
                self.found.add(doing, severity, &host, line);
            }
            Doing::Reads | Doing::Writes | Doing::Deletes => {
                let severity = place::severity(object.start(), severity);
                self.found.add(doing, severity, object.whole().unwrap_or_default(), line);
            }
            Doing::Starts | Doing::Hides | Doing::Unreadable => {
                self.found.add(doing, severity, object.whole().unwrap_or_default(), line);
            }
        }
    }

    /// Notes that something cannot be read, and why.
    pub(crate) fn unreadable(&mut self, why: &str, line: u32) {
        self.found.add(Doing::Unreadable, Risk::Unknown, why, line);
    }

    /// Notes that the code does something that its text does not show.
    pub(crate) fn hides(&mut self, line: u32) {
        self.found.add(Doing::Hides, Risk::High, "", line);
    }

    /// Reads a script inside `outer` later. A script that is computed, or sits too deep, hides
    /// what it does.
    pub(crate) fn nest(&mut self, outer: &Script, tongue: Tongue, text: &Literal, line: u32) {
        self.nest_at(outer, tongue, text, Position::Line(line));
    }

    /// The same for a script whose lines are lines of `outer`, from line `first` of it.
    pub(crate) fn nest_lines(
        &mut self,
        outer: &Script,
        tongue: Tongue,
        text: &Literal,
        first: usize,
    ) {
        self.nest_at(outer, tongue, text, outer.position_from(first));
    }

    fn nest_at(&mut self, outer: &Script, tongue: Tongue, text: &Literal, position: Position) {
        let line = match position {
            Position::Own => 1,
            Position::Line(line) | Position::From(line) => line,
        };
        let Some(text) = text.script() else {
            if text.whole().is_none() {
                self.hides(line);
            }
            return;
        };
        self.nested_bytes = self.nested_bytes.saturating_add(text.len());
        if outer.depth == NESTING || self.nested_bytes > SIZE {
            self.hides(line);
            return;
        }
        self.queue.push(Script { tongue, text, position, depth: outer.depth + 1 });
    }
}

/// Characters that make an editor or a terminal show code in another order than it runs.
fn note_reordered_text(code: &str, found: &mut Collected) {
    for (at, line) in code.lines().enumerate() {
        if line.contains(['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}'])
            || line.contains(['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'])
        {
            let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
            found.add(Doing::Hides, Risk::High, "text that is shown in another order", line);
        }
    }
}
