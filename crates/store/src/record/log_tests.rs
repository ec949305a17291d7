//! Opening, appending and reading back, and the ways in which each can fail.

use super::*;
use crate::record::{
    ExportFilter, ExportVerification, LinkedRecord, Verification,
    example::{Place, prompt, started},
};
use crate::{Folders, RecordState, private};
use interpreter_core::{Blob, Origin, Output, Stream};
use std::thread;
use std::time::Duration;

fn whole(records: u64, sessions: u64) -> Verification {
    Verification {
        records,
        sessions,
        breaks: vec![],
        missing: None,
        state: RecordState::Whole,
        accepted: vec![],
        removed: 0,
        foreign: None,
    }
}

#[test]
fn what_is_appended_can_be_read_back() {
    let mut place = Place::new();
    let bodies = [
        started(),
        prompt("a\n\"b\" \u{0} €"),
        Body::Proposal {
            id: "p1".into(),
            origin: Origin::Model,
            language: "python".into(),
            code: Untrusted::new("print(1)\n"),
            hash: "0".repeat(64),
            invocation: None,
            again: None,
            sealed: None,
        },
        Body::Output(Output {
            proposal: "p1".into(),
            stream: Stream::Stdout,
            text: Untrusted::new("\u{1b}[31m\u{fffd}"),
            mime: "text/plain".into(),
            bundle: [].into(),
            display: None,
            bytes: Some("/w==".into()),
            kept: None,
        }),
        Body::RunFinished {
            proposal: "p1".into(),
            status: Some(-1),
            signal: None,
            limit: None,
            kernel_ended: false,
            ms: u64::MAX,
        },
        Body::SessionEnded {},
    ];
    let appended: Vec<_> =
        bodies.iter().map(|body| place.log.append("s1", body).unwrap()).collect();
    let read: Vec<_> = place.log.records("s1").collect::<Result<_, _>>().unwrap();
    assert_eq!(read, appended);
    assert_eq!(read.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(place.log.records("s2").count(), 0);
    // Each by its number, too.
    for record in &appended {
        assert_eq!(place.log.record("s1", record.seq).unwrap().as_ref(), Some(record));
    }
    for (session, seq) in [("s1", 0), ("s1", 7), ("s1", u64::MAX), ("s2", 1)] {
        assert_eq!(place.log.record(session, seq).unwrap(), None);
    }
    assert_eq!(place.log.verify().unwrap(), whole(6, 1));
}

#[test]
fn entries_are_appended_together_or_not_at_all() {
    let mut place = Place::new();
    place.log.append("s1", &started()).unwrap();
    let entries = ["one", "two", "three"].map(|text| LogEntry::now(prompt(text)));
    assert_eq!(place.log.append_all("s1", &entries).unwrap(), 2);
    let read: Vec<_> = place.log.records("s1").collect::<Result<_, _>>().unwrap();
    assert_eq!(read[3], entries[2].clone().into_record(4, "s1"));
    assert_eq!(place.log.verify().unwrap(), whole(4, 1));

    // The second of these finds its place taken.
    let taken = "INSERT INTO record (place, session, seq, time, kind, body, prev, hash)
                 SELECT place + 2, 's1', 6, '', 'note', '{}', '', '' FROM head WHERE session = 's1'";
    place.log.connection.execute_batch(taken).unwrap();
    assert!(place.log.append_all("s1", &entries).is_err());
    let head = "SELECT seq FROM head WHERE session = 's1'";
    let head: i64 = place.log.connection.query_row(head, [], |row| row.get(0)).unwrap();
    assert_eq!(head, 4);
}

#[test]
fn what_has_a_file_of_its_own_is_not_in_the_record_too() {
    let mut place = Place::new();
    let kept = Blob { hash: "0".repeat(64), bytes: 9, characters: 9 };
    let output = |text: &str| {
        Body::Output(Output {
            proposal: "p1".into(),
            stream: Stream::Stdout,
            text: Untrusted::new(text),
            mime: "text/plain".into(),
            bundle: [].into(),
            display: None,
            bytes: None,
            kept: Some(kept.clone()),
        })
    };
    place.log.append("s1", &output("long text")).unwrap();
    let read = place.log.records("s1").next().unwrap().unwrap();
    assert_eq!(read.body, output(""));
}

#[test]
fn a_record_is_one_line_of_json() {
    let mut place = Place::new();
    let record = place.log.append("s1", &prompt("hi\nthere")).unwrap();
    let line = serde_json::to_string(&record).unwrap();
    let time = &record.time;
    assert_eq!(
        line,
        format!(
            r#"{{"v":1,"seq":1,"time":"{time}","session":"s1","kind":"prompt","text":"hi\nthere"}}"#
        )
    );
    assert_eq!(time.len(), "2026-01-01T00:00:00.000000Z".len());
    assert!(time.parse::<jiff::Timestamp>().is_ok());
}

#[test]
fn the_columns_hold_what_is_documented() {
    let mut place = Place::new();
    let record = place.log.append("s1", &prompt("hi")).unwrap();
    let row: (i64, String, String, String, String, String) = place
        .log
        .connection
        .query_row("SELECT seq, session, time, kind, body, prev FROM record", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        })
        .unwrap();
    let body = r#"{"v":1,"kind":"prompt","text":"hi"}"#;
    let expected =
        (1, "s1", record.time.as_str(), "prompt", body, interpreter_core::hash::sha256(b"s1"));
    assert_eq!((row.0, &*row.1, &*row.2, &*row.3, &*row.4, row.5), expected);
}

#[test]
fn records_are_read_from_a_number_on() {
    let mut place = Place::new();
    for number in 1..=100 {
        place.log.append("s1", &prompt(&number.to_string())).unwrap();
        place.log.append("s2", &prompt("other")).unwrap();
    }
    let numbers = |after| -> Vec<u64> {
        place.log.records_after("s1", after).map(|record| record.unwrap().seq).collect()
    };
    assert_eq!(numbers(0), (1..=100).collect::<Vec<_>>());
    assert_eq!(numbers(40), (41..=100).collect::<Vec<_>>());
    assert_eq!(numbers(99), [100]);
    for beyond in [100, 101, u64::MAX] {
        assert!(numbers(beyond).is_empty());
    }
}

#[test]
fn many_records_come_page_by_page_and_in_order() {
    let mut place = Place::new();
    for at in 0..100 {
        place.log.append(if at % 2 == 0 { "even" } else { "odd" }, &prompt("x")).unwrap();
    }
    let seqs: Vec<_> = place.log.records("odd").map(|record| record.unwrap().seq).collect();
    assert_eq!(seqs, (1..=50).collect::<Vec<_>>());
}

#[test]
fn an_opened_record_goes_on_where_it_ended() {
    let mut place = Place::with_records();
    drop(place.log);
    place.log = Log::open(&place.folders).unwrap();
    assert_eq!(place.log.append("s3", &started()).unwrap().seq, 1);
    assert_eq!(place.log.append("s2", &started()).unwrap().seq, 4);
    assert_eq!(place.log.verify().unwrap(), whole(8, 3));
}

#[test]
fn several_at_once_stay_linked_from_the_first_open_on() {
    const EACH: u64 = 50;
    const WRITERS: u64 = 6;
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let folders = &folders;
            scope.spawn(move || {
                let mut log = Log::open(folders).unwrap();
                let session = format!("s{writer}");
                let seqs: Vec<_> =
                    (0..EACH).map(|_| log.append(&session, &prompt("x")).unwrap().seq).collect();
                assert_eq!(seqs, (1..=EACH).collect::<Vec<_>>());
            });
        }
    });
    let log = Log::open(&folders).unwrap();
    assert_eq!(log.verify().unwrap(), whole(EACH * WRITERS, WRITERS));
    assert_eq!(log.records("s0").count() as u64, EACH);
}

#[test]
fn a_check_sees_one_state_while_another_appends() {
    let mut place = Place::with_records();
    let reader = Log::open(&place.folders).unwrap();
    let transaction = reader.connection.unchecked_transaction().unwrap();
    let count = || -> i64 {
        transaction.query_row("SELECT count(*) FROM record", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(), 6);
    place.log.append("s3", &started()).unwrap();
    assert_eq!(count(), 6);
}

#[test]
fn the_guards_refuse_changes_by_mistake() {
    let place = Place::with_records();
    for change in [
        "UPDATE record SET body = '{}' WHERE seq = 1",
        "DELETE FROM record WHERE seq = 3",
        "INSERT INTO record SELECT * FROM record WHERE seq = 2",
    ] {
        assert!(place.tamperer_again().execute(change, []).is_err(), "{change}");
    }
    assert_eq!(place.log.verify().unwrap(), whole(6, 2));
}

#[cfg(unix)]
#[test]
fn every_file_of_the_record_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_records();
    let files: Vec<_> = std::fs::read_dir(&place.folders.data).unwrap().flatten().collect();
    // The database, its write-ahead log and its shared memory; the end, the key, and the reserve.
    assert_eq!(files.len(), 6);
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", file.path());
    }
}

#[test]
fn a_full_disk_appends_nothing_and_later_goes_on() {
    let mut place = Place::with_records();
    let pages: i64 =
        place.log.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |log: &Log, pages: i64| {
        let set = |_: &rusqlite::Row<'_>| Ok(());
        log.connection.pragma_update_and_check(None, "max_page_count", pages, set).unwrap();
    };
    limit(&place.log, pages);
    let error = place.log.append("s1", &prompt(&"x".repeat(100_000))).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().starts_with("the disk is full: `"), "{error}");
    assert_eq!(place.log.verify().unwrap(), whole(6, 2));
    limit(&place.log, i64::from(u32::MAX) / 2);
    assert_eq!(place.log.append("s1", &prompt("x")).unwrap().seq, 4);
}

#[test]
fn a_record_that_cannot_be_written_is_an_error() {
    let mut place = Place::with_records();
    place.log.connection.pragma_update(None, "query_only", true).unwrap();
    let error = place.log.append("s1", &prompt("x")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    folders.make_changes_folder().unwrap();
    std::fs::set_permissions(&folders.data, Permissions::from_mode(0o500)).unwrap();
    // Root may write there all the same; then there is nothing to test here.
    if fs_err::write(folders.data.join("probe"), "").is_err() {
        let error = Log::open(&folders).unwrap_err();
        assert!(matches!(error, StoreError::Make { .. }), "{error}");
    }
}

#[test]
fn a_record_that_another_holds_is_an_error_after_a_while() {
    let mut place = Place::with_records();
    let other = Connection::open(place.folders.record_file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    place.log.connection.busy_timeout(Duration::ZERO).unwrap();
    let error = place.log.append("s1", &prompt("x")).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(place.log.append("s1", &prompt("x")).unwrap().seq, 4);
}

fn opened_with(content: impl FnOnce(&Path)) -> StoreError {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    private::make_folder(&folders.data).unwrap();
    private::make_file(&folders.record_file()).unwrap();
    content(&folders.record_file());
    Log::open(&folders).unwrap_err()
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let error = opened_with(|path| fs_err::write(path, "x".repeat(5_000)).unwrap());
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn a_database_that_is_not_ours_is_refused() {
    let error = opened_with(|path| {
        Connection::open(path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    });
    assert!(matches!(error, StoreError::NotARecord { .. }), "{error}");
}

#[test]
fn a_record_of_another_version_is_refused() {
    for version in [4, 6] {
        let error = opened_with(|path| {
            Connection::open(path).unwrap().pragma_update(None, "user_version", version).unwrap();
        });
        let expected = format!("another version of the interpreter (format {version}, this one");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn an_empty_file_becomes_a_record() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    private::make_folder(&folders.data).unwrap();
    private::make_file(&folders.record_file()).unwrap();
    assert_eq!(Log::open(&folders).unwrap().verify().unwrap(), whole(0, 0));
}

#[test]
fn a_session_id_must_be_plain() {
    let mut place = Place::new();
    for session in ["", "a\nb", "a b", "é", &"x".repeat(65)] {
        let error = place.log.append(session, &prompt("x")).unwrap_err();
        assert!(matches!(error, StoreError::NotASessionId { .. }), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn an_event_that_is_no_json_is_an_error() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let mut place = Place::new();
    let mut body = started();
    if let Body::SessionStarted { confinement, .. } = &mut body {
        confinement.work_folder = OsStr::from_bytes(b"/\xff").into();
    }
    let error = place.log.append("s1", &body).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
}

#[test]
fn a_row_that_is_no_record_ends_the_reading_with_its_number() {
    let place = Place::with_records();
    let tamperer = place.tamperer();
    for body in ["{", r#"{"v":2,"kind":"prompt","text":""}"#, r#"{"v":1,"kind":"unheard_of"}"#] {
        tamperer
            .execute("UPDATE record SET body = ?1 WHERE session = 's1' AND seq = 2", [body])
            .unwrap();
        let read: Vec<_> = place.log.records("s1").collect();
        assert_eq!(read.len(), 2);
        assert!(matches!(read[1], Err(StoreError::Unreadable { seq: 2, .. })), "{:?}", read[1]);
    }
}

/// The attack: a record names somebody else. Old records, which name nobody, stay as they are.
#[test]
fn the_name_of_whoever_caused_a_record_is_part_of_the_chain() {
    let mut place = Place::new();
    place.log.append("s1", &started()).unwrap();
    let forged = r#"anna","kind":"prompt"#;
    for who in ["anna", forged] {
        let entry = LogEntry::now(prompt("do it")).by(Some(who.to_owned()));
        place.log.append_all("s1", &[entry]).unwrap();
    }
    let read: Vec<_> = place.log.records("s1").collect::<Result<_, _>>().unwrap();
    let names: Vec<_> = read.iter().map(|record| record.who.as_deref()).collect();
    assert_eq!(names, [None, Some("anna"), Some(forged)]);
    let line = serde_json::to_string(&read[1]).unwrap();
    assert!(line.contains(r#""session":"s1","who":"anna","kind":"prompt""#), "{line}");
    assert!(!serde_json::to_string(&read[0]).unwrap().contains("who"));
    assert_eq!(place.log.verify().unwrap(), whole(3, 1));
    let mut lines = String::new();
    let take = |linked: LinkedRecord| {
        lines += &(linked.line() + "\n");
        Ok::<_, StoreError>(())
    };
    place.log.export(&ExportFilter::default(), take).unwrap();
    assert!(ExportVerification::of(lines.as_bytes()).unwrap().is_whole());
    let changed = lines.replace(r#""who":"anna","#, r#""who":"bert","#);
    assert_ne!(changed, lines);
    assert!(!ExportVerification::of(changed.as_bytes()).unwrap().is_whole());
    for change in ["replace(body, 'anna', 'bert')", r#"replace(body, '"who":"anna",', '')"#] {
        let tampered = format!(
            "DROP TRIGGER IF EXISTS record_no_update; UPDATE record SET body = {change} WHERE seq = 2"
        );
        let before: String = place
            .log
            .connection
            .query_row("SELECT body FROM record WHERE seq = 2", [], |row| row.get(0))
            .unwrap();
        place.log.connection.execute_batch(&tampered).unwrap();
        assert_ne!(place.log.verify().unwrap(), whole(3, 1), "{change}");
        place
            .log
            .connection
            .execute("UPDATE record SET body = ?1 WHERE seq = 2", [before])
            .unwrap();
        assert_eq!(place.log.verify().unwrap(), whole(3, 1));
    }
}
