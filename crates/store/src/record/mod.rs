//! The record: everything that happened, in one `SQLite` file, each entry linked to the one before.
//!
//! # Threat
//! A record that is edited, removed, reordered or inserted afterwards, by mistake or on purpose,
//! and an effect that happens without one.
//!
//! # Mechanism
//! `record(seq, session, time, kind, body, prev, hash)` is appended to and never changed. `prev`
//! is the `hash` of the record before (64 noughts for the first), and `hash` is the SHA-256, in
//! hexadecimal, of these six texts with a newline between each two:
//!
//! ```text
//! prev ⏎ seq ⏎ session ⏎ time ⏎ kind ⏎ body
//! ```
//!
//! None of them holds a newline, so no two records have the same text. `head` holds the number
//! and hash of the last record, so that a removed end is noticed; `record.end` beside the database
//! holds them once more (`end.rs`), because the newest rows and the head can be lost together.
//! `head` and `span` also say which records are of which session, so that a session is found; that
//! is checked with the links, from which it follows. Anyone can check a record:
//!
//! ```text
//! sqlite3 record.db "SELECT hash FROM record WHERE seq = 7"
//! n='||char(10)||'
//! text=$(sqlite3 record.db "SELECT prev$n seq$n session$n time$n kind$n body FROM record WHERE seq = 7")
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
//! Whoever may write the files can write a whole new chain with a new head and a new end; the links
//! show that something was changed by someone who did not go to that length. A record survives the
//! death of any process, but the newest may be lost when the machine itself loses power; `end.rs`
//! says how that is told apart.

pub use self::{
    end::{Ending, Restarted},
    kept::KeptOutputs,
    log::{Entry, Log},
    read::Records,
    sessions::{HowMany, SessionSummary, new_session_id},
    verify::{Break, BreakReason, Verification},
};

mod accept;
mod end;
mod failure;
mod files;
mod kept;
mod link;
mod log;
mod open;
mod read;
mod reserve;
mod schema;
mod sessions;
mod spans;
mod verify;

#[cfg(test)]
mod example;
