//! Places for sessions, so that no token takes those of whoever runs the server.
//!
//! # Threat
//! A token that may open sessions opens all that a server can have. Nobody else begins one then, not
//! even whoever wants to look at what goes on.
//!
//! # Mechanism
//! A caller who may not end the server has only some of the places, and leaves some to those who may.
//! A place counts for whoever began the session, until that is over.
//!
//! # Limits
//! A few tokens together can take all places but those that are kept free.

use super::setup::MOST_SESSIONS;
use crate::{
    caller::{Caller, Right},
    protocol::{ErrorCode, ProtocolError},
};
use std::collections::BTreeMap;

/// Sessions of one caller who may not end the server.
pub(super) const MOST_OF_A_NAME: usize = 96;

/// Of all places, those that are left to callers who may.
pub(super) const KEPT_FREE: usize = 48;

/// Whose a place is: a key of the caller, if they have no more than their share of places.
pub(super) type Holder = Option<String>;

/// The holder of a caller's places, among the sessions of whoever runs the server.
pub(super) fn holder(caller: &Caller) -> Holder {
    (!caller.rights.has(Right::Admin)).then(|| caller.key())
}

/// How many places each holder has.
#[derive(Debug, Default)]
pub(super) struct Holders(BTreeMap<String, usize>);

/// Why a holder gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// They have as many as one may have.
    OfOne,
    /// The others are kept free.
    KeptFree,
}

impl NoPlace {
    /// The refusal of a session.
    pub(super) fn refusal(self) -> ProtocolError {
        let text = match self {
            Self::OfOne => format!("{MOST_OF_A_NAME} sessions of this token run already"),
            Self::KeptFree => format!(
                "the last {KEPT_FREE} of {MOST_SESSIONS} sessions are kept for whoever may end the \
                 server"
            ),
        };
        ProtocolError::new(ErrorCode::TooMany, text).hint("close one of them")
    }
}

impl Holders {
    /// Whether a holder may have another place, where so many are taken in all.
    pub(super) fn check(&self, holder: &Holder, taken: usize) -> Result<(), NoPlace> {
        let Some(key) = holder else { return Ok(()) };
        if self.0.get(key).is_some_and(|count| *count >= MOST_OF_A_NAME) {
            return Err(NoPlace::OfOne);
        }
        if taken >= MOST_SESSIONS - KEPT_FREE { Err(NoPlace::KeptFree) } else { Ok(()) }
    }

    pub(super) fn add(&mut self, holder: &Holder) {
        if let Some(key) = holder {
            *self.0.entry(key.clone()).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, holder: &Holder) {
        let Some(key) = holder else { return };
        if let Some(count) = self.0.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::RightSet;

    fn token(name: &str) -> Holder {
        holder(&Caller::operator(name, [Right::Watch, Right::Prompt].into_iter().collect()))
    }

    /// Takes places for a holder until none is left to them.
    fn fill(holders: &mut Holders, taken: &mut usize, holder: &Holder) -> NoPlace {
        loop {
            match holders.check(holder, *taken) {
                Ok(()) => {
                    holders.add(holder);
                    *taken += 1;
                }
                Err(why) => return why,
            }
        }
    }

    #[test]
    fn a_token_leaves_places_to_others_and_all_of_them_to_whoever_runs_the_server() {
        let (mut holders, mut taken) = (Holders::default(), 0);
        let owner = holder(&Caller::operator("link", RightSet::all()));
        assert_eq!(fill(&mut holders, &mut taken, &token("one")), NoPlace::OfOne);
        assert_eq!(taken, MOST_OF_A_NAME);
        assert_eq!(fill(&mut holders, &mut taken, &token("two")), NoPlace::OfOne);
        assert_eq!(fill(&mut holders, &mut taken, &token("three")), NoPlace::KeptFree);
        assert_eq!(taken, MOST_SESSIONS - KEPT_FREE);
        for at in taken..MOST_SESSIONS {
            assert_eq!(holders.check(&owner, at), Ok(()));
        }
        // One that is over counts no more.
        holders.remove(&token("one"));
        assert_eq!(holders.check(&token("one"), taken - 1), Ok(()));
        assert_eq!(holders.check(&token("two"), taken - 1), Err(NoPlace::OfOne));
    }
}
