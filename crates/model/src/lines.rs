//! Cuts a stream of bytes into lines, each of which is one JSON document.
//!
//! Pure and incremental, like the decoder for server-sent events and with the same limit. Empty
//! lines, with which servers keep a connection alive, count for nothing.

use crate::sse::{Event, TooLarge};

/// The decoder's memory between two pieces.
#[derive(Debug)]
pub(crate) struct Lines {
    limit: usize,
    line: Vec<u8>,
}

impl Lines {
    /// A decoder for lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new() }
    }

    /// Takes the next bytes and adds the lines that they complete to `events`. After an error the
    /// decoder is of no more use; the lines before it are there.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), TooLarge> {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.extend(&bytes[..end])?;
            events.extend(self.end_line());
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes)
    }

    /// The line that the end of the stream cut short, if there is one.
    pub(crate) fn finish(mut self) -> Option<Event> {
        self.end_line()
    }

    fn extend(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + part.len() > self.limit {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        (!line.is_empty()).then(|| Event { name: String::new(), data: line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(1 << 20);
        let mut events = Vec::new();
        for piece in pieces {
            lines.feed(piece, &mut events).unwrap();
        }
        events.extend(lines.finish());
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn lines_come_whole_without_their_ends() {
        let pieces: [&[u8]; 3] = [b"{\"a\":\"\xc3", b"\xa9\"}\r\n\n \n{\"b\"", b":1}\n{\"c\":2}"];
        assert_eq!(decode(&pieces), ["{\"a\":\"é\"}", "{\"b\":1}", "{\"c\":2}"]);
    }

    #[test]
    fn a_line_past_the_limit_is_an_error_and_those_before_it_stay() {
        let mut lines = Lines::new(4);
        let mut events = Vec::new();
        assert_eq!(lines.feed(b"1234\n12345", &mut events), Err(TooLarge));
        assert_eq!(events.len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_lines_in_any_two_pieces(
            bytes in prop::collection::vec(
                prop_oneof![prop::sample::select(b"{}\r\n \"\xc3\xa9".to_vec()), any::<u8>()],
                0..200,
            ),
            cut in any::<prop::sample::Index>(),
        ) {
            let cut = cut.index(bytes.len() + 1);
            prop_assert_eq!(decode(&[&bytes[..cut], &bytes[cut..]]), decode(&[&bytes]));
        }
    }
}
