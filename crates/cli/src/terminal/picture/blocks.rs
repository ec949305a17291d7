//! Pictures as coloured cells: each shows two pixels, one above the other.
//!
//! Must be given no more pixels in a row than the window has columns for half blocks.

use super::{colours::Colours, pixels::Pixels};
use std::fmt::Write;

/// The upper pixel in its own colour, the lower one behind it.
pub(in crate::terminal) const UPPER: char = '▀';

/// The rows of a picture, without marks and line ends. Colours end with each row.
pub(super) fn rows(pixels: &Pixels, colours: Colours) -> Vec<String> {
    let row = |y: u32| {
        let below = (y + 1 < pixels.height).then(|| pixels.row(y + 1));
        let mut text = String::new();
        let mut last = None;
        for (x, &upper) in pixels.row(y).iter().enumerate() {
            let lower = below.map(|row| row[x]);
            if last != Some((upper, lower)) {
                let (front, back) = (colours.code(upper), lower.map(|one| colours.code(one)));
                let back = back.map_or("49".to_owned(), |back| format!("48;{back}"));
                // Writing to a string cannot fail.
                _ = write!(text, "\u{1b}[38;{front};{back}m");
                last = Some((upper, lower));
            }
            text.push(UPPER);
        }
        text.push_str("\u{1b}[0m");
        text
    };
    (0..pixels.height).step_by(2).map(row).collect()
}
