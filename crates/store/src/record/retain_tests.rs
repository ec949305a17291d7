//! The oldest sessions go first, and only as many as must.

use super::*;
use crate::RunningSession;
use crate::record::{
    LogEntry, SessionFilter,
    example::{Place, prompt, started},
};
use interpreter_core::Body;

fn ids(place: &Place) -> Vec<String> {
    place.log.sessions(&SessionFilter::ALL).unwrap().into_iter().map(|one| one.id).collect()
}

fn at(time: &str, body: Body) -> LogEntry {
    LogEntry { time: time.into(), who: None, body }
}

#[test]
fn sessions_go_when_they_are_too_old() {
    let mut place = Place::new();
    let old = "2020-01-01T00:00:00.000000Z";
    for session in ["a1", "a2", "a3"] {
        place
            .log
            .append_all(session, &[at(old, started()), at(old, Body::SessionEnded {})])
            .unwrap();
    }
    // Began long ago, and was used since; one that runs; and a new one.
    place.log.append("a2", &prompt("again")).unwrap();
    let running = RunningSession::begin(&place.folders, "a3").unwrap();
    place.log.append("a4", &started()).unwrap();
    assert_eq!(place.log.retain(&place.folders, Retention::default()).unwrap(), None);
    let year = Retention { space: None, seconds: Some(365 * 86_400) };
    let freed = place.log.retain(&place.folders, year).unwrap().unwrap();
    assert_eq!((freed.sessions, freed.records), (1, 2));
    assert_eq!(ids(&place), ["a4", "a3", "a2"]);
    assert_eq!(place.log.retain(&place.folders, year).unwrap(), None);
    drop(running);
    assert!(place.log.retain(&place.folders, year).unwrap().is_some());
    assert_eq!(ids(&place), ["a4", "a2"]);
    let found = place.log.verify().unwrap();
    assert!(found.is_whole() && found.removed == 2, "{found:?}");
}

#[test]
fn the_oldest_go_when_there_is_too_much() {
    let mut place = Place::new();
    for number in 0..20 {
        let session = format!("a{number:02}");
        place.log.append(&session, &started()).unwrap();
        place.log.append(&session, &prompt(&"word ".repeat(10_000))).unwrap();
    }
    let used = place.log.used_bytes().unwrap();
    let half = Retention { space: Some(used / 2), seconds: None };
    let freed = place.log.retain(&place.folders, half).unwrap().unwrap();
    assert!((9..=13).contains(&freed.sessions), "{freed:?}");
    assert!(freed.bytes > used / 3, "{freed:?} of {used}");
    assert!(place.log.used_bytes().unwrap() <= used / 2);
    let left = ids(&place);
    assert_eq!(left[0], "a19");
    assert!(!left.contains(&"a00".to_owned()));
    assert!(place.log.verify().unwrap().is_whole());
    assert_eq!(place.log.retain(&place.folders, half).unwrap(), None);
}

#[test]
fn a_failure_is_kept_until_it_is_forgotten() {
    let place = Place::new();
    assert_eq!(Retention::failed(&place.folders), None);
    Retention::note(&place.folders, None).unwrap();
    Retention::note(&place.folders, Some(&"é".repeat(MOST_REASON))).unwrap();
    assert_eq!(Retention::failed(&place.folders), Some("é".repeat(MOST_REASON / 2)));
    Retention::note(&place.folders, Some("no room")).unwrap();
    assert_eq!(Retention::failed(&place.folders).as_deref(), Some("no room"));
    Retention::note(&place.folders, None).unwrap();
    assert_eq!(Retention::failed(&place.folders), None);
}
