//! SHA-256 of much, piece by piece.

use interpreter_core::hash::hex;
use sha2::{Digest, Sha256};
use std::{
    io::{self, Read},
    path::Path,
};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 20;

/// A hash that is not finished.
#[derive(Clone, Default)]
pub(crate) struct Hash(Sha256);

impl Hash {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digits of what was added.
    pub(crate) fn digits(self) -> String {
        hex(&self.0.finalize())
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hash")
    }
}

/// The digits of a whole file.
pub(super) fn of_file(path: &Path) -> io::Result<String> {
    let mut file = super::regular(path)?;
    let mut hash = Hash::default();
    let mut bytes = vec![0; AT_ONCE];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(hash.digits()),
            read => hash.add(&bytes[..read]),
        }
    }
}

/// Reads to the end, and hands over each piece. Others get a turn after each: whoever waits for this
/// can give up. `failed` makes an error of what reading ends with.
pub(crate) async fn read_to_end<E>(
    mut from: impl Read,
    failed: impl FnOnce(io::Error) -> E,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = vec![0; AT_ONCE];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) => take(&bytes[..read])?,
            Err(error) => return Err(failed(error)),
        }
        tokio::task::yield_now().await;
    }
}
