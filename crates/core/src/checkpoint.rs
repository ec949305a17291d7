//! Checkpoints: what can be gone back to, and what came back.
//!
//! A checkpoint is taken between two cells. It holds the memory of the kernels that can keep it,
//! and the staged files. The session numbers checkpoints; a higher number is a later one. Each part
//! says for itself whether it was kept, so nothing is promised that cannot be restored.

use crate::Language;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The contents of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its number.
    pub number: u32,
    /// The kernels that were there.
    pub kernels: Vec<KernelCheckpoint>,
    /// The staged files.
    pub files: FilesCheckpoint,
}

/// One kernel at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCheckpoint {
    /// Its language.
    pub language: Language,
    /// Its memory.
    pub memory: MemoryCheckpoint,
}

/// Whether the memory of a kernel was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryCheckpoint {
    /// It was.
    Kept {
        /// The state that it does not bring back.
        beside: Beside,
    },
    /// It was not.
    NotKept {
        /// Why.
        reason: String,
    },
}

/// Whether the staged files were kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesCheckpoint {
    /// They were.
    Kept,
    /// Nothing is staged in this session: code works in the folder itself, or changes nothing.
    NotStaged,
    /// They were not.
    NotKept {
        /// Why.
        reason: String,
    },
}

/// The state of a kernel at a checkpoint beside its memory. None of it comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Threads beside the one that runs cells; they are not there after a rewind.
    pub threads: u32,
    /// Open sockets and pipes, and the system's timers and counters. Their other ends, and what is
    /// in them, are not rewound.
    pub sockets: u32,
    /// Open files, whose positions are shared with later cells.
    pub files: u32,
    /// Programs that it started and that still run; a rewind ends them.
    pub programs: u32,
}

impl Beside {
    /// Whether memory was all that the kernel had.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.threads, "thread", "threads"),
            (self.sockets, "open socket or pipe", "open sockets or pipes"),
            (self.files, "open file", "open files"),
            (self.programs, "running program", "running programs"),
        ];
        let words: Vec<_> = counts
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
            .collect();
        match words.split_last() {
            Some((last, [])) => f.write_str(last),
            Some((last, rest)) => write!(f, "{} and {last}", rest.join(", ")),
            None => f.write_str("nothing"),
        }
    }
}

/// The parts that a rewind is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewindScope {
    /// Kernels and staged files.
    Everything,
    /// Staged files, after cells were replayed.
    FilesAlone,
}

/// The result of a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewound {
    /// The number of the checkpoint.
    pub number: u32,
    /// Every kernel that was there before the rewind, or at the checkpoint.
    pub kernels: Vec<KernelRewound>,
    /// The staged files.
    pub files: FilesRewound,
}

/// One kernel after a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRewound {
    /// Its language.
    pub language: Language,
    /// Its memory.
    pub memory: MemoryRewound,
}

/// The memory of a kernel after a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryRewound {
    /// It is what it was, and the kernel is ready.
    Restored {
        /// The state that it did not bring back.
        beside: Beside,
    },
    /// The kernel was not there at the checkpoint and has been ended. A fresh one is what it was.
    Fresh,
    /// It is gone, and the kernel has been ended. A fresh one needs its cells again.
    Lost {
        /// Why.
        reason: String,
    },
}

/// The staged files after a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesRewound {
    /// They are what they were.
    Restored,
    /// Nothing is staged in this session.
    NotStaged,
    /// They are as before the rewind.
    NotRestored {
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_come_back_is_counted_in_words() {
        let none = Beside::default();
        assert!(none.is_empty());
        assert_eq!(none.to_string(), "nothing");
        let one = Beside { files: 1, ..none };
        assert!(!one.is_empty());
        assert_eq!(one.to_string(), "1 open file");
        let all = Beside { threads: 2, sockets: 1, files: 3, programs: 1 };
        let words = "2 threads, 1 open socket or pipe, 3 open files and 1 running program";
        assert_eq!(all.to_string(), words);
        assert_eq!(Beside { sockets: 2, ..none }.to_string(), "2 open sockets or pipes");
    }
}
