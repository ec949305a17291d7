//! Logins of people through a provider of `OpenID` Connect.
//!
//! # Threat
//! Somebody comes in as another: by a token that is forged or meant for something else, by an
//! answer of another provider (mix-up), by a code that was stolen on its way, by a login that was
//! begun elsewhere, or because they have the address or the name of another. An answer of the
//! provider leads the browser, or us, somewhere else. Strangers begin logins, or come back with
//! answers that they made up, until nobody else can log in or the provider refuses to hear more
//! from us.
//!
//! # Mechanism
//! The authorization code flow with PKCE (S256), a state and a nonce, each of 256 bits and for one
//! login. The answer must come back to the browser that began, and the code goes to the provider
//! that was asked. The token is checked in [`id_token`]. A person is known by the provider and
//! their subject there, which an admin has noted before; anybody else is refused. The browser is
//! only ever sent to the provider and to our own page.
//!
//! Browsers keep the logins that they have begun ([`begun`]), and a state is remembered only once
//! it has let somebody in ([`pending`]), so strangers have nothing to fill. An address may
//! begin a limited number of logins in a minute, and logins that began there may come back as
//! often: that bounds how often a stranger makes us ask the provider. An answer counts for the
//! address where its login began, because the state proves it and nobody can change it on the way.
//! A provider that fails is left alone for a while ([`kept`]).
//!
//! # Order
//! The state is checked, found unspent and counted before anything is asked, the signature is
//! checked before a claim is read, and both before anybody is looked for. The state is spent last,
//! in one step, and only whoever spends it is let in.
//!
//! # Limits
//! Whoever controls the provider can log in as anybody who uses it. Somebody who is removed there
//! stays in here until their login ends or they are removed here. Until a state has let somebody
//! in, its browser can come back with it several times, each time with a code that the provider
//! must take. People behind one address share its number of logins.

pub(super) use self::refusal::ProviderRefusal;

use self::{
    begun::{BegunKey, BegunLogin, BegunSecret},
    id_token::{ExpectedToken, SignedToken},
    kept::{KeptDocument, NoDocument},
    key_set::KeySet,
    metadata::{ProviderMetadata, ShowsSecret},
    pending::PendingLogins,
    returned::Returned,
};
use super::{
    guesses::Guesses,
    logins::{CODE_LIFE, KeptPass},
    options::HttpError,
    random_key::{KeyHash, RandomKey},
};
use crate::{Caller, TeamRole};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use interpreter_agent::{DocumentAddress, DocumentClient, DocumentError};
use interpreter_core::Secret;
use interpreter_store::{KeptUsers, ProviderSubject};
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

mod begun;
mod id_token;
mod kept;
mod key_set;
mod metadata;
mod pending;
mod refusal;
mod returned;

/// Where the provider sends the browser back to.
pub(super) const BACK: &str = "/login/oidc/callback";

/// How long the cookie of a login on its way lives.
pub(super) const BEGUN_SECONDS: u64 = begun::BEGUN_LIFE.as_secs() + CODE_LIFE.as_secs();

/// How long documents of the provider count.
const DOCUMENT_LIFE: Duration = Duration::from_hours(1);

/// How often the keys are asked for at most, when a token names one that is not known.
const KEYS_PAUSE: Duration = Duration::from_mins(1);

/// The provider, as the settings have it.
#[derive(Debug)]
pub struct LoginProvider {
    /// Its name on the page.
    pub name: String,
    /// Its address, exactly as it names itself.
    pub issuer: String,
    /// Our id there.
    pub client: String,
    /// Our secret there, where it wants one.
    pub secret: Option<Secret>,
    /// Further scopes.
    pub scopes: Vec<String>,
    /// Whoever asks it.
    pub documents: DocumentClient,
}

impl LoginProvider {
    /// Refuses settings with which nobody could log in.
    fn check(&self) -> Result<DocumentAddress, HttpError> {
        let is_scope = |text: &String| {
            !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
        };
        if let Some(scope) = self.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(HttpError::Scope { scope: scope.clone() });
        }
        ProviderMetadata::address(&self.issuer).ok_or(HttpError::Issuer)
    }
}

/// The door for people of a login provider.
#[derive(Debug)]
pub(super) struct ProviderDoor {
    provider: Arc<LoginProvider>,
    document: DocumentAddress,
    users: KeptUsers,
    departures: Mutex<Guesses>,
    returns: Mutex<Guesses>,
    begun: BegunKey,
    pending: Mutex<PendingLogins>,
    metadata: KeptDocument<ProviderMetadata>,
    keys: KeptDocument<KeySet>,
}

/// A login that has begun: where the browser goes, and the cookie that it takes along.
#[derive(Debug)]
pub(super) struct Departure {
    pub(super) location: String,
    pub(super) cookie: BegunSecret,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
}

impl ProviderDoor {
    pub(super) fn new(
        provider: Arc<LoginProvider>,
        users: KeptUsers,
        now: Instant,
    ) -> Result<Self, HttpError> {
        Ok(Self {
            document: provider.check()?,
            provider,
            users,
            departures: Mutex::new(Guesses::new(now)),
            returns: Mutex::new(Guesses::new(now)),
            begun: BegunKey::new(now)?,
            pending: Mutex::default(),
            metadata: KeptDocument::default(),
            keys: KeptDocument::default(),
        })
    }

    /// The name of the provider, for the page.
    pub(super) fn name(&self) -> &str {
        &self.provider.name
    }

    /// Begins a login. `origin` is ours, as the browser knows it.
    pub(super) async fn begin(
        &self,
        origin: &str,
        address: IpAddr,
        now: Instant,
    ) -> Result<Departure, ProviderRefusal> {
        if !lock(&self.departures).may_come(address, now) {
            return Err(ProviderRefusal::TooMany);
        }
        let metadata = self.metadata(now).await?;
        let back = format!("{origin}{BACK}");
        let begun = self.begun.begin(address, back, now).map_err(|_| ProviderRefusal::Failed)?;
        let challenge = digest(&SHA256, begun.verifier.text().as_bytes());
        let challenge = URL_SAFE_NO_PAD.encode(challenge);
        let scopes = ["openid"].into_iter().chain(self.provider.scopes.iter().map(String::as_str));
        let location = metadata.authorization.with_fields(&[
            ("response_type", "code"),
            ("client_id", &self.provider.client),
            ("redirect_uri", &begun.back),
            ("scope", &scopes.collect::<Vec<_>>().join(" ")),
            ("state", begun.state.text()),
            ("nonce", begun.nonce.text()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        Ok(Departure { location, cookie: begun.cookie })
    }

    /// Somebody comes back. Returns the code by which their page lets them in.
    pub(super) async fn finish<'a>(
        &self,
        query: &str,
        cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Result<RandomKey, ProviderRefusal> {
        let returned = Returned::parse(query).ok_or(ProviderRefusal::State)?;
        let begun = self.begun.find(&returned.state, cookies, now);
        let begun = begun.ok_or(ProviderRefusal::State)?;
        if lock(&self.pending).is_spent(&begun) {
            return Err(ProviderRefusal::State);
        }
        if !lock(&self.returns).may_come(begun.address, now) {
            return Err(ProviderRefusal::TooMany);
        }
        let metadata = self.metadata(now).await?;
        self.check_source(&metadata, returned.issuer.as_deref())?;
        let code = returned.code.ok_or(ProviderRefusal::Denied)?;
        let token = self.exchange(&metadata, &begun, &code).await?;
        let subject = self.verify(&metadata, &begun, &token, now).await?;
        let users = self.users.clone();
        let looked = tokio::task::spawn_blocking(move || (users.find_subject(&subject), subject));
        let (found, subject) = looked.await.map_err(|_| ProviderRefusal::Failed)?;
        let (user, file) = found.ok_or(ProviderRefusal::Stranger(subject))?;
        // A role that this version does not know has no rights.
        let rights = TeamRole::of_word(&user.role).map(TeamRole::rights).unwrap_or_default();
        let mut pending = lock(&self.pending);
        pending.spend(&begun, &user.id, now)?;
        let caller = Caller { name: user.name, rights, person: Some(user.id) };
        let person = KeptPass { caller, ends: None, file };
        let code = pending.wait(person, KeyHash::of(begun.cookie.text()), now);
        code.map_err(|_| ProviderRefusal::Failed)
    }

    /// The page of somebody who came back asks to be let in.
    pub(super) fn let_in<'a>(
        &self,
        code: &str,
        cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Option<KeptPass> {
        lock(&self.pending).let_in(code, cookies, now)
    }

    /// A provider that says it names itself must (RFC 9207), and none may name another.
    fn check_source(
        &self,
        metadata: &ProviderMetadata,
        named: Option<&str>,
    ) -> Result<(), ProviderRefusal> {
        let is_ours = match named {
            Some(issuer) => issuer == self.provider.issuer,
            None => !metadata.names_itself,
        };
        if is_ours { Ok(()) } else { Err(ProviderRefusal::OtherProvider) }
    }

    /// Gives a code for a token.
    async fn exchange(
        &self,
        metadata: &ProviderMetadata,
        begun: &BegunLogin,
        code: &str,
    ) -> Result<String, ProviderRefusal> {
        let LoginProvider { client, secret, documents, .. } = &*self.provider;
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &begun.back),
            ("code_verifier", begun.verifier.text()),
        ];
        let user = match (secret, metadata.shows_secret) {
            (None, _) => None,
            (Some(secret), ShowsSecret::InHeader) => Some((client.as_str(), secret)),
            (Some(secret), ShowsSecret::InForm) => {
                fields.push(("client_secret", secret.reveal()));
                None
            }
            (Some(_), ShowsSecret::Never) => return Err(ProviderRefusal::Metadata),
        };
        if user.is_none() {
            fields.push(("client_id", client));
        }
        let answer = documents.post_form(&metadata.token, &fields, user).await;
        let answer = answer.map_err(|error| {
            // 401 is about our own secret, which whoever runs the server should hear.
            if matches!(error, DocumentError::Status(400 | 403)) {
                ProviderRefusal::Code
            } else {
                ProviderRefusal::Unreachable(error)
            }
        })?;
        let answer: TokenAnswer =
            serde_json::from_slice(&answer).map_err(|_| ProviderRefusal::Code)?;
        Ok(answer.id_token)
    }

    /// Who a token is about. A key that is not known may be new: the keys are then asked for again,
    /// but not more often than once in a while.
    async fn verify(
        &self,
        metadata: &ProviderMetadata,
        begun: &BegunLogin,
        token: &str,
        now: Instant,
    ) -> Result<ProviderSubject, ProviderRefusal> {
        let token = SignedToken::parse(token).map_err(ProviderRefusal::Token)?;
        let mut keys = self.keys(metadata, DOCUMENT_LIFE, now).await?;
        if !token.is_known(&keys) {
            keys = self.keys(metadata, KEYS_PAUSE, now).await?;
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let expected = ExpectedToken {
            issuer: &self.provider.issuer,
            client: &self.provider.client,
            nonce: begun.nonce.text(),
            now: time.as_secs(),
        };
        token.verify(&keys, expected).map_err(ProviderRefusal::Token)
    }

    async fn metadata(&self, now: Instant) -> Result<Arc<ProviderMetadata>, ProviderRefusal> {
        let ask = async || {
            let text = self.document(&self.document).await?;
            let read = ProviderMetadata::parse(&text, &self.provider.issuer);
            read.ok_or(NoDocument::Unreadable)
        };
        self.metadata.get(DOCUMENT_LIFE, now, ask).await
    }

    /// The keys, no older than that.
    async fn keys(
        &self,
        metadata: &ProviderMetadata,
        age: Duration,
        now: Instant,
    ) -> Result<Arc<KeySet>, ProviderRefusal> {
        let ask = async || {
            let text = self.document(&metadata.keys).await?;
            KeySet::parse(&text).ok_or(NoDocument::Unreadable)
        };
        self.keys.get(age, now, ask).await
    }

    async fn document(&self, address: &DocumentAddress) -> Result<Vec<u8>, NoDocument> {
        self.provider.documents.get(address).await.map_err(NoDocument::Unreachable)
    }
}

/// A poisoned lock is harmless: every change is one step.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
