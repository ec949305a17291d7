//! Folders and files that nobody else may read.
//!
//! # Threat
//! Another user of the machine who reads prompts, outputs and code, or who puts rules, a model's
//! address or a record in our place.
//!
//! # Mechanism
//! New files get mode 0700 or 0600, whatever the umask. Existing ones must belong to us and be
//! closed to others; otherwise nothing is read from them or written to them. The folder of settings,
//! which people make by hand, may be read by others and not written.
//!
//! A file that matters as a whole is written beside its place and renamed, so that a kill leaves
//! the old one or the new one. The temporary name is fixed and locked during the write: the next
//! process overwrites the leftover of a killed one.
//!
//! # Order
//! A file is made, closed to others, before anything that writes to it opens it.
//!
//! # Limits
//! The folders above are not looked at: whoever may write there can take ours away and put
//! another in its place. Root reads everything. Elsewhere than on Unix only the kind is checked.

use crate::StoreError;
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{self, File, Metadata},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// How the name of a file ends until it is whole.
pub(crate) const UNFINISHED: &str = "new";

/// Whether a write waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    Wait,
    LetBe,
}

/// Writes a file so that it is there whole or as it was before.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let (unfinished, _lock) = beside(path, content, Flush::Wait)?;
    fs::rename(unfinished, path)
}

/// The same without waiting for the disk, for a copy that can be made again.
pub(crate) fn write_copy(path: &Path, content: &[u8]) -> io::Result<()> {
    let (unfinished, _lock) = beside(path, content, Flush::LetBe)?;
    fs::rename(unfinished, path)
}

/// The same for a file of the person's own, which stays as open to others as they made it.
pub(crate) fn write_theirs(path: &Path, content: &[u8]) -> io::Result<()> {
    let (unfinished, file) = beside(path, content, Flush::Wait)?;
    if let Ok(before) = fs::metadata(path) {
        file.set_permissions(before.permissions())?;
    }
    fs::rename(unfinished, path)
}

/// Writes a file so that it is there whole or not at all. One that is there already stays.
pub(crate) fn write_new(path: &Path, content: &[u8], flush: Flush) -> io::Result<()> {
    let (unfinished, _lock) = beside(path, content, flush)?;
    // Whoever else makes it waits for the lock.
    if path.try_exists()? { fs::remove_file(unfinished) } else { fs::rename(unfinished, path) }
}

/// Whether a path leads to this very file.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    platform::is_at(file, path)
}

/// Removes what a killed process left of a file that it was writing.
pub(crate) fn remove_unfinished(unfinished: &Path) -> io::Result<()> {
    let file = File::open(unfinished)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if platform::is_at(&file, unfinished)? => fs::remove_file(unfinished),
        // Somebody is writing it, or has finished it meanwhile.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes `content` beside `path`, closed to others. The file is locked as long as it is open.
fn beside(path: &Path, content: &[u8], flush: Flush) -> io::Result<(PathBuf, File)> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".");
    unfinished.push(UNFINISHED);
    let unfinished = PathBuf::from(unfinished);
    // Each turn means that another writer has finished.
    loop {
        let mut file = platform::unfinished_file().open(&unfinished)?;
        flock(&file, FlockOperation::LockExclusive)?;
        // Another writer may have had the lock before, and given the file its name.
        if !platform::is_at(&file, &unfinished)? {
            continue;
        }
        platform::close_file(&file)?;
        let written =
            file.set_len(0).and_then(|()| file.write_all(content)).and_then(|()| match flush {
                Flush::Wait => file.sync_all(),
                Flush::LetBe => Ok(()),
            });
        return match written {
            Ok(()) => Ok((unfinished, file)),
            Err(error) => {
                // The write error matters more.
                drop(fs::remove_file(&unfinished));
                Err(error)
            }
        };
    }
}

/// Makes a folder, and those above it, unless it is there; then it must be ours and private.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    if !check_folder(path)? {
        make_missing(path).map_err(|source| StoreError::Make { path: path.into(), source })?;
        // Another process may have made it meanwhile, so it is looked at like any other.
        check_folder(path)?;
    }
    Ok(())
}

/// Makes the folder of settings unless it is there; then nobody else may write to it.
pub(crate) fn make_folder_of_settings(path: &Path) -> Result<(), StoreError> {
    if !check_folder_of_settings(path)? {
        make_missing(path).map_err(|source| StoreError::Make { path: path.into(), source })?;
        check_folder_of_settings(path)?;
    }
    Ok(())
}

/// Makes a folder and those above it, as far as they are missing.
fn make_missing(path: &Path) -> io::Result<()> {
    match (make_one(path), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            // The second attempt below can fail with the same error only if what was just made
            // is gone again, so it is not repeated.
            make_missing(parent)?;
            make_one(path)
        }
        (made, _) => made,
    }
}

/// Makes one folder, unless somebody else was faster.
fn make_one(path: &Path) -> io::Result<()> {
    match platform::folder_builder().create(path) {
        Ok(()) => platform::close_folder(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a folder is there. If it is, it is ours and private.
pub(crate) fn check_folder(path: &Path) -> Result<bool, StoreError> {
    let Some(metadata) = metadata(path)? else { return Ok(false) };
    if !metadata.is_dir() {
        return Err(StoreError::NotAFolder { path: path.into() });
    }
    platform::check(path, &metadata, 0o700, Others::Nothing)?;
    Ok(true)
}

/// Whether the folder of settings is there. If it is, it is ours, and nobody else may write to it.
pub(crate) fn check_folder_of_settings(path: &Path) -> Result<bool, StoreError> {
    let Some(metadata) = metadata(path)? else { return Ok(false) };
    if !metadata.is_dir() {
        return Err(StoreError::NotAFolder { path: path.into() });
    }
    platform::check(path, &metadata, 0o755, Others::Read)?;
    Ok(true)
}

/// The rights of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    Nothing,
    Read,
}

/// Makes an empty file unless it is there; then it must be ours and private.
///
/// A file that is there is not opened: to close it again would drop the locks that `SQLite`
/// holds on it elsewhere in this process.
pub(crate) fn make_file(path: &Path) -> Result<(), StoreError> {
    let make = |source| StoreError::Make { path: path.into(), source };
    if check_file(path)? {
        return Ok(());
    }
    match platform::new_file().open(path) {
        Ok(file) => platform::close_file(&file).map_err(make),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_file(path).map(|_| ()),
        Err(error) => Err(make(error)),
    }
}

/// Whether a file is there. If it is, it is ours and private.
pub(crate) fn check_file(path: &Path) -> Result<bool, StoreError> {
    let Some(metadata) = metadata(path)? else { return Ok(false) };
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { path: path.into() });
    }
    platform::check(path, &metadata, 0o600, Others::Nothing)?;
    Ok(true)
}

fn metadata(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Read { path: path.into(), source }),
    }
}

#[cfg(unix)]
mod platform {
    use super::Others;
    use crate::StoreError;
    use std::{
        fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
        io,
        os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
        path::Path,
    };

    pub(super) fn folder_builder() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }

    /// A umask may have taken away even the owner's rights.
    pub(super) fn close_folder(path: &Path) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(0o700))
    }

    pub(super) fn new_file() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options
    }

    /// A file to be written beside another one. No link is followed.
    pub(super) fn unfinished_file() -> OpenOptions {
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(no_link);
        options
    }

    /// Whether a path leads to this very file.
    pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        let open = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (open.dev(), open.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn close_file(file: &File) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(0o600))
    }

    pub(super) fn check(
        path: &Path,
        metadata: &Metadata,
        wanted: u32,
        others: Others,
    ) -> Result<(), StoreError> {
        let we = rustix::process::geteuid().as_raw();
        let owner = metadata.uid();
        if owner != we {
            return Err(StoreError::NotOurs { path: path.into(), owner, we });
        }
        let mode = metadata.mode() & 0o777;
        let refused = match others {
            Others::Nothing => 0o077,
            Others::Read => 0o022,
        };
        if mode & refused != 0 {
            return Err(StoreError::NotPrivate { path: path.into(), mode, wanted });
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod platform {
    use super::Others;
    use crate::StoreError;
    use std::{
        fs::{DirBuilder, File, Metadata, OpenOptions},
        io,
        path::Path,
    };

    pub(super) fn folder_builder() -> DirBuilder {
        DirBuilder::new()
    }

    pub(super) fn close_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn new_file() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        options
    }

    pub(super) fn unfinished_file() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        options
    }

    pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn close_file(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn check(_: &Path, _: &Metadata, _: u32, _: Others) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn several_can_make_the_same_folder_at_once() {
        let root = tempfile::tempdir().unwrap();
        let barrier = std::sync::Barrier::new(4);
        for round in 0..200 {
            let path = root.path().join(round.to_string()).join("a/b");
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        barrier.wait();
                        make_folder(&path).unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn several_can_write_the_same_file_and_leave_nothing_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("answers.json");
        std::thread::scope(|scope| {
            for letter in [b'a', b'b', b'c', b'd'] {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..200 {
                        write(path, &[letter; 5_000]).unwrap();
                    }
                });
            }
            for _ in 0..500 {
                let Ok(content) = fs_err::read(&path) else { continue };
                assert_eq!(content.len(), 5_000);
                assert!(content.iter().all(|byte| *byte == content[0]));
            }
        });
        assert_eq!(fs_err::read_dir(home.path()).unwrap().count(), 1);
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn what_a_killed_process_left_is_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("answers.json");
        fs_err::write(home.path().join("answers.json.new"), "half of something longer").unwrap();
        write(&path, b"whole").unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"whole");
        assert_eq!(fs_err::read_dir(home.path()).unwrap().count(), 1);
        write_new(&path, b"another", Flush::LetBe).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"whole");
        assert_eq!(fs_err::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_beside_a_file_is_not_written_through() {
        let home = tempfile::tempdir().unwrap();
        let (path, theirs) = (home.path().join("answers.json"), home.path().join("theirs"));
        fs_err::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, home.path().join("answers.json.new")).unwrap();
        assert!(write(&path, b"ours").is_err());
        assert_eq!(fs_err::read(&theirs).unwrap(), b"theirs");
    }

    #[test]
    fn what_is_made_is_private_and_making_it_again_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("above/ours");
        let file = folder.join("record.db");
        for _ in 0..2 {
            make_folder(&folder).unwrap();
            make_file(&file).unwrap();
        }
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        assert_eq!(mode(&home.path().join("above")), 0o700);
    }

    #[test]
    fn a_folder_open_to_others_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("ours");
        make_folder(&folder).unwrap();
        for (open, shown) in [(0o755, "755"), (0o710, "710"), (0o701, "701")] {
            fs::set_permissions(&folder, Permissions::from_mode(open)).unwrap();
            let error = make_folder(&folder).unwrap_err();
            assert!(error.to_string().contains(&format!("mode {shown}")), "{error}");
            assert!(matches!(error, StoreError::NotPrivate { wanted: 0o700, .. }), "{error}");
        }
    }

    #[test]
    fn a_file_open_to_others_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("record.db");
        make_file(&file).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let error = make_file(&file).unwrap_err();
        assert!(matches!(error, StoreError::NotPrivate { wanted: 0o600, .. }), "{error}");
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("theirs");
        make_folder(&folder).unwrap();
        // Only root can give a folder away; for others there is nothing to test here.
        if std::os::unix::fs::chown(&folder, Some(4321), None).is_ok() {
            let error = make_folder(&folder).unwrap_err();
            assert!(matches!(error, StoreError::NotOurs { owner: 4321, .. }), "{error}");
        }
    }

    #[test]
    fn a_thing_of_the_wrong_kind_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        make_file(&file).unwrap();
        assert!(matches!(make_folder(&file), Err(StoreError::NotAFolder { .. })));
        assert!(matches!(make_file(home.path()), Err(StoreError::NotAFile { .. })));
        assert!(matches!(make_folder(&file.join("below")), Err(StoreError::Read { .. })));
    }
}
