//! The proxy: takes connections from inside, judges each, and passes bytes.
//!
//! # Threat
//! Code that floods, stalls or confuses it: it shares a process with the person's session.
//!
//! # Mechanism
//! So many connections at once and no more; the rest wait inside. A head of so many bytes, within
//! so much time. Buffers of a fixed size. Each connection is judged before a byte of it goes out.
//!
//! # Limits
//! The content of a tunnel stays between the code and the host, unless the person allowed a secret
//! for that host: see [`super::opened`].

use super::{
    body,
    gate::{Gate, Refusal},
    head::{self, Body, Request},
    ledger::Traffic,
    opened::{Opener, Tunnel},
    pump::{self, Pulse},
    reach::{Outside, Unreached},
    socks,
    uses::Uses,
};
use interpreter_core::{Admission, egress::Host};
use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    io::{
        AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
        BufReader,
    },
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// How long the end of a client is waited for that was told no.
const LINGER: Duration = Duration::from_secs(2);

/// Bounds of the proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Connections at once.
    pub(super) connections: usize,
    /// How long a client may take to say what it wants.
    pub(super) head: Duration,
    /// How long nothing may move.
    pub(super) silence: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connections: 128, head: Duration::from_secs(10), silence: Duration::from_mins(10) }
    }
}

/// A proxy and what it needs.
#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) gate: Arc<Gate>,
    pub(super) outside: Outside,
    pub(super) bounds: Bounds,
    /// Opens connections to hosts that secrets are allowed for, if there are any.
    pub(super) opener: Option<Arc<Opener>>,
    pub(super) uses: Arc<Uses>,
}

impl Proxy {
    /// Serves until it is dropped. With it all connections end.
    pub(super) async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        loop {
            while connections.len() >= self.bounds.connections {
                connections.join_next().await;
            }
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) => _ = connections.spawn(self.clone().take(stream)),
                // Somebody left before the door opened.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // Most likely no descriptor is left: the end of a connection gives one back.
                Err(_) => {
                    if connections.join_next().await.is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// One connection, from its first byte to its last. Errors end it, which is all they do.
    async fn take(self, stream: TcpStream) {
        _ = self.speak(stream).await.is_ok();
    }

    async fn speak(&self, mut stream: TcpStream) -> io::Result<()> {
        // A kind of protocol shows in its first byte.
        let mut first = [0];
        let head = tokio::time::timeout(self.bounds.head, stream.peek(&mut first)).await;
        match head {
            Ok(Ok(1)) if first[0] == socks::VERSION => self.speak_socks(stream).await,
            Ok(Ok(1)) => self.speak_http(stream).await,
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error),
            Err(_) => stream.shutdown().await,
        }
    }

    async fn speak_socks(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.read_u8().await?;
        let wanted = tokio::time::timeout(self.bounds.head, socks::listen(&mut stream)).await;
        let Some((host, port)) = wanted.map_err(|_| io::ErrorKind::TimedOut)?? else {
            return Ok(());
        };
        let judged = self.gate.judgements();
        match self.connect(&host, port).await {
            Ok((outside, traffic)) => {
                socks::answer(&mut stream, socks::Reply::Connected).await?;
                let tunnel = Box::pin(self.tunnel(stream, outside, (&host, port), &traffic));
                self.while_open((&host, port), judged, tunnel).await
            }
            Err(Unreached::Refused(_)) => {
                socks::answer(&mut stream, socks::Reply::NotAllowed).await
            }
            Err(Unreached::Failed(_)) => {
                socks::answer(&mut stream, socks::Reply::Unreachable).await
            }
        }
    }

    async fn speak_http(&self, stream: TcpStream) -> io::Result<()> {
        let mut stream = BufReader::with_capacity(head::LONGEST, stream);
        let read = tokio::time::timeout(self.bounds.head, read_head(&mut stream)).await;
        let head = match read {
            Ok(Ok(Some(head))) => head,
            Ok(Ok(None)) => return refuse(stream, 431, "the head is too long").await,
            Ok(Err(error)) => return Err(error),
            Err(_) => return refuse(stream, 408, "the head did not arrive in time").await,
        };
        let judged = self.gate.judgements();
        match head::parse(&head) {
            Err(why) => refuse(stream, 400, why).await,
            Ok(Request::Tunnel { host, port }) => match self.connect(&host, port).await {
                Ok((outside, traffic)) => {
                    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
                    let tunnel = Box::pin(self.tunnel(stream, outside, (&host, port), &traffic));
                    self.while_open((&host, port), judged, tunnel).await
                }
                Err(unreached) => answer(stream, unreached).await,
            },
            Ok(Request::Plain { host, port, head, body }) => {
                let opener = self.opener.iter();
                for of in opener.flat_map(|one| one.broker.refused_in_plain(&host, port, &head)) {
                    // The placeholder goes out as it is, and is worthless there.
                    _ = self.uses.record(of).await;
                }
                match self.connect(&host, port).await {
                    Ok((outside, traffic)) => {
                        let request =
                            Box::pin(self.forward(stream, outside, &head, body, &traffic));
                        self.while_open((&host, port), judged, request).await
                    }
                    Err(unreached) => answer(stream, unreached).await,
                }
            }
        }
    }

    /// Serves a connection until it ends, or its host may not be reached any more.
    async fn while_open(
        &self,
        (host, port): (&Host, u16),
        judged: u64,
        connection: impl Future<Output = io::Result<()>>,
    ) -> io::Result<()> {
        tokio::select! {
            // First, so that nothing goes out afterwards.
            biased;
            () = self.gate.closed(host, port, judged) => Ok(()),
            done = connection => done,
        }
    }

    /// Passes bytes both ways; or requests, one by one, if a secret is allowed for the host.
    async fn tunnel(
        &self,
        mut inside: impl AsyncRead + AsyncWrite + Unpin,
        mut outside: TcpStream,
        (host, port): (&Host, u16),
        traffic: &Traffic,
    ) -> io::Result<()> {
        if let Some(opener) = self.opener.as_ref().filter(|opener| opener.opens(host, port)) {
            let (bounds, uses) = (self.bounds, &*self.uses);
            let tunnel = Tunnel { host, port, traffic, bounds, uses };
            return opener.serve(inside, outside, &tunnel).await;
        }
        pump::tunnel(&mut inside, &mut outside, traffic, self.bounds.silence).await;
        Ok(())
    }

    /// One request out, one answer back, and no second request.
    async fn forward(
        &self,
        inside: BufReader<TcpStream>,
        mut outside: TcpStream,
        head: &[u8],
        body: Body,
        traffic: &Traffic,
    ) -> io::Result<()> {
        outside.write_all(head).await?;
        traffic.sent.fetch_add(head.len() as u64, Ordering::Relaxed);
        let pulse = Pulse::default();
        let (mut from_inside, mut to_inside) = tokio::io::split(inside);
        let (mut from_outside, mut to_outside) = outside.split();
        let request = async {
            let mut from_inside = BufReader::new(&mut from_inside);
            let (to, look) = (&mut to_outside, &mut |_: &[u8]| {});
            let sent = body::pass_on(&mut from_inside, to, body, traffic, &pulse, look);
            match sent.await {
                Ok(()) => Ok(()),
                // The host may have answered without waiting for all of it.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                Err(error) => Err(error),
            }
        };
        let response = pump::copy(&mut from_outside, &mut to_inside, &traffic.received, &pulse);
        let both = async {
            tokio::pin!(response);
            tokio::select! {
                done = &mut response => return done,
                sent = request => sent?,
            }
            response.await
        };
        tokio::select! {
            done = both => done,
            () = pulse.silence(self.bounds.silence) => Ok(()),
        }
    }

    /// Judges, connects and notes what came of it.
    async fn connect(
        &self,
        host: &Host,
        port: u16,
    ) -> Result<(TcpStream, Arc<Traffic>), Unreached> {
        if let Err(Refusal(why)) = self.gate.admit(host, port).await {
            self.gate.note(host, port, Admission::Refused, Some(&why));
            return Err(Unreached::Refused(why));
        }
        match self.outside.connect(&self.gate, host, port).await {
            Ok(stream) => {
                // Interactive protocols would wait for more; a stream that cannot be told works.
                _ = stream.set_nodelay(true).is_ok();
                Ok((stream, self.gate.note(host, port, Admission::Allowed, None)))
            }
            Err(unreached) => {
                let (verdict, why) = match &unreached {
                    Unreached::Refused(why) => (Admission::Refused, why),
                    Unreached::Failed(why) => (Admission::Allowed, why),
                };
                self.gate.note(host, port, verdict, Some(why));
                Err(unreached)
            }
        }
    }
}

/// Reads to the empty line and leaves the rest. `None` if it is too long.
pub(super) async fn read_head(
    stream: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<Vec<u8>>> {
    let mut head: Vec<u8> = Vec::new();
    loop {
        let there = stream.fill_buf().await?;
        if there.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (before, length) = (head.len(), there.len());
        head.extend(there);
        if let Some(end) = head::end(&head) {
            stream.consume(end - before);
            head.truncate(end);
            return Ok(Some(head).filter(|head| head.len() <= head::LONGEST));
        }
        stream.consume(length);
        if head.len() > head::LONGEST {
            return Ok(None);
        }
    }
}

async fn answer(stream: BufReader<TcpStream>, unreached: Unreached) -> io::Result<()> {
    match unreached {
        Unreached::Refused(why) => refuse(stream, 403, &why).await,
        Unreached::Failed(why) => refuse(stream, 502, &why).await,
    }
}

/// Says no.
async fn refuse(mut stream: BufReader<TcpStream>, status: u16, why: &str) -> io::Result<()> {
    stream.write_all(refusal(status, why).as_bytes()).await?;
    stream.shutdown().await?;
    linger(&mut stream).await
}

/// The words of a no. The reason stands in the first line too, as most programs show only that.
pub(super) fn refusal(status: u16, why: &str) -> String {
    let plain: String =
        why.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    format!(
        "HTTP/1.1 {status} {plain}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{plain}\n",
        plain.len() + 1
    )
}

/// Reads and discards the rest, so that a reset does not lose the response.
pub(super) async fn linger(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut rest = vec![0; 16 << 10];
    let drain = async {
        while stream.read(&mut rest).await? > 0 {}
        Ok(())
    };
    tokio::time::timeout(LINGER, drain).await.unwrap_or(Ok(()))
}
