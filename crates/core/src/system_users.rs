//! Which user of the system the code of each person of a team is.
//!
//! # Threat
//! Two people whose code is the same user to the kernel, so that one hole in a sandbox leads from one
//! to the other; somebody who gets the number of a person that was removed, and with it the files and
//! processes that are left; a number that an account of the machine has, or one that is lent to
//! somebody's containers.
//!
//! # Mechanism
//! Numbers come from a range that belongs to nobody else. Each is given once: those of people who are
//! gone stay theirs. Where no number is free, nobody gets another's.
//!
//! # Order
//! The range is checked when a server starts, and each number again before code runs with it: an
//! account may have been made since.
//!
//! # Limits
//! Accounts that no file of the machine lists, such as those of a directory service, are not known
//! here. Must not read anything: the caller passes the lists.

use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive, str::FromStr};

/// The user that code of root's own sessions becomes: far from any that a system hands out.
pub const SHARED_USER: u32 = 0x7000_0000;

/// Below are the accounts of systems and people.
const FIRST: u32 = 1000;

/// Above are numbers that some programs take for negative ones.
const LAST: u32 = i32::MAX as u32;

/// Numbers that mean nobody.
const NOBODY: RangeInclusive<u32> = 65_534..=65_535;

/// Users of the system that people of a team can be given, as `FIRST-LAST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserRange {
    first: u32,
    last: u32,
}

impl Default for UserRange {
    /// Numbers that no convention gives to anything, beside that of root's own sessions.
    fn default() -> Self {
        Self { first: SHARED_USER + 1, last: SHARED_USER + 0xffff }
    }
}

impl UserRange {
    /// Whether a number is in it.
    pub fn contains(self, user: u32) -> bool {
        (self.first..=self.last).contains(&user)
    }

    /// The numbers that both have.
    pub fn shared_with(self, other: &RangeInclusive<u32>) -> Option<u32> {
        let first = self.first.max(*other.start());
        (first <= self.last.min(*other.end())).then_some(first)
    }
}

impl FromStr for UserRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a range of users such as `{}`", Self::default());
        let number = |part: &str| {
            let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| part.parse::<u32>().ok()).flatten()
        };
        let (first, last) = text.split_once('-').ok_or_else(expected)?;
        let (first, last) = number(first).zip(number(last)).ok_or_else(expected)?;
        if first > last {
            return Err(format!("the range `{text}` is empty"));
        }
        let range = Self { first, last };
        if first < FIRST || last > LAST {
            return Err(format!("users of a range are from {FIRST} to {LAST}"));
        }
        if range.contains(SHARED_USER) || range.shared_with(&NOBODY).is_some() {
            return Err(format!(
                "a range is without {SHARED_USER}, which is your own code, and without {} and {}, \
                 which are nobody",
                NOBODY.start(),
                NOBODY.end()
            ));
        }
        Ok(range)
    }
}

impl TryFrom<String> for UserRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<UserRange> for String {
    fn from(range: UserRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for UserRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// Numbers that are somebody else's: accounts, and ranges that are lent to containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenUsers(Vec<RangeInclusive<u32>>);

impl TakenUsers {
    /// Reads lists of accounts and groups (`passwd`, `group`) and of lent ranges (`subuid`,
    /// `subgid`). Lines that are none are left out, as the system does.
    pub fn of(accounts: &[&str], lent: &[&str]) -> Self {
        // An account has a user and a group, and a group may have no line of its own.
        let own = |line: &str| {
            let numbers = line.split(':').skip(2).take(2).map(|part| part.parse::<u32>().ok());
            numbers.flatten().map(|number| number..=number).collect::<Vec<_>>()
        };
        let many = |line: &str| {
            let mut parts = line.split(':').skip(1).map(|part| part.trim().parse::<u32>().ok());
            let (first, count) = (parts.next()??, parts.next()??);
            Some(first..=first.saturating_add(count.checked_sub(1)?))
        };
        let accounts = accounts.iter().flat_map(|text| text.lines()).flat_map(own);
        let lent = lent.iter().flat_map(|text| text.lines()).filter_map(many);
        Self(accounts.chain(lent).collect())
    }

    /// A number of the range that is somebody else's.
    pub fn first_in(&self, range: UserRange) -> Option<u32> {
        self.0.iter().filter_map(|taken| range.shared_with(taken)).min()
    }

    fn contains(&self, user: u32) -> bool {
        self.0.iter().any(|taken| taken.contains(&user))
    }
}

/// Why somebody gets no user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoUser {
    /// Everyone of the range is given.
    #[error("every system user of the range {0} is given")]
    AllGiven(UserRange),
    /// The one that they have is somebody else's by now.
    #[error(
        "the system user {0} of a person is somebody else's by now: an account has it, or it is lent"
    )]
    TakenSince(u32),
}

/// The user of a person: the one that they have, or the first that nobody has or ever had.
///
/// `given` are all that were ever given, with `own` among them if there is one.
pub fn user_for(
    own: Option<u32>,
    range: UserRange,
    given: &[u32],
    taken: &TakenUsers,
) -> Result<u32, NoUser> {
    if let Some(user) = own {
        // One of an earlier range stays: files of it are there.
        return if taken.contains(user) { Err(NoUser::TakenSince(user)) } else { Ok(user) };
    }
    let is_free = |user: &u32| !given.contains(user) && !taken.contains(*user);
    (range.first..=range.last).find(is_free).ok_or(NoUser::AllGiven(range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nanna:x:2001:2001::/home/anna:/bin/sh\n\
                          dora:x:1500:2500::/home/dora:/bin/sh\n\
                          broken\n::x:\n";
    const SUBUID: &str = "anna:100000:65536\nben:165536:65536\nempty:5000:0\nbroken:1\n";

    fn range(text: &str) -> UserRange {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_is_of_numbers_that_can_be_a_persons() {
        for fine in ["1000-1000", "200000-265533", "1879048193-1879113727"] {
            assert_eq!(range(fine).to_string(), fine);
        }
        assert_eq!(range(&UserRange::default().to_string()), UserRange::default());
        for wrong in [
            "",
            "-",
            "1000",
            "1000-",
            "-2000",
            "2000-1000",
            "0-10",
            "999-2000",
            "a-b",
            "+1000-2000",
            "1000-2147483648",
            "1000-4294967295",
            "1000-99999999999",
            "65534-65534",
            "60000-70000",
            "1879048192-1879048200",
            "1000 - 2000",
        ] {
            assert!(wrong.parse::<UserRange>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn accounts_and_lent_ranges_are_taken() {
        let taken = TakenUsers::of(&[PASSWD], &[SUBUID]);
        for (of, first) in [
            ("2000-2002", Some(2001)),
            ("2002-2499", None),
            ("2002-4000", Some(2500)),
            ("200000-265533", Some(200_000)),
            ("231071-231072", Some(231_071)),
            ("231072-300000", None),
            ("5000-5000", None),
        ] {
            assert_eq!(taken.first_in(range(of)), first, "{of}");
        }
        let huge = TakenUsers::of(&[], &["x:4294967295:4294967295"]);
        assert_eq!(huge.first_in(UserRange::default()), None);
    }

    #[test]
    fn a_person_keeps_their_user_and_nobody_gets_it_after_them() {
        let taken = TakenUsers::of(&[PASSWD], &[]);
        let among = |own, given: &[u32]| user_for(own, range("2000-2002"), given, &taken);
        assert_eq!(among(None, &[]), Ok(2000));
        assert_eq!(among(Some(2000), &[2000]), Ok(2000));
        // Whoever had 2000 is gone; 2001 is an account's.
        assert_eq!(among(None, &[2000]), Ok(2002));
        assert_eq!(among(None, &[2000, 2002]), Err(NoUser::AllGiven(range("2000-2002"))));
        // Of a range that was set before.
        assert_eq!(among(Some(3000), &[3000]), Ok(3000));
        assert_eq!(among(Some(2001), &[2001]), Err(NoUser::TakenSince(2001)));
    }

    proptest! {
        #[test]
        fn no_user_is_given_twice_nor_taken_from_somebody(
            people in 1_usize..20, accounts in prop::collection::vec(3000_u32..3020, 0..8),
        ) {
            let lines: Vec<_> = accounts.iter().map(|user| format!("x:x:{user}:1:::")).collect();
            let list = lines.join("\n");
            let taken = TakenUsers::of(&[&list], &[]);
            let mut given = Vec::new();
            for _ in 0..people {
                if let Ok(user) = user_for(None, range("3000-3015"), &given, &taken) {
                    prop_assert!(!given.contains(&user) && !accounts.contains(&user));
                    given.push(user);
                }
            }
        }
    }
}
