//! Checks an export without the database: every hash and every link in it, and an anchor.
//!
//! An export is not signed. Whoever wrote it could have left out the newest records of a session, or
//! a whole one, or written a new chain; an anchor from elsewhere shows that. Reads one line at a
//! time; only the newest record of each session is remembered.

use super::{
    Break, BreakReason, LinkedRecord,
    anchor::{Anchor, AnchorCheck, AnchorFault, attested},
    chain::before_the_first,
};
use crate::StoreError;
use interpreter_core::{Body, record::SessionHead};
use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read},
    path::Path,
};

/// Bytes of the longest line that is read.
const LONGEST: u64 = 256 << 20;

/// Breaks that are remembered.
const MOST_BREAKS: usize = 1_000;

/// The outcome of a check of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportVerification {
    /// How many records it has.
    pub records: u64,
    /// How many sessions they are of.
    pub sessions: u64,
    /// How many of these do not begin with their first record, because older ones were left out.
    pub partial: u64,
    /// The breaks, in the order of the lines.
    pub breaks: Vec<Break>,
    /// The first line that is no line of an export.
    pub unreadable: Option<u64>,
}

impl ExportVerification {
    /// Whether every line is as it was exported and follows from the one before.
    pub fn is_whole(&self) -> bool {
        self.breaks.is_empty() && self.unreadable.is_none()
    }

    /// Checks every line.
    pub fn of(file: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        let mut newest: BTreeMap<String, (u64, String)> = BTreeMap::new();
        each_line(file, |number, line| {
            let Some(linked) = line.and_then(LinkedRecord::parse) else {
                found.unreadable.get_or_insert(number);
                return;
            };
            found.records += 1;
            let before = newest.get(&linked.session);
            if before.is_none() && linked.seq > 1 {
                found.partial += 1;
            }
            let fault = fault(&linked, before.map(|(seq, hash)| (*seq, hash.as_str())));
            if let Some(reason) = fault
                && found.breaks.len() < MOST_BREAKS
            {
                let (session, seq) = (linked.session.clone(), linked.seq);
                found.breaks.push(Break { session, seq, reason });
            }
            newest.insert(linked.session, (linked.seq, linked.hash));
        })?;
        found.sessions = newest.len() as u64;
        Ok(found)
    }
}

/// Why a record does not follow from the one before.
fn fault(linked: &LinkedRecord, before: Option<(u64, &str)>) -> Option<BreakReason> {
    let (seq, prev) = match before {
        Some((seq, hash)) => (seq.saturating_add(1), hash.to_owned()),
        None if linked.seq == 1 => (1, before_the_first(linked.session.as_bytes())),
        // Older ones were left out.
        None => (linked.seq, linked.prev.clone()),
    };
    if linked.seq > seq {
        Some(BreakReason::Missing)
    } else if linked.seq < seq {
        Some(BreakReason::Added)
    } else if !linked.is_unaltered() {
        Some(BreakReason::Altered)
    } else if linked.prev != prev {
        Some(BreakReason::Unlinked)
    } else {
        None
    }
}

impl Anchor {
    /// Compares an export with this anchor: it must hold everything that the anchor attests. The
    /// file is read twice, by `open`; its links are checked by [`ExportVerification::of`].
    #[expect(clippy::wildcard_enum_match_arm, reason = "only anchors and removals matter here")]
    pub fn check_export<R: BufRead>(
        &self,
        path: &Path,
        open: impl Fn() -> Result<R, StoreError>,
    ) -> Result<AnchorCheck, StoreError> {
        let failed = |source| StoreError::Read { path: path.into(), source };
        let (mut anchors, mut removed) = (BTreeMap::new(), BTreeMap::new());
        each_line(open()?, |_, line| {
            let kinds = [r#""kind":"anchored""#, r#""kind":"sessions_removed""#];
            let is_wanted = |line: &&str| kinds.iter().any(|kind| line.contains(kind));
            let Some(linked) = line.filter(is_wanted).and_then(LinkedRecord::parse) else { return };
            if !linked.is_unaltered() {
                return;
            }
            let (session, seq, hash) = (linked.session.clone(), linked.seq, linked.hash.clone());
            let Ok(record) = linked.record() else { return };
            match record.body {
                body @ Body::Anchored { .. } => {
                    anchors.insert(SessionHead { session, seq, hash }, (record.time, body));
                }
                Body::SessionsRemoved { sessions, .. } => {
                    removed.extend(sessions.into_iter().map(|one| (one.session.clone(), one)));
                }
                _ => {}
            }
        })
        .map_err(failed)?;
        let attested = attested(self, |head| Ok(anchors.get(head).cloned()))?;
        let mut check = AnchorCheck::begin(self, &attested);
        let Ok(mut wanted) = attested else { return Ok(check) };
        each_line(open()?, |_, line| {
            let Some(linked) = line.and_then(LinkedRecord::parse) else { return };
            if wanted.get(&linked.session).is_some_and(|(seq, _)| *seq == linked.seq)
                && let Some((_, hash)) = wanted.remove(&linked.session)
                && hash != linked.hash
            {
                check.faults.push(AnchorFault::Other { session: linked.session, seq: linked.seq });
            }
        })
        .map_err(failed)?;
        for (session, (seq, hash)) in wanted {
            check.gone(removed.get(&session), session, seq, &hash);
        }
        Ok(check)
    }
}

/// Calls `take` with the number and the text of each line; without the text if it is not UTF-8, or
/// too long to be read.
fn each_line(mut file: impl BufRead, mut take: impl FnMut(u64, Option<&str>)) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if (&mut file).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        // The last line may lack its end; any other was cut at the bound.
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        let text = std::str::from_utf8(&line).ok();
        take(number, text.filter(|_| is_whole || (line.len() as u64) < LONGEST));
    }
    Ok(())
}

#[cfg(test)]
#[path = "exported_tests.rs"]
mod tests;
