//! A session as JSON, one record a line.

use interpreter_core::Record;
use std::io::{self, Write};

/// Prints records. Nothing else goes to standard output in this mode.
pub(crate) fn print(records: &[Record]) -> io::Result<()> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    let mut out = io::stdout().lock();
    out.write_all(&lines)?;
    out.flush()
}
