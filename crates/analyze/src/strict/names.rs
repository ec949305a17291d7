//! The lists of harmless names: `names/*.toml`, read once.
//!
//! Each group says why its names are harmless, and has code that is understood by it and code that
//! isn't; tests hold both. Decides nothing.

use crate::rule::{own, own_text};
use serde::Deserialize;
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// The names of Python.
pub(crate) static PYTHON: LazyLock<PythonNames> = LazyLock::new(|| PythonNames::of(&PYTHON_FILE));

/// The file as it stands, for tests of its examples.
pub(crate) static PYTHON_FILE: LazyLock<PythonFile> =
    LazyLock::new(|| own(own_text!("names/python")));

/// Modules that only special calls are in.
const SPECIAL_MODULES: [&str; 7] = [
    "subprocess",
    "requests",
    "urllib.request",
    "matplotlib.style",
    "matplotlib.pyplot.style",
    "statsmodels.formula.api",
    "httpx",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PythonFile {
    pub(crate) builtins: Builtins,
    pub(crate) group: Vec<Group>,
    pub(crate) same: HashMap<String, String>,
    pub(crate) found: Vec<FoundCalls>,
    pub(crate) risky: Risky,
    pub(crate) methods: Vec<Methods>,
    pub(crate) places: Places,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Builtins {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    pub(crate) plain: String,
    pub(crate) refused: String,
}

/// Modules whose names are harmless however they are called.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Group {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    pub(crate) modules: HashMap<String, String>,
}

/// Calls of which a finding tells all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct FoundCalls {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    pub(crate) calls: String,
    pub(crate) methods: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Risky {
    pub(crate) reason: String,
    pub(crate) names: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Methods {
    pub(crate) of: String,
    pub(crate) names: String,
}

/// Calls of which only some arguments are harmless, and attributes that may be set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Places {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    /// Names that `scripts/listed` tells of, and that were found to be harmless.
    pub(crate) reviewed: String,
    pub(crate) most: HashMap<String, String>,
    pub(crate) set: String,
}

/// The names of Python, to be looked up.
#[derive(Debug)]
pub(crate) struct PythonNames {
    /// Modules, packages that lead to one, and the harmless names of each.
    modules: HashMap<&'static str, HashSet<&'static str>>,
    same: HashMap<&'static str, &'static str>,
    found: HashSet<&'static str>,
    builtins: HashSet<&'static str>,
    refused: HashSet<&'static str>,
    methods: HashSet<&'static str>,
    found_methods: HashSet<&'static str>,
    risky: HashSet<&'static str>,
    /// How many arguments may be given by their places.
    most: HashMap<&'static str, usize>,
    settable: HashSet<&'static str>,
}

fn words(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split_ascii_whitespace()
}

/// The package that a dotted path is in, if any.
fn package(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(package, _)| package)
}

impl PythonNames {
    fn of(file: &'static PythonFile) -> Self {
        let mut modules: HashMap<&'static str, HashSet<&'static str>> = HashMap::new();
        let mut add = |path: &'static str, names: &'static str| {
            modules.entry(path).or_default().extend(words(names));
            let mut at = path;
            while let Some(outer) = package(at) {
                modules.entry(outer).or_default();
                at = outer;
            }
        };
        for group in &file.group {
            group.modules.iter().for_each(|(path, names)| add(path, names));
        }
        let found: HashSet<_> = file.found.iter().flat_map(|one| words(&one.calls)).collect();
        found.iter().filter_map(|call| package(call)).for_each(|path| add(path, ""));
        for path in SPECIAL_MODULES {
            add(path, "");
        }
        Self {
            modules,
            same: file.same.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect(),
            found,
            builtins: words(&file.builtins.plain).collect(),
            refused: words(&file.builtins.refused).collect(),
            methods: file.methods.iter().flat_map(|one| words(&one.names)).collect(),
            found_methods: file.found.iter().flat_map(|one| words(&one.methods)).collect(),
            risky: words(&file.risky.names).collect(),
            most: file
                .places
                .most
                .iter()
                .filter_map(|(most, names)| Some((most.parse::<usize>().ok()?, names)))
                .flat_map(|(most, names)| words(names).map(move |name| (name, most)))
                .collect(),
            settable: words(&file.places.set).collect(),
        }
    }

    /// A module by the name that it has here.
    pub(crate) fn module(&self, path: &str) -> Option<&'static str> {
        if let Some(same) = self.same.get(path) {
            return Some(same);
        }
        self.modules.get_key_value(path).map(|(path, _)| *path)
    }

    pub(crate) fn is_plain(&self, module: &str, name: &str) -> bool {
        self.modules.get(module).is_some_and(|names| names.contains(name))
    }

    pub(crate) fn found(&self, path: &str) -> Option<&'static str> {
        self.found.get(path).copied()
    }

    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        self.builtins.contains(name)
    }

    pub(crate) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(name)
    }

    pub(crate) fn is_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }

    /// How many arguments a call may be given by their places, if that matters.
    pub(crate) fn most_positional(&self, name: &str) -> Option<usize> {
        self.most.get(name).copied()
    }

    /// Whether a method is harmless only with few arguments in their places.
    pub(crate) fn is_limited(&self, name: &str) -> bool {
        self.most.contains_key(name) && self.methods.contains(name)
    }

    /// Whether an attribute of any value may be set.
    pub(crate) fn may_set(&self, name: &str) -> bool {
        self.settable.contains(name)
    }

    pub(crate) fn is_found_method(&self, name: &str) -> bool {
        self.found_methods.contains(name)
    }

    /// Whether a class of the code's own may have an attribute of this name without giving leave to
    /// take it from other values.
    pub(crate) fn is_risky(&self, name: &str) -> bool {
        self.risky.contains(name) || self.is_found_method(name)
    }

    /// The modules outside of the standard library that are listed, by their first names.
    #[cfg(test)]
    pub(crate) fn roots(&self) -> HashSet<&'static str> {
        self.modules.keys().map(|path| path.split('.').next().unwrap_or(path)).collect()
    }
}
