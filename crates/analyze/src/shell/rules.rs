//! Which programs are dangerous, and which start others: the rules of `rules/shell.toml`.

use crate::{
    rule::{Pattern, Rule, enlist, own},
    saved::Saves,
    syntax::Syntax,
};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    plain: Vec<String>,
    plain_words: HashMap<String, Vec<String>>,
    variables: Vec<String>,
    rule: Vec<Rule<ProgramPattern>>,
    reader: Vec<Reader>,
    wrapper: Vec<Wrapper>,
    interpreter: Vec<Interpreter>,
}

/// The commands that a rule is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramPattern {
    pub(crate) programs: Vec<String>,
    /// The first words that are no flags, such as `push` for `git push`; one of them.
    #[serde(default)]
    pub(crate) words: Vec<String>,
    /// Flags of which one must be given.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// Words of which one must be given, anywhere.
    #[serde(default)]
    pub(crate) any: Vec<String>,
    /// Whether a word that is computed does not count as one of those texts.
    #[serde(default)]
    pub(crate) known: bool,
    /// Flags of which none may be given.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// Whether no word but flags may be given.
    #[serde(default)]
    pub(crate) alone: bool,
    /// Texts of which one word must contain one.
    #[serde(default)]
    pub(crate) containing: Vec<String>,
    /// Flags that take the next word.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    #[serde(default)]
    pub(crate) object: Object,
    /// It only saves what the object names.
    #[serde(default)]
    saves: Option<Saves>,
}

impl Pattern for ProgramPattern {
    fn saves(&self) -> Option<Saves> {
        self.saves
    }

    fn names(&self) -> Vec<(&'static str, &[String])> {
        if self.programs.is_empty() {
            return Vec::new();
        }
        vec![("{program}", &self.programs), ("{word}", &self.words)]
    }

    fn is_like(&self, other: &Self) -> bool {
        let Self { programs: _, words, flags, any, known, unless, alone, containing, .. } = self;
        (words, flags, any, known) == (&other.words, &other.flags, &other.any, &other.known)
            && (unless, alone, containing) == (&other.unless, &other.alone, &other.containing)
            && (&self.values, &self.object) == (&other.values, &other.object)
            && self.saves == other.saves
    }
}

/// Which words of a command are the object of what it does. Flags are not counted, nor is the
/// word that the rule itself asks for.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Object {
    Each,
    /// All words after the first.
    Rest,
    First,
    Last,
    /// All words but the last.
    AllButLast,
    /// The words before the first that begins an expression of `find`.
    Starting,
    /// The word after one of these flags.
    Flag(Vec<String>),
    /// The text after `key=`.
    Key(String),
    /// The first word that names another machine; nothing is known if there is none.
    Address,
    /// The same, but nothing is done if there is none.
    OnlyAddress,
    Program,
    #[default]
    Nothing,
}

/// A program that starts another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wrapper {
    pub(crate) programs: Vec<String>,
    /// Flags that take the next word.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// Flags with which it starts nothing.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// How many words of its own come first.
    #[serde(default)]
    pub(crate) skip: usize,
    /// Flags after which the other program stands, up to `;` or `+`; `{}` in its words is computed.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// Whether it adds words that it reads.
    #[serde(default)]
    pub(crate) appends: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) example: String,
}

/// Programs that take in files in the same way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reader {
    pub(super) programs: String,
    /// Options whose value is no file.
    #[serde(default)]
    pub(super) values: String,
    /// Options whose value is a file.
    #[serde(default)]
    pub(super) files: String,
    /// Options of which a name and a value follow.
    #[serde(default)]
    pub(super) pairs: String,
    /// Options of which a name and a file follow.
    #[serde(default)]
    pub(super) named_files: String,
    /// Options with which a file says what else is read.
    #[serde(default)]
    pub(super) follows: String,
    /// Options of which one must be given.
    #[serde(default)]
    pub(super) with: String,
    /// Options of which none may be given.
    #[serde(default)]
    pub(super) unless: String,
    /// How many words come before the files: a pattern, a script.
    #[serde(default)]
    pub(super) skip: usize,
    /// Options that stand for those words.
    #[serde(default)]
    pub(super) instead: String,
    /// Whether words such as `x=1` set a variable.
    #[serde(default)]
    pub(super) assigns: bool,
    /// Whether its other words are no files.
    #[serde(default)]
    pub(super) is_optioned: bool,
    /// Options with which it reads the folder that it is in, if no file is given; `always` without.
    #[serde(default)]
    pub(super) folder: String,
    /// Whether it only tells of names.
    #[serde(default)]
    pub(super) lists: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) example: String,
}

impl Reader {
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.programs.split_ascii_whitespace()
    }
}

/// A program that runs code.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interpreter {
    pub(crate) programs: Vec<String>,
    /// The language, if it is one that is read here.
    #[serde(default)]
    pub(crate) language: Option<Syntax>,
    /// Flags whose next word is code.
    #[serde(default)]
    pub(crate) code: Vec<String>,
    /// Flags that take the next word.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// Modules, given by `-m`, whose input is no code.
    #[serde(default)]
    pub(crate) data: Vec<String>,
    /// Flags with which it only tells about itself.
    #[serde(default)]
    pub(crate) tells: Vec<String>,
    /// Which words are code themselves.
    #[serde(default)]
    pub(crate) words: Option<CodeWords>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) example: String,
}

/// Which words of an interpreter's command are code.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CodeWords {
    /// All of them, joined.
    All,
    First,
    /// The second word that is no flag.
    Second,
}

/// The rules on programs, by name.
#[derive(Debug, Default)]
pub(crate) struct ProgramIndex {
    rules: Vec<Rule<ProgramPattern>>,
    on: HashMap<String, Vec<usize>>,
}

impl ProgramIndex {
    pub(crate) fn new(rules: Vec<Rule<ProgramPattern>>) -> Self {
        let mut on: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, rule) in rules.iter().enumerate() {
            for program in &rule.on.programs {
                enlist(&rules, on.entry(program.clone()).or_default(), at);
            }
        }
        Self { rules, on }
    }

    /// The rules on a program.
    pub(crate) fn on(&self, program: &str) -> impl Iterator<Item = &Rule<ProgramPattern>> {
        self.on.get(program).into_iter().flatten().map(|&at| &self.rules[at])
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Rule<ProgramPattern>] {
        &self.rules
    }
}

/// Programs that start others or run code, and those that do nothing worth a finding.
#[derive(Debug)]
pub(crate) struct ProgramTables {
    wrappers: Vec<Wrapper>,
    interpreters: Vec<Interpreter>,
    readers: Vec<Reader>,
    reading: HashMap<String, Vec<usize>>,
    wrapping: HashMap<String, usize>,
    interpreting: HashMap<String, usize>,
    plain: HashSet<String>,
    plain_words: HashMap<String, Vec<String>>,
    variables: HashSet<String>,
}

impl ProgramTables {
    /// The tables and the rules of a file of this crate.
    pub(crate) fn parse(text: &str) -> (Self, Vec<Rule<ProgramPattern>>) {
        let file: File = own(text);
        let wrapping = by_program(file.wrapper.iter().map(|wrapper| &wrapper.programs));
        let interpreting = by_program(file.interpreter.iter().map(|one| &one.programs));
        let mut reading: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, reader) in file.reader.iter().enumerate() {
            for program in reader.programs() {
                reading.entry(program.to_owned()).or_default().push(at);
            }
        }
        let tables = Self {
            readers: file.reader,
            reading,
            wrapping,
            interpreting,
            plain: file.plain.into_iter().collect(),
            plain_words: file.plain_words,
            variables: file.variables.into_iter().collect(),
            wrappers: file.wrapper,
            interpreters: file.interpreter,
        };
        (tables, file.rule)
    }

    /// Whether a program is in one of the tables.
    pub(crate) fn knows(&self, program: &str) -> bool {
        self.is_plain(program, None)
            || self.interpreter(program).is_some()
            || self.wrapper(program).is_some()
            || self.reading.contains_key(program)
    }

    /// The ways in which a program takes in files.
    pub(super) fn readers(&self, program: &str) -> impl Iterator<Item = &Reader> {
        self.reading.get(program).into_iter().flatten().map(|&at| &self.readers[at])
    }

    pub(super) fn wrapper(&self, program: &str) -> Option<&Wrapper> {
        self.wrapping.get(program).map(|&at| &self.wrappers[at])
    }

    pub(super) fn interpreter(&self, program: &str) -> Option<&Interpreter> {
        self.interpreting.get(program).map(|&at| &self.interpreters[at])
    }

    /// Whether a program, called with this first word, does nothing worth a finding.
    pub(super) fn is_plain(&self, program: &str, first: Option<&str>) -> bool {
        self.plain.contains(program)
            || first.is_some_and(|first| {
                let words = self.plain_words.get(program);
                words.is_some_and(|words| words.iter().any(|word| word == first))
            })
    }

    /// Whether setting a variable changes which code later commands run.
    pub(super) fn is_steering(&self, variable: &str) -> bool {
        self.variables.contains(variable)
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> (&[Wrapper], &[Interpreter], &[Reader]) {
        (&self.wrappers, &self.interpreters, &self.readers)
    }
}

fn by_program<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> HashMap<String, usize> {
    lists
        .enumerate()
        .flat_map(|(at, programs)| programs.iter().map(move |program| (program.clone(), at)))
        .collect()
}
