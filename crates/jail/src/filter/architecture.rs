//! Differences between architectures: the numbers of the calls, and how the kernel marks them.
//!
//! The tables are data, so that the filter of every architecture can be compiled and tried on any
//! other. A call that an architecture does not have is listed as absent there: a name that is in
//! neither list is a mistake, and nothing is refused by mistake only on some machines.

use super::FilterError;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The table of one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// How the kernel marks its calls.
    pub(super) audit: u32,
    /// The bit of calls that belong to a second interface of the same mark.
    pub(super) foreign: Option<u32>,
    absent: BTreeSet<String>,
    calls: BTreeMap<String, u32>,
}

/// A call on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// It has this number.
    Is(u32),
    /// It does not exist.
    Absent,
}

/// Their tables, by name.
const TABLES: [(&str, &str); 2] = [
    ("x86_64", include_str!("../../filters/x86_64.toml")),
    ("aarch64", include_str!("../../filters/aarch64.toml")),
];

impl Architecture {
    /// The one that this program was made for.
    pub fn here() -> Result<Self, FilterError> {
        Self::named(std::env::consts::ARCH)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Result<Self, FilterError> {
        let table = TABLES.iter().find(|(known, _)| *known == name);
        let (_, text) = table.ok_or_else(|| FilterError::Architecture { name: name.to_owned() })?;
        Ok(toml::from_str(text)?)
    }

    /// The name that container engines have for the one that this program was made for.
    pub(super) fn engine_name() -> Result<&'static str, FilterError> {
        match std::env::consts::ARCH {
            "x86_64" => Ok("SCMP_ARCH_X86_64"),
            "aarch64" => Ok("SCMP_ARCH_AARCH64"),
            other => Err(FilterError::Architecture { name: other.to_owned() }),
        }
    }

    /// The names of all that there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLES.into_iter().map(|(name, _)| name)
    }

    /// A call by its name, or `None` if this table does not mention it.
    pub(super) fn number(&self, call: &str) -> Option<Number> {
        let absent = self.absent.contains(call).then_some(Number::Absent);
        absent.or_else(|| self.calls.get(call).copied().map(Number::Is))
    }

    #[cfg(test)]
    pub(super) fn calls(&self) -> &BTreeMap<String, u32> {
        &self.calls
    }
}
