//! One connection: reads requests, asks the gate, and answers.
//!
//! # Threat
//! Heads that never end, bodies that are longer than they say, answers that nobody reads.
//!
//! # Mechanism
//! A head has a size and a time, and so has the wait for the next one. A body is read only after the
//! gate has let its head pass, within the bounds of its route. Every refusal ends the connection.

use super::{
    answers::{self, Answered},
    api,
    failures::Failures,
    figures::{Figures, Present},
    gate::{Admitted, GateKeeper, HttpHead, SEC_FETCH_DEST, bearer, one, shows_key},
    host_names::HostNames,
    jupyter::{self, JupyterCall},
    kept_tokens::LookUp,
    logins::{Known, Logins},
    notices::{Notices, ServerNotice},
    oidc::ProviderDoor,
    openai,
    options::ProxyPeer,
    page_files::PageFiles,
    passwords::PasswordDoor,
    proxied::client_address,
    refusal::HttpRefusal,
    routes::{self, Handler, RouteRule},
    seats::{Seat, SeatOwner, Seats},
    sent_files,
    shown_results::WantedResult,
    upgraded::{Beginning, Speech},
    web_socket::handshake,
};
use crate::{Right, Service};
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Limited};
use hyper::{
    Request, body::Incoming, header::IF_NONE_MATCH, server::conn::http1, service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use interpreter_store::KeptTokens;
use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::timeout,
};

/// How long a head may take, and how long a connection may wait for the next one.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a body may take where the answer may take longer.
const BODY_TIME: Duration = Duration::from_mins(2);

/// Bytes of a head.
const MOST_OF_A_HEAD: usize = 16 << 10;

/// Fields of a head.
const MOST_FIELDS: usize = 64;

/// Bytes that are held of a connection.
const MOST_HELD: usize = 64 << 10;

/// Everything that all connections share.
pub(super) struct Shared<S> {
    pub(super) service: Arc<S>,
    /// Where the server listens.
    pub(super) address: SocketAddr,
    pub(super) names: HostNames,
    pub(super) origin: String,
    pub(super) cookie: String,
    pub(super) program_cookie: String,
    pub(super) is_secure: bool,
    pub(super) proxy: Option<ProxyPeer>,
    pub(super) logins: Mutex<Logins>,
    pub(super) tokens: KeptTokens,
    /// The door for people with a name and a password, in a team.
    pub(super) people: Option<PasswordDoor>,
    /// The door for people of a login provider, in a team that has one.
    pub(super) provider: Option<ProviderDoor>,
    pub(super) failures: Mutex<Failures>,
    /// Logins through a provider that were refused: they keep no wrong link out of the log.
    pub(super) refusals: Mutex<Failures>,
    pub(super) seats: Seats,
    pub(super) figures: Figures,
    pub(super) files: PageFiles,
    pub(super) notices: Notices,
    pub(super) is_logged: bool,
    /// Conversations of clients that are made for `OpenAI`.
    pub(super) conversations: Arc<openai::Conversations>,
    /// Kernels of clients that are made for Jupyter.
    pub(super) kernels: Arc<jupyter::Kernels>,
}

/// One connection.
pub(super) struct Connection<S> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) peer: IpAddr,
    pub(super) seat: Arc<Seat>,
    /// Fails to wait for more when the server ends.
    pub(super) stopped: watch::Receiver<()>,
}

/// A request that is being answered.
pub(super) struct Asked<'a, S> {
    pub(super) shared: &'a Shared<S>,
    seat: &'a Seat,
    pub(super) client: IpAddr,
    beginning: &'a Mutex<Option<Beginning>>,
    stopped: &'a watch::Receiver<()>,
}

impl<S: Service> Connection<S> {
    /// Serves requests until the connection ends, and then its WebSocket if it became one.
    pub(super) async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { shared, peer, seat, mut stopped } = self;
        let beginning = Mutex::new(None);
        let stop = stopped.clone();
        let answer = |request: Request<Incoming>| {
            let asked = Asked {
                shared: &*shared,
                seat: &seat,
                client: client_address(shared.proxy, peer, request.headers()),
                beginning: &beginning,
                stopped: &stop,
            };
            async move { Ok::<_, Infallible>(asked.answer(request).await) }
        };
        {
            let requests = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_header_size(MOST_OF_A_HEAD)
                .max_headers(MOST_FIELDS)
                .max_buf_size(MOST_HELD)
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .with_upgrades();
            tokio::pin!(requests);
            tokio::select! {
                // Whatever broke, the connection has ended.
                _ = &mut requests => {}
                () = seat.must_leave() => return,
                _ = stopped.changed() => {
                    requests.as_mut().graceful_shutdown();
                    _ = requests.await;
                }
            }
        }
        let begun = lock(&beginning).take();
        if let Some(begun) = begun {
            begun.serve(&shared, &mut stopped).await;
        }
    }
}

impl<S: Service> Asked<'_, S> {
    async fn answer(&self, mut request: Request<Incoming>) -> Answered {
        let began = Instant::now();
        let admitted = self.admit(&request, began).await;
        if matches!(admitted, Err(HttpRefusal::NotLoggedIn)) && shows_key(request.headers()) {
            self.wrong_key();
        }
        let known = admitted.as_ref().ok().and_then(|admitted| admitted.known.as_ref());
        let who = known.map(|known| known.caller.name.clone());
        // For the log and the figures, also where the gate refused it.
        let is_page_file = |name: &str| self.shared.files.find(name).is_some();
        let rule = routes::find(request.method().as_str(), request.uri().path(), is_page_file);
        let answer = match admitted {
            Ok(Admitted { rule, known }) => {
                match timeout(rule.time, self.handle(rule, known, &mut request)).await {
                    Ok(answered) => answered,
                    Err(_) => Err(HttpRefusal::TooLate),
                }
            }
            Err(refusal) => Err(refusal),
        };
        let answer = answer.unwrap_or_else(|refusal| match rule.map(|rule| rule.handler) {
            Some(Handler::OpenAi(_)) => answers::refused_as(refusal, &openai::refused(refusal)),
            Some(Handler::Jupyter(_)) => answers::refused_as(refusal, &jupyter::refused(refusal)),
            Some(_) | None => answers::refused(refusal),
        });
        let status = answer.status().as_u16();
        self.shared.figures.count(rule, status);
        if self.shared.is_logged {
            let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.shared.notices.say(ServerNotice::Request {
                peer: self.client,
                who,
                method: rule.map(|rule| rule.method),
                route: rule.map(|rule| rule.path.written()),
                status,
                milliseconds,
            });
        }
        answer
    }

    /// Asks the gate, and moves a caller who has logged in to the places reserved for those.
    async fn admit(
        &self,
        request: &Request<Incoming>,
        now: Instant,
    ) -> Result<Admitted, HttpRefusal> {
        let head = HttpHead {
            method: request.method(),
            uri: request.uri(),
            version: request.version(),
            headers: request.headers(),
        };
        let gate = GateKeeper {
            names: &self.shared.names,
            cookie: &self.shared.cookie,
            program_cookie: &self.shared.program_cookie,
            is_page_file: |name: &str| self.shared.files.find(name).is_some(),
        };
        let rule = gate.screen(head)?;
        if let Some(token) = bearer(rule, request.headers()) {
            timeout(rule.time, self.look_up(token, now)).await.map_err(|_| HttpRefusal::TooLate)?;
        }
        let mut logins = lock(&self.shared.logins);
        let admitted = gate.decide(head, &logins, now)?;
        if let Some(known) = admitted.known.as_ref().filter(|known| known.is_gone()) {
            // Another program has revoked it, and the news of that is on its way.
            logins.end(known.pass);
            return Err(HttpRefusal::NotLoggedIn);
        }
        if let Some(known) = &admitted.known {
            logins.touch(known.pass, now);
            if !self.seat.promote(SeatOwner::of(&known.caller)) {
                return Err(HttpRefusal::Full);
            }
        }
        Ok(admitted)
    }

    /// Finds out about a token that is kept on the disk, while others are served.
    pub(super) async fn look_up(&self, token: &str, now: Instant) {
        let wanted = LookUp::of(token, &lock(&self.shared.logins), now);
        let Some(wanted) = wanted else { return };
        let tokens = self.shared.tokens.clone();
        let looked_up = tokio::task::spawn_blocking(move || wanted.perform(&tokens, now)).await;
        if let Ok(looked_up) = looked_up {
            looked_up.note(&mut lock(&self.shared.logins), now);
        }
    }

    async fn handle(
        &self,
        rule: &'static RouteRule,
        known: Option<Known>,
        request: &mut Request<Incoming>,
    ) -> Result<Answered, HttpRefusal> {
        // The gate has seen to it that whoever needs a login has one.
        let known = move || known.ok_or(HttpRefusal::NotLoggedIn);
        match rule.handler {
            Handler::Page => Ok(answers::page_file(self.shared.files.index(), tag(request))),
            Handler::PageFile => {
                let name = request.uri().path().trim_start_matches('/');
                let file = self.shared.files.find(name).ok_or(HttpRefusal::Unknown)?;
                Ok(answers::page_file(file, tag(request)))
            }
            Handler::Health => Ok(answers::text("ok\n")),
            Handler::LoginWays => Ok(self.login_ways()),
            Handler::Login => {
                let given = body(request, rule).await?;
                self.log_in(&given, request.headers()).await
            }
            Handler::ProviderLogin => self.go_to_provider(request.headers()).await,
            Handler::ProviderReturn => {
                let query = request.uri().query().unwrap_or_default();
                self.come_back(query, request.headers()).await
            }
            Handler::Logout => Ok(self.log_out(&known()?)),
            Handler::Socket => self.begin_socket(known()?, Speech::Protocol, request),
            Handler::Perform => self.perform(known()?, body(request, rule).await?).await,
            Handler::ShownResult => self.show_result(&known()?, request).await,
            Handler::Figures => self.figures(&known()?),
            Handler::Upload => {
                sent_files::upload(&*self.shared.service, known()?, rule, request).await
            }
            Handler::Download => {
                let service = &*self.shared.service;
                sent_files::download(service, known()?, rule, request.uri()).await
            }
            Handler::Api(call) => {
                let asked = api::ApiHttp {
                    rule,
                    body: body(request, rule).await?,
                    uri: request.uri(),
                    headers: request.headers(),
                    stopped: self.stopped.clone(),
                };
                api::answer(&self.shared.service, known()?, call, asked).await
            }
            Handler::OpenAi(call) => {
                let read = timeout(BODY_TIME, body(request, rule)).await;
                let asked = openai::OpenAiHttp {
                    call,
                    body: read.map_err(|_| HttpRefusal::TooLate)??,
                    origin: &self.shared.origin,
                    conversations: &self.shared.conversations,
                    stopped: self.stopped.clone(),
                };
                openai::answer(&self.shared.service, known()?, asked).await
            }
            Handler::Jupyter(call) => self.as_jupyter(call, rule, known().ok(), request).await,
        }
    }

    async fn as_jupyter(
        &self,
        call: JupyterCall,
        rule: &'static RouteRule,
        known: Option<Known>,
        request: &mut Request<Incoming>,
    ) -> Result<Answered, HttpRefusal> {
        let kernels = &self.shared.kernels;
        let path = request.uri().path().to_owned();
        let kernel = rule.path.values(&path).first().map_or("", |(_, kernel)| *kernel);
        match (call, known) {
            (JupyterCall::SignInPage, _) => {
                jupyter::sign_in_page(self.secure()).map_err(|_| HttpRefusal::Failed)
            }
            (JupyterCall::SignIn, _) => {
                let form = body(request, rule).await?;
                self.sign_in_program(&jupyter::token_of_form(request.headers(), &form)?).await
            }
            (JupyterCall::Channels, Some(known)) => {
                let kernel = kernels.connect(&known.caller.key(), kernel);
                let speech = Speech::Kernel(kernel.ok_or(HttpRefusal::Unknown)?);
                self.begin_socket(known, speech, request)
            }
            (JupyterCall::Begin | JupyterCall::End, Some(mut known)) => {
                let body = body(request, rule).await?;
                let asked = jupyter::JupyterHttp { call, body, kernel, kernels };
                let caller = known.caller.clone();
                tokio::select! {
                    biased;
                    () = known.ended() => Err(HttpRefusal::NotLoggedIn),
                    made = jupyter::answer(&self.shared.service, &caller, asked) => made,
                }
            }
            (JupyterCall::Channels | JupyterCall::Begin | JupyterCall::End, None) => {
                Err(HttpRefusal::NotLoggedIn)
            }
        }
    }

    pub(super) fn wrong_key(&self) {
        self.shared.figures.wrong_keys.fetch_add(1, Ordering::Relaxed);
        if self.shared.is_logged {
            self.shared.notices.say(ServerNotice::WrongKey { peer: self.client });
        }
    }

    fn begin_socket(
        &self,
        known: Known,
        speech: Speech,
        request: &mut Request<Incoming>,
    ) -> Result<Answered, HttpRefusal> {
        let answer = handshake(request.headers())?;
        let connection = hyper::upgrade::on(request);
        *lock(self.beginning) = Some(Beginning { connection, known, speech });
        Ok(answer)
    }

    async fn perform(&self, mut known: Known, body: Bytes) -> Result<Answered, HttpRefusal> {
        let request = String::from_utf8(body.into()).map_err(|_| HttpRefusal::NotJson)?;
        let caller = known.caller.clone();
        tokio::select! {
            biased;
            () = known.ended() => Err(HttpRefusal::NotLoggedIn),
            reply = self.shared.service.perform(caller, request) => Ok(answers::json(reply)),
        }
    }

    async fn show_result(
        &self,
        known: &Known,
        request: &Request<Incoming>,
    ) -> Result<Answered, HttpRefusal> {
        let wanted = WantedResult::parse(request.uri().path(), request.uri().query())?;
        let folders = self.shared.service.folders_of(&known.caller, &wanted.session);
        let folders = folders.ok_or(HttpRefusal::Unknown)?;
        wanted.check_place(one(request.headers(), &SEC_FETCH_DEST)?)?;
        let found = tokio::task::spawn_blocking(move || wanted.find(&folders)).await;
        let found = found.map_err(|_| HttpRefusal::Failed)??;
        Ok(answers::result(found.kind, found.bytes))
    }

    fn figures(&self, known: &Known) -> Result<Answered, HttpRefusal> {
        // They are about everybody.
        if self.shared.people.is_some() && !known.caller.rights.has(Right::Admin) {
            return Err(HttpRefusal::NoRight);
        }
        let (strangers, known) = self.shared.seats.counts();
        let passes = lock(&self.shared.logins).count();
        let sessions = self.shared.service.session_count();
        let present = Present { strangers, known, passes, sessions };
        Ok(answers::text(self.shared.figures.text(present, Instant::now())))
    }
}

/// The version of a file that the browser has.
fn tag(request: &Request<Incoming>) -> Option<&str> {
    request.headers().get(IF_NONE_MATCH)?.to_str().ok()
}

/// The body, within the bounds of its route.
async fn body(request: &mut Request<Incoming>, rule: &RouteRule) -> Result<Bytes, HttpRefusal> {
    let most = usize::try_from(rule.body).unwrap_or(usize::MAX);
    let whole = Limited::new(request.body_mut(), most).collect().await;
    whole.map(Collected::to_bytes).map_err(|_| HttpRefusal::TooLarge)
}

/// A poisoned lock is harmless: every change is one step.
pub(super) fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
