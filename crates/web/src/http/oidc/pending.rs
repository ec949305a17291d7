//! Logins at a provider that were finished: those that wait for their page, and the states that are
//! spent by them.
//!
//! # Threat
//! An answer of the provider that comes twice, or a code for the page in another browser. And a
//! crowd that fills this memory, so that nobody else can log in, or so that a spent state is
//! forgotten.
//!
//! # Mechanism
//! A state is spent when a person of this team comes in by it: after the provider took the code,
//! its token was right, and the person was found here. Of two answers with one state that come at
//! once, the first to get so far wins, in one step. An attempt that was refused before spends
//! nothing, because it left nothing behind: whoever repeats it has all checks before them again.
//!
//! So a stranger cannot put anything in here, whatever cookies and states they have, and even with
//! an account at the provider. Of each person a number of states is remembered until they are long
//! over, and none is forgotten before. Whoever reaches that number must wait, and nobody else does:
//! the memory is bounded for each person of the team.
//!
//! The code for the page works in the same browser only, once and for a minute.
//!
//! # Limits
//! Whoever controls a person's account at the provider can keep that person from logging in with it
//! here, by logging in as them again and again.
//!
//! Reads no clock: the time is given.

use super::{
    super::{
        logins::{CODE_LIFE, KeptPass},
        random_key::{KeyHash, NoRandomness, RandomKey},
    },
    begun::BegunLogin,
    refusal::ProviderRefusal,
};
use std::time::{Duration, Instant};

/// How long a state is remembered after its end: far longer than we wait for the provider to
/// confirm an answer that came before the end.
const LONGEST_WAY: Duration = Duration::from_mins(10);

/// Spent states of one person.
const MOST_OF_A_PERSON: usize = 64;

/// Codes that wait for their page. The oldest makes room.
const MOST_WAITING: usize = 256;

/// A state that let somebody in.
#[derive(Debug)]
struct Spent {
    state: KeyHash,
    person: String,
    forgotten: Instant,
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
    spent: Vec<Spent>,
    waiting: Vec<Waiting>,
}

impl PendingLogins {
    /// Whether somebody came in by this login already.
    pub(super) fn is_spent(&self, begun: &BegunLogin) -> bool {
        let state = KeyHash::of(begun.state.text());
        self.spent.iter().any(|one| one.state.fits(&state))
    }

    /// Spends a login for a person, by id. Refuses if somebody came in by it already, or this
    /// person too often.
    pub(super) fn spend(
        &mut self,
        begun: &BegunLogin,
        person: &str,
        now: Instant,
    ) -> Result<(), ProviderRefusal> {
        self.spent.retain(|one| one.forgotten > now);
        if self.is_spent(begun) {
            return Err(ProviderRefusal::State);
        }
        if self.spent.iter().filter(|one| one.person == person).count() >= MOST_OF_A_PERSON {
            return Err(ProviderRefusal::TooMany);
        }
        let state = KeyHash::of(begun.state.text());
        let forgotten = begun.ends + LONGEST_WAY;
        self.spent.push(Spent { state, person: person.to_owned(), forgotten });
        Ok(())
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
    use super::{
        super::begun::{BEGUN_LIFE, BegunKey},
        *,
    };
    use crate::{Caller, RightSet};
    use std::{iter::once, net::Ipv4Addr, path::PathBuf};

    fn begin(key: &BegunKey, now: Instant) -> BegunLogin {
        key.begin(Ipv4Addr::LOCALHOST.into(), "back".into(), now).unwrap()
    }

    #[test]
    fn a_state_lets_in_once() {
        let (mut pending, now) = (PendingLogins::default(), Instant::now());
        let key = BegunKey::new(now).unwrap();
        let [one, other] = [(), ()].map(|()| begin(&key, now));
        assert!(!pending.is_spent(&one));
        assert_eq!(pending.spend(&one, "anna", now), Ok(()));
        assert!(pending.is_spent(&one) && !pending.is_spent(&other));
        // Found again in the same browser, and whoever it is about.
        let again = key.find(one.state.text(), once(one.cookie.text()), now).unwrap();
        for person in ["anna", "ben"] {
            assert_eq!(pending.spend(&again, person, now), Err(ProviderRefusal::State));
        }
        assert_eq!(pending.spend(&other, "anna", now), Ok(()));
        // An answer that came at the last moment may still be on its way after the end.
        let end = one.ends + Duration::from_secs(30);
        assert_eq!(pending.spend(&begin(&key, end), "ben", end), Ok(()));
        assert_eq!(pending.spend(&one, "anna", end), Err(ProviderRefusal::State));
    }

    #[test]
    fn logins_that_only_begin_take_no_memory() {
        let (pending, now) = (PendingLogins::default(), Instant::now());
        let key = BegunKey::new(now).unwrap();
        let first = begin(&key, now);
        for _ in 0..5_000 {
            let begun = begin(&key, now);
            let found = key.find(begun.state.text(), once(begun.cookie.text()), now).unwrap();
            assert!(!pending.is_spent(&found));
        }
        // The key is shared and cannot grow.
        assert_eq!((pending.spent.capacity(), pending.waiting.capacity()), (0, 0));
        assert!(key.find(first.state.text(), once(first.cookie.text()), now).is_some());
    }

    #[test]
    fn a_person_with_many_logins_waits_and_nobody_else() {
        let (mut pending, now) = (PendingLogins::default(), Instant::now());
        let key = BegunKey::new(now).unwrap();
        let mut spend = |person, now| {
            let begun = begin(&key, now);
            pending.spend(&begun, person, now).map(|()| begun)
        };
        let all: Vec<_> = (0..1_000).map_while(|_| spend("anna", now).ok()).collect();
        assert_eq!(all.len(), MOST_OF_A_PERSON);
        assert_eq!(spend("anna", now).unwrap_err(), ProviderRefusal::TooMany);
        assert!(spend("ben", now).is_ok());
        // None was forgotten to make room.
        assert!(all.iter().all(|begun| pending.is_spent(begun)));
        assert_eq!(pending.spent.len(), MOST_OF_A_PERSON + 1);
        // They are forgotten when their age alone is enough.
        let later = now + BEGUN_LIFE + LONGEST_WAY;
        assert_eq!(pending.spend(&begin(&key, later), "anna", later), Ok(()));
        assert_eq!(pending.spent.len(), 1);
        for begun in &all {
            assert!(key.find(begun.state.text(), once(begun.cookie.text()), later).is_none());
        }
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
