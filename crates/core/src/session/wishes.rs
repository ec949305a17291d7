//! Wishes of the person about cells that ran: to have them run again.
//!
//! Plain values. `replaying.rs` has the steps.

use super::cells::{CellMemory, PastCell};
use crate::{Findings, Language, Proposal, Verdict, record::CellLeftOut};
use std::collections::VecDeque;

/// Cells that the person wants to run again, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The cells.
    pub cells: Vec<PastCell>,
}

impl Replay {
    /// The cells that would rebuild the interpreters, or that of one language: those whose memory
    /// is there or was lost, but not what the person got rid of.
    pub fn of(cells: Vec<PastCell>, language: Option<&Language>) -> Self {
        let is_meant = |cell: &PastCell| {
            cell.memory != CellMemory::Cleared
                && language.is_none_or(|language| language.name() == cell.language)
        };
        Self { cells: cells.into_iter().filter(is_meant).collect() }
    }
}

/// The question to a person before cells run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayQuestion {
    /// Those that would run, in order.
    pub cells: Vec<ReplayCell>,
    /// Those that would not, and why.
    pub left_out: Vec<CellLeftOut>,
}

/// A cell that would run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayCell {
    /// The code.
    pub proposal: Proposal,
    /// Its findings.
    pub findings: Findings,
    /// The verdict of now.
    pub verdict: Verdict,
}

/// Cells on their way to run again.
#[derive(Debug)]
pub(super) struct Rebuilding {
    pub(super) cells: VecDeque<Proposal>,
    pub(super) left_out: Vec<CellLeftOut>,
}
