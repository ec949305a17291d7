//! Listens, and gives every connection a place, a guard against stalls and a task of its own.
//!
//! Must not look at requests: that is [`connection`](super::connection)'s.

use super::{
    connection::{Connection, Shared},
    figures::Figures,
    logins::Logins,
    notices::{Notices, ServerNotice},
    oidc::ProviderDoor,
    options::{HttpError, HttpOptions, Reached},
    page_files::PageFiles,
    passwords::PasswordDoor,
    seats::Seats,
    stalling::Stalling,
    token_watch,
};
use crate::{Caller, RightSet, Service};
use interpreter_store::{KeptTokens, KeptUsers};
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// How long a handshake of TLS may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long connections have to end when the server does.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long to wait for a connection to end when no more can be accepted.
const BREATH: Duration = Duration::from_secs(1);

/// A server that listens.
pub struct HttpServer<S> {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared<S>>,
}

impl<S> fmt::Debug for HttpServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl<S: Service> HttpServer<S> {
    /// Listens. Nothing is answered before [`HttpServer::run`].
    pub async fn bind(
        options: HttpOptions,
        service: Arc<S>,
    ) -> Result<(Self, mpsc::Receiver<ServerNotice>), HttpError> {
        options.check()?;
        let HttpOptions { address, port, .. } = options;
        let failed = |source| HttpError::Listen { address, port, source };
        let listener = TcpListener::bind((address, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let reached = options.reached(address.port())?;
        let Reached { names, tls, origin, cookie, is_secure, proxy } = reached;
        let (notices, receiver) = Notices::new();
        let users = service.is_team().then(|| KeptUsers::new(&options.folders));
        let provider = users.clone().zip(options.provider);
        let provider = provider
            .map(|(users, provider)| ProviderDoor::new(provider, users, Instant::now()))
            .transpose()?;
        let people = users.map(|users| PasswordDoor::new(users, Instant::now()));
        let shared = Arc::new(Shared {
            service,
            address,
            names,
            origin,
            program_cookie: format!("{cookie}-programs"),
            cookie,
            is_secure,
            proxy,
            logins: Mutex::new(Logins::default()),
            tokens: KeptTokens::new(&options.folders),
            people,
            provider,
            failures: Mutex::default(),
            refusals: Mutex::default(),
            seats: Seats::default(),
            figures: Figures::new(Instant::now()),
            files: PageFiles::new(),
            notices,
            is_logged: options.is_logged,
            conversations: Arc::default(),
            kernels: Arc::default(),
        });
        Ok((Self { listener, tls, shared }, receiver))
    }

    /// Makes links and tokens, also while the server runs.
    pub fn doorkeeper(&self) -> Doorkeeper<S> {
        Doorkeeper(Arc::clone(&self.shared))
    }

    /// Serves until `stop`, then ends every connection in order.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, tls, shared } = self;
        let (stopping, stopped) = watch::channel(());
        let mut connections = JoinSet::new();
        let revoked = || {
            shared.logins.lock().unwrap_or_else(PoisonError::into_inner).drop_gone();
            shared.service.people_changed();
        };
        let people = shared.people.as_ref().and_then(PasswordDoor::folder);
        let watched: Vec<_> = shared.tokens.make_folder().into_iter().chain(people).collect();
        let tokens = token_watch::follow(&watched, revoked);
        tokio::pin!(stop, tokens);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = &mut tokens => {}
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let arrived = Arrived {
                            stream,
                            peer: peer.ip(),
                            tls: tls.clone(),
                            stopped: stopped.clone(),
                        };
                        connections.spawn(arrived.serve(Arc::clone(&shared)));
                    }
                    // There are no descriptors left: one comes free when a connection ends.
                    Err(_) => _ = timeout(BREATH, connections.join_next()).await,
                }
            }
        }
        drop(listener);
        drop(stopping);
        _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// Lets people and scripts in.
pub struct Doorkeeper<S>(Arc<Shared<S>>);

impl<S> Doorkeeper<S> {
    /// A link that works once, within a minute.
    pub fn new_link(&self) -> Result<String, HttpError> {
        let mut logins = self.0.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let code = logins.new_code(Instant::now())?;
        Ok(format!("{}/#{}", self.0.origin, code.text()))
    }

    /// A token with every right, which lasts as long as the server, for the program that started it.
    pub fn new_token(&self) -> Result<String, HttpError> {
        let mut logins = self.0.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = Caller::operator("script", RightSet::all());
        Ok(logins.new_token(caller, Instant::now())?.into_text())
    }

    /// The address and port that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }
}

impl<S> fmt::Debug for Doorkeeper<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Doorkeeper").field(&self.0.origin).finish()
    }
}

/// A connection that was accepted.
struct Arrived {
    stream: TcpStream,
    peer: IpAddr,
    tls: Option<TlsAcceptor>,
    stopped: watch::Receiver<()>,
}

impl Arrived {
    async fn serve<S: Service>(self, shared: Arc<Shared<S>>) {
        let Self { stream, peer, tls, stopped } = self;
        if shared.proxy.is_some_and(|proxy| !proxy.is(peer)) {
            return;
        }
        // Small messages go at once; if that cannot be had, they come a little later.
        _ = stream.set_nodelay(true);
        let seat = Arc::new(shared.seats.take(peer));
        let connection = Connection { shared, peer, seat, stopped };
        let stream = Stalling::new(stream);
        match tls {
            None => connection.serve(stream).await,
            Some(tls) => {
                let seat = Arc::clone(&connection.seat);
                let accepted = tokio::select! {
                    accepted = timeout(HANDSHAKE, tls.accept(stream)) => accepted,
                    () = seat.must_leave() => return,
                };
                if let Ok(Ok(stream)) = accepted {
                    connection.serve(stream).await;
                }
            }
        }
    }
}
