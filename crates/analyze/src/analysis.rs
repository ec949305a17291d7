//! The state of an analysis: the scripts that are still to be read, and the findings so far.
//!
//! Knows no language. Whoever reads a script notes findings and nested scripts here.

use crate::{
    collected::Collected,
    folder::Folder,
    fuel::Fuel,
    literal::Literal,
    past::{Known, SoFar},
    place,
    rules::Rules,
    saved::Saves,
    says::{Says, Site},
    strict::Strict,
    syntax::Syntax,
};
use interpreter_core::{Confidence, Deed, Risk};
use std::rc::Rc;

/// Most bytes of code that are read.
pub(crate) const SIZE: usize = 1024 * 1024;

/// Most bytes that are read of all scripts within it together.
const NESTED: usize = 256 * 1024;

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
    /// Whether it is code only by an added rule.
    is_added: bool,
    /// Whether it is about a database that is only in memory.
    pub(crate) is_in_memory: bool,
    /// The input that its programs get, if it is not the person's.
    pub(crate) input: Option<Literal>,
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

/// In how many brackets the bytes of a text are, all taken together.
pub(crate) fn levels(text: &str) -> usize {
    let mut depth = 0_usize;
    let levels = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    levels.sum()
}

/// The findings so far, and the scripts that are still to be read.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) rules: Rules,
    /// Findings of our own rules.
    pub(crate) found: Collected,
    /// Findings of added rules alone.
    pub(crate) added: Collected,
    /// Whether what is read now is read for an added rule alone.
    for_added: bool,
    /// The folder that relative names of the script that is read now are in.
    pub(crate) folder: Folder,
    queue: Vec<Script>,
    pub(crate) learned: Known,
    /// Whether the whole of the code is understood.
    pub(crate) strict: Strict,
    /// Whether some of the code was refused.
    is_refused: bool,
    own_work: Work,
    added_work: Work,
}

/// The work that goes into all scripts together, for our own rules or for added ones.
#[derive(Debug)]
struct Work {
    nested_bytes: usize,
    /// For following names.
    fuel: Rc<Fuel>,
}

impl Work {
    fn on_code(bytes: usize) -> Self {
        Self { nested_bytes: 0, fuel: Rc::new(Fuel::for_code(bytes)) }
    }
}

impl Analysis {
    /// An analysis by these rules of so much code, before it has read anything.
    pub(crate) fn new(rules: Rules, bytes: usize) -> Self {
        let (found, added, for_added, folder, queue, learned, is_refused) = Default::default();
        let strict = Strict::default();
        let (own_work, added_work) = (Work::on_code(bytes), Work::on_code(bytes));
        Self {
            rules,
            found,
            added,
            for_added,
            folder,
            queue,
            learned,
            strict,
            is_refused,
            own_work,
            added_work,
        }
    }

    /// For following names in the script that is read now.
    pub(crate) fn fuel(&self) -> &Rc<Fuel> {
        if self.for_added { &self.added_work.fuel } else { &self.own_work.fuel }
    }

    /// Reads something that is code by the word of a rule: findings in what an added rule names are
    /// its own, not ours.
    pub(crate) fn read_for(&mut self, is_added: bool, read: impl FnOnce(&mut Self)) {
        let outside = self.for_added;
        self.for_added |= is_added;
        read(self);
        self.for_added = outside;
    }

    /// The findings so far.
    pub(crate) fn so_far(&self) -> SoFar<'_> {
        SoFar { own: self.found.so_far(), added: self.added.so_far() }
    }

    /// Whether the code may set or do more than what was learned of it.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_refused || self.found.is_cut()
    }

    /// Puts the whole of the code first.
    pub(crate) fn begin(&mut self, syntax: Syntax, code: &str, known: Known) {
        let position = Position::Own;
        self.queue.push(Script {
            syntax,
            text: code.into(),
            position,
            depth: 0,
            is_added: false,
            is_in_memory: false,
            input: None,
            known,
        });
    }

    /// Remembers what the whole of the code sets, for code that runs later.
    pub(crate) fn learn(&mut self, script: &Script, known: Known) {
        if script.depth == 0 {
            self.learned = known;
        }
    }

    /// The strict walk, if a script is the whole of the code.
    pub(crate) fn strict_for(&mut self, script: &Script) -> Option<&mut Strict> {
        (script.depth == 0).then_some(&mut self.strict)
    }

    /// The next script to read.
    pub(crate) fn next(&mut self) -> Option<Script> {
        let script = self.queue.pop()?;
        self.for_added = script.is_added;
        Some(script)
    }

    fn add(&mut self, says: Says<'_>, argument: &str, at: Site) {
        let into = if self.for_added || says.is_added { &mut self.added } else { &mut self.found };
        into.add(says, argument, at);
    }

    /// A new file of a plain name in the work folder is staged and reviewed before it lands.
    fn saved<'a>(says: Says<'a>, object: &Literal) -> Says<'a> {
        let is_plain = |saves: Saves| object.whole().is_some_and(|path| saves.is_plain(path));
        if says.deed == Deed::Writes && says.saves.is_some_and(is_plain) {
            return Says { severity: says.severity.min(Risk::Low), ..says };
        }
        says
    }

    /// A path can be a place of our own rules, of added ones, or of both.
    fn add_path(&mut self, says: Says<'_>, object: &Literal, at: Site) {
        let rules = self.rules.clone();
        let path = object.whole().unwrap_or_default();
        let (own, any) = rules.places(object);
        if self.for_added || says.is_added {
            return self.added.add(place::judge(any, object, says), path, at);
        }
        self.found.add(place::judge(own, object, says), path, at);
        if let Some(place) = any.filter(|place| place.is_added()) {
            self.added.add(place::judge(Some(place), object, says), path, at);
        }
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
                self.add(says, &host, at);
            }
            Target::Path => {
                let folder = std::mem::take(&mut self.folder);
                let path = folder.of(object);
                self.add_path(Self::saved(says, &path), &path, at);
                self.folder = folder;
            }
            Target::Thing => {
                let object = object.whole().unwrap_or_default();
                let is_variable = says.deed == Deed::Environment;
                let says = if is_variable { place::judge_variable(object, says) } else { says };
                self.add(says, object, at);
            }
        }
    }

    /// Notes that something cannot be read, and why.
    pub(crate) fn unreadable(&mut self, why: &str, at: Site) {
        self.add(Says::new(Deed::Unreadable, Risk::Unknown, ""), why, at);
    }

    /// Notes that something is not read because that would take too long, and why. People do not
    /// write such code, so it counts as high risk.
    pub(crate) fn refuse(&mut self, why: &str, at: Site) {
        self.is_refused |= !self.for_added;
        self.add(Says::new(Deed::Unreadable, Risk::High, ""), why, at);
    }

    /// Notes that the code does something that its text does not show.
    pub(crate) fn hides(&mut self, why: &str, at: Site) {
        self.add(Says::new(Deed::Hides, Risk::High, why), "", at);
    }

    /// Notes that the code hands on a module of which something grave can be called.
    pub(crate) fn hands_on(&mut self, at: Site) {
        let why = "hands on a module, and what is called of it is not followed";
        let says = Says::new(Deed::Hides, Risk::Medium, why);
        self.add(says.at_most(Confidence::Likely), "", at);
    }

    /// Reads a script inside `outer` later. A script that is computed, or sits too deep, hides
    /// what it does.
    pub(crate) fn nest(&mut self, outer: &Script, syntax: Syntax, text: &Literal, at: Site) {
        self.nest_at(outer, syntax, text, Position::Line(at.line));
    }

    /// The same for a statement of a database that is only in memory.
    pub(crate) fn nest_in_memory(&mut self, outer: &Script, text: &Literal, at: Site) {
        let before = self.queue.len();
        self.nest(outer, Syntax::Sql, text, at);
        for script in self.queue.iter_mut().skip(before) {
            script.is_in_memory = true;
        }
    }

    /// The same for a script whose programs get this input.
    pub(crate) fn nest_fed(
        &mut self,
        outer: &Script,
        syntax: Syntax,
        text: &Literal,
        input: Option<Literal>,
        at: Site,
    ) {
        let before = self.queue.len();
        self.nest(outer, syntax, text, at);
        if let Some(script) = self.queue.get_mut(before) {
            script.input = input;
        }
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
        let work = if self.for_added { &mut self.added_work } else { &mut self.own_work };
        work.nested_bytes = work.nested_bytes.saturating_add(text.len());
        if outer.depth == NESTING || work.nested_bytes > NESTED {
            self.hides("code inside code, too deep to follow", at);
            return;
        }
        self.queue.push(Script {
            syntax,
            text,
            position,
            depth: outer.depth + 1,
            is_added: self.for_added,
            is_in_memory: false,
            input: None,
            known: Known::default(),
        });
    }
}
