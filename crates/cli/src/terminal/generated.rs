//! Text that this program generates for other programs: completions, manual pages, profiles.
//!
//! It is ours from the first to the last byte, and a shell or a formatter reads it, so it has no
//! marks, not even on a terminal. Must not be used for text that quotes anything foreign.

use std::io::{self, Write};

/// Prints it exactly.
#[expect(clippy::disallowed_methods, reason = "ours alone, for another program")]
pub(crate) fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    out.flush()
}
