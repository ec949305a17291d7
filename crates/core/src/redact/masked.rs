//! Masks known values in bytes of any kind: each byte becomes a star, so that lengths stay true.
//!
//! # Threat
//! Whoever sees the masked bytes has them made of guesses, and learns from what is masked or held
//! back how far a guess is right.
//!
//! # Mechanism
//! Only whole values are masked. Of bytes that come in pieces so much of the end is held back that a
//! value may begin in it, whatever it holds; but nothing up to the last end of a line, which is in no
//! value. Holds at most the longest value and one piece.

use super::{Redactor, search::Pattern};
use std::ops::{ControlFlow, Range};

/// Stands for each byte of a value.
const STAR: u8 = b'*';

/// Bytes that come in pieces.
#[derive(Debug, Default)]
pub struct MaskedStream {
    /// The end of what came, as it came: it is not given out yet.
    held: Vec<u8>,
    /// How much of its beginning is the end of a value.
    masked: usize,
}

impl MaskedStream {
    /// Takes in the next piece; returns what can be given out by now.
    pub fn feed(&mut self, redactor: &Redactor, piece: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let mut ranges = redactor.known_in(&bytes);
        let before = std::mem::take(&mut self.masked);
        let open = redactor.decided_in(&bytes);
        self.held = bytes[open..].to_vec();
        // Those that are wholly in it are found again.
        let begun = ranges.iter().filter(|range| range.start < open).map(|range| range.end);
        self.masked = begun.max().unwrap_or(0).max(before).saturating_sub(open);
        ranges.push(0..before);
        mask(&mut bytes, &ranges);
        bytes.truncate(open);
        bytes
    }

    /// Gives out the rest.
    pub fn finish(&mut self, redactor: &Redactor) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        let mut ranges = redactor.known_in(&bytes);
        ranges.push(0..std::mem::take(&mut self.masked));
        mask(&mut bytes, &ranges);
        bytes
    }
}

impl Redactor {
    /// The bytes with known values masked.
    pub fn masked(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = bytes.to_vec();
        mask(&mut masked, &self.known_in(bytes));
        masked
    }

    fn known_in(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if let Some(search) = &self.search {
            _ = search.hits(bytes, |of, range| {
                if matches!(of, Pattern::Known(_)) {
                    found.push(range);
                }
                ControlFlow::Continue(())
            });
        }
        found
    }

    /// Up to where no value can begin that more bytes would complete.
    fn decided_in(&self, bytes: &[u8]) -> usize {
        let Some(search) = &self.search else { return bytes.len() };
        let line = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        line.max(bytes.len().saturating_sub(search.longest - 1))
    }
}

fn mask(bytes: &mut [u8], ranges: &[Range<usize>]) {
    // In order and once each, however many overlap.
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut done = 0;
    for range in ranges {
        let from = range.start.max(done);
        if from < range.end {
            bytes[from..range.end].fill(STAR);
            done = range.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;
    use proptest::prelude::*;

    const VALUE: &str = "ghp_S3cret/Va+lue=";

    fn knowing() -> Redactor {
        Redactor::default().knowing([("T", &Secret::new(VALUE.into()))])
    }

    fn in_pieces(text: &[u8], cuts: &[usize]) -> Vec<u8> {
        let (redactor, mut stream) = (knowing(), MaskedStream::default());
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut masked, mut from) = (Vec::new(), 0);
        for cut in cuts {
            masked.extend(stream.feed(&redactor, &text[from..cut]));
            from = cut;
        }
        masked.extend(stream.feed(&redactor, &text[from..]));
        masked.extend(stream.finish(&redactor));
        masked
    }

    #[test]
    fn every_form_is_masked_at_its_length() {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let basic = STANDARD.encode(format!("user:{VALUE}"));
        for text in [
            VALUE.to_owned(),
            basic,
            VALUE.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D"),
        ] {
            let text = format!("before {text} after");
            let masked = String::from_utf8(knowing().masked(text.as_bytes())).unwrap();
            assert_eq!(masked.len(), text.len());
            assert!(masked.contains("*******") && masked.starts_with("before "), "{masked}");
            assert!(masked.ends_with(" after"), "{masked}");
        }
    }

    #[test]
    fn lines_are_not_held_back() {
        let (redactor, mut stream) = (knowing(), MaskedStream::default());
        assert_eq!(stream.feed(&redactor, b"data: tick\n\n"), b"data: tick\n\n");
        assert_eq!(stream.feed(&redactor, b"ghp_\nother"), b"ghp_\n");
        assert_eq!(stream.finish(&redactor), b"other");
    }

    /// The attack: guesses, of which what is masked or held back would show how far each is right.
    #[test]
    fn a_guess_that_is_partly_right_looks_like_any_other() {
        let value = VALUE.as_bytes();
        for length in 0..value.len() {
            let right = [b"guess=", &value[..length]].concat();
            let wrong = [b"guess=", &vec![b'~'; length][..]].concat();
            assert_eq!(knowing().masked(&right), right);
            let fed = |text: &[u8]| {
                let (redactor, mut stream) = (knowing(), MaskedStream::default());
                let pieces =
                    [text, b"", &[b'.'; 70]].map(|piece| stream.feed(&redactor, piece).len());
                (pieces, stream.finish(&redactor).len())
            };
            assert_eq!(fed(&right), fed(&wrong), "{length}");
        }
        // The control: all of it.
        assert_eq!(knowing().masked(value), vec![b'*'; value.len()]);
    }

    #[test]
    fn values_that_overlap_are_masked_whole() {
        let values = [Secret::new("abcdefghij".into()), Secret::new("ghijklmnop".into())];
        let redactor = Redactor::default().knowing(values.iter().map(|value| ("T", value)));
        for cut in 0..16 {
            let (text, mut stream) = (b"abcdefghijklmnop", MaskedStream::default());
            let mut masked = stream.feed(&redactor, &text[..cut]);
            masked.extend(stream.feed(&redactor, &text[cut..]));
            masked.extend(stream.finish(&redactor));
            assert_eq!(masked, [b'*'; 16], "{cut}");
        }
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(
            parts in prop::collection::vec(prop_oneof![
                Just(VALUE.as_bytes().to_vec()),
                (0..VALUE.len()).prop_map(|end| VALUE.as_bytes()[..end].to_vec()),
                prop::collection::vec(any::<u8>(), 0..20),
            ], 0..8),
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let text = parts.concat();
            let whole = knowing().masked(&text);
            prop_assert_eq!(whole.len(), text.len());
            prop_assert!(!whole.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()));
            prop_assert_eq!(in_pieces(&text, &cuts), whole);
        }
    }
}
