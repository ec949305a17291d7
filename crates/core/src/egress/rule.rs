//! One entry of the list: a host, or all below it, and ports.
//!
//! `example.org` is that host alone, `*.example.org` all hosts below it and not itself. Without a
//! port an entry stands for the web's, 443 and 80, where it allows, and for all where it denies;
//! `:8080` stands for that one, `:*` for all.

use super::host::{Host, HostError, read_port};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    pattern: Pattern,
    ports: Ports,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pattern {
    /// This host.
    Exact(Host),
    /// Every host whose name ends with a dot and this.
    Below(String),
}

/// Which ports an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ports {
    /// None is named.
    Usual,
    /// This one.
    One(u16),
    /// All.
    Every,
}

/// The ports of the web.
const WEB: [u16; 2] = [443, 80];

/// Why a text is not an entry. The text itself is not repeated: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The host is none.
    #[error("expected a host such as `example.org`, `*.example.org` or `192.0.2.1:8080`: {0}")]
    Host(#[from] HostError),
    /// A whole address of a page.
    #[error("expected only a host, without `https://`, path or user")]
    Url,
    /// A star elsewhere than at the beginning.
    #[error("`*` is allowed only at the beginning, as in `*.example.org`")]
    Star,
    /// All of a top-level domain.
    #[error("`*.` must be followed by a name of at least two parts, as in `*.example.org`")]
    TooWide,
}

impl FromStr for HostRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.contains("//") || text.contains(['/', '@', '?', '#']) {
            return Err(RuleError::Url);
        }
        let (host, ports) = split(text)?;
        let Some(below) = host.strip_prefix("*.") else {
            if host.contains('*') {
                return Err(RuleError::Star);
            }
            return Ok(Self { pattern: Pattern::Exact(host.parse()?), ports });
        };
        if below.contains('*') {
            return Err(RuleError::Star);
        }
        match below.parse()? {
            Host::Name(name) if name.contains('.') => {
                Ok(Self { pattern: Pattern::Below(name), ports })
            }
            Host::Name(_) => Err(RuleError::TooWide),
            Host::Address(_) => Err(RuleError::Star),
        }
    }
}

/// Takes the port off. An address of version 6 without brackets has none.
fn split(text: &str) -> Result<(&str, Ports), HostError> {
    match text.rsplit_once(':') {
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => Ok((text, Ports::Usual)),
        Some((_, port)) if port.contains(']') => Ok((text, Ports::Usual)),
        Some((host, "*")) => Ok((host, Ports::Every)),
        Some((host, port)) => Ok((host, Ports::One(read_port(port)?))),
        None => Ok((text, Ports::Usual)),
    }
}

impl HostRule {
    /// An entry for one host and one port.
    pub fn exactly(host: Host, port: u16) -> Self {
        Self { pattern: Pattern::Exact(host), ports: Ports::One(port) }
    }

    /// The one host and port that it names, if it names no more.
    pub fn only(&self) -> Option<(&Host, u16)> {
        match (&self.pattern, self.ports) {
            (Pattern::Exact(host), Ports::One(port)) => Some((host, port)),
            (Pattern::Exact(_) | Pattern::Below(_), _) => None,
        }
    }

    /// Whether it names an address by its number.
    pub fn is_of_address(&self) -> bool {
        matches!(self.pattern, Pattern::Exact(Host::Address(_)))
    }

    /// Whether it is about one host.
    pub(super) fn is_of_one(&self) -> bool {
        matches!(self.pattern, Pattern::Exact(_))
    }

    /// Whether it lets this through.
    pub fn allows(&self, host: &Host, port: u16) -> bool {
        let port = match self.ports {
            Ports::Usual => WEB.contains(&port),
            Ports::One(one) => one == port,
            Ports::Every => true,
        };
        port && self.is_about(host)
    }

    /// Whether it forbids this.
    pub fn denies(&self, host: &Host, port: u16) -> bool {
        let port = match self.ports {
            Ports::Usual | Ports::Every => true,
            Ports::One(one) => one == port,
        };
        port && self.is_about(host)
    }

    fn is_about(&self, host: &Host) -> bool {
        match (&self.pattern, host) {
            (Pattern::Exact(one), host) => one == host,
            (Pattern::Below(name), Host::Name(host)) => {
                host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            (Pattern::Below(_), Host::Address(_)) => false,
        }
    }

    /// Whether it lets through whatever `other` lets through.
    pub fn covers(&self, other: &Self) -> bool {
        let ports = match (self.ports, other.ports) {
            (Ports::Every, _) | (Ports::Usual, Ports::Usual) => true,
            (Ports::Usual, Ports::One(port)) => WEB.contains(&port),
            (Ports::One(one), Ports::One(port)) => one == port,
            (Ports::Usual | Ports::One(_), Ports::Every) | (Ports::One(_), Ports::Usual) => false,
        };
        let hosts = match (&self.pattern, &other.pattern) {
            (_, Pattern::Exact(host)) => self.is_about(host),
            (Pattern::Below(wide), Pattern::Below(narrow)) => {
                wide == narrow || self.is_about(&Host::Name(narrow.clone()))
            }
            (Pattern::Exact(_), Pattern::Below(_)) => false,
        };
        ports && hosts
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.pattern, self.ports) {
            (Pattern::Exact(Host::Address(address)), Ports::One(_) | Ports::Every)
                if address.is_ipv6() =>
            {
                write!(f, "[{address}]")?;
            }
            (Pattern::Exact(host), _) => write!(f, "{host}")?,
            (Pattern::Below(name), _) => write!(f, "*.{name}")?,
        }
        match self.ports {
            Ports::Usual => Ok(()),
            Ports::One(port) => write!(f, ":{port}"),
            Ports::Every => f.write_str(":*"),
        }
    }
}

impl TryFrom<String> for HostRule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(text: &str) -> HostRule {
        text.parse().unwrap()
    }

    #[test]
    fn a_rule_is_about_its_hosts_and_ports_and_no_others() {
        for (text, host, port, expected) in [
            ("example.org", "example.org", 443, true),
            ("example.org", "EXAMPLE.org.", 80, true),
            ("example.org", "example.org", 8080, false),
            ("example.org", "www.example.org", 443, false),
            ("example.org", "notexample.org", 443, false),
            ("*.example.org", "www.example.org", 443, true),
            ("*.example.org", "a.b.c.example.org", 443, true),
            ("*.example.org", "example.org", 443, false),
            ("*.example.org", "notexample.org", 443, false),
            ("*.example.org", "example.org.evil.net", 443, false),
            ("example.org:8080", "example.org", 8080, true),
            ("example.org:8080", "example.org", 443, false),
            ("example.org:*", "example.org", 22, true),
            ("bücher.example", "xn--bcher-kva.example", 443, true),
            ("*.BÜCHER.example", "www.xn--bcher-kva.example", 443, true),
            ("192.0.2.1:8080", "192.0.2.1", 8080, true),
            ("192.0.2.1:8080", "::ffff:192.0.2.1", 8080, true),
            ("192.0.2.1", "192.0.2.10", 443, false),
            ("[::1]:80", "::1", 80, true),
            ("::1", "[0:0:0:0:0:0:0:1]", 443, true),
        ] {
            assert_eq!(rule(text).allows(&host.parse().unwrap(), port), expected, "{text} {host}");
        }
    }

    #[test]
    fn what_is_no_rule_says_why() {
        for text in ["https://example.org", "example.org/path", "me@example.org", "a?b", "a#b"] {
            assert_eq!(text.parse::<HostRule>(), Err(RuleError::Url), "{text}");
        }
        for text in ["*", "a.*.org", "*example.org", "**.example.org", "*.*.org", "*.192.0.2.1"] {
            assert_eq!(text.parse::<HostRule>(), Err(RuleError::Star), "{text}");
        }
        assert_eq!("*.org".parse::<HostRule>(), Err(RuleError::TooWide));
        let refused = |text: &str| matches!(text.parse::<HostRule>(), Err(RuleError::Host(_)));
        for text in ["", ":443", "a b", "127.1", "example.org:", "example.org:x", "h:70000", "*."] {
            assert!(refused(text), "{text}");
        }
    }

    #[test]
    fn a_wider_rule_covers_a_narrower_one() {
        for (wide, narrow) in [
            ("example.org", "example.org:443"),
            ("example.org:*", "example.org"),
            ("*.example.org", "www.example.org"),
            ("*.example.org", "*.www.example.org"),
            ("*.example.org", "*.example.org:80"),
        ] {
            assert!(rule(wide).covers(&rule(narrow)), "{wide} {narrow}");
            assert!(!rule(narrow).covers(&rule(wide)), "{narrow} {wide}");
        }
        assert!(!rule("*.example.org").covers(&rule("example.org")));
    }

    proptest! {
        #[test]
        fn a_rule_reads_as_it_is_written(text in "(\\*\\.)?[a-z]{1,5}\\.[a-z]{2,3}(:([1-9][0-9]{0,3}|\\*))?") {
            let rule = rule(&text);
            prop_assert_eq!(rule.to_string(), text);
        }

        #[test]
        fn any_text_is_a_rule_or_not(text in "\\PC{0,40}") {
            if let Ok(rule) = text.parse::<HostRule>() {
                prop_assert_eq!(rule.to_string().parse::<HostRule>(), Ok(rule));
            }
        }

        #[test]
        fn what_is_covered_is_allowed(
            wide in "(\\*\\.)?([ab]\\.){0,2}x\\.org(:[12]|:\\*)?",
            narrow in "(\\*\\.)?([ab]\\.){0,2}x\\.org(:[12]|:\\*)?",
            host in "([abc]\\.){0,4}x\\.org",
            port in prop::sample::select(vec![1_u16, 2, 80, 443]),
        ) {
            let (wide, narrow, host) = (rule(&wide), rule(&narrow), host.parse().unwrap());
            if wide.covers(&narrow) && narrow.allows(&host, port) {
                prop_assert!(wide.allows(&host, port));
            }
        }
    }
}
