//! The staged workspace: changes made by code, kept apart until a person decides.
//!
//! Code sees the work folder through an overlay whose writes land in a [`Set`]. From outside, a set
//! lists and shows the differences, applies all or some of them, undoes that, or discards them.
//! Each decision is about one snapshot, see `review.rs`. The sandbox mounts the overlay; nothing
//! here mounts. For a sandbox without an overlay, code works in a copy of the folder, and the set
//! derives from it the layer that an overlay would have left.
//!
//! # Threat
//! The code inside is hostile. Names, links, modes, attributes and special files in the upper
//! layer are its choice, and may change while we look. It wants a write outside of the work
//! folder, a set-user-id file, a listing that hides something, or a folder left half changed.
//!
//! # Mechanism
//! Both trees are walked by descriptor, name by name, never through a symbolic link. Only files,
//! folders and links are taken over, with permission bits alone. A copy of each replaced file is
//! kept, a new file is written in full beside its place, and then there are only renames.
//!
//! # Order
//! Take a snapshot, look, refuse conflicts, copy away, write anew, sync, journal; only then touch the folder;
//! sync, journal. After a crash [`Set::open`] and [`Set::list`] put back what the journal names.
//!
//! # Limits
//! Owners other than ours and attributes that a program sets are not carried over; several names
//! of one file become files of their own. A change by the person is recognised by the change time
//! of a file, which a clock set back, or a file system that counts in whole seconds, can hide; a
//! new hard link to a file changes it too. A snapshot takes as much room as what is staged, unless the
//! file system shares the bytes. How much a program stages is bounded by whoever runs it
//! (`runner/staging.rs`), which looks from time to time.
//!
//! # Names
//! Paths are relative and use `/`; folders end in `/`. A byte that is not UTF-8 is written
//! `\xNN`, and a backslash that could be read as such is written `\x5c`, so that every name has
//! exactly one text.

pub use self::{
    catalog::{Catalog, Summary, Unreadable},
    copy::{
        copied::COPY,
        kept::{BACK, WayBack},
        take::NotCopied,
    },
    error::WorkspaceError,
    export::{Export, ExportOf, ExportedFile, open_file},
    journal::{conflict::Conflict, intention::is_at_or_below},
    place::Place,
    put::{IncomingFile, ReceivedFile},
    review::Review,
    set::Set,
    tree::{
        listing::Applied,
        sweep::remove_tree,
        usage::{DiskUsage, Measured, measure},
    },
};

mod catalog;
mod copy;
mod decisions;
mod error;
mod export;
mod journal;
mod lock;
mod place;
mod put;
#[cfg(test)]
mod races;
#[cfg(test)]
mod rehearsal;
mod review;
#[cfg(test)]
mod scene;
mod set;
mod tree;
