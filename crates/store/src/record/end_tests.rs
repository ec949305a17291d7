//! The newest records cannot be cut off unseen, and nothing else looks as if they were.

use super::*;
use crate::{
    Folders,
    record::{
        Log, RecordState,
        example::{Place, prompt},
    },
};
use std::path::PathBuf;

/// The files of a record, taken away from it and put back.
struct Copy {
    folders: Folders,
    home: tempfile::TempDir,
}

impl Copy {
    /// A record of 30 entries that nobody has open.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        let mut log = Log::open(&folders).unwrap();
        for at in 0..30 {
            log.append("s1", &prompt(&format!("number {at}"))).unwrap();
        }
        Self { folders, home }
    }

    fn wal(&self) -> PathBuf {
        self.folders.data.join("record.db-wal")
    }

    fn state(&self) -> RecordState {
        Log::open_to_read(&self.folders).unwrap().state().unwrap()
    }

    /// How many records are missing at the end, by the check.
    fn missing(&self) -> u64 {
        let found = Log::open_to_read(&self.folders).unwrap().verify().unwrap();
        assert_eq!((found.breaks.len(), found.missing), (0, None));
        match found.state {
            RecordState::Whole => 0,
            RecordState::Cut { missing, session, seq, .. } => {
                assert_eq!((session.as_str(), seq, missing), ("s1", 30, 30 - found.records));
                missing
            }
            other @ (RecordState::Replaced { .. }
            | RecordState::Unknown
            | RecordState::Unsigned) => panic!("{other:?}"),
        }
    }

    /// Nothing is appended, and the message has the reason.
    fn is_refused(&self) -> String {
        Log::open(&self.folders).unwrap_err().to_string()
    }
}

#[test]
fn a_whole_record_is_whole() {
    let copy = Copy::new();
    assert_eq!(copy.missing(), 0);
    assert!(Log::open(&copy.folders).is_ok());
}

#[test]
fn a_flipped_byte_anywhere_in_the_newest_frames_is_noticed() {
    const FRAME: usize = 24 + 4096;
    let copy = Copy::new();
    let whole = fs_err::read(copy.wal()).unwrap();
    // The frames of the last few commits: headers byte by byte, pages at many places.
    let first = whole.len() - 6 * FRAME;
    let places = (first..whole.len()).filter(|at| {
        let in_frame = (at - 32) % FRAME;
        in_frame < 24 || in_frame.is_multiple_of(97)
    });
    let mut tried = 0;
    for at in places {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs_err::write(copy.wal(), &damaged).unwrap();
        let missing = copy.missing();
        assert!((1..=30).contains(&missing), "byte {at}: {missing} missing");
        assert!(copy.is_refused().contains("missing"));
        tried += 1;
    }
    assert!(tried > 300, "{tried}");
    fs_err::write(copy.wal(), &whole).unwrap();
    assert_eq!(copy.missing(), 0);
}

#[test]
fn a_log_that_is_cut_short_or_removed_is_noticed() {
    let copy = Copy::new();
    let whole = fs_err::read(copy.wal()).unwrap();
    for keep in [whole.len() - 1, whole.len() - 5_000, whole.len() / 2, 100, 0] {
        fs_err::write(copy.wal(), &whole[..keep]).unwrap();
        assert!(copy.missing() >= 1, "{keep}");
    }
    fs_err::remove_file(copy.wal()).unwrap();
    assert_eq!(copy.missing(), 30);
    let message = copy.is_refused();
    assert!(message.starts_with("the newest 30 records are missing (the last was "), "{message}");
    assert!(message.contains("no power failure explains it"), "{message}");
}

#[test]
fn an_older_copy_of_the_whole_database_is_noticed() {
    let copy = Copy::new();
    let names = ["record.db", "record.db-wal", "record.db-shm"];
    let older: Vec<_> =
        names.iter().map(|name| fs_err::read(copy.folders.data.join(name)).unwrap()).collect();
    let mut log = Log::open(&copy.folders).unwrap();
    log.append("s2", &prompt("later")).unwrap();
    drop(log);
    for (name, content) in names.iter().zip(older) {
        fs_err::write(copy.folders.data.join(name), content).unwrap();
    }
    let state = copy.state();
    assert!(matches!(&state, RecordState::Cut { missing: 1, .. }), "{state:?}");
}

#[test]
fn a_database_that_is_gone_or_emptied_is_not_begun_anew() {
    let copy = Copy::new();
    for name in ["record.db-wal", "record.db-shm"] {
        fs_err::remove_file(copy.folders.data.join(name)).unwrap();
    }
    fs_err::write(copy.folders.record_file(), "").unwrap();
    assert_eq!(copy.missing(), 30);
    assert!(copy.is_refused().contains("30 records are missing"));
    fs_err::remove_file(copy.folders.record_file()).unwrap();
    assert_eq!(copy.missing(), 30);
    assert!(copy.is_refused().contains("30 records are missing"));
    assert!(!copy.folders.record_file().exists());
}

#[test]
fn another_record_in_its_place_is_noticed() {
    let (copy, other) = (Copy::new(), Copy::new());
    for name in ["record.db", "record.db-wal", "record.db-shm"] {
        std::fs::copy(other.folders.data.join(name), copy.folders.data.join(name)).unwrap();
    }
    // Its list is signed with another key.
    assert_eq!(copy.state(), RecordState::Unsigned);
    assert!(copy.is_refused().contains("not signed with the key of this data folder"));
    // With the key too, the end is that of another record.
    std::fs::copy(other.folders.data.join("seal.key"), copy.folders.data.join("seal.key")).unwrap();
    assert_eq!(copy.state(), RecordState::Unknown);
    assert!(copy.is_refused().contains("is missing or damaged"));
}

#[test]
fn one_damaged_slot_is_no_loss_and_two_are_noticed() {
    let copy = Copy::new();
    let path = copy.folders.end_file();
    let whole = fs_err::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs_err::write(&path, &damaged).unwrap();
        assert_eq!(copy.state(), RecordState::Whole, "{at}");
    }
    let mut damaged = whole.clone();
    damaged[3] ^= 1;
    damaged[SLOT + 3] ^= 1;
    fs_err::write(&path, &damaged).unwrap();
    assert_eq!(copy.state(), RecordState::Unknown);
    assert!(copy.is_refused().contains("is missing or damaged"));
    fs_err::remove_file(&path).unwrap();
    assert_eq!(copy.state(), RecordState::Unknown);
    assert!(copy.is_refused().contains("is missing or damaged"));
}

#[test]
fn a_restart_of_the_machine_is_told_apart() {
    let copy = Copy::new();
    fs_err::remove_file(copy.wal()).unwrap();
    let key = copy.folders.find_key().unwrap();
    let end = End { records: 30, session: "s1".into(), seq: 30, hash: "0".repeat(64) };
    let earlier = Slot { end, boot: "another-boot".into() }.bytes(&key);
    fs_err::write(copy.folders.end_file(), [earlier.clone(), earlier].concat()).unwrap();
    let state = copy.state();
    assert!(matches!(state, RecordState::Cut { may_have_restarted: true, .. }), "{state:?}");
    assert!(state.to_string().contains("a power failure may have lost them"));
}

#[test]
fn a_kill_between_the_two_writes_raises_no_alarm() {
    let copy = Copy::new();
    let path = copy.folders.end_file();
    // The end as it was before the last commits: these were made, and the end was not moved.
    let lagging = fs_err::read(&path).unwrap();
    let mut log = Log::open(&copy.folders).unwrap();
    for _ in 0..3 {
        log.append("s2", &prompt("later")).unwrap();
    }
    drop(log);
    fs_err::write(&path, lagging).unwrap();
    assert_eq!(copy.state(), RecordState::Whole);
    let mut log = Log::open(&copy.folders).unwrap();
    assert_eq!(log.append("s3", &prompt("goes on")).unwrap().seq, 1);
    drop(log);
    fs_err::remove_file(copy.wal()).unwrap();
    assert!(matches!(copy.state(), RecordState::Cut { missing: 34, .. }));
}

#[test]
fn of_many_processes_the_end_is_the_last_record() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let folders = &folders;
            scope.spawn(move || {
                let mut log = Log::open(folders).unwrap();
                for _ in 0..50 {
                    log.append(&format!("s{thread}"), &prompt("x")).unwrap();
                    assert_eq!(log.state().unwrap(), RecordState::Whole);
                }
            });
        }
        for _ in 0..100 {
            let log = Log::open_to_read(&folders).unwrap();
            assert_eq!(log.state().unwrap(), RecordState::Whole);
        }
    });
    let key = folders.find_key().unwrap();
    let end = EndFile::open(&folders.end_file(), Access::Read, &key).unwrap().unwrap();
    assert_eq!(end.read().unwrap().unwrap().end.records, 300);
}

#[test]
fn a_person_can_go_on_and_that_stays_on_record() {
    let copy = Copy::new();
    assert_eq!(Log::accept(&copy.folders).unwrap(), None);
    fs_err::remove_file(copy.wal()).unwrap();
    let accepted = Log::accept(&copy.folders).unwrap().unwrap();
    assert_eq!(accepted.seq, 1);
    let mut log = Log::open(&copy.folders).unwrap();
    log.append("s2", &prompt("goes on")).unwrap();
    let found = log.verify().unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!((found.records, found.accepted.len()), (2, 1));
    assert!(found.accepted[0].1.contains("the newest 30 records are missing"));
    drop(log);
    fs_err::remove_file(copy.folders.end_file()).unwrap();
    assert_eq!(Log::accept(&copy.folders).unwrap().unwrap().seq, 1);
    assert!(Log::open(&copy.folders).is_ok());
}

#[test]
fn a_record_that_is_removed_or_replaced_takes_no_more() {
    for name in ["record.db", "record.db-wal", "record.end"] {
        let mut place = Place::with_records();
        let path = place.folders.data.join(name);
        let aside = path.with_extension("aside");
        fs_err::rename(&path, &aside).unwrap();
        let error = place.log.append("s1", &prompt("x")).unwrap_err();
        assert!(matches!(error, StoreError::Gone { .. }), "{name}: {error}");
        std::fs::copy(&aside, &path).unwrap();
        assert!(place.log.append("s1", &prompt("x")).is_err(), "{name}");
        // The control: the very same file is back.
        fs_err::rename(&aside, &path).unwrap();
        assert_eq!(place.log.append("s1", &prompt("x")).unwrap().seq, 4, "{name}");
    }
}

#[test]
fn without_a_record_there_is_nothing_to_read_and_nothing_is_made() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(home.path());
    let log = Log::open_to_read(&folders).unwrap();
    assert!(log.verify().unwrap().is_whole());
    assert_eq!(log.newest_session().unwrap(), None);
    assert!(!folders.data.exists());
}

#[test]
fn the_file_can_be_read_by_hand() {
    let copy = Copy::new();
    let text = fs_err::read_to_string(copy.folders.end_file()).unwrap();
    assert!(text.contains("00000000000000000030 "), "{text}");
    assert_eq!(text.len(), 2 * SLOT);
    assert!(copy.home.path().exists());
}
