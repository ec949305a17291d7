//! Small documents of servers that are no models: what a login provider publishes and answers.
//!
//! # Threat
//! A server that sends a secret elsewhere, answers with far too much, or never; a document that names
//! an address inside this computer for us to ask.
//!
//! # Mechanism
//! An address is https, or http at this machine, and holds no user, password or fragment. No redirect
//! is followed. An answer has a limit of bytes, and the whole exchange one of time. No error holds an
//! address, a field or an answer.
//!
//! # Limits
//! A name that leads to an address inside a company's network is asked there: that server has to have
//! a certificate for the name.

use crate::{
    endpoint::{host, is_local},
    http::{bounded, client},
};
use interpreter_core::Secret;
use reqwest::{
    Client, RequestBuilder, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use std::time::Duration;
use tokio::time::timeout;

/// How long one exchange may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// The most bytes of a document.
const DOCUMENT_BYTES: usize = 256 << 10;

/// The longest address.
const LONGEST: usize = 2_048;

const FORM: &str = "application/x-www-form-urlencoded";

/// An address that may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentAddress(Url);

impl DocumentAddress {
    /// Reads an address. Nothing for one that must not be asked.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST || text.chars().any(|one| one.is_control() || one.is_whitespace()) {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_protected = url.scheme() == "https" || url.scheme() == "http" && is_local(&url);
        let is_bare =
            url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        (is_protected && is_bare && url.host_str().is_some()).then_some(Self(url))
    }

    /// Whether this machine is asked.
    pub fn is_local(&self) -> bool {
        is_local(&self.0)
    }

    /// The host, with the port where there is one.
    pub fn host(&self) -> String {
        host(&self.0)
    }

    /// Whether it has a query.
    pub fn has_query(&self) -> bool {
        self.0.query().is_some()
    }

    /// The address as text, with these fields behind those that it has.
    pub fn with_fields(&self, fields: &[(&str, &str)]) -> String {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(fields);
        url.into()
    }
}

/// Fields in the form that a query has.
fn encoded(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://localhost/").expect("it is an address");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// One text in that form.
fn encoded_text(text: &str) -> String {
    encoded(&[(text, "")]).trim_end_matches('=').to_owned()
}

/// A document could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Only this machine may be asked.
    #[error("`offline` is set")]
    Offline,
    /// Our own side cannot be set up.
    #[error("the file of certificates is not in order")]
    Client,
    /// The server does not answer.
    #[error("it cannot be reached")]
    Unreachable,
    /// The server takes too long.
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// The server points elsewhere.
    #[error("it redirects, and redirects are not followed")]
    Redirected,
    /// The answer is too long.
    #[error("its answer is too long")]
    TooLarge,
    /// The server refuses or fails.
    #[error("it answered with the status {0}")]
    Status(u16),
}

/// Whoever asks for documents.
#[derive(Clone, Debug, Default)]
pub struct DocumentClient {
    /// Further certificates to trust, as PEM.
    pub certificates: Option<Vec<u8>>,
    /// Whether only this machine may be asked.
    pub offline: bool,
}

impl DocumentClient {
    /// Asks for a document.
    pub async fn get(&self, address: &DocumentAddress) -> Result<Vec<u8>, DocumentError> {
        self.exchange(self.client(address)?.get(address.0.clone())).await
    }

    /// Sends a form, in the name of a user if there is one.
    pub async fn post_form(
        &self,
        address: &DocumentAddress,
        fields: &[(&str, &str)],
        user: Option<(&str, &Secret)>,
    ) -> Result<Vec<u8>, DocumentError> {
        let request = self.client(address)?.post(address.0.clone());
        let request = request.header(CONTENT_TYPE, FORM).body(encoded(fields));
        self.exchange(match user {
            None => request,
            // RFC 6749, 2.3.1: both are encoded first.
            Some((name, secret)) => {
                request.basic_auth(encoded_text(name), Some(encoded_text(secret.reveal())))
            }
        })
        .await
    }

    fn client(&self, address: &DocumentAddress) -> Result<Client, DocumentError> {
        if self.offline && !address.is_local() {
            return Err(DocumentError::Offline);
        }
        let certificates = self.certificates.as_deref();
        client(&address.0, PATIENCE, certificates).map_err(|_| DocumentError::Client)
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Vec<u8>, DocumentError> {
        let request = request.header(ACCEPT, HeaderValue::from_static("application/json"));
        timeout(PATIENCE, fetch(request)).await.unwrap_or(Err(DocumentError::Silent))
    }
}

async fn fetch(request: RequestBuilder) -> Result<Vec<u8>, DocumentError> {
    let mut response = request.send().await.map_err(|_| DocumentError::Unreachable)?;
    let status = response.status();
    if status.is_redirection() {
        return Err(DocumentError::Redirected);
    }
    if status != StatusCode::OK {
        return Err(DocumentError::Status(status.as_u16()));
    }
    let body = bounded(&mut response, DOCUMENT_BYTES).await;
    body.map_err(|_| DocumentError::Unreachable)?.ok_or(DocumentError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_protected_and_bare_addresses_are_asked() {
        for fine in [
            "https://id.example.org",
            "https://id.example.org:8443/realms/a?x=1",
            "http://localhost:4000/",
            "http://127.0.0.1:4000/oidc",
            "http://[::1]:4000",
        ] {
            assert!(DocumentAddress::parse(fine).is_some(), "{fine}");
        }
        for wrong in [
            "",
            "id.example.org",
            "http://id.example.org",
            "http://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://localhost.example.org/",
            "https://me@id.example.org",
            "https://me:word@id.example.org",
            "https://id.example.org/#x",
            "https://",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https://id.example.org/\n",
            " https://id.example.org",
            &format!("https://id.example.org/{}", "x".repeat(LONGEST)),
        ] {
            assert_eq!(DocumentAddress::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn fields_cannot_leave_their_place() {
        let address = DocumentAddress::parse("https://id.example.org/auth?realm=a").unwrap();
        let text = address.with_fields(&[("state", "a&b=c#d e"), ("x", "ä")]);
        assert_eq!(text, "https://id.example.org/auth?realm=a&state=a%26b%3Dc%23d+e&x=%C3%A4");
        assert_eq!(encoded(&[("code", "a+b c&d")]), "code=a%2Bb+c%26d");
        assert_eq!(encoded_text("a:b=c%"), "a%3Ab%3Dc%25");
    }

    #[tokio::test]
    async fn without_the_network_only_this_machine_is_asked() {
        let client = DocumentClient { certificates: None, offline: true };
        let far = DocumentAddress::parse("https://id.example.org/").unwrap();
        assert_eq!(client.get(&far).await, Err(DocumentError::Offline));
    }
}
