//! Keys that would go out in the clear: over TLS, to this machine, or nowhere.
//!
//! # Threat
//! Whoever is between this machine and a provider reads a key that is sent over plain `http`, and may
//! send requests of their own with it.
//!
//! # Mechanism
//! An address of plain `http` that is not this machine gets no key, nor a header or a query that may
//! be one, unless the endpoint or the provider's file gives a reason why that is safe there. Addresses
//! of private networks are elsewhere too: others are on them. The check stands where the client is
//! made, before anything is sent.
//!
//! # Limits
//! The conversation itself is sent there. A header or a query is known by its name.

use crate::{
    Endpoint, ModelError,
    endpoint::{host, is_local},
};
use reqwest::Url;

/// Parts of the names of headers and of fields of a query that may be a key.
const SECRET: [&str; 6] = ["auth", "key", "token", "secret", "cookie", "sig"];

/// Refuses an address to which a key would go in the clear without a reason for that.
pub(crate) fn check(endpoint: &Endpoint, url: &Url) -> Result<(), ModelError> {
    if !sends_in_the_clear(endpoint, url) || endpoint.insecure_http.is_some() {
        return Ok(());
    }
    Err(ModelError::KeyInTheClear { provider: endpoint.provider.clone(), host: host(url) })
}

/// Why a key goes out in the clear, if it does: whose, where, and for which reason.
pub(crate) fn told(endpoint: &Endpoint, url: &Url) -> Option<String> {
    let reason = endpoint.insecure_http.as_ref().filter(|_| sends_in_the_clear(endpoint, url))?;
    let (provider, host) = (&endpoint.provider, host(url));
    Some(format!("the key for {provider} goes to {host} over plain http ({reason})"))
}

fn sends_in_the_clear(endpoint: &Endpoint, url: &Url) -> bool {
    let may_be_one = |name: &str| {
        let name = name.to_ascii_lowercase();
        SECRET.iter().any(|part| name.contains(part))
    };
    let has_secret = endpoint.key.is_some()
        || endpoint.headers.keys().any(|name| may_be_one(name.as_str()))
        || url.query_pairs().any(|(name, _)| may_be_one(&name));
    url.scheme() != "https" && !is_local(url) && has_secret
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use interpreter_core::{Secret, WireFormat};
    use reqwest::header::HeaderValue;

    fn endpoint(address: &str) -> Endpoint {
        Endpoint { provider: "mine".into(), ..Endpoint::new(WireFormat::OpenAi, address, "m") }
    }

    fn with_key(address: &str) -> Endpoint {
        Endpoint { key: Some(Secret::new("sk-canary".into())), ..endpoint(address) }
    }

    #[test]
    fn a_key_goes_over_tls_or_to_this_machine_or_nowhere() {
        for address in [
            "http://models.example.org/v1",
            "http://192.168.1.5:8080/v1",
            "http://10.0.0.5/v1",
            "http://172.16.0.1/v1",
            "http://169.254.1.1/v1",
            "http://[fd00::1]:8080/v1",
            "http://[fe80::1]/v1",
            "http://0.0.0.0:8080/v1",
            "http://nas.local/v1",
            "http://localhost.example.org/v1",
            "http://127.0.0.1.example.org/v1",
            "HTTP://models.example.org/v1",
        ] {
            let error = Model::remote(with_key(address)).unwrap_err();
            assert!(matches!(error, ModelError::KeyInTheClear { .. }), "{address}: {error}");
            let told = error.to_string();
            assert!(told.contains("`mine`") && !told.contains("sk-canary"), "{told}");
            let reason = Some("a cable between two machines".to_owned());
            let model = Model::remote(Endpoint { insecure_http: reason, ..with_key(address) });
            let notes: Vec<_> = model.unwrap().in_the_clear().collect();
            assert!(notes[0].ends_with("over plain http (a cable between two machines)"));
            // Without a key there is nothing to take.
            assert!(Model::remote(endpoint(address)).is_ok(), "{address}");
        }
        for address in [
            "https://models.example.org/v1",
            "http://localhost:8080/v1",
            "http://127.0.0.1:8080/v1",
            "http://127.8.9.1/v1",
            "http://[::1]:8080/v1",
        ] {
            let model = Model::remote(with_key(address)).unwrap();
            assert_eq!(model.in_the_clear().count(), 0, "{address}");
        }
    }

    #[test]
    fn a_key_in_a_header_or_a_query_is_one_too() {
        let mut header = endpoint("http://10.0.0.5/v1");
        header.headers.insert("x-api-key", HeaderValue::from_static("sk-canary"));
        let query = endpoint("http://10.0.0.5/v1?subscription-key=sk-canary");
        for with_one in [header, query] {
            let error = Model::remote(with_one).unwrap_err();
            assert!(matches!(error, ModelError::KeyInTheClear { .. }), "{error}");
        }
        let mut header = endpoint("http://10.0.0.5/v1?version=2");
        header.headers.insert("x-title", HeaderValue::from_static("title"));
        assert!(Model::remote(header).is_ok());
    }
}
