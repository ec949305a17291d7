//! A request inside an opened connection, read strictly and written anew.
//!
//! # Threat
//! A request that the proxy judges as one thing and the server takes for another: for another host,
//! by another method, or two instead of one. An answer in a form in which a reflected value cannot
//! be seen.
//!
//! # Mechanism
//! The head is parsed as every other ([`super::head`]). Its `Host` must be the one that the
//! connection leads to. Parts of an answer, compressed answers, other character sets and other
//! protocols are not asked for, whatever the code wants.
//!
//! Any bytes may be fed.

use super::head::{self, Body, bare, request_line};
use interpreter_core::{
    broker::{RequestHeader, hyphenated},
    egress::{Host, authority},
};
use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The port that a `Host` without one means.
const USUAL_PORT: u16 = 443;

/// Headers that do not go out as the code wrote them.
const DROPPED: [&str; 10] = [
    "accept-charset",
    "accept-encoding",
    "expect",
    "if-range",
    "range",
    // Some servers take these for the method, and it is the other one that is judged.
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    // And these for the path.
    "x-original-url",
    "x-rewrite-url",
];

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InnerRequest {
    pub(super) method: String,
    /// The path and the query.
    pub(super) target: String,
    /// The headers to send, without those that the proxy writes.
    pub(super) headers: Vec<RequestHeader>,
    pub(super) body: Body,
    has_length: bool,
    /// Whether the code waits for a word before it sends the body.
    waits: bool,
    /// Whether it is the last on its connection.
    pub(super) closes: bool,
}

/// Reads the head of a request to this place. The error says what is wrong with it.
pub(super) fn parse(head: &[u8], host: &Host, port: u16) -> Result<InnerRequest, &'static str> {
    let (first, headers) = head::read(head)?;
    let (method, target) = request_line(first)?;
    if matches!(method, "CONNECT" | "TRACE") {
        return Err("this method is not used with secrets");
    }
    if !(target.starts_with('/') || method == "OPTIONS" && target == "*") {
        return Err("the target is not a path");
    }
    let mut hosts = headers.all("host");
    let (Some(named), None) = (hosts.next(), hosts.next()) else {
        return Err("there is not exactly one Host");
    };
    let named =
        std::str::from_utf8(named).ok().and_then(|one| authority(one, Some(USUAL_PORT)).ok());
    if named.is_none_or(|(named, at)| named != *host || at != port) {
        return Err("the Host is not the one that the connection leads to");
    }
    if headers.all("upgrade").next().is_some() {
        return Err("no other protocol is spoken where secrets are used");
    }
    let says = |name, word: &[u8]| {
        let mut values = headers.all(name).flat_map(|value| value.split(|&byte| byte == b','));
        values.any(|value| value.trim_ascii().eq_ignore_ascii_case(word))
    };
    let is_dropped = |name: &str| DROPPED.contains(&hyphenated(name).as_str());
    let passed = headers.passed_on().filter(|(name, _)| !is_dropped(name));
    let body = headers.body()?;
    let has_body = body != Body::Length(0);
    if has_body && matches!(method, "GET" | "HEAD") {
        // A server that does not expect one takes it for the next request.
        return Err("a GET or HEAD has no body where secrets are used");
    }
    Ok(InnerRequest {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: passed.cloned().collect(),
        body,
        has_length: headers.all("content-length").next().is_some(),
        waits: says("expect", b"100-continue"),
        closes: has_body || says("connection", b"close") || first.ends_with(b"HTTP/1.0"),
    })
}

impl InnerRequest {
    /// Bytes of the body, unless it comes in chunks.
    pub(super) fn length(&self) -> Option<u64> {
        match self.body {
            Body::Length(length) => Some(length),
            Body::Chunked => None,
        }
    }

    /// Has the code send the body, if it waits for a word.
    pub(super) async fn go_on(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        if !self.waits {
            return Ok(());
        }
        to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        to.flush().await
    }

    /// The head to send, with these headers, and with another length if the body has changed.
    pub(super) fn head(
        &self,
        host: &Host,
        port: u16,
        headers: &[RequestHeader],
        length: Option<usize>,
    ) -> Vec<u8> {
        let shown = if port == USUAL_PORT { bare(host) } else { host.with_port(port) };
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: {shown}\r\n", self.method, self.target).into_bytes();
        for (name, value) in headers {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        // An answer that is compressed, or a part of one, could hide what it reflects.
        head.extend(b"accept-encoding: identity\r\n");
        match length.map_or(self.body, |length| Body::Length(length as u64)) {
            Body::Chunked => head.extend(b"transfer-encoding: chunked\r\n"),
            Body::Length(0) if !self.has_length => {}
            Body::Length(length) => head.extend(format!("content-length: {length}\r\n").bytes()),
        }
        head.extend(b"\r\n");
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<InnerRequest, &'static str> {
        parse(text.as_bytes(), &"h.org".parse().unwrap(), 443)
    }

    fn sent(text: &str) -> String {
        let request = read(text).unwrap();
        let head = request.head(&"h.org".parse().unwrap(), 443, &request.headers, None);
        String::from_utf8(head).unwrap()
    }

    #[test]
    fn a_request_is_written_anew_and_asks_for_plain_whole_answers() {
        let text = "GET /a?b HTTP/1.1\r\nHOST: H.org:443\r\nAccept-Encoding: gzip\r\nAccept_Charset: utf-16\r\nAccept-Charset: utf-16\r\nRange: bytes=0-3\r\n\
                    If-Range: x\r\nX-HTTP_Method-Override: DELETE\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nAccept: */*\r\n\r\n";
        assert_eq!(
            sent(text),
            "GET /a?b HTTP/1.1\r\nHost: h.org\r\naccept: */*\r\naccept-encoding: identity\r\n\r\n"
        );
        let post =
            "POST / HTTP/1.1\r\nHost: h.org\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n";
        assert!(read(post).unwrap().waits && !sent(post).contains("expect"));
        assert!(sent(post).contains("content-length: 3\r\n"));
        assert!(read("GET / HTTP/1.0\r\nHost: h.org\r\n\r\n").unwrap().closes);
    }

    #[test]
    fn whatever_is_for_another_host_or_can_be_read_in_two_ways_is_refused() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org:8443\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nHost: evil.org\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org@evil.org\r\n\r\n",
            "GET https://evil.org/ HTTP/1.1\r\nHost: h.org\r\n\r\n",
            "GET //evil.org HTTP/2.0\r\nHost: h.org\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: h.org\r\n\r\n",
            "TRACE / HTTP/1.1\r\nHost: h.org\r\n\r\n",
            "CONNECT h.org:443 HTTP/1.1\r\nHost: h.org\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nUpgrade: websocket\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h.org\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h.org\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h.org\r\nContent-Length: 1\r\nTransfer_Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h.org\r\nContent_Length: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nA: b\r\n c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nA: b\nAuthorization: c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nA : b\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\nContent-Length: 1\r\n\r\n",
            "HEAD / HTTP/1.1\r\nHost: h.org\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            _ = parse(&bytes, &"h.org".parse().unwrap(), 443);
        }
    }
}
