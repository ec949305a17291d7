//! The staged workspace: what code changed, kept apart until a person decides.
//!
//! Code sees the work folder through an overlay whose writes land in a [`Set`]. From outside, a
//! set lists and shows what differs, puts all or some of it into the person's folder, takes it
//! out again, or forgets it. What is decided on is one snapshot, see `review.rs`. Mounting the overlay is the sandbox's; nothing here mounts. For a
//! sandbox that has no overlay a set takes a copy of the folder for code to work in, and derives
//! from it what an overlay would have left.
//!
//! # Threat
//! The code inside is hostile. Names, links, modes, attributes and special files in the upper
//! layer are its choice, and may change while we look. It wants a write outside of the work
//! folder, a set-user-id file, a listing that hides something, or a folder left half changed.
//!
//! # Mechanism
//! Both trees are walked by descriptor, name by name, never through a symbolic link. Only files,
//! folders and links are taken over, with permission bits alone. What is replaced is copied away
//! first, what is new is written in full beside it, and then there are only renames.
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

pub(crate) use self::copied::COPY;
pub use self::{
    catalog::{Catalog, Summary, Unreadable},
    conflict::Conflict,
    copy::NotCopied,
    error::WorkspaceError,
    listing::Applied,
    place::{KEY, Place},
    review::Review,
    set::Set,
    usage::{Measured, Usage, measure},
};

mod about;
mod apply;
mod attributes;
mod catalog;
mod changeover;
mod conflict;
mod content;
mod copied;
mod copy;
mod crash;
mod decisions;
mod derive;
mod diff;
mod discard;
mod durability;
mod error;
mod folder;
mod history;
mod journal;
mod layer;
mod listing;
mod lock;
mod magic;
mod node;
mod place;
mod plan;
mod prune;
#[cfg(test)]
mod races;
mod recover;
#[cfg(test)]
mod rehearsal;
mod relative;
mod rename;
mod review;
mod scan;
#[cfg(test)]
mod scene;
mod scratch;
mod selection;
mod set;
mod snapshot;
mod stat;
mod sweep;
mod taken;
mod undo;
mod unlock;
mod usage;
mod verdicts;
