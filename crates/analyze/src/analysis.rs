//! The state of an analysis: the scripts that are still to be read, and the findings so far.
//!
//! Knows no language. Whoever reads a script notes findings and nested scripts here.

use crate::{collected::Collected, literal::Literal, place};
use interpreter_core::{Deed, Risk};

/// Most bytes that are read, of one script and of all scripts within it together.
pub(crate) const SIZE: usize = 1024 * 1024;

/// How deep scripts may sit in scripts.
const NESTING: usize = 4;

/// The languages that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Syntax {
    Python,
    Shell,
    JavaScript,
}

impl Syntax {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "python" => Some(Self::Python),
            "shell" => Some(Self::Shell),
            "javascript" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

/// The kind of thing that something is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Host,
    Path,
    Thing,
}

impl Target {
    pub(crate) fn of(deed: Deed) -> Self {
        match deed {
            Deed::Connects => Self::Host,
            Deed::Reads
            | Deed::Lists
            | Deed::Writes
            | Deed::Deletes
            | Deed::Credentials
            | Deed::Permissions
            | Deed::Persists
            | Deed::Deserialises => Self::Path,
            Deed::Starts
            | Deed::Kills
            | Deed::Watches
            | Deed::Environment
            | Deed::Packages
            | Deed::Privileges
            | Deed::Hides
            | Deed::Endless
            | Deed::Floods
            | Deed::Irreversible
            | Deed::Unreadable => Self::Thing,
        }
    }
}

/// One piece of code to read: the whole, or a script within it.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) syntax: Syntax,
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

/// The findings so far, and the scripts that are still to be read.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) found: Collected,
    queue: Vec<Script>,
    nested_bytes: usize,
}

impl Analysis {
    /// Puts the whole of the code first.
    pub(crate) fn begin(&mut self, syntax: Syntax, code: &str) {
        self.queue.push(Script { syntax, text: code.into(), position: Position::Own, depth: 0 });
    }

    /// The next script to read.
    pub(crate) fn next(&mut self) -> Option<Script> {
        self.queue.pop()
    }

    /// Notes that the code does something to `object`.
    pub(crate) fn note(&mut self, doing: Deed, severity: Risk, object: &Literal, line: u32) {
        // A function that reads a path often accepts an address too.
        let (doing, severity) = if doing == Deed::Reads && object.is_remote() {
            (Deed::Connects, severity.max(Risk::High))
        } else {
            (doing, severity)
        };
        match Target::of(doing) {
            Target::Host => {
                let host = object.host().unwrap_or_default();
                self.found.add(doing, severity, &host, line);
            }
            Target::Path => {
                let severity = place::severity(object.start(), severity);
                self.found.add(doing, severity, object.whole().unwrap_or_default(), line);
            }
            Target::Thing => {
                self.found.add(doing, severity, object.whole().unwrap_or_default(), line);
            }
        }
    }

    /// Notes that something cannot be read, and why.
    pub(crate) fn unreadable(&mut self, why: &str, line: u32) {
        self.found.add(Deed::Unreadable, Risk::Unknown, why, line);
    }

    /// Notes that the code does something that its text does not show.
    pub(crate) fn hides(&mut self, line: u32) {
        self.found.add(Deed::Hides, Risk::High, "", line);
    }

    /// Reads a script inside `outer` later. A script that is computed, or sits too deep, hides
    /// what it does.
    pub(crate) fn nest(&mut self, outer: &Script, syntax: Syntax, text: &Literal, line: u32) {
        self.nest_at(outer, syntax, text, Position::Line(line));
    }

    /// The same for a script whose lines are lines of `outer`, from line `first` of it.
    pub(crate) fn nest_lines(
        &mut self,
        outer: &Script,
        syntax: Syntax,
        text: &Literal,
        first: usize,
    ) {
        self.nest_at(outer, syntax, text, outer.position_from(first));
    }

    fn nest_at(&mut self, outer: &Script, syntax: Syntax, text: &Literal, position: Position) {
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
        self.queue.push(Script { syntax, text, position, depth: outer.depth + 1 });
    }
}
