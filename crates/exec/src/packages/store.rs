//! The files of packages that environments are made of, each in a folder named by its hash.
//!
//! An environment is made anew whenever something in it changes, also where the index cannot be
//! reached. Only this program writes here, outside of every sandbox.
//!
//! # Threat
//! A file that comes from a sandbox may still be open there, or be a second name of one that is.
//! Neither its name nor an earlier hash says anything about its bytes now.
//!
//! # Mechanism
//! A file is taken in when everything in its sandbox has ended, and as a copy: the bytes that are
//! hashed are the bytes that are written, into a new file that no sandbox has ever had. Each file
//! is hashed again before it is used, and one with another hash goes.

use super::space::PackageSpace;
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{hash::hex, packages::PlannedPackage};
use rustix::fs::{Mode, OFlags, open};
use sha2::{Digest, Sha256, Sha512};
use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The name of a file that is being taken in.
const COMING: &str = "coming";

/// The files of one work folder.
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

    /// Whether there is a file by the hash of the package. It is not looked at.
    pub(super) fn has(&self, package: &PlannedPackage) -> bool {
        self.file_of(package).is_some()
    }

    fn file_of(&self, package: &PlannedPackage) -> Option<PathBuf> {
        let folder = self.folder.join(FileHash::of(package)?.folder());
        let mut files = fs_err::read_dir(folder).ok()?.flatten();
        files.next().map(|file| file.path())
    }

    /// The file of a package, if it still has its hash. One that does not is removed.
    pub(super) fn sound(&self, package: &PlannedPackage) -> Option<PathBuf> {
        let file = self.file_of(package)?;
        let hash = FileHash::of(package)?;
        let is_sound = open_file(&file)
            .and_then(|mut from| hash.copy(&mut from, &mut io::sink(), |_| Ok(())))
            .is_ok_and(|found| found == hash.digits);
        if !is_sound {
            // Where it stays, it is found again and refused again.
            _ = fs_err::remove_dir_all(self.folder.join(hash.folder())).is_ok();
        }
        is_sound.then_some(file)
    }

    /// Takes in a copy of a file that came from a sandbox, if it has the hash of the package.
    /// Nothing in that sandbox may run any more.
    pub(super) fn take(
        &self,
        package: &PlannedPackage,
        file: &Path,
        room: &mut PackageSpace,
    ) -> io::Result<()> {
        let wrong = || io::Error::other(format!("{package} is not the file that was looked up"));
        let hash = FileHash::of(package).ok_or_else(wrong)?;
        let name = file.file_name().ok_or_else(wrong)?;
        let coming = self.folder.join(COMING);
        let found = self.copy_in(&hash, file, &coming, room)?;
        if found != hash.digits {
            super::skeleton::clear(&coming)?;
            return Err(wrong());
        }
        let folder = self.folder.join(hash.folder());
        super::skeleton::clear(&folder)?;
        super::skeleton::real_folder(&folder)?;
        fs_err::rename(coming, folder.join(name))
    }

    /// Takes in a finished build, and returns its hash.
    pub(super) fn take_built(&self, file: &Path, room: &mut PackageSpace) -> io::Result<String> {
        let hash = FileHash { form: HashForm::Sha256, digits: String::new() };
        let name = file.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        let coming = self.folder.join(COMING);
        let digits = self.copy_in(&hash, file, &coming, room)?;
        let folder = self.folder.join(&digits);
        super::skeleton::clear(&folder)?;
        super::skeleton::real_folder(&folder)?;
        fs_err::rename(coming, folder.join(name))?;
        Ok(format!("sha256:{digits}"))
    }

    fn copy_in(
        &self,
        hash: &FileHash,
        from: &Path,
        to: &Path,
        room: &mut PackageSpace,
    ) -> io::Result<String> {
        self.make()?;
        super::skeleton::clear(to)?;
        let mut from = open_file(from)?;
        room.spend(from.metadata()?.len())?;
        let mut options = fs_err::OpenOptions::new();
        let mut file = options.write(true).create_new(true).open(to)?;
        let mut most = from.metadata()?.len();
        let found = hash.copy(&mut from, &mut file, |count| {
            // It was of this length when everything that could write it had ended.
            most = most.checked_sub(count).ok_or_else(|| io::Error::other("it grows"))?;
            Ok(())
        })?;
        fs_err::set_permissions(to, PermissionsExt::from_mode(0o644))?;
        Ok(found)
    }

    /// Puts copies of npm's files where npm finds them by their hashes, each hashed as it is
    /// copied. npm fetches those that are missing.
    pub(super) fn lay_out<'a>(
        &self,
        packages: impl Iterator<Item = &'a PlannedPackage>,
        cache: &Path,
    ) -> io::Result<()> {
        for package in packages {
            let (Some(hash), Some(file)) = (FileHash::of(package), self.file_of(package)) else {
                continue;
            };
            let place = hash.in_cache(cache);
            fs_err::create_dir_all(place.parent().unwrap_or(cache))?;
            let mut options = fs_err::OpenOptions::new();
            let mut to = options.write(true).create_new(true).open(&place)?;
            let found = hash.copy(&mut open_file(&file)?, &mut to, |_| Ok(()))?;
            if found != hash.digits {
                super::skeleton::clear(&place)?;
                super::skeleton::clear(&self.folder.join(hash.folder()))?;
            }
        }
        Ok(())
    }

    /// Takes in what npm has fetched of these packages, and nothing else that it keeps.
    pub(super) fn take_from<'a>(
        &self,
        packages: impl Iterator<Item = &'a PlannedPackage>,
        cache: &Path,
        room: &mut PackageSpace,
    ) -> io::Result<()> {
        for package in packages.filter(|one| !self.has(one)) {
            let Some(hash) = FileHash::of(package) else { continue };
            let place = hash.in_cache(cache);
            if place.is_file() {
                self.take(package, &place, room)?;
            }
        }
        Ok(())
    }

    /// Removes what no environment is made of any more.
    pub(super) fn sweep(&self, kept: &[PlannedPackage]) {
        let kept: BTreeSet<_> =
            kept.iter().filter_map(FileHash::of).map(|one| one.folder()).collect();
        let Ok(entries) = fs_err::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if !entry.file_name().to_str().is_some_and(|name| kept.contains(name)) {
                // A file that stays is found again the next time.
                _ = super::skeleton::clear(&entry.path()).is_ok();
            }
        }
    }
}

/// The kinds of hashes that indexes give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashForm {
    Sha256,
    Sha512,
}

/// The hash of a package's file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileHash {
    form: HashForm,
    /// In hexadecimal.
    digits: String,
}

impl FileHash {
    fn of(package: &PlannedPackage) -> Option<Self> {
        if let Some(digits) = package.hash.strip_prefix("sha256:") {
            let plain = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            let fits = digits.len() == 64 && digits.chars().all(plain);
            return fits.then(|| Self { form: HashForm::Sha256, digits: digits.to_owned() });
        }
        let bytes = STANDARD.decode(package.hash.strip_prefix("sha512-")?).ok()?;
        (bytes.len() == 64).then(|| Self { form: HashForm::Sha512, digits: hex(&bytes) })
    }

    /// The name of the folder with its file.
    fn folder(&self) -> String {
        match self.form {
            HashForm::Sha256 => self.digits.clone(),
            HashForm::Sha512 => format!("sha512-{}", self.digits),
        }
    }

    /// The file with this hash in a cache of npm's.
    fn in_cache(&self, cache: &Path) -> PathBuf {
        let form = match self.form {
            HashForm::Sha256 => "sha256",
            HashForm::Sha512 => "sha512",
        };
        let (first, rest) = self.digits.split_at(2);
        let (second, rest) = rest.split_at(2);
        cache.join("_cacache/content-v2").join(form).join(first).join(second).join(rest)
    }

    /// Copies bytes and returns their hash in this form.
    fn copy(
        &self,
        from: &mut impl Read,
        to: &mut impl Write,
        most: impl FnMut(u64) -> io::Result<()>,
    ) -> io::Result<String> {
        match self.form {
            HashForm::Sha256 => copy_hashed::<Sha256>(from, to, most),
            HashForm::Sha512 => copy_hashed::<Sha512>(from, to, most),
        }
    }
}

fn copy_hashed<H: Digest>(
    from: &mut impl Read,
    to: &mut impl Write,
    mut most: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<String> {
    let (mut hash, mut block) = (H::new(), vec![0; 1 << 20]);
    loop {
        match from.read(&mut block)? {
            0 => return Ok(hex(&hash.finalize())),
            count => {
                most(count as u64)?;
                hash.update(&block[..count]);
                to.write_all(&block[..count])?;
            }
        }
    }
}

/// Opens a file that is one, and no link to one.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{Limits, hash::sha256, packages::PackageKind};

    fn package(text: &str) -> PlannedPackage {
        let hash = format!("sha256:{}", sha256(text.as_bytes()));
        PlannedPackage::new(PackageKind::Python, "six", "1", hash, String::new()).unwrap()
    }

    fn npm(text: &str) -> PlannedPackage {
        let hash = format!("sha512-{}", STANDARD.encode(Sha512::digest(text)));
        PlannedPackage::new(PackageKind::Npm, "six", "1.0.0", hash, String::new()).unwrap()
    }

    fn room() -> PackageSpace {
        PackageSpace::below(Path::new("/tmp"), &Limits::default())
    }

    #[test]
    fn only_a_file_with_its_hash_is_taken_in() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("files"));
        let file = root.path().join("six-1-py3-none-any.whl");
        fs_err::write(&file, "evil").unwrap();
        assert!(store.take(&package("good"), &file, &mut room()).is_err());
        let link = root.path().join("link.whl");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(store.take(&package("evil"), &link, &mut room()).is_err());
        fs_err::write(&file, "good").unwrap();
        store.take(&package("good"), &file, &mut room()).unwrap();
        assert!(store.has(&package("good")) && !store.has(&package("evil")));
        store.sweep(&[package("good")]);
        assert!(store.has(&package("good")));
        store.sweep(&[]);
        assert!(!store.has(&package("good")));
    }

    /// A build has its own file open, writable, from before it was hashed.
    #[test]
    fn a_file_that_is_still_open_elsewhere_is_not_the_one_that_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("files"));
        let path = root.path().join("six-1-py3-none-any.whl");
        let mut held = fs_err::File::create(&path).unwrap();
        held.write_all(b"good").unwrap();
        let second = root.path().join("second-name");
        fs_err::hard_link(&path, &second).unwrap();
        let hash = store.take_built(&path, &mut room()).unwrap();
        assert_eq!(hash, package("good").hash);
        io::Seek::rewind(&mut held).unwrap();
        held.write_all(b"evil").unwrap();
        // The control: whoever has the file open does change it.
        assert_eq!(fs_err::read(&second).unwrap(), b"evil");
        let kept = store.sound(&package("good")).unwrap();
        assert_eq!(fs_err::read(kept).unwrap(), b"good");
    }

    #[test]
    fn a_file_that_was_changed_in_the_store_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("files"));
        for (package, text) in [(package("good"), "good"), (npm("good"), "good")] {
            let file = root.path().join("file");
            fs_err::write(&file, text).unwrap();
            store.take(&package, &file, &mut room()).unwrap();
            let kept = store.sound(&package).unwrap();
            fs_err::write(kept, "evil").unwrap();
            assert_eq!(store.sound(&package), None);
            assert!(!store.has(&package));
        }
    }

    #[test]
    fn files_of_npm_are_kept_by_their_hash_and_nothing_else_of_its_cache_is() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("files"));
        let (cache, other) = (root.path().join("npm"), root.path().join("other"));
        let place = FileHash::of(&npm("good")).unwrap().in_cache(&cache);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::create_dir_all(cache.join("_cacache/index-v5")).unwrap();
        fs_err::write(&place, "good").unwrap();
        let all = [npm("good"), npm("absent")];
        store.take_from(all.iter(), &cache, &mut room()).unwrap();
        store.lay_out(all.iter(), &other).unwrap();
        let laid = FileHash::of(&npm("good")).unwrap().in_cache(&other);
        assert_eq!(fs_err::read(&laid).unwrap(), b"good");
        assert!(!other.join("_cacache/index-v5").exists());
        // One by that name with other bytes is not taken.
        store.sweep(&[]);
        fs_err::write(&place, "evil").unwrap();
        assert!(store.take_from(all.iter(), &cache, &mut room()).is_err());
        assert!(!store.has(&npm("good")));
        // Nor is one laid out that was changed here.
        fs_err::write(&place, "good").unwrap();
        store.take_from(all.iter(), &cache, &mut room()).unwrap();
        fs_err::write(store.sound(&npm("good")).unwrap(), "evil").unwrap();
        super::super::skeleton::clear(&other).unwrap();
        store.lay_out(all.iter(), &other).unwrap();
        assert!(!laid.exists());
    }
}
