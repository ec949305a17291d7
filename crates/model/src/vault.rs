//! Reads secrets from HashiCorp Vault: the key-value engine, version 2.
//!
//! # Threat
//! A server that is not the one meant, that sends the token elsewhere, answers with far too much, or
//! never.
//!
//! # Mechanism
//! The token goes to that server alone, over TLS unless it is this machine, and along no redirect.
//! The answer has a limit of bytes and all of them together a time limit. No error holds a token or
//! a value.

use crate::{
    endpoint::{host, is_local},
    http::{bounded, client},
};
use interpreter_core::{Secret, vault::VaultSecret};
use reqwest::{
    Client, RequestBuilder, StatusCode, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use std::time::Duration;
use tokio::{task::JoinSet, time::timeout};

/// How long all answers together may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of an answer: Vault keeps no more than one MiB by itself.
const ANSWER_BYTES: usize = 2 << 20;

/// A server, and who asks it.
pub struct Vault {
    /// Its address, such as `https://vault.example.org:8200`.
    pub address: String,
    /// The token of the person.
    pub token: Secret,
    /// The namespace, for servers that have them.
    pub namespace: Option<String>,
    /// Further certificates to trust, as PEM.
    pub certificates: Option<Vec<u8>>,
}

/// A secret could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{host}` {reason}")]
pub struct VaultError {
    /// Whom it was asked of.
    pub host: String,
    /// Why not.
    pub reason: VaultReason,
}

/// Why a secret could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultReason {
    /// The address is none.
    #[error("is no address such as https://vault.example.org:8200")]
    Address,
    /// The token would go out in the clear.
    #[error("is not this machine, and its address has no https")]
    Clear,
    /// Our own side cannot be set up.
    #[error("cannot be asked: the token or the file of certificates is not in order")]
    Client,
    /// The server does not answer.
    #[error("cannot be reached")]
    Unreachable,
    /// The server takes too long.
    #[error("did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// The server refuses.
    #[error("refuses: the token is not valid, or may not read this")]
    Refused,
    /// There is nothing there.
    #[error("has nothing there")]
    Missing,
    /// There is something, without that field.
    #[error("has no text in that field")]
    Field,
    /// The server points elsewhere, where the token must not go.
    #[error("redirects, and redirects are not followed")]
    Redirected,
    /// The server fails, or answers something else.
    #[error("answered something else (HTTP {0})")]
    Answer(u16),
}

impl Vault {
    /// Reads secrets, each for itself: one that fails costs no other.
    pub async fn read(
        &self,
        secrets: Vec<VaultSecret>,
    ) -> Vec<(VaultSecret, Result<Secret, VaultError>)> {
        let (client, base, headers) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                return secrets.into_iter().map(|one| (one, Err(error.clone()))).collect();
            }
        };
        let host = host(&base);
        let mut tasks = JoinSet::new();
        for (number, secret) in secrets.iter().enumerate() {
            let request = client.get(place(&base, secret)).headers(headers.clone());
            let (field, host) = (secret.field.clone(), host.clone());
            tasks.spawn(async move {
                let read = timeout(PATIENCE, fetch(request, &field)).await;
                let read = read.unwrap_or(Err(VaultReason::Silent));
                (number, read.map_err(|reason| VaultError { host, reason }))
            });
        }
        let silent = || Err(VaultError { host: host.clone(), reason: VaultReason::Silent });
        let mut read: Vec<_> = secrets.into_iter().map(|one| (one, silent())).collect();
        while let Some(done) = tasks.join_next().await {
            if let Ok((number, result)) = done {
                read[number].1 = result;
            }
        }
        read
    }

    /// A client, the address and the headers.
    fn prepare(&self) -> Result<(Client, Url, HeaderMap), VaultError> {
        let base = Url::parse(&self.address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
        let wrong = |host: &str, reason| VaultError { host: host.to_owned(), reason };
        let base = base.ok_or_else(|| wrong("vault.address", VaultReason::Address))?;
        if base.scheme() != "https" && !is_local(&base) {
            return Err(wrong(&host(&base), VaultReason::Clear));
        }
        let failed = || wrong(&host(&base), VaultReason::Client);
        let client = client(&base, PATIENCE, self.certificates.as_deref()).map_err(|_| failed())?;
        let mut headers = HeaderMap::new();
        let mut add = |name: &'static str, text: &str| {
            let mut value = HeaderValue::from_str(text).map_err(|_| failed())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
            Ok(())
        };
        add("x-vault-token", self.token.reveal())?;
        add("x-vault-request", "true")?;
        if let Some(namespace) = &self.namespace {
            add("x-vault-namespace", namespace)?;
        }
        Ok((client, base.clone(), headers))
    }
}

/// The address of a secret.
fn place(base: &Url, secret: &VaultSecret) -> Url {
    let mut url = base.clone();
    url.set_query(None);
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().extend(["v1", &secret.mount, "data"]).extend(secret.path.split('/'));
    }
    url
}

async fn fetch(request: RequestBuilder, field: &str) -> Result<Secret, VaultReason> {
    let mut response = request.send().await.map_err(|_| VaultReason::Unreachable)?;
    let status = response.status();
    match status {
        StatusCode::OK => {}
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => return Err(VaultReason::Refused),
        StatusCode::NOT_FOUND => return Err(VaultReason::Missing),
        _ if status.is_redirection() => return Err(VaultReason::Redirected),
        _ => return Err(VaultReason::Answer(status.as_u16())),
    }
    let body = bounded(&mut response, ANSWER_BYTES).await.map_err(|_| VaultReason::Unreachable)?;
    let answer = body.and_then(|body| serde_json::from_slice::<Value>(&body).ok());
    let answer = answer.ok_or(VaultReason::Answer(status.as_u16()))?;
    let text = answer["data"]["data"][field].as_str().filter(|text| !text.is_empty());
    text.map(|text| Secret::new(text.to_owned())).ok_or(VaultReason::Field)
}
