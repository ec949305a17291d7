//! Exit codes.

use interpreter_core::record::TurnEnd;
use std::process::ExitCode;

/// The exit codes, documented in `docs/reference/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    CodeFailed = 1,
    Misuse = 2,
    Refused = 3,
    CannotConfine = 4,
    ModelFailed = 5,
    Bug = 70,
    /// As `timeout` has it.
    TimedOut = 124,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<TurnEnd> for Exit {
    fn from(end: TurnEnd) -> Self {
        match end {
            TurnEnd::Done => Self::Done,
            // Interrupted code did not complete.
            TurnEnd::CodeFailed | TurnEnd::Interrupted => Self::CodeFailed,
            TurnEnd::Refused => Self::Refused,
            TurnEnd::CannotConfine => Self::CannotConfine,
            TurnEnd::TimedOut => Self::TimedOut,
            TurnEnd::ModelFailed | TurnEnd::TooManyCalls | TurnEnd::OverBudget => Self::ModelFailed,
        }
    }
}
