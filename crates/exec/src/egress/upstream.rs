//! The person's own proxy for the outside, if their environment names one.
//!
//! Machines that reach the world only through a proxy reach it so from here too. Its password goes
//! to it and nowhere else.

use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{
    Secret,
    egress::{Host, authority},
};
use std::{fmt, io};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The person's own proxy.
#[derive(Debug)]
pub struct Upstream {
    /// The proxy; or why it cannot be used, in which case nothing is reached through it, and
    /// nothing around it either.
    proxy: Result<Proxy, UpstreamError>,
    /// Names and endings of names that are reached without it.
    except: Vec<String>,
}

/// A proxy that speaks HTTP.
struct Proxy {
    host: Host,
    port: u16,
    credentials: Option<Secret>,
}

/// Why an address does not name a proxy that can be used. It does not repeat the address, which
/// may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum UpstreamError {
    #[error("your proxy is not an `http://` proxy, the only supported kind")]
    Kind,
    #[error("the address of your proxy has no host")]
    Place,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.host.with_port(self.port))
    }
}

impl Upstream {
    /// Reads the values of `HTTPS_PROXY` and `NO_PROXY`.
    pub fn new(proxy: &str, except: &str) -> Self {
        let except = except.split(',').map(str::trim).filter(|one| !one.is_empty());
        Self { proxy: Proxy::parse(proxy), except: except.map(str::to_ascii_lowercase).collect() }
    }

    /// Whether a host is reached through it.
    pub(super) fn is_for(&self, host: &Host) -> bool {
        let host = host.to_string();
        !self.except.iter().any(|one| {
            let one = one.trim_start_matches("*.").trim_start_matches('.');
            one == "*"
                || host == one
                || host.strip_suffix(one).is_some_and(|rest| rest.ends_with('.'))
        })
    }

    /// A tunnel through it.
    pub(super) async fn connect(&self, host: &Host, port: u16) -> io::Result<TcpStream> {
        match &self.proxy {
            Ok(proxy) => proxy.connect(host, port).await,
            Err(error) => Err(io::Error::other(*error)),
        }
    }
}

impl Proxy {
    fn parse(text: &str) -> Result<Self, UpstreamError> {
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(UpstreamError::Kind),
            None => text,
        };
        let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (credentials, place) = match place.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, place),
        };
        let (host, port) = authority(place, Some(80)).map_err(|_| UpstreamError::Place)?;
        let credentials = credentials.map(|text| Secret::new(unescaped(text)));
        Ok(Self { host, port, credentials })
    }

    async fn connect(&self, host: &Host, port: u16) -> io::Result<TcpStream> {
        let mut stream = match &self.host {
            Host::Name(name) => TcpStream::connect((name.as_str(), self.port)).await?,
            Host::Address(address) => TcpStream::connect((*address, self.port)).await?,
        };
        let place = host.with_port(port);
        // The one place that sends the password: to the proxy that it is for.
        let credentials = self.credentials.as_ref().map_or_else(String::new, |credentials| {
            let encoded = STANDARD.encode(credentials.reveal());
            format!("Proxy-Authorization: Basic {encoded}\r\n")
        });
        let head = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{credentials}\r\n");
        stream.write_all(head.as_bytes()).await?;
        let answer = read_head(&mut stream).await?;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        if !status.starts_with('2') || status.len() != 3 {
            let line = answer.lines().next().unwrap_or_default().to_owned();
            return Err(io::Error::other(format!("it responds `{line}`")));
        }
        Ok(stream)
    }
}

/// Reads to the empty line and not a byte further: the rest belongs to the tunnel.
async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= super::head::LONGEST {
            return Err(io::Error::other("its response is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Resolves `%40` and the like.
fn unescaped(text: &str) -> String {
    let mut rest = text.as_bytes();
    let mut plain = Vec::with_capacity(rest.len());
    while let Some((&first, after)) = rest.split_first() {
        let digits = (first == b'%').then(|| after.get(..2)).flatten();
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_and_its_password_is_not_shown() {
        let upstream = Upstream::new("http://me:p%40ss@proxy.example:3128/", "");
        assert!(!format!("{upstream:?}").contains("ss"), "{upstream:?}");
        let proxy = upstream.proxy.unwrap();
        assert_eq!(proxy.host.with_port(proxy.port), "proxy.example:3128");
        assert_eq!(proxy.credentials.unwrap().reveal(), "me:p@ss");
        assert_eq!(Proxy::parse("10.0.0.1:8080").unwrap().port, 8080);
        assert_eq!(Proxy::parse("http://").unwrap_err(), UpstreamError::Place);
    }

    #[tokio::test]
    async fn around_a_proxy_that_cannot_be_used_nothing_is_reached() {
        let upstream = Upstream::new("socks5://127.0.0.1:9050", "");
        let host = "example.org".parse().unwrap();
        assert!(upstream.is_for(&host));
        let error = upstream.connect(&host, 443).await.unwrap_err().to_string();
        assert!(error.starts_with("your proxy is not an `http://` proxy"), "{error}");
    }

    #[test]
    fn what_is_excepted_is_reached_directly() {
        let proxy = Upstream::new("http://p:1", "localhost, .corp.example,*.lan.example");
        let through = |host: &str| proxy.is_for(&host.parse().unwrap());
        assert!(through("example.org") && through("corp.example.org"));
        assert!(!through("localhost") && !through("a.corp.example") && !through("x.lan.example"));
        assert!(!Upstream::new("http://p:1", "*").is_for(&"h.org".parse().unwrap()));
    }
}
