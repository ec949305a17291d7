//! An answer inside an opened connection: read strictly, and masked.
//!
//! # Threat
//! A server that sends back the value it was given: in a header, in the text, cut in two, packed, or
//! in another character set.
//!
//! # Mechanism
//! Known values are masked in every header and in the whole body, in whatever pieces it comes, at
//! the same length. An answer that is packed, in a character set that is not plain ASCII as far as
//! ASCII goes, that is a part of another, or whose length can be read in two ways is refused.
//!
//! # Limits
//! A value that comes back in a form that nobody knows is not recognised.

use super::{
    body::{self, MOST_TRAILERS, wrong},
    head::{self, Body},
    ledger::Traffic,
    pump::Pulse,
};
use interpreter_core::{Redactor, redact::MaskedStream};
use std::{io, sync::atomic::Ordering};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

/// Character sets in which ASCII is written as it is.
const PLAIN_CHARSETS: [&str; 8] =
    ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "iso8859-1", "latin1", "windows-1252"];

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// The head to pass on, masked.
    pub(super) head: Vec<u8>,
    pub(super) ends: Ends,
    /// Whether the connection is over behind it.
    pub(super) closes: bool,
}

/// Where an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// As a request does.
    Said(Body),
    /// With the connection.
    WithConnection,
}

/// Reads the head of an answer to a request by this method. The error says what is wrong with it.
pub(super) fn parse(
    head: &[u8],
    method: &str,
    last: bool,
    values: &Redactor,
) -> Result<Response, &'static str> {
    let (first, headers) = head::read(head)?;
    let first = std::str::from_utf8(first).map_err(|_| "its first line is not text")?;
    let (version, rest) = first.split_once(' ').ok_or("its first line is not a status")?;
    let (digits, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_number = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let status = digits.parse().ok().filter(|_| is_number).ok_or("its status is not a number")?;
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || reason.chars().any(char::is_control) {
        return Err("its first line is not a status");
    }
    if matches!(status, 101 | 206) {
        return Err("it switches to another protocol, or is only a part");
    }
    let is_plain = |value: &[u8]| value.eq_ignore_ascii_case(b"identity");
    if !headers.all("content-encoding").all(is_plain) {
        return Err("it is compressed, so a secret in it could not be seen");
    }
    if !headers.all("content-type").all(is_in_plain_charset) {
        return Err("it is in a character set in which a secret could not be seen");
    }
    let body = headers.body()?;
    let has_length = headers.all("content-length").next().is_some();
    let bodiless = method == "HEAD" || matches!(status, 100..=199 | 204 | 304);
    let ends = match body {
        _ if bodiless => Ends::Said(Body::Length(0)),
        Body::Chunked if version == "HTTP/1.0" => return Err("it is chunked in HTTP/1.0"),
        Body::Length(_) if !has_length => Ends::WithConnection,
        Body::Length(_) | Body::Chunked => Ends::Said(body),
    };
    let mut said = headers.all("connection").flat_map(|value| value.split(|&byte| byte == b','));
    let closes = last
        || version == "HTTP/1.0"
        || ends == Ends::WithConnection
        || said.any(|value| value.trim_ascii().eq_ignore_ascii_case(b"close"));
    let mut head = format!("HTTP/1.1 {status} ").into_bytes();
    head.extend(values.masked(reason.as_bytes()));
    head.extend(b"\r\n");
    for (name, value) in headers.passed_on() {
        head.extend(values.masked(name.as_bytes()));
        head.extend(b": ");
        head.extend(values.masked(value));
        head.extend(b"\r\n");
    }
    match body {
        Body::Chunked if !bodiless => head.extend(b"transfer-encoding: chunked\r\n"),
        Body::Length(length) if has_length => {
            head.extend(format!("content-length: {length}\r\n").bytes());
        }
        Body::Chunked | Body::Length(_) => {}
    }
    head.extend(if closes { &b"connection: close\r\n\r\n"[..] } else { b"\r\n" });
    Ok(Response { status, head, ends, closes })
}

/// Whether a content type names no character set, or only plain ones. Quotes are not followed: a
/// part of a quoted text that looks like a character set counts as one.
fn is_in_plain_charset(content_type: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content_type).to_ascii_lowercase();
    text.split([';', ',']).all(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim_matches([' ', '\t', '"', '\'']);
        !name.trim().starts_with("charset") || PLAIN_CHARSETS.contains(&value)
    })
}

/// Where the body of an answer goes.
struct Sink<'a, W> {
    to: &'a mut W,
    values: &'a Redactor,
    stream: MaskedStream,
    /// Whether each piece says how long it is.
    chunked: bool,
}

impl<W: AsyncWrite + Unpin> Sink<'_, W> {
    async fn feed(&mut self, piece: &[u8]) -> io::Result<()> {
        let masked = self.stream.feed(self.values, piece);
        self.write(&masked).await
    }

    async fn finish(mut self) -> io::Result<()> {
        let rest = self.stream.finish(self.values);
        self.write(&rest).await?;
        if self.chunked {
            self.to.write_all(b"0\r\n\r\n").await?;
        }
        self.to.flush().await
    }

    async fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.chunked {
            self.to.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            self.to.write_all(piece).await?;
            self.to.write_all(b"\r\n").await?;
        } else {
            self.to.write_all(piece).await?;
        }
        self.to.flush().await
    }
}

/// Passes the body of an answer on, masked.
pub(super) async fn pass_on(
    source: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    ends: Ends,
    values: &Redactor,
    (traffic, pulse): (&Traffic, &Pulse),
) -> io::Result<()> {
    let chunked = ends == Ends::Said(Body::Chunked);
    let mut sink = Sink { to, values, stream: MaskedStream::default(), chunked };
    match ends {
        Ends::Said(Body::Length(length)) => {
            pass_bytes(source, &mut sink, Some(length), (traffic, pulse)).await?;
        }
        Ends::WithConnection => pass_bytes(source, &mut sink, None, (traffic, pulse)).await?,
        Ends::Said(Body::Chunked) => {
            loop {
                let length = body::chunk_length(&body::read_line(source).await?)?;
                if length == 0 {
                    break;
                }
                pass_bytes(source, &mut sink, Some(length), (traffic, pulse)).await?;
                if !body::read_line(source).await?.is_empty() {
                    return Err(wrong("a chunk is longer than its declared length"));
                }
            }
            let mut trailers = 0;
            while !body::read_line(source).await?.is_empty() {
                trailers += 1;
                if trailers > MOST_TRAILERS {
                    return Err(wrong("there are too many trailers"));
                }
            }
        }
    }
    sink.finish().await
}

/// So many bytes, or all until the end.
async fn pass_bytes<W: AsyncWrite + Unpin>(
    source: &mut (impl AsyncBufRead + Unpin),
    sink: &mut Sink<'_, W>,
    length: Option<u64>,
    (traffic, pulse): (&Traffic, &Pulse),
) -> io::Result<()> {
    let mut left = length.unwrap_or(u64::MAX);
    while left > 0 {
        let there = source.fill_buf().await?;
        if there.is_empty() {
            return match length {
                None => Ok(()),
                Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        let count = there.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        sink.feed(&there[..count]).await?;
        source.consume(count);
        left -= count as u64;
        traffic.received.fetch_add(count as u64, Ordering::Relaxed);
        pulse.beat();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Secret;
    use proptest::prelude::*;

    const VALUE: &str = "canary-value-0123456789";

    fn values() -> Redactor {
        Redactor::default().knowing([("T", &Secret::new(VALUE.into()))])
    }

    fn read(text: &str) -> Result<Response, &'static str> {
        parse(text.as_bytes(), "GET", false, &values())
    }

    async fn passed(text: &str, ends: Ends) -> io::Result<String> {
        let (mut source, mut sink) = (text.as_bytes(), Vec::new());
        let both = (&Traffic::default(), &Pulse::default());
        pass_on(&mut source, &mut sink, ends, &values(), both).await?;
        Ok(String::from_utf8(sink).unwrap())
    }

    #[test]
    fn values_are_masked_in_every_part_of_a_head() {
        let head = format!(
            "HTTP/1.1 302 Go {VALUE}\r\nLocation: https://evil.org/?t={VALUE}\r\n{VALUE}: x\r\n\
             Content-Length: 5\r\n\r\n"
        );
        let read = read(&head).unwrap();
        let shown = String::from_utf8(read.head).unwrap();
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains(&format!("location: https://evil.org/?t={}", "*".repeat(23))));
        assert_eq!((read.status, read.ends), (302, Ends::Said(Body::Length(5))));
    }

    #[test]
    fn answers_in_which_nothing_can_be_seen_are_refused() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: br\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n",
            "HTTP/1.1 206 Partial\r\nContent-Length: 1\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 2x0 OK\r\n\r\n",
            "200 OK\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    /// In UTF-16 the value would be another row of bytes.
    #[test]
    fn answers_in_another_character_set_are_refused() {
        let with = |media: &str| read(&format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n"));
        for media in [
            "text/plain; charset=utf-16",
            "text/plain;CHARSET=UTF-16LE",
            "text/plain; charset=\"utf-32\"",
            "text/plain; charset = ibm037",
            "text/plain; charset=utf-7; format=flowed",
            "text/plain; a=\";charset=utf-8;\"; charset=utf-16",
            "text/plain; charset*=us-ascii''utf-16",
            "text/plain; charset=",
            "text/plain\r\nContent-Type: text/plain; charset=utf-16",
        ] {
            assert!(with(media).is_err(), "{media}");
        }
        for media in [
            "text/plain",
            "application/json; charset=UTF-8",
            "text/html;charset=\"utf-8\"",
            "text/html; charset=ISO-8859-1",
            "text/plain; format=flowed; charset=us-ascii",
            "multipart/mixed; boundary=charsets",
        ] {
            assert!(with(media).is_ok(), "{media}");
        }
    }

    #[test]
    fn an_answer_ends_where_it_says() {
        let ends = |text: &str| read(text).unwrap().ends;
        assert_eq!(ends("HTTP/1.1 204 \r\n\r\n"), Ends::Said(Body::Length(0)));
        assert_eq!(ends("HTTP/1.1 200 OK\r\n\r\n"), Ends::WithConnection);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(ends(chunked), Ends::Said(Body::Chunked));
        let long = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
        let head = parse(long, "HEAD", true, &values()).unwrap();
        assert_eq!((head.ends, head.closes), (Ends::Said(Body::Length(0)), true));
        assert!(String::from_utf8(head.head).unwrap().contains("content-length: 9\r\n"));
    }

    #[tokio::test]
    async fn a_value_is_masked_across_the_borders_of_chunks() {
        let (one, two) = VALUE.split_at(7);
        let text =
            format!("8\r\nx{one}\r\n{:x}\r\n{two}y\r\n0\r\nX: {VALUE}\r\n\r\n", two.len() + 1);
        let shown = passed(&text, Ends::Said(Body::Chunked)).await.unwrap();
        assert!(!shown.contains("canary") && shown.ends_with("0\r\n\r\n"), "{shown}");
        assert_eq!(shown.matches('*').count(), VALUE.len());
        let text = format!("a{VALUE}b");
        let length = Ends::Said(Body::Length(text.len() as u64));
        for ends in [length, Ends::WithConnection] {
            let shown = passed(&text, ends).await.unwrap();
            assert_eq!(shown, format!("a{}b", "*".repeat(VALUE.len())));
        }
        assert!(passed("short", Ends::Said(Body::Length(9))).await.is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            _ = parse(&bytes, "GET", false, &values());
        }
    }
}
