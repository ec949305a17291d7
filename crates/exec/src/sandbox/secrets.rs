//! Finds the places of secrets in the folders that a person shows, to be covered in a sandbox.
//!
//! # Threat
//! Code that reads a key which a project keeps somewhere below its top, or which stands in a
//! folder that is itself hard to look into.
//!
//! # Mechanism
//! Every folder is listed once, by descriptor, without opening any file: name and kind come with
//! the listing. No link is followed on the way. A name is judged by its whole path, wherever the
//! search begins, and behind a link also by the path that leads through the link. A work folder that
//! is itself such a place, or in one, is refused: nothing in it
//! could be shown. A folder that cannot be searched (it is locked, or deeper than a path reaches)
//! is hidden as a whole, because code could open it and its content is unknown; unless it belongs
//! to somebody else and is closed to us, and so to code. A link by such a name is covered at its
//! target, wherever in what is shown that stands ([`links`]).
//!
//! # Order
//! Before the sandbox's mounts, while its process starts.
//!
//! # Limits
//! A secret that comes into the person's folder after this is not covered, and neither is a
//! second hard link by another name. Folders that the person granted are searched too, and what is
//! shown in homes of others; the rest that is shown are installations of interpreters and are not.

use crate::{ExecError, interpreters::Homes};
use interpreter_core::{
    Access, Confinement,
    sensitive::{self, Sensitive, SensitiveForm},
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{FileType, Mode, OFlags, RawDir, ResolveFlags, fstat, open, openat2, statat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io::Read,
    mem::MaybeUninit,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

mod links;

/// Files and folders that are looked at. Past this the search would take too long to wait for.
const MOST_ENTRIES: usize = 10_000_000;

/// Places that are covered. Each takes a mount or two.
const MOST_COVERED: usize = 4_096;

/// Bytes of a path that can still be covered where the folder is shown a second time.
const LONGEST: usize = 3_800;

/// Folders from which on several threads look: for fewer it takes longer to start them.
const MANY: usize = 64;

/// Threads that look.
const THREADS: usize = 4;

/// Bytes of a file that are looked through for words that give a secret away.
const LOOKED_THROUGH: u64 = 64 << 10;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Stays below the work folder, whatever is exchanged meanwhile.
const BELOW: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// The confinement with every place of secrets denied, in the work folder and in what was granted.
pub fn cover(confinement: &Confinement) -> Result<Confinement, ExecError> {
    let found = find(&confinement.work_folder, confinement)?;
    if found.contains(&confinement.work_folder) {
        let reason = "you may not list it, so no secret in it could be covered".into();
        return Err(ExecError::WorkFolder { folder: confinement.work_folder.clone(), reason });
    }
    with_granted(confinement, found)
}

/// Refuses a work folder that is, or is in, a place of secrets.
fn check(confinement: &Confinement) -> Result<(), ExecError> {
    let folder = &confinement.work_folder;
    let Some((place, one)) = sensitive::place_above(folder) else { return Ok(()) };
    let reason = format!("{} is a place of secrets ({})", place.display(), one.reason);
    Err(ExecError::WorkFolder { folder: folder.clone(), reason })
}

/// The same without what is to be covered in the work folder, which is not in the copy that code
/// works in. Its links may lead to what was granted.
pub(super) fn cover_granted(confinement: &Confinement) -> Result<Confinement, ExecError> {
    let work = &confinement.work_folder;
    let mut found = BTreeSet::new();
    if !confinement.granted.is_empty() {
        found = find(work, confinement)?;
        found.retain(|path| !path.starts_with(work));
    }
    with_granted(confinement, found)
}

fn with_granted(
    confinement: &Confinement,
    mut found: BTreeSet<PathBuf>,
) -> Result<Confinement, ExecError> {
    check(confinement)?;
    let mut covered = confinement.clone();
    for searched in confinement.granted.iter().chain(in_homes_of_others(confinement)) {
        found.extend(find(searched, confinement)?);
    }
    for path in found {
        // A denied path, or part of a denied folder, needs no entry of its own.
        if covered.access(&path) != Some(Access::Deny) {
            covered.add(path, Access::Deny);
        }
    }
    Ok(covered)
}

/// The paths that are shown in homes of other users: interpreters that `PATH` leads to, as under
/// `sudo`.
fn in_homes_of_others(confinement: &Confinement) -> impl Iterator<Item = &PathBuf> {
    let (homes, user) = (Homes::look(), rustix::process::geteuid().as_raw());
    let shown = confinement
        .files
        .iter()
        .filter(|(path, access)| **access == Access::Read && !confinement.granted.contains(*path));
    shown.map(|(path, _)| path).filter(move |path| homes.are_of_others(user, path))
}

/// The places of secrets at and below `root`, except those that are allowed. Denied folders are not
/// searched.
fn find(root: &Path, confinement: &Confinement) -> Result<BTreeSet<PathBuf>, ExecError> {
    let descriptor = match open(root, FOLDER, Mode::empty()) {
        Ok(descriptor) => descriptor,
        // The sandbox says what is wrong with it.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(BTreeSet::new()),
        Err(_) => return Ok([root.to_owned()].into()),
    };
    let search = Search {
        root,
        descriptor,
        shown: &confinement.shown,
        roots: links::roots(confinement),
        files: &confinement.files,
        state: Mutex::new(State { pending: vec![PathBuf::new()], ..State::default() }),
        woken: Condvar::new(),
    };
    search.look(MANY);
    if !search.state().pending.is_empty() {
        let threads =
            std::thread::available_parallelism().map_or(1, |count| count.get().min(THREADS));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| search.look(usize::MAX));
            }
            search.look(usize::MAX);
        });
    }
    let state = search.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let refuse = |reason: &str| {
        Err(ExecError::WorkFolder { folder: root.to_owned(), reason: reason.into() })
    };
    match state.failed {
        Some(Failed::TooManyEntries) => {
            refuse("it holds more files than can be searched for secrets (10,000,000)")
        }
        Some(Failed::TooManySecrets) => {
            refuse("it holds more files with names of secrets than can be covered (4,096)")
        }
        Some(Failed::System(error)) => {
            refuse(&format!("the search for secrets in it failed: {error}"))
        }
        None => Ok(state.found),
    }
}

/// A search that is under way.
struct Search<'a> {
    root: &'a Path,
    descriptor: OwnedFd,
    shown: &'a BTreeSet<PathBuf>,
    /// The paths below which a link may lead to something that code sees.
    roots: Vec<PathBuf>,
    files: &'a BTreeMap<PathBuf, Access>,
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    /// Folders that are still to be listed, relative to the root.
    pending: Vec<PathBuf>,
    /// Folders that are being listed.
    busy: usize,
    entries: usize,
    found: BTreeSet<PathBuf>,
    failed: Option<Failed>,
}

enum Failed {
    TooManyEntries,
    TooManySecrets,
    System(Errno),
}

/// The result for one folder.
#[derive(Default)]
struct Listing {
    folders: Vec<PathBuf>,
    covered: Vec<PathBuf>,
    entries: usize,
}

impl Search<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists at most `most` folders, or all that there are.
    fn look(&self, most: usize) {
        let mut buffer = Vec::with_capacity(32 << 10);
        for _ in 0..most {
            let Some(folder) = self.next() else { return };
            let listed = self.list(&folder, buffer.spare_capacity_mut());
            self.take(listed);
        }
    }

    /// The next folder; none when there are no more and nobody can find another.
    fn next(&self) -> Option<PathBuf> {
        let mut state = self.state();
        loop {
            if state.failed.is_some() {
                return None;
            }
            if let Some(folder) = state.pending.pop() {
                state.busy += 1;
                return Some(folder);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn take(&self, listed: Result<Listing, Errno>) {
        let mut state = self.state();
        state.busy -= 1;
        match listed {
            Ok(listing) => {
                state.entries += listing.entries;
                state.pending.extend(listing.folders);
                state.found.extend(listing.covered);
                if state.entries > MOST_ENTRIES {
                    state.failed = Some(Failed::TooManyEntries);
                } else if state.found.len() > MOST_COVERED {
                    state.failed = Some(Failed::TooManySecrets);
                }
            }
            Err(error) => state.failed = Some(Failed::System(error)),
        }
        self.woken.notify_all();
    }

    fn list(&self, folder: &Path, buffer: &mut [MaybeUninit<u8>]) -> Result<Listing, Errno> {
        let mut listing = Listing::default();
        let opened = match self.open(folder) {
            Ok(opened) => opened,
            // Another thing by now, or gone.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(listing),
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOSYS)) => {
                return Err(error);
            }
            // Code is the same user as we are, or less.
            Err(Errno::ACCESS) if self.belongs_to_another(folder) => return Ok(listing),
            // Code may be able to look into it where we are not.
            Err(_) => {
                listing.covered.push(self.root.join(folder));
                return Ok(listing);
            }
        };
        let whole = self.root.join(folder);
        let mut entries = RawDir::new(&opened, buffer);
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else {
                listing.covered.push(self.root.join(folder));
                break;
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            listing.entries += 1;
            let told = entry.file_type();
            let kind = if told == FileType::Unknown { kind_of(&opened, name) } else { told };
            self.judge([folder, &whole], name.to_bytes(), kind, &mut listing);
        }
        Ok(listing)
    }

    fn open(&self, folder: &Path) -> Result<OwnedFd, Errno> {
        let path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        openat2(&self.descriptor, path, FOLDER, Mode::empty(), BELOW)
    }

    /// Whether a folder is somebody else's, so that nobody here can open it to themselves.
    fn belongs_to_another(&self, folder: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat2(&self.descriptor, folder, flags, Mode::empty(), BELOW);
        let us = rustix::process::geteuid().as_raw();
        handle.and_then(fstat).is_ok_and(|stat| stat.st_uid != us)
    }

    /// The result for one name. Its folder is given below the root, and as a whole path.
    fn judge(
        &self,
        [folder, whole]: [&Path; 2],
        name: &[u8],
        kind: FileType,
        listing: &mut Listing,
    ) {
        let form =
            if kind == FileType::Directory { SensitiveForm::Folder } else { SensitiveForm::File };
        let sensitive = sensitive::named(whole, name, form).or_else(|| {
            // A link may lead to either.
            (kind == FileType::Symlink)
                .then(|| sensitive::named(whole, name, SensitiveForm::Folder))?
        });
        if kind == FileType::Symlink {
            self.look_behind(whole, name, listing);
        }
        if sensitive.is_none() && form == SensitiveForm::File {
            return;
        }
        let below = folder.join(OsStr::from_bytes(name));
        let path = self.root.join(&below);
        let is_shown = self.shown.contains(&path);
        match (form, sensitive.filter(|_| !is_shown)) {
            (SensitiveForm::Folder, Some(_))
                if self.shown.iter().any(|one| one.starts_with(&path)) =>
            {
                self.cover_around(&path, listing);
            }
            (_, Some(one)) if self.counts(one, &below) => {
                if kind == FileType::Symlink
                    && let Some(target) = links::resolved(&path, &self.roots)
                {
                    self.cover_target(target, listing);
                }
                listing.covered.push(path);
            }
            (SensitiveForm::Folder, _) if self.files.get(&path) == Some(&Access::Deny) => {}
            (SensitiveForm::Folder, _) if path.as_os_str().len() > LONGEST => {
                listing.covered.push(path);
            }
            (SensitiveForm::Folder, _) => listing.folders.push(below),
            (SensitiveForm::File, _) => {}
        }
    }

    /// Whether a file holds what makes it a secret, where that counts. One that cannot be read, or
    /// is too long to be read, counts.
    fn counts(&self, one: &Sensitive, path: &Path) -> bool {
        if one.only_with.is_empty() {
            return true;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat2(&self.descriptor, path, flags, Mode::empty(), BELOW) else {
            return true;
        };
        let mut text = Vec::new();
        let read = std::fs::File::from(file).take(LOOKED_THROUGH).read_to_end(&mut text);
        !matches!(read, Ok(length) if (length as u64) < LOOKED_THROUGH)
            || one.only_with.iter().any(|word| holds(&text, word.as_bytes()))
    }

    /// Looks for what counts behind a link, if it leads to a folder.
    fn look_behind(&self, parent: &Path, name: &[u8], listing: &mut Listing) {
        for (rest, one) in sensitive::behind_link(parent, name) {
            let path = parent.join(OsStr::from_bytes(name)).join(rest);
            let target = links::resolved(&path, &self.roots);
            let Some(target) = target.filter(|_| !self.shown.contains(&path)) else { continue };
            let Ok(found) = fs_err::symlink_metadata(&target) else { continue };
            if found.is_dir() == (one.form == SensitiveForm::Folder) {
                self.cover_target(target, listing);
            }
        }
    }

    /// Covers what a link leads to, but what is shown of it.
    fn cover_target(&self, target: PathBuf, listing: &mut Listing) {
        if self.shown.contains(&target) {
            return;
        }
        if self.shown.iter().any(|one| one.starts_with(&target)) {
            self.cover_around(&target, listing);
        } else {
            listing.covered.push(target);
        }
    }

    /// Covers all of a folder but what is shown of it.
    fn cover_around(&self, folder: &Path, listing: &mut Listing) {
        let Ok(entries) = fs_err::read_dir(folder) else {
            listing.covered.push(folder.to_owned());
            return;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_way = self.shown.iter().any(|one| one != &path && one.starts_with(&path));
            if is_way && fs_err::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                self.cover_around(&path, listing);
            } else if !self.shown.contains(&path) {
                listing.covered.push(path);
            }
        }
    }
}

/// The kind of an entry, if the listing does not say.
fn kind_of(folder: impl AsFd, name: &std::ffi::CStr) -> FileType {
    let found = statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    found.map_or(FileType::Unknown, |found| FileType::from_raw_mode(found.st_mode))
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests;
