//! The reply that a model is writing, and how far a run has come: shown, and not on record yet.
//!
//! A client's place in it is a number of pieces and bytes, so that each gets all of it once,
//! whenever it comes, and nothing is kept per client. Bounded: of a reply that is longer than that,
//! the rest is seen when its record is there. Pure.

use crate::protocol::live_line;
use interpreter_agent::{Headway, Live};

/// Bytes and pieces of one reply that are held.
const MOST_BYTES: usize = 1 << 20;
const MOST_PIECES: usize = 10_000;

/// The reply that is being written.
#[derive(Debug, Default)]
pub(crate) struct LiveText {
    /// Its number in the session, from 1.
    reply: u64,
    is_over: bool,
    /// Whether there was more than is held. Nothing follows then: a gap would be worse than an end.
    is_cut: bool,
    pieces: Vec<Piece>,
    bytes: usize,
    /// The latest line of a run and the latest headway of a model, with the number of that news.
    news: u64,
    line: Option<(u64, u32)>,
    headway: Option<(u64, String)>,
}

#[derive(Debug)]
struct Piece {
    kind: &'static str,
    offset: usize,
    text: Option<String>,
}

/// How far a client is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LivePlace {
    reply: u64,
    pieces: usize,
    /// Bytes of the last of these pieces.
    bytes: usize,
    news: u64,
}

impl LiveText {
    /// More of it.
    pub(crate) fn push(&mut self, live: &Live) {
        if self.is_over || self.reply == 0 {
            self.reply += 1;
            self.is_over = false;
            self.drop_pieces();
        }
        self.headway = None;
        let (kind, text) = match live {
            Live::Text(text) => ("text", Some(text)),
            Live::Reasoning(text) => ("reasoning", Some(text)),
            Live::Code(text) => ("code", Some(text)),
            Live::CodeBegins(language) => ("code_begins", language.as_ref()),
            Live::CallBegins(language) => ("call_begins", language.as_ref()),
            Live::CodeEnds => ("code_ends", None),
            Live::ReplyEnds => ("reply_ends", None),
        };
        let text = text.map(|text| text.raw().to_owned());
        let goes_on = matches!(live, Live::Text(_) | Live::Reasoning(_) | Live::Code(_));
        let size = if goes_on { text.as_ref().map_or(0, String::len) } else { 0 };
        self.is_cut |= self.pieces.len() >= MOST_PIECES || self.bytes + size > MOST_BYTES;
        if self.is_cut {
            return;
        }
        match (self.pieces.last_mut(), &text) {
            (Some(Piece { kind: last, text: Some(before), .. }), Some(text))
                if goes_on && *last == kind =>
            {
                before.push_str(text);
            }
            _ => self.pieces.push(Piece { kind, offset: self.bytes, text }),
        }
        self.bytes += size;
    }

    /// The reply is on record, or there will be none.
    pub(crate) fn end_reply(&mut self) {
        if !self.pieces.is_empty() {
            self.is_over = true;
        }
        self.drop_pieces();
        self.headway = None;
    }

    fn drop_pieces(&mut self) {
        (self.pieces, self.bytes, self.is_cut) = (Vec::new(), 0, false);
    }

    /// The run has come to this line.
    pub(crate) fn at_line(&mut self, line: u32) {
        self.news += 1;
        self.line = Some((self.news, line));
    }

    /// The run is over.
    pub(crate) fn end_run(&mut self) {
        self.line = None;
    }

    /// The model has come so far before its first word.
    pub(crate) fn headway(&mut self, headway: &Headway) {
        let words = match headway {
            Headway::Loading => "loading".to_owned(),
            Headway::Reading { read, total } => format!("reading {read} of {total}"),
            Headway::Asked { host } => format!("waiting for {host}"),
            Headway::Retrying { host, seconds } => format!("asking {host} again in {seconds} s"),
        };
        self.news += 1;
        self.headway = Some((self.news, words));
    }

    /// The lines that a client lacks, and moves its place to the end.
    pub(crate) fn after(&self, session: &str, place: &mut LivePlace) -> Vec<String> {
        let mut lines = Vec::new();
        if place.reply != self.reply || place.pieces > self.pieces.len() {
            *place = LivePlace { reply: self.reply, news: place.news, ..LivePlace::default() };
        }
        // The last piece that it has may have grown.
        for (piece, number) in self.pieces.iter().zip(1..).skip(place.pieces.saturating_sub(1)) {
            let has = if number == place.pieces { place.bytes } else { 0 };
            let text = piece.text.as_deref();
            let rest = text.and_then(|text| text.get(has..));
            let size = text.map_or(0, str::len);
            if number > place.pieces || size > has {
                let offset = (piece.offset + has) as u64;
                lines.push(live_line(session, piece.kind, self.reply, offset, rest));
            }
            (place.pieces, place.bytes) = (number, size);
        }
        let news = |kind: &str, text: &str| {
            live_line(session, kind, self.reply, self.bytes as u64, Some(text))
        };
        if let Some((_, words)) = self.headway.as_ref().filter(|(number, _)| *number > place.news) {
            lines.push(news("headway", words));
        }
        if let Some((_, line)) = self.line.filter(|(number, _)| *number > place.news) {
            lines.push(news("line", &line.to_string()));
        }
        place.news = self.news;
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Untrusted;
    use serde_json::Value;

    fn text(text: &str) -> Live {
        Live::Text(Untrusted::new(text))
    }

    fn seen(live: &LiveText, place: &mut LivePlace) -> Vec<(String, u64, u64, String)> {
        let read = |text: String| {
            let told: Value = serde_json::from_str(&text).unwrap();
            let words = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| told[name].as_u64().unwrap();
            (words("live"), number("reply"), number("offset"), words("text"))
        };
        live.after("s", place).into_iter().map(read).collect()
    }

    fn piece(kind: &str, reply: u64, offset: u64, text: &str) -> (String, u64, u64, String) {
        (kind.into(), reply, offset, text.into())
    }

    #[test]
    fn each_client_gets_every_byte_once_whenever_it_comes() {
        let (mut live, mut early) = (LiveText::default(), LivePlace::default());
        live.push(&text("é"));
        assert_eq!(seen(&live, &mut early), [piece("text", 1, 0, "é")]);
        assert_eq!(seen(&live, &mut early), []);
        live.push(&text("b"));
        live.push(&Live::CodeBegins(Some(Untrusted::new("python"))));
        live.push(&Live::Code(Untrusted::new("1")));
        let late = seen(&live, &mut LivePlace::default());
        let rest = [piece("code_begins", 1, 3, "python"), piece("code", 1, 3, "1")];
        assert_eq!(late, [&[piece("text", 1, 0, "éb")][..], &rest].concat());
        let missing = seen(&live, &mut early);
        assert_eq!(missing, [&[piece("text", 1, 2, "b")][..], &rest].concat());
        live.push(&Live::ReplyEnds);
        live.end_reply();
        assert_eq!(seen(&live, &mut early), []);
        live.push(&text("next"));
        assert_eq!(seen(&live, &mut early), [piece("text", 2, 0, "next")]);
    }

    #[test]
    fn it_is_bounded() {
        let mut live = LiveText::default();
        for _ in 0..3 {
            live.push(&text(&"x".repeat(MOST_BYTES / 2)));
        }
        assert_eq!(live.bytes, MOST_BYTES);
        live.end_reply();
        for _ in 0..2 * MOST_PIECES {
            live.push(&Live::CodeEnds);
        }
        assert_eq!(live.pieces.len(), MOST_PIECES);
        live.push(&text("behind the gap"));
        assert_eq!(live.bytes, 0);
    }

    #[test]
    fn of_lines_and_headway_the_latest_is_told_once() {
        let (mut live, mut place) = (LiveText::default(), LivePlace::default());
        live.headway(&Headway::Loading);
        live.headway(&Headway::Reading { read: 1, total: 2 });
        assert_eq!(seen(&live, &mut place), [piece("headway", 0, 0, "reading 1 of 2")]);
        live.at_line(1);
        live.at_line(2);
        assert_eq!(seen(&live, &mut place), [piece("line", 0, 0, "2")]);
        assert_eq!(seen(&live, &mut place), []);
        live.at_line(3);
        live.end_run();
        assert_eq!(seen(&live, &mut place), []);
    }
}
