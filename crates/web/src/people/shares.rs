//! Which sessions are shared, by whom, with whom and as what. Pure.
//!
//! The table is all that leads from one person to the session of another. A share that is taken back
//! is gone from it, and whoever asks next gets nothing.

use super::share_kind::ShareKind;
use interpreter_store::KeptShare;
use std::collections::BTreeMap;

/// People that one session is shared with.
const MOST_GUESTS: usize = 50;

/// Sessions that one person shares, and shares that they give in all.
const MOST_SESSIONS: usize = 500;
const MOST_OF_A_PERSON: usize = 1_000;

/// Shares of a server. The file of so many is a small part of what is read.
const MOST_SHARES: usize = 10_000;

/// A way to the session of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) owner: String,
    pub(super) kind: ShareKind,
}

/// Why a session is not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShareRefused {
    /// With its own owner.
    Oneself,
    /// Somebody else has shared it: it is theirs.
    Theirs,
    TooMany,
}

#[derive(Clone, Debug)]
struct SharedSession {
    owner: String,
    with: BTreeMap<String, ShareKind>,
}

/// All shares of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct ShareTable(BTreeMap<String, SharedSession>);

impl ShareTable {
    /// The table as it was kept. Entries that make no sense are left out.
    pub(super) fn of_kept(kept: Vec<KeptShare>) -> Self {
        let mut table = Self::default();
        for KeptShare { session, owner, with, kind } in kept {
            if let Some(kind) = ShareKind::of_word(&kind) {
                _ = table.give(&owner, &session, &with, kind).is_ok();
            }
        }
        table
    }

    /// The same, to be kept.
    pub(super) fn to_keep(&self) -> Vec<KeptShare> {
        let of_session = |(session, shared): (&String, &SharedSession)| {
            let (session, owner) = (session.clone(), shared.owner.clone());
            let kept = |(with, kind): (&String, &ShareKind)| KeptShare {
                session: session.clone(),
                owner: owner.clone(),
                with: with.clone(),
                kind: kind.word().into(),
            };
            shared.with.iter().map(kept).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_session).collect()
    }

    /// Shares a session of this owner, or changes how it is shared.
    pub(super) fn give(
        &mut self,
        owner: &str,
        session: &str,
        with: &str,
        kind: ShareKind,
    ) -> Result<(), ShareRefused> {
        if owner == with {
            return Err(ShareRefused::Oneself);
        }
        let there = self.0.get(session);
        if there.is_some_and(|shared| shared.owner != owner) {
            return Err(ShareRefused::Theirs);
        }
        // A share that is there already may change its kind, however many there are.
        if there.is_none_or(|shared| !shared.with.contains_key(with)) {
            self.check_room(owner, there)?;
        }
        let new = || SharedSession { owner: owner.to_owned(), with: BTreeMap::new() };
        let shared = self.0.entry(session.to_owned()).or_insert_with(new);
        shared.with.insert(with.to_owned(), kind);
        Ok(())
    }

    /// Refuses one share more where there are too many: in the session, of this owner or in all.
    fn check_room(&self, owner: &str, there: Option<&SharedSession>) -> Result<(), ShareRefused> {
        let (mut all, mut sessions, mut own) = (0, 0, 0);
        for one in self.0.values() {
            all += one.with.len();
            if one.owner == owner {
                sessions += 1;
                own += one.with.len();
            }
        }
        let is_full = match there {
            Some(shared) => shared.with.len() >= MOST_GUESTS,
            None => sessions >= MOST_SESSIONS,
        };
        if is_full || own >= MOST_OF_A_PERSON || all >= MOST_SHARES {
            return Err(ShareRefused::TooMany);
        }
        Ok(())
    }

    /// Takes a share back. Whether there was one.
    pub(super) fn take_back(&mut self, owner: &str, session: &str, with: &str) -> bool {
        let Some(shared) = self.0.get_mut(session).filter(|shared| shared.owner == owner) else {
            return false;
        };
        let was_there = shared.with.remove(with).is_some();
        if shared.with.is_empty() {
            self.0.remove(session);
        }
        was_there
    }

    /// Keeps the shares between people who are there. Whether any went.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) -> bool {
        let before = self.to_keep().len();
        self.0.retain(|_, shared| {
            shared.with.retain(|with, _| is_there(with));
            is_there(&shared.owner) && !shared.with.is_empty()
        });
        self.to_keep().len() != before
    }

    /// How this person reaches a session that is not theirs.
    pub(super) fn way(&self, person: &str, session: &str) -> Option<Way> {
        let shared = self.0.get(session)?;
        let kind = *shared.with.get(person)?;
        Some(Way { owner: shared.owner.clone(), kind })
    }

    /// The sessions of others that this person reaches.
    pub(super) fn reached<'a>(&'a self, person: &'a str) -> impl Iterator<Item = (&'a str, Way)> {
        let way = move |(session, shared): (&'a String, &'a SharedSession)| {
            let kind = *shared.with.get(person)?;
            Some((session.as_str(), Way { owner: shared.owner.clone(), kind }))
        };
        self.0.iter().filter_map(way)
    }

    /// The people that a session of this owner is shared with.
    pub(super) fn guests(&self, owner: &str, session: &str) -> Vec<(String, ShareKind)> {
        let shared = self.0.get(session).filter(|shared| shared.owner == owner);
        let guests = shared.into_iter().flat_map(|shared| &shared.with);
        guests.map(|(with, kind)| (with.clone(), *kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{caller::Right, people::roles::TeamRole};
    use proptest::prelude::*;

    const PEOPLE: [&str; 4] = ["anna", "ben", "cleo", "dora"];
    const SESSIONS: [&str; 3] = ["s1", "s2", "s3"];

    #[derive(Clone, Debug)]
    enum Step {
        Give(usize, usize, usize, usize),
        TakeBack(usize, usize, usize),
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let (people, sessions) = (PEOPLE.len(), SESSIONS.len());
        let step = prop_oneof![
            (0..people, 0..sessions, 0..people, 0..3_usize)
                .prop_map(|(owner, session, with, kind)| Step::Give(owner, session, with, kind)),
            (0..people, 0..sessions, 0..people)
                .prop_map(|(owner, session, with)| Step::TakeBack(owner, session, with)),
            (0..people).prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..40)
    }

    /// Whose session it is: each belongs to one person.
    fn owner(session: usize) -> usize {
        session
    }

    proptest! {
        /// Against the plainest model: the last word of the owner counts, and nobody else's does.
        #[test]
        fn nobody_reaches_anything_that_was_not_shared_or_was_taken_back(steps in steps()) {
            let mut table = ShareTable::default();
            let mut model = BTreeMap::<(usize, usize), ShareKind>::new();
            for step in steps {
                match step {
                    // The service asks the owner's own record first.
                    Step::Give(by, session, with, kind) if by == owner(session) => {
                        let kind = ShareKind::ALL[kind];
                        let given = table.give(PEOPLE[by], SESSIONS[session], PEOPLE[with], kind);
                        prop_assert_eq!(given.is_ok(), by != with);
                        if by != with {
                            model.insert((session, with), kind);
                        }
                    }
                    Step::Give(by, session, with, kind) => {
                        // Even if it did not: a shared session stays its owner's.
                        if model.keys().any(|(one, _)| *one == session) && by != with {
                            let kind = ShareKind::ALL[kind];
                            let given =
                                table.give(PEOPLE[by], SESSIONS[session], PEOPLE[with], kind);
                            prop_assert_eq!(given, Err(ShareRefused::Theirs));
                        }
                    }
                    Step::TakeBack(by, session, with) => {
                        let was = table.take_back(PEOPLE[by], SESSIONS[session], PEOPLE[with]);
                        let expected = by == owner(session) && model.contains_key(&(session, with));
                        prop_assert_eq!(was, expected);
                        if expected {
                            model.remove(&(session, with));
                        }
                    }
                    Step::Remove(who) => {
                        table.retain(|person| person != PEOPLE[who]);
                        model.retain(|(session, with), _| *with != who && owner(*session) != who);
                    }
                }
                let again = ShareTable::of_kept(table.to_keep());
                for (number, session) in SESSIONS.iter().enumerate() {
                    for (who, person) in PEOPLE.iter().enumerate() {
                        let kind = model.get(&(number, who)).copied();
                        let owner = PEOPLE[owner(number)].to_owned();
                        let way = kind.map(|kind| Way { owner, kind });
                        prop_assert_eq!(table.way(person, session), way.clone());
                        prop_assert_eq!(again.way(person, session), way.clone());
                        let listed = table.reached(person).find(|(one, _)| one == session);
                        prop_assert_eq!(listed.map(|(_, way)| way), way);
                    }
                }
            }
        }

        /// No right comes from anywhere but role and share, and none from one of them alone.
        #[test]
        fn a_guest_has_the_rights_that_both_role_and_share_give(
            role in 0..TeamRole::ALL.len(), kind in 0..ShareKind::ALL.len(), right in 0..Right::ALL.len(),
        ) {
            let (role, kind, right) = (TeamRole::ALL[role], ShareKind::ALL[kind], Right::ALL[right]);
            let both = role.rights().and(kind.rights());
            let expected = role.rights().has(right) && kind.rights().has(right);
            prop_assert_eq!(both.has(right), expected);
            prop_assert!(!both.has(Right::Admin));
        }
    }

    #[test]
    fn the_table_is_bounded() {
        let mut table = ShareTable::default();
        for guest in 0..MOST_GUESTS {
            table.give("anna", "s", &guest.to_string(), ShareKind::Watch).unwrap();
        }
        let more = table.give("anna", "s", "more", ShareKind::Watch);
        assert_eq!(more, Err(ShareRefused::TooMany));
        table.give("anna", "s", "0", ShareKind::Drive).unwrap();
        for session in 1..MOST_SESSIONS {
            table.give("anna", &session.to_string(), "ben", ShareKind::Watch).unwrap();
        }
        let more = table.give("anna", "more", "ben", ShareKind::Watch);
        assert_eq!(more, Err(ShareRefused::TooMany));
        table.give("ben", "his", "anna", ShareKind::Watch).unwrap();
    }

    #[test]
    fn the_file_of_all_shares_can_always_be_read_again() {
        let (mut table, mut refused) = (ShareTable::default(), 0);
        let name = |number: usize| format!("{number:032x}");
        for owner in 0..12 {
            for number in 0..MOST_OF_A_PERSON + 20 {
                let session = format!("{owner:04x}{:032x}", number % MOST_SESSIONS);
                let with = name(1_000 + number / MOST_SESSIONS);
                let given = table.give(&name(owner), &session, &with, ShareKind::Suggest);
                refused += usize::from(given == Err(ShareRefused::TooMany));
            }
        }
        let kept = table.to_keep();
        assert_eq!(kept.len(), MOST_SHARES);
        assert!(refused > 0);
        assert!(serde_json::to_vec(&kept).unwrap().len() < 4 << 20);
        // Nobody else can fill it alone, and a kind can still be changed, or a share taken back.
        let (owner, session, with) = (&kept[0].owner, &kept[0].session, &kept[0].with);
        assert!(kept.iter().filter(|share| share.owner == *owner).count() <= MOST_OF_A_PERSON);
        table.give(owner, session, with, ShareKind::Drive).unwrap();
        let more = table.give("new", "s", with, ShareKind::Watch);
        assert_eq!(more, Err(ShareRefused::TooMany));
        assert!(table.take_back(owner, session, with));
        table.give("new", "s", with, ShareKind::Watch).unwrap();
    }
}
