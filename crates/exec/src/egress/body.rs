//! The body of a request, passed on exactly as long as its head says.
//!
//! Anything behind it is not forwarded: it would be a second request, to a host that nobody judged.
//! Chunks are parsed strictly and rewritten.

use super::{head::Body, ledger::Traffic, pump::Pulse};
use std::{io, sync::atomic::Ordering};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest line that says how long a piece is.
const LONGEST_LINE: usize = 256;

/// The most lines behind the last piece. They are dropped.
pub(super) const MOST_TRAILERS: usize = 100;

/// Passes a body on, and shows each piece of it to `look`.
pub(super) async fn pass_on(
    source: &mut (impl AsyncBufRead + Unpin),
    sink: &mut (impl AsyncWrite + Unpin),
    body: Body,
    traffic: &Traffic,
    pulse: &Pulse,
    look: &mut impl FnMut(&[u8]),
) -> io::Result<()> {
    match body {
        Body::Length(length) => pass_bytes(source, sink, length, traffic, pulse, look).await,
        Body::Chunked => {
            loop {
                let length = chunk_length(&read_line(source).await?)?;
                if length == 0 {
                    break;
                }
                sink.write_all(format!("{length:x}\r\n").as_bytes()).await?;
                pass_bytes(source, sink, length, traffic, pulse, look).await?;
                if !read_line(source).await?.is_empty() {
                    return Err(wrong("a chunk is longer than its declared length"));
                }
                sink.write_all(b"\r\n").await?;
            }
            for _ in 0..=MOST_TRAILERS {
                if read_line(source).await?.is_empty() {
                    return sink.write_all(b"0\r\n\r\n").await;
                }
            }
            Err(wrong("there are too many trailers"))
        }
    }
}

/// Reads all of a body, which must not be long.
pub(super) async fn read_whole(
    source: &mut (impl AsyncBufRead + Unpin),
    length: u64,
    traffic: &Traffic,
    pulse: &Pulse,
) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    pass_bytes(source, &mut whole, length, traffic, pulse, &mut |_| {}).await?;
    Ok(whole)
}

async fn pass_bytes(
    source: &mut (impl AsyncBufRead + Unpin),
    sink: &mut (impl AsyncWrite + Unpin),
    mut left: u64,
    traffic: &Traffic,
    pulse: &Pulse,
    look: &mut impl FnMut(&[u8]),
) -> io::Result<()> {
    while left > 0 {
        let there = source.fill_buf().await?;
        if there.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let length = there.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        look(&there[..length]);
        sink.write_all(&there[..length]).await?;
        source.consume(length);
        left -= length as u64;
        traffic.sent.fetch_add(length as u64, Ordering::Relaxed);
        pulse.beat();
    }
    Ok(())
}

/// A line without its end, which must be CR LF.
pub(super) async fn read_line(source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    source.take(LONGEST_LINE as u64).read_until(b'\n', &mut line).await?;
    let line = line.strip_suffix(b"\r\n").ok_or_else(|| wrong("a line does not end"))?;
    if line.contains(&b'\r') {
        return Err(wrong("a line contains a bare carriage return"));
    }
    Ok(line.to_vec())
}

/// Extensions behind a semicolon mean nothing to us, so there must be none.
pub(super) fn chunk_length(line: &[u8]) -> io::Result<u64> {
    let digits = (1..=15).contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(line)
        .ok()
        .filter(|_| digits)
        .and_then(|line| u64::from_str_radix(line, 16).ok())
        .ok_or_else(|| wrong("the length of a chunk is not a number"))
}

pub(super) fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passed(text: &str, body: Body) -> Result<String, io::Error> {
        let mut source = text.as_bytes();
        let mut sink = Vec::new();
        pass_on(&mut source, &mut sink, body, &Traffic::default(), &Pulse::default(), &mut |_| {})
            .await?;
        Ok(String::from_utf8(sink).unwrap())
    }

    #[tokio::test]
    async fn a_body_ends_where_its_head_says() {
        assert_eq!(passed("abcGET / HTTP/1.1", Body::Length(3)).await.unwrap(), "abc");
        assert!(passed("ab", Body::Length(3)).await.is_err());
        let text = "003\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1";
        let expected = "3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(passed(text, Body::Chunked).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn pieces_that_can_be_read_in_two_ways_are_refused() {
        let long = format!("0\r\n{}\r\n", "x: y\r\n".repeat(200));
        for text in [
            "3;x\r\nabc\r\n0\r\n\r\n",
            "0x3\r\nabc\r\n0\r\n\r\n",
            "+3\r\nabc\r\n0\r\n\r\n",
            "3 \r\nabc\r\n0\r\n\r\n",
            "3\nabc\n0\n\n",
            "3\r\nabcd\r\n0\r\n\r\n",
            "3\r\nab\r\n0\r\n\r\n",
            "\r\n",
            "ffffffffffffffff\r\nabc",
            "3\r\r\nabc\r\n0\r\n\r\n",
            &long,
        ] {
            assert!(passed(text, Body::Chunked).await.is_err(), "{text:?}");
        }
    }
}
