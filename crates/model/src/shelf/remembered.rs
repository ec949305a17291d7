//! That a file was hashed and found right, kept beside it.

use super::regular;
use serde::{Deserialize, Serialize};
use std::{
    fs::Metadata,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// More than what is kept ever needs.
const MOST: u64 = 4096;

/// The metadata of a file when it was hashed. A program can set the time of writing to any other,
/// but not that of the last change.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checked {
    bytes: u64,
    device: u64,
    inode: u64,
    written: (i64, i64),
    changed: (i64, i64),
    sha256: String,
}

impl Checked {
    fn of(found: &Metadata, sha256: &str) -> Self {
        Self {
            bytes: found.len(),
            device: found.dev(),
            inode: found.ino(),
            written: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            sha256: sha256.into(),
        }
    }
}

/// Where it is kept.
pub(super) fn path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".checked");
    name.into()
}

/// Whether the file, as it was found, has this hash.
pub(super) fn has(file: &Path, found: &Metadata, sha256: &str) -> bool {
    read(file).is_ok_and(|checked| checked == Checked::of(found, sha256))
}

fn read(file: &Path) -> io::Result<Checked> {
    let mut text = String::new();
    regular(&path(file))?.take(MOST).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// Keeps it. Where that fails the file is hashed again next time, which is all that is lost.
pub(super) fn keep(file: &Path, sha256: &str) {
    let kept = fs_err::metadata(file).and_then(|found| {
        let text = serde_json::to_string(&Checked::of(&found, sha256))?;
        let path = path(file);
        // Whole or not at all.
        let unfinished = path.with_extension("checked.new");
        fs_err::write(&unfinished, text)?;
        fs_err::rename(unfinished, path)
    });
    _ = kept.is_ok();
}
