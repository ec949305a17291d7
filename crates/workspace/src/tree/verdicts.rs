//! Which staged files were found to be the same as the person's, or not, so that a listing after
//! each run does not read again what nobody has touched since.
//!
//! A verdict is known by the inode, size and change time of both files. A change time is only
//! trusted once it is well in the past: two writes within one tick of the clock look alike.
//!
//! # Limits
//! A program can write to a mapped file without changing its times, so a cached result can be late.
//! It is used only for listings: everything that is shown for a decision, applied, undone or
//! discarded is compared again. In memory only, and bounded.

use crate::tree::stat::{Moment, Stamp, Stat};
use std::{collections::HashMap, io};

/// Verdicts that are remembered; a file past them is read each time.
const MOST: usize = 200_000;
/// How old a change time has to be. The coarsest clock of a kernel ticks every ten milliseconds.
const TICK: u32 = 50_000_000;

/// The results of earlier comparisons.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    known: HashMap<Pair, bool>,
    /// Those that the look under way met: only they are worth keeping.
    met: HashMap<Pair, bool>,
    /// The word for what a file holds, if it is not text.
    words: HashMap<Stamp, Option<&'static str>>,
    words_met: HashMap<Stamp, Option<&'static str>>,
}

/// Two files, as they were when they were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    above: Stamp,
    below: Stamp,
}

impl Verdicts {
    /// Whether `above` and `below` are the same: as it is known, or as `compare` finds out.
    pub(crate) fn same(
        &mut self,
        above: &Stat,
        below: &Stat,
        compare: impl FnOnce() -> io::Result<bool>,
    ) -> io::Result<bool> {
        // Before it is read, so that what is written meanwhile has a later time.
        self.same_at(Moment::now(), above, below, compare)
    }

    fn same_at(
        &mut self,
        now: Moment,
        above: &Stat,
        below: &Stat,
        compare: impl FnOnce() -> io::Result<bool>,
    ) -> io::Result<bool> {
        let pair = Pair { above: above.stamp(), below: below.stamp() };
        let same = match self.known.get(&pair) {
            Some(&same) => same,
            None => compare()?,
        };
        let settled = [above, below].iter().all(|stat| stat.changed.is_before(now, TICK));
        if settled && self.met.len() < MOST {
            self.met.insert(pair, same);
        }
        Ok(same)
    }

    /// The word for what a file holds: as it is known, or as `find` finds out.
    pub(crate) fn word(
        &mut self,
        stat: &Stat,
        find: impl FnOnce() -> Option<&'static str>,
    ) -> Option<&'static str> {
        let settled = stat.changed.is_before(Moment::now(), TICK);
        let word = match self.words.get(&stat.stamp()) {
            Some(&word) => word,
            None => find(),
        };
        if settled && self.words_met.len() < MOST {
            self.words_met.insert(stat.stamp(), word);
        }
        word
    }

    /// Ends a listing: entries that it did not meet are dropped.
    pub(crate) fn turn(&mut self) {
        self.known = std::mem::take(&mut self.met);
        self.words = std::mem::take(&mut self.words_met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rehearsal::{Rehearsal, deeds},
        scene::{Scene, line},
    };
    use fs_err as fs;
    use proptest::prelude::*;

    const LATE: Moment = Moment { seconds: i64::MAX, nanoseconds: 0 };

    fn stat(path: &std::path::Path) -> Stat {
        Stat::of(rustix::fs::CWD, path).unwrap()
    }

    /// Asks once more, and says whether the files were read.
    fn is_read(verdicts: &mut Verdicts, one: &Stat, other: &Stat, now: Moment) -> bool {
        let mut read = false;
        let compare = || {
            read = true;
            Ok(true)
        };
        assert!(verdicts.same_at(now, one, other, compare).unwrap());
        verdicts.turn();
        read
    }

    #[test]
    fn what_nobody_touched_is_not_read_again() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a"), place.path().join("b"));
        fs::write(&a, "x").unwrap();
        fs::write(&b, "x").unwrap();
        let mut verdicts = Verdicts::default();
        let (one, other) = (stat(&a), stat(&b));
        assert!(is_read(&mut verdicts, &one, &other, LATE));
        assert!(!is_read(&mut verdicts, &one, &other, LATE));
        fs::write(&a, "xy").unwrap();
        assert!(is_read(&mut verdicts, &stat(&a), &other, LATE));
        // Entries that a scan did not meet are dropped.
        verdicts.turn();
        assert!(is_read(&mut verdicts, &stat(&a), &other, LATE));
    }

    #[test]
    fn what_was_touched_just_now_is_read_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        fs::write(&path, "x").unwrap();
        let stat = stat(&path);
        let mut verdicts = Verdicts::default();
        assert!(is_read(&mut verdicts, &stat, &stat, stat.changed));
        assert!(is_read(&mut verdicts, &stat, &stat, LATE));
        assert!(!is_read(&mut verdicts, &stat, &stat, stat.changed));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn a_listing_from_memory_is_the_listing(
            person in deeds(12), program in deeds(12), more in deeds(6),
        ) {
            let rehearsal = Rehearsal::of(&person, &program);
            for _ in 0..2 {
                let fresh = rehearsal.scene.set.look().unwrap();
                prop_assert_eq!(rehearsal.scene.set.changes().unwrap(), fresh);
            }
            for deed in &more {
                rehearsal.and_then(deed);
                let fresh: Vec<_> = rehearsal.scene.set.look().unwrap().iter().map(line).collect();
                prop_assert_eq!(rehearsal.scene.lines(), fresh);
            }
        }
    }

    #[test]
    fn a_listing_remembers_what_it_read() {
        let scene = Scene::new(&[("a", "one")]);
        scene.writes("a", "two");
        // Until the change is old enough to be trusted.
        while scene.set.verdicts().known.is_empty() {
            assert_eq!(scene.lines(), ["changed a"]);
        }
        assert_eq!(scene.set.verdicts().known.len(), 1);
    }
}
