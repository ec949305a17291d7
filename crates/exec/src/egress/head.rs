//! The head of an HTTP request, read strictly.
//!
//! # Threat
//! A request that we read in one way and the server behind us in another: a second request hidden
//! in the first, a header that ends earlier than it seems, a host that is not the one judged.
//!
//! # Mechanism
//! There is one way to parse it: lines end with CR LF, names are tokens, values contain no control
//! characters, nothing is folded. `Host`, `Content-Length` and `Transfer-Encoding` appear at most
//! once, and not both of the last. A name that only some servers would take for one of them, such as
//! `Content_Length`, is refused. A forwarded head is rewritten from its parsed form, never
//! copied.
//!
//! # Limits
//! The response to a plain request goes to the code unchanged.
//!
//! Pure: any bytes may be fed.

use interpreter_core::{
    broker::hyphenated,
    egress::{Host, authority},
};

/// The longest head that is read.
pub(super) const LONGEST: usize = 16 << 10;

/// The most header lines.
const MOST_HEADERS: usize = 100;

/// Headers that are between one program and the next, and not passed on.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request to the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A tunnel to this host and port.
    Tunnel { host: Host, port: u16 },
    /// One plain request to this host and port.
    Plain {
        host: Host,
        port: u16,
        /// The head to send there.
        head: Vec<u8>,
        /// The body after it.
        body: Body,
    },
}

/// How long the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    /// As many as its pieces say.
    Chunked,
}

/// Where the head ends, behind its empty line, if it has come whole.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Reads a head, with its empty line. The error says what is wrong with it, for the answer.
pub(super) fn parse(head: &[u8]) -> Result<Request, &'static str> {
    let (first, headers) = read(head)?;
    let (method, target) = request_line(first)?;
    let body = headers.body()?;
    if headers.all("host").count() > 1 {
        return Err("there is more than one Host");
    }
    if method == "CONNECT" {
        if body != Body::Length(0) {
            return Err("CONNECT has no body");
        }
        let (host, port) =
            authority(target, None).map_err(|_| "the target is not a host and port")?;
        return Ok(Request::Tunnel { host, port });
    }
    plain(method, target, &headers, body)
}

/// The first line of a head, and its headers.
pub(super) fn read(head: &[u8]) -> Result<(&[u8], Headers), &'static str> {
    let head = head.strip_suffix(b"\r\n\r\n").ok_or("the head does not end")?;
    let mut lines = Vec::new();
    for line in split_lines(head) {
        if line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err("a line contains a bare carriage return, line feed or zero");
        }
        lines.push(line);
    }
    let (first, headers) = lines.split_first().ok_or("there is no first line")?;
    if headers.len() > MOST_HEADERS {
        return Err("there are too many headers");
    }
    let headers = headers.iter().map(|line| header(line)).collect::<Result<Vec<_>, _>>()?;
    Ok((first, Headers(headers)))
}

fn split_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(head);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let end = bytes.windows(2).position(|two| two == b"\r\n");
        let (line, after) = match end {
            Some(at) => (&bytes[..at], Some(&bytes[at + 2..])),
            None => (bytes, None),
        };
        rest = after;
        Some(line)
    })
}

fn is_token(text: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(plain)
}

pub(super) fn request_line(line: &[u8]) -> Result<(&str, &str), &'static str> {
    let wrong = "the request line is not `METHOD TARGET HTTP/1.1`";
    let line = std::str::from_utf8(line).map_err(|_| wrong)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong);
    };
    if !is_token(method.as_bytes()) || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(wrong);
    }
    if target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the target contains characters other than plain ones");
    }
    Ok((method, target))
}

fn header(line: &[u8]) -> Result<(String, Vec<u8>), &'static str> {
    if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
        return Err("a header is folded");
    }
    let colon = line.iter().position(|&byte| byte == b':').ok_or("a header has no colon")?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if !is_token(name) {
        return Err("the name of a header is not a plain word");
    }
    if value.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t') {
        return Err("the value of a header contains a control character");
    }
    // A token is ASCII.
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if name.contains('_') && is_of_connection(&hyphenated(&name)) {
        return Err("a header has an underscore that some servers take for a hyphen");
    }
    Ok((name, value.to_vec()))
}

/// Whether a header is about this connection or the length of a body.
fn is_of_connection(name: &str) -> bool {
    HOP_BY_HOP.contains(&name) || matches!(name, "host" | "content-length")
}

/// Headers, with their names in lower case.
pub(super) struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(one, _)| one == name).map(|(_, value)| value.as_slice())
    }

    /// How long the body is. Without a word about it, there is none.
    pub(super) fn body(&self) -> Result<Body, &'static str> {
        let mut lengths = self.all("content-length");
        let mut encodings = self.all("transfer-encoding");
        match (lengths.next(), lengths.next(), encodings.next(), encodings.next()) {
            (_, Some(_), _, _) => Err("there is more than one Content-Length"),
            (_, _, _, Some(_)) => Err("there is more than one Transfer-Encoding"),
            (Some(_), None, Some(_), None) => Err("there are Content-Length and Transfer-Encoding"),
            (None, None, Some(encoding), None) => {
                if !encoding.eq_ignore_ascii_case(b"chunked") {
                    return Err("the Transfer-Encoding is not `chunked`");
                }
                Ok(Body::Chunked)
            }
            (Some(length), None, None, None) => {
                // Nineteen digits cannot be too many for 64 bits.
                let digits =
                    (1..=19).contains(&length.len()) && length.iter().all(u8::is_ascii_digit);
                let length = std::str::from_utf8(length).ok().filter(|_| digits);
                let length = length.and_then(|length| length.parse().ok());
                length.map(Body::Length).ok_or("the Content-Length is not a number")
            }
            (None, None, None, None) => Ok(Body::Length(0)),
        }
    }

    /// The headers to forward: all except hop-by-hop ones, by name or by mention.
    pub(super) fn passed_on(&self) -> impl Iterator<Item = &(String, Vec<u8>)> {
        let mentioned: Vec<_> = self
            .all("connection")
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
            .collect();
        self.0.iter().filter(move |(name, _)| !is_of_connection(name) && !mentioned.contains(name))
    }
}

fn plain(
    method: &str,
    target: &str,
    headers: &Headers,
    body: Body,
) -> Result<Request, &'static str> {
    let (scheme, rest) = target
        .split_once("://")
        .ok_or("this is a proxy: the target must be `CONNECT host:port` or `http://host/path`")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("a proxy accepts only plain `http://` targets and CONNECT");
    }
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(at);
    if place.contains('@') {
        return Err("the target contains a user or a password");
    }
    if path.contains('#') {
        return Err("the target contains a fragment");
    }
    let (host, port) = authority(place, Some(80)).map_err(|_| "the target has no valid host")?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let shown = if port == 80 { bare(&host) } else { host.with_port(port) };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {shown}\r\n").into_bytes();
    for (name, value) in headers.passed_on() {
        head.extend(name.as_bytes());
        head.extend(b": ");
        head.extend(value);
        head.extend(b"\r\n");
    }
    match body {
        Body::Chunked => head.extend(b"transfer-encoding: chunked\r\n"),
        Body::Length(0) if headers.all("content-length").next().is_none() => {}
        Body::Length(length) => head.extend(format!("content-length: {length}\r\n").bytes()),
    }
    head.extend(b"connection: close\r\n\r\n");
    Ok(Request::Plain { host, port, head, body })
}

/// A host without a port, in brackets if it needs them.
pub(super) fn bare(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Address(address) if address.is_ipv6() => format!("[{address}]"),
        Host::Address(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Request, &'static str> {
        parse(text.as_bytes())
    }

    fn passed_on(text: &str) -> String {
        match read(text) {
            Ok(Request::Plain { head, .. }) => String::from_utf8(head).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tunnel_has_a_host_and_a_port() {
        let read = read("CONNECT Example.org:443 HTTP/1.1\r\nHost: other.org\r\n\r\n");
        let host = "example.org".parse().unwrap();
        assert_eq!(read, Ok(Request::Tunnel { host, port: 443 }));
    }

    #[test]
    fn a_plain_request_is_written_anew() {
        let text = "GET http://Example.org:8080/a?b=c HTTP/1.0\r\nHost: evil.org\r\nAccept: */*\r\n\
                    Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n\
                    Connection: close, X-Secret\r\nX-Secret: 1\r\nUpgrade: h2c\r\nTE: trailers\r\n\r\n";
        assert_eq!(
            passed_on(text),
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\naccept: */*\r\nconnection: close\r\n\r\n"
        );
        // Another name may have an underscore.
        assert!(
            passed_on("GET http://h.org/ HTTP/1.1\r\nContent_Kind: a\r\n\r\n")
                .contains("\r\ncontent_kind: a\r\n")
        );
        assert!(
            passed_on("GET http://h.org?q HTTP/1.1\r\n\r\n")
                .starts_with("GET /?q HTTP/1.1\r\nHost: h.org\r\n")
        );
        assert!(
            passed_on("GET http://[2001:db8::1]/ HTTP/1.1\r\n\r\n")
                .contains("Host: [2001:db8::1]\r\n")
        );
    }

    #[test]
    fn a_body_is_as_long_as_the_head_says() {
        let body = |text: &str| match read(text) {
            Ok(Request::Plain { body, head, .. }) => (body, String::from_utf8(head).unwrap()),
            other => panic!("{other:?}"),
        };
        let (length, head) = body("POST http://h.org/ HTTP/1.1\r\nContent-Length: 12\r\n\r\n");
        assert_eq!(length, Body::Length(12));
        assert!(head.contains("content-length: 12\r\n"));
        let (length, head) =
            body("POST http://h.org/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n");
        assert_eq!(length, Body::Chunked);
        assert!(head.contains("transfer-encoding: chunked\r\n") && !head.contains("length"));
        // A mention cannot take the length away.
        let (length, head) = body(
            "POST http://h.org/ HTTP/1.1\r\nConnection: Content-Length\r\nContent-Length: 3\r\n\r\n",
        );
        assert!(length == Body::Length(3) && head.contains("content-length: 3\r\n"));
    }

    #[test]
    fn whatever_can_be_read_in_two_ways_is_refused() {
        for text in [
            "GET http://h.org/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent_Length: 5\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nTransfer_Encoding: chunked\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nContent-Length: 1\r\nCONTENT_LENGTH: 5\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nProxy_Connection: keep-alive\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\n Host: a\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nA: b\0\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\nA\r\n\r\n",
            "GET http://h.org/ HTTP/1.1\r\n: b\r\n\r\n",
            "GET  http://h.org/ HTTP/1.1\r\n\r\n",
            "GET http://h.org/\tHTTP/1.1\r\n\r\n",
            "GET http://h.org/ HTTP/1.1 x\r\n\r\n",
            "GET http://h.org/ HTTP/2.0\r\n\r\n",
            "GET http://h.org/ http/1.1\r\n\r\n",
            "GET http://user:secret@h.org/ HTTP/1.1\r\n\r\n",
            "GET http://h.org@evil.org/ HTTP/1.1\r\n\r\n",
            "GET http://h.org#@evil.org/ HTTP/1.1\r\n\r\n",
            "GET http://h.org\\@evil.org/ HTTP/1.1\r\n\r\n",
            "GET http://2130706433/ HTTP/1.1\r\n\r\n",
            "GET http://0x7f.1/ HTTP/1.1\r\n\r\n",
            "GET https://h.org/ HTTP/1.1\r\n\r\n",
            "GET file:///etc/passwd HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h.org\r\n\r\n",
            "GET http:/// HTTP/1.1\r\n\r\n",
            "CONNECT h.org HTTP/1.1\r\n\r\n",
            "CONNECT http://h.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT user@h.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT h.org:443:80 HTTP/1.1\r\n\r\n",
            "CONNECT h.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
            "CONNECT h.org:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
        let many = format!("GET http://h.org/ HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101));
        assert_eq!(read(&many), Err("there are too many headers"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            _ = parse(&bytes);
        }

        #[test]
        fn what_is_passed_on_has_one_head_and_one_host(
            lines in prop::collection::vec("[ -~\\r\\n\\t]{0,30}", 0..6),
            target in "http://[a-z.@:/?#\\[\\]0-9]{1,20}",
        ) {
            let text = format!("GET {target} HTTP/1.1\r\n{}\r\n\r\n", lines.join("\r\n"));
            let Some(end) = end(text.as_bytes()) else { return Ok(()) };
            if let Ok(Request::Plain { head, .. }) = parse(&text.as_bytes()[..end]) {
                let head = String::from_utf8(head).unwrap();
                prop_assert_eq!(head.matches("\r\n\r\n").count(), 1);
                prop_assert_eq!(head.matches('\n').count(), head.matches("\r\n").count());
                let hosts = head.lines().filter(|l| l.to_lowercase().starts_with("host:")).count();
                prop_assert_eq!(hosts, 1);
            }
        }
    }
}
