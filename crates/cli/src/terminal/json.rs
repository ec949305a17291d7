//! A session as JSON, one record a line.

use interpreter_core::Record;
use std::io::{self, Write};

/// Prints one record. Nothing else goes to standard output in this mode.
pub(crate) fn print(record: &Record) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
