//! One-time codes, logins and tokens: who a secret belongs to.
//!
//! # Threat
//! A code that leaks after it was used, a cookie that another server on this computer gets, a login
//! that goes on after it was ended.
//!
//! # Mechanism
//! A code works once and for a minute. A login has two secrets, a cookie and a key, and neither
//! opens anything without the other. Hashes are kept, in memory only; the rights are kept here and
//! nowhere else. Whoever holds a connection open also holds the other end of a channel, which is
//! dropped with the login.
//!
//! Reads no clock: the time is given.

use super::random_key::{KeyHash, NoRandomness, RandomKey, is_proof, signing_key};
use crate::{Caller, RightSet};
use ring::hmac;
use std::{
    collections::VecDeque,
    future::pending,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::watch, time::sleep_until};

/// How long a code works.
pub(super) const CODE_LIFE: Duration = Duration::from_mins(1);

/// How long a login lasts.
pub(super) const LOGIN_LIFE: Duration = Duration::from_hours(30 * 24);

/// Codes that are open at once.
const MOST_CODES: usize = 8;

/// Logins at once. The one that was used longest ago makes room.
const MOST_LOGINS: usize = 64;

/// Those of one person of a team.
const MOST_OF_A_PERSON: usize = 16;

/// Cookies of programs that have shown one token, and how long each works. Programs log in for each
/// piece of code.
const MOST_PROGRAM_COOKIES: usize = 64;
pub(super) const PROGRAM_COOKIE_LIFE: Duration = Duration::from_hours(24);

/// The name in the record of whoever logged in by a link.
const PAGE: &str = "page";

/// A login or a token, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PassId(u64);

/// Somebody who has shown a secret.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) caller: Caller,
    pub(super) pass: PassId,
    /// When it ends by itself.
    pub(super) ends: Option<Instant>,
    /// Fails to wait for more as soon as it is ended.
    pub(super) gone: watch::Receiver<()>,
    /// The file that a kept token, or the login of a person, lives by.
    file: Option<Arc<Path>>,
}

impl Known {
    /// Whether it lives by a file.
    pub(super) const fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it was ended, or revoked by another program.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.has_changed().is_err() || self.file.as_ref().is_some_and(|file| !file.exists())
    }

    /// Waits until it is over. May be dropped at any time.
    pub(super) async fn ended(&mut self) {
        let by_itself = async {
            match self.ends {
                Some(ends) => sleep_until(ends.into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.gone.changed() => {}
            () = by_itself => {}
        }
    }
}

/// A token that is kept in a file, or a person of a team, who is too.
#[derive(Debug)]
pub(super) struct KeptPass {
    pub(super) caller: Caller,
    pub(super) ends: Option<Instant>,
    /// It lives as long as this file.
    pub(super) file: PathBuf,
}

#[derive(Debug)]
struct Pass {
    id: PassId,
    caller: Caller,
    secrets: Secrets,
    ends: Option<Instant>,
    used: Instant,
    open: watch::Sender<()>,
    file: Option<Arc<Path>>,
}

/// A cookie of a program, and when it ends.
type ProgramCookie = (KeyHash, Instant);

#[derive(Debug)]
enum Secrets {
    Login { cookie: KeyHash, key: KeyHash, signing: Box<hmac::Key> },
    Token { token: KeyHash, cookies: VecDeque<ProgramCookie> },
}

impl Secrets {
    fn token(token: KeyHash) -> Self {
        Self::Token { token, cookies: VecDeque::new() }
    }
}

/// The secrets that a page gets when it logs in.
#[derive(Debug)]
pub(super) struct LoginSecrets {
    pub(super) cookie: RandomKey,
    pub(super) key: RandomKey,
}

/// The part of a login that a request shows beside its cookies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown<'a> {
    Key(&'a str),
    /// A signature of this path.
    Signature {
        path: &'a str,
        proof: &'a str,
    },
}

/// All that are known.
#[derive(Debug, Default)]
pub(super) struct Logins {
    codes: VecDeque<(KeyHash, Instant)>,
    passes: Vec<Pass>,
    last: u64,
}

impl Logins {
    /// A new code.
    pub(super) fn new_code(&mut self, now: Instant) -> Result<RandomKey, NoRandomness> {
        let code = RandomKey::new()?;
        self.codes.retain(|(_, ends)| *ends > now);
        if self.codes.len() == MOST_CODES {
            self.codes.pop_front();
        }
        self.codes.push_back((code.hash(), now + CODE_LIFE));
        Ok(code)
    }

    /// Spends a code. Nothing if it is wrong, old or spent.
    pub(super) fn log_in(
        &mut self,
        code: &str,
        now: Instant,
    ) -> Result<Option<LoginSecrets>, NoRandomness> {
        self.codes.retain(|(_, ends)| *ends > now);
        let given = KeyHash::of(code);
        let before = self.codes.len();
        self.codes.retain(|(hash, _)| !hash.fits(&given));
        if self.codes.len() == before {
            return Ok(None);
        }
        self.begin(Caller::operator(PAGE, RightSet::all()), None, now).map(Some)
    }

    /// Lets in a person of a team, who has shown their password. The login lives as long as their
    /// file does.
    pub(super) fn log_in_person(
        &mut self,
        person: KeptPass,
        now: Instant,
    ) -> Result<LoginSecrets, NoRandomness> {
        self.drop_gone();
        self.begin(person.caller, Some(person.file.into()), now)
    }

    /// Begins a login. Of those of the same person, the one that was used longest ago makes room.
    fn begin(
        &mut self,
        caller: Caller,
        file: Option<Arc<Path>>,
        now: Instant,
    ) -> Result<LoginSecrets, NoRandomness> {
        let secrets = LoginSecrets { cookie: RandomKey::new()?, key: RandomKey::new()? };
        self.passes.retain(|pass| pass.ends.is_none_or(|ends| ends > now));
        let most = if caller.person.is_some() { MOST_OF_A_PERSON } else { MOST_LOGINS };
        let is_login = |pass: &&Pass| {
            matches!(pass.secrets, Secrets::Login { .. }) && pass.caller.person == caller.person
        };
        if self.passes.iter().filter(is_login).count() >= most {
            let oldest = self.passes.iter().filter(is_login).min_by_key(|pass| pass.used);
            let oldest = oldest.map(|pass| pass.id);
            self.passes.retain(|pass| Some(pass.id) != oldest);
        }
        let shown = Secrets::Login {
            cookie: secrets.cookie.hash(),
            key: secrets.key.hash(),
            signing: Box::new(signing_key(secrets.key.text())),
        };
        self.add(caller, shown, Some(now + LOGIN_LIFE), now);
        if let Some(pass) = self.passes.last_mut() {
            pass.file = file;
        }
        Ok(secrets)
    }

    /// A token that lasts as long as this server.
    pub(super) fn new_token(
        &mut self,
        caller: Caller,
        now: Instant,
    ) -> Result<RandomKey, NoRandomness> {
        let token = RandomKey::new()?;
        self.add(caller, Secrets::token(token.hash()), None, now);
        Ok(token)
    }

    fn add(&mut self, caller: Caller, secrets: Secrets, ends: Option<Instant>, now: Instant) {
        self.last += 1;
        let (id, open) = (PassId(self.last), watch::Sender::new(()));
        self.passes.push(Pass { id, caller, secrets, ends, used: now, open, file: None });
    }

    /// Makes a kept token known.
    pub(super) fn add_kept(&mut self, token: &str, kept: KeptPass, now: Instant) {
        let KeptPass { caller, ends, file } = kept;
        self.add(caller, Secrets::token(KeyHash::of(token)), ends, now);
        if let Some(pass) = self.passes.last_mut() {
            pass.file = Some(file.into());
        }
    }

    /// Ends every kept token and every person's login whose file is gone.
    pub(super) fn drop_gone(&mut self) {
        self.passes.retain(|pass| pass.file.as_ref().is_none_or(|file| file.exists()));
    }

    /// The login with one of these cookies, if what is shown belongs to the same one.
    pub(super) fn by_cookie<'a>(
        &self,
        cookies: impl Iterator<Item = &'a str>,
        shown: Shown<'_>,
        now: Instant,
    ) -> Option<Known> {
        let cookies: Vec<_> = cookies.map(KeyHash::of).collect();
        // Every one is looked at, so that the time does not depend on which one it is.
        let fits = |pass: &&Pass| match &pass.secrets {
            Secrets::Login { cookie, key, signing } => {
                let is_cookie = cookies.iter().fold(false, |any, one| any | cookie.fits(one));
                let is_shown = match shown {
                    Shown::Key(text) => key.fits(&KeyHash::of(text)),
                    Shown::Signature { path, proof } => is_proof(signing, path, proof),
                };
                is_cookie & is_shown
            }
            Secrets::Token { .. } => false,
        };
        self.known(fits, now)
    }

    /// Whose token it is.
    pub(super) fn by_token(&self, token: &str, now: Instant) -> Option<Known> {
        let given = KeyHash::of(token);
        let fits = |pass: &&Pass| match &pass.secrets {
            Secrets::Token { token, .. } => token.fits(&given),
            Secrets::Login { .. } => false,
        };
        self.known(fits, now)
    }

    /// A cookie for a program that has shown its token. It has the token's rights and ends with it.
    /// Nothing if there is no such token.
    pub(super) fn new_program_cookie(
        &mut self,
        token: &str,
        now: Instant,
    ) -> Result<Option<RandomKey>, NoRandomness> {
        let Some(known) = self.by_token(token, now) else { return Ok(None) };
        let cookie = RandomKey::new()?;
        let pass = self.passes.iter_mut().find(|pass| pass.id == known.pass);
        let Some(Secrets::Token { cookies, .. }) = pass.map(|pass| &mut pass.secrets) else {
            return Ok(None);
        };
        cookies.retain(|(_, ends)| *ends > now);
        if cookies.len() == MOST_PROGRAM_COOKIES {
            cookies.pop_front();
        }
        cookies.push_back((cookie.hash(), now + PROGRAM_COOKIE_LIFE));
        Ok(Some(cookie))
    }

    /// Whose token a program has shown that got one of these cookies.
    pub(super) fn by_program_cookie<'a>(
        &self,
        cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Option<Known> {
        let given: Vec<_> = cookies.map(KeyHash::of).collect();
        let fits = |pass: &&Pass| match &pass.secrets {
            Secrets::Token { cookies, .. } => {
                let all = cookies.iter().filter(|(_, ends)| *ends > now);
                let pairs = all.flat_map(|(cookie, _)| given.iter().map(|one| cookie.fits(one)));
                pairs.fold(false, |any, fits| any | fits)
            }
            Secrets::Login { .. } => false,
        };
        self.known(fits, now)
    }

    fn known(&self, fits: impl FnMut(&&Pass) -> bool, now: Instant) -> Option<Known> {
        let mut fitting = self.passes.iter().filter(fits);
        let pass = fitting.next().filter(|pass| pass.ends.is_none_or(|ends| ends > now));
        fitting.for_each(drop);
        pass.map(|pass| Known {
            caller: pass.caller.clone(),
            pass: pass.id,
            ends: pass.ends,
            gone: pass.open.subscribe(),
            file: pass.file.clone(),
        })
    }

    /// Notes that a login is in use.
    pub(super) fn touch(&mut self, id: PassId, now: Instant) {
        if let Some(pass) = self.passes.iter_mut().find(|pass| pass.id == id) {
            pass.used = now;
        }
    }

    /// Ends a login or a token, and with it every connection that it holds open.
    pub(super) fn end(&mut self, id: PassId) {
        self.passes.retain(|pass| pass.id != id);
    }

    /// The number of logins and tokens.
    pub(super) fn count(&self) -> usize {
        self.passes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::hash::hex;

    fn logged_in(logins: &mut Logins, now: Instant) -> (String, String) {
        let code = logins.new_code(now).unwrap();
        let secrets = logins.log_in(code.text(), now).unwrap().unwrap();
        (secrets.cookie.into_text(), secrets.key.into_text())
    }

    fn who(logins: &Logins, cookie: &str, key: &str, now: Instant) -> Option<Known> {
        logins.by_cookie([cookie].into_iter(), Shown::Key(key), now)
    }

    #[test]
    fn a_code_works_once_and_for_a_minute() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let code = logins.new_code(now).unwrap();
        let late = logins.new_code(now).unwrap();
        for wrong in ["", " ", &code.text()[..42], &format!("{}=", code.text())] {
            assert!(logins.log_in(wrong, now).unwrap().is_none(), "{wrong:?}");
        }
        assert!(logins.log_in(code.text(), now).unwrap().is_some());
        assert!(logins.log_in(code.text(), now).unwrap().is_none());
        assert!(logins.log_in(late.text(), now + CODE_LIFE).unwrap().is_none());
    }

    #[test]
    fn old_codes_make_room() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let first = logins.new_code(now).unwrap();
        let last = (0..MOST_CODES).map(|_| logins.new_code(now).unwrap()).last().unwrap();
        assert!(logins.log_in(first.text(), now).unwrap().is_none());
        assert!(logins.log_in(last.text(), now).unwrap().is_some());
    }

    #[test]
    fn a_cookie_and_a_key_open_together_and_not_apart() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let (cookie, key) = logged_in(&mut logins, now);
        let (other_cookie, other_key) = logged_in(&mut logins, now);
        assert!(who(&logins, &cookie, &key, now).is_some());
        // A cookie that somebody else put beside it changes nothing.
        let tossed = ["x", "", &cookie].into_iter();
        assert!(logins.by_cookie(tossed, Shown::Key(&key), now).is_some());
        for (cookie, key) in [
            (cookie.as_str(), ""),
            ("", key.as_str()),
            (&cookie, &cookie),
            (&key, &key),
            (&cookie, &other_key),
            (&other_cookie, &key),
            (&cookie, &key[..42]),
        ] {
            assert!(who(&logins, cookie, key, now).is_none());
        }
        assert!(who(&logins, &cookie, &key, now + LOGIN_LIFE).is_none());
        // Neither is a token.
        assert!(logins.by_token(&key, now).is_none() && logins.by_token(&cookie, now).is_none());
    }

    #[test]
    fn a_signature_is_of_one_path() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let (cookie, key) = logged_in(&mut logins, now);
        let proof = hex(hmac::sign(&signing_key(&key), b"/o/1").as_ref());
        let by = |path, cookie: &str| {
            let shown = Shown::Signature { path, proof: &proof };
            logins.by_cookie([cookie].into_iter(), shown, now).is_some()
        };
        assert!(by("/o/1", &cookie));
        assert!(!by("/o/2", &cookie) && !by("/o/1", ""));
    }

    #[test]
    fn an_ended_login_ends_what_it_holds_open() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let (cookie, key) = logged_in(&mut logins, now);
        let (known, again) =
            (who(&logins, &cookie, &key, now).unwrap(), who(&logins, &cookie, &key, now).unwrap());
        let other = {
            let (cookie, key) = logged_in(&mut logins, now);
            who(&logins, &cookie, &key, now).unwrap()
        };
        assert!(!known.is_gone());
        logins.end(known.pass);
        assert!(known.is_gone() && again.is_gone() && !other.is_gone());
        assert!(who(&logins, &cookie, &key, now).is_none());
    }

    #[tokio::test]
    async fn whatever_a_login_holds_open_ends_after_its_thirty_days() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        // It began so long ago that it ends in a moment.
        let began = now.checked_sub(LOGIN_LIFE).unwrap() + Duration::from_millis(20);
        let (cookie, key) = logged_in(&mut logins, began);
        let mut old = who(&logins, &cookie, &key, began).unwrap();
        let (cookie, key) = logged_in(&mut logins, now);
        let mut fresh = who(&logins, &cookie, &key, now).unwrap();
        // The control: another one goes on.
        tokio::select! {
            biased;
            () = fresh.ended() => panic!("a fresh login has ended"),
            () = old.ended() => {}
        }
        // Nobody ended it: its connections do, by its time alone.
        assert!(!old.is_gone() && !fresh.is_gone());
    }

    #[test]
    fn the_login_that_was_used_longest_ago_makes_room() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let first = logged_in(&mut logins, now);
        let second = logged_in(&mut logins, now);
        let later = now + Duration::from_secs(1);
        let id = who(&logins, &first.0, &first.1, now).unwrap().pass;
        logins.touch(id, later);
        for _ in 0..MOST_LOGINS - 1 {
            logged_in(&mut logins, later);
        }
        assert_eq!(logins.count(), MOST_LOGINS);
        assert!(who(&logins, &first.0, &first.1, later).is_some());
        assert!(who(&logins, &second.0, &second.1, later).is_none());
    }

    #[test]
    fn a_token_has_the_rights_that_it_was_given() {
        let (mut logins, now) = (Logins::default(), Instant::now());
        let caller = Caller::operator("ci", [crate::Right::Watch].into_iter().collect());
        let token = logins.new_token(caller.clone(), now).unwrap();
        assert_eq!(logins.by_token(token.text(), now).unwrap().caller, caller);
        assert!(logins.by_token("", now).is_none());
        assert!(who(&logins, token.text(), token.text(), now).is_none());
    }
}
