//! Opens a file for the engine.

use super::{GgufFault, check};
use crate::shelf::regular;
use std::{
    fs::File,
    io::{BufReader, ErrorKind},
    path::Path,
};

/// Opens a file and checks its head. The engine must read the file that this returns.
pub(crate) fn open(path: &Path) -> Result<File, GgufFault> {
    let file = regular(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => GgufFault::NoFile,
        _ => GgufFault::Unreadable,
    })?;
    let length = file.metadata().map_err(|_| GgufFault::Unreadable)?.len();
    check(BufReader::with_capacity(1 << 16, &file), length)?;
    Ok(file)
}
