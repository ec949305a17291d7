//! From a program's bytes to pieces of output.
//!
//! A piece is text wherever the bytes are UTF-8. A character that is split between two reads is
//! held back for the next one. Where bytes are not UTF-8 the text has replacement characters and
//! the exact bytes stand beside it.

use interpreter_core::{Output, Stream, Untrusted};
use std::collections::BTreeMap;

/// Turns the bytes of one stream of one kernel into chunks.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The start of a character whose end has not come yet: at most three bytes.
    held: Vec<u8>,
}

impl Decoder {
    /// The next chunk, if there is something to show.
    pub(crate) fn feed(
        &mut self,
        proposal: &str,
        stream: Stream,
        bytes: Vec<u8>,
    ) -> Option<Output> {
        let mut all = bytes;
        if !self.held.is_empty() {
            all.splice(..0, self.held.drain(..));
        }
        let whole = all.len() - unfinished(&all);
        self.held = all.split_off(whole);
        chunk(proposal, stream, all)
    }

    /// The text held back, at the end of the stream.
    pub(crate) fn finish(&mut self, proposal: &str, stream: Stream) -> Option<Output> {
        chunk(proposal, stream, std::mem::take(&mut self.held))
    }
}

fn chunk(proposal: &str, stream: Stream, bytes: Vec<u8>) -> Option<Output> {
    if bytes.is_empty() {
        return None;
    }
    let (text, bytes) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let encoded = base64(error.as_bytes());
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(encoded))
        }
    };
    Some(Output { bytes, ..Output::text(proposal, stream, text) })
}

/// A result in all its forms. The text that stands for it is the plain one, or its best other.
pub(crate) fn result(
    proposal: &str,
    forms: BTreeMap<String, String>,
    display: Option<&str>,
) -> Output {
    let mut bundle: BTreeMap<_, _> = forms
        .into_iter()
        .take(MOST_FORMS)
        .map(|(mime, data)| (short(&mime), Untrusted::new(data)))
        .collect();
    let mime = ["text/plain", "text/markdown", "text/html", "application/json"]
        .into_iter()
        .find(|mime| bundle.contains_key(*mime))
        .map(str::to_owned)
        .or_else(|| bundle.keys().next().cloned())
        .unwrap_or_else(|| "text/plain".into());
    let text = bundle.remove(&mime).unwrap_or_default();
    let display = display.map(short);
    let proposal = proposal.to_owned();
    let (stream, bytes, kept) = (Stream::Result, None, None);
    Output { proposal, stream, text, mime, bundle, display, bytes, kept }
}

/// Forms that one result can have.
const MOST_FORMS: usize = 20;

/// A name that a program chose, cut to what names need.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// How many bytes at the end begin a character that is not finished.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_split_character_is_put_together() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed("p1", Stream::Stdout, vec![0xe2, 0x82]), None);
        let chunk = decoder.feed("p1", Stream::Stdout, vec![0xac, b'!']).unwrap();
        assert_eq!((chunk.text.raw(), chunk.bytes), ("€!", None));
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_exactly() {
        let mut decoder = Decoder::default();
        let chunk = decoder.feed("p1", Stream::Stdout, vec![b'a', 0xff, 0x00]).unwrap();
        assert_eq!(chunk.bytes.as_deref(), Some("Yf8A"));
    }

    proptest! {
        #[test]
        fn text_in_any_pieces_stays_text(text in any::<String>(), size in 1_usize..7) {
            let mut decoder = Decoder::default();
            let mut shown = String::new();
            for piece in text.as_bytes().chunks(size) {
                if let Some(chunk) = decoder.feed("p1", Stream::Stdout, piece.to_vec()) {
                    prop_assert_eq!(chunk.bytes, None);
                    shown.push_str(chunk.text.raw());
                }
            }
            prop_assert!(decoder.finish("p1", Stream::Stdout).is_none());
            prop_assert_eq!(shown, text);
        }
    }
}
