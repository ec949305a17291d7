//! Every kind of tampering is seen, and the record that it touched is named.

use super::*;
use crate::record::example::{Place, prompt};
use rusqlite::params;

fn first_break(place: &Place) -> Option<(u64, BreakReason)> {
    place.log.verify().unwrap().first_break.map(|found| (found.seq, found.reason))
}

fn after(change: &str) -> Option<(u64, BreakReason)> {
    let place = Place::with_records();
    place.tamperer().execute_batch(change).unwrap();
    first_break(&place)
}

#[test]
fn an_untouched_record_is_whole() {
    let place = Place::with_records();
    let found = place.log.verify().unwrap();
    assert_eq!((found.records, found.is_whole()), (6, true));
    assert_eq!(first_break(&Place::new()), None);
}

#[test]
fn one_changed_byte_in_any_column_of_any_record_names_that_record() {
    let place = Place::with_records();
    let tamperer = place.tamperer();
    for seq in 1..=6_u32 {
        for column in ["session", "time", "kind", "body", "prev", "hash"] {
            let get = format!("SELECT CAST({column} AS BLOB) FROM record WHERE seq = ?1");
            let put = format!("UPDATE record SET {column} = CAST(?2 AS TEXT) WHERE seq = ?1");
            let original: Vec<u8> = tamperer.query_row(&get, [seq], |row| row.get(0)).unwrap();
            for at in 0..original.len() {
                for mask in [0x01, 0x20, 0x80] {
                    let mut changed = original.clone();
                    changed[at] ^= mask;
                    tamperer.execute(&put, params![seq, changed]).unwrap();
                    let found = first_break(&place);
                    assert_eq!(
                        found,
                        Some((u64::from(seq), BreakReason::Altered)),
                        "{column} {at}"
                    );
                }
            }
            tamperer.execute(&put, params![seq, original]).unwrap();
        }
    }
    assert_eq!(first_break(&place), None);
}

#[test]
fn another_number_names_that_record() {
    let place = Place::with_records();
    let tamperer = place.tamperer();
    let renumber = |from: i64, to: i64| {
        tamperer.execute("UPDATE record SET seq = ?2 WHERE seq = ?1", [from, to]).unwrap();
    };
    for seq in 1..=6_i64 {
        for to in [seq + 8, seq + 256, -seq, i64::MAX, i64::MIN] {
            renumber(seq, to);
            let (named, reason) = first_break(&place).unwrap();
            // A number before the first is seen before the gap that it leaves.
            let expected = if to < 1 { 1 } else { seq.unsigned_abs() };
            assert_eq!(named, expected, "{seq} to {to}: {reason}");
            renumber(to, seq);
        }
    }
    assert_eq!(first_break(&place), None);
}

#[test]
fn a_removed_record_is_named() {
    for seq in 1..=5 {
        let found = after(&format!("DELETE FROM record WHERE seq = {seq}"));
        assert_eq!(found, Some((seq, BreakReason::Missing)));
    }
}

#[test]
fn a_removed_end_is_noticed() {
    let gone = |last| Some((last, BreakReason::EndMissing { last: 6 }));
    assert_eq!(after("DELETE FROM record WHERE seq = 6"), gone(6));
    assert_eq!(after("DELETE FROM record WHERE seq >= 4"), gone(4));
    assert_eq!(after("DELETE FROM record"), gone(1));
}

#[test]
fn a_removed_end_stays_noticed_after_the_next_append() {
    let mut place = Place::with_records();
    place.tamperer().execute_batch("DELETE FROM record WHERE seq = 6").unwrap();
    assert_eq!(place.log.append("s3", &prompt("x")).unwrap().seq, 7);
    assert_eq!(first_break(&place), Some((6, BreakReason::Missing)));
}

#[test]
fn a_record_moved_up_into_the_gap_is_named() {
    let found =
        after("DELETE FROM record WHERE seq = 3; UPDATE record SET seq = seq - 1 WHERE seq > 3");
    assert_eq!(found, Some((3, BreakReason::Altered)));
}

#[test]
fn two_records_in_each_others_place_are_noticed() {
    let found = after(
        "UPDATE record SET seq = 99 WHERE seq = 2; UPDATE record SET seq = 2 WHERE seq = 4;
         UPDATE record SET seq = 4 WHERE seq = 99",
    );
    assert_eq!(found, Some((2, BreakReason::Altered)));
}

/// Puts a record at `seq` that is right in itself and follows the one before it.
fn forge(connection: &Connection, seq: i64, text: &str) {
    let prev: String = connection
        .query_row("SELECT hash FROM record WHERE seq = ?1 - 1", [seq], |row| row.get(0))
        .unwrap();
    let (session, time) = ("s2", "2026-01-01T00:00:00.000000Z");
    let body = format!(r#"{{"v":1,"kind":"note","text":"{text}"}}"#);
    let columns = Columns {
        prev: prev.as_bytes(),
        seq,
        session: session.as_bytes(),
        time: time.as_bytes(),
        kind: b"note",
        body: body.as_bytes(),
    };
    let insert = "INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3, 'note', ?4, ?5, ?6)";
    connection.execute(insert, params![seq, session, time, body, prev, columns.hash()]).unwrap();
}

#[test]
fn a_forged_record_does_not_fit_the_one_after_it() {
    let place = Place::with_records();
    forge(&place.tamperer(), 3, "forged");
    assert_eq!(first_break(&place), Some((4, BreakReason::Unlinked)));
}

#[test]
fn a_forged_last_record_does_not_fit_the_head() {
    let place = Place::with_records();
    forge(&place.tamperer(), 6, "forged");
    assert_eq!(first_break(&place), Some((6, BreakReason::NotTheHead)));
}

#[test]
fn an_added_record_is_named() {
    let place = Place::with_records();
    forge(&place.tamperer(), 7, "added");
    assert_eq!(first_break(&place), Some((7, BreakReason::Added)));
}

#[test]
fn an_added_record_cannot_be_continued() {
    let mut place = Place::with_records();
    forge(&place.tamperer(), 7, "added");
    let error = place.log.append("s1", &prompt("x")).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
}

#[test]
fn a_head_that_was_changed_or_removed_is_noticed() {
    assert_eq!(after("UPDATE head SET seq = 5"), Some((6, BreakReason::Added)));
    let more = Some((7, BreakReason::EndMissing { last: 9 }));
    assert_eq!(after("UPDATE head SET seq = 9"), more);
    let not = Some((6, BreakReason::NotTheHead));
    assert_eq!(after("UPDATE head SET hash = lower(hash) || 'x'"), not);
    assert_eq!(after("UPDATE head SET seq = -1"), not);
    assert_eq!(after("DELETE FROM head"), not);
}

#[test]
fn without_a_head_nothing_is_appended() {
    let mut place = Place::with_records();
    place.tamperer().execute_batch("DELETE FROM head").unwrap();
    let error = place.log.append("s1", &prompt("x")).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
}

#[test]
fn a_session_that_was_hidden_or_renamed_is_noticed() {
    let unlisted = |seq| Some((seq, BreakReason::Unlisted));
    assert_eq!(after("DELETE FROM span"), unlisted(1));
    assert_eq!(after("UPDATE span SET session = 's9'"), unlisted(1));
    assert_eq!(after("UPDATE span SET last = 2"), unlisted(1));
    assert_eq!(after("UPDATE head SET session = 's1'"), unlisted(4));
    assert_eq!(after("UPDATE head SET session = NULL"), unlisted(4));
    assert_eq!(after("UPDATE head SET since = 5"), unlisted(4));
    assert_eq!(after("INSERT INTO span VALUES ('s3', 9, 9)"), unlisted(9));
}
