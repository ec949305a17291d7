//! Measures redaction by itself: megabytes of output a second, and the time for all that one cell
//! records and sends.
//!
//! ```text
//! cargo run --release -p interpreter-core --example redaction
//! ```
//!
//! Each with tokens of a known shape alone, as in every session, and with twenty and two hundred
//! secrets. Nothing is asserted.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use interpreter_core::{
    Body, Secret,
    redact::{RedactedStream, Redactor, Scope},
};
use std::{fmt::Write, hint::black_box, time::Instant};

/// Bytes of output, and of the pieces in which it comes.
const SIZE: usize = 100_000_000;
const PIECE: usize = 256 << 10;

/// Records of a cell, with the model's reply and the proposal.
const RECORDS: u32 = 12;

const ROUNDS: u32 = 2_000;

fn main() {
    let line =
        "000000001234 the quick brown fox jumps over the lazy dog, and then again, the quick\n";
    let lines = line.repeat(SIZE / line.len());
    let mut numbers = String::with_capacity(SIZE);
    for number in 0..SIZE / 9 {
        // Writing to a string cannot fail.
        _ = writeln!(numbers, "{number:08}");
    }
    for secrets in [0, 20, 200] {
        let values: Vec<_> = (0..secrets).map(|number| Secret::new(value(number))).collect();
        let known = values.iter().map(|value| ("SERVICE_API_KEY", value));
        let redactor = Redactor::of_shapes().knowing(known);
        let (text, digits) = (speed(&redactor, &lines), speed(&redactor, &numbers));
        let cell = cell(&redactor);
        println!(
            "{secrets} secrets: {text:.0} MB/s of text, {digits:.0} MB/s of numbers, {cell:.1} µs a cell"
        );
    }
}

/// Forty characters like those of a key.
fn value(number: u64) -> String {
    let mut state = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(letters[usize::try_from(state % 64).unwrap_or(0)])
    };
    std::iter::repeat_with(digit).take(40).collect()
}

/// Megabytes a second of a text that comes in pieces.
fn speed(redactor: &Redactor, text: &str) -> f64 {
    let begun = Instant::now();
    let mut stream = RedactedStream::default();
    for piece in text.as_bytes().chunks(PIECE) {
        let piece = std::str::from_utf8(piece).unwrap_or_default();
        black_box(stream.feed(redactor, Scope::All, piece));
    }
    black_box(stream.finish(redactor, Scope::All));
    let millions = u32::try_from(text.len() / 1_000_000).unwrap_or(u32::MAX);
    f64::from(millions) / begun.elapsed().as_secs_f64()
}

/// Microseconds for the records of a cell.
fn cell(redactor: &Redactor) -> f64 {
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        for _ in 0..RECORDS {
            black_box(redactor.body(record()));
        }
    }
    let with = begun.elapsed();
    let begun = Instant::now();
    for _ in 0..ROUNDS * RECORDS {
        black_box(record());
    }
    (with.saturating_sub(begun.elapsed()) / ROUNDS).as_secs_f64() * 1e6
}

/// As long as most records are.
fn record() -> Body {
    Body::Note { text: "a record of a cell has a few hundred bytes, such as its code\n".repeat(5) }
}
