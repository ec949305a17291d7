//! Downloads from Hugging Face, or from a mirror.
//!
//! Its files are at another host that it redirects to. Few redirects are followed, to `https` only,
//! and without the token, which is for the first address alone.

use super::{Part, PullError, Tell, Trouble};
use crate::{
    catalogue::CatalogueEntry,
    endpoint::{self, is_local},
    http,
};
use interpreter_core::{Secret, Untrusted};
use reqwest::{
    Response, StatusCode, Url,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE,
        LOCATION, RANGE,
    },
};
use std::{sync::Arc, time::Duration};

/// Redirects that are followed for one request.
const REDIRECTS: usize = 5;

/// How often a download is resumed after it broke off, if it got further each time.
const TRIES: usize = 10;

/// Where models are downloaded from, and how.
#[derive(Debug)]
pub struct Hub {
    /// The address of Hugging Face or of a mirror.
    pub endpoint: String,
    /// The token for that address.
    pub token: Option<Secret>,
    /// Certificates in PEM that are trusted beside the system's own.
    pub certificates: Option<Arc<[u8]>>,
    /// Time limit for a connection.
    pub connect: Duration,
    /// Time limit for the next bytes.
    pub idle: Duration,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            endpoint: "https://huggingface.co".into(),
            token: None,
            certificates: None,
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
        }
    }
}

impl Hub {
    /// The host, for messages.
    pub fn host(&self) -> String {
        let url = Url::parse(&self.endpoint);
        url.map_or_else(|_| "Hugging Face".into(), |url| endpoint::host(&url))
    }

    /// Downloads the rest of a part, and resumes if it breaks off.
    pub(super) async fn fetch(
        &self,
        entry: &CatalogueEntry,
        part: &mut Part<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Trouble> {
        let address = self.address(entry)?;
        let mut tries = 0;
        loop {
            let before = part.done();
            match self.attempt(&address, part, tell).await {
                Err(Trouble::Cut(_)) if part.done() > before && tries < TRIES => tries += 1,
                result => return result,
            }
        }
    }

    async fn attempt(
        &self,
        address: &Url,
        part: &mut Part<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Trouble> {
        let mut response = self.open(address, part).await?;
        self.line_up(part, &response)?;
        while let Some(bytes) = self.within(response.chunk()).await? {
            if bytes.len() as u64 > part.left() {
                part.restart()?;
                return Err(Trouble::Refused("sends more than the file has".into()));
            }
            part.append(&bytes)?;
            tell(part.progress());
        }
        if part.is_whole() { Ok(()) } else { Err(Trouble::Cut("broke off".into())) }
    }

    /// Sends the request and follows redirects.
    async fn open(&self, first: &Url, part: &Part<'_>) -> Result<Response, Trouble> {
        let mut url = first.clone();
        for _ in 0..=REDIRECTS {
            let response = self.ask(first, &url, part).await?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            let to = to.ok_or_else(|| Trouble::Refused("redirects to nowhere".into()))?;
            if !may_follow(first, &to) {
                let to = endpoint::host(&to);
                let why = format!("redirects to {to} without encryption, which is not followed");
                return Err(Trouble::Refused(why));
            }
            url = to;
        }
        Err(Trouble::Refused(format!("redirects more than {REDIRECTS} times")))
    }

    fn address(&self, entry: &CatalogueEntry) -> Result<Url, PullError> {
        let path = format!("{}/resolve/main/{}", entry.repository, entry.file);
        let base = Url::parse(&self.endpoint).ok();
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.filter(|url| url.username().is_empty() && url.password().is_none());
        let base = base.ok_or(PullError::Endpoint)?;
        Ok(endpoint::joined(base, &path.split('/').collect::<Vec<_>>()))
    }

    async fn ask(&self, first: &Url, url: &Url, part: &Part<'_>) -> Result<Response, Trouble> {
        let client = http::client(url, self.connect, self.certificates.as_deref())
            .map_err(|error| Trouble::Refused(format!("cannot be asked: {error}")))?;
        let request = client.get(url.clone()).headers(self.headers(first, url, part)?);
        self.within(request.send()).await.map_err(|trouble| match &trouble {
            Trouble::Refused(why) if endpoint::host(url) != endpoint::host(first) => {
                Trouble::Refused(format!("redirects to {}, which {why}", endpoint::host(url)))
            }
            Trouble::Refused(_) | Trouble::Cut(_) | Trouble::Fatal(_) => trouble,
        })
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
        if let Some(token) = &self.token
            && url.origin() == first.origin()
            && encrypted
        {
            let bearer = format!("Bearer {}", token.reveal().trim());
            let bad = |_| Trouble::Refused("cannot be asked: `HF_TOKEN` is not a token".into());
            let mut value = HeaderValue::try_from(bearer).map_err(bad)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Makes the part fit the response, or refuses the response.
    fn line_up(&self, part: &mut Part<'_>, response: &Response) -> Result<(), Trouble> {
        let refused = |why: String| Err(Trouble::Refused(why));
        let total = match response.status() {
            StatusCode::OK => response.content_length(),
            StatusCode::PARTIAL_CONTENT => match content_range(response) {
                Some((start, total)) if start == part.done() => Some(total),
                _ => return refused("sends another part than requested".into()),
            },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let token = if self.token.is_some() { "rejects the" } else { "requires a" };
                return refused(format!("{token} token (`HF_TOKEN`)"));
            }
            StatusCode::NOT_FOUND => return refused("does not have the file".into()),
            status => return refused(format!("responds with status {}", status.as_u16())),
        };
        match total {
            Some(total) if total == part.total() => {}
            Some(total) => {
                let wanted = part.total();
                return refused(format!("has a file of {total} bytes, not of {wanted}"));
            }
            None => return refused("does not state the size of the file".into()),
        }
        if response.status() == StatusCode::OK && part.done() > 0 {
            // It sends the whole file: it supports no ranges, or its file has changed.
            part.restart()?;
        }
        let validator = response.headers().get(ETAG).and_then(|value| value.to_str().ok());
        part.remember(validator.filter(|value| value.starts_with('"')));
        Ok(())
    }

    async fn within<T>(
        &self,
        future: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, Trouble> {
        match tokio::time::timeout(self.idle, future).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) if error.is_connect() => {
                Err(Trouble::Refused(format!("cannot be reached{}", cause(&error.without_url()))))
            }
            Ok(Err(error)) => {
                Err(Trouble::Cut(format!("broke off{}", cause(&error.without_url()))))
            }
            Err(_) => Err(Trouble::Cut(format!("sent nothing for {:?}", self.idle))),
        }
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

/// The innermost cause, which is the most specific one.
fn cause(error: &reqwest::Error) -> String {
    let mut inner = std::error::Error::source(error);
    let mut words = String::new();
    while let Some(cause) = inner {
        words = format!(": {cause}");
        inner = cause.source();
    }
    Untrusted::new(words).for_terminal_line(200)
}
