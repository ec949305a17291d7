//! The state of an analysis: the scripts that are still to be read, and the findings so far.
//!
//! Knows no language. Whoever reads a script notes findings and nested scripts here.

use crate::{
    collected::Collected,
    literal::Literal,
    past::Known,
    place,
    rules::Rules,
    says::{Says, Site},
    syntax::Syntax,
};
use interpreter_core::{Confidence, Deed, Risk};

/// Most bytes that are read, of one script and of all scripts within it together.
pub(crate) const SIZE: usize = 1024 * 1024;

/// Why code that is put together when it runs counts as hidden.
pub(crate) const COMPUTED: &str = "what it runs is computed";

/// How deep scripts may sit in scripts.
const NESTING: usize = 4;

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
    /// The names that earlier code of the session has set.
    pub(crate) known: Known,
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
    /// Where in the whole a line of this script is.
    pub(crate) fn line(&self, own: usize) -> Site {
        let line = match self.position {
            Position::Own => u32::try_from(own).unwrap_or(u32::MAX).max(1),
            Position::Line(line) => line,
            Position::From(first) => {
                first.saturating_add(u32::try_from(own).unwrap_or(u32::MAX).saturating_sub(1))
            }
        };
        Site { line, columns: None }
    }

    /// Where in the whole a stretch of this script is: a line, and its columns from 1.
    pub(crate) fn stretch(&self, own: usize, columns: (usize, usize)) -> Site {
        let column = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let columns = match self.position {
            Position::Own => Some((column(columns.0), column(columns.1))),
            Position::Line(_) | Position::From(_) => None,
        };
        Site { columns, ..self.line(own) }
    }

    /// The line of the whole for a line of something that begins on line `first` of this script.
    fn position_from(&self, first: usize) -> Position {
        match self.position {
            Position::Own | Position::From(_) => Position::From(self.line(first).line),
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
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) rules: Rules,
    pub(crate) found: Collected,
    queue: Vec<Script>,
    nested_bytes: usize,
    pub(crate) learned: Known,
}

impl Analysis {
    /// An analysis by these rules, before it has read anything.
    pub(crate) fn new(rules: Rules) -> Self {
        let (found, queue, learned) = Default::default();
        Self { rules, found, queue, nested_bytes: 0, learned }
    }

    /// Puts the whole of the code first.
    pub(crate) fn begin(&mut self, syntax: Syntax, code: &str, known: Known) {
        let position = Position::Own;
        self.queue.push(Script { syntax, text: code.into(), position, depth: 0, known });
    }

    /// Remembers what the whole of the code sets, for code that runs later.
    pub(crate) fn learn(&mut self, script: &Script, known: Known) {
        if script.depth == 0 {
            self.learned = known;
        }
    }

    /// The next script to read.
    pub(crate) fn next(&mut self) -> Option<Script> {
        self.queue.pop()
    }

    /// Notes that the code does something to `object`.
    pub(crate) fn note(&mut self, says: Says<'_>, object: &Literal, at: Site) {
        let mut says = says;
        // A function that reads a path often accepts an address too.
        if says.deed == Deed::Reads && object.is_remote() {
            says = Says { deed: Deed::Connects, severity: says.severity.max(Risk::High), ..says };
        }
        if let Some(path) = object.whole().filter(|_| says.deed == Deed::Writes) {
            // Databases that are no files, and files that a database only reads.
            if path == ":memory:" {
                return;
            }
            if path.starts_with("file:") && path.contains("mode=ro") {
                says = Says { deed: Deed::Reads, severity: Risk::Low, ..says };
            }
        }
        if object.whole().is_none() {
            says = says.at_most(Confidence::Likely);
        }
        match Target::of(says.deed) {
            Target::Host => {
                let host = object.host().unwrap_or_default();
                self.found.add(says, &host, at);
            }
            Target::Path => {
                let rules = self.rules.clone();
                let says = place::judge(rules.places(), object, says);
                self.found.add(says, object.whole().unwrap_or_default(), at);
            }
            Target::Thing => {
                let object = object.whole().unwrap_or_default();
                let is_variable = says.deed == Deed::Environment;
                let says = if is_variable { place::judge_variable(object, says) } else { says };
                self.found.add(says, object, at);
            }
        }
    }

    /// Notes that something cannot be read, and why.
    pub(crate) fn unreadable(&mut self, why: &str, at: Site) {
        self.found.add(Says::new(Deed::Unreadable, Risk::Unknown, ""), why, at);
    }

    /// Notes that the code does something that its text does not show.
    pub(crate) fn hides(&mut self, why: &str, at: Site) {
        self.found.add(Says::new(Deed::Hides, Risk::High, why), "", at);
    }

    /// Reads a script inside `outer` later. A script that is computed, or sits too deep, hides
    /// what it does.
    pub(crate) fn nest(&mut self, outer: &Script, syntax: Syntax, text: &Literal, at: Site) {
        self.nest_at(outer, syntax, text, Position::Line(at.line));
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
        let at = Site { line, columns: None };
        let Some(text) = text.script() else {
            if text.whole().is_none() {
                self.hides(COMPUTED, at);
            }
            return;
        };
        self.nested_bytes = self.nested_bytes.saturating_add(text.len());
        if outer.depth == NESTING || self.nested_bytes > SIZE {
            self.hides("code inside code, too deep to follow", at);
            return;
        }
        let (depth, known) = (outer.depth + 1, Known::default());
        self.queue.push(Script { syntax, text, position, depth, known });
    }
}
