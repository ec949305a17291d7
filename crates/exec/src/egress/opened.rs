//! A connection that the proxy opens, because the person allowed a secret for its host.
//!
//! # Threat
//! Code that wants the value to go elsewhere: to another host or by another method, hidden in a
//! second request, by a protocol that is not read here; or that wants to see it come back.
//!
//! # Mechanism
//! Inside, the proxy speaks TLS as the host, by the session's own [`Authority`]. Outside, it speaks
//! TLS with the host, whose certificate must be one that this machine trusts. Between the two it
//! reads HTTP/1.1, one request after another, strictly. A [`Broker`] judges each of them anew, and
//! its uses of secrets are on record before it goes out. A body is read whole first if a field of it
//! may carry a secret; no other is held. Answers are masked.
//!
//! # Limits
//! Programs that bring their own list of certificates cannot connect. Neither HTTP/2 nor other
//! protocols are spoken.

use super::{
    body,
    head::LONGEST,
    inner::{self, InnerRequest},
    issuer::{Authority, PROTOCOL},
    ledger::Traffic,
    proxy::{Bounds, linger, read_head, refusal},
    pump::Pulse,
    response::{self, Response},
    uses::Uses,
};
use interpreter_core::{Broker, Redactor, SecretUse, broker::RequestHead, egress::Host};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use std::{fmt, io, sync::Arc};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, split},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client, server};

/// Answers that may come before the real one.
const MOST_INTERIM: usize = 10;

/// Opens connections.
pub(super) struct Opener {
    pub(super) broker: Arc<Broker>,
    authority: Authority,
    outside: TlsConnector,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opener({:?})", self.broker)
    }
}

/// One opened connection.
pub(super) struct Tunnel<'a> {
    pub(super) host: &'a Host,
    pub(super) port: u16,
    pub(super) traffic: &'a Traffic,
    pub(super) bounds: Bounds,
    pub(super) uses: &'a Uses,
}

/// Whether another request may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Request,
    End,
}

impl Opener {
    /// One for the places of a broker. Hosts must show a certificate that leads to one of `roots`.
    pub(super) fn new(broker: Arc<Broker>, roots: &[CertificateDer<'static>]) -> io::Result<Self> {
        let authority = Authority::new(broker.grants().map(|grant| &grant.host))?;
        let mut store = RootCertStore::empty();
        // One that cannot be read vouches for nobody.
        _ = store.add_parsable_certificates(roots.iter().cloned());
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(store)
            .with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self { broker, authority, outside: TlsConnector::from(Arc::new(config)) })
    }

    /// The certificate that programs inside are to trust.
    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        self.authority.certificate()
    }

    /// Whether connections to this place are opened.
    pub(super) fn opens(&self, host: &Host, port: u16) -> bool {
        self.broker.opens(host, port)
    }

    /// Serves a connection to its end. `outside` leads to the host.
    pub(super) async fn serve(
        &self,
        inside: impl AsyncRead + AsyncWrite + Unpin,
        outside: TcpStream,
        tunnel: &Tunnel<'_>,
    ) -> io::Result<()> {
        let accepting = self.authority.speak_as(tunnel.host)?.accept(inside);
        let inside = tokio::time::timeout(tunnel.bounds.head, accepting).await??;
        if !names(&inside, tunnel.host) {
            return Err(body::wrong("the code named another host"));
        }
        let name = match tunnel.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let connecting = self.outside.connect(name, outside);
        let connected = tokio::time::timeout(tunnel.bounds.head, connecting).await;
        let pulse = Pulse::default();
        let serving = async {
            match connected {
                Ok(Ok(outside)) => self.exchange_all(inside, outside, tunnel, &pulse).await,
                Ok(Err(error)) => refuse_first(inside, &format!("TLS failed: {error}")).await,
                Err(_) => refuse_first(inside, "TLS took too long").await,
            }
        };
        tokio::select! {
            done = serving => done,
            () = pulse.silence(tunnel.bounds.silence) => Ok(()),
        }
    }

    async fn exchange_all(
        &self,
        inside: server::TlsStream<impl AsyncRead + AsyncWrite + Unpin>,
        outside: client::TlsStream<TcpStream>,
        tunnel: &Tunnel<'_>,
        pulse: &Pulse,
    ) -> io::Result<()> {
        let (from_inside, mut to_inside) = split(inside);
        let (from_outside, mut to_outside) = split(outside);
        let mut from_inside = BufReader::with_capacity(LONGEST, from_inside);
        let mut from_outside = BufReader::with_capacity(LONGEST, from_outside);
        loop {
            tokio::select! {
                ended = ended(&mut from_inside) => if ended? {
                    break;
                },
                // The host has left, or says something that nobody asked for.
                _ = from_outside.fill_buf() => break,
            }
            pulse.beat();
            let head = tokio::time::timeout(tunnel.bounds.head, read_head(&mut from_inside)).await;
            let refused = match head {
                Ok(Ok(Some(head))) => match inner::parse(&head, tunnel.host, tunnel.port) {
                    Ok(request) => {
                        let inside = (&mut from_inside, &mut to_inside);
                        let outside = (&mut from_outside, &mut to_outside);
                        match self.exchange(&request, inside, outside, tunnel, pulse).await? {
                            Ok(Next::Request) => continue,
                            Ok(Next::End) => break,
                            Err((status, why)) => (status, why),
                        }
                    }
                    Err(why) => (400, why),
                },
                Ok(Ok(None)) => (431, "the head is too long"),
                Ok(Err(error)) => return Err(error),
                Err(_) => (408, "the head did not arrive in time"),
            };
            let (status, why) = refused;
            to_inside.write_all(refusal(status, why).as_bytes()).await?;
            to_inside.shutdown().await?;
            return linger(&mut from_inside).await;
        }
        _ = to_outside.shutdown().await.is_ok();
        to_inside.shutdown().await
    }

    /// One request out and one answer back; or the words that the code gets instead.
    async fn exchange(
        &self,
        request: &InnerRequest,
        (from_inside, to_inside): (
            &mut (impl AsyncBufRead + Unpin),
            &mut (impl AsyncWrite + Unpin),
        ),
        (from_outside, to_outside): (
            &mut (impl AsyncBufRead + Unpin),
            &mut (impl AsyncWrite + Unpin),
        ),
        tunnel: &Tunnel<'_>,
        pulse: &Pulse,
    ) -> io::Result<Result<Next, (u16, &'static str)>> {
        let Tunnel { host, port, traffic, uses, .. } = *tunnel;
        let judged = RequestHead {
            host,
            port,
            method: &request.method,
            target: &request.target,
            headers: &request.headers,
            body: request.length(),
        };
        let counted = (traffic, pulse);
        let whole = self.read_first(&judged, request, from_inside, to_inside, counted).await?;
        let is_read = whole.is_some();
        let filled = self.broker.fill(&judged, whole);
        // On record, and only then out.
        for of in filled.uses {
            if let Err(why) = uses.record(of).await {
                return Ok(Err((403, why)));
            }
        }
        let length = filled.body.as_ref().map(Vec::len);
        to_outside.write_all(&request.head(host, port, &filled.headers, length)).await?;
        to_outside.flush().await?;
        if !is_read {
            request.go_on(to_inside).await?;
        }
        let mut watch =
            BodyWatch { broker: &self.broker, request: judged, tail: vec![], found: vec![] };
        let (next, sent) = {
            let sending = async {
                let mut look = |piece: &[u8]| watch.look(piece);
                match (&filled.body, request.body) {
                    (Some(whole), _) => to_outside.write_all(whole).await?,
                    (None, body) => {
                        body::pass_on(from_inside, to_outside, body, traffic, pulse, &mut look)
                            .await?;
                    }
                }
                to_outside.flush().await
            };
            let values = self.broker.values(host, port);
            let answering = self.answer(request, &values, from_outside, to_inside, counted);
            tokio::pin!(sending, answering);
            let mut sent = false;
            loop {
                tokio::select! {
                    done = &mut sending, if !sent => match done {
                        Ok(()) => sent = true,
                        // The host may have answered without waiting for all of it.
                        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                            break (answering.await?, false);
                        }
                        Err(error) => return Err(error),
                    },
                    done = &mut answering => break (done?, sent),
                }
            }
        };
        for of in watch.found {
            // The placeholder went out as it is, and is worthless there.
            _ = uses.record(of).await;
        }
        Ok(next.map(|next| if sent { next } else { Next::End }))
    }

    /// Reads a body whose field may carry a secret, before anything goes out.
    async fn read_first(
        &self,
        judged: &RequestHead<'_>,
        request: &InnerRequest,
        from_inside: &mut (impl AsyncBufRead + Unpin),
        to_inside: &mut (impl AsyncWrite + Unpin),
        (traffic, pulse): (&Traffic, &Pulse),
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(length) = request.length().filter(|_| self.broker.reads_body(judged)) else {
            return Ok(None);
        };
        request.go_on(to_inside).await?;
        body::read_whole(from_inside, length, traffic, pulse).await.map(Some)
    }

    /// Passes an answer on; or says why it is withheld.
    async fn answer(
        &self,
        request: &InnerRequest,
        values: &Redactor,
        from_outside: &mut (impl AsyncBufRead + Unpin),
        to_inside: &mut (impl AsyncWrite + Unpin),
        (traffic, pulse): (&Traffic, &Pulse),
    ) -> io::Result<Result<Next, (u16, &'static str)>> {
        for _ in 0..MOST_INTERIM {
            let Some(head) = read_head(from_outside).await? else {
                return Ok(Err((502, "the head of the answer is too long")));
            };
            pulse.beat();
            let parsed = response::parse(&head, &request.method, request.closes, values);
            let Response { status, head, ends, closes } = match parsed {
                Ok(response) => response,
                Err(why) => return Ok(Err((502, why))),
            };
            // The code has been told to go on.
            if (100..200).contains(&status) {
                continue;
            }
            to_inside.write_all(&head).await?;
            to_inside.flush().await?;
            response::pass_on(from_outside, to_inside, ends, values, (traffic, pulse)).await?;
            return Ok(Ok(if closes { Next::End } else { Next::Request }));
        }
        Ok(Err((502, "no answer follows")))
    }
}

/// Looks for placeholders in a body.
struct BodyWatch<'a> {
    broker: &'a Broker,
    request: RequestHead<'a>,
    /// The end of what was seen: a placeholder may be cut in two.
    tail: Vec<u8>,
    found: Vec<SecretUse>,
}

impl BodyWatch<'_> {
    fn look(&mut self, piece: &[u8]) {
        let keep = self.broker.longest_placeholder().saturating_sub(1);
        self.tail.extend_from_slice(piece);
        for of in self.broker.refused_in_body(&self.request, &self.tail) {
            if !self.found.contains(&of) {
                self.found.push(of);
            }
        }
        let from = self.tail.len().saturating_sub(keep);
        self.tail.drain(..from);
    }
}

/// Whether nothing more comes.
async fn ended(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<bool> {
    Ok(from.fill_buf().await?.is_empty())
}

/// Whether the code speaks to the host that the connection leads to, as far as it names one.
fn names<S>(inside: &server::TlsStream<S>, host: &Host) -> bool {
    let named = inside.get_ref().1.server_name();
    named.is_none_or(|named| named.parse::<Host>().is_ok_and(|named| named == *host))
}

/// Reads a request and says why it cannot be passed on.
async fn refuse_first(
    inside: server::TlsStream<impl AsyncRead + AsyncWrite + Unpin>,
    why: &str,
) -> io::Result<()> {
    let mut inside = BufReader::with_capacity(LONGEST, inside);
    read_head(&mut inside).await?;
    inside.write_all(refusal(502, why).as_bytes()).await?;
    inside.shutdown().await?;
    linger(&mut inside).await
}
