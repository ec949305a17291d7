//! Empties the folders that are the sandbox's own, so that no file of an undone cell meets a later
//! one.
//!
//! This runs inside, with no more rights than the code had, when nothing of that code runs any
//! more. Never follows a symbolic link, and leaves alone what is mounted: that is not the
//! sandbox's own. How deep the folders go, and which modes they have, is up to the code.

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, chmodat, fchmod, fstat, mkdirat, openat, unlinkat},
    io::Errno,
};
use std::{
    ffi::{CString, OsStr, OsString},
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

/// Empties the folders, and sees to it that there is a home. Whether nothing is left.
pub(crate) fn empty(folders: &[PathBuf], home: &Path) -> bool {
    let Ok(mounted) = mounted() else { return false };
    empty_around(folders, home, &mounted).is_ok()
}

fn empty_around(folders: &[PathBuf], home: &Path, mounted: &[PathBuf]) -> io::Result<()> {
    let mut spared = mounted.to_vec();
    // It may not be ours to remove, as a folder that was there before us.
    let has_home = fs::symlink_metadata(home).is_ok_and(|there| there.is_dir());
    spared.extend(has_home.then(|| home.to_owned()));
    for folder in folders {
        clear(folder, &spared)?;
    }
    if has_home {
        return clear(home, mounted);
    }
    Ok(mkdirat(CWD, home, Mode::RWXU)?)
}

/// Removes everything in a folder, if it is there, but what is spared and the folders above that.
fn clear(folder: &Path, spared: &[PathBuf]) -> io::Result<()> {
    let base = match open(CWD, folder) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    let spared: Vec<_> = spared.iter().filter(|one| one.starts_with(folder)).cloned().collect();
    for name in names(&base)? {
        let path = folder.join(OsStr::from_bytes(name.as_bytes()));
        if spared.contains(&path) {
            continue;
        }
        if spared.iter().any(|one| one.starts_with(&path)) {
            clear(&path, &spared)?;
        } else {
            remove(&base, name)?;
        }
    }
    Ok(())
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Removes an entry and everything below it: from the innermost folder outwards, with one folder
/// open at a time.
fn remove(base: &OwnedFd, name: CString) -> Result<(), Errno> {
    if is_removed(base, &name)? {
        return Ok(());
    }
    let mut at = open(base, &name)?;
    let mut way = vec![name];
    while let Some(last) = way.last() {
        if let Some(folder) = first_left(&at)? {
            at = open(&at, &folder)?;
            way.push(folder);
        } else {
            let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            at = openat(&at, "..", how, Mode::empty())?;
            unlinkat(&at, last, AtFlags::REMOVEDIR)?;
            way.pop();
        }
    }
    Ok(())
}

/// Removes entries of a folder up to the first that is a folder with something in it.
fn first_left(folder: &OwnedFd) -> Result<Option<CString>, Errno> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") && !is_removed(folder, name)? {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

/// Removes an entry, unless it is a folder with something in it.
fn is_removed(folder: &OwnedFd, name: &std::ffi::CStr) -> Result<bool, Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(true),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error),
    }
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A folder that can be worked in, whatever its mode was, if it is ours.
fn open(at: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd, Errno> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat(&at, name, how, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(&at, name, Mode::RWXU, AtFlags::empty())?;
            openat(&at, name, how, Mode::empty())?
        }
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(fstat(&opened)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        fchmod(&opened, mode | Mode::RWXU)?;
    }
    Ok(opened)
}

/// Where something is mounted.
fn mounted() -> io::Result<Vec<PathBuf>> {
    let mut text = Vec::new();
    File::open("/proc/self/mountinfo")?.read_to_end(&mut text)?;
    Ok(mount_points(&text))
}

fn mount_points(text: &[u8]) -> Vec<PathBuf> {
    let lines = text.split(|&byte| byte == b'\n');
    let points = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    points.map(|point| PathBuf::from(OsString::from_vec(plain(point)))).collect()
}

/// The kernel writes bytes that would end a field as a backslash and three octal digits.
fn plain(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
        if let (b'\\', [a, b, c, after @ ..]) = (first, after)
            && let (Some(a), Some(b), Some(c)) = (digit(*a), digit(*b), digit(*c))
        {
            plain.push((a & 3) << 6 | b << 3 | c);
            rest = after;
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
#[path = "empty_tests.rs"]
mod tests;
