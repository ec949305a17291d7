//! Reads both trees, by descriptor and never through a link, and says how they differ.

pub(crate) mod about;
pub(crate) mod attributes;
pub(crate) mod content;
pub(crate) mod delta;
pub(crate) mod diff;
pub(crate) mod folder;
pub(crate) mod hunks;
pub(crate) mod layer;
pub(crate) mod listing;
pub(crate) mod magic;
pub(crate) mod node;
pub(crate) mod relative;
pub(crate) mod scan;
pub(crate) mod selection;
pub(crate) mod side;
pub(crate) mod stat;
pub(crate) mod sweep;
pub(crate) mod unlock;
pub(crate) mod usage;
pub(crate) mod veiled;
pub(crate) mod verdicts;
