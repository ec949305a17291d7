//! Opens files that somebody named: regular files, and nothing else.
//!
//! # Threat
//! A pipe or a device in place of a file, which keeps whoever opens it waiting for ever, or has an
//! effect by being opened; a link that somebody else puts there, which leads to a file that only we
//! can read.
//!
//! # Mechanism
//! Nothing waits for the other end of a pipe, and what was opened is looked at before it is read: a
//! name that is exchanged in between changes nothing. In a folder that others may write to, a link
//! at the end of the path is not followed.
//!
//! # Limits
//! The folders above are not looked at. A file system that does not answer is waited for.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Opens a regular file to read it, wherever its name leads.
pub fn open(path: &Path) -> io::Result<File> {
    checked(platform::open(path, Links::Followed)?)
}

/// The same for a file that a setting or an option names: links are followed only where nobody else
/// can put one.
pub fn open_named(path: &Path) -> io::Result<File> {
    checked(platform::open(path, platform::links(path)?)?)
}

/// The content of such a file, if it is no longer than `most` bytes.
pub fn read_named(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_named(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Whether a link at the end of a path leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

#[cfg(unix)]
mod platform {
    use super::Links;
    use rustix::{
        fs::{Mode, OFlags},
        process::geteuid,
    };
    use std::{
        fs::{self, File},
        io,
        os::unix::fs::{MetadataExt, PermissionsExt},
        path::Path,
    };

    /// Writing, for the group and for everybody.
    const OTHERS_WRITE: u32 = 0o022;

    pub(super) fn open(path: &Path, links: Links) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        if links == Links::Refused {
            flags |= OFlags::NOFOLLOW;
        }
        Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Links of a folder count only if it belongs to us or to root, and nobody else may write to it.
    pub(super) fn links(path: &Path) -> io::Result<Links> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::metadata(folder.unwrap_or(Path::new(".")))?;
        let is_owners = [0, geteuid().as_raw()].contains(&folder.uid());
        let is_shut = folder.permissions().mode() & OTHERS_WRITE == 0;
        Ok(if is_owners && is_shut { Links::Followed } else { Links::Refused })
    }
}

#[cfg(not(unix))]
mod platform {
    use super::Links;
    use std::{fs::File, io, path::Path};

    pub(super) fn open(path: &Path, _links: Links) -> io::Result<File> {
        File::open(path)
    }

    pub(super) fn links(_path: &Path) -> io::Result<Links> {
        Ok(Links::Followed)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt, symlink},
    };

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        // Without a writer, an open that waits would never come back.
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            for open in [open, open_named] {
                assert_eq!(open(path).unwrap_err().to_string(), "it is not a regular file");
            }
        }
        let file = folder.path().join("file");
        fs_err::write(&file, "text").unwrap();
        assert_eq!(read_named(&file, 4).unwrap(), b"text");
        assert!(read_named(&file, 3).unwrap_err().to_string().contains("larger than 3 bytes"));
    }

    #[test]
    fn a_link_in_a_folder_of_others_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs_err::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read_named(&link, 4).unwrap(), b"text");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(read_named(&link, 4).is_err());
        assert_eq!(read_named(&file, 4).unwrap(), b"text");
        assert!(open(&link).is_ok());
    }
}
