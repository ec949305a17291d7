//! Requests by which somebody logs in or out: by a link, a password or a login provider.
//!
//! # Mechanism
//! Each way ends in the same answer, a cookie and a key. A login at a provider has a cookie of its own
//! on its way, which lives for minutes, is sent along by a link of the provider (`Lax`) and opens
//! nothing. It has the prefix `__Host-` where there is TLS, so no neighbour can set it. The page is
//! then found at the one fixed place, with a code in the fragment that works in this browser only.
//!
//! Must not say which of a name and a password was wrong, nor send a browser anywhere but to the
//! provider and to the page.

use super::{
    answers::{self, Answered, Notice},
    connection::{Asked, lock},
    cookies::cookies,
    failures::AfterFailure,
    gate::one,
    logins::{Known, LOGIN_LIFE, LoginSecrets, PROGRAM_COOKIE_LIFE},
    notices::ServerNotice,
    oidc::{BEGUN_SECONDS, ProviderDoor, ProviderRefusal},
    passwords::{NamedVisitor, PasswordDoor},
    refusal::HttpRefusal,
};
use crate::Service;
use hyper::{
    HeaderMap, StatusCode,
    header::{HOST, HeaderValue},
};
use interpreter_core::Secret;
use serde::Deserialize;
use std::{sync::atomic::Ordering, time::Instant};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginBody {
    code: Option<String>,
    name: Option<String>,
    password: Option<String>,
}

/// The cookie of a login on its way.
struct WayCookie<'a> {
    value: &'a str,
    seconds: u64,
}

impl<S: Service> Asked<'_, S> {
    pub(super) async fn log_in(
        &self,
        body: &[u8],
        headers: &HeaderMap,
    ) -> Result<Answered, HttpRefusal> {
        let given: LoginBody = serde_json::from_slice(body).map_err(|_| HttpRefusal::WrongCode)?;
        let secrets = match (given, &self.shared.people) {
            (LoginBody { code: Some(code), name: None, password: None }, _) => {
                self.log_in_by_code(&code, headers)?
            }
            (LoginBody { code: None, name: Some(name), password: Some(password) }, Some(door)) => {
                self.log_in_by_password(door, name, Secret::new(password)).await?
            }
            (LoginBody { .. }, _) => return Err(HttpRefusal::WrongCode),
        };
        self.shared.figures.logins.fetch_add(1, Ordering::Relaxed);
        self.shared.notices.say(ServerNotice::LoggedIn { peer: self.client });
        let key = serde_json::json!({ "key": secrets.key.text() }).to_string();
        let cookie = self.cookie(secrets.cookie.text(), LOGIN_LIFE.as_secs());
        Ok(answers::with_cookie(answers::json(key), &cookie))
    }

    /// By the code of a link, or of a login at the provider.
    fn log_in_by_code(&self, code: &str, headers: &HeaderMap) -> Result<LoginSecrets, HttpRefusal> {
        let (now, name) = (Instant::now(), self.way_cookie_name());
        let provider = self.shared.provider.as_ref();
        let person = provider.and_then(|door| door.let_in(code, cookies(headers, &name), now));
        let mut logins = lock(&self.shared.logins);
        let made = match person {
            Some(person) => logins.log_in_person(person, now).map(Some),
            None => logins.log_in(code, now),
        };
        drop(logins);
        made.map_err(|_| HttpRefusal::Failed)?.ok_or_else(|| self.wrong_code(now))
    }

    async fn log_in_by_password(
        &self,
        door: &PasswordDoor,
        name: String,
        password: Secret,
    ) -> Result<LoginSecrets, HttpRefusal> {
        let visitor = NamedVisitor { name, password, address: self.client };
        match door.look(visitor, Instant::now()).await {
            Ok(person) => {
                let made = lock(&self.shared.logins).log_in_person(person, Instant::now());
                made.map_err(|_| HttpRefusal::Failed)
            }
            Err(HttpRefusal::WrongPassword) => {
                // Counted like a wrong link, so that an attempt shows.
                self.wrong_code(Instant::now());
                Err(HttpRefusal::WrongPassword)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Sends the browser to the login provider.
    pub(super) async fn go_to_provider(
        &self,
        headers: &HeaderMap,
    ) -> Result<Answered, HttpRefusal> {
        let door = self.provider()?;
        // The one by which the browser knows us: its cookie comes back to no other.
        let names = &self.shared.names;
        let host = one(headers, &HOST)?.and_then(|host| names.find(host));
        let origin = host.ok_or(HttpRefusal::OtherHost)?.origin(names.scheme());
        match door.begin(&origin, self.client, Instant::now()).await {
            Ok(departure) => {
                let cookie = self.way_cookie(&WayCookie {
                    value: departure.cookie.text(),
                    seconds: BEGUN_SECONDS,
                });
                Ok(answers::with_cookie(answers::redirect(&departure.location), &cookie))
            }
            Err(refusal) => Ok(self.refused_login(&refusal)),
        }
    }

    /// The browser comes back from the login provider.
    pub(super) async fn come_back(
        &self,
        query: &str,
        headers: &HeaderMap,
    ) -> Result<Answered, HttpRefusal> {
        let door = self.provider()?;
        let name = self.way_cookie_name();
        let ours: Vec<_> = cookies(headers, &name).map(str::to_owned).collect();
        let finished = door.finish(query, ours.iter().map(String::as_str), Instant::now()).await;
        match finished {
            // It stays for as long as the code works, which works only with it.
            Ok(code) => Ok(answers::redirect(&format!("/#{}", code.text()))),
            Err(refusal) => {
                let cookie = self.way_cookie(&WayCookie { value: "", seconds: 0 });
                Ok(answers::with_cookie(self.refused_login(&refusal), &cookie))
            }
        }
    }

    fn provider(&self) -> Result<&ProviderDoor, HttpRefusal> {
        self.shared.provider.as_ref().ok_or(HttpRefusal::Unknown)
    }

    /// Counts it, says it to whoever runs the server, and shows it to the person.
    fn refused_login(&self, refusal: &ProviderRefusal) -> Answered {
        self.shared.figures.refused_logins.fetch_add(1, Ordering::Relaxed);
        let peer = self.client;
        match lock(&self.shared.refusals).count(peer, Instant::now()) {
            AfterFailure::Refuse | AfterFailure::Alarm => {
                let (reason, cause) = (refusal.word(), refusal.cause());
                self.shared.notices.say(ServerNotice::LoginRefused { peer, reason, cause });
            }
            AfterFailure::Ignore => {}
        }
        let (status, subject) = match refusal {
            ProviderRefusal::TooMany => (StatusCode::TOO_MANY_REQUESTS, None),
            ProviderRefusal::Unreachable(_) | ProviderRefusal::Metadata => {
                (StatusCode::BAD_GATEWAY, None)
            }
            ProviderRefusal::State
            | ProviderRefusal::OtherProvider
            | ProviderRefusal::Denied
            | ProviderRefusal::Code
            | ProviderRefusal::Token(_) => (StatusCode::FORBIDDEN, None),
            ProviderRefusal::Stranger(subject) => {
                (StatusCode::FORBIDDEN, Some(subject.subject.as_str()))
            }
            ProviderRefusal::Failed => (StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        answers::notice(status, &Notice { text: refusal.message(), detail: subject })
    }

    /// The ways to log in, for the page.
    pub(super) fn login_ways(&self) -> Answered {
        let mut ways = vec!["link"];
        ways.extend(self.shared.people.as_ref().map(|_| "password"));
        let provider = self.shared.provider.as_ref().map(ProviderDoor::name);
        ways.extend(provider.map(|_| "provider"));
        let mut told = serde_json::json!({ "ways": ways });
        if let Some(name) = provider {
            told["provider"] = name.into();
        }
        answers::json(told.to_string())
    }

    fn cookie(&self, value: &str, seconds: u64) -> String {
        let name = &self.shared.cookie;
        let secure = self.secure();
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
    }

    fn way_cookie_name(&self) -> String {
        format!("{}-login", self.shared.cookie)
    }

    fn way_cookie(&self, cookie: &WayCookie<'_>) -> String {
        let WayCookie { value, seconds } = cookie;
        let (name, secure) = (self.way_cookie_name(), self.secure());
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
    }

    /// Gives a program a cookie for its token.
    pub(super) async fn sign_in_program(&self, token: &Secret) -> Result<Answered, HttpRefusal> {
        let now = Instant::now();
        self.look_up(token.reveal(), now).await;
        let made = lock(&self.shared.logins).new_program_cookie(token.reveal(), now);
        let Some(cookie) = made.map_err(|_| HttpRefusal::Failed)? else {
            self.wrong_key();
            return Err(HttpRefusal::NotLoggedIn);
        };
        let (name, secure) = (&self.shared.program_cookie, self.secure());
        let (value, seconds) = (cookie.text(), PROGRAM_COOKIE_LIFE.as_secs());
        let cookie =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        Ok(answers::with_cookie(answers::nothing(), &cookie))
    }

    pub(super) fn secure(&self) -> &'static str {
        if self.shared.is_secure { "; Secure" } else { "" }
    }

    fn wrong_code(&self, now: Instant) -> HttpRefusal {
        self.shared.figures.wrong_codes.fetch_add(1, Ordering::Relaxed);
        let peer = self.client;
        match lock(&self.shared.failures).count(peer, now) {
            AfterFailure::Refuse => {
                self.shared.notices.say(ServerNotice::WrongCode { peer });
                HttpRefusal::WrongCode
            }
            AfterFailure::Alarm => {
                self.shared.notices.say(ServerNotice::ManyWrongCodes { peer });
                HttpRefusal::TooMany
            }
            AfterFailure::Ignore => HttpRefusal::TooMany,
        }
    }

    /// Ends the login at once, with everything that it holds open.
    pub(super) fn log_out(&self, known: &Known) -> Answered {
        lock(&self.shared.logins).end(known.pass);
        let mut answer = answers::with_cookie(answers::json("{}"), &self.cookie("", 0));
        // Results may be kept for ever by the browser, but not after a logout.
        let cache = HeaderValue::from_static("\"cache\"");
        answer.headers_mut().insert("clear-site-data", cache);
        answer
    }
}
