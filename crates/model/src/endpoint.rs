//! Where a model is reached, with what key, and how long we wait for it.

use crate::{ModelError, Pace, Price, Tools};
use interpreter_core::{Secret, WireFormat, instructions::Strength};
use reqwest::{Url, header::HeaderMap};
use std::{net::IpAddr, sync::Arc, time::Duration};

/// One model of one provider.
#[derive(Debug)]
pub struct Endpoint {
    /// Who it is, as the record shows it before the model's name.
    pub provider: String,
    /// How it is talked to.
    pub format: WireFormat,
    /// The provider's address, to which the format adds its own path: for chat completions as far
    /// as the version (`https://api.openai.com/v1`), for Anthropic with or without it. A query is
    /// kept; a user name or password is refused.
    pub base_url: String,
    /// The model's name, as the provider spells it.
    pub model: String,
    /// The key, if the provider wants one.
    pub key: Option<Secret>,
    /// The names of the environment variables that may hold it, for messages.
    pub key_variables: Vec<String>,
    /// Where the key goes.
    pub key_header: KeyHeader,
    /// Further headers of every request.
    pub headers: HeaderMap,
    /// Whether this model is to be offered tools.
    pub tools: Tools,
    /// How much it can be expected to understand.
    pub strength: Strength,
    /// Whether it sees pictures.
    pub images: bool,
    /// How the provider learns which part to cache.
    pub caching: Caching,
    /// Whether the provider must be asked to count tokens.
    pub usage: UsageReport,
    /// Where its models are listed.
    pub list: ListAddress,
    /// The most tokens of a conversation, if that is known.
    pub context: Option<u64>,
    /// The price of tokens, if known.
    pub price: Option<Price>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How often to ask again.
    pub retries: Retries,
    /// How many calls a minute may have, together with those that share this; none leaves it
    /// open.
    pub pace: Option<Arc<Pace>>,
    /// Certificates, as PEM, that count beside the system's own.
    pub certificates: Option<Arc<[u8]>>,
    /// Why its key may go out over plain `http`, if it may.
    pub insecure_http: Option<String>,
    /// Whether only this machine may be reached.
    pub offline: bool,
    /// The line that starts it, if it is a server on this machine.
    pub start: Option<String>,
}

/// The header that carries the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    /// Its name.
    pub name: String,
    /// The word before the key, or nothing.
    pub scheme: String,
}

impl KeyHeader {
    /// The header that a format uses, unless the provider has another.
    pub fn of(format: WireFormat) -> Self {
        match format {
            WireFormat::OpenAi | WireFormat::Responses | WireFormat::Ollama => Self::bearer(),
            WireFormat::Anthropic => Self::plain("x-api-key"),
            WireFormat::Gemini => Self::plain("x-goog-api-key"),
        }
    }

    /// `Authorization: Bearer …`
    pub fn bearer() -> Self {
        Self { name: "authorization".into(), scheme: "Bearer".into() }
    }

    /// A header with nothing but the key in it.
    pub fn plain(name: &str) -> Self {
        Self { name: name.into(), scheme: String::new() }
    }
}

/// How a provider learns which part of a conversation to cache, so that it costs less the next
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caching {
    /// Not at all: it keeps what it likes.
    #[default]
    Own,
    /// By marks in the request.
    Marked,
}

/// Where a provider lists its models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListAddress {
    /// Where the format has it.
    #[default]
    OfFormat,
    /// At this path of the same host.
    Path(String),
    /// It has no list.
    Nowhere,
}

/// When a provider counts tokens in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageReport {
    /// If the request asks for it.
    #[default]
    Asked,
    /// By itself; to ask may be an error.
    Unasked,
}

/// How often a call is tried again, and how long is waited before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The most further tries.
    pub most: u32,
    /// Before the first of them; twice as long before each next, with some chance in it.
    pub first_wait: Duration,
    /// The longest wait. A provider that asks for more is not waited for.
    pub longest_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { most: 4, first_wait: Duration::from_secs(1), longest_wait: Duration::from_mins(1) }
    }
}

impl Endpoint {
    /// A model without a key, to be offered tools, with the usual timeouts.
    pub fn new(format: WireFormat, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: format.word().into(),
            format,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            key_variables: Vec::new(),
            key_header: KeyHeader::of(format),
            headers: HeaderMap::new(),
            tools: Tools::Offer,
            strength: Strength::Usual,
            images: false,
            caching: Caching::default(),
            usage: UsageReport::default(),
            list: ListAddress::default(),
            context: None,
            price: None,
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            pace: None,
            certificates: None,
            insecure_http: None,
            offline: false,
            start: None,
        }
    }

    /// The address as a URL that can be asked and shown: with a host, over HTTP, and without
    /// credentials, which would otherwise be sent along and stand in messages.
    pub(crate) fn url(&self) -> Result<Url, ModelError> {
        let problem = match Url::parse(self.base_url.trim()) {
            Err(_) => "is not a URL such as `https://host/v1`",
            Ok(url) if !matches!(url.scheme(), "http" | "https") => {
                "must begin with `https://` or `http://`"
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                "must not hold a user name or password; the key has a setting of its own"
            }
            Ok(url) => return Ok(url),
        };
        Err(ModelError::BadAddress { model: self.model.clone(), problem })
    }
}

/// How long we wait for a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From the request to the first byte of the reply. Long: a local server may have to load
    /// the model first, and some models think before they speak.
    pub first_byte: Duration,
    /// Between two parts of the reply.
    pub idle: Duration,
    /// Without a word of the reply, although something comes: comments that keep a connection
    /// alive, or thoughts that are not shown.
    pub wordless: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(2),
            wordless: Duration::from_mins(15),
        }
    }
}

/// `base` with `segments` added to its path. Its query stays.
pub(crate) fn joined(mut base: Url, segments: &[&str]) -> Url {
    if let Ok(mut path) = base.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    base
}

/// The host as messages name it. Never the rest of the URL: keys have been seen in queries.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether the host is this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(base_url: &str) -> String {
        Endpoint::new(WireFormat::OpenAi, base_url, "m").url().unwrap_err().to_string()
    }

    #[test]
    fn an_address_that_cannot_be_used_is_explained_but_not_repeated() {
        assert!(problem("api.openai.com/v1").contains("is not a URL"));
        assert!(problem("file:///etc/passwd").contains("must begin with"));
        let shown = problem("https://me:sk-canary@host/v1");
        assert!(shown.contains("must not hold a user name"), "{shown}");
        assert!(!shown.contains("sk-canary"), "{shown}");
    }

    #[test]
    fn a_path_is_added_with_and_without_a_slash_and_before_a_query() {
        for (base, joined_url) in [
            ("https://host/v1", "https://host/v1/chat/completions"),
            ("https://host/v1/", "https://host/v1/chat/completions"),
            ("https://host", "https://host/chat/completions"),
            ("https://host/v1?version=2", "https://host/v1/chat/completions?version=2"),
        ] {
            let url = Endpoint::new(WireFormat::OpenAi, base, "m").url().unwrap();
            assert_eq!(joined(url, &["chat", "completions"]).as_str(), joined_url);
        }
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
        for (base, local) in [
            ("http://localhost:8080/v1", true),
            ("http://127.0.0.2/v1", true),
            ("http://[::1]:8080/v1", true),
            ("http://10.0.0.1/v1", false),
            ("https://localhost.example.com/v1", false),
        ] {
            assert_eq!(is_local(&Url::parse(base).unwrap()), local, "{base}");
        }
    }

    #[test]
    fn messages_name_host_and_port_only() {
        let url = Url::parse("http://host:81/v1?key=sk-canary").unwrap();
        assert_eq!(host(&url), "host:81");
    }
}
