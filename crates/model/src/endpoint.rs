//! Where a model is reached, with what key, and how long we wait for it.

use crate::{ModelError, Tools};
use interpreter_core::Secret;
use reqwest::Url;
use std::{net::IpAddr, time::Duration};

/// One model of one provider.
#[derive(Debug)]
pub struct Endpoint {
    /// The provider's address, to which the format adds its own path: for chat completions as far
    /// as the version (`https://api.openai.com/v1`), for Anthropic with or without it. A query is
    /// kept; a user name or password is refused.
    pub base_url: String,
    /// The model's name, as the provider spells it.
    pub model: String,
    /// The key, if the provider wants one.
    pub key: Option<Secret>,
    /// Whether this model is to be offered tools.
    pub tools: Tools,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Endpoint {
    /// A model without a key, to be offered tools, with the usual timeouts.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            tools: Tools::Offer,
            timeouts: Timeouts::default(),
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
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(2),
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
        Endpoint::new(base_url, "m").url().unwrap_err().to_string()
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
            let url = Endpoint::new(base, "m").url().unwrap();
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
