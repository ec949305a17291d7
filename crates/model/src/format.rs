//! Dispatches to the wire formats, and the pure half of reading a stream.
//!
//! A format has a function that writes a request and one that reads an event. [`Reading`] joins the
//! decoder to the latter: bytes go in, pieces come out. No IO here: the same bytes in any pieces give
//! the same reply, and tests need no network.

use crate::{
    Endpoint, ReplyPiece, Request, anthropic,
    assembly::Assembly,
    endpoint::joined,
    fault::Fault,
    gemini,
    lines::Lines,
    ollama, openai, responses,
    sse::{Decoder, Event, TooLarge},
};
use interpreter_core::{Reply, WireFormat};
use reqwest::Url;
use serde_json::Value;

/// The largest event that is read. Whole replies in one event are known; this is many times the
/// longest.
const EVENT_BYTES: usize = 4 << 20;

/// The address that requests go to.
pub(crate) fn url(format: WireFormat, base: Url, model: &str) -> Url {
    match format {
        WireFormat::OpenAi => joined(base, &["chat", "completions"]),
        WireFormat::Responses => joined(base, &["responses"]),
        WireFormat::Gemini => {
            let call = format!("{model}:streamGenerateContent");
            let mut url = joined(base, &["models", &call]);
            url.query_pairs_mut().append_pair("alt", "sse");
            url
        }
        WireFormat::Ollama => joined(base, &["api", "chat"]),
        // Both spellings of the base are in use.
        WireFormat::Anthropic if base.path().trim_end_matches('/').ends_with("/v1") => {
            joined(base, &["messages"])
        }
        WireFormat::Anthropic => joined(base, &["v1", "messages"]),
    }
}

/// The address that lists models.
pub(crate) fn list_url(format: WireFormat, base: Url) -> Url {
    match format {
        WireFormat::OpenAi | WireFormat::Responses => joined(base, &["models"]),
        WireFormat::Gemini => with_query(joined(base, &["models"]), "pageSize"),
        WireFormat::Ollama => joined(base, &["api", "tags"]),
        WireFormat::Anthropic if base.path().trim_end_matches('/').ends_with("/v1") => {
            with_query(joined(base, &["models"]), "limit")
        }
        WireFormat::Anthropic => with_query(joined(base, &["v1", "models"]), "limit"),
    }
}

/// With the parameter that asks for a thousand at once instead of a first page.
fn with_query(mut url: Url, name: &str) -> Url {
    url.query_pairs_mut().append_pair(name, "1000");
    url
}

/// The headers of every request, besides the key.
pub(crate) fn headers(format: WireFormat) -> &'static [(&'static str, &'static str)] {
    match format {
        WireFormat::Anthropic => &[("anthropic-version", "2023-06-01")],
        WireFormat::OpenAi | WireFormat::Responses | WireFormat::Gemini | WireFormat::Ollama => &[],
    }
}

/// Whether a reply in this format may have this content type.
pub(crate) fn is_content_type(format: WireFormat, kind: &str) -> bool {
    // Servers that imitate Ollama send the type of a single line.
    kind == content_type(format) || format == WireFormat::Ollama && kind == "application/json"
}

/// The content type of a reply in this format.
pub(crate) fn content_type(format: WireFormat) -> &'static str {
    if format == WireFormat::Ollama { "application/x-ndjson" } else { "text/event-stream" }
}

/// The body of a request.
pub(crate) fn request(request: &Request, endpoint: &Endpoint) -> Value {
    match endpoint.format {
        WireFormat::OpenAi => openai::request(request, endpoint),
        WireFormat::Responses => responses::request(request, endpoint),
        WireFormat::Gemini => gemini::request(request, endpoint),
        WireFormat::Ollama => ollama::request(request, endpoint),
        WireFormat::Anthropic => anthropic::request(request, endpoint),
    }
}

/// Cuts a stream into its events.
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

/// Adds the content of an event to a reply.
type Parse = fn(&Event, &mut Assembly) -> Result<(), Fault>;

/// A stream that is being read.
pub(crate) struct Reading {
    cutter: Cutter,
    parse: Parse,
    reply: Assembly,
}

impl Reading {
    pub(crate) fn new(format: WireFormat) -> Self {
        let parse = match format {
            WireFormat::OpenAi => openai::parse,
            WireFormat::Responses => responses::parse,
            WireFormat::Gemini => gemini::parse,
            WireFormat::Ollama => ollama::parse,
            WireFormat::Anthropic => anthropic::parse,
        };
        let cutter = if format == WireFormat::Ollama {
            Cutter::Lines(Lines::new(EVENT_BYTES))
        } else {
            Cutter::Events(Decoder::new(EVENT_BYTES))
        };
        Self { cutter, parse, reply: Assembly::default() }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut events = Vec::new();
        let decoded = self.cutter.feed(bytes, &mut events);
        for event in &events {
            (self.parse)(event, &mut self.reply)?;
            if self.reply.done {
                return Ok(());
            }
        }
        decoded.map_err(|TooLarge| Fault::TooLarge { limit: EVENT_BYTES, place: "in one event" })
    }

    /// The pieces since the last call, also after a fault.
    pub(crate) fn take_pieces(&mut self) -> Vec<ReplyPiece> {
        std::mem::take(&mut self.reply.pieces)
    }

    /// Whether the provider has marked the end of the stream.
    pub(crate) fn is_done(&self) -> bool {
        self.reply.done
    }

    /// Whether the provider has said how the reply ends. Only bookkeeping can follow.
    pub(crate) fn has_finish(&self) -> bool {
        self.reply.finish.is_some()
    }

    /// Takes the end of the stream, and gives the last pieces and the reply.
    pub(crate) fn finish(self) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
        let Self { cutter, parse, mut reply } = self;
        let last = cutter.finish().map_or(Ok(()), |event| parse(&event, &mut reply));
        let pieces = std::mem::take(&mut reply.pieces);
        match last {
            // Half an event is normal where a stream breaks off. The reply may be whole without it.
            Ok(()) | Err(Fault::Malformed(_)) => (pieces, reply.into_reply()),
            Err(fault) => (pieces, Err(fault)),
        }
    }
}

/// Tests for all parsers: whole streams, as recorded, in any pieces.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Everything a stream gives: the pieces, joined where they continue each other, and the end.
    pub(crate) fn read(
        format: WireFormat,
        parts: &[&[u8]],
    ) -> (Vec<ReplyPiece>, Result<Reply, Fault>) {
        let mut reading = Reading::new(format);
        let mut pieces = Vec::new();
        for part in parts {
            let fed = reading.feed(part);
            pieces.extend(reading.take_pieces());
            if let Err(fault) = fed {
                return (pieces, Err(fault));
            }
            if reading.is_done() {
                break;
            }
        }
        let (last, end) = reading.finish();
        pieces.extend(last);
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
