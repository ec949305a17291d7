//! The lines in which a driver speaks of the code that it runs.
//!
//! A driver shares a process with untrusted code, so these are claims: shown, counted, capped,
//! never obeyed. None of them can extend a limit, end a timer or widen a permit. A line
//! that is no claim is noise.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of the longest claim, without its newline. A longer one ends the kernel.
pub const LONGEST: usize = 16 << 20;

/// Ways in which code could go on that are counted.
pub const MOST_MATCHES: usize = 200;

/// Bytes of one of them.
pub const LONGEST_MATCH: usize = 200;

/// One line from a driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Claim {
    /// The driver waits for its first cell.
    Ready {
        /// The version of the language.
        version: String,
        /// Whether it can be asked how code could go on.
        #[serde(default)]
        completes: bool,
        /// Whether its memory can be copied.
        #[serde(default)]
        checkpoints: bool,
    },
    /// The value of the last expression, or something shown, in every form it has.
    Result {
        /// Its forms, by kind; pictures and the like as base64.
        bundle: BTreeMap<String, String>,
        /// A name by which a later result replaces this one.
        #[serde(default)]
        display: Option<String>,
    },
    /// The cell has come to this line.
    Line {
        /// The line of the cell, from 1.
        line: u32,
    },
    /// The code wants a line from the person. Answered by [`crate::Link::answer`].
    Asks {
        /// The question for the person.
        prompt: String,
        /// Whether the answer must not be seen.
        secret: bool,
    },
    /// The system refused the code a file or folder, and the code did not expect it.
    Refused {
        /// The error by its name, such as `EACCES`.
        code: String,
        /// The whole path that was refused.
        path: String,
    },
    /// The code raised. Its text went to stderr.
    Raised {
        /// The kind of error, such as `ValueError`.
        name: String,
        /// The message of the error.
        message: String,
    },
    /// How code could go on. The answer to [`crate::Link::complete`], one for each.
    Completions {
        /// Where in the code the part begins that each of them replaces, in bytes.
        start: usize,
        /// Where that part ends, in bytes.
        end: usize,
        /// The possible completions.
        matches: Vec<String>,
    },
    /// There is a copy of the kernel's memory. The answer to [`crate::Link::checkpoint`], and said again by a
    /// copy that has become the kernel. It holds only once the host has said
    /// [`crate::Outward::Held`].
    Checkpointed {
        /// The number of the copy.
        number: u32,
        /// The number of the copy's process inside.
        process: u32,
        /// Threads that are not in the copy.
        threads: u32,
        /// Open sockets and pipes, and the system's timers and counters.
        sockets: u32,
        /// Open files.
        files: u32,
        /// Programs that the kernel started and that run.
        programs: u32,
    },
    /// There is no copy of the kernel's memory.
    NotCheckpointed {
        /// The number of the copy.
        number: u32,
        /// Why.
        reason: String,
    },
    /// The cell has ended, and all its output is written.
    Finished {
        /// 0 fine, 1 raised, 130 interrupted; of a shell, the status of the last command.
        status: i32,
    },
}

impl Claim {
    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// If the line is not a claim.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_one_tagged_object() {
        let claim = Claim::parse(br#"{"kind":"finished","status":3}"#).unwrap();
        assert_eq!(claim, Claim::Finished { status: 3 });
    }

    #[test]
    fn a_line_with_anything_more_or_less_is_no_claim() {
        for line in [
            r#"{"kind":"finished"}"#,
            r#"{"kind":"finished","status":0,"permit":"all"}"#,
            r#"{"kind":"granted"}"#,
            r#"{"kind":"raised","name":"\ud800","message":""}"#,
            "finished",
            "",
        ] {
            assert!(Claim::parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
