//! The names of a shell script: its functions, and the variables that hold one text.

use crate::{
    literal::Literal,
    past::{Known, SoFar},
    says::Says,
    value::Value,
};
use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
};

/// Most bytes of a value that is remembered: each use of it copies it.
const LONGEST: usize = 4 * 1024;

/// The meanings of names in a script.
#[derive(Default)]
pub(super) struct Names {
    pub(super) past: Known,
    /// Variables that it surely sets before it uses them.
    pub(super) sure: HashSet<String>,
    pub(super) functions: HashSet<String>,
    /// The lines of functions.
    pub(super) bodies: Vec<(String, RangeInclusive<u32>)>,
    /// Variables; `None` for one that may hold several things.
    variables: HashMap<String, Option<String>>,
    /// Variables that may hold the signs of a pattern.
    wild: HashSet<String>,
    /// Whether some command changes the folder, in a shell inside this one too.
    pub(super) changes_folder: bool,
    /// Whether one does that is in this shell itself.
    pub(super) moves: bool,
}

impl Names {
    pub(super) fn after(past: Known, sure: HashSet<String>) -> Self {
        Self { past, sure, ..Self::default() }
    }

    pub(super) fn set(&mut self, variable: &str, value: Option<&str>) {
        let value = value.filter(|value| value.len() <= LONGEST);
        self.variables
            .entry(variable.to_owned())
            .and_modify(|held| {
                if held.as_deref() != value {
                    *held = None;
                }
            })
            .or_insert_with(|| value.map(str::to_owned));
    }

    /// A variable may hold the signs of a pattern.
    pub(super) fn set_wild(&mut self, variable: &str) {
        self.wild.insert(variable.to_owned());
    }

    /// Whether a variable that isn't quoted becomes no names of files: all that sets it is this
    /// script, and to nothing with the signs of a pattern.
    pub(super) fn is_tame(&self, variable: &str) -> bool {
        matches!(variable, "#" | "?" | "$" | "!")
            || (self.variables.contains_key(variable) && !self.wild.contains(variable))
    }

    /// The text that a variable holds.
    pub(super) fn value(&self, variable: &str) -> Option<&str> {
        match self.variables.get(variable) {
            Some(_) if self.past.may_have(variable) && !self.sure.contains(variable) => None,
            Some(held) => held.as_deref(),
            None => match self.past.values.get(variable) {
                Some(held) => held.text.whole(),
                None if variable == "HOME" => Some("~"),
                None => None,
            },
        }
    }

    /// Whether the script, or one before it, sets a variable.
    pub(super) fn is_set(&self, variable: &str) -> bool {
        self.variables.contains_key(variable) || self.past.values.contains_key(variable)
    }

    /// The deeds of an earlier cell's function.
    pub(super) fn does(&self, name: &str) -> &[Says<'static>] {
        // Its own deeds are found where it stands.
        self.past.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names that the session knows after this script.
    pub(super) fn learned(self, past: Known, found: SoFar<'_>) -> Known {
        let mut fresh = Known { is_moved: self.moves, ..Known::default() };
        let bound: Vec<String> = self.variables.keys().chain(&self.functions).cloned().collect();
        for (name, text) in self.variables {
            if let Some(text) = text {
                let text = Literal::known(text);
                fresh.values.insert(name, Value { text, ..Value::default() });
            }
        }
        for (name, lines) in self.bodies {
            let does = found.does_at_all(&lines);
            fresh.functions.insert(name, does);
        }
        past.then(fresh, bound.into_iter())
    }
}
