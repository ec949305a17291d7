//! Turns code into findings, by syntax tree.
//!
//! [`analyze`] reads code without running it and says what it would read, write, delete, start,
//! connect to or hide. The dangerous names are data: `rules/*.toml`.
//!
//! The walk is lenient, so it may only find danger: nothing here can prove that code is harmless,
//! and code that cannot be read is a finding in itself. Findings inform a person's answer and the
//! rules; the boundary is the sandbox.
//!
//! A second, strict walk (`strict`) says whether all of the code is understood, by lists of harmless
//! names: `names/*.toml`.
//!
//! This crate must not touch disk, network, clock or processes, and any text may be fed to it.

pub use crate::{
    added::{AddedRule, AddedRuleError, AddedRules, MOST_NAMES, MOST_RULES, RuleText, Whose},
    analyze::{analyze, analyze_after},
    detect::detect_language,
    past::Past,
    python::assignments,
    scanners::{MOST_REPORT, SEMGREP_RULES, failure, scannable, with_report},
};

mod added;
mod analysis;
mod analyze;
mod call;
mod call_rules;
mod collected;
mod decode;
mod detect;
mod folder;
mod fuel;
mod javascript;
mod literal;
mod meanings;
mod past;
mod place;
mod python;
mod rule;
mod rules;
mod saved;
mod says;
mod scanners;
mod shell;
mod sql;
mod strict;
mod syntax;
mod value;
mod words;

#[cfg(test)]
mod tests;
