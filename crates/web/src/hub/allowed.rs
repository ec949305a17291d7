//! Refuses what a caller may not do.

use crate::{
    caller::{Caller, Right},
    protocol::{ErrorCode, ProtocolError},
};

/// Refuses a caller that lacks one of these rights.
pub(crate) fn check(caller: &Caller, rights: &[Right]) -> Result<(), ProtocolError> {
    match rights.iter().find(|right| !caller.rights.has(**right)) {
        Some(right) => {
            let text = format!("this takes the right `{}`", right.word());
            Err(ProtocolError::new(ErrorCode::NotAllowed, text))
        }
        None => Ok(()),
    }
}
