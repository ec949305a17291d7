//! The meanings of a name that are kept, of all that it may have.
//!
//! The first few are kept whatever they are. After those only what a rule may be about counts:
//! `df = df.dropna()` again and again makes ever more names that no rule knows.

use crate::{fuel::Fuel, rules::Rules, syntax::Syntax};

/// Most meanings that are kept whatever they are.
const FEW: usize = 8;

/// Most meanings that are kept. More are not followed, which is noted.
const MOST: usize = 64;

/// Names that lead to others without a rule of their own.
const STEERING: [&str; 15] = [
    "__builtins__",
    "__import__",
    "builtins",
    "functools",
    "functools.partial",
    "getattr",
    "globals",
    "importlib",
    "locals",
    "module",
    "process",
    "require",
    "sys",
    "util",
    "vars",
];

/// Who tells which meanings matter.
#[derive(Clone, Debug)]
pub(crate) struct Meanings {
    pub(crate) rules: Rules,
    pub(crate) syntax: Syntax,
}

impl Meanings {
    /// Adds meanings to those that are known.
    pub(crate) fn add(
        &self,
        known: &mut Vec<String>,
        more: impl IntoIterator<Item = String>,
        fuel: &Fuel,
    ) {
        for meaning in more {
            if known.contains(&meaning) {
                continue;
            }
            if known.len() < FEW {
                known.push(meaning);
                continue;
            }
            let Some(reach) = self.reach(&meaning) else { continue };
            if known.iter().any(|one| self.reach(one) == Some(reach)) {
                continue;
            }
            if known.len() < MOST {
                known.push(meaning);
            } else {
                fuel.cut();
            }
        }
    }

    fn reach<'a>(&self, name: &'a str) -> Option<&'a str> {
        let root = name.split(['.', '(', '[']).next().unwrap_or_default();
        let is_plain = !name.trim_end_matches("()").contains('(');
        let is_steering = (is_plain && STEERING.contains(&root)) || name.ends_with("__dict__");
        let by_rule = || self.rules.reach(self.syntax, name);
        by_rule().or_else(|| is_steering.then_some(name))
    }
}
