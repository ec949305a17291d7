//! The record: everything that happened, in one `SQLite` file, a chain of entries for each session.
//!
//! # Threat
//! A record that is edited, removed, reordered, inserted or moved to another session afterwards, by
//! mistake or on purpose, and an effect that happens without one.
//!
//! # Mechanism
//! `record(session, seq, time, kind, body, prev, hash)` is appended to and never changed. `seq`
//! counts from 1 in each session. `prev` is the `hash` of the record before; for the first it is the
//! SHA-256 of the session's id. `hash` is the SHA-256, in hexadecimal, of these six texts with a
//! newline between each two:
//!
//! ```text
//! prev ⏎ seq ⏎ session ⏎ time ⏎ kind ⏎ body
//! ```
//!
//! None of them holds a newline, so no two records have the same text. Each session has a chain of
//! its own, so that a damage costs one session and sessions do not wait for each other. A signed
//! list of heads (`heads.rs`) holds the newest record of each; `record.end` beside the database
//! (`end.rs`) holds the newest of all. Anyone can check a record:
//!
//! ```text
//! session=$(sqlite3 record.db "SELECT max(session) FROM head"); n='||char(10)||'
//! this="FROM record WHERE session = '$session' AND seq = 1"
//! sqlite3 record.db "SELECT prev, hash $this"
//! printf %s "$session" | sha256sum
//! text=$(sqlite3 record.db "SELECT prev$n seq$n session$n time$n kind$n body $this")
//! printf %s "$text" | sha256sum
//! ```
//!
//! An output that is too large for a record has a file of its own, and the record its hash: see
//! `outputs.rs`.
//!
//! # Order
//! [`Log::append`] returns after the record is in the file. Whoever performs an effect appends
//! first and performs after. Before each append the files must still be those that were opened.
//!
//! # Limits
//! Whoever may read the key of the data folder and write its files can write a whole new record. The
//! key is beside the record, so signatures hold against someone who reaches the database alone: a
//! copy, a backup, a tool that edits it. A record survives the death of any process, but the newest
//! may be lost when the machine itself loses power; `end.rs` describes how that is distinguished.

pub use self::{
    anchor::{Anchor, AnchorCheck, AnchorFault},
    export::{ExportFilter, LinkedRecord},
    exported::ExportVerification,
    kept::KeptOutputs,
    log::{Log, LogEntry},
    read::Records,
    remove::{Freed, NotRemovable},
    retain::Retention,
    search::SearchHit,
    sessions::{SessionFilter, SessionSummary, new_session_id, short_id},
    state::RecordState,
    verify::{Break, BreakReason, Missing, Verification},
};

mod accept;
mod anchor;
mod chain;
mod end;
mod export;
mod exported;
mod failure;
mod files;
mod heads;
mod kept;
mod log;
mod open;
mod read;
mod remove;
mod reserve;
mod retain;
mod schema;
mod search;
mod sessions;
mod state;
mod verify;

#[cfg(test)]
mod example;
#[cfg(test)]
mod tamper_tests;
