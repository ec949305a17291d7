//! Why a jail could not be built: the step that failed, and what the system said.

use crate::Step;
use serde::{Deserialize, Serialize};
use std::io;

/// Why a jail could not be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{step}: {cause}")]
pub struct JailFailure {
    /// The step, in words.
    pub step: String,
    /// The number of the system's error, if it was one.
    pub errno: Option<i32>,
    /// The cause, in words.
    pub cause: String,
}

impl JailFailure {
    pub(crate) fn at(step: &Step, cause: &io::Error) -> Self {
        Self { step: step.to_string(), errno: cause.raw_os_error(), cause: cause.to_string() }
    }
}
