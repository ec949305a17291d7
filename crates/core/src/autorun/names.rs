//! The names of files that run by themselves, and who runs them when.
//!
//! One module for each kind of program that runs them. A name is listed because the program's own
//! documentation says that it reads a file of that name without being told to: `documented.toml`
//! says where, and a test compares the two.

use super::rule::{Autorun, Names};

mod agents;
mod builds;
mod compiled;
mod consoles;
mod containers;
mod delivery;
mod editors;
mod javascript;
mod packages;
mod projects;
mod python;
mod shells;
mod system;
mod versions;

const ALL: &[&[Names]] = &[
    versions::NAMES,
    editors::NAMES,
    shells::NAMES,
    system::NAMES,
    delivery::NAMES,
    builds::NAMES,
    packages::NAMES,
    projects::NAMES,
    python::NAMES,
    javascript::NAMES,
    consoles::NAMES,
    containers::NAMES,
    compiled::NAMES,
    agents::NAMES,
];

/// All rules.
pub fn rules() -> impl Iterator<Item = Autorun> {
    let each = |names: &'static Names| {
        let Names { form, reason, paths } = names;
        paths.iter().map(|path| Autorun { path, form: *form, reason })
    };
    ALL.iter().copied().flatten().flat_map(each)
}
