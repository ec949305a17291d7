//! A grant: where, how and by what method one secret may be used.

use crate::{
    Secret,
    egress::{Host, HostError, authority},
    secret::LEAST,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// The port that is meant if none is named.
const USUAL_PORT: u16 = 443;

/// The header that is meant if none is named.
const USUAL_HEADER: &str = "authorization";

/// Characters of a field at most.
const LONGEST_FIELD: usize = 128;

/// Bytes of a value at most.
const LONGEST: usize = 4 << 10;

/// Headers that the proxy itself writes, or drops.
const OWN_HEADERS: [&str; 19] = [
    "accept-charset",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "if-range",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "forwarded",
];

/// A place where code may use a secret, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecretGrant {
    /// The name of the secret.
    pub name: String,
    /// The host: exactly this one.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// The methods.
    pub methods: BTreeSet<GrantedMethod>,
    /// The part of a request that carries it.
    #[serde(flatten)]
    pub carrier: SecretCarrier,
}

/// The part of a request that may carry a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretCarrier {
    /// A header, in lower case.
    Header(String),
    /// A field of the body. In JSON, `.` leads into an object.
    Field(String),
}

/// A method by which a secret may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GrantedMethod {
    /// Reads.
    Get,
    /// Reads, without the content.
    Head,
    /// Sends.
    Post,
    /// Stores.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

/// Why a secret cannot be allowed so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The host is none.
    #[error("the host is not usable: {0}")]
    Host(#[from] HostError),
    /// The method is none of those that there are.
    #[error("the method is none of GET, HEAD, POST, PUT, PATCH and DELETE")]
    Method,
    /// The header is none, or belongs to the proxy.
    #[error("the header cannot carry a secret")]
    Header,
    /// The field is none.
    #[error("the field must be a name such as `api_key` or `auth.token`")]
    Field,
    /// The methods have no body.
    #[error("GET and HEAD have no body, and no field in it")]
    NoBody,
    /// The value could not be found in an answer.
    #[error("its value has fewer than {LEAST} characters, and could not be masked in answers")]
    Short,
    /// The value cannot stand in a header.
    #[error(
        "its value cannot stand in a header: it is too long, or has more than plain characters"
    )]
    Value,
}

impl GrantedMethod {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl FromStr for GrantedMethod {
    type Err = GrantError;

    fn from_str(text: &str) -> Result<Self, GrantError> {
        let same = |one: &Self| one.word().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(same).ok_or(GrantError::Method)
    }
}

impl SecretCarrier {
    /// A header that a person named.
    pub fn header(name: &str) -> Result<Self, GrantError> {
        let name = name.to_ascii_lowercase();
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_plain);
        if fits && !OWN_HEADERS.contains(&name.as_str()) {
            Ok(Self::Header(name))
        } else {
            Err(GrantError::Header)
        }
    }

    /// A field that a person named.
    pub fn field(name: &str) -> Result<Self, GrantError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_key = |key: &str| !key.is_empty() && key.bytes().all(is_plain);
        let fits = name.len() <= LONGEST_FIELD && name.split('.').all(is_key);
        if fits { Ok(Self::Field(name.to_owned())) } else { Err(GrantError::Field) }
    }
}

/// The usual header.
impl Default for SecretCarrier {
    fn default() -> Self {
        Self::Header(USUAL_HEADER.to_owned())
    }
}

impl fmt::Display for SecretCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "in the header `{name}`"),
            Self::Field(name) => write!(f, "in the field `{name}`"),
        }
    }
}

impl SecretGrant {
    /// Reads what a person wrote. Without methods, a header is for those that only read, and a field
    /// for POST.
    pub fn new(
        name: &str,
        place: &str,
        methods: &[GrantedMethod],
        carrier: SecretCarrier,
    ) -> Result<Self, GrantError> {
        let (host, port) = authority(place, Some(USUAL_PORT))?;
        let methods: BTreeSet<_> = match (methods, &carrier) {
            ([], SecretCarrier::Header(_)) => [GrantedMethod::Get, GrantedMethod::Head].into(),
            ([], SecretCarrier::Field(_)) => [GrantedMethod::Post].into(),
            (some, _) => some.iter().copied().collect(),
        };
        let has_body = |one: &GrantedMethod| match one {
            GrantedMethod::Get | GrantedMethod::Head => false,
            GrantedMethod::Post
            | GrantedMethod::Put
            | GrantedMethod::Patch
            | GrantedMethod::Delete => true,
        };
        if matches!(carrier, SecretCarrier::Field(_)) && !methods.iter().all(has_body) {
            return Err(GrantError::NoBody);
        }
        Ok(Self { name: name.to_owned(), host, port, methods, carrier })
    }

    /// Whether it is for this place.
    pub fn is_for(&self, host: &Host, port: u16) -> bool {
        self.host == *host && self.port == port
    }

    /// Why it does not allow this method, at its place.
    pub(super) fn why_not_by(&self, method: &str) -> Option<String> {
        let allowed = self.methods.iter().any(|one| one.word() == method);
        (!allowed).then(|| format!("you allowed it for {} only", self.method_words()))
    }

    /// Why it does not allow this header, at its place.
    pub(super) fn why_not_in(&self, header: &str) -> Option<String> {
        let allowed = matches!(&self.carrier, SecretCarrier::Header(name) if name == header);
        (!allowed).then(|| format!("you allowed it {} only", self.carrier))
    }

    /// The place, without the usual port.
    pub fn place(&self) -> String {
        if self.port == USUAL_PORT { self.host.to_string() } else { self.host.with_port(self.port) }
    }

    /// Its methods in a few words.
    pub fn method_words(&self) -> String {
        let words: Vec<_> = self.methods.iter().map(|one| one.word()).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, before)) => format!("{} and {last}", before.join(", ")),
            None => "nothing".into(),
        }
    }
}

/// It in words: where and how, without the name of the secret.
impl fmt::Display for SecretGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (methods, place) = (self.method_words(), self.place());
        write!(f, "{methods} to {place}, {}", self.carrier)
    }
}

/// Whether a value can be put into a header, and found in an answer.
pub fn check_value(value: &Secret) -> Result<(), GrantError> {
    let text = value.reveal();
    if text.len() < LEAST {
        return Err(GrantError::Short);
    }
    let plain = text.len() <= LONGEST
        && text.trim() == text
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain { Ok(()) } else { Err(GrantError::Value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> SecretCarrier {
        SecretCarrier::default()
    }

    #[test]
    fn a_grant_is_for_reading_in_the_usual_header_unless_it_says_more() {
        let usual = SecretGrant::new("T", "API.example.org", &[], usual()).unwrap();
        assert_eq!(
            usual.to_string(),
            "GET and HEAD to api.example.org, in the header `authorization`"
        );
        let post: GrantedMethod = "post".parse().unwrap();
        let header = SecretCarrier::header("X-Api-Key").unwrap();
        let other = SecretGrant::new("T", "h.org:8443", &[post], header).unwrap();
        assert_eq!(other.to_string(), "POST to h.org:8443, in the header `x-api-key`");
        let field = SecretCarrier::field("auth.Token").unwrap();
        let other = SecretGrant::new("T", "h.org", &[], field.clone()).unwrap();
        assert_eq!(other.to_string(), "POST to h.org, in the field `auth.Token`");
        let refused = SecretGrant::new("T", "h.org", &[GrantedMethod::Get, post], field);
        assert_eq!(refused, Err(GrantError::NoBody));
        for word in ["TRACE", "CONNECT", "", "GET POST", "*"] {
            assert_eq!(word.parse::<GrantedMethod>(), Err(GrantError::Method), "{word}");
        }
    }

    #[test]
    fn only_one_exact_host_and_a_header_of_the_codes_own_can_be_allowed() {
        for place in ["*.example.org", "https://h.org", "h.org/path", "u@h.org", "", "h.org:0", "*"]
        {
            assert!(SecretGrant::new("T", place, &[], usual()).is_err(), "{place}");
        }
        for header in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Accept-Charset",
            "Range",
            "a b",
            "",
            "a:b",
            "ä",
        ] {
            assert_eq!(SecretCarrier::header(header), Err(GrantError::Header), "{header}");
        }
        let long = "x".repeat(LONGEST_FIELD + 1);
        for field in ["", ".", "a.", ".a", "a..b", "a b", "a[b]", "ä", "a\"b", "a\n", &long] {
            assert_eq!(SecretCarrier::field(field), Err(GrantError::Field), "{field}");
        }
    }

    #[test]
    fn a_grant_is_written_as_it_always_was() {
        let kept = r#"{"name":"T","host":"h.org","port":443,"methods":["GET"],"header":"x-key"}"#;
        let read: SecretGrant = serde_json::from_str(kept).unwrap();
        assert_eq!(read.carrier, SecretCarrier::Header("x-key".into()));
        assert_eq!(serde_json::to_string(&read).unwrap(), kept);
    }

    #[test]
    fn a_value_must_fit_a_header_and_be_long_enough_to_be_found() {
        let check = |text: &str| check_value(&Secret::new(text.into()));
        assert_eq!(check("ghp_12345678"), Ok(()));
        assert_eq!(check("short"), Err(GrantError::Short));
        for text in ["two\nlines of it", "tab\tin the middle", "schlüssel-schlüssel", " padded  "]
        {
            assert_eq!(check(text), Err(GrantError::Value), "{text:?}");
        }
        assert_eq!(check(&"x".repeat(5_000)), Err(GrantError::Value));
    }
}
