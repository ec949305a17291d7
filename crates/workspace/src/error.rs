//! Errors of staged changes.
//!
//! Many of the paths named here were chosen by the program that ran, so every text goes through
//! the terminal's filter before it stands in a message.

use interpreter_core::{Untrusted, outline::OutlineUnseen};
use std::{io, path::Path};

/// An error of staged changes.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum WorkspaceError {
    /// The person's folder is another than when they looked at the set, and so is what it changes.
    #[error("the work folder has changed since the set {id} was shown; review it again")]
    ChangedSinceShown { id: String },

    /// So many changes are applied only with the outline that was shown.
    #[error(transparent)]
    OutlineUnseen(#[from] OutlineUnseen),
    /// No set has this id.
    #[error("unknown change set `{}`", shown(.id))]
    NoSuchSet { id: String },
    /// A set is named by all of its id.
    #[error(
        "`{}` is only the beginning of an id; type the whole id: {}",
        shown(.id),
        .ids.join(", ")
    )]
    ShortId { id: String, ids: Vec<String> },
    /// The set changes another folder than the one that is worked in.
    #[error("the change set {id} belongs to the folder `{}`", shown(.work_folder))]
    OtherFolder { id: String, work_folder: String },
    /// Another process is working with the set.
    #[error("the change set {id} is in use by another session")]
    InUse { id: String },
    /// The person's folder is no longer what the program saw, or what was applied.
    #[error("changed in the folder in the meantime: {}", several(.paths))]
    Conflict {
        /// The changed paths, relative to the work folder.
        paths: Vec<String>,
    },
    /// The set has no change at these paths.
    #[error("no staged change at {}", several(.paths))]
    NotAChange { paths: Vec<String> },
    /// A word that names a file, and hunks of another.
    #[error("`{}` is a staged file, and hunks of `{}` too", shown(.word), shown(.path))]
    FileOrHunks { word: String, path: String },
    /// The file is not made of hunks.
    #[error(
        "`{}` is applied as a whole or not at all: only a changed text file has hunks",
        shown(.path)
    )]
    Indivisible { path: String },
    /// The file has fewer hunks.
    #[error("`{}` has no hunk {number}; it has {of}", shown(.path))]
    NoSuchHunk { path: String, number: usize, of: usize },
    /// Hunks were picked by numbers that the person has not seen.
    #[error("the hunks of `{}` have not been shown as they are now", shown(.path))]
    HunksNotShown { path: String },
    /// Nothing of the set is in the person's folder, or the originals are no longer stored.
    #[error("nothing in the change set {id} can be undone")]
    NothingApplied { id: String },
    /// Nothing of the set was undone, or not all of it is still there.
    #[error("nothing in the change set {id} can be redone")]
    NothingUndone { id: String },
    /// Only somebody who may answer questions undoes or redoes more than data.
    #[error("only people who may answer questions can undo or redo `{path}` ({why})")]
    RunsLater { path: String, why: &'static str },
    /// The work folder does not exist any more.
    #[error("the work folder `{}` of the change set {id} is gone", shown(.work_folder))]
    WorkFolderGone {
        id: String,
        /// Where the folder was.
        work_folder: String,
    },
    /// A copy to decide on does not fit on the disk.
    #[error(
        "no space for a copy of `{}`: it needs {bytes} bytes, and the disk has {free} to spare",
        shown(.path)
    )]
    NoRoom {
        /// The file that does not fit.
        path: String,
        /// How large it is.
        bytes: u64,
        /// Free space of the disk.
        free: u64,
    },
    /// A file of the person's own cannot be staged there.
    #[error("cannot put a file at `{}`: {why}", shown(.path))]
    CannotPut { path: String, why: &'static str },
    /// A file is larger than it may be, or than it was said to be.
    #[error("the file has {bytes} bytes, and {most} are the most")]
    TooLarge { bytes: u64, most: u64 },
    /// No file that may be read is there.
    #[error("there is no file `{}`", shown(.path))]
    NoSuchFile { path: String },
    /// There is no such checkpoint any more.
    #[error("the staged files of checkpoint {number} are not kept any more")]
    NotKept {
        /// Its number.
        number: u32,
    },
    /// There is too much to keep for a checkpoint.
    #[error("more than {} MB are staged, the most that a checkpoint keeps", most >> 20)]
    TooMuchToKeep {
        /// Bytes that it keeps.
        most: u64,
    },
    /// The folder is too large to be copied.
    #[error(
        "the folder `{}` has more than {what}, the most that can be copied for staging",
        shown(.folder)
    )]
    TooMuchToCopy { folder: String, what: String },
    /// The folder cannot be copied, because not all of it is one file system.
    #[error("the work folder has a mount at `{}`, so it cannot be copied for staging", shown(.path))]
    MountedInside { path: String },
    /// A newer version of this program wrote the set.
    #[error("`{}` has the unknown version {version}", shown(.path))]
    Version { path: String, version: u32 },
    /// A file of ours does not bear our seal.
    #[error("`{}` was changed by another program and is not used", shown(.path))]
    Edited { path: String },
    /// A part of a set is not there.
    #[error("`{}` is missing", shown(.path))]
    Incomplete { path: String },
    /// A file of ours cannot be understood.
    #[error("`{}` is damaged", shown(.path))]
    Damaged { path: String, source: serde_json::Error },
    /// The file system refused something.
    #[error("cannot {action} `{}`", shown(.path))]
    Files { action: &'static str, path: String, source: io::Error },
}

impl WorkspaceError {
    /// Whether it says that a set itself cannot be used, and will not be at the next try.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Version { .. }
            | Self::Damaged { .. }
            | Self::Edited { .. }
            | Self::Incomplete { .. } => true,
            Self::ChangedSinceShown { .. }
            | Self::OutlineUnseen(_)
            | Self::NoSuchSet { .. }
            | Self::ShortId { .. }
            | Self::OtherFolder { .. }
            | Self::InUse { .. }
            | Self::Conflict { .. }
            | Self::NotAChange { .. }
            | Self::FileOrHunks { .. }
            | Self::Indivisible { .. }
            | Self::NoSuchHunk { .. }
            | Self::HunksNotShown { .. }
            | Self::NothingApplied { .. }
            | Self::NothingUndone { .. }
            | Self::RunsLater { .. }
            | Self::WorkFolderGone { .. }
            | Self::NoRoom { .. }
            | Self::NotKept { .. }
            | Self::CannotPut { .. }
            | Self::TooLarge { .. }
            | Self::NoSuchFile { .. }
            | Self::TooMuchToKeep { .. }
            | Self::TooMuchToCopy { .. }
            | Self::MountedInside { .. }
            | Self::Files { .. } => false,
        }
    }

    /// Whether the disk is full.
    pub fn is_full_disk(&self) -> bool {
        use rustix::io::Errno;
        let full = [Errno::NOSPC, Errno::DQUOT].map(|errno| Some(errno.raw_os_error()));
        matches!(self, Self::Files { source, .. } if full.contains(&source.raw_os_error()))
    }
}

/// Says what was being done when the file system refused.
pub(super) trait During<T> {
    /// `action` is a verb; `path` is only made into text if there is something to say.
    fn during(
        self,
        action: &'static str,
        path: impl FnOnce() -> String,
    ) -> Result<T, WorkspaceError>;

    /// The same for a path of ours.
    fn during_at(self, action: &'static str, path: &Path) -> Result<T, WorkspaceError>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(
        self,
        action: &'static str,
        path: impl FnOnce() -> String,
    ) -> Result<T, WorkspaceError> {
        self.map_err(|error| WorkspaceError::Files { action, path: path(), source: error.into() })
    }

    fn during_at(self, action: &'static str, path: &Path) -> Result<T, WorkspaceError> {
        self.during(action, || path.to_string_lossy().into_owned())
    }
}

/// Whether an error says that a path does not lead to what it led to: it is gone, or a folder on
/// the way is now a link or a file. A running program can bring this about at any time.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP]
        .iter()
        .any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}

fn shown(text: &str) -> String {
    Untrusted::new(text).for_terminal_line(200)
}

fn several(paths: &[String]) -> String {
    const MOST: usize = 10;
    let mut names: Vec<_> =
        paths.iter().take(MOST).map(|path| format!("`{}`", shown(path))).collect();
    if paths.len() > MOST {
        names.push(format!("{} more", paths.len() - MOST));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor() {
        let error = WorkspaceError::Conflict { paths: vec!["a\u{1b}[2J\nb".into()] };
        assert_eq!(error.to_string(), r"changed in the folder in the meantime: `a\u{1b}[2J⏎b`");
    }

    #[test]
    fn many_names_are_counted() {
        let paths = (0..12).map(|n| n.to_string()).collect();
        assert!(WorkspaceError::NotAChange { paths }.to_string().ends_with("`9`, 2 more"));
    }
}
