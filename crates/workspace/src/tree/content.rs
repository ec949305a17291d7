//! The bytes of files: copied, compared and hashed in pieces, never held whole.
//!
//! At most as many bytes are read as the file had when it was opened, so that a program that
//! keeps writing cannot keep us reading. Holes are not read at all: a program can make files of
//! any size out of them, and has to spend disk on nothing. Where the holes lie does not matter to
//! what a file holds, only where it is zero.

use interpreter_core::hash::hex;
use rustix::{
    fs::{SeekFrom, ioctl_ficlone, seek},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{fs::File, io, os::unix::fs::FileExt};

const PIECE: usize = 128 * 1024;

/// The identity of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) size: u64,
    /// The SHA-256, in hexadecimal digits. Of a file with pieces of zeros it is the hash over the
    /// place and hash of each run between them, and says `sparse-` before it.
    pub(crate) hash: String,
}

/// Copies up to `size` bytes into the empty file `to`, and says what was copied. Holes stay
/// holes; where the file system can share the bytes, it does.
pub(crate) fn copy(from: &File, to: &File, size: u64) -> io::Result<Content> {
    if size > 0 && ioctl_ficlone(to, from).is_ok() {
        to.set_len(size.min(to.metadata()?.len()))?;
        return hash(to, size);
    }
    let content = read_through(from, size, |at, piece| to.write_all_at(piece, at))?;
    to.set_len(content.size)?;
    Ok(content)
}

/// Copies up to `size` bytes into the empty file `to`, without a look at what they are.
pub(crate) fn duplicate(from: &File, to: &File, size: u64) -> io::Result<()> {
    if size > 0 && ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    let mut pieces = Pieces::of(from, size);
    let mut at = 0;
    loop {
        at = pieces.next_data(at)?;
        let piece = if at < size { pieces.read(at)? } else { &[] };
        if piece.is_empty() {
            return to.set_len(at.min(pieces.end()?));
        }
        to.write_all_at(piece, at)?;
        at += piece.len() as u64;
    }
}

/// Hashes the first `size` bytes of a file.
pub(crate) fn hash(file: &File, size: u64) -> io::Result<Content> {
    read_through(file, size, |_, _| Ok(()))
}

/// Whether two files of `size` bytes hold the same.
pub(crate) fn same(one: &File, other: &File, size: u64) -> io::Result<bool> {
    let mut left = Pieces::of(one, size);
    let mut right = Pieces::of(other, size);
    let mut at = 0;
    loop {
        at = left.next_data(at)?.min(right.next_data(at)?);
        if at >= size {
            return Ok(left.end()? == right.end()?);
        }
        let (left, right) = (left.read(at)?, right.read(at)?);
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
        at += left.len() as u64;
    }
}

/// Gives `each` every piece that is not all zeros, with its place.
fn read_through(
    file: &File,
    size: u64,
    mut each: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<Content> {
    let mut pieces = Pieces::of(file, size);
    let mut hasher = Hasher::default();
    let mut at = 0;
    loop {
        at = pieces.next_data(at)?;
        if at >= size {
            return Ok(hasher.finish(pieces.end()?));
        }
        let piece = pieces.read(at)?;
        if piece.is_empty() {
            return Ok(hasher.finish(at));
        }
        if piece.iter().any(|&byte| byte != 0) {
            hasher.update(at, piece);
            each(at, piece)?;
        }
        at += piece.len() as u64;
    }
}

/// The first bytes of a file, piece by piece.
struct Pieces<'a> {
    file: &'a File,
    size: u64,
    buffer: Vec<u8>,
}

impl<'a> Pieces<'a> {
    fn of(file: &'a File, size: u64) -> Self {
        let length = usize::try_from(size).map_or(PIECE, |size| size.min(PIECE));
        Self { file, size, buffer: vec![0; length] }
    }

    /// Where the next piece begins that is not in a hole; the end if there is none.
    fn next_data(&self, at: u64) -> io::Result<u64> {
        if self.size <= PIECE as u64 {
            // Not worth a question.
            return Ok(at);
        }
        match seek(self.file, SeekFrom::Data(at)) {
            Ok(data) => Ok((data - data % PIECE as u64).max(at)),
            Err(Errno::NXIO) => Ok(self.size),
            // A file system that does not know its holes has none.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(at),
            Err(error) => Err(error.into()),
        }
    }

    /// The piece at `at`: shorter than a piece only at the end.
    fn read(&mut self, at: u64) -> io::Result<&[u8]> {
        let rest = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        let length = rest.min(self.buffer.len());
        let mut filled = 0;
        while filled < length {
            match self.file.read_at(&mut self.buffer[filled..length], at + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[..filled])
    }

    /// Where the file ends now, if that is before the end that it had.
    fn end(&self) -> io::Result<u64> {
        Ok(self.size.min(self.file.metadata()?.len()))
    }
}

/// Hashes runs of pieces.
#[derive(Default)]
struct Hasher {
    runs: Sha256,
    run: Sha256,
    start: u64,
    end: u64,
    /// Whether a run has ended before the one under way.
    several: bool,
}

impl Hasher {
    fn update(&mut self, at: u64, piece: &[u8]) {
        if at != self.end {
            self.close();
            self.start = at;
        }
        self.run.update(piece);
        self.end = at + piece.len() as u64;
    }

    /// Each run takes the same room, so that no content can look like a boundary.
    fn close(&mut self) {
        let run = self.run.finalize_reset();
        self.runs.update(self.start.to_le_bytes());
        self.runs.update(self.end.to_le_bytes());
        self.runs.update(run);
        self.several = true;
    }

    fn finish(mut self, size: u64) -> Content {
        let hash = if !self.several && self.end == size {
            hex(&self.run.finalize())
        } else {
            self.close();
            format!("sparse-{}", hex(&self.runs.finalize()))
        };
        Content { size, hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::hash::sha256;
    use std::{
        io::Write,
        os::unix::fs::{FileExt, MetadataExt},
    };

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_copy_has_the_same_bytes_and_their_hash() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let bytes: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251 + 1).unwrap()).collect();
            let to = file(b"");
            let content = copy(&file(&bytes), &to, length as u64).unwrap();
            assert_eq!(content, Content { size: length as u64, hash: sha256(&bytes) });
            assert!(same(&to, &file(&bytes), length as u64).unwrap());
        }
    }

    #[test]
    fn holes_stay_holes_and_are_not_read() {
        // Reading as much would take hours.
        let size = 1 << 42;
        let sparse = file(b"start");
        sparse.set_len(size).unwrap();
        sparse.write_all_at(b"middle", 1 << 41).unwrap();
        let to = file(b"");
        let content = copy(&sparse, &to, size).unwrap();
        assert_eq!((content.size, to.metadata().unwrap().len()), (size, size));
        assert!(to.metadata().unwrap().blocks() * 512 < 1 << 20);
        assert!(same(&sparse, &to, size).unwrap());
        assert_eq!(hash(&to, size).unwrap(), content);
        to.write_all_at(b"M", 1 << 41).unwrap();
        assert!(!same(&sparse, &to, size).unwrap());
        assert_ne!(hash(&to, size).unwrap(), content);
    }

    #[test]
    fn zeros_are_zeros_with_or_without_a_hole() {
        let mut bytes = vec![0; 5 * PIECE];
        bytes[2 * PIECE] = 1;
        let hole = file(b"");
        hole.set_len(5 * PIECE as u64).unwrap();
        hole.write_all_at(&[1], 2 * PIECE as u64).unwrap();
        let size = 5 * PIECE as u64;
        assert!(same(&file(&bytes), &hole, size).unwrap());
        assert_eq!(hash(&file(&bytes), size).unwrap(), hash(&hole, size).unwrap());
    }

    #[test]
    fn where_the_bytes_stand_matters() {
        let at = |place: u64| {
            let file = file(b"");
            file.set_len(8 * PIECE as u64).unwrap();
            file.write_all_at(b"x", place).unwrap();
            hash(&file, 8 * PIECE as u64).unwrap().hash
        };
        let hashes = [0, 1, PIECE as u64, 7 * PIECE as u64].map(at);
        assert!(hashes.iter().enumerate().all(|(n, hash)| !hashes[..n].contains(hash)));
        let zeros = file(b"");
        zeros.set_len(8 * PIECE as u64).unwrap();
        assert!(!hashes.contains(&hash(&zeros, 8 * PIECE as u64).unwrap().hash));
    }

    #[test]
    fn no_more_is_read_than_was_there() {
        let to = file(b"");
        assert_eq!(copy(&file(b"abcdef"), &to, 3).unwrap().hash, sha256(b"abc"));
        assert_eq!(to.metadata().unwrap().len(), 3);
    }

    #[test]
    fn a_file_that_became_shorter_is_another() {
        for length in [3, 3 * PIECE] {
            let (one, other) = (file(&vec![7; length]), file(&vec![7; length]));
            other.set_len(length as u64 - 1).unwrap();
            assert!(!same(&one, &other, length as u64).unwrap());
            assert_eq!(hash(&other, length as u64).unwrap().size, length as u64 - 1);
        }
    }

    #[test]
    fn one_byte_makes_a_difference() {
        let mut bytes = vec![7; 2 * PIECE];
        let one = file(&bytes);
        bytes[2 * PIECE - 1] = 8;
        assert!(!same(&one, &file(&bytes), 2 * PIECE as u64).unwrap());
    }
}
