//! The folders that install scripts of npm have left, of the packages that they belong to.
//!
//! # Threat
//! A script writes wherever it can: into the folders of other packages, over the list, into a
//! cache. It may leave links, pipes and sockets, or a program that gives its owner's rights.
//!
//! # Mechanism
//! Scripts run over a copy of the environment. When everything in their sandbox has ended, the own
//! files of each package that was to be built are copied back: plain files, folders and links, with
//! plain modes. Files of packages that came in its file are its own. All other packages stay as the
//! registry has them.
//!
//! # Limits
//! A link may lead anywhere that code can read anyway.

use super::{skeleton, space::PackageSpace, store::open_file};
use interpreter_core::Limits;
use std::{
    io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

/// Where a package has the packages that only it requires.
const BELOW: &str = "node_modules";

/// Levels of folders that are copied. Packages have a few.
const DEEPEST: u32 = 100;

/// The folder of a package in an environment, if it is one, and each above it too. The folder of a
/// scope could be a link, which leads anywhere.
fn real_place(environment: &Path, name: &str) -> Option<PathBuf> {
    let mut place = environment.to_owned();
    let parts = [BELOW].into_iter().chain(name.split('/'));
    for part in parts {
        place.push(part);
        if !skeleton::is_real(&place) {
            return None;
        }
    }
    Some(place)
}

/// Whether an environment has a package.
pub(super) fn is_there(name: &str, environment: &Path) -> bool {
    real_place(environment, name).is_some()
}

/// A copy of a whole environment, for scripts to run over.
pub(super) fn copy_all(from: &Path, to: &Path, limits: &Limits) -> io::Result<()> {
    skeleton::clear(to)?;
    let mut copy = ScriptCopy { room: PackageSpace::below(from, limits), without: None };
    copy.folder(from, to, 0)
}

/// Puts the own files of a package in the place of those that another environment has of it.
pub(super) fn bring(name: &str, from: &Path, to: &Path, limits: &Limits) -> io::Result<()> {
    let places = real_place(from, name).zip(real_place(to, name));
    let gone = || io::Error::other(format!("the folder of {name} is gone, or leads elsewhere"));
    let (from, to) = places.ok_or_else(gone)?;
    for entry in fs_err::read_dir(&to)? {
        let entry = entry?;
        if entry.file_name() != BELOW {
            skeleton::clear(&entry.path())?;
        }
    }
    let mut copy = ScriptCopy { room: PackageSpace::below(&to, limits), without: Some(BELOW) };
    copy.folder(&from, &to, 0)
}

/// Something that is being copied.
struct ScriptCopy {
    room: PackageSpace,
    /// A name that is left out at the top.
    without: Option<&'static str>,
}

impl ScriptCopy {
    fn folder(&mut self, from: &Path, to: &Path, level: u32) -> io::Result<()> {
        if level > DEEPEST {
            return Err(io::Error::other("its folders are nested too deep"));
        }
        skeleton::real_folder(to)?;
        for entry in fs_err::read_dir(from)? {
            let entry = entry?;
            let (kind, into) = (entry.file_type()?, to.join(entry.file_name()));
            if level == 0 && self.without.is_some_and(|name| entry.file_name() == name) {
                continue;
            }
            if kind.is_dir() {
                self.room.spend(0)?;
                self.folder(&entry.path(), &into, level + 1)?;
            } else if kind.is_symlink() {
                self.room.spend(0)?;
                symlink(fs_err::read_link(entry.path())?, into)?;
            } else if kind.is_file() {
                let found = entry.metadata()?;
                self.room.spend(found.len())?;
                let mut options = fs_err::OpenOptions::new();
                let mut file = options.write(true).create_new(true).open(&into)?;
                io::copy(&mut open_file(&entry.path())?, &mut file)?;
                let runs = found.permissions().mode() & 0o111 != 0;
                let mode = if runs { 0o755 } else { 0o644 };
                fs_err::set_permissions(&into, PermissionsExt::from_mode(mode))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(environment: &Path, name: &str) -> PathBuf {
        environment.join(BELOW).join(name)
    }

    fn put(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn only_the_own_files_of_a_package_come_back() {
        let root = tempfile::tempdir().unwrap();
        let (clean, dirty) = (root.path().join("clean"), root.path().join("dirty"));
        for name in ["one", "one/node_modules/below", "other"] {
            put(&place(&clean, name).join("index.js"), "good");
        }
        put(&place(&clean, "one").join("old.js"), "good");
        copy_all(&clean, &dirty, &Limits::default()).unwrap();
        for name in ["one", "one/node_modules/below", "other", "planted"] {
            put(&place(&dirty, name).join("index.js"), "scripts were here");
        }
        let one = place(&dirty, "one");
        fs_err::remove_file(one.join("old.js")).unwrap();
        let set = std::fs::Permissions::from_mode(0o4755);
        fs_err::set_permissions(one.join("index.js"), set).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            one.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        bring("one", &dirty, &clean, &Limits::default()).unwrap();
        let text = |name: &str| {
            fs_err::read_to_string(place(&clean, name).join("index.js")).unwrap_or_default()
        };
        assert_eq!(text("one"), "scripts were here");
        assert_eq!((text("one/node_modules/below"), text("other")), ("good".into(), "good".into()));
        assert!(!place(&clean, "planted").exists());
        let one = place(&clean, "one");
        assert!(!one.join("old.js").exists() && !one.join("pipe").exists());
        let mode = fs_err::metadata(one.join("index.js")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755);
    }

    #[test]
    fn a_scope_that_is_a_link_leads_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        put(&home.join("bin/tool"), "own");
        let environment = |name: &str| {
            let made = root.path().join(name);
            put(&place(&made, "@fine/bin/index.js"), name);
            made
        };
        let (linked, whole) = (environment("linked"), environment("whole"));
        std::os::unix::fs::symlink(&home, place(&linked, "@evil")).unwrap();
        put(&place(&whole, "@evil/bin/index.js"), "whole");
        let limits = Limits::default();
        for (from, to) in [(&linked, &whole), (&whole, &linked)] {
            assert!(bring("@evil/bin", from, to, &limits).is_err());
            bring("@fine/bin", from, to, &limits).unwrap();
        }
        assert!(!is_there("@evil/bin", &linked) && is_there("@evil/bin", &whole));
        assert_eq!(fs_err::read_dir(home.join("bin")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_copied_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("from");
        put(&from.join("small"), "good");
        let limits = Limits { staged_bytes: 1 << 20, ..Limits::default() };
        copy_all(&from, &root.path().join("to"), &limits).unwrap();
        let hole = fs_err::File::create(from.join("hole")).unwrap();
        hole.set_len(1 << 40).unwrap();
        assert!(copy_all(&from, &root.path().join("to"), &limits).is_err());
    }
}
