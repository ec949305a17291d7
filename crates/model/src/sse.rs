//! Cuts a stream of bytes into server-sent events.
//!
//! Pure and incremental: bytes may come in any pieces, and the same bytes give the same events.
//! Text is decoded only when a line is whole, so a character that was split in transit is not
//! harmed. Every byte is looked at once, and an event may not grow past its limit.
//!
//! Follows the WHATWG algorithm but for one thing: an event that the end of the stream cuts off
//! before its blank line still counts, since servers forget that line. `id` and `retry` are for
//! reconnecting, which we never do, and are ignored.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The kind, where the server names it; otherwise empty.
    pub(crate) name: String,
    /// The data lines, joined by newlines.
    pub(crate) data: String,
}

/// An event grew past the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The decoder's memory between two pieces.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return: a newline right after it belongs to it.
    after_return: bool,
    /// Nothing has been read yet, so a byte order mark may come.
    at_start: bool,
    name: String,
    data: Option<String>,
}

impl Decoder {
    /// A decoder for events of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            at_start: true,
            name: String::new(),
            data: None,
        }
    }

    /// Takes the next bytes and adds the events that they complete to `events`. After an error
    /// the decoder is of no more use; the events before it are there.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held + part.len() > self.limit {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
        }
        Ok(())
    }

    /// The event that the end of the stream cut short, if there is one.
    pub(crate) fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            // A line of fields, so it completes nothing.
            self.end_line();
        }
        self.end_event()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                let value = String::from_utf8_lossy(value);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&value);
                    }
                    None => self.data = Some(value.into_owned()),
                }
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // A comment (an empty name: how servers keep a connection alive), or a field that
            // means nothing to us.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(1 << 20);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.feed(piece, &mut events).unwrap();
        }
        events.extend(decoder.finish());
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.into(), data: data.into() }
    }

    #[test]
    fn a_stream_of_all_shapes_is_cut_as_the_standard_says() {
        let stream = b"\xef\xbb\xbf: welcome\n\nevent: start\ndata: a\ndata:  b\n\n\
            data\n\nid: 7\nretry: 10\nother: x\n\nevent: nothing\n\ndata:{\"a\":1}\n\n";
        let events = decode(&[stream]);
        let expected = [event("start", "a\n b"), event("", ""), event("", "{\"a\":1}")];
        assert_eq!(events, expected);
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        for stream in ["data: a\ndata: b\n\n", "data: a\r\ndata: b\r\n\r\n", "data: a\rdata: b\r\r"]
        {
            assert_eq!(decode(&[stream.as_bytes()]), [event("", "a\nb")], "{stream:?}");
        }
    }

    #[test]
    fn a_return_and_its_newline_may_come_apart() {
        let pieces: [&[u8]; 3] = [b"data: a\r", b"\ndata: b\r\n\r", b"\ndata: c\r\n\r\n"];
        assert_eq!(decode(&pieces), [event("", "a\nb"), event("", "c")]);
    }

    #[test]
    fn a_split_character_is_made_whole_and_a_wrong_one_replaced() {
        assert_eq!(decode(&[b"data: \xc3", b"\xa9\n\n"]), [event("", "é")]);
        assert_eq!(decode(&[b"data: \xff!\n\n"]), [event("", "\u{fffd}!")]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        assert_eq!(decode(&[b"data: a\n\ndata: b"]), [event("", "a"), event("", "b")]);
        assert_eq!(decode(&[b"data: a\n\ndata: b\n"]), [event("", "a"), event("", "b")]);
        assert_eq!(decode(&[b""]), []);
    }

    #[test]
    fn an_event_past_the_limit_is_an_error_and_those_before_it_stay() {
        for huge in
            ["data: 123456789012345", ": 12345678901234567", "data: 1234567890\ndata: 12345"]
        {
            let mut decoder = Decoder::new(18);
            let mut events = Vec::new();
            let stream = format!("data: a\n\n{huge}");
            assert_eq!(decoder.feed(stream.as_bytes(), &mut events), Err(TooLarge), "{huge}");
            assert_eq!(events, [event("", "a")]);
        }
    }

    /// An event as a server may write it, with line endings of its own taste.
    fn written() -> impl Strategy<Value = (String, Event)> {
        let ending = prop::sample::select(vec!["\n", "\r\n", "\r"]);
        let line = "[a-zé漢😀: ]{0,8}";
        (ending, prop::collection::vec(line, 1..4), "[a-z]{0,5}").prop_map(
            |(ending, lines, name)| {
                let mut text = format!(": keep-alive{ending}event: {name}{ending}");
                for line in &lines {
                    text.extend(["data: ", line, ending]);
                }
                text.push_str(ending);
                (text, Event { name, data: lines.join("\n") })
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_any_pieces(
            written in prop::collection::vec(written(), 0..6),
            sizes in prop::collection::vec(1usize..9, 1..20),
        ) {
            let (texts, events): (Vec<_>, Vec<_>) = written.into_iter().unzip();
            // A lone return before another event's newline would be one line ending; nobody mixes
            // them within a stream, so a comment keeps them apart here.
            let stream = texts.join(":\n");
            let mut rest = stream.as_bytes();
            let mut pieces = Vec::new();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, more) = rest.split_at((*size).min(rest.len()));
                pieces.push(piece);
                rest = more;
            }
            prop_assert_eq!(decode(&pieces), events);
        }

        #[test]
        fn any_bytes_give_the_same_events_in_any_two_pieces(
            bytes in prop::collection::vec(
                prop_oneof![prop::sample::select(b"data: \r\n:event\xc3\xa9".to_vec()), any::<u8>()],
                0..200,
            ),
            cut in any::<prop::sample::Index>(),
        ) {
            let cut = cut.index(bytes.len() + 1);
            prop_assert_eq!(decode(&[&bytes[..cut], &bytes[cut..]]), decode(&[&bytes]));
        }
    }
}
