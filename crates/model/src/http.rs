//! The one place where a model is reached over the network.
//!
//! # Threat
//! A key that travels further than to its owner; a server that never ends, never answers, or
//! answers with more than memory holds.
//!
//! # Mechanism
//! Redirects are not followed: the client would send the key along. The key's header is marked
//! sensitive, so no debug output shows it, and errors lose their URL and every copy of the key.
//! Connecting, the first byte and each following one have separate time limits; the bytes of a
//! reply, of an event and of an error are counted. This machine's own servers are contacted
//! directly: a proxy for the outside must not see these conversations, and `localhost` is this
//! machine whatever a name server says. Temporary failures are retried, but never after part of a
//! reply was shown.
//!
//! # Order
//! Every piece is in the sink before the error that follows it is returned.
//!
//! # Limits
//! Over plain `http://` anyone on the way can read the conversation; `in_the_clear.rs` keeps keys from
//! going that way. A server that sends a word now and
//! then is listened to for as long as the byte limit lasts; dropping the future ends it.

use crate::{
    Endpoint, Headway, KeyHeader, ModelError, Request, Wait,
    complaint::{Asked, Complaint, retry_after},
    endpoint::{host, is_local},
    fault::Fault,
    format::{self, Reading},
    in_the_clear, retry,
    sink::Sink,
};
use interpreter_core::{Reply, Untrusted};
use reqwest::{
    Certificate, Client, ClientBuilder, Response, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
    redirect::Policy,
};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    ops::Deref,
    sync::Once,
    time::Duration,
};
use tokio::time::Instant;

pub use self::list::list_models;

mod list;

/// The most bytes of one streamed reply, envelopes included: they are many times the text.
const RESPONSE_BYTES: usize = 256 << 20;

/// The most bytes that are read of an answer that is not a reply.
const COMPLAINT_BYTES: usize = 64 << 10;

/// A model behind an address.
#[derive(Debug)]
pub(crate) struct Remote {
    endpoint: Endpoint,
    client: Client,
    url: Url,
    host: String,
}

impl Remote {
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let url = format::url(endpoint.format, endpoint.url()?, &endpoint.model);
        let host = host(&url);
        if endpoint.offline && !is_local(&url) {
            return Err(ModelError::Offline { host });
        }
        in_the_clear::check(&endpoint, &url)?;
        let certificates = endpoint.certificates.as_deref();
        let client = client(&url, endpoint.timeouts.connect, certificates)?;
        Ok(Self { endpoint, client, url, host })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// That its key goes out in the clear, and why, if it does.
    pub(crate) fn in_the_clear(&self) -> Option<String> {
        in_the_clear::told(&self.endpoint, &self.url)
    }

    /// Whether it runs on this machine.
    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.url)
    }

    /// Asks, again where that may help, and reads the answer to its end. Once something of a
    /// reply has been shown, nothing is asked again.
    pub(crate) async fn stream(
        &self,
        request: &Request,
        sink: &Sink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut tries = 0;
        loop {
            self.wait_for_turn(sink).await;
            sink.report(Headway::Asked { host: self.host.clone() }).await;
            let error = match self.attempt(request, sink).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let again = retry::wait(&error, tries, &self.endpoint.retries, retry::chance());
            let Some(wait) = again.filter(|_| !sink.has_begun()) else { return Err(error) };
            tries += 1;
            sink.tell(format!("{error}; trying again in {}", in_seconds(wait))).await;
            let seconds = wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX);
            sink.report(Headway::Retrying { host: self.host.clone(), seconds }).await;
            tokio::time::sleep(wait).await;
        }
    }

    /// Waits until the person's own limit of calls allows another.
    async fn wait_for_turn(&self, sink: &Sink<'_>) {
        let Some(pace) = &self.endpoint.pace else { return };
        while let Err(wait) = pace.take() {
            let seconds = in_seconds(wait);
            sink.tell(format!("waiting {seconds}, as `requests_per_minute` has it")).await;
            tokio::time::sleep(wait).await;
        }
    }

    /// Asks once.
    async fn attempt(&self, request: &Request, sink: &Sink<'_>) -> Result<Reply, ModelError> {
        let mut patience = Patience {
            until: Instant::now() + self.endpoint.timeouts.first_byte,
            length: self.endpoint.timeouts.first_byte,
            waiting_for: Wait::FirstByte,
        };
        let body = format::request(request, &self.endpoint).to_string();
        let sent = self.client.post(self.url.clone()).headers(self.headers()?).body(body).send();
        let response = self.within(&patience, sent).await?.map_err(|error| self.unsent(error))?;
        if response.status() != StatusCode::OK || !self.is_stream(&response) {
            return Err(self.refusal(response, &mut patience).await);
        }
        self.read(response, &mut patience, sink).await
    }

    /// The error of a request that was not answered.
    fn unsent(&self, error: reqwest::Error) -> ModelError {
        let (host, source) = (self.host.clone(), error.without_url());
        if source.is_connect() {
            let start = self.endpoint.start.clone();
            ModelError::Unreachable { host, start, source }
        } else {
            ModelError::Broken { host, source: Some(source) }
        }
    }

    async fn read(
        &self,
        mut response: Response,
        patience: &mut Patience,
        sink: &Sink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut reading = Reading::new(self.endpoint.format);
        let mut received = 0_usize;
        let mut last_word = Instant::now();
        let failure = loop {
            let chunk = match self.chunk(&mut response, patience).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break None,
                Err(error) => break Some(error),
            };
            received += chunk.len();
            if received > RESPONSE_BYTES {
                let place = "in one response";
                return Err(self.fault(Fault::TooLarge { limit: RESPONSE_BYTES, place }));
            }
            let fed = reading.feed(&chunk);
            let pieces = reading.take_pieces();
            let now = Instant::now();
            if !pieces.is_empty() {
                last_word = now;
            } else if now.duration_since(last_word) > self.endpoint.timeouts.wordless {
                break Some(self.timed_out(Wait::Words, self.endpoint.timeouts.wordless));
            }
            sink.show(pieces).await;
            fed.map_err(|fault| self.fault(fault))?;
            if reading.is_done() {
                break None;
            }
        };
        // A server that has said how the reply ends and then hangs or hangs up has lost us
        // nothing.
        if let Some(error) = failure
            && !reading.has_finish()
        {
            return Err(error);
        }
        let (pieces, reply) = reading.finish();
        sink.show(pieces).await;
        reply.map(|reply| self.priced(reply)).map_err(|fault| self.fault(fault))
    }

    /// With what it cost by the known prices, where the provider does not say.
    fn priced(&self, mut reply: Reply) -> Reply {
        if let (Some(usage), Some(price)) = (&mut reply.usage, &self.endpoint.price) {
            let cost = usage.nano_dollars.unwrap_or_else(|| price.nano_dollars(usage));
            usage.nano_dollars = Some(cost);
        }
        reply
    }

    /// Whether an answer claims to be a stream of our format; one that claims nothing may be.
    fn is_stream(&self, response: &Response) -> bool {
        let Some(content_type) = response.headers().get(CONTENT_TYPE) else { return true };
        let essence = content_type.to_str().unwrap_or_default().split(';').next();
        let essence = essence.unwrap_or_default().trim().to_ascii_lowercase();
        format::is_content_type(self.endpoint.format, &essence)
    }

    /// The next bytes, or nothing at the end.
    async fn chunk(
        &self,
        response: &mut Response,
        patience: &mut Patience,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, ModelError> {
        let chunk = self.within(patience, response.chunk()).await?.map_err(|error| {
            ModelError::Broken { host: self.host.clone(), source: Some(error.without_url()) }
        })?;
        let idle = self.endpoint.timeouts.idle;
        *patience =
            Patience { until: Instant::now() + idle, length: idle, waiting_for: Wait::NextByte };
        Ok(chunk)
    }

    async fn within<T>(
        &self,
        patience: &Patience,
        future: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        tokio::time::timeout_at(patience.until, future)
            .await
            .map_err(|_| self.timed_out(patience.waiting_for, patience.length))
    }

    fn timed_out(&self, waiting_for: Wait, after: Duration) -> ModelError {
        ModelError::TimedOut { host: self.host.clone(), waiting_for, after }
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        for (name, value) in format::headers(self.endpoint.format) {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers.extend(self.endpoint.headers.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
            .insert(ACCEPT, HeaderValue::from_static(format::content_type(self.endpoint.format)));
        // Keys come from files and variables, often with the line's end.
        let key = self.endpoint.key.as_ref().map(|key| key.reveal().trim());
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            let KeyHeader { name, scheme } = &self.endpoint.key_header;
            let bad = || ModelError::BadKey { host: self.host.clone() };
            let name = HeaderName::try_from(name).map_err(|_| bad())?;
            let value = if scheme.is_empty() { key.to_owned() } else { format!("{scheme} {key}") };
            let mut value = HeaderValue::try_from(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The error for an answer that is not a reply.
    async fn refusal(&self, mut response: Response, patience: &mut Patience) -> ModelError {
        let status = response.status();
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if status.is_redirection() {
            let to = header(LOCATION.as_str()).and_then(|to| self.url.join(to).ok());
            return ModelError::Redirected {
                host: self.host.clone(),
                to: to.as_ref().map(crate::endpoint::host),
            };
        }
        let wait = retry_after(header);
        let content_type = header(CONTENT_TYPE.as_str()).unwrap_or("no content type").to_owned();

        let mut body = Vec::new();
        // The server's text helps; a failure to read more of it is not the error to report.
        while let Ok(Some(chunk)) = self.chunk(&mut response, patience).await {
            let room = COMPLAINT_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == COMPLAINT_BYTES {
                break;
            }
        }
        if status != StatusCode::OK {
            let complaint = Complaint::in_body(&body);
            return self.asked().error(&complaint, Some(status.as_u16()), wait);
        }
        match serde_json::from_slice(&body).ok().as_ref().and_then(Complaint::in_json) {
            Some(complaint) => self.asked().error(&complaint, None, wait),
            None => ModelError::NotAStream {
                host: self.host.clone(),
                content_type: Untrusted::new(content_type),
                said: self.asked().said(String::from_utf8_lossy(&body).trim()),
            },
        }
    }

    fn fault(&self, fault: Fault) -> ModelError {
        let host = self.host.clone();
        match fault {
            Fault::Broken => ModelError::Broken { host, source: None },
            Fault::Malformed(problem) => ModelError::Malformed { host, problem },
            Fault::TooLarge { limit, place } => ModelError::TooLarge { host, limit, place },
            Fault::Complaint(complaint) => self.asked().error(&complaint, None, None),
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            host: &self.host,
            model: &self.endpoint.model,
            key: self.endpoint.key.as_ref(),
            variables: &self.endpoint.key_variables,
        }
    }
}

/// The whole body of an answer, or `None` if it is longer than `most` bytes.
pub(crate) async fn bounded(
    response: &mut Response,
    most: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// How long the next wait may be.
struct Patience {
    until: Instant,
    length: Duration,
    waiting_for: Wait,
}

/// The client for the host of an address, with certificates in the PEM form beside the system's own.
pub(crate) fn client(
    url: &Url,
    connect: Duration,
    certificates: Option<&[u8]>,
) -> Result<Client, ModelError> {
    let mut builder = builder(url, connect);
    if let Some(pem) = certificates.filter(|_| url.scheme() == "https") {
        let certificates = Certificate::from_pem_bundle(pem).map_err(|source| {
            ModelError::Certificates { host: host(url), source: source.without_url() }
        })?;
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|source| ModelError::Client { host: host(url), source })
}

/// Settings of every client: no redirects, no proxy for this machine, and no name that pretends to
/// be it.
pub(crate) fn builder(url: &Url, connect: Duration) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that the process has chosen one already, which serves as well.
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    let mut builder = Client::builder()
        .user_agent(concat!("interpreter/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .connect_timeout(connect);
    if is_local(url) {
        builder = builder.no_proxy();
        if let Some(name) = url.domain() {
            // Whatever a file or a name server says of it. The port is the URL's.
            let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
            let addresses = loopback.map(|address| SocketAddr::new(address, 0));
            builder = builder.resolve_to_addrs(name, &addresses);
        }
        if url.scheme() == "http" {
            // No certificate is ever looked at, so a machine without any can use a model of its
            // own, and loading them costs nothing.
            builder = builder.tls_certs_only([]);
        }
    }
    builder
}

fn in_seconds(wait: Duration) -> String {
    format!("{:.1} s", wait.as_secs_f64())
}
