//! A session that is removed on purpose leaves a tombstone; whatever else is missing is noticed.

use super::*;
use crate::record::{
    BreakReason, RecordState, SessionFilter,
    example::{Place, prompt, started},
};
use interpreter_core::{Stream, Untrusted};

fn asked(place: &mut Place, sessions: &[&str]) -> Result<Freed, StoreError> {
    let sessions: Vec<_> = sessions.iter().map(|&one| one.to_owned()).collect();
    place.log.remove(&place.folders, &sessions, RemovalReason::Asked)
}

fn ids(place: &Place) -> Vec<String> {
    place.log.sessions(&SessionFilter::ALL).unwrap().into_iter().map(|one| one.id).collect()
}

#[test]
fn a_removed_session_is_gone_and_the_rest_is_whole() {
    let mut place = Place::with_records();
    let freed = asked(&mut place, &["s1"]).unwrap();
    assert_eq!((freed.sessions, freed.records), (1, 3));
    assert_eq!(ids(&place), ["s2"]);
    assert_eq!(place.log.records("s1").count(), 0);
    assert!(place.log.find_session("s1").is_err());
    let found = place.log.verify().unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!((found.removed, found.sessions), (1, 2));
    // Others go on, and a new process finds it in order.
    place.log.append("s2", &prompt("more")).unwrap();
    assert_eq!(Log::open(&place.folders).unwrap().state().unwrap(), RecordState::Whole);
    assert!(asked(&mut place, &["s1"]).is_err());
}

#[test]
fn nothing_of_the_words_is_left_in_the_files() {
    let mut place = Place::with_records();
    place.log.append("s1", &prompt(&"xylophone secret ".repeat(2_000))).unwrap();
    let has = |place: &Place| {
        let files = std::fs::read_dir(&place.folders.data).unwrap();
        let found = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
        let word = b"xylophone";
        found
            .into_iter()
            .any(|path| fs_err::read(path).unwrap().windows(word.len()).any(|part| part == word))
    };
    let search = |place: &Place| {
        place.log.search(&place.folders, &["xylophone".into()], 10, |_| ()).unwrap().len()
    };
    assert_eq!(search(&place), 1);
    assert!(has(&place));
    asked(&mut place, &["s1"]).unwrap();
    assert!(!has(&place));
    assert_eq!(search(&place), 0);
}

#[test]
fn outputs_go_with_their_session_unless_another_has_them() {
    let mut place = Place::with_records();
    let outputs = Outputs::new(&place.folders);
    let mut add = |session: &str, letter: &str| {
        let text = Untrusted::new(letter.repeat(100_000));
        let mut body = Body::Output(Output { text, ..Output::text("p1", Stream::Stdout, "") });
        outputs.keep(&mut body).unwrap();
        place.log.append(session, &body).unwrap();
        let Body::Output(Output { kept: Some(kept), .. }) = body else { panic!("{body:?}") };
        kept
    };
    let (own, shared, _) = (add("s1", "a"), add("s1", "b"), add("s2", "b"));
    let freed = asked(&mut place, &["s1"]).unwrap();
    assert_eq!(freed.outputs, 1);
    assert!(freed.output_bytes > 0);
    assert_eq!(outputs.get(&own).unwrap(), None);
    assert!(outputs.get(&shared).unwrap().is_some());
    let kept = place.log.verify_outputs(&outputs).unwrap();
    assert_eq!((kept.whole, kept.removed.len()), (1, 0));
}

#[test]
fn a_pruned_output_stays_explained_when_the_session_that_told_of_it_goes() {
    let mut place = Place::with_records();
    let outputs = Outputs::new(&place.folders);
    let text = Untrusted::new("c".repeat(100_000));
    let mut body = Body::Output(Output { text, ..Output::text("p1", Stream::Stdout, "") });
    outputs.keep(&mut body).unwrap();
    place.log.append("s2", &body).unwrap();
    let Body::Output(Output { kept: Some(kept), .. }) = body else { panic!("{body:?}") };
    let hashes = vec![kept.hash];
    place.log.append("s1", &Body::OutputsPruned { hashes: hashes.clone() }).unwrap();
    outputs.prune(&hashes).unwrap();
    asked(&mut place, &["s1"]).unwrap();
    let kept = place.log.verify_outputs(&outputs).unwrap();
    assert_eq!((kept.pruned, kept.removed.len()), (1, 0));
}

#[test]
fn what_must_stay_is_not_removed() {
    let mut place = Place::with_records();
    let running = RunningSession::begin(&place.folders, "s2").unwrap();
    let anchor = place.log.anchor().unwrap();
    place.log.append("s3", &started()).unwrap();
    let damage = "UPDATE record SET body = replace(body, '0.1.0', '0.1.1') WHERE session = 's3'";
    place.tamperer().execute_batch(damage).unwrap();
    let mut reason = |session: &str| match asked(&mut place, &["s1", session]) {
        Err(StoreError::NotRemovable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("s2"), NotRemovable::Running);
    assert_eq!(reason(&anchor.session), NotRemovable::Account);
    assert!(matches!(reason("s3"), NotRemovable::Damaged(_)));
    // All or none.
    assert_eq!(ids(&place), ["s3", "s2", "s1"]);
    drop(running);
    asked(&mut place, &["s2"]).unwrap();
    assert_eq!(ids(&place), ["s3", "s1"]);
}

/// The attack: records are removed, and a tombstone is written without the key.
#[test]
fn a_forged_tombstone_explains_nothing() {
    let forge = |session: &str, how: &str| {
        let place = Place::with_records();
        let tamperer = place.tamperer();
        let head: (i64, String) = tamperer
            .query_row("SELECT seq, hash FROM head WHERE session = 's1'", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let body = format!(
            r#"{{"v":1,"kind":"sessions_removed","why":"asked","sessions":[{{"session":"s1","seq":{},"hash":"{}"}}]}}"#,
            head.0, head.1
        );
        let (seq, prev, at): (i64, String, i64) = tamperer
            .query_row(
                "SELECT seq + 1, hash, place + 1 FROM head WHERE session = ?1
                 UNION ALL SELECT 1, ?2, 99 << 32 ORDER BY 1 DESC LIMIT 1",
                [session, &crate::record::chain::before_the_first(session.as_bytes())],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .unwrap();
        let time = "2026-01-01T00:00:00.000000Z";
        let hash = crate::record::chain::Columns {
            prev: prev.as_bytes(),
            seq,
            session: session.as_bytes(),
            time: time.as_bytes(),
            kind: b"sessions_removed",
            body: body.as_bytes(),
        }
        .hash();
        tamperer
            .execute(
                "INSERT INTO record VALUES (?1, ?2, ?3, ?4, 'sessions_removed', ?5, ?6, ?7)",
                params![at, session, seq, time, body, prev, hash],
            )
            .unwrap();
        tamperer
            .execute(
                "REPLACE INTO head (session, place, seq, hash, seal)
                 VALUES (?1, ?2, ?3, ?4, coalesce((SELECT seal FROM head WHERE session = ?1), ''))",
                params![session, at, seq, hash],
            )
            .unwrap();
        tamperer.execute_batch(how).unwrap();
        place.log.verify().unwrap()
    };
    let gone = "DELETE FROM record WHERE session = 's1'";
    for session in ["s2", "s9"] {
        let found = forge(session, gone);
        assert_eq!(found.removed, 0, "{session}");
        let cut = |one: &Break| {
            one.session == "s1" && matches!(one.reason, BreakReason::EndMissing { .. })
        };
        assert!(found.breaks.iter().any(cut), "{:?}", found.breaks);
        assert!(!found.is_whole());
    }
}

#[test]
fn another_head_than_the_one_on_the_tombstone_is_noticed() {
    let mut place = Place::with_records();
    asked(&mut place, &["s1"]).unwrap();
    let change = "UPDATE head SET seq = 2 WHERE session = 's1'";
    place.tamperer().execute_batch(change).unwrap();
    let found = place.log.verify().unwrap();
    assert_eq!((found.removed, found.is_whole()), (0, false));
}

#[test]
fn a_removal_that_was_cut_short_is_finished_by_the_next() {
    let mut place = Place::with_records();
    for number in 0..10 {
        place.log.append("s1", &prompt(&format!("prompt {number}"))).unwrap();
    }
    let head = place.log.head_of("s1").unwrap().unwrap();
    let body = Body::SessionsRemoved { why: RemovalReason::Asked, sessions: vec![head] };
    place.log.append("t1", &body).unwrap();
    // Killed after the tombstone, and after some of the records.
    for kill in ["SELECT 1", "DELETE FROM record WHERE session = 's1' AND seq > 5"] {
        let tamperer = place.tamperer_again();
        tamperer.execute_batch("DROP TRIGGER IF EXISTS record_no_delete").unwrap();
        tamperer.execute_batch(kill).ok();
        tamperer.execute_batch(DELETE_GUARD).unwrap();
        assert!(place.log.verify().unwrap().is_whole(), "{kill}");
    }
    let freed = asked(&mut place, &[]).unwrap();
    assert_eq!((freed.sessions, freed.records), (1, 5));
    assert_eq!(ids(&place), ["s2"]);
    assert!(place.log.verify().unwrap().is_whole());
    assert_eq!(asked(&mut place, &[]).unwrap(), Freed::default());
}

#[test]
fn a_removal_stays_known_after_a_damage_was_accepted() {
    let mut place = Place::with_records();
    place.log.append("s3", &prompt("x")).unwrap();
    asked(&mut place, &["s1"]).unwrap();
    let remove = "DELETE FROM record WHERE session = 's3'; DELETE FROM head WHERE session = 's3'";
    place.tamperer().execute_batch(remove).unwrap();
    assert!(!place.log.verify().unwrap().is_whole());
    Log::accept(&place.folders).unwrap();
    let found = Log::open(&place.folders).unwrap().verify().unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!(found.removed, 1);
}
