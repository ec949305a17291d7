//! The names that earlier cells of a session have set, with their meanings and values.
//!
//! A kernel keeps its variables from cell to cell, so a path that one cell sets and another deletes
//! must be seen in the second. [`Past`] is a plain value with bounds: whoever runs the cells keeps
//! it, and drops it when the kernel is restarted.

use crate::{syntax::Syntax, value::Value};
use interpreter_core::{Capability, Deed, Language, Risk};
use std::collections::{HashMap, HashSet};

/// Most names that are remembered of one language.
const NAMES: usize = 2_000;

/// Most bytes of one value that are remembered.
const BYTES: usize = 16 * 1024;

/// The names that earlier cells have set, as each of the two readings knows them: by our own rules,
/// and by added ones too.
#[derive(Clone, Debug, Default)]
pub struct Past {
    pub(crate) own: Names,
    pub(crate) added: Names,
}

impl Past {
    /// Forgets what code in a language has set: its kernel starts afresh.
    pub fn forget(&mut self, language: &Language) {
        let syntax = Syntax::of(language.written_in());
        for names in [&mut self.own, &mut self.added] {
            names.0.remove(&syntax);
        }
    }
}

/// Names by language.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(HashMap<Syntax, Known>);

impl Names {
    pub(crate) fn of(&self, syntax: Syntax) -> Known {
        self.0.get(&syntax).cloned().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, syntax: Syntax, known: Known) {
        self.0.insert(syntax, known);
    }
}

/// Names and their meanings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The dotted names that a name may stand for.
    pub(crate) meanings: HashMap<String, Vec<String>>,
    pub(crate) modules: HashSet<String>,
    /// Modules of which everything was imported.
    pub(crate) stars: Vec<String>,
    /// Names that hold text or a list of texts.
    pub(crate) values: HashMap<String, Value>,
    /// Functions that were defined, and what they do.
    pub(crate) functions: HashMap<String, Vec<(Deed, Risk)>>,
}

impl Known {
    /// This, and then what a later cell has set: of the names that it `bound`, only that counts.
    pub(crate) fn then(mut self, later: Self, bound: impl Iterator<Item = String>) -> Self {
        for name in bound {
            self.meanings.remove(&name);
            self.values.remove(&name);
            self.functions.remove(&name);
        }
        let room = |held: usize| NAMES.saturating_sub(held);
        let room = (room(self.meanings.len()), room(self.values.len()), room(self.functions.len()));
        self.meanings.extend(later.meanings.into_iter().take(room.0));
        let fits = |value: &Value| value.bytes() <= BYTES;
        self.values.extend(later.values.into_iter().filter(|(_, value)| fits(value)).take(room.1));
        self.functions.extend(later.functions.into_iter().take(room.2));
        let room = NAMES.saturating_sub(self.modules.len());
        self.modules.extend(later.modules.into_iter().take(room));
        for star in later.stars {
            if !self.stars.contains(&star) && self.stars.len() < 8 {
                self.stars.push(star);
            }
        }
        self
    }
}

/// The deeds on these lines, as those of a function that stands there.
pub(crate) fn does(
    found: &[Capability],
    lines: std::ops::RangeInclusive<u32>,
) -> Vec<(Deed, Risk)> {
    let mut does: Vec<(Deed, Risk)> = Vec::new();
    let inside = found.iter().filter(|one| lines.contains(&one.line));
    for one in inside.filter(|one| one.severity > Risk::Low) {
        let Some(deed) = Deed::named(&one.name) else { continue };
        match does.iter_mut().find(|(known, _)| *known == deed) {
            Some((_, severity)) => *severity = one.severity.max(*severity),
            None => does.push((deed, one.severity)),
        }
    }
    does
}
