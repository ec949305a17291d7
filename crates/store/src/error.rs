//! What can go wrong with what is kept, and the way out of it.
//!
//! Paths are shown through the terminal filter: a project's folder is named by whoever made it.

use crate::{config::ConfigError, record::Ending};
use interpreter_core::Untrusted;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why something could not be kept or read back.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum StoreError {
    /// There is no place to keep anything.
    #[error(
        "the environment has no `HOME`, so there is nowhere to keep anything; set it, or set \
         `INTERPRETER_HOME` to a folder for everything"
    )]
    NoHome,

    /// A variable names a folder that depends on where we stand.
    #[error("`{variable}` must be an absolute path and is `{}`", shown(path))]
    NotAbsolute { variable: &'static str, path: PathBuf },

    /// A folder is something else.
    #[error("`{}` must be a folder and is not; move it out of the way", shown(path))]
    NotAFolder { path: PathBuf },

    /// A file is something else.
    #[error("`{}` must be a regular file and is not; move it out of the way", shown(path))]
    NotAFile { path: PathBuf },

    /// Somebody else could read or change what is kept.
    #[error(
        "others have access to `{}` (mode {mode:03o}); take it away with `chmod {wanted:03o} {}`",
        shown(path),
        quoted(path)
    )]
    NotPrivate { path: PathBuf, mode: u32, wanted: u32 },

    /// Somebody else could change what is kept, at any time.
    #[error(
        "`{}` belongs to user {owner} and you are user {we}; run as its owner, or set \
         `INTERPRETER_HOME` to a folder of your own",
        shown(path)
    )]
    NotOurs { path: PathBuf, owner: u32, we: u32 },

    /// A file or folder could not be made.
    #[error("`{}` could not be made", shown(path))]
    Make { path: PathBuf, source: io::Error },

    /// A file or folder could not be looked at.
    #[error("`{}` could not be read", shown(path))]
    Read { path: PathBuf, source: io::Error },

    /// An output has no place.
    #[error("`{}` could not be written; check the folder and the disk it is on", shown(path))]
    Keep { path: PathBuf, source: io::Error },

    /// An output is not what it was.
    #[error("the output in `{}` was changed after it was recorded", shown(path))]
    AlteredOutput { path: PathBuf },

    /// The settings are not in order.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// There is no room for another record.
    #[error(
        "the disk is full: `{}` cannot grow; free some space, or let go of staged files with \
         `interpreter changes discard`, which works on a full disk too",
        shown(path)
    )]
    Full { path: PathBuf, source: rusqlite::Error },

    /// The record cannot be written.
    #[error("`{}` cannot be written; check the folder and the disk it is on", shown(path))]
    ReadOnly { path: PathBuf, source: rusqlite::Error },

    /// Another process holds the record.
    #[error("`{}` is held by another process; end that or try again", shown(path))]
    Locked { path: PathBuf, source: rusqlite::Error },

    /// The file is damaged, or is no database.
    #[error("`{}` is damaged or not a database; move it away to start a new record", shown(path))]
    Corrupt { path: PathBuf, source: rusqlite::Error },

    /// The file is a database, but not ours.
    #[error("`{}` is another program's database; move it away to start a new record", shown(path))]
    NotARecord { path: PathBuf },

    /// A later version of this program wrote it.
    #[error(
        "`{}` was written by a newer interpreter (format {found}, this one knows {known}); update \
         the interpreter",
        shown(path)
    )]
    Newer { path: PathBuf, found: i64, known: i64 },

    /// Records and head disagree, so nothing can be appended that follows.
    #[error(
        "`{}` was changed by something else and cannot be continued; `interpreter audit verify` \
         shows where",
        shown(path)
    )]
    Broken { path: PathBuf },

    /// The database and the file beside it disagree about where the record ends.
    #[error(
        "{ending}; `interpreter audit verify` checks the rest, `interpreter audit accept` goes on \
         with the record as it is and puts that on record"
    )]
    End { path: PathBuf, ending: Box<Ending> },

    /// The record was removed or replaced while it was open.
    #[error("`{}` was removed or replaced while the session used it", shown(path))]
    Gone { path: PathBuf },

    /// A row does not hold a record.
    #[error("record {seq} cannot be read; `interpreter audit verify` shows whether it was changed")]
    Unreadable { seq: i64, source: Box<dyn std::error::Error + Send + Sync> },

    /// An event cannot be written as JSON, for instance because of a path that is not UTF-8.
    #[error("the event cannot be recorded as JSON")]
    Unwritable { source: serde_json::Error },

    /// `SQLite` failed in some other way.
    #[error("the record `{}` failed", shown(path))]
    Database { path: PathBuf, source: rusqlite::Error },

    /// A session's id could not be told from its neighbours.
    #[error("`{}` is not a session id; `interpreter history list` shows them", text.for_terminal_line(40))]
    NotASessionId { text: Untrusted },

    /// No session is called so.
    #[error("no session begins with `{prefix}`; `interpreter history list` shows them")]
    NoSession { prefix: String },

    /// Several sessions are called so.
    #[error("several sessions begin with `{prefix}`: {}; give more of it", among.join(", "))]
    AmbiguousSession { prefix: String, among: Vec<String> },
}

/// A path as a message may hold it.
pub(crate) fn shown(path: &Path) -> String {
    Untrusted::new(path.to_string_lossy()).for_terminal_line(4096)
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = shown(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_can_be_pasted_into_a_shell() {
        let path = PathBuf::from("/home/it's me/interpreter");
        let error = StoreError::NotPrivate { path, mode: 0o755, wanted: 0o700 };
        assert!(error.to_string().ends_with(r"`chmod 700 '/home/it'\''s me/interpreter'`"));
        assert_eq!(quoted(Path::new("/a/b-1.c")), "/a/b-1.c");
    }

    #[test]
    fn a_path_cannot_move_the_cursor() {
        let error = StoreError::NotAFolder { path: PathBuf::from("/tmp/\u{1b}[2J") };
        assert!(error.to_string().contains(r"`/tmp/\u{1b}[2J`"));
    }
}
