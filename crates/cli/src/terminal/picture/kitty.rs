//! Pictures by kitty's graphics protocol, which several terminals have.
//!
//! The terminal scales the picture to the cells that it is given, leaves the cursor alone and
//! answers nothing: an answer would come in among the person's keys.

use base64::{Engine, engine::general_purpose::STANDARD};
use std::fmt::Write;

/// Bytes of one piece; the protocol allows no more.
const PIECE: usize = 4_096;

/// The sequence that draws a PNG in the given columns and rows.
pub(super) fn sequence(png: &[u8], columns: usize, rows: usize) -> String {
    let data = STANDARD.encode(png);
    let mut out = String::with_capacity(data.len() + data.len() / 200 + 100);
    let mut keys = format!("a=T,f=100,t=d,q=2,C=1,c={columns},r={rows},");
    let mut rest = data.as_str();
    loop {
        let (piece, more) = rest.split_at(rest.len().min(PIECE));
        let goes_on = u8::from(!more.is_empty());
        // Writing to a string cannot fail.
        _ = write!(out, "\u{1b}_G{keys}m={goes_on};{piece}\u{1b}\\");
        if more.is_empty() {
            return out;
        }
        // Later pieces must not repeat the keys; that nothing is answered is the exception.
        keys = "q=2,".into();
        rest = more;
    }
}
