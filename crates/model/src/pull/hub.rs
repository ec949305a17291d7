//! Hugging Face, or what stands in its place.
//!
//! Files are not there but at a host that it redirects to, so here redirects are followed: a few, to
//! `https` alone, and without the token, which is for the first address and no other.

use super::{Part, Tell, Trouble, Ways};
use crate::{
    endpoint::{self, is_local},
    http,
};
use reqwest::{
    Response, StatusCode, Url,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE,
        LOCATION, RANGE,
    },
};
use std::time::Duration;

/// Redirects that are followed for one request.
const REDIRECTS: usize = 5;

/// How often a source is asked to go on after it broke off, each time with something more.
const TRIES: usize = 10;

/// A file of a repository.
pub(super) struct Place<'a> {
    pub(super) ways: &'a Ways,
    pub(super) repository: &'a str,
    pub(super) file: &'a str,
}

/// The host, for messages.
pub(super) fn host(ways: &Ways) -> String {
    let url = Url::parse(&ways.endpoint);
    url.map_or_else(|_| "Hugging Face".into(), |url| endpoint::host(&url))
}

/// Fetches what is missing, and goes on where it breaks off.
pub(super) async fn fetch(
    part: &mut Part<'_>,
    place: &Place<'_>,
    tell: Tell<'_>,
) -> Result<(), Trouble> {
    let mut tries = 0;
    loop {
        let before = part.done();
        match attempt(part, place, tell).await {
            Err(Trouble::Cut(_)) if part.done() > before && tries < TRIES => tries += 1,
            result => return result,
        }
    }
}

async fn attempt(part: &mut Part<'_>, place: &Place<'_>, tell: Tell<'_>) -> Result<(), Trouble> {
    let mut response = place.open(part).await?;
    place.line_up(part, &response)?;
    let idle = place.ways.idle;
    while let Some(bytes) = within(idle, response.chunk()).await? {
        if bytes.len() as u64 > part.left() {
            part.restart()?;
            return Err(Trouble::Elsewhere("sends more than the file has".into()));
        }
        part.append(&bytes)?;
        tell(part.progress());
    }
    if part.is_whole() { Ok(()) } else { Err(Trouble::Cut("broke off".into())) }
}

impl Place<'_> {
    /// Asks, and follows where the answer leads.
    async fn open(&self, part: &Part<'_>) -> Result<Response, Trouble> {
        let first = self.address()?;
        let mut url = first.clone();
        for _ in 0..=REDIRECTS {
            let response = self.ask(&first, &url, part).await?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            let to = to.ok_or_else(|| Trouble::Elsewhere("redirects to nowhere".into()))?;
            if !may_follow(&first, &to) {
                let to = endpoint::host(&to);
                let why = format!("redirects to `{to}` without encryption, which is not followed");
                return Err(Trouble::Elsewhere(why));
            }
            url = to;
        }
        Err(Trouble::Elsewhere(format!("redirects more than {REDIRECTS} times")))
    }

    fn address(&self) -> Result<Url, Trouble> {
        let path = format!("{}/resolve/main/{}", self.repository, self.file);
        let base = Url::parse(&self.ways.endpoint).ok();
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.filter(|url| url.username().is_empty() && url.password().is_none());
        let base = base.ok_or_else(|| {
            Trouble::Elsewhere("`HF_ENDPOINT` is not an address such as `https://host`".into())
        })?;
        Ok(endpoint::joined(base, &path.split('/').collect::<Vec<_>>()))
    }

    async fn ask(&self, first: &Url, url: &Url, part: &Part<'_>) -> Result<Response, Trouble> {
        let client = http::client(url, self.ways.connect, self.ways.certificates.as_deref())
            .map_err(|error| Trouble::Elsewhere(error.to_string()))?;
        let request = client.get(url.clone()).headers(self.headers(first, url, part)?);
        within(self.ways.idle, request.send()).await
    }

    fn headers(&self, first: &Url, url: &Url, part: &Part<'_>) -> Result<HeaderMap, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if part.done() > 0 {
            let range = format!("bytes={}-", part.done());
            headers.insert(RANGE, range.parse().expect("digits can be sent"));
            let validator = part.validator().and_then(|text| text.parse().ok());
            headers.extend(validator.map(|value: HeaderValue| (IF_RANGE, value)));
        }
        let encrypted = url.scheme() == "https" || is_local(url);
        if let Some(token) = &self.ways.token
            && url.origin() == first.origin()
            && encrypted
        {
            let bearer = format!("Bearer {}", token.reveal().trim());
            let bad = |_| Trouble::Elsewhere("`HF_TOKEN` holds what cannot be sent".into());
            let mut value = HeaderValue::try_from(bearer).map_err(bad)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Makes the part fit what is about to come, or refuses it.
    fn line_up(&self, part: &mut Part<'_>, response: &Response) -> Result<(), Trouble> {
        let elsewhere = |why: String| Err(Trouble::Elsewhere(why));
        let total = match response.status() {
            StatusCode::OK => response.content_length(),
            StatusCode::PARTIAL_CONTENT => match content_range(response) {
                Some((start, total)) if start == part.done() => Some(total),
                _ => return elsewhere("sends another part than it was asked for".into()),
            },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let token = if self.ways.token.is_some() { "refuses" } else { "wants" };
                return elsewhere(format!("{token} a token (`HF_TOKEN`)"));
            }
            StatusCode::NOT_FOUND => return elsewhere("does not have the file".into()),
            status => return elsewhere(format!("answers with status {}", status.as_u16())),
        };
        match total {
            Some(total) if total == part.total() => {}
            Some(total) => {
                let wanted = part.total();
                return elsewhere(format!("has a file of {total} bytes, not of {wanted}"));
            }
            None => return elsewhere("does not say how large the file is".into()),
        }
        if response.status() == StatusCode::OK && part.done() > 0 {
            // It sends everything again: it knows no parts, or its file is another one by now.
            part.restart()?;
        }
        let validator = response.headers().get(ETAG).and_then(|value| value.to_str().ok());
        part.remember(validator.filter(|value| value.starts_with('"')));
        Ok(())
    }
}

/// The first byte, and the bytes of the whole file.
fn content_range(response: &Response) -> Option<(u64, u64)> {
    let text = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()?))
}

/// Whether a redirect stays encrypted. On this machine nobody listens in.
fn may_follow(first: &Url, to: &Url) -> bool {
    let is_plain = to.username().is_empty() && to.password().is_none();
    let here = to.scheme() == "http" && is_local(to) && is_local(first);
    is_plain && (to.scheme() == "https" || here)
}

async fn within<T>(
    idle: Duration,
    future: impl Future<Output = Result<T, reqwest::Error>>,
) -> Result<T, Trouble> {
    match tokio::time::timeout(idle, future).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if error.is_connect() => {
            Err(Trouble::Elsewhere(format!("cannot be reached{}", cause(&error.without_url()))))
        }
        Ok(Err(error)) => Err(Trouble::Cut(format!("broke off{}", cause(&error.without_url())))),
        Err(_) => Err(Trouble::Cut(format!("sent nothing for {idle:?}"))),
    }
}

/// The innermost cause, which is the one that says something.
fn cause(error: &reqwest::Error) -> String {
    let mut inner = std::error::Error::source(error);
    let mut words = String::new();
    while let Some(cause) = inner {
        words = format!(": {cause}");
        inner = cause.source();
    }
    interpreter_core::Untrusted::new(words).for_terminal_line(200)
}
