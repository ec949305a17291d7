//! A host's name or address, in one spelling.
//!
//! Two spellings of one host must not be judged as two. A name is therefore lower-case ASCII
//! without its last dot, with other scripts in their ASCII form, and an address has one notation.
//! Anything that a resolver would take for an address and a person for a name, such as `0x7f.1` or
//! `2130706433`, is neither.

use serde::{Deserialize, Serialize};
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// A host that somebody wants to reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Host {
    /// By its name.
    Name(String),
    /// By its address.
    Address(IpAddr),
}

/// Why a text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It is not a name that can be resolved.
    #[error("it is not a host name")]
    Name,
    /// It is an address in a spelling that programs disagree about.
    #[error("some programs read it as an address; write it as `192.0.2.1`")]
    Number,
    /// It looks like an address and is none.
    #[error("it is not an address")]
    Address,
    /// The port is not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
}

/// The longest name that there is.
const LONGEST: usize = 253;

/// The longest part between two dots.
const LONGEST_LABEL: usize = 63;

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(HostError::Address)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| HostError::Address)?;
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if text.contains(':') {
            let address: Ipv6Addr = text.parse().map_err(|_| HostError::Address)?;
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        name(text).map(Self::Name)
    }
}

/// A name in its one spelling.
fn name(text: &str) -> Result<String, HostError> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let ascii = idna::domain_to_ascii(text).map_err(|_| HostError::Name)?;
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let whole = ascii.split('.').all(|label| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    });
    if ascii.len() > LONGEST || !whole {
        return Err(HostError::Name);
    }
    // Only numbers have a number last: `127.1`, `0x7f000001`, `017700000001`.
    let last = ascii.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").unwrap_or(last);
    let hexadecimal = last.starts_with("0x") && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if hexadecimal || digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HostError::Number);
    }
    Ok(ascii)
}

/// Reads `host:port`, as it stands in a request. The port must be there, unless one is usual.
pub fn authority(text: &str, usual: Option<u16>) -> Result<(Host, u16), HostError> {
    let (host, port) = match text.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        Some(_) | None => (text, None),
    };
    if host.contains(':') && !host.starts_with('[') {
        return Err(HostError::Address);
    }
    let port = match port {
        Some(port) => read_port(port)?,
        None => usual.ok_or(HostError::Port)?,
    };
    Ok((host.parse()?, port))
}

/// A port from 1 to 65535, in digits alone.
pub(super) fn read_port(text: &str) -> Result<u16, HostError> {
    let digits = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&port| digits && port > 0).ok_or(HostError::Port)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl Host {
    /// The host and a port, as they stand in a request.
    pub fn with_port(&self, port: u16) -> String {
        match self {
            Self::Name(name) => format!("{name}:{port}"),
            Self::Address(address @ IpAddr::V4(_)) => format!("{address}:{port}"),
            Self::Address(address @ IpAddr::V6(_)) => format!("[{address}]:{port}"),
        }
    }
}

impl TryFrom<String> for Host {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        text.parse()
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<String, HostError> {
        text.parse::<Host>().map(|host| host.to_string())
    }

    #[test]
    fn one_host_has_one_spelling() {
        for (text, expected) in [
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example.", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("ｅｘａｍｐｌｅ.org", "example.org"),
            ("example。org", "example.org"),
            ("a_b.example.org", "a_b.example.org"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[2001:DB8::1]", "2001:db8::1"),
            ("2001:db8:0:0::1", "2001:db8::1"),
            ("[::ffff:10.0.0.1]", "10.0.0.1"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn numbers_that_programs_disagree_about_are_nothing() {
        for text in [
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "017700000001",
            "0177.0.0.1",
            "127.0.0.0x1",
            "1.2.3.4.5",
            "256.1.1.1",
            "127.0.0.01",
            "example.0x",
            "１２７.1",
            "①②⑦.①",
        ] {
            assert_eq!(read(text), Err(HostError::Number), "{text}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = format!("{}.org", "a".repeat(64));
        let longer = ["abcdefgh"; 30].join(".");
        for text in [
            "",
            ".",
            "..",
            "a..b",
            "-a.org",
            "a-.org",
            "a b.org",
            "a/b",
            "user@example.org",
            "a\0b.org",
            "a\r\nb.org",
            "exa%6dple.org",
            "*.example.org",
            "a\u{202e}b.org",
            &long,
            &longer,
        ] {
            assert_eq!(read(text), Err(HostError::Name), "{text:?}");
        }
        for text in ["[::1", "[127.0.0.1]", "[::1]x", "[fe80::1%eth0]", "fe80::1%1", ":", "[]"] {
            assert_eq!(read(text), Err(HostError::Address), "{text:?}");
        }
    }

    #[test]
    fn an_authority_is_a_host_and_a_port() {
        let read = |text| authority(text, None).map(|(host, port)| host.with_port(port));
        assert_eq!(read("Example.org:443").as_deref(), Ok("example.org:443"));
        assert_eq!(read("[::1]:80").as_deref(), Ok("[::1]:80"));
        for text in ["example.org", "example.org:", "h:0", "h:65536", "h:+1", "h:0x50", "h: 80"] {
            assert_eq!(read(text), Err(HostError::Port), "{text}");
        }
        assert_eq!(read("::1:80"), Err(HostError::Address));
        assert_eq!(authority("[::1]", Some(80)).unwrap().1, 80);
        assert_eq!(authority("example.org", Some(80)).unwrap().1, 80);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_reads_the_same_again(text in "\\PC{0,80}") {
            if let Ok(host) = text.parse::<Host>() {
                prop_assert_eq!(host.to_string().parse::<Host>(), Ok(host.clone()));
                let shown = host.with_port(1);
                prop_assert!(shown.is_ascii() && !shown.contains(char::is_whitespace));
                prop_assert_eq!(authority(&shown, None), Ok((host, 1)));
            }
        }
    }
}
