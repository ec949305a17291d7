//! The names that earlier cells of a session have set, with their meanings and values.
//!
//! A kernel keeps its variables from cell to cell, so a path that one cell sets and another deletes
//! must be seen in the second. [`Past`] is a plain value with bounds: whoever runs the cells keeps
//! it, and drops it when the kernel is restarted.

use crate::{says::Says, strict::StrictPast, syntax::Syntax, value::Value};
use interpreter_core::{Capability, Confidence, Deed, Language, Risk};
use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
};

/// Most names that are remembered of one language.
const NAMES: usize = 2_000;

/// Most meanings of one name that are remembered: the first ones.
const MEANINGS: usize = 64;

/// Most modules of which everything was imported that are remembered.
const STARS: usize = 8;

/// Most bytes of one value that are remembered.
const BYTES: usize = 16 * 1024;

/// The names that earlier cells have set.
#[derive(Clone, Debug, Default)]
pub struct Past(pub(crate) Names);

impl Past {
    /// Forgets what code in a language has set: its kernel starts afresh.
    pub fn forget(&mut self, language: &Language) {
        let syntax = Syntax::of(language.written_in());
        self.0.known.remove(&syntax);
        self.0.strict.remove(&syntax);
    }
}

/// Names by language.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    known: HashMap<Syntax, Known>,
    strict: HashMap<Syntax, StrictPast>,
}

impl Names {
    pub(crate) fn of(&self, syntax: Syntax) -> Known {
        self.known.get(&syntax).cloned().unwrap_or_default()
    }

    /// The names as far as their code was understood.
    pub(crate) fn strict(&self, syntax: Syntax) -> StrictPast {
        self.strict.get(&syntax).cloned().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, syntax: Syntax, known: Known, strict: StrictPast) {
        self.known.insert(syntax, known);
        self.strict.insert(syntax, strict);
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
    /// Functions that were defined, and what calling them does.
    pub(crate) functions: HashMap<String, Vec<Says<'static>>>,
    /// Every name that was set.
    pub(crate) bound: HashSet<String>,
    /// Whether the shell may be in another folder than the work folder.
    pub(crate) is_moved: bool,
    /// Whether some code has set names that are not here.
    pub(crate) is_partial: bool,
}

impl Known {
    /// Whether an earlier cell may have set a name.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.bound.contains(name) || self.bound.len() >= NAMES
    }

    /// This, and then what a later cell may have set, which `bound` these names: it may have ended
    /// before, or not have come by. So a name that was set before may stand for either.
    pub(crate) fn then(mut self, mut later: Self, bound: impl Iterator<Item = String>) -> Self {
        for name in bound {
            if self.may_have(&name) {
                if self.values.get(&name) != later.values.get(&name) {
                    self.values.remove(&name);
                    later.values.remove(&name);
                }
                if let Some(earlier) = self.meanings.remove(&name) {
                    let now = later.meanings.entry(name.clone()).or_default();
                    join(now, earlier, |one, other| one == other);
                }
                if let Some(earlier) = self.functions.remove(&name) {
                    let now = later.functions.entry(name.clone()).or_default();
                    join(now, earlier, |one, other| {
                        (one.deed, one.severity) == (other.deed, other.severity)
                    });
                }
            } else {
                self.bound.insert(name);
            }
        }
        let room = |held: usize| NAMES.saturating_sub(held);
        let room = (room(self.meanings.len()), room(self.values.len()), room(self.functions.len()));
        self.is_moved |= later.is_moved;
        self.is_partial |= later.is_partial
            || later.meanings.len() > room.0
            || later.functions.len() > room.2
            || later.values.len() > room.1;
        self.meanings.extend(later.meanings.into_iter().take(room.0));
        let fits = |value: &Value| value.bytes() <= BYTES;
        self.values.extend(later.values.into_iter().filter(|(_, value)| fits(value)).take(room.1));
        self.functions.extend(later.functions.into_iter().take(room.2));
        let room = NAMES.saturating_sub(self.modules.len());
        let new: Vec<_> = later.modules.difference(&self.modules).cloned().collect();
        self.is_partial |= new.len() > room;
        self.modules.extend(new.into_iter().take(room));
        for star in later.stars {
            if self.stars.contains(&star) {
                continue;
            }
            if self.stars.len() < STARS {
                self.stars.push(star);
            } else {
                self.is_partial = true;
            }
        }
        self
    }
}

/// Puts what a name meant earlier before what it may mean now.
fn join<T>(now: &mut Vec<T>, mut earlier: Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
    now.retain(|one| !earlier.iter().any(|other| is_same(one, other)));
    earlier.append(now);
    earlier.truncate(MEANINGS);
    *now = earlier;
}

/// The findings of a script so far: by our own rules, and by added ones.
#[derive(Clone, Copy)]
pub(crate) struct SoFar<'a> {
    pub(crate) own: &'a [Capability],
    pub(crate) added: &'a [Capability],
}

impl SoFar<'_> {
    /// The deeds on these lines that weigh, as those of a function that stands there.
    pub(crate) fn does(self, lines: &RangeInclusive<u32>) -> Vec<Says<'static>> {
        let mut does = deeds(self.own, lines, false, is_remembered);
        does.extend(deeds(self.added, lines, true, is_remembered));
        does
    }

    /// The same, and the light ones too.
    pub(crate) fn does_at_all(self, lines: &RangeInclusive<u32>) -> Vec<Says<'static>> {
        let mut does = deeds(self.own, lines, false, |_| true);
        does.extend(deeds(self.added, lines, true, |_| true));
        does
    }
}

/// Whether a function that does this is one to remember. A write may weigh more where it runs.
fn is_remembered(one: &Capability) -> bool {
    one.severity > Risk::Low || one.is_a(Deed::Writes.name())
}

fn deeds(
    found: &[Capability],
    lines: &RangeInclusive<u32>,
    is_added: bool,
    is_remembered: fn(&Capability) -> bool,
) -> Vec<Says<'static>> {
    let mut does: Vec<Says<'static>> = Vec::new();
    let inside = found.iter().filter(|one| lines.contains(&one.line));
    for one in inside.filter(|one| is_remembered(one)) {
        let Some(deed) = Deed::named(&one.name) else { continue };
        if let Some(known) = does.iter_mut().find(|known| known.deed == deed) {
            known.severity = one.severity.max(known.severity);
        } else {
            let says = Says::new(deed, one.severity, "an earlier cell's function does");
            does.push(Says { is_added, ..says.at_most(Confidence::Likely) });
        }
    }
    does
}
