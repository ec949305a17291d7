//! The names under which this server is reached, and whether a request came by one of them.
//!
//! # Threat
//! A page of a stranger whose name leads to this computer (DNS rebinding), and names that only look
//! like ours: with a prefix, an ending, a user, another port, another spelling of the address.
//!
//! # Mechanism
//! A `Host` is taken apart by a grammar that knows only a name or an address and a port; everything
//! else is no host. It must then be one of the listed ones, or with TLS one that the certificate is
//! for. An origin must be exactly the scheme and the host of the request that carries it.

use rustls::{
    client::verify_server_name,
    pki_types::{CertificateDer, ServerName},
    server::ParsedCertificate,
};
use std::{fmt, net::IpAddr};

/// The longest name that DNS has.
const LONGEST: usize = 253;

/// How a browser reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that a browser leaves out.
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A name or an address, with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPort {
    /// In lower case; an IPv6 address is in brackets.
    host: String,
    port: u16,
}

impl HostPort {
    /// Reads a `Host` as a browser writes it.
    pub(super) fn parse(text: &str, scheme: Scheme) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = match port {
            None => scheme.port(),
            Some(digits) => number(digits)?,
        };
        let is_host = match host.strip_prefix('[') {
            Some(rest) => matches!(rest.strip_suffix(']')?.parse(), Ok(IpAddr::V6(_))),
            None => is_name(host),
        };
        is_host.then(|| Self { host: host.to_ascii_lowercase(), port })
    }

    /// An address and a port.
    pub(super) fn address(address: IpAddr, port: u16) -> Self {
        let host = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        Self { host, port }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The origin of a page from there, as a browser writes it.
    pub(super) fn origin(&self, scheme: Scheme) -> String {
        if self.port == scheme.port() {
            format!("{}://{}", scheme.word(), self.host)
        } else {
            format!("{}://{}:{}", scheme.word(), self.host, self.port)
        }
    }
}

/// A port without signs, spaces or leading zeros.
fn number(digits: &str) -> Option<u16> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_plain { digits.parse().ok() } else { None }
}

fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.len() <= LONGEST && host.split('.').all(is_label)
}

/// The names that a request may come by.
pub(super) enum HostNames {
    /// These and no others.
    Listed(Scheme, Vec<HostPort>),
    /// Those of the certificate, at this port.
    Certified(CertificateDer<'static>, u16),
}

impl fmt::Debug for HostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(scheme, names) => write!(f, "{scheme:?} {names:?}"),
            Self::Certified(_, port) => write!(f, "the certificate's, at {port}"),
        }
    }
}

impl HostNames {
    pub(super) fn scheme(&self) -> Scheme {
        match self {
            Self::Listed(scheme, _) => *scheme,
            Self::Certified(..) => Scheme::Https,
        }
    }

    /// The host that a request names, if it is one of ours.
    pub(super) fn find(&self, host: &str) -> Option<HostPort> {
        let found = HostPort::parse(host, self.scheme())?;
        let is_ours = match self {
            Self::Listed(_, names) => names.contains(&found),
            Self::Certified(certificate, port) => {
                found.port == *port && is_for(certificate, found.host.trim_matches(['[', ']']))
            }
        };
        is_ours.then_some(found)
    }
}

fn is_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) =
        (ParsedCertificate::try_from(certificate), ServerName::try_from(name))
    else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn local() -> HostNames {
        let names = ["127.0.0.1:4096", "localhost:4096", "[::1]:4096"];
        let parsed = names.map(|name| HostPort::parse(name, Scheme::Http).unwrap());
        HostNames::Listed(Scheme::Http, parsed.into())
    }

    #[test]
    fn listed_names_are_found_whatever_their_case() {
        for name in ["127.0.0.1:4096", "localhost:4096", "LocalHost:4096", "[::1]:4096"] {
            assert!(local().find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_look_like_ours_are_not() {
        for name in [
            "",
            ":",
            ":4096",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:40960",
            "127.0.0.1:04096",
            "127.0.0.1:+4096",
            "127.0.0.1: 4096",
            "127.0.0.1:4096 ",
            "127.0.0.1:4096:4096",
            "127.0.0.1.:4096",
            "127.0.0.1.evil.example:4096",
            "127.evil.example:4096",
            "evil.example:4096",
            "localhost.evil.example:4096",
            "localhost.:4096",
            "evil.localhost:4096",
            "user@127.0.0.1:4096",
            "127.0.0.1:4096@evil.example",
            "evil.example#127.0.0.1:4096",
            "127.0.0.1:4096/",
            "127.0.0.1,evil.example:4096",
            "127.1:4096",
            "2130706433:4096",
            "0x7f.0.0.1:4096",
            "0177.0.0.1:4096",
            "0.0.0.0:4096",
            "[::]:4096",
            "[::ffff:127.0.0.1]:4096",
            "::1:4096",
            "[::1%25lo]:4096",
            "[::1]evil:4096",
            "[[::1]]:4096",
            "[127.0.0.1]:4096",
            "lоcalhost:4096",
            "localhost\0:4096",
            "localhost\t:4096",
        ] {
            assert_eq!(local().find(name), None, "{name:?}");
        }
    }

    #[test]
    fn the_port_that_a_browser_leaves_out_is_that_of_the_scheme() {
        let name = HostPort::parse("code.example", Scheme::Https).unwrap();
        let names = HostNames::Listed(Scheme::Https, vec![name.clone()]);
        assert_eq!(names.find("code.example:443"), Some(name.clone()));
        assert_eq!(names.find("code.example:80"), None);
        assert_eq!(name.origin(Scheme::Https), "https://code.example");
        let other = HostPort::parse("code.example:8443", Scheme::Https).unwrap();
        assert_eq!(other.origin(Scheme::Https), "https://code.example:8443");
    }

    #[test]
    fn a_certificate_names_its_hosts() {
        let names = vec!["code.example".to_owned(), "10.1.2.3".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let names = HostNames::Certified(made.cert.der().clone(), 8443);
        for ours in ["code.example:8443", "CODE.example:8443", "10.1.2.3:8443"] {
            assert!(names.find(ours).is_some(), "{ours}");
        }
        for other in ["code.example", "a.code.example:8443", "10.1.2.4:8443", "localhost:8443"] {
            assert_eq!(names.find(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_the_listed_names_is_found(host in "\\PC{0,24}") {
            let known = ["127.0.0.1:4096", "localhost:4096", "[::1]:4096"];
            prop_assume!(!known.contains(&host.to_ascii_lowercase().as_str()));
            // Other spellings of ::1 are the same address, but browsers do not write them.
            prop_assert_eq!(local().find(&host), None);
        }

        #[test]
        fn what_is_put_around_a_name_makes_another(before in "[a-z0-9@.:/-]{0,6}", after in "[a-z0-9@.:/-]{0,6}") {
            prop_assume!(!before.is_empty() || !after.is_empty());
            let host = format!("{before}127.0.0.1{after}:4096");
            prop_assert_eq!(local().find(&host), None);
        }
    }
}
