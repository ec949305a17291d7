//! The finished builds that environments are made of, each in a folder named by its hash.
//!
//! An environment is made anew whenever something in it changes, also where the index cannot be
//! reached. Only this program writes here, outside of every sandbox, and what it finds here it
//! believes by its hash alone.

use interpreter_core::{hash::RunningHash, packages::PlannedPackage};
use rustix::fs::{Mode, OFlags, open};
use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The builds of one work folder.
#[derive(Clone, Debug)]
pub(super) struct Store {
    folder: PathBuf,
}

impl Store {
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Makes the folder, so that a sandbox can show it.
    pub(super) fn make(&self) -> io::Result<()> {
        if !self.folder.is_dir() {
            fs_err::create_dir(&self.folder)?;
            // Root's installer is another user.
            fs_err::set_permissions(&self.folder, PermissionsExt::from_mode(0o755))?;
        }
        Ok(())
    }

    pub(super) fn has(&self, package: &PlannedPackage) -> bool {
        self.file_of(package).is_some()
    }

    /// The file of a package.
    pub(super) fn file_of(&self, package: &PlannedPackage) -> Option<PathBuf> {
        let folder = self.folder.join(digest_of(package)?);
        let mut files = fs_err::read_dir(folder).ok()?.flatten();
        files.next().map(|file| file.path())
    }

    /// Takes in a file that came from a sandbox, if it has the hash of the package.
    pub(super) fn take(&self, package: &PlannedPackage, file: &Path) -> io::Result<()> {
        let wrong = || io::Error::other(format!("{package} is not the file that was looked up"));
        let digest = digest_of(package).ok_or_else(wrong)?;
        if hash_of(file)? != digest {
            return Err(wrong());
        }
        let folder = self.folder.join(digest);
        if self.has(package) {
            return Ok(());
        }
        let name = file.file_name().ok_or_else(wrong)?;
        if !folder.is_dir() {
            fs_err::create_dir(&folder)?;
            fs_err::set_permissions(&folder, PermissionsExt::from_mode(0o755))?;
        }
        fs_err::rename(file, folder.join(name))?;
        fs_err::set_permissions(folder.join(name), PermissionsExt::from_mode(0o644))
    }

    /// Removes what no environment is made of any more.
    pub(super) fn sweep(&self, kept: &[PlannedPackage]) {
        let kept: BTreeSet<_> = kept.iter().filter_map(digest_of).collect();
        let Ok(entries) = fs_err::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if !entry.file_name().to_str().is_some_and(|name| kept.contains(name)) {
                // A file that stays is found again the next time.
                _ = fs_err::remove_dir_all(entry.path()).is_ok();
            }
        }
    }
}

/// The hexadecimal digits of a hash that is one of these.
fn digest_of(package: &PlannedPackage) -> Option<&str> {
    let digits = package.hash.strip_prefix("sha256:")?;
    let plain = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    (digits.len() == 64 && digits.chars().all(plain)).then_some(digits)
}

/// The SHA-256 of a file that is one, and no link to one.
pub(super) fn hash_of(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let (mut hash, mut block) = (RunningHash::default(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hash.finish()),
            count => hash.update(&block[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{hash::sha256, packages::PackageKind};

    fn package(text: &str) -> PlannedPackage {
        let hash = format!("sha256:{}", sha256(text.as_bytes()));
        PlannedPackage::new(PackageKind::Python, "six", "1", hash, String::new()).unwrap()
    }

    #[test]
    fn only_a_file_with_its_hash_is_taken_in() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("files"));
        store.make().unwrap();
        let file = root.path().join("six-1-py3-none-any.whl");
        fs_err::write(&file, "evil").unwrap();
        assert!(store.take(&package("good"), &file).is_err());
        let link = root.path().join("link.whl");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(store.take(&package("evil"), &link).is_err());
        fs_err::write(&file, "good").unwrap();
        store.take(&package("good"), &file).unwrap();
        assert!(store.has(&package("good")) && !store.has(&package("evil")));
        store.sweep(&[package("good")]);
        assert!(store.has(&package("good")));
        store.sweep(&[]);
        assert!(!store.has(&package("good")));
    }
}
