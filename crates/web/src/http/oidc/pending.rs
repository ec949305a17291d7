//! Logins at a provider that have begun, and those that wait for their page.
//!
//! # Threat
//! An answer of the provider that somebody else began, that comes twice, late, or in another browser:
//! a person would be logged in as somebody else without noticing.
//!
//! # Mechanism
//! A login has a state, which the provider sends back, and a cookie in the browser that began it.
//! Only both together go on, once and for ten minutes; a state that was shown is spent, whoever
//! showed it. The code for the page works in the same browser only, once and for a minute.
//!
//! # Limits
//! A cookie of plain HTTP, on this computer, can be set by another server on it.
//!
//! Reads no clock: the time is given.

use super::super::{
    failures::network,
    logins::{CODE_LIFE, KeptPass},
    random_key::{KeyHash, NoRandomness, RandomKey},
};
use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

/// How long somebody may take at the provider.
pub(super) const BEGUN_LIFE: Duration = Duration::from_mins(10);

/// Logins that have begun, at once, and those of one address. The oldest of an address makes room.
const MOST_BEGUN: usize = 1_024;
const MOST_OF_AN_ADDRESS: usize = 32;

/// Codes that wait for their page. The oldest makes room.
const MOST_WAITING: usize = 256;

/// A login that has begun.
#[derive(Debug)]
pub(super) struct BegunLogin {
    state: KeyHash,
    pub(super) browser: KeyHash,
    address: IpAddr,
    pub(super) nonce: String,
    pub(super) verifier: String,
    /// Where the provider sends the browser back to.
    pub(super) back: String,
    ends: Instant,
}

/// The secrets of one that has just begun.
#[derive(Debug)]
pub(super) struct BegunSecrets {
    pub(super) state: RandomKey,
    pub(super) browser: RandomKey,
    pub(super) nonce: String,
    pub(super) verifier: String,
}

/// Somebody who is let in as soon as their page asks.
#[derive(Debug)]
struct Waiting {
    code: KeyHash,
    browser: KeyHash,
    person: KeptPass,
    ends: Instant,
}

/// All of both.
#[derive(Debug, Default)]
pub(super) struct PendingLogins {
    begun: Vec<BegunLogin>,
    waiting: Vec<Waiting>,
}

impl PendingLogins {
    /// Begins one. Nothing if there are too many.
    pub(super) fn begin(
        &mut self,
        address: IpAddr,
        back: String,
        now: Instant,
    ) -> Result<Option<BegunSecrets>, NoRandomness> {
        let address = network(address);
        self.begun.retain(|one| one.ends > now);
        let mut own = self.begun.iter().enumerate().filter(|(_, one)| one.address == address);
        let oldest = own.next().map(|(place, _)| place);
        if own.count() + 1 >= MOST_OF_AN_ADDRESS
            && let Some(oldest) = oldest
        {
            self.begun.remove(oldest);
        }
        if self.begun.len() >= MOST_BEGUN {
            return Ok(None);
        }
        let secrets = BegunSecrets {
            state: RandomKey::new()?,
            browser: RandomKey::new()?,
            nonce: RandomKey::new()?.into_text(),
            verifier: RandomKey::new()?.into_text(),
        };
        self.begun.push(BegunLogin {
            state: secrets.state.hash(),
            browser: secrets.browser.hash(),
            address,
            nonce: secrets.nonce.clone(),
            verifier: secrets.verifier.clone(),
            back,
            ends: now + BEGUN_LIFE,
        });
        Ok(Some(secrets))
    }

    /// Spends a state. Nothing if it is wrong, old or spent, or of another browser.
    pub(super) fn take<'a>(
        &mut self,
        state: &str,
        cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Option<BegunLogin> {
        let given = KeyHash::of(state);
        let place = self.begun.iter().position(|one| one.state.fits(&given))?;
        let begun = self.begun.remove(place);
        (begun.ends > now && fits_any(&begun.browser, cookies)).then_some(begun)
    }

    /// Somebody may come in, by a code in the browser that began it.
    pub(super) fn wait(
        &mut self,
        person: KeptPass,
        browser: KeyHash,
        now: Instant,
    ) -> Result<RandomKey, NoRandomness> {
        let code = RandomKey::new()?;
        self.waiting.retain(|one| one.ends > now);
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.remove(0);
        }
        let ends = now + CODE_LIFE;
        self.waiting.push(Waiting { code: code.hash(), browser, person, ends });
        Ok(code)
    }

    /// Spends a code. Nothing if it is wrong, old or spent, or of another browser.
    pub(super) fn let_in<'a>(
        &mut self,
        code: &str,
        cookies: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Option<KeptPass> {
        let given = KeyHash::of(code);
        let place = self.waiting.iter().position(|one| one.code.fits(&given))?;
        let waiting = self.waiting.remove(place);
        (waiting.ends > now && fits_any(&waiting.browser, cookies)).then_some(waiting.person)
    }
}

/// Whether one of these cookies is it. Another server on this computer can put many in front.
fn fits_any<'a>(browser: &KeyHash, cookies: impl Iterator<Item = &'a str>) -> bool {
    cookies.fold(false, |any, cookie| any | browser.fits(&KeyHash::of(cookie)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Caller, RightSet};
    use std::{iter::once, net::Ipv4Addr, path::PathBuf};

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn begin(pending: &mut PendingLogins, from: u8, now: Instant) -> Option<BegunSecrets> {
        pending.begin(address(from), "back".into(), now).unwrap()
    }

    fn take(pending: &mut PendingLogins, state: &str, cookie: &str, now: Instant) -> bool {
        pending.take(state, once(cookie), now).is_some()
    }

    #[test]
    fn a_state_goes_on_once_in_the_browser_that_began_it_and_for_ten_minutes() {
        let (mut pending, now) = (PendingLogins::default(), Instant::now());
        let one = begin(&mut pending, 1, now).unwrap();
        let begun = pending.take(one.state.text(), ["x", one.browser.text()].into_iter(), now);
        let begun = begun.unwrap();
        assert_eq!((begun.nonce, begun.verifier), (one.nonce, one.verifier));
        assert!(!take(&mut pending, one.state.text(), one.browser.text(), now));
        let [mine, others] = [(), ()].map(|()| begin(&mut pending, 1, now).unwrap());
        assert!(!take(&mut pending, mine.state.text(), others.browser.text(), now));
        // It is spent by that, whoever comes now.
        assert!(!take(&mut pending, mine.state.text(), mine.browser.text(), now));
        assert!(!take(&mut pending, "", others.browser.text(), now));
        assert!(!take(&mut pending, others.browser.text(), others.browser.text(), now));
        assert!(take(&mut pending, others.state.text(), others.browser.text(), now));
        let late = begin(&mut pending, 1, now).unwrap();
        assert!(!take(&mut pending, late.state.text(), late.browser.text(), now + BEGUN_LIFE));
        let bare = begin(&mut pending, 1, now).unwrap();
        assert!(pending.take(bare.state.text(), std::iter::empty(), now).is_none());
    }

    #[test]
    fn a_crowd_at_one_address_leaves_room_for_others() {
        let (mut pending, now) = (PendingLogins::default(), Instant::now());
        let other = begin(&mut pending, 2, now).unwrap();
        let first = begin(&mut pending, 1, now).unwrap();
        let last = (0..5_000).map(|_| begin(&mut pending, 1, now).unwrap()).last().unwrap();
        assert_eq!(pending.begun.len(), MOST_OF_AN_ADDRESS + 1);
        assert!(!take(&mut pending, first.state.text(), first.browser.text(), now));
        assert!(take(&mut pending, last.state.text(), last.browser.text(), now));
        assert!(take(&mut pending, other.state.text(), other.browser.text(), now));
        for from in 0..=255 {
            for _ in 0..MOST_OF_AN_ADDRESS {
                _ = begin(&mut pending, from, now);
            }
        }
        assert_eq!(pending.begun.len(), MOST_BEGUN);
        assert!(begin(&mut pending, 255, now).is_none());
        assert!(begin(&mut pending, 255, now + BEGUN_LIFE).is_some());
    }

    #[test]
    fn a_code_for_the_page_works_once_in_its_browser_and_for_a_minute() {
        let (mut pending, now) = (PendingLogins::default(), Instant::now());
        let browser = RandomKey::new().unwrap();
        let wait = |pending: &mut PendingLogins| {
            let caller = Caller { name: "anna".into(), rights: RightSet::all(), person: None };
            let person = KeptPass { caller, ends: None, file: PathBuf::from("/nowhere") };
            pending.wait(person, browser.hash(), now).unwrap()
        };
        let come = |pending: &mut PendingLogins, handed_over: &RandomKey, cookie: &str, now| {
            pending.let_in(handed_over.text(), once(cookie), now).is_some()
        };
        let handed_over = wait(&mut pending);
        assert!(come(&mut pending, &handed_over, browser.text(), now));
        assert!(!come(&mut pending, &handed_over, browser.text(), now));
        let stolen = wait(&mut pending);
        assert!(!come(&mut pending, &stolen, "another", now));
        assert!(!come(&mut pending, &stolen, browser.text(), now));
        let late = wait(&mut pending);
        assert!(!come(&mut pending, &late, browser.text(), now + CODE_LIFE));
        for _ in 0..1_000 {
            wait(&mut pending);
        }
        assert_eq!(pending.waiting.len(), MOST_WAITING);
    }
}
