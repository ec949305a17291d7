//! Reads the headers of files that a prompt names, for models that are given them.
//!
//! # Threat
//! Nobody is asked, so a prompt that was pasted must not make this read a secret, a file outside of
//! the work folder, or something that never ends.
//!
//! # Mechanism
//! The kernel resolves each name below the work folder and through no symbolic link at all
//! (`openat2`). Nothing hidden, nothing with the name of a secret and nothing of our own is opened,
//! whatever the person allows code to read. Only a regular file is read, and only its first bytes;
//! opening does not wait for anybody. Whatever is given is on record and announced.
//!
//! # Order
//! The name is judged before the file is opened.
//!
//! # Limits
//! A secret by another name is not recognised. The file is the one in the folder, without changes
//! that are only staged.

use crate::Context;
use interpreter_core::{
    file_header::{FileHeader, MOST_FILES, READ, named},
    sensitive::{self, SensitiveForm},
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use std::{io::Read, os::unix::ffi::OsStrExt, path::Path};

const BELOW: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

impl Context {
    /// The headers of the files that a prompt names, as far as they may be given.
    pub(crate) fn file_headers(&self, prompt: &str) -> Vec<FileHeader> {
        let names = named(prompt).into_iter();
        let names = names.filter(|name| self.may_be_given(Path::new(name)));
        let header = |name| FileHeader::new(name, &first(&self.work_folder, name)?);
        names.filter_map(header).take(MOST_FILES).collect()
    }

    /// Whether a file of this name is nobody's secret, by its name.
    fn may_be_given(&self, name: &Path) -> bool {
        let path = self.work_folder.join(name);
        !is_secret(&path) && !self.folders.all().any(|ours| path.starts_with(ours))
    }
}

/// Whether a path is that of a secret, or leads through a place of secrets. A name that is common
/// without a secret counts too: nobody is asked.
fn is_secret(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return true };
    let is_named = |form| sensitive::named(parent, name.as_bytes(), form).is_some();
    sensitive::place_above(parent).is_some()
        || is_named(SensitiveForm::File)
        || is_named(SensitiveForm::Folder)
}

/// The first bytes of a regular file below a folder, if it can be read.
fn first(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let file = openat2(folder, name, flags | OFlags::NONBLOCK, Mode::empty(), BELOW).ok()?;
    if FileType::from_raw_mode(fstat(&file).ok()?.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(READ as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, mknodat};
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_regular_file_below_the_folder_is_read_and_no_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join("work");
        fs_err::create_dir_all(work.join("sub")).unwrap();
        fs_err::write(root.path().join("outside.csv"), "SECRET").unwrap();
        fs_err::write(work.join("sub/a.csv"), "x,y\n").unwrap();
        symlink("../outside.csv", work.join("link.csv")).unwrap();
        symlink("sub/a.csv", work.join("near.csv")).unwrap();
        symlink("..", work.join("up")).unwrap();
        mknodat(CWD, work.join("pipe.csv"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(first(&work, "sub/a.csv").unwrap(), b"x,y\n");
        let kept = ["link.csv", "near.csv", "up/outside.csv", "pipe.csv", "sub", "none.csv"];
        for name in kept {
            assert_eq!(first(&work, name), None, "{name}");
        }
        for outside in ["../outside.csv", root.path().join("outside.csv").to_str().unwrap()] {
            assert_eq!(first(&work, outside), None, "{outside}");
        }
        fs_err::write(work.join("long.csv"), "x".repeat(READ + 9)).unwrap();
        assert_eq!(first(&work, "long.csv").unwrap().len(), READ);
    }

    #[test]
    fn names_of_secrets_are_known_at_any_depth() {
        let secrets = ["/w/id_rsa", "/w/a/kubeconfig", "/h/.ssh/notes.txt", "/w/.env", "/w/.npmrc"];
        for secret in secrets {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for plain in ["/w/sales.csv", "/w/sub/keys.json"] {
            assert!(!is_secret(Path::new(plain)), "{plain}");
        }
    }
}
