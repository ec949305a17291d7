//! The bytes of files: copied, compared and hashed in pieces, never held whole.
//!
//! At most as many bytes are read as the file had when it was opened, so that a program that
//! keeps writing cannot keep us reading.

use interpreter_core::hash::hex;
use rustix::fs::ioctl_ficlone;
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

const PIECE: usize = 128 * 1024;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// Bytes.
    pub(super) size: u64,
    /// The SHA-256, in hexadecimal digits.
    pub(super) hash: String,
}

/// Copies up to `size` bytes into the empty file `to`, and says what was copied. Holes stay
/// holes; where the file system can share the bytes, it does.
pub(super) fn copy(from: &mut File, to: &mut File, size: u64) -> io::Result<Content> {
    if size > 0 && ioctl_ficlone(&*to, &*from).is_ok() {
        to.set_len(size.min(to.metadata()?.len()))?;
        return hash(to, size);
    }
    let mut at = 0;
    let content = read_through(from, size, |piece| {
        if piece.iter().any(|&byte| byte != 0) {
            to.seek(SeekFrom::Start(at))?;
            to.write_all(piece)?;
        }
        at += piece.len() as u64;
        Ok(())
    })?;
    to.set_len(content.size)?;
    Ok(content)
}

/// What the first `size` bytes of a file are.
pub(super) fn hash(file: &mut File, size: u64) -> io::Result<Content> {
    file.rewind()?;
    read_through(file, size, |_| Ok(()))
}

/// Whether two files of `size` bytes hold the same.
pub(super) fn same(one: &mut File, other: &mut File, size: u64) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    let (mut one, mut other) = (one.take(size), other.take(size));
    loop {
        let read = fill(&mut one, &mut left)?;
        if fill(&mut other, &mut right)? != read || left[..read] != right[..read] {
            return Ok(false);
        }
        if read < PIECE {
            return Ok(true);
        }
    }
}

fn read_through(
    file: &mut File,
    size: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Content> {
    let mut source = file.take(size);
    let mut piece = vec![0; PIECE];
    let mut hasher = Sha256::new();
    let mut total = 0;
    loop {
        let read = fill(&mut source, &mut piece)?;
        hasher.update(&piece[..read]);
        each(&piece[..read])?;
        total += read as u64;
        if read < PIECE {
            return Ok(Content { size: total, hash: hex(&hasher.finalize()) });
        }
    }
}

/// Reads until `piece` is full or the source ends.
fn fill(source: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match source.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::hash::sha256;
    use std::os::unix::fs::MetadataExt;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn a_copy_has_the_same_bytes_and_their_hash() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let bytes: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
            let mut to = file(b"");
            let content = copy(&mut file(&bytes), &mut to, length as u64).unwrap();
            assert_eq!(content, Content { size: length as u64, hash: sha256(&bytes) });
            to.rewind().unwrap();
            assert!(same(&mut to, &mut file(&bytes), length as u64).unwrap());
        }
    }

    #[test]
    fn holes_stay_holes() {
        let mut sparse = file(b"start");
        sparse.set_len(32 << 20).unwrap();
        let mut to = file(b"");
        let content = copy(&mut sparse, &mut to, 32 << 20).unwrap();
        assert_eq!(content.size, 32 << 20);
        assert_eq!(to.metadata().unwrap().len(), 32 << 20);
        assert!(to.metadata().unwrap().blocks() * 512 < 1 << 20);
    }

    #[test]
    fn no_more_is_read_than_was_there() {
        let mut to = file(b"");
        assert_eq!(copy(&mut file(b"abcdef"), &mut to, 3).unwrap().hash, sha256(b"abc"));
        assert_eq!(to.metadata().unwrap().len(), 3);
    }

    #[test]
    fn one_byte_makes_a_difference() {
        let mut bytes = vec![7; 2 * PIECE];
        let mut one = file(&bytes);
        bytes[2 * PIECE - 1] = 8;
        assert!(!same(&mut one, &mut file(&bytes), 2 * PIECE as u64).unwrap());
    }
}
