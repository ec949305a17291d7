//! What every wire format offers, and the pure half of reading a stream.
//!
//! A format is a value of [`Format`]: where to ask, what to send, and a [`Parse`] for what comes
//! back. [`Reading`] joins the event decoder to a parser, so that bytes go in and pieces come
//! out. No IO here: the same bytes in any pieces give the same reply, and tests need no network.

use crate::{
    Endpoint, KeyHeader, Piece, Request, anthropic,
    complaint::Complaint,
    endpoint::joined,
    gemini,
    lines::Lines,
    ollama, openai, responses,
    sse::{Decoder, Event, TooLarge},
};
use interpreter_core::Reply;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

/// The largest event that is read. Whole replies in one event are known; this is many times the
/// longest.
const EVENT_BYTES: usize = 4 << 20;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `OpenAI`'s chat completions, which most servers speak.
    OpenAi,
    /// `OpenAI`'s responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Where requests go.
    pub(crate) fn url(self, base: Url, model: &str) -> Url {
        match self {
            Self::OpenAi => joined(base, &["chat", "completions"]),
            Self::Responses => joined(base, &["responses"]),
            Self::Gemini => {
                let call = format!("{model}:streamGenerateContent");
                let mut url = joined(base, &["models", &call]);
                url.query_pairs_mut().append_pair("alt", "sse");
                url
            }
            Self::Ollama => joined(base, &["api", "chat"]),
            // Both spellings of the base are in use.
            Self::Anthropic if base.path().trim_end_matches('/').ends_with("/v1") => {
                joined(base, &["messages"])
            }
            Self::Anthropic => joined(base, &["v1", "messages"]),
        }
    }

    /// The headers that every request has, but for the key.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::OpenAi | Self::Responses | Self::Gemini | Self::Ollama => &[],
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
        }
    }

    /// Where the key goes, unless the provider has another place for it.
    pub(crate) fn key_header(self) -> KeyHeader {
        match self {
            Self::OpenAi | Self::Responses | Self::Ollama => KeyHeader::bearer(),
            Self::Anthropic => KeyHeader::plain("x-api-key"),
            Self::Gemini => KeyHeader::plain("x-goog-api-key"),
        }
    }

    /// Whether an answer of this kind may be one of this format.
    pub(crate) fn is_content_type(self, kind: &str) -> bool {
        // Servers that imitate this one call it what each of its lines is.
        kind == self.content_type() || self == Self::Ollama && kind == "application/json"
    }

    /// What an answer of this format claims to be.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses | Self::Anthropic | Self::Gemini => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }

    /// The body of a request.
    pub(crate) fn request(self, request: &Request, endpoint: &Endpoint) -> Value {
        match self {
            Self::OpenAi => openai::request(request, endpoint),
            Self::Responses => responses::request(request, endpoint),
            Self::Gemini => gemini::request(request, endpoint),
            Self::Ollama => ollama::request(request, endpoint),
            Self::Anthropic => anthropic::request(request, endpoint),
        }
    }

    fn cutter(self) -> Cutter {
        match self {
            Self::OpenAi | Self::Responses | Self::Anthropic | Self::Gemini => {
                Cutter::Events(Decoder::new(EVENT_BYTES))
            }
            Self::Ollama => Cutter::Lines(Lines::new(EVENT_BYTES)),
        }
    }

    fn parser(self) -> Box<dyn Parse> {
        match self {
            Self::OpenAi => Box::<openai::Parser>::default(),
            Self::Responses => Box::<responses::Parser>::default(),
            Self::Gemini => Box::<gemini::Parser>::default(),
            Self::Ollama => Box::<ollama::Parser>::default(),
            Self::Anthropic => Box::<anthropic::Parser>::default(),
        }
    }
}

/// Reads the events of one reply.
pub(crate) trait Parse: Send {
    /// Takes the next event and adds what it shows to `pieces`.
    fn event(&mut self, event: &Event, pieces: &mut Vec<Piece>) -> Result<Progress, Fault>;

    /// Whether the provider has said how the reply ends. Only bookkeeping can follow.
    fn has_finish(&self) -> bool;

    /// The reply, if it is whole.
    fn finish(self: Box<Self>) -> Result<Reply, Fault>;
}

/// Whether a reply goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More is to come.
    More,
    /// The provider marked the end.
    Done,
}

/// What is wrong with a stream, before it is known whose stream it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ended too early.
    Broken,
    /// It holds this.
    Malformed(&'static str),
    /// Something in it is too large.
    TooLarge { limit: usize, place: &'static str },
    /// The provider reports an error.
    Complaint(Complaint),
}

/// The JSON of an event. None if there is none: an empty event, or the mark after the last one, which
/// servers that speak several formats add to all of them.
pub(crate) fn json_of(event: &Event) -> Result<Option<Value>, Fault> {
    match event.data.trim() {
        "" | "[DONE]" => Ok(None),
        data => serde_json::from_str(data)
            .map(Some)
            .map_err(|_| Fault::Malformed("an event that is not JSON")),
    }
}

/// The same, unless it is a complaint.
pub(crate) fn said_by(event: &Event) -> Result<Option<Value>, Fault> {
    let json = json_of(event)?;
    match json.as_ref().and_then(Complaint::in_json) {
        Some(complaint) => Err(Fault::Complaint(complaint)),
        None => Ok(json),
    }
}

/// The text of a field. One that is missing or null is empty; anything else is no text.
pub(crate) fn text_in<'a>(object: &'a Value, field: &str) -> Result<&'a str, Fault> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(Fault::Malformed("a text that is not a string"))
        }
    }
}

/// What cuts a stream into its parts.
enum Cutter {
    Events(Decoder),
    Lines(Lines),
}

impl Cutter {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        match self {
            Self::Events(decoder) => decoder.feed(bytes, events),
            Self::Lines(lines) => lines.feed(bytes, events),
        }
    }

    fn finish(self) -> Option<Event> {
        match self {
            Self::Events(decoder) => decoder.finish(),
            Self::Lines(lines) => lines.finish(),
        }
    }
}

/// A stream that is being read.
pub(crate) struct Reading {
    cutter: Cutter,
    parser: Box<dyn Parse>,
}

impl Reading {
    pub(crate) fn new(format: Format) -> Self {
        Self { cutter: format.cutter(), parser: format.parser() }
    }

    /// Takes the next bytes. What they show is in `pieces` even when they end in a fault.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        pieces: &mut Vec<Piece>,
    ) -> Result<Progress, Fault> {
        let mut events = Vec::new();
        let decoded = self.cutter.feed(bytes, &mut events);
        for event in &events {
            if self.parser.event(event, pieces)? == Progress::Done {
                return Ok(Progress::Done);
            }
        }
        match decoded {
            Ok(()) => Ok(Progress::More),
            Err(TooLarge) => Err(Fault::TooLarge { limit: EVENT_BYTES, place: "in one event" }),
        }
    }

    /// Whether the reply is whole although the stream has not ended.
    pub(crate) fn has_finish(&self) -> bool {
        self.parser.has_finish()
    }

    /// Takes the end of the stream.
    pub(crate) fn finish(self, pieces: &mut Vec<Piece>) -> Result<Reply, Fault> {
        let Self { cutter, mut parser } = self;
        if let Some(event) = cutter.finish() {
            match parser.event(&event, pieces) {
                // Half an event is no wonder where a stream breaks off; whether the reply is whole
                // without it, the parser knows.
                Ok(Progress::More | Progress::Done) | Err(Fault::Malformed(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        parser.finish()
    }
}

/// Tests for all parsers: whole streams, as recorded, in any pieces.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Everything a stream gives: the pieces, joined where they continue each other, and the end.
    pub(crate) fn read(format: Format, parts: &[&[u8]]) -> (Vec<Piece>, Result<Reply, Fault>) {
        let mut reading = Reading::new(format);
        let mut pieces = Vec::new();
        let mut end = None;
        for part in parts {
            match reading.feed(part, &mut pieces) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => break,
                Err(fault) => {
                    end = Some(Err(fault));
                    break;
                }
            }
        }
        let end = end.unwrap_or_else(|| reading.finish(&mut pieces));
        (pieces, end)
    }

    /// `stream` in pieces of the given sizes, over and over.
    pub(crate) fn cut<'a>(
        stream: &'a (impl AsRef<[u8]> + ?Sized),
        sizes: &[usize],
    ) -> Vec<&'a [u8]> {
        let mut rest = stream.as_ref();
        let mut parts = Vec::new();
        for &size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (part, more) = rest.split_at(size.min(rest.len()));
            parts.push(part);
            rest = more;
        }
        parts
    }
}

#[cfg(test)]
mod tests;
