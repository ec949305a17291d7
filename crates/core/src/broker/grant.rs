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

/// Bytes of a value at most.
const LONGEST: usize = 4 << 10;

/// Headers that the proxy itself writes, or drops.
const OWN_HEADERS: [&str; 18] = [
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
    /// The header, in lower case.
    pub header: String,
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

impl SecretGrant {
    /// Reads what a person wrote. Without methods it is for those that only read; without a header,
    /// for `Authorization`.
    pub fn new(
        name: &str,
        place: &str,
        methods: &[GrantedMethod],
        header: Option<&str>,
    ) -> Result<Self, GrantError> {
        let (host, port) = authority(place, Some(USUAL_PORT))?;
        let methods = match methods {
            [] => BTreeSet::from([GrantedMethod::Get, GrantedMethod::Head]),
            some => some.iter().copied().collect(),
        };
        let header = header.unwrap_or(USUAL_HEADER).to_ascii_lowercase();
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=64).contains(&header.len()) && header.bytes().all(is_plain);
        if !fits || OWN_HEADERS.contains(&header.as_str()) {
            return Err(GrantError::Header);
        }
        Ok(Self { name: name.to_owned(), host, port, methods, header })
    }

    /// Whether it is for this place.
    pub fn is_for(&self, host: &Host, port: u16) -> bool {
        self.host == *host && self.port == port
    }

    /// Why it does not allow this, at its place.
    pub(super) fn why_not(&self, method: &str, header: &str) -> Option<String> {
        if !self.methods.iter().any(|one| one.word() == method) {
            return Some(format!("you allowed it for {} only", self.method_words()));
        }
        (self.header != header)
            .then(|| format!("you allowed it in the header `{}` only", self.header))
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
        write!(f, "{methods} to {place}, in the header `{}`", self.header)
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

    #[test]
    fn a_grant_is_for_reading_in_the_usual_header_unless_it_says_more() {
        let usual = SecretGrant::new("T", "API.example.org", &[], None).unwrap();
        assert_eq!(
            usual.to_string(),
            "GET and HEAD to api.example.org, in the header `authorization`"
        );
        let post: GrantedMethod = "post".parse().unwrap();
        let other = SecretGrant::new("T", "h.org:8443", &[post], Some("X-Api-Key")).unwrap();
        assert_eq!(other.to_string(), "POST to h.org:8443, in the header `x-api-key`");
        for word in ["TRACE", "CONNECT", "", "GET POST", "*"] {
            assert_eq!(word.parse::<GrantedMethod>(), Err(GrantError::Method), "{word}");
        }
    }

    #[test]
    fn only_one_exact_host_and_a_header_of_the_codes_own_can_be_allowed() {
        for place in ["*.example.org", "https://h.org", "h.org/path", "u@h.org", "", "h.org:0", "*"]
        {
            assert!(SecretGrant::new("T", place, &[], None).is_err(), "{place}");
        }
        for header in
            ["Host", "content-length", "Transfer-Encoding", "Range", "a b", "", "a:b", "ä"]
        {
            let refused = SecretGrant::new("T", "h.org", &[], Some(header));
            assert_eq!(refused, Err(GrantError::Header), "{header}");
        }
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
