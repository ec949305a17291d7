//! The conversations of each caller, and the session that each goes on in. Pure, but for its lock.
//!
//! # Threat
//! Two conversations that look alike, as those of two people behind one front end with one token:
//! one would go on in the session of the other. A caller who opens sessions without end.
//!
//! # Mechanism
//! A conversation goes on in a session only if exactly one of the caller's was ever at that point,
//! and nothing else is under way there; otherwise it begins anew. A caller has a bounded number, and
//! another one closes the least recently used that is idle.

use super::{asked::Chain, following::ProposedCode};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Sessions of one caller.
pub(super) const MOST_OF_A_CALLER: usize = 64;

/// Points that conversations of a caller have passed and that are remembered.
const MOST_PASSED: usize = 4_096;

/// Conversations of all callers.
#[derive(Debug, Default)]
pub(in crate::http) struct Conversations(Mutex<BTreeMap<String, CallersOwn>>);

/// Those of one caller.
#[derive(Debug, Default)]
struct CallersOwn {
    /// The least recently used first.
    all: Vec<Conversation>,
    passed: VecDeque<Chain>,
    /// Conversations so far.
    count: u64,
}

/// One conversation.
#[derive(Clone, Debug, Default)]
struct Conversation {
    number: u64,
    is_used: bool,
    at: ConversationPlace,
}

/// Where a conversation is.
#[derive(Clone, Debug, Default)]
pub(super) struct ConversationPlace {
    /// Empty until there is one.
    pub(super) session: String,
    /// The number of the last record that the client has the content of.
    pub(super) seen: u64,
    /// Code whose result the client lacks.
    pub(super) pending: Vec<ProposedCode>,
    /// The conversation with our last answer.
    pub(super) chain: Option<Chain>,
    /// The id of our last answer.
    pub(super) answer: String,
}

/// Why a response cannot be gone on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    Unknown,
    /// Its conversation has gone on.
    Passed,
    /// An answer is being made in it.
    Used,
}

/// Sessions that could be closed for another one, the least recently used first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom(pub(super) Vec<String>);

/// A conversation that a request uses. No other one does, until it is dropped.
#[derive(Debug)]
pub(super) struct UsedConversation {
    conversations: Arc<Conversations>,
    caller: String,
    number: u64,
}

impl Conversations {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, CallersOwn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(self: &Arc<Self>, caller: &str, number: u64) -> UsedConversation {
        UsedConversation { conversations: Arc::clone(self), caller: caller.into(), number }
    }

    /// The conversation that ends in one of these chains, the last of them first, and which one.
    pub(super) fn by_chain(
        self: &Arc<Self>,
        caller: &str,
        chains: &[Chain],
    ) -> Option<(UsedConversation, usize)> {
        let mut all = self.lock();
        let own = all.get_mut(caller)?;
        for (length, chain) in chains.iter().enumerate().rev() {
            let mut there = own.all.iter_mut().filter(|one| one.at.chain.as_ref() == Some(chain));
            let Some(found) = there.next() else { continue };
            if there.next().is_some() || found.is_used || own.passed.contains(chain) {
                return None;
            }
            found.is_used = true;
            return Some((self.used(caller, found.number), length));
        }
        None
    }

    /// The conversation whose last answer has this id.
    pub(super) fn by_answer(
        self: &Arc<Self>,
        caller: &str,
        session: &str,
        answer: &str,
    ) -> Result<UsedConversation, NoPlace> {
        let mut all = self.lock();
        let own = all.get_mut(caller).ok_or(NoPlace::Unknown)?;
        let found = own.all.iter_mut().find(|one| one.at.session == session);
        let found = found.ok_or(NoPlace::Unknown)?;
        if found.is_used {
            return Err(NoPlace::Used);
        }
        if found.at.answer != answer {
            return Err(NoPlace::Passed);
        }
        found.is_used = true;
        Ok(self.used(caller, found.number))
    }

    /// A place for another conversation.
    pub(super) fn reserve(self: &Arc<Self>, caller: &str) -> Result<UsedConversation, NoRoom> {
        let mut all = self.lock();
        let own = all.entry(caller.into()).or_default();
        if own.all.len() >= MOST_OF_A_CALLER {
            let unused = own.all.iter().filter(|one| !one.is_used);
            return Err(NoRoom(unused.map(|one| one.at.session.clone()).collect()));
        }
        own.count += 1;
        let number = own.count;
        own.all.push(Conversation { number, is_used: true, at: ConversationPlace::default() });
        Ok(self.used(caller, number))
    }

    /// Forgets a conversation that nothing uses. Returns whether there was one.
    pub(super) fn forget(&self, caller: &str, session: &str) -> bool {
        let mut all = self.lock();
        let Some(own) = all.get_mut(caller) else { return false };
        let before = own.all.len();
        own.all.retain(|one| one.is_used || one.at.session != session);
        own.all.len() < before
    }
}

impl CallersOwn {
    fn pass(&mut self, chain: Chain) {
        self.passed.push_back(chain);
        if self.passed.len() > MOST_PASSED {
            self.passed.pop_front();
        }
    }
}

impl UsedConversation {
    fn with<T>(&self, work: impl FnOnce(&mut CallersOwn, usize) -> T) -> Option<T> {
        let mut all = self.conversations.lock();
        let own = all.get_mut(&self.caller)?;
        let index = own.all.iter().position(|one| one.number == self.number)?;
        Some(work(own, index))
    }

    /// Where it is.
    pub(super) fn place(&self) -> ConversationPlace {
        self.with(|own, index| own.all[index].at.clone()).unwrap_or_default()
    }

    /// It goes on in this session.
    pub(super) fn set_session(&self, session: &str) {
        self.with(|own, index| session.clone_into(&mut own.all[index].at.session));
    }

    /// It has come to this point. Whoever shows an earlier one begins anew.
    pub(super) fn reach(&self, place: ConversationPlace) {
        self.with(|own, index| {
            let before = std::mem::replace(&mut own.all[index].at, place);
            if before.chain != own.all[index].at.chain
                && let Some(chain) = before.chain
            {
                own.pass(chain);
            }
        });
    }
}

impl Drop for UsedConversation {
    fn drop(&mut self) {
        self.with(|own, index| {
            let mut used = own.all.remove(index);
            used.is_used = false;
            // One that never began leaves nothing.
            if !used.at.session.is_empty() {
                own.all.push(used);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(session: &str, chain: u8) -> ConversationPlace {
        let (session, answer) = (session.to_owned(), format!("resp_{session}_1"));
        ConversationPlace { session, answer, chain: Some([chain; 32]), ..Default::default() }
    }

    fn begin(all: &Arc<Conversations>, caller: &str, session: &str, chain: u8) {
        all.reserve(caller).unwrap().reach(reached(session, chain));
    }

    fn goes_on(all: &Arc<Conversations>, caller: &str, chain: u8) -> Option<String> {
        let found = all.by_chain(caller, &[[0; 32], [chain; 32]]);
        found.map(|(used, length)| {
            assert_eq!(length, 1);
            used.place().session
        })
    }

    #[test]
    fn a_conversation_goes_on_where_only_it_was() {
        let all = Arc::default();
        begin(&all, "anna", "s1", 1);
        assert_eq!(goes_on(&all, "anna", 1).as_deref(), Some("s1"));
        // Another caller, another point.
        assert_eq!(goes_on(&all, "ben", 1), None);
        assert_eq!(goes_on(&all, "anna", 2), None);
        // Two that look alike.
        begin(&all, "anna", "s2", 1);
        assert_eq!(goes_on(&all, "anna", 1), None);
        // One that looks like an earlier point of another.
        begin(&all, "anna", "s3", 3);
        let (used, _) = all.by_chain("anna", &[[3; 32]]).unwrap();
        used.reach(reached("s3", 4));
        drop(used);
        begin(&all, "anna", "s4", 3);
        assert_eq!(goes_on(&all, "anna", 3), None);
        assert_eq!(goes_on(&all, "anna", 4).as_deref(), Some("s3"));
    }

    #[test]
    fn one_request_at_a_time_uses_it_and_only_its_last_answer_leads_on() {
        let all = Arc::default();
        begin(&all, "anna", "s1", 1);
        let by = |id: &str| all.by_answer("anna", "s1", id).map(drop);
        let used = all.by_answer("anna", "s1", "resp_s1_1").unwrap();
        assert_eq!(by("resp_s1_1"), Err(NoPlace::Used));
        assert_eq!(goes_on(&all, "anna", 1), None);
        assert!(!all.forget("anna", "s1"));
        drop(used);
        assert_eq!(by("resp_s1_0"), Err(NoPlace::Passed));
        assert_eq!(by("resp_s1_1"), Ok(()));
        assert_eq!(all.by_answer("ben", "s1", "resp_s1_1").map(drop), Err(NoPlace::Unknown));
    }

    #[test]
    fn a_caller_has_so_many_and_the_least_recently_used_goes_first() {
        let all = Arc::default();
        for number in 0..MOST_OF_A_CALLER {
            begin(&all, "anna", &format!("s{number}"), u8::try_from(number).unwrap());
        }
        // The first is used again.
        assert_eq!(goes_on(&all, "anna", 0).as_deref(), Some("s0"));
        let used = all.by_answer("anna", "s1", "resp_s1_1").unwrap();
        let NoRoom(unused) = all.reserve("anna").unwrap_err();
        assert_eq!((unused.len(), unused[0].as_str()), (MOST_OF_A_CALLER - 1, "s2"));
        assert_eq!(unused.last().map(String::as_str), Some("s0"));
        assert!(all.reserve("ben").is_ok());
        assert!(all.forget("anna", "s2"));
        drop(all.reserve("anna").unwrap());
        drop(used);
        assert!(all.reserve("anna").is_ok(), "one that never began leaves nothing");
    }
}
