//! Which calls of a programming language are dangerous: the rules of `rules/python.toml` and
//! `rules/javascript.toml`, ready to be asked.
//!
//! A pattern is a dotted name (`os.remove`), a name with everything below it (`socket.*`), or a
//! method of anything (`*.unlink`), which counts only where nothing more exact does. `()` stands
//! for the result of a call and `[]` for what an index gives: `pathlib.Path().unlink`.

use crate::{decode::Encoding, says::Says, syntax::Syntax};
use interpreter_core::{Confidence, Deed, Risk};
use serde::Deserialize;
use std::{collections::HashMap, sync::LazyLock};

/// The rules for Python.
pub(crate) static PYTHON: LazyLock<CallRules> = LazyLock::new(|| {
    CallRules::parse(include_str!("../rules/python.toml"))
        .expect("rules/python.toml is part of this crate and tested")
});

/// The rules for JavaScript and TypeScript.
pub(crate) static JAVASCRIPT: LazyLock<CallRules> = LazyLock::new(|| {
    CallRules::parse(include_str!("../rules/javascript.toml"))
        .expect("rules/javascript.toml is part of this crate and tested")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallRule {
    /// The patterns of calls it is about.
    #[serde(default)]
    pub(crate) calls: Vec<String>,
    /// The modules whose import alone is enough.
    #[serde(default)]
    pub(crate) imports: Vec<String>,
    pub(crate) capability: Deed,
    pub(crate) severity: Risk,
    /// The argument that is read, written, deleted, started or connected to.
    #[serde(default)]
    pub(crate) object: Option<Object>,
    #[serde(default)]
    pub(crate) when: Option<Condition>,
    /// The code that the call runs.
    #[serde(default)]
    pub(crate) runs: Option<Runs>,
    pub(crate) reason: String,
    /// Code that it fits.
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) example: String,
    /// Code that it does not fit.
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) unlike: String,
}

impl CallRule {
    /// Its statement on a call that it fits.
    pub(crate) fn says(&self) -> Says<'_> {
        let says = Says::new(self.capability, self.severity, &self.reason);
        let is_any = self.calls.iter().all(|call| call.starts_with("*."));
        if is_any && self.imports.is_empty() { says.at_most(Confidence::Possible) } else { says }
    }
}

/// Where a call has the object of what it does.
#[derive(Debug, Deserialize)]
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
#[derive(Debug, Deserialize)]
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
#[derive(Debug, Deserialize)]
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
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Runs {
    /// The object: text as a shell script, a list as a program and its arguments.
    Command,
    /// The object as a program, the next argument as the list of its arguments.
    Program,
    /// The arguments from this one on as a program and its arguments.
    Words(usize),
    /// The object as code in this language.
    Code(Syntax),
}

/// The file of a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Calls whose result is, for a reader, their first argument.
    passes: Vec<String>,
    /// Calls that join paths.
    joins: Vec<String>,
    /// Calls that undo an encoding of their first argument.
    decodes: HashMap<String, Encoding>,
    rule: Vec<CallRule>,
}

/// All rules of a language.
#[derive(Debug)]
pub(crate) struct CallRules {
    pub(crate) passes: Vec<String>,
    pub(crate) joins: Vec<String>,
    pub(crate) decodes: HashMap<String, Encoding>,
    rules: Vec<CallRule>,
    exact: HashMap<String, Vec<usize>>,
    below: HashMap<String, Vec<usize>>,
    methods: HashMap<String, Vec<usize>>,
    imports: HashMap<String, Vec<usize>>,
}

impl CallRules {
    pub(crate) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let File { passes, joins, decodes, rule: rules } = toml::from_str(text)?;
        let mut all = Self {
            passes,
            joins,
            decodes,
            rules: Vec::new(),
            exact: HashMap::new(),
            below: HashMap::new(),
            methods: HashMap::new(),
            imports: HashMap::new(),
        };
        for (at, rule) in rules.iter().enumerate() {
            for pattern in &rule.calls {
                let (index, key) = if let Some(module) = pattern.strip_suffix(".*") {
                    (&mut all.below, module)
                } else if let Some(method) = pattern.strip_prefix("*.") {
                    (&mut all.methods, method)
                } else {
                    (&mut all.exact, pattern.as_str())
                };
                index.entry(key.to_owned()).or_default().push(at);
            }
            for module in &rule.imports {
                all.imports.entry(module.clone()).or_default().push(at);
            }
        }
        all.rules = rules;
        Ok(all)
    }

    /// The rules on a call of something that goes by any of `names`.
    pub(crate) fn on_call(&self, names: &[String]) -> Vec<&CallRule> {
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

    /// The rules on something that goes by any of `names` and is handed on without a call.
    pub(crate) fn on_mention(&self, names: &[String]) -> impl Iterator<Item = &CallRule> {
        names
            .iter()
            .filter_map(|name| self.exact.get(name))
            .flatten()
            .map(|&at| &self.rules[at])
            .filter(|rule| rule.when.is_none())
    }

    /// The rules on an import of a module.
    pub(crate) fn on_import(&self, module: &str) -> impl Iterator<Item = &CallRule> {
        let top = module.split(['.', '/']).next().unwrap_or_default();
        let whole = self.imports.get(module);
        let top = if top == module { None } else { self.imports.get(top) };
        whole.into_iter().chain(top).flatten().map(|&at| &self.rules[at])
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[CallRule] {
        &self.rules
    }
}
