//! Random histories, random tampering and random kills: every change is seen, and nothing else is.
//!
//! The attacker writes the database, knows every state that it ever had, and has not the key.

use super::{
    Log, RecordState,
    example::{Place, prompt},
};
use crate::StoreError;
use proptest::{prelude::*, sample::Index};
use rusqlite::{Connection, types::Value};
use std::collections::BTreeMap;

/// The rows of a table.
type Rows = Vec<Vec<Value>>;

/// The whole content of a database.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    records: Rows,
    heads: Rows,
}

impl Content {
    fn read(connection: &Connection) -> Self {
        let read = |query: &str| -> Rows {
            let mut statement = connection.prepare(query).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
            rows.unwrap().collect::<Result<_, _>>().unwrap()
        };
        Self {
            records: read("SELECT * FROM record ORDER BY place"),
            heads: read("SELECT * FROM head ORDER BY session"),
        }
    }

    fn write(&self, connection: &Connection) {
        connection.execute_batch("BEGIN; DELETE FROM record; DELETE FROM head").unwrap();
        for (table, rows) in [("record", &self.records), ("head", &self.heads)] {
            for row in rows {
                let marks = vec!["?"; row.len()].join(", ");
                let insert = format!("INSERT OR IGNORE INTO {table} VALUES ({marks})");
                connection.execute(&insert, rusqlite::params_from_iter(row)).unwrap();
            }
        }
        connection.execute_batch("COMMIT").unwrap();
    }

    /// The rows of each session; the total is the session `~`.
    fn sessions(&self) -> BTreeMap<String, Self> {
        let mut sessions: BTreeMap<String, Self> = BTreeMap::new();
        let name = |value: &Value| {
            let Value::Text(name) = value else { panic!("{value:?}") };
            name.clone()
        };
        for (rows, is_head, at) in [(&self.records, false, 1), (&self.heads, true, 0)] {
            for row in rows {
                let session = sessions
                    .entry(name(&row[at]))
                    .or_insert(Self { records: vec![], heads: vec![] });
                if is_head { &mut session.heads } else { &mut session.records }.push(row.clone());
            }
        }
        sessions
    }
}

/// A history: appends of sessions in turns, with the state after each.
fn history(appends: &[(u8, u8)]) -> (Place, Vec<Content>) {
    let mut place = Place::new();
    let mut other = Log::open(&place.folders).unwrap();
    let mut states = vec![Content::read(&place.log.connection)];
    for (at, (session, count)) in appends.iter().enumerate() {
        let log = if at % 2 == 0 { &mut place.log } else { &mut other };
        let entries: Vec<_> = (0..*count)
            .map(|number| super::LogEntry::now(prompt(&format!("{at} {number}"))))
            .collect();
        log.append_all(&format!("s{session}"), &entries).unwrap();
        states.push(Content::read(&place.log.connection));
    }
    (place, states)
}

fn appends() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0..4_u8, 1..4_u8), 1..12)
}

/// Something done to the rows of a database.
#[derive(Clone, Debug)]
enum Change {
    Remove(Index),
    Swap(Index, Index),
    /// The first row gets a column of the second.
    Copy(Index, Index, Index),
    Flip(Index, Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        index().prop_map(Change::Remove),
        (index(), index()).prop_map(|(one, other)| Change::Swap(one, other)),
        (index(), index(), index()).prop_map(|(one, other, at)| Change::Copy(one, other, at)),
        (index(), index(), index()).prop_map(|(row, at, byte)| Change::Flip(row, at, byte)),
    ]
}

impl Change {
    fn apply(&self, rows: &mut Rows) {
        if rows.is_empty() {
            return;
        }
        let (count, columns) = (rows.len(), rows[0].len());
        match self {
            Self::Remove(row) => drop(rows.remove(row.index(count))),
            Self::Swap(one, other) => {
                let (one, other) = (one.index(count), other.index(count));
                // The rows take each other's place in the table, and in their session.
                rows.swap(one, other);
                let places = (rows[one][0].clone(), rows[other][0].clone());
                (rows[other][0], rows[one][0]) = places;
            }
            Self::Copy(one, other, at) => {
                let at = at.index(columns);
                rows[one.index(count)][at] = rows[other.index(count)][at].clone();
            }
            Self::Flip(row, at, byte) => match &mut rows[row.index(count)][at.index(columns)] {
                Value::Integer(number) => *number ^= 1 << byte.index(40),
                Value::Text(text) if !text.is_empty() => {
                    let byte = byte.index(text.len());
                    if text.is_char_boundary(byte) && text.is_char_boundary(byte + 1) {
                        text.replace_range(byte..=byte, "#");
                    }
                }
                Value::Null | Value::Real(_) | Value::Text(_) | Value::Blob(_) => {}
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Of each session, and of the total, the attacker puts back any state that it ever had.
    #[test]
    fn no_mixture_of_older_states_is_whole(
        appends in appends(),
        choices in prop::collection::vec(any::<Index>(), 5),
    ) {
        let (place, states) = history(&appends);
        let last = states.last().unwrap();
        prop_assert!(place.log.verify().unwrap().is_whole());
        let mut mixed = Content { records: vec![], heads: vec![] };
        for (session, choice) in ["s0", "s1", "s2", "s3", "~"].iter().zip(choices) {
            let state = states[choice.index(states.len())].sessions().remove(*session);
            if let Some(state) = state {
                mixed.records.extend(state.records);
                mixed.heads.extend(state.heads);
            }
        }
        mixed.write(&place.tamperer());
        let is_same = Content::read(&place.log.connection) == *last;
        prop_assert_eq!(place.log.verify().unwrap().is_whole(), is_same);
    }

    /// Rows are removed, exchanged, copied and damaged.
    #[test]
    fn no_change_of_rows_is_whole(
        appends in appends(),
        changes in prop::collection::vec((change(), any::<bool>()), 1..4),
    ) {
        let (place, states) = history(&appends);
        let mut changed = states.last().unwrap().clone();
        for (change, is_head) in &changes {
            change.apply(if *is_head { &mut changed.heads } else { &mut changed.records });
        }
        changed.write(&place.tamperer());
        let now = Content::read(&place.log.connection);
        prop_assert_eq!(place.log.verify().unwrap().is_whole(), now == *states.last().unwrap());
    }

    /// A process that is killed before it moves the end leaves an end that lags, and no alarm.
    #[test]
    fn a_kill_between_any_two_writes_is_no_alarm(
        appends in appends(),
        kills in prop::collection::vec(any::<bool>(), 12),
    ) {
        let place = Place::new();
        for ((session, count), is_killed) in appends.iter().zip(kills) {
            let before = fs_err::read(place.folders.end_file()).unwrap();
            let mut log = Log::open(&place.folders).unwrap();
            let entries = vec![super::LogEntry::now(prompt("x")); usize::from(*count)];
            log.append_all(&format!("s{session}"), &entries).unwrap();
            drop(log);
            if is_killed {
                fs_err::write(place.folders.end_file(), before).unwrap();
            }
            prop_assert!(Log::open(&place.folders).unwrap().verify().unwrap().is_whole());
        }
    }
}

#[test]
fn a_removed_session_is_accepted_once_and_its_old_heads_are_worth_nothing() {
    let (mut place, states) = history(&[(0, 2), (1, 3), (0, 1), (2, 2)]);
    let last = states.last().unwrap();
    let mut without = last.clone();
    without.records.retain(|row| row[1] != Value::Text("s1".into()));
    without.heads.retain(|row| row[0] != Value::Text("s1".into()));
    without.write(&place.tamperer());
    assert!(place.log.verify().unwrap().missing.is_some());
    let accepted = Log::accept(&place.folders).unwrap().unwrap();
    assert_eq!(Log::accept(&place.folders).unwrap(), None);
    place.log = Log::open(&place.folders).unwrap();
    let found = place.log.verify().unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!((found.records, found.sessions), (6, 3));
    assert_eq!(found.accepted[0].0, accepted.session);
    assert!(found.accepted[0].1.contains("5 records and 8 were written"), "{found:?}");
    // The session cannot be put back as if nothing had happened, nor an older state of another.
    let now = Content::read(&place.log.connection);
    for session in ["s1", "s0"] {
        let mut back = now.clone();
        let name = Value::Text(session.into());
        back.records.retain(|row| row[1] != name);
        back.heads.retain(|row| row[0] != name);
        let old = states[2].sessions().remove(session).unwrap();
        back.records.extend(old.records);
        back.heads.extend(old.heads);
        back.write(&place.tamperer_again());
        assert!(!place.log.verify().unwrap().is_whole(), "{session}");
    }
    now.write(&place.tamperer_again());
    assert!(place.log.verify().unwrap().is_whole());
}

#[test]
fn a_killed_acceptance_can_be_repeated() {
    let (place, states) = history(&[(0, 2), (1, 3)]);
    let end = fs_err::read(place.folders.end_file()).unwrap();
    states[1].write(&place.tamperer());
    assert!(matches!(place.log.state().unwrap(), RecordState::Cut { missing: 3, .. }));
    Log::accept(&place.folders).unwrap().unwrap();
    // The transaction was committed, and the end was not replaced.
    fs_err::write(place.folders.end_file(), end).unwrap();
    assert!(Log::open(&place.folders).is_err());
    Log::accept(&place.folders).unwrap().unwrap();
    assert!(Log::open(&place.folders).unwrap().verify().unwrap().is_whole());
}

#[test]
fn a_lost_key_stops_everything_until_it_is_accepted() {
    let (place, _) = history(&[(0, 2), (1, 3)]);
    fs_err::remove_file(place.folders.data.join("seal.key")).unwrap();
    let found = Log::open_to_read(&place.folders).unwrap().verify().unwrap();
    assert_eq!((found.state, found.breaks.len()), (RecordState::Unsigned, 2));
    assert!(Log::open(&place.folders).is_err());
    Log::accept(&place.folders).unwrap().unwrap();
    let found = Log::open(&place.folders).unwrap().verify().unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert_eq!((found.records, found.sessions), (6, 3));
}

#[test]
fn a_database_that_is_set_back_while_a_session_runs_takes_no_more() {
    let (mut place, states) = history(&[(0, 2), (1, 3), (0, 1)]);
    states[2].write(&place.tamperer());
    for session in ["s0", "s9"] {
        assert!(place.log.append(session, &prompt("x")).is_err());
    }
    states[3].write(&place.tamperer_again());
    place.log.append("s0", &prompt("x")).unwrap();
}

/// Each keeps a record from being kept, or has it kept elsewhere.
const PLANTED: [&str; 8] = [
    "CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER t AFTER INSERT ON record
     BEGIN DELETE FROM record WHERE place = new.place; END",
    "CREATE TRIGGER t BEFORE INSERT ON head BEGIN SELECT RAISE(IGNORE); END",
    "CREATE UNIQUE INDEX i ON record (kind)",
    "CREATE VIEW v AS SELECT * FROM record",
    "CREATE TABLE theirs (x)",
    "DROP INDEX record_prompt",
    "DROP TRIGGER record_no_update;
     CREATE TRIGGER record_no_update BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END",
];

#[test]
fn whatever_is_planted_in_the_database_keeps_the_record_shut_until_it_is_accepted() {
    for planted in PLANTED {
        let mut place = Place::new();
        place.log.append("s1", &prompt("one")).unwrap();
        place.tamperer_again().execute_batch(planted).unwrap();
        let error = Log::open(&place.folders).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{planted}: {error}");
        // Reading goes on, and the check names it.
        let found = Log::open_to_read(&place.folders).unwrap().verify().unwrap();
        assert!(!found.is_whole() && found.breaks.is_empty(), "{planted}: {found:?}");
        let name = found.first_fault().unwrap();
        assert!(error.to_string().ends_with(&name), "{error}");
        Log::accept(&place.folders).unwrap().unwrap();
        let mut log = Log::open(&place.folders).unwrap();
        log.append("s1", &prompt("two")).unwrap();
        let found = log.verify().unwrap();
        assert!(found.is_whole() && found.accepted[0].1 == name, "{planted}: {found:?}");
        assert_eq!(found.records, 3, "{planted}");
    }
}

#[test]
fn what_is_planted_while_a_session_runs_keeps_nothing_from_the_record() {
    for planted in PLANTED {
        let mut place = Place::new();
        place.log.append("s1", &prompt("one")).unwrap();
        place
            .tamperer()
            .execute_batch(planted.trim_start_matches("DROP TRIGGER record_no_update;"))
            .unwrap();
        let kept = place.log.append("s1", &prompt("two"));
        let count = "SELECT count(*) FROM record WHERE session = 's1'";
        let count: i64 = place.log.connection.query_row(count, [], |row| row.get(0)).unwrap();
        // Kept, or refused: never taken for kept.
        assert_eq!(count, if kept.is_ok() { 2 } else { 1 }, "{planted}");
        assert_eq!(kept.is_ok(), !planted.contains("UNIQUE"), "{planted}: {kept:?}");
    }
}

#[test]
fn a_table_that_takes_rows_and_keeps_none_is_noticed() {
    let mut place = Place::new();
    place.log.append("s1", &prompt("one")).unwrap();
    // The same, but a second row of a kind is silently left out.
    let exchanged = "ALTER TABLE record RENAME TO old;
        CREATE TABLE record (place INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL,
            time TEXT NOT NULL, kind TEXT NOT NULL UNIQUE ON CONFLICT IGNORE, body TEXT NOT NULL,
            prev TEXT NOT NULL, hash TEXT NOT NULL);
        INSERT INTO record SELECT * FROM old; DROP TABLE old";
    place.tamperer().execute_batch(exchanged).unwrap();
    let error = place.log.append("s1", &prompt("two")).unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error}");
    assert!(matches!(Log::open(&place.folders).unwrap_err(), StoreError::Foreign { .. }));
    // Nothing of ours is taken away by accepting: that stays refused.
    assert!(matches!(Log::accept(&place.folders).unwrap_err(), StoreError::Foreign { .. }));
}
