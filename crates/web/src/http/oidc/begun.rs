//! Logins at a provider that have begun, of which the server keeps nothing.
//!
//! # Threat
//! An answer of the provider that comes late, in another browser, or to a login that somebody else
//! began: a person would be logged in as somebody else without noticing. And a crowd of strangers
//! who begin logins and finish none, until there is no room for anybody else.
//!
//! # Mechanism
//! The browser that begins keeps the login itself, in its cookie: a random value, the time, the
//! address that it came from and the address to come back to. State, nonce and PKCE verifier are
//! HMACs of the whole cookie, each under a label of its own, by a key that lives as long as the
//! server. So the state that the provider sends back proves every byte of the cookie, and nothing
//! in a cookie is read before. A login that has begun takes no memory here, so no number of them
//! matters to anybody else.
//!
//! The state, which passes through addresses and the provider, leads to neither cookie nor
//! verifier; the cookie, without the key, leads to none of the three.
//!
//! # Limits
//! A cookie of plain HTTP, on this computer, can be set by another server on it. A restart ends all
//! logins that have begun. A cookie and its state fit again and again for ten minutes:
//! [`pending`](super::pending) makes sure that only one login comes of them.
//!
//! Reads no clock: the time is given.

use super::super::random_key::{KeyHash, NoRandomness, RandomKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    net::IpAddr,
    time::{Duration, Instant},
};

/// How long somebody may take at the provider.
pub(super) const BEGUN_LIFE: Duration = Duration::from_mins(10);

/// Labels, none of which another one begins with.
const STATE: &[u8] = b"state\0";
const NONCE: &[u8] = b"nonce\0";
const VERIFIER: &[u8] = b"verifier\0";

/// A text of an unfinished login that must not be shown.
pub(in super::super) struct BegunSecret(String);

impl BegunSecret {
    pub(in super::super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BegunSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BegunSecret")
    }
}

/// The content of a cookie.
#[derive(Serialize, Deserialize)]
struct Beginning {
    random: String,
    /// Milliseconds since the key was made.
    at: u64,
    address: IpAddr,
    back: String,
}

/// A login that has begun.
#[derive(Debug)]
pub(super) struct BegunLogin {
    pub(super) cookie: BegunSecret,
    pub(super) state: BegunSecret,
    pub(super) nonce: BegunSecret,
    pub(super) verifier: BegunSecret,
    /// The address that it began from.
    pub(super) address: IpAddr,
    /// Where the provider sends the browser back to.
    pub(super) back: String,
    pub(super) ends: Instant,
}

/// The key by which logins begin, and are recognised when they come back.
#[derive(Debug)]
pub(super) struct BegunKey {
    key: hmac::Key,
    made: Instant,
}

impl BegunKey {
    pub(super) fn new(now: Instant) -> Result<Self, NoRandomness> {
        let secret = RandomKey::new()?;
        Ok(Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret.text().as_bytes()), made: now })
    }

    /// Begins one.
    pub(super) fn begin(
        &self,
        address: IpAddr,
        back: String,
        now: Instant,
    ) -> Result<BegunLogin, NoRandomness> {
        let random = RandomKey::new()?.into_text();
        // Enough milliseconds for longer than any server runs.
        let at = u64::try_from(now.saturating_duration_since(self.made).as_millis());
        let beginning = Beginning { random, at: at.unwrap_or(u64::MAX), address, back };
        // Texts and numbers always become JSON.
        let cookie = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&beginning).unwrap_or_default());
        Ok(self.login(cookie, beginning))
    }

    /// Finds the login of a state among the cookies of the browser that brings it. `None` if the
    /// login began in another browser, with another key or too long ago. All cookies are tried:
    /// another server on this computer can put many in front.
    pub(super) fn find<'a>(
        &self,
        state: &str,
        mut cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Option<BegunLogin> {
        let given = KeyHash::of(state);
        let is_its = |cookie: &&str| KeyHash::of(self.derive(STATE, cookie).text()).fits(&given);
        let cookie = cookies.find(is_its)?;
        // Only now it is known that we wrote it.
        let beginning = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cookie).ok()?).ok()?;
        Some(self.login(cookie.to_owned(), beginning)).filter(|begun| begun.ends > now)
    }

    fn login(&self, cookie: String, beginning: Beginning) -> BegunLogin {
        let Beginning { random: _, at, address, back } = beginning;
        let [state, nonce, verifier] =
            [STATE, NONCE, VERIFIER].map(|label| self.derive(label, &cookie));
        let ends = self.made + Duration::from_millis(at) + BEGUN_LIFE;
        BegunLogin { cookie: BegunSecret(cookie), state, nonce, verifier, address, back, ends }
    }

    fn derive(&self, label: &[u8], cookie: &str) -> BegunSecret {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(label);
        context.update(cookie.as_bytes());
        BegunSecret(URL_SAFE_NO_PAD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{iter::once, net::Ipv4Addr};

    const BACK: &str = "https://code.example.org/login/oidc/callback";

    fn begin(key: &BegunKey, now: Instant) -> BegunLogin {
        key.begin(Ipv4Addr::new(192, 0, 2, 1).into(), BACK.into(), now).unwrap()
    }

    fn finds(key: &BegunKey, state: &str, cookie: &str, now: Instant) -> bool {
        key.find(state, once(cookie), now).is_some()
    }

    #[test]
    fn a_login_is_found_by_the_state_and_the_cookie_that_it_began_with() {
        let now = Instant::now();
        let key = BegunKey::new(now).unwrap();
        let later = now + Duration::from_secs(90);
        let one = begin(&key, later);
        let tossed = ["", "x", one.cookie.text(), "y"].into_iter();
        let found = key.find(one.state.text(), tossed, later).unwrap();
        assert_eq!(found.state.text(), one.state.text());
        assert_eq!(found.nonce.text(), one.nonce.text());
        assert_eq!(found.verifier.text(), one.verifier.text());
        assert_eq!(found.cookie.text(), one.cookie.text());
        assert_eq!((found.address, found.back.as_str()), (one.address, BACK));
        assert_eq!((found.ends, one.ends), (later + BEGUN_LIFE, later + BEGUN_LIFE));
    }

    #[test]
    fn a_wrong_state_one_of_another_browser_and_one_of_another_server_are_refused() {
        let now = Instant::now();
        let key = BegunKey::new(now).unwrap();
        let [mine, others] = [(), ()].map(|()| begin(&key, now));
        assert!(finds(&key, mine.state.text(), mine.cookie.text(), now));
        for (state, cookie) in [
            (others.state.text(), mine.cookie.text()),
            (mine.state.text(), others.cookie.text()),
            (mine.nonce.text(), mine.cookie.text()),
            (mine.verifier.text(), mine.cookie.text()),
            (mine.cookie.text(), mine.cookie.text()),
            (mine.state.text(), mine.state.text()),
            (&mine.state.text()[..42], mine.cookie.text()),
            (mine.state.text(), ""),
            ("", mine.cookie.text()),
            ("", ""),
        ] {
            assert!(!finds(&key, state, cookie, now), "{state} {cookie}");
        }
        assert!(key.find(mine.state.text(), std::iter::empty(), now).is_none());
        // After a restart nobody knows the key any more.
        let restarted = BegunKey::new(now).unwrap();
        assert!(!finds(&restarted, mine.state.text(), mine.cookie.text(), now));
    }

    #[test]
    fn no_byte_of_a_cookie_can_be_changed() {
        let now = Instant::now();
        let key = BegunKey::new(now).unwrap();
        let one = begin(&key, now);
        let read = URL_SAFE_NO_PAD.decode(one.cookie.text()).unwrap();
        let read: Beginning = serde_json::from_slice(&read).unwrap();
        let written =
            |changed: &Beginning| URL_SAFE_NO_PAD.encode(serde_json::to_vec(changed).unwrap());
        // The control: written again without a change, it is the same.
        assert!(finds(&key, one.state.text(), &written(&read), now));
        let same = || Beginning { random: read.random.clone(), back: read.back.clone(), ..read };
        for changed in [
            Beginning { random: "x".into(), ..same() },
            Beginning { at: read.at + 60_000, ..same() },
            Beginning { address: Ipv4Addr::new(192, 0, 2, 2).into(), ..same() },
            Beginning { back: "https://evil.example/".into(), ..same() },
        ] {
            assert!(!finds(&key, one.state.text(), &written(&changed), now));
        }
        for place in 0..one.cookie.text().len() {
            let mut bytes = one.cookie.text().as_bytes().to_vec();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(!finds(&key, one.state.text(), &changed, now), "{place}");
        }
        assert!(!finds(&key, one.state.text(), &format!("{}=", one.cookie.text()), now));
    }

    #[test]
    fn a_login_that_began_ten_minutes_ago_is_over() {
        let now = Instant::now();
        let key = BegunKey::new(now).unwrap();
        let began = now + Duration::from_hours(700);
        let one = begin(&key, began);
        let last = began + BEGUN_LIFE.checked_sub(Duration::from_millis(1)).unwrap();
        assert!(finds(&key, one.state.text(), one.cookie.text(), last));
        assert!(!finds(&key, one.state.text(), one.cookie.text(), began + BEGUN_LIFE));
    }

    #[test]
    fn every_secret_is_another_and_none_is_printed() {
        let now = Instant::now();
        let key = BegunKey::new(now).unwrap();
        let [one, other] = [(), ()].map(|()| begin(&key, now));
        let mut all: Vec<_> = [&one, &other]
            .into_iter()
            .flat_map(|one| [&one.cookie, &one.state, &one.nonce, &one.verifier])
            .map(BegunSecret::text)
            .collect();
        // A verifier of PKCE has 43 characters at least, and a cookie fits into any browser.
        assert!(all.iter().all(|text| (43..1_024).contains(&text.len())));
        let shown = format!("{one:?}");
        assert!(all.iter().all(|text| !shown.contains(text)), "{shown}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
