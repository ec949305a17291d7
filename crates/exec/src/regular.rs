//! Reads the files around interpreters: regular files of a bounded length, and nothing else.
//!
//! # Threat
//! A project's file that decides which interpreter is used, and is a pipe, a device or a link to one:
//! to read it would never end, or take all memory, before anybody was asked about anything.
//!
//! # Mechanism
//! Nothing waits for the other end of a pipe, and what was opened is looked at before it is read.
//! A file that is longer than the bound counts as absent: half of it could mean something else.
//!
//! # Limits
//! A file system that does not answer is waited for.

use rustix::fs::{Mode, OFlags, open};
use std::{fs::File, io::Read, path::Path};

/// Whether a link at the end of a path leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Wherever it leads, a regular file is read.
    Followed,
    /// It counts as absent.
    Refused,
}

/// Opens a regular file to read it.
pub(crate) fn opened(path: &Path, links: Links) -> Option<File> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
}

/// The text of a regular file of at most `most` bytes.
pub(crate) fn text(path: &Path, most: u64, links: Links) -> Option<String> {
    let mut text = String::new();
    let read = opened(path, links)?.take(most + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= most).then_some(text)
}

/// The beginning of a regular file, wherever its name leads.
pub(crate) fn beginning(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path, Links::Followed)?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, mknodat};
    use std::os::unix::fs::symlink;

    #[test]
    fn pipes_devices_folders_and_long_files_are_absent_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::from(0o600), 0).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        fs_err::write(at("file"), "3.12\n").unwrap();
        symlink("file", at("link")).unwrap();
        for path in [at("pipe"), at("zero"), at("none"), folder.path().to_owned()] {
            assert_eq!(text(&path, 10, Links::Followed), None, "{}", path.display());
            assert_eq!(beginning(&path, 4), None, "{}", path.display());
        }
        // The control, with the bound just met and just missed.
        assert_eq!(text(&at("file"), 5, Links::Refused).as_deref(), Some("3.12\n"));
        assert_eq!(text(&at("file"), 4, Links::Refused), None);
        assert_eq!(beginning(&at("file"), 4).unwrap(), b"3.12");
        assert_eq!(text(&at("link"), 5, Links::Followed).as_deref(), Some("3.12\n"));
        assert_eq!(text(&at("link"), 5, Links::Refused), None);
    }
}
