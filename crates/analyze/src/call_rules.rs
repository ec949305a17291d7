//! Which calls of a programming language are dangerous: the rules of `rules/python.toml` and
//! `rules/javascript.toml`, ready to be asked.
//!
//! A pattern is a dotted name (`os.remove`), a name with everything below it (`socket.*`), or a
//! method of anything (`*.unlink`), which counts only where nothing more exact does. `()` stands
//! for the result of a call and `[]` for what an index gives: `pathlib.Path().unlink`.

use crate::{
    decode::Encoding,
    rule::{Pattern, Rule, enlist, own},
    saved::Saves,
    says::Says,
    syntax::Syntax,
};
use interpreter_core::{Confidence, Deed, Risk};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// The calls that a rule is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallPattern {
    /// The patterns of their names.
    #[serde(default)]
    pub(crate) calls: Vec<String>,
    /// The modules whose import alone is enough.
    #[serde(default)]
    pub(crate) imports: Vec<String>,
    /// The argument that is read, written, deleted, started or connected to.
    #[serde(default)]
    pub(crate) object: Option<Object>,
    #[serde(default)]
    pub(crate) when: Option<Condition>,
    /// The code that the call runs.
    #[serde(default)]
    pub(crate) runs: Option<Runs>,
    /// Where a program's options may stand by their position.
    #[serde(default)]
    pub(crate) options: Option<Options>,
    /// Whether code can write to the program later, unless the call says where its input is from.
    #[serde(default)]
    pub(crate) fed: bool,
    /// It only saves what the object names.
    #[serde(default)]
    saves: Option<Saves>,
}

impl Pattern for CallPattern {
    fn names(&self) -> Vec<(&'static str, &[String])> {
        vec![("{call}", &self.calls), ("{import}", &self.imports)]
    }

    fn written(&self, mark: &str, name: &str) -> String {
        let written = name.replace("*.", "thing.").replace(".*", ".thing").replace("[]", "[x]");
        let root = written.split('.').next().unwrap_or_default();
        if mark == "{call}" && root.contains('-') {
            return written.replacen(root, &format!("require('{root}')"), 1);
        }
        written
    }

    fn saves(&self) -> Option<Saves> {
        self.saves
    }

    fn is_silent(&self) -> bool {
        matches!(self.runs, Some(Runs::Code(Syntax::Sql)))
    }

    fn is_like(&self, other: &Self) -> bool {
        let Self { calls: _, imports: _, object, when, runs, options, fed, saves } = self;
        (object, when, runs, saves) == (&other.object, &other.when, &other.runs, &other.saves)
            && (options, fed) == (&other.options, &other.fed)
            && self.is_vague() == other.is_vague()
    }
}

impl CallPattern {
    /// Whether it asks for the arguments of a call.
    pub(crate) fn asks(&self) -> bool {
        self.object.is_some() || self.when.is_some() || self.runs.is_some()
    }

    /// Whether it is about methods of anything, and nothing else.
    fn is_vague(&self) -> bool {
        self.imports.is_empty() && self.calls.iter().all(|call| call.starts_with("*."))
    }
}

impl Rule<CallPattern> {
    /// Its statement on a call that it fits.
    pub(crate) fn says_of_call(&self) -> Says<'_> {
        if self.on.is_vague() { self.says().at_most(Confidence::Possible) } else { self.says() }
    }
}

/// Where a call has the object of what it does.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Object {
    /// An argument by its position.
    Argument(usize),
    /// An argument by its position or its name.
    Named(usize, String),
    /// The object of the method.
    Receiver,
}

/// A condition on one argument. All that is given must hold; what is computed may be anything.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    pub(crate) argument: usize,
    #[serde(default)]
    pub(crate) keyword: Option<String>,
    /// It has one of these characters.
    #[serde(default)]
    pub(crate) contains: Option<String>,
    /// It is not given or has none of these characters.
    #[serde(default)]
    pub(crate) lacks: Option<String>,
    /// How it is given.
    #[serde(default)]
    pub(crate) is: Option<Standing>,
    /// This other argument is a module.
    #[serde(default)]
    pub(crate) module: Option<usize>,
}

/// How an argument is given.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// It is given, but its text does not stand in the code.
    Computed,
    /// It is given in any way.
    Given,
    /// It is text that stands in the code.
    Text,
}

/// The code that a call runs.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Runs {
    /// The object: text as a shell script, a list as a program and its arguments.
    Command,
    /// The object as a program, the next argument as the list of its arguments.
    Program,
    /// The same with a list that has a name for the program as its first.
    NamedList,
    /// The arguments from this one on as a program and its arguments.
    Words(usize),
    /// The object as a program, and after it a name for it and its arguments.
    NamedWords,
    /// The object as code in this language.
    Code(Syntax),
}

/// The positions of options that also have names.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) executable: usize,
    pub(crate) stdin: usize,
}

/// The file of a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    passes: Vec<String>,
    joins: Vec<String>,
    decodes: HashMap<String, Encoding>,
    rule: Vec<Rule<CallPattern>>,
}

/// Calls whose result shows in the code.
#[derive(Debug)]
pub(crate) struct CallTables {
    /// Calls whose result is, for a reader, their first argument.
    pub(crate) passes: Vec<String>,
    /// Calls that join paths.
    pub(crate) joins: Vec<String>,
    /// Calls that undo an encoding of their first argument.
    pub(crate) decodes: HashMap<String, Encoding>,
}

impl CallTables {
    /// The tables and the rules of a file of this crate.
    pub(crate) fn parse(text: &str) -> (Self, Vec<Rule<CallPattern>>) {
        let File { passes, joins, decodes, rule } = own(text);
        (Self { passes, joins, decodes }, rule)
    }
}

/// The rules on calls in one language, by name.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    rules: Vec<Rule<CallPattern>>,
    exact: HashMap<String, Vec<usize>>,
    below: HashMap<String, Vec<usize>>,
    methods: HashMap<String, Vec<usize>>,
    imports: HashMap<String, Vec<usize>>,
    /// The names in the patterns, and what they begin with: `os` of `os.remove`.
    beginnings: HashSet<String>,
    /// The modules of which something grave can be called.
    harmful: HashSet<String>,
}

impl CallIndex {
    pub(crate) fn new(rules: Vec<Rule<CallPattern>>) -> Self {
        let mut all = Self::default();
        for (at, rule) in rules.iter().enumerate() {
            for pattern in &rule.on.calls {
                let (index, key) = if let Some(module) = pattern.strip_suffix(".*") {
                    (&mut all.below, module)
                } else if let Some(method) = pattern.strip_prefix("*.") {
                    (&mut all.methods, method)
                } else {
                    (&mut all.exact, pattern.as_str())
                };
                enlist(&rules, index.entry(key.to_owned()).or_default(), at);
                if !pattern.starts_with("*.") {
                    let ends = key.match_indices(['.', '(', '[']).map(|(end, _)| end);
                    let beginnings = ends.chain([key.len()]).map(|end| key[..end].to_owned());
                    all.beginnings.extend(beginnings);
                    if is_harmful(rule) {
                        let ends = pattern.match_indices('.').map(|(end, _)| end);
                        all.harmful.extend(ends.map(|end| pattern[..end].to_owned()));
                    }
                }
            }
            for module in &rule.on.imports {
                enlist(&rules, all.imports.entry(module.clone()).or_default(), at);
            }
        }
        all.rules = rules;
        all
    }

    /// The rules on a call of something that goes by any of `names`.
    pub(crate) fn on_call(&self, names: &[String]) -> Vec<&Rule<CallPattern>> {
        let mut found: Vec<usize> = Vec::new();
        for name in names {
            found.extend(self.exact.get(name).into_iter().flatten());
            for (dot, _) in name.match_indices('.') {
                found.extend(self.below.get(&name[..dot]).into_iter().flatten());
            }
        }
        if found.is_empty() {
            for name in names {
                if let Some((_, method)) = name.rsplit_once('.') {
                    found.extend(self.methods.get(method).into_iter().flatten());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|at| &self.rules[at]).collect()
    }

    /// The part of a name that matters to rules on names: all of it if one may begin with it, or
    /// the module of which a rule names everything.
    pub(crate) fn reach<'a>(&self, name: &'a str) -> Option<&'a str> {
        if self.beginnings.contains(name) {
            return Some(name);
        }
        let mut dots = name.match_indices('.').map(|(dot, _)| &name[..dot]);
        dots.find(|module| self.below.contains_key(*module))
    }

    /// Whether something grave can be called of a module.
    pub(crate) fn is_harmful(&self, module: &str) -> bool {
        self.harmful.contains(module)
    }

    /// The rules on something that goes by any of `names` and is handed on without a call.
    pub(crate) fn on_mention(&self, names: &[String]) -> impl Iterator<Item = &Rule<CallPattern>> {
        names
            .iter()
            .filter_map(|name| self.exact.get(name))
            .flatten()
            .map(|&at| &self.rules[at])
            .filter(|rule| rule.on.when.is_none())
    }

    /// The rules on an import of a module.
    pub(crate) fn on_import(&self, module: &str) -> impl Iterator<Item = &Rule<CallPattern>> {
        let top = module.split(['.', '/']).next().unwrap_or_default();
        let whole = self.imports.get(module);
        let top = if top == module { None } else { self.imports.get(top) };
        whole.into_iter().chain(top).flatten().map(|&at| &self.rules[at])
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Rule<CallPattern>] {
        &self.rules
    }
}

/// Whether a module that can do this is one to follow. Code that saves, loads and computes hands
/// its modules on without harm, and everything hands on `sys`.
fn is_harmful(rule: &Rule<CallPattern>) -> bool {
    let is_everyday = |call: &String| call.starts_with("sys.");
    let is_grave = match rule.capability {
        Deed::Deletes
        | Deed::Starts
        | Deed::Kills
        | Deed::Connects
        | Deed::Credentials
        | Deed::Permissions
        | Deed::Persists
        | Deed::Privileges
        | Deed::Hides
        | Deed::Irreversible => true,
        Deed::Reads
        | Deed::Lists
        | Deed::Writes
        | Deed::Watches
        | Deed::Environment
        | Deed::Packages
        | Deed::Deserialises
        | Deed::Endless
        | Deed::Floods
        | Deed::Unreadable => false,
    };
    is_grave && rule.severity >= Risk::Medium && !rule.on.calls.iter().any(is_everyday)
}
