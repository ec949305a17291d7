//! Masks known values in bytes of any kind: each byte becomes a star, so that lengths stay true.
//!
//! In bytes that come in pieces, the end is held back as long as it may be the beginning of a value.
//! Holds at most the longest value and one piece.

use super::{Redactor, search::Pattern};
use crate::secret::LEAST;
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
        ranges.push(0..std::mem::take(&mut self.masked));
        let open = redactor.unfinished_in(&bytes).unwrap_or(bytes.len());
        self.held = bytes[open..].to_vec();
        self.masked = ranges.iter().map(|range| range.end).max().unwrap_or(0).saturating_sub(open);
        mask(&mut bytes, &ranges);
        bytes.truncate(open);
        bytes
    }

    /// Gives out the rest. Most of a value at the very end is as good as all of it.
    pub fn finish(&mut self, redactor: &Redactor) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        let before = 0..std::mem::take(&mut self.masked);
        let tail = redactor.unfinished_in(&bytes).filter(|at| bytes.len() - at >= LEAST);
        let tail = tail.unwrap_or(bytes.len())..bytes.len();
        mask(&mut bytes, &[before, tail]);
        bytes
    }
}

impl Redactor {
    /// The bytes with known values masked.
    pub fn masked(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = MaskedStream::default();
        let mut masked = stream.feed(self, bytes);
        masked.extend(stream.finish(self));
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

    fn unfinished_in(&self, bytes: &[u8]) -> Option<usize> {
        self.search.as_ref()?.unfinished(bytes).map(|(at, _)| at)
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
    fn what_is_no_secret_is_not_held_back() {
        let (redactor, mut stream) = (knowing(), MaskedStream::default());
        assert_eq!(stream.feed(&redactor, b"data: tick\n\n"), b"data: tick\n\n");
        assert_eq!(stream.feed(&redactor, b"ghp_"), b"");
        assert_eq!(stream.feed(&redactor, b"other"), b"ghp_other");
        // Most of it, cut off by the end.
        assert_eq!(stream.feed(&redactor, &VALUE.as_bytes()[..12]), b"");
        assert_eq!(stream.finish(&redactor), [b'*'; 12]);
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
