//! The attempts of a run: each host once, with counts and bytes.

use interpreter_core::{Admission, HostContact, egress::Host};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The most different attempts that failed or were refused that are listed for one run. Code can
/// try as many as it likes.
const MOST: usize = 200;

/// The most different places that are reached in one run. More are refused: what was reached is
/// always listed.
const MOST_REACHED: usize = 1_000;

/// Characters of a reason.
const LONGEST: usize = 300;

/// Bytes that went through a connection, counted while they go.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
}

impl Traffic {
    fn so_far(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

/// Attempts since the last report.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<(Host, u16, Admission, Option<String>), Entry>,
    /// Attempts that had no room.
    untold: u64,
}

#[derive(Debug, Default)]
struct Entry {
    count: u64,
    traffic: Arc<Traffic>,
    told: (u64, u64),
}

impl Ledger {
    /// Notes an attempt. The returned value counts its bytes.
    pub(super) fn note(
        &mut self,
        host: &Host,
        port: u16,
        verdict: Admission,
        why: Option<&str>,
    ) -> Arc<Traffic> {
        let why = why.map(|why| why.chars().take(LONGEST).collect());
        let key = (host.clone(), port, verdict, why);
        let is_reached = verdict == Admission::Allowed && key.3.is_none();
        if !is_reached && !self.entries.contains_key(&key) && self.unreached() >= MOST {
            self.untold += 1;
            return Arc::default();
        }
        let entry = self.entries.entry(key).or_default();
        entry.count += 1;
        Arc::clone(&entry.traffic)
    }

    /// Whether another connection to this place can be listed.
    pub(super) fn has_room(&self, host: &Host, port: u16) -> bool {
        let key = (host.clone(), port, Admission::Allowed, None);
        self.entries.contains_key(&key) || self.entries.len() - self.unreached() < MOST_REACHED
    }

    /// Entries that led nowhere.
    fn unreached(&self) -> usize {
        let nowhere = |(_, _, verdict, why): &&(_, _, Admission, Option<String>)| {
            *verdict != Admission::Allowed || why.is_some()
        };
        self.entries.keys().filter(nowhere).count()
    }

    /// Everything since the last time. An open connection is listed again once it has moved more
    /// bytes.
    pub(super) fn take(&mut self) -> Vec<HostContact> {
        let mut contacts = Vec::new();
        for ((host, port, verdict, why), entry) in &mut self.entries {
            let (sent, received) = entry.traffic.so_far();
            let news = (sent - entry.told.0, received - entry.told.1);
            if entry.count > 0 || news != (0, 0) {
                contacts.push(HostContact {
                    host: host.to_string(),
                    port: *port,
                    verdict: *verdict,
                    why: why.clone(),
                    count: entry.count,
                    sent: news.0,
                    received: news.1,
                });
            }
            (entry.count, entry.told) = (0, (sent, received));
        }
        self.entries.retain(|_, entry| Arc::strong_count(&entry.traffic) > 1);
        let untold = std::mem::take(&mut self.untold);
        if untold > 0 {
            contacts.push(HostContact {
                host: "and others".into(),
                port: 0,
                verdict: Admission::Refused,
                why: Some("more hosts were tried than are listed".into()),
                count: untold,
                sent: 0,
                received: 0,
            });
        }
        contacts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> Host {
        name.parse().unwrap()
    }

    #[test]
    fn the_same_is_told_once_with_its_count() {
        let mut ledger = Ledger::default();
        for _ in 0..3 {
            ledger.note(&host("a.org"), 443, Admission::Refused, Some("not listed"));
        }
        let traffic = ledger.note(&host("b.org"), 80, Admission::Allowed, None);
        traffic.sent.fetch_add(7, Ordering::Relaxed);
        let told = ledger.take();
        assert_eq!((told[0].host.as_str(), told[0].count), ("a.org", 3));
        assert_eq!((told[1].host.as_str(), told[1].sent, told[1].received), ("b.org", 7, 0));
        assert_eq!(ledger.take(), []);
        // Still open: more goes through it in the next run.
        traffic.received.fetch_add(5, Ordering::Relaxed);
        let again = ledger.take();
        assert_eq!((again[0].count, again[0].sent, again[0].received), (0, 0, 5));
        drop(traffic);
        assert_eq!(ledger.take(), []);
        assert!(ledger.entries.is_empty());
    }

    #[test]
    fn what_was_reached_is_listed_whatever_was_refused_before() {
        let mut ledger = Ledger::default();
        for number in 0..500 {
            ledger.note(&host(&format!("h{number}.org")), 443, Admission::Refused, Some("no"));
        }
        let traffic = ledger.note(&host("reached.org"), 443, Admission::Allowed, None);
        traffic.sent.fetch_add(7, Ordering::Relaxed);
        let told = ledger.take();
        let reached = told.iter().find(|one| one.host == "reached.org").unwrap();
        assert_eq!((reached.verdict, reached.sent), (Admission::Allowed, 7));
        // And there is no more than can be listed.
        drop(traffic);
        ledger.take();
        let mut open = Vec::new();
        for number in 0..MOST_REACHED {
            let to = host(&format!("h{number}.org"));
            assert!(number == 0 || ledger.has_room(&to, 443));
            open.push(ledger.note(&to, 443, Admission::Allowed, None));
        }
        assert!(!ledger.has_room(&host("one.more.org"), 443));
        assert!(ledger.has_room(&host("h7.org"), 443), "it is listed");
    }

    #[test]
    fn code_that_tries_everything_fills_nothing() {
        let mut ledger = Ledger::default();
        for number in 0..10_000 {
            ledger.note(&host(&format!("h{number}.org")), 443, Admission::Refused, None);
        }
        assert_eq!(ledger.entries.len(), MOST);
        let told = ledger.take();
        assert_eq!(told.len(), MOST + 1);
        assert_eq!(told.last().unwrap().count, 10_000 - MOST as u64);
    }
}
