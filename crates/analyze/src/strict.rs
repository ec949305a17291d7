//! Whether code is understood: each name in it is on a list of harmless ones, or found.
//!
//! # Threat
//! Code that acts by a way that no rule of the lenient walk knows: `print.__self__.exec`,
//! `pathlib.os`, `df.query("@…")`. Where no one looks, it would pass.
//!
//! # Mechanism
//! A second walk over the same tree turns the question round. Code is a closed world: only listed
//! names can be reached, so every value that it can have is harmless, and may be called and handed
//! on. Names of modules are resolved by their dotted path; of values, attributes are taken by name.
//! Calls whose effects the lenient walk finds count only where it surely finds them. Everything
//! else isn't understood, names of earlier code that wasn't understood included.
//!
//! # Limits
//! It rests on the lists in `names/`. Code that wasn't understood and was approved nevertheless may
//! have changed what later names mean.
//!
//! Finds nothing, and must not be used to raise or lower a finding.

use interpreter_core::{Understanding, UnknownName, understanding::MOST_UNKNOWN};
use std::collections::{HashMap, HashSet};

pub(crate) mod names;
pub(crate) mod python;
pub(crate) mod shell;

/// Most names that are remembered of earlier cells.
const MOST_REMEMBERED: usize = 4_000;

/// Whether the code that is read is understood, so far.
#[derive(Debug, Default)]
pub(crate) struct Strict {
    /// The names of earlier code.
    pub(crate) past: StrictPast,
    unknown: Vec<UnknownName>,
    /// Whether a walk has read the code to its end.
    is_read: bool,
}

/// The names that earlier code in a kernel has set, as far as it was understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct StrictPast {
    /// The dotted paths of imported names.
    pub(crate) imports: HashMap<String, String>,
    /// Attributes of its own classes.
    pub(crate) attributes: HashSet<String>,
    /// Functions and classes of understood code that nothing else was put in the place of.
    pub(crate) functions: HashSet<String>,
    /// Names of files that understood code has set.
    pub(crate) locals: HashSet<String>,
    /// Names that understood code has set.
    pub(crate) known: HashSet<String>,
    /// Names that code has set that wasn't understood.
    pub(crate) foreign: HashSet<String>,
    /// Whether code has run that wasn't understood.
    pub(crate) is_foreign: bool,
    /// Modules that make some names of attributes mean more.
    pub(crate) has: HashSet<&'static str>,
}

/// The names that one piece of code has set.
#[derive(Debug, Default)]
pub(crate) struct StrictNames {
    pub(crate) imports: HashMap<String, String>,
    pub(crate) attributes: HashSet<String>,
    pub(crate) bound: HashSet<String>,
    pub(crate) functions: HashSet<String>,
    pub(crate) locals: HashSet<String>,
    pub(crate) has: HashSet<&'static str>,
    /// Names that it may have set, depending on how far it came.
    pub(crate) unsure: HashSet<String>,
}

impl StrictPast {
    /// Whether earlier code may have set a name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.known.contains(name) || self.foreign.contains(name)
    }

    fn forget(&mut self, name: &str) {
        self.imports.remove(name);
        self.known.remove(name);
        self.functions.remove(name);
        self.locals.remove(name);
        self.known.remove(&other_space(name));
    }
}

/// A function of the name of a variable, or the reverse, in languages that tell the two apart.
fn other_space(name: &str) -> String {
    name.strip_suffix("()").map_or_else(|| format!("{name}()"), str::to_owned)
}

impl Strict {
    pub(crate) fn after(past: StrictPast) -> Self {
        Self { past, ..Self::default() }
    }

    /// Notes something that isn't known.
    pub(crate) fn unknown(&mut self, name: &str, line: u32) {
        if self.unknown.len() < MOST_UNKNOWN
            && !self.unknown.iter().any(|one| one.line == line && one.name.raw() == name)
        {
            self.unknown.push(UnknownName::new(name, line));
        }
    }

    /// The code was read to its end.
    pub(crate) fn finish(&mut self) {
        self.is_read = true;
    }

    /// Whether nothing unknown was seen so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Takes over what the code may have set: it may have ended before, or not have come by. So a
    /// name that was set before may stand for either, and means only what both mean.
    pub(crate) fn learn(&mut self, names: StrictNames) {
        let is_clean = self.is_read && self.is_clean();
        let past = &mut self.past;
        past.has.extend(&names.has);
        let mut set: HashSet<String> = names.bound;
        set.extend(names.imports.keys().cloned());
        if is_clean {
            past.attributes.extend(names.attributes);
        } else {
            past.is_foreign = true;
        }
        past.foreign.extend(names.unsure.into_iter().filter(|name| !past.known.contains(name)));
        for name in set {
            let is_new = !past.knows(&name) && !past.knows(&other_space(&name));
            let imported = names.imports.get(&name);
            if !is_clean || (!is_new && imported != past.imports.get(&name)) {
                past.forget(&name);
                past.foreign.insert(name);
                continue;
            }
            // One that isn't new was the same before, or is it no more.
            let may = |held: &HashSet<String>| is_new || held.contains(&name);
            let is_function = names.functions.contains(&name) && may(&past.functions);
            let is_local = names.locals.contains(&name) && may(&past.locals);
            let is_known = is_new || past.known.contains(&name);
            past.forget(&name);
            if is_function {
                past.functions.insert(name.clone());
            }
            if is_local {
                past.locals.insert(name.clone());
            }
            if let Some(path) = imported {
                past.imports.insert(name.clone(), path.clone());
            }
            if is_known {
                past.known.insert(name);
            } else {
                past.foreign.insert(name);
            }
        }
        let size =
            past.imports.len() + past.attributes.len() + past.known.len() + past.foreign.len();
        if size > MOST_REMEMBERED {
            // Nothing is known any more of what came before.
            *past = StrictPast { is_foreign: true, has: past.has.clone(), ..StrictPast::default() };
        }
    }

    /// Whether it is understood, and what is known after it.
    pub(crate) fn end(mut self) -> (Understanding, StrictPast) {
        if self.is_read && self.unknown.is_empty() {
            return (Understanding::Understood, self.past);
        }
        self.past.is_foreign = true;
        (Understanding::Unknown(self.unknown), self.past)
    }
}
