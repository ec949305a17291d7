//! The newest records of a session, in memory and bounded, as the lines that clients receive.
//!
//! Whoever is further behind reads the record. Pure.

use std::{collections::VecDeque, sync::Arc};

/// Lines that are held, and their bytes.
const MOST_LINES: usize = 1_000;
const MOST_BYTES: usize = 1 << 20;

/// The newest records of a session.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    /// The number of the newest record, whether it is held or not.
    last: u64,
}

/// Records that a client lacks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// These, the oldest first; an empty list for a client that has everything.
    Here(Vec<Arc<str>>),
    /// They are no longer held.
    OnRecord,
}

impl Tail {
    /// Takes in the next record. Its number must follow on the last one's.
    pub(crate) fn push(&mut self, seq: u64, line: Arc<str>) {
        if seq != self.last + 1 {
            // Never on purpose; whoever lacks something reads the record, which has all of it.
            self.clear();
        }
        self.last = seq;
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > MOST_LINES || self.bytes > MOST_BYTES {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// Lets go of what is held.
    pub(crate) fn clear(&mut self) {
        self.lines = VecDeque::new();
        self.bytes = 0;
    }

    /// The number of the newest record.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// The records after number `after`: about so many bytes of them, and at least one.
    pub(crate) fn after(&self, after: u64, bytes: usize) -> Lacking {
        if after >= self.last {
            return Lacking::Here(Vec::new());
        }
        let missing = self.last - after;
        let Some(from) = (self.lines.len() as u64).checked_sub(missing) else {
            return Lacking::OnRecord;
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let mut size = 0;
        let mut taken = Vec::new();
        for line in self.lines.range(from..) {
            if size > bytes {
                break;
            }
            size += line.len();
            taken.push(Arc::clone(line));
        }
        Lacking::Here(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(seq: u64) -> Arc<str> {
        seq.to_string().into()
    }

    #[test]
    fn it_holds_the_newest_and_names_the_rest() {
        let mut tail = Tail::default();
        assert_eq!(tail.after(0, 100), Lacking::Here(vec![]));
        (1..=1_500).for_each(|seq| tail.push(seq, line(seq)));
        assert_eq!(tail.after(499, 100), Lacking::OnRecord);
        let Lacking::Here(first) = tail.after(500, 10) else { panic!("it is held") };
        assert_eq!(first[0].as_ref(), "501");
        assert_eq!(tail.after(1_499, 0), Lacking::Here(vec![line(1_500)]));
        assert_eq!(tail.after(9_999, 100), Lacking::Here(vec![]));
    }

    #[test]
    fn one_record_that_is_larger_than_all_of_it_is_on_record() {
        let mut tail = Tail::default();
        tail.push(1, line(1));
        tail.push(2, "x".repeat(MOST_BYTES + 1).into());
        assert_eq!((tail.last(), tail.bytes), (2, 0));
        assert_eq!(tail.after(1, 10), Lacking::OnRecord);
        tail.push(3, line(3));
        assert_eq!(tail.after(2, 10), Lacking::Here(vec![line(3)]));
    }

    proptest! {
        /// However a client takes them, it gets each record once and in order.
        #[test]
        fn none_is_lost_and_none_doubled(sizes in prop::collection::vec(0_usize..400, 1..60)) {
            let mut tail = Tail::default();
            let (mut at, mut seq) = (0, 0);
            for size in sizes {
                for _ in 0..size % 7 {
                    seq += 1;
                    tail.push(seq, line(seq));
                }
                match tail.after(at, size) {
                    Lacking::Here(lines) => for one in lines {
                        at += 1;
                        prop_assert_eq!(one, line(at));
                    },
                    Lacking::OnRecord => prop_assert!(false, "so few are held"),
                }
            }
        }
    }
}
