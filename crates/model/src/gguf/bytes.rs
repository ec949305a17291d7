//! The bytes of a file, of which no more are read than it has.

use super::GgufFault;
use std::io::{self, Read};

/// More than the head of any known model has: tokens and their merges take most of it.
const MOST_OF_A_HEAD: u64 = 64 << 20;

/// What is left of a file.
pub(super) struct Bytes<R> {
    from: R,
    length: u64,
    done: u64,
}

impl<R: Read> Bytes<R> {
    pub(super) const fn new(from: R, length: u64) -> Self {
        Self { from, length, done: 0 }
    }

    /// How many were read.
    pub(super) const fn done(&self) -> u64 {
        self.done
    }

    /// How many the file has.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Counts bytes that are about to be read. Refuses more than there are.
    fn claim(&mut self, bytes: u64) -> Result<(), GgufFault> {
        let done = self.done.checked_add(bytes).ok_or(GgufFault::CutShort)?;
        if done > self.length {
            return Err(GgufFault::CutShort);
        }
        if done > MOST_OF_A_HEAD {
            return Err(GgufFault::TooMuch);
        }
        self.done = done;
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], GgufFault> {
        self.claim(N as u64)?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| unread(&error))?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, GgufFault> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, GgufFault> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text with its length before it, of at most this many bytes.
    pub(super) fn text(&mut self, most: usize) -> Result<Vec<u8>, GgufFault> {
        let length = self.u64()?;
        // Before it is compared with the limit: a length past the end says more.
        self.claim(length)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= most);
        let mut text = vec![0; length.ok_or(GgufFault::TooMuch)?];
        self.from.read_exact(&mut text).map_err(|error| unread(&error))?;
        Ok(text)
    }

    /// Passes over bytes.
    pub(super) fn pass(&mut self, bytes: u64) -> Result<(), GgufFault> {
        self.claim(bytes)?;
        let passed = io::copy(&mut Read::by_ref(&mut self.from).take(bytes), &mut io::sink());
        let passed = passed.map_err(|error| unread(&error))?;
        if passed == bytes { Ok(()) } else { Err(GgufFault::CutShort) }
    }
}

/// A file that ends before its length has become shorter meanwhile.
fn unread(error: &io::Error) -> GgufFault {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        GgufFault::CutShort
    } else {
        GgufFault::Unreadable
    }
}
