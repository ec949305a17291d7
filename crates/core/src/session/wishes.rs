//! Wishes of the person about cells that ran: to have them run again, to go back to before one.
//!
//! Plain values. `replaying.rs` and `rewinding.rs` have the steps.

use super::cells::{CellMemory, PastCell};
use crate::{
    FileChange, Findings, Language, Message, Proposal, Verdict,
    record::{CellLeftOut, ReplyPlace, TurnEnd},
};
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

/// Code whose question was open when its session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenCode {
    /// The id and the hash of the question.
    pub(super) question: (String, String),
    pub(super) current: Proposal,
    /// The code of the same reply that waits behind it. The ids are given anew.
    pub(super) waiting: Vec<Proposal>,
    /// Its place in that reply, if it came in one and the place is known.
    pub(super) place: Option<ReplyPlace>,
    pub(super) edited: bool,
    /// Whether some of several people had approved it.
    pub(super) had_approvals: bool,
}

/// A way back to before a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewind {
    /// The cell.
    pub to: String,
    /// The conversation of then, without the opening.
    pub messages: Vec<Message>,
    /// The prompt that led to the cell, if it is taken back too.
    pub prompt: Option<String>,
    /// The cells that no longer count: it and those after it.
    pub undone: Vec<PastCell>,
    /// The cells whose variables were there.
    pub memory: Vec<PastCell>,
    /// Files that were put into the person's folder since, by application, the newest last.
    pub applied: Vec<Vec<FileChange>>,
    /// Whether those are undone.
    pub undo: bool,
    /// Hosts that were reached since.
    pub hosts: Vec<String>,
    /// Programs that code has left running, and that are ended. Counted by the front end, last.
    pub programs: u32,
    /// Prompts that no longer count.
    pub prompts: usize,
    /// Paths of files that people sent since, each once.
    pub sent: Vec<String>,
    /// The number of the newest record that says how the session stands, when this was worked out.
    /// Refused if another has come since.
    pub as_of: u64,
}

/// The number of the checkpoint that is taken before a cell.
pub fn checkpoint_number(cell: &str) -> u32 {
    cell.trim_start_matches('p').parse().unwrap_or(0)
}

/// The steps that are left until everything is as it was.
#[derive(Debug)]
pub(super) struct GoingBack {
    pub(super) number: u32,
    pub(super) memory: Vec<PastCell>,
    /// Applications that are still to be undone.
    pub(super) undo: usize,
    /// Interpreters that did not come back.
    pub(super) lost: Vec<String>,
    /// Those of them that are still to be started afresh.
    pub(super) uncleared: Vec<Language>,
    /// Whether staged files came back.
    pub(super) has_files: bool,
}

/// The step that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewindStep {
    /// An application is being undone.
    Undoing,
    /// Interpreters and files go back.
    GoingBack,
    /// Interpreters that did not are started afresh.
    Clearing,
    /// Files go back once more.
    Files(TurnEnd),
    /// The staged files are listed.
    Listing(TurnEnd),
}
