//! Downloads a model's weights, or takes them from a file.
//!
//! # Threat
//! A server that sends wrong bytes, too many of them, or nothing at all; a redirect that takes the
//! token along or leaves encryption; two programs that write to one file.
//!
//! # Mechanism
//! The catalogue has the size and the SHA-256 of each file, and nothing else decides which bytes are
//! right. Bytes are appended to a part file and hashed as they come. A whole file with the right hash
//! gets its name by a rename; one with a wrong hash is removed. An interrupted download is resumed.
//!
//! The token goes to its own address and no other, redirects lead to `https` only, and a server must
//! state the size of the file before a byte is taken.
//!
//! # Order
//! The folder's lock is held from before the part is opened until the file has its name.
//!
//! # Limits
//! A wrong byte in the middle is noticed only at the end, after the whole download.

use crate::{
    catalogue::CatalogueEntry,
    shelf::{Shelf, ShelfError, read_to_end, regular},
};
use part::Part;
use std::path::{Path, PathBuf};

pub use self::{error::PullError, hub::Hub};

mod error;
mod hub;
mod part;

/// Bytes of a disk that are left alone.
const SPARE: u64 = 32 << 20;

/// A step of a download, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// An earlier download has left bytes to go on with.
    Resumed {
        /// How many bytes.
        bytes: u64,
    },
    /// A server is asked for the rest.
    Connecting {
        /// Its host.
        host: String,
    },
    /// More bytes have been written.
    Bytes {
        /// Bytes written so far.
        done: u64,
        /// Bytes of the whole file.
        total: u64,
    },
}

/// A listener for the steps of a download.
pub type Tell<'a> = &'a mut dyn FnMut(Progress);

/// A model whose file is installed and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulled {
    /// Its file.
    pub path: PathBuf,
    /// Whether it was installed before.
    pub already: bool,
}

/// Why a server stops sending.
pub(crate) enum Trouble {
    /// It will not serve the file.
    Refused(String),
    /// The connection broke; it may go on.
    Cut(String),
    /// Something on this machine failed.
    Fatal(PullError),
}

impl From<PullError> for Trouble {
    fn from(error: PullError) -> Self {
        Self::Fatal(error)
    }
}

/// Downloads a model.
pub async fn pull(
    entry: &CatalogueEntry,
    shelf: &Shelf,
    hub: &Hub,
    tell: Tell<'_>,
) -> Result<Pulled, PullError> {
    let _lock = shelf.lock()?;
    if let Some(path) = installed(entry, shelf)? {
        return Ok(Pulled { path, already: true });
    }
    let mut part = Part::resume(entry, shelf, tell).await?;
    let mut from = Vec::new();
    if part.done() > 0 {
        from.push("an earlier download".to_owned());
    }
    if !part.is_whole() {
        check_room(shelf, part.left())?;
        let (name, host) = (entry.name.clone(), hub.host());
        from.push(host.clone());
        tell(Progress::Connecting { host: host.clone() });
        match hub.fetch(entry, &mut part, tell).await {
            Ok(()) => {}
            Err(Trouble::Fatal(error)) => return Err(error),
            Err(Trouble::Refused(why) | Trouble::Cut(why)) => {
                return Err(PullError::Server { name, host, why, kept: part.done() });
            }
        }
    }
    part.finish(&from)
}

/// Takes a model from a file of this machine. The file itself stays as it is.
pub async fn take(
    entry: &CatalogueEntry,
    shelf: &Shelf,
    file: &Path,
    tell: Tell<'_>,
) -> Result<Pulled, PullError> {
    let _lock = shelf.lock()?;
    if let Some(path) = installed(entry, shelf)? {
        return Ok(Pulled { path, already: true });
    }
    let read = |source| PullError::From { source };
    let wrong_size =
        |bytes| PullError::FromSize { path: file.to_owned(), bytes, wanted: entry.bytes };
    let mut from = regular(file).map_err(read)?;
    let bytes = from.metadata().map_err(read)?.len();
    if bytes != entry.bytes {
        return Err(wrong_size(bytes));
    }
    check_room(shelf, entry.bytes)?;
    let mut part = Part::afresh(entry, shelf)?;
    // It may have grown meanwhile.
    let whole = std::io::Read::take(&mut from, entry.bytes);
    read_to_end(whole, read, |bytes| {
        part.append(bytes)?;
        tell(part.progress());
        Ok(())
    })
    .await?;
    if !part.is_whole() {
        return Err(wrong_size(part.done()));
    }
    part.finish(&[file.display().to_string()])
}

/// The file, if it is installed and right. A wrong one is downloaded again; an unreadable one is an
/// error.
fn installed(entry: &CatalogueEntry, shelf: &Shelf) -> Result<Option<PathBuf>, PullError> {
    match shelf.verified(entry) {
        Ok(path) => Ok(Some(path)),
        Err(
            ShelfError::Missing { .. } | ShelfError::WrongSize { .. } | ShelfError::Altered { .. },
        ) => Ok(None),
        Err(
            error @ (ShelfError::Busy { .. }
            | ShelfError::Read { .. }
            | ShelfError::Write { .. }
            | ShelfError::Remove { .. }),
        ) => Err(error.into()),
    }
}

/// Refuses if the disk has no room for `bytes` more.
fn check_room(shelf: &Shelf, bytes: u64) -> Result<(), PullError> {
    let Ok(disk) = rustix::fs::statvfs(shelf.folder()) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let needed = bytes.saturating_add(SPARE);
    if free >= needed {
        return Ok(());
    }
    Err(PullError::NoRoom { folder: shelf.folder().to_owned(), needed, free })
}
