//! Pictures by iTerm2's protocol: a file as base64 in one sequence.

use base64::{Engine, engine::general_purpose::STANDARD};

/// The sequence that draws a PNG in the given columns and rows.
pub(super) fn sequence(png: &[u8], columns: usize, rows: usize) -> String {
    let (size, data) = (png.len(), STANDARD.encode(png));
    format!(
        "\u{1b}]1337;File=inline=1;size={size};width={columns};height={rows};\
         preserveAspectRatio=0;doNotMoveCursor=1:{data}\u{7}"
    )
}
