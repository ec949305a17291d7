//! The meaning of going back to before a cell, told before it happens.
//!
//! Whoever decides sees this and nothing less: the cells that no longer count, how each interpreter
//! and the staged files come back, and what stays as it is. A decision that does not come at once
//! names the hash of it, so that it is about exactly what was shown.
//!
//! Pure. Must not promise what the checkpoint does not hold.

use super::wishes::Rewind;
use crate::{
    Beside, Checkpoint, FileChange, FilesCheckpoint, KernelCheckpoint, MemoryCheckpoint, Untrusted,
    hash::canonical_sha256,
};
use serde::Serialize;

/// Why staged files do not come back from a checkpoint that is not there.
const FORGOTTEN: &str = "they were not kept";

/// Applied files that are named.
const NAMED: usize = 1_000;

/// Characters of the prompt that are shown.
const PROMPT: usize = 2_000;

/// The meaning of going back to before a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RewindPlan {
    /// The cell.
    pub before: String,
    /// The cells that no longer count: it and those after it.
    pub cells: Vec<PlannedCell>,
    /// The prompt that led to the cell, if it is taken back too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Untrusted>,
    /// Prompts that no longer count.
    pub prompts: usize,
    /// Every interpreter that has to do with it.
    pub interpreters: Vec<PlannedInterpreter>,
    /// The staged files.
    pub staged: FilesCheckpoint,
    /// Programs that code has left running, of whichever cell. All of them are ended.
    pub programs: u32,
    /// Files that people sent since, and that are no longer staged.
    pub sent: Vec<String>,
    /// Files that were applied since, the first of them. They are undone if the person wants that.
    pub applied: Vec<FileChange>,
    /// How many there are.
    pub applied_count: usize,
    /// Hosts that were reached since, which is not undone.
    pub hosts: Vec<String>,
    /// The number of the newest record that this takes into account. Anything later
    /// makes it another plan.
    pub as_of: u64,
}

/// A cell that no longer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedCell {
    /// Its id: `p3`.
    pub id: String,
    /// The name of its language.
    pub language: String,
}

/// How an interpreter comes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedInterpreter {
    /// The name of its language.
    pub language: String,
    /// From where.
    #[serde(flatten)]
    pub from: ComesBack,
}

/// From where an interpreter comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ComesBack {
    /// From a copy of its memory.
    Memory {
        /// The state that does not come back with it.
        without: Beside,
    },
    /// By running cells again, if the person approves of them.
    Cells {
        /// Their number.
        count: usize,
    },
    /// It starts afresh, as it was then.
    Nothing,
}

impl Rewind {
    /// The meaning of going back, with the checkpoint that is held for it.
    pub fn plan(&self, held: Option<&Checkpoint>) -> RewindPlan {
        let cells = self
            .undone
            .iter()
            .map(|cell| PlannedCell { id: cell.id.clone(), language: cell.language.clone() });
        let interpreters = self.languages().into_iter().map(|language| PlannedInterpreter {
            language: language.to_owned(),
            from: self.comes_back(language, held),
        });
        let forgotten = || FilesCheckpoint::NotKept { reason: FORGOTTEN.into() };
        let staged = held.map_or_else(forgotten, |held| held.files.clone());
        let go_with_it = matches!(staged, FilesCheckpoint::Kept);
        let prompt = self.prompt.as_ref().map(|text| text.chars().take(PROMPT).collect());
        RewindPlan {
            before: self.to.clone(),
            cells: cells.collect(),
            prompt: prompt.map(|text: String| Untrusted::new(text)),
            prompts: self.prompts,
            interpreters: interpreters.collect(),
            staged,
            programs: self.programs,
            sent: if go_with_it { self.sent.clone() } else { Vec::new() },
            applied: self.applied.iter().flatten().take(NAMED).cloned().collect(),
            applied_count: self.applied.iter().map(Vec::len).sum(),
            hosts: self.hosts.clone(),
            as_of: self.as_of,
        }
    }

    fn comes_back(&self, language: &str, held: Option<&Checkpoint>) -> ComesBack {
        let is_it = |one: &&KernelCheckpoint| one.language.name() == language;
        let kernel = held.and_then(|held| held.kernels.iter().find(is_it));
        if let Some(KernelCheckpoint { memory: MemoryCheckpoint::Kept { beside }, .. }) = kernel {
            return ComesBack::Memory { without: *beside };
        }
        match self.memory.iter().filter(|cell| cell.language == language).count() {
            0 => ComesBack::Nothing,
            count => ComesBack::Cells { count },
        }
    }
}

impl RewindPlan {
    /// The hash of everything that it shows, as 64 hexadecimal digits. Programs start and end by
    /// themselves and could keep it from ever being the same, so they count as one at most.
    pub fn hash(&self) -> String {
        canonical_sha256(&Self { programs: self.programs.min(1), ..self.clone() })
    }
}
