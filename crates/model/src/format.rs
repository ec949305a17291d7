//! What every wire format offers, and the pure half of reading a stream.
//!
//! A format is a value of [`Format`]: where to ask, what to send, and a [`Parse`] for what comes
//! back. [`Reading`] joins the event decoder to a parser, so that bytes go in and pieces come
//! out. No IO here: the same bytes in any pieces give the same reply, and tests need no network.

use crate::{
    Endpoint, Piece, Request, anthropic,
    complaint::Complaint,
    endpoint::joined,
    openai,
    sse::{Decoder, Event, TooLarge},
};
use interpreter_core::Reply;
use reqwest::Url;
use serde_json::Value;

/// The largest event that is read. Whole replies in one event are known; this is many times the
/// longest.
const EVENT_BYTES: usize = 4 << 20;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Chat completions, which most servers speak.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// How a format carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer …`
    Bearer,
    /// A header of its own, with nothing but the key in it.
    Plain(&'static str),
}

impl Format {
    /// The word for it, in front of a model's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Where requests go.
    pub(crate) fn url(self, base: Url) -> Url {
        match self {
            Self::OpenAi => joined(base, &["chat", "completions"]),
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
            Self::OpenAi => &[],
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
        }
    }

    /// Where the key goes.
    pub(crate) fn key_header(self) -> KeyHeader {
        match self {
            Self::OpenAi => KeyHeader::Bearer,
            Self::Anthropic => KeyHeader::Plain("x-api-key"),
        }
    }

    /// The body of a request.
    pub(crate) fn request(self, request: &Request, endpoint: &Endpoint) -> Value {
        match self {
            Self::OpenAi => openai::request(request, endpoint),
            Self::Anthropic => anthropic::request(request, endpoint),
        }
    }

    fn parser(self) -> Box<dyn Parse> {
        match self {
            Self::OpenAi => Box::<openai::Parser>::default(),
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

/// A stream that is being read.
pub(crate) struct Reading {
    decoder: Decoder,
    parser: Box<dyn Parse>,
}

impl Reading {
    pub(crate) fn new(format: Format) -> Self {
        Self { decoder: Decoder::new(EVENT_BYTES), parser: format.parser() }
    }

    /// Takes the next bytes. What they show is in `pieces` even when they end in a fault.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        pieces: &mut Vec<Piece>,
    ) -> Result<Progress, Fault> {
        let mut events = Vec::new();
        let decoded = self.decoder.feed(bytes, &mut events);
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
    pub(crate) fn finish(mut self, pieces: &mut Vec<Piece>) -> Result<Reply, Fault> {
        if let Some(event) = self.decoder.finish() {
            match self.parser.event(&event, pieces) {
                // Half an event is no wonder where a stream breaks off; whether the reply is whole
                // without it, the parser knows.
                Ok(Progress::More | Progress::Done) | Err(Fault::Malformed(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.parser.finish()
    }
}

/// Tests for both parsers: whole streams, as recorded, in any pieces.
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
    pub(crate) fn cut<'a>(stream: &'a str, sizes: &[usize]) -> Vec<&'a [u8]> {
        let mut rest = stream.as_bytes();
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
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_path_of_the_format() {
        for (format, base, url) in [
            (Format::OpenAi, "https://a/v1", "https://a/v1/chat/completions"),
            (Format::Anthropic, "https://a", "https://a/v1/messages"),
            (Format::Anthropic, "https://a/v1/", "https://a/v1/messages"),
            (Format::Anthropic, "https://a/anthropic", "https://a/anthropic/v1/messages"),
        ] {
            assert_eq!(format.url(Url::parse(base).unwrap()).as_str(), url);
        }
    }
}
