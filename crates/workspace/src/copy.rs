//! Copies: of the folder, for a sandbox without an overlay, and of the staged files, for a person to
//! decide on.

pub(crate) mod copied;
pub(crate) mod derive;
pub(crate) mod kept;
pub(crate) mod snapshot;
pub(crate) mod take;
pub(crate) mod taken;
