//! The errors of keeping and reading back.
//!
//! Paths are shown through the terminal filter: a project's folder is named by whoever made it.

use crate::{
    config::ConfigError,
    record::{NotRemovable, RecordState},
};
use interpreter_core::{
    Untrusted,
    system_users::{NoUser, UserRange},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why something could not be kept or read back.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum StoreError {
    /// There is no place to keep anything.
    #[error("`HOME` is not set, so there is no place for data")]
    NoHome,

    /// A variable names a folder that depends on where we stand.
    #[error("`{variable}` must be an absolute path, but is `{}`", shown(path))]
    NotAbsolute { variable: &'static str, path: PathBuf },

    /// A folder is something else.
    #[error("`{}` is not a folder", shown(path))]
    NotAFolder { path: PathBuf },

    /// A file is something else.
    #[error("`{}` is not a regular file", shown(path))]
    NotAFile { path: PathBuf },

    /// Somebody else could read or change what is kept.
    #[error("other users can access `{}` (mode {mode:03o})", shown(path))]
    NotPrivate { path: PathBuf, mode: u32, wanted: u32 },

    /// Somebody else could change what is kept, at any time.
    #[error("`{}` belongs to user {owner}, but you are user {we}", shown(path))]
    NotOurs { path: PathBuf, owner: u32, we: u32 },

    /// A file or folder could not be made.
    #[error("cannot create `{}`", shown(path))]
    Make { path: PathBuf, source: io::Error },

    /// A file or folder could not be looked at.
    #[error("cannot read `{}`", shown(path))]
    Read { path: PathBuf, source: io::Error },

    /// An output has no place.
    #[error("cannot write `{}`", shown(path))]
    Keep { path: PathBuf, source: io::Error },

    /// A file of the person's own would be replaced.
    #[error("`{}` exists and holds something else", shown(path))]
    Taken { path: PathBuf },

    /// Data that was piped in cannot be read.
    #[error("cannot read standard input")]
    StandardInput { source: io::Error },

    /// More was piped in than is saved.
    #[error("standard input is longer than {} GiB", most >> 30)]
    PipedTooLong { most: u64 },

    /// An output is not what it was.
    #[error("the output in `{}` was changed after it was recorded", shown(path))]
    AlteredOutput { path: PathBuf },

    /// The secrets cannot be decrypted.
    #[error("`{}` cannot be decrypted with `{}`", shown(path), shown(key))]
    Secrets { path: PathBuf, key: PathBuf },

    /// The key to the secrets is in a keyring that does not give it.
    #[error("the key to your secrets is in the system keyring, and {reason}")]
    Keyring { reason: crate::KeyringError },

    /// Nothing unguessable can be made.
    #[error("this machine gives no random numbers")]
    NoRandomness,

    /// The id of a person of a team is none.
    #[error("there is no such person")]
    NoPerson,

    /// The settings are not in order.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// There is no room for another record.
    #[error("the disk is full: `{}` cannot grow", shown(path))]
    Full { path: PathBuf, source: rusqlite::Error },

    /// The record cannot be written.
    #[error("`{}` cannot be written", shown(path))]
    ReadOnly { path: PathBuf, source: rusqlite::Error },

    /// Another process holds the record.
    #[error("`{}` is locked by another process", shown(path))]
    Locked { path: PathBuf, source: rusqlite::Error },

    /// The file is damaged, or is no database.
    #[error("`{}` is damaged or not a database", shown(path))]
    Corrupt { path: PathBuf, source: rusqlite::Error },

    /// The file is a database, but not ours.
    #[error("`{}` belongs to another program", shown(path))]
    NotARecord { path: PathBuf },

    /// Something in the database is not as this program makes it.
    #[error("`{}` was changed: {found}", shown(path))]
    Foreign { path: PathBuf, found: String },

    /// Another version of this program wrote it.
    #[error(
        "`{}` was written by another version of the interpreter (format {found}, this one knows \
         {known})",
        shown(path)
    )]
    OtherFormat { path: PathBuf, found: i64, known: i64 },

    /// Records and signed head disagree, so nothing can be appended that follows.
    #[error("`{}` was changed by another program and cannot be continued", shown(path))]
    Broken { path: PathBuf },

    /// The database and the file beside it disagree about where the record ends.
    #[error("{state}")]
    End { path: PathBuf, state: Box<RecordState> },

    /// The record was removed or replaced while it was open.
    #[error("`{}` was removed or replaced while the session used it", shown(path))]
    Gone { path: PathBuf },

    /// A row does not hold a record.
    #[error("record {seq} cannot be read")]
    Unreadable { seq: i64, source: Box<dyn std::error::Error + Send + Sync> },

    /// An event cannot be written as JSON, for instance because of a path that is not UTF-8.
    #[error("the event cannot be recorded as JSON")]
    Unwritable { source: serde_json::Error },

    /// `SQLite` failed in some other way.
    #[error("the record `{}` failed", shown(path))]
    Database { path: PathBuf, source: rusqlite::Error },

    /// A session's id could not be told from its neighbours.
    #[error("`{}` is not a session id", text.for_terminal_line(40))]
    NotASessionId { text: Untrusted },

    /// No session is called so.
    #[error("no session begins or ends with `{prefix}`")]
    NoSession { prefix: String },

    /// Several sessions are called so.
    #[error("several sessions begin or end with `{prefix}`: {}", among.join(", "))]
    AmbiguousSession { prefix: String, among: Vec<String> },

    /// A session must stay.
    #[error("session {session} cannot be removed: {reason}")]
    NotRemovable { session: String, reason: NotRemovable },

    /// A range of system users is not only ours.
    #[error(
        "`team.uids` is {range}, but {user} in it is an account's of this machine, or lent to one; set a range that nobody uses"
    )]
    UsersTaken { range: UserRange, user: u32 },

    /// A person of a team gets no system user.
    #[error(transparent)]
    NoUser(NoUser),

    /// A line is no anchor.
    #[error("`{}` is not an anchor", text.for_terminal_line(40))]
    NotAnAnchor { text: Untrusted },
}

/// A path as a message may hold it.
pub(crate) fn shown(path: &Path) -> String {
    Untrusted::new(path.to_string_lossy()).for_terminal_line(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_move_the_cursor() {
        let error = StoreError::NotAFolder { path: PathBuf::from("/tmp/\u{1b}[2J") };
        assert!(error.to_string().contains(r"`/tmp/\u{1b}[2J`"));
    }
}
