//! Every kind of tampering is seen, and the record that it touched is named.

use super::*;
use crate::record::example::{Place, prompt};
use rusqlite::{Connection, params};

/// The breaks of a record whose list adds up.
fn breaks(place: &Place) -> Vec<(String, u64, BreakReason)> {
    let breaks = place.log.verify().unwrap().breaks;
    breaks.into_iter().map(|found| (found.session, found.seq, found.reason)).collect()
}

fn after(change: &str) -> Vec<(String, u64, BreakReason)> {
    let place = Place::with_records();
    place.tamperer().execute_batch(change).unwrap();
    breaks(&place)
}

/// One break, in the session `s1`.
fn one(seq: u64, reason: BreakReason) -> Vec<(String, u64, BreakReason)> {
    vec![("s1".into(), seq, reason)]
}

#[test]
fn an_untouched_record_is_whole() {
    let place = Place::with_records();
    let found = place.log.verify().unwrap();
    assert_eq!((found.records, found.sessions, found.is_whole()), (6, 2, true));
    assert!(Place::new().log.verify().unwrap().is_whole());
}

#[test]
fn one_changed_byte_in_any_column_of_any_record_names_that_record() {
    let place = Place::with_records();
    let tamperer = place.tamperer();
    for seq in 1..=3_u32 {
        for column in ["time", "kind", "body", "prev", "hash"] {
            let this = "WHERE session = 's1' AND seq = ?1";
            let get = format!("SELECT CAST({column} AS BLOB) FROM record {this}");
            let put = format!("UPDATE record SET {column} = CAST(?2 AS TEXT) {this}");
            let original: Vec<u8> = tamperer.query_row(&get, [seq], |row| row.get(0)).unwrap();
            for at in 0..original.len() {
                for mask in [0x01, 0x20, 0x80] {
                    let mut changed = original.clone();
                    changed[at] ^= mask;
                    tamperer.execute(&put, params![seq, changed]).unwrap();
                    // The other session is whole all the same.
                    assert_eq!(place.log.verify().unwrap().sessions, 1);
                    let expected = one(seq.into(), BreakReason::Altered);
                    assert_eq!(breaks(&place), expected, "{column} {at}");
                }
            }
            tamperer.execute(&put, params![seq, original]).unwrap();
        }
    }
    assert_eq!(breaks(&place), []);
}

#[test]
fn another_number_or_place_names_that_record() {
    for seq in 1..=3_i64 {
        for to in [seq + 8, seq + 256, -seq, i64::MAX, i64::MIN] {
            let this = format!("WHERE session = 's1' AND seq = {seq}");
            let found = after(&format!("UPDATE record SET seq = {to} {this}"));
            assert_eq!((found.len(), found[0].1), (1, seq.unsigned_abs()), "{found:?}");
            let found = after(&format!("UPDATE record SET place = {to} {this}"));
            assert!(!found.is_empty() && found.iter().all(|found| found.0 == "s1"), "{found:?}");
        }
    }
    // All of a session, elsewhere and in order.
    let moved = after("UPDATE record SET place = place + 100000 WHERE session = 's2'");
    assert_eq!(moved, [("s2".into(), 1, BreakReason::Unlisted)]);
}

#[test]
fn a_removed_record_is_named() {
    let remove =
        |which: &str| after(&format!("DELETE FROM record WHERE session = 's1' AND {which}"));
    assert_eq!(remove("seq = 1"), one(1, BreakReason::Missing));
    assert_eq!(remove("seq = 2"), one(2, BreakReason::Missing));
    let gone = |first| one(first, BreakReason::EndMissing { last: 3 });
    assert_eq!(remove("seq = 3"), gone(3));
    assert_eq!(remove("seq >= 2"), gone(2));
    assert_eq!(remove("true"), gone(1));
}

#[test]
fn a_removed_end_stays_noticed_after_the_next_append() {
    let mut place = Place::with_records();
    let remove = "DELETE FROM record WHERE session = 's1' AND seq = 3";
    place.tamperer().execute_batch(remove).unwrap();
    assert_eq!(place.log.append("s1", &prompt("x")).unwrap().seq, 4);
    assert_eq!(breaks(&place), one(3, BreakReason::Missing));
}

#[test]
fn two_records_in_each_others_place_are_noticed() {
    let found = after(
        "UPDATE record SET seq = 5 - seq WHERE session = 's1' AND seq > 1;
         UPDATE record SET place = -place WHERE session = 's1' AND seq > 1;
         UPDATE record SET place = (SELECT place - seq FROM head WHERE session = 's1') + seq
             WHERE place < 0",
    );
    assert_eq!(found, one(2, BreakReason::Altered));
}

/// Puts a record at `seq` of `s1` that is right in itself and follows the one before it.
fn forge(connection: &Connection, seq: i64, text: &str) {
    let before = "SELECT hash, place + 1 FROM record WHERE session = 's1' AND seq = ?1 - 1";
    let (prev, place): (String, i64) =
        connection.query_row(before, [seq], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let time = "2026-01-01T00:00:00.000000Z";
    let body = format!(r#"{{"v":1,"kind":"note","text":"{text}"}}"#);
    let columns = Columns {
        prev: prev.as_bytes(),
        seq,
        session: b"s1",
        time: time.as_bytes(),
        kind: b"note",
        body: body.as_bytes(),
    };
    let hash = columns.hash();
    let insert = "INSERT OR REPLACE INTO record VALUES (?1, 's1', ?2, ?3, 'note', ?4, ?5, ?6)";
    connection.execute(insert, params![place, seq, time, body, prev, hash]).unwrap();
}

#[test]
fn a_forged_record_does_not_fit_the_one_after_it() {
    let place = Place::with_records();
    forge(&place.tamperer(), 2, "forged");
    assert_eq!(breaks(&place), one(3, BreakReason::Unlinked));
}

#[test]
fn a_forged_last_record_does_not_fit_the_head() {
    let place = Place::with_records();
    forge(&place.tamperer(), 3, "forged");
    assert_eq!(breaks(&place), one(3, BreakReason::NotTheHead));
    let tamperer = place.tamperer_again();
    let adapt = "UPDATE head SET hash = (SELECT hash FROM record WHERE session = 's1' AND seq = 3)
                 WHERE session = 's1'";
    tamperer.execute_batch(adapt).unwrap();
    assert_eq!(breaks(&place), one(3, BreakReason::Unsigned));
}

#[test]
fn an_added_record_is_named_and_cannot_be_continued() {
    let mut place = Place::with_records();
    forge(&place.tamperer(), 4, "added");
    assert_eq!(breaks(&place), one(4, BreakReason::Added));
    let error = place.log.append("s1", &prompt("x")).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
    // The others go on.
    assert_eq!(place.log.append("s2", &prompt("x")).unwrap().seq, 4);
    assert_eq!(place.log.append("s3", &prompt("x")).unwrap().seq, 1);
}

#[test]
fn a_head_that_was_changed_is_named_and_cannot_be_continued() {
    for (change, seq, reason) in [
        ("seq = 2", 3, BreakReason::Added),
        ("seq = -1", 1, BreakReason::Added),
        ("seq = 9", 4, BreakReason::EndMissing { last: 9 }),
        ("hash = hash || 'x'", 3, BreakReason::NotTheHead),
        ("place = place + 1", 1, BreakReason::Unlisted),
        ("seal = lower(seal) || ' '", 3, BreakReason::Unsigned),
        ("seal = ''", 3, BreakReason::Unsigned),
    ] {
        let mut place = Place::with_records();
        let change = format!("UPDATE head SET {change} WHERE session = 's1'");
        place.tamperer().execute_batch(&change).unwrap();
        let found = place.log.verify().unwrap();
        assert_eq!(breaks(&place), one(seq, reason), "{change}");
        assert!(found.missing.is_some(), "{change}");
        let error = place.log.append("s1", &prompt("x")).unwrap_err();
        assert!(matches!(error, StoreError::Broken { .. }), "{error}");
        place.log.append("s2", &prompt("x")).unwrap();
    }
}

#[test]
fn a_session_that_was_hidden_renamed_or_copied_is_noticed() {
    let unlisted = |session: &str| vec![(session.to_owned(), 1, BreakReason::Unlisted)];
    assert_eq!(after("DELETE FROM head WHERE session = 's1'"), unlisted("s1"));
    let renamed = after(
        "UPDATE head SET session = 's9' WHERE session = 's1';
         UPDATE record SET session = 's9' WHERE session = 's1'",
    );
    assert_eq!(renamed, [("s9".into(), 1, BreakReason::Altered)]);
    let copied = after(
        "INSERT INTO record SELECT place + (9 << 32), session, seq, time, kind, body, prev, hash
         FROM record WHERE session = 's1'",
    );
    assert_eq!(copied, unlisted("s1"));
    let place = Place::with_records();
    let remove = "DELETE FROM head WHERE session = 's1'; DELETE FROM record WHERE session = 's1'";
    place.tamperer().execute_batch(remove).unwrap();
    let found = place.log.verify().unwrap();
    assert_eq!((found.breaks.len(), found.records), (0, 3));
    assert_eq!(found.missing, Some(Missing { listed: 3, written: 6 }));
    assert!(!found.is_whole());
}

#[test]
fn without_a_signed_total_nothing_is_appended() {
    for change in [
        "DELETE FROM head WHERE session = '~'",
        "UPDATE head SET seq = seq + 1 WHERE session = '~'",
        "UPDATE head SET hash = 'x' WHERE session = '~'",
        "UPDATE head SET seal = seal || 'x' WHERE session = '~'",
    ] {
        let place = Place::with_records();
        place.tamperer().execute_batch(change).unwrap();
        assert_eq!(place.log.verify().unwrap().state, RecordState::Unsigned, "{change}");
        for session in ["s1", "s3"] {
            let mut other = Log::open_unchecked(&place.folders).unwrap();
            let error = other.append(session, &prompt("x")).unwrap_err();
            assert!(matches!(error, StoreError::Broken { .. }), "{error}");
        }
        assert!(Log::open(&place.folders).is_err());
    }
}
