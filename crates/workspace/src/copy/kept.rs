//! Staged changes at a checkpoint, kept to go back to.
//!
//! Each is a copy of the upper layer, as a decision has one. A file that is untouched since the copy
//! before costs a hard link. They last as long as whoever holds the set, and no longer: the memory of
//! kernels, which they go with, does not outlive a session either.
//!
//! # Order
//! While an overlay is mounted, the host puts files back from inside. [`Set::way_back`] says which
//! show the person's own again and which are copied from [`Set::back`]. Where nothing is mounted, the
//! layer is exchanged for a copy in one step, so a kill leaves the one or the other. A copy that code
//! works in counts for nothing while it is put back, and the layer stays as it was.
//!
//! # Limits
//! The copy is of no single moment if something writes meanwhile. Special files are not brought back.
//! At most [`MOST`] are kept, and about [`BYTES`] or as much as may be staged, whichever is less;
//! the oldest goes first. While one is being taken there may be twice that.

use crate::{
    copy::{
        derive::set_mode,
        snapshot::{Snapshot, plain},
    },
    error::{During, WorkspaceError},
    journal::{history::History, log::private_folder},
    set::Set,
    tree::{
        content,
        delta::Delta,
        folder::{Folder, Intent, Walker},
        node::Shape,
        relative::Relative,
        scan::{Scan, scan},
        stat::{Kind, PERMISSIONS, Stat},
        sweep,
    },
};
use fs_err as fs;
use rustix::fs::{AtFlags, CWD, Gid, RenameFlags, Uid, chownat, linkat, renameat_with};
use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

/// Copies that are kept.
const MOST: usize = 16;

/// Bytes that all of them may take, as far as they do not share them with the layer, where as much
/// may be staged.
const BYTES: u64 = 1 << 30;

/// The folder that a sandbox shows to its host, in that of the set.
pub const BACK: &str = "back";

/// The way from what is staged now to what was kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WayBack {
    /// Paths where the person's own files show again.
    pub uncovered: Vec<String>,
    /// Paths that get what was kept.
    pub rewritten: Vec<String>,
}

impl WayBack {
    /// Whether nothing has to change.
    pub fn is_empty(&self) -> bool {
        self.uncovered.is_empty() && self.rewritten.is_empty()
    }
}

impl Set {
    /// Keeps what is staged under `number`, and forgets all that was kept under it or a higher one.
    /// All that is kept takes at most `most` bytes; the oldest goes first.
    pub fn keep(&mut self, number: u32, most: u64) -> Result<(), WorkspaceError> {
        let most = most.min(BYTES);
        self.kept.split_off(&number);
        while self.kept.len() >= MOST {
            self.kept.pop_first();
        }
        let upper = self.open_upper(Intent::Look)?;
        let previous = self.kept.last_key_value().map(|(_, snapshot)| snapshot);
        let snapshot = Snapshot::take_after(&self.folder, &upper, previous, most)?;
        // Once those before it have gone, all that it shares with them is its own.
        if snapshot.sizes().0 > most {
            return Err(WorkspaceError::TooMuchToKeep { most });
        }
        self.kept.insert(number, snapshot);
        while self.kept_bytes() > most {
            self.kept.pop_first();
        }
        Ok(())
    }

    /// Forgets what was kept after `number`.
    pub fn forget_kept_after(&mut self, number: u32) {
        self.kept.split_off(&number.saturating_add(1));
    }

    /// Whether anything is kept under `number`.
    pub fn has_kept(&self, number: u32) -> bool {
        self.kept.contains_key(&number)
    }

    /// All of the oldest, and what each later one has of its own.
    fn kept_bytes(&self) -> u64 {
        let mut sizes = self.kept.values().map(Snapshot::sizes);
        let first = sizes.next().map_or(0, |(all, _)| all);
        sizes.fold(first, |sum, (_, own)| sum.saturating_add(own))
    }

    /// The way back to what was kept under `number`.
    pub fn way_back(&self, number: u32) -> Result<WayBack, WorkspaceError> {
        let (now, then) = self.now_and_then(number)?;
        let upper = Folder::open(self.upper(), Intent::Look).during_at("open", self.upper())?;
        let kept = self.kept_layer(number)?;
        let different = different(&upper, &now, kept, &then)?;
        let texts = |paths: Vec<&Relative>| paths.into_iter().map(Relative::text).collect();
        Ok(WayBack {
            uncovered: texts(uncovered(&now, &then)),
            rewritten: texts(paths(&different)),
        })
    }

    fn now_and_then(&self, number: u32) -> Result<(Scan, Scan), WorkspaceError> {
        let upper = self.open_upper(Intent::Look)?;
        let work = self.open_work_folder(Intent::Look)?;
        let nothing = History::of(&[]);
        let then = scan(self.kept_layer(number)?, work.as_ref(), &nothing)?;
        Ok((scan(&upper, work.as_ref(), &nothing)?, then))
    }

    fn kept_layer(&self, number: u32) -> Result<&Folder, WorkspaceError> {
        let kept = self.kept.get(&number).map(Snapshot::layer);
        kept.ok_or(WorkspaceError::NotKept { number })
    }

    /// The folder from which the host copies what was kept.
    pub fn back(&self) -> PathBuf {
        self.folder.join(BACK)
    }

    /// Lays out in [`Set::back`] what was kept under `number` at `paths`, and nothing else.
    pub fn lay_out(&self, number: u32, paths: &[String]) -> Result<(), WorkspaceError> {
        self.clear_back()?;
        let place = self.back();
        let back = Folder::open(&place, Intent::Change).during_at("open", &place)?;
        let mut kept = Walker::new(self.kept_layer(number)?, Intent::Look);
        for path in paths.iter().filter_map(|path| Relative::parse(path)) {
            lay_out(&back, &mut kept, &path).during("copy", || path.text())?;
        }
        Ok(())
    }

    /// Empties [`Set::back`].
    pub fn clear_back(&self) -> Result<(), WorkspaceError> {
        let place = self.back();
        let back = Folder::open(&place, Intent::Change).during_at("open", &place)?;
        sweep::empty(&back).during_at("empty", &place)
    }

    /// Goes back to what was kept under `number`, from outside. No overlay may be mounted; a copy may
    /// be worked in.
    pub fn go_back(&mut self, number: u32) -> Result<(), WorkspaceError> {
        let Some(root) = self.copy() else { return self.exchange_layer(number) };
        let copy = Folder::open(root, Intent::Change).during_at("open", root)?;
        let (now, then) = self.now_and_then(number)?;
        let uncovered: Vec<_> = uncovered(&now, &then).into_iter().cloned().collect();
        let upper = Folder::open(self.upper(), Intent::Look).during_at("open", self.upper())?;
        let kept = self.kept_layer(number)?;
        let different = different(&upper, &now, kept, &then)?;
        self.discount_copy()?;
        let put_back = || -> Result<(), WorkspaceError> {
            if !uncovered.is_empty() {
                self.show_persons(Some(&uncovered))?;
            }
            for delta in different {
                rewrite(&copy, kept, delta).during("restore", || delta.path.text())?;
            }
            Ok(())
        };
        let done = put_back();
        // Also if it failed: code goes on in it.
        self.count_copy()?;
        done.and_then(|()| self.derive())
    }

    /// Puts a copy of what was kept in the place of the layer.
    fn exchange_layer(&self, number: u32) -> Result<(), WorkspaceError> {
        let copy = Snapshot::take(&self.folder, self.kept_layer(number)?)?;
        let Some(place) = copy.place() else { return Ok(()) };
        let mode = fs::metadata(self.upper()).during_at("read", self.upper())?.permissions();
        fs::set_permissions(place, mode).during_at("set the mode of", place)?;
        // The old layer is then where the copy was, and goes with it.
        let exchanged = renameat_with(CWD, place, CWD, self.upper(), RenameFlags::EXCHANGE);
        exchanged.map_err(io::Error::from).during_at("exchange", self.upper())
    }

    pub(crate) fn make_back(folder: &Path) -> io::Result<()> {
        private_folder(&folder.join(BACK))
    }
}

/// Paths that are staged now and were not then, special files included.
fn uncovered<'a>(now: &'a Scan, then: &Scan) -> Vec<&'a Relative> {
    let was: HashSet<_> = then.deltas.iter().map(|delta| &delta.path).collect();
    let skipped: HashSet<_> = then.skipped.iter().map(|(path, _)| path).collect();
    let paths = now.deltas.iter().map(|delta| &delta.path).filter(|path| !was.contains(path));
    let odd = now.skipped.iter().map(|(path, _)| path).filter(|path| !skipped.contains(path));
    paths.chain(odd).collect()
}

fn paths<'a>(deltas: &[&'a Delta]) -> Vec<&'a Relative> {
    deltas.iter().map(|delta| &delta.path).collect()
}

/// Changes that were kept and are not staged as such.
fn different<'a>(
    upper: &Folder,
    now: &Scan,
    kept: &Folder,
    then: &'a Scan,
) -> Result<Vec<&'a Delta>, WorkspaceError> {
    let is: HashMap<_, _> = now.deltas.iter().map(|delta| (&delta.path, delta)).collect();
    let (mut above, mut below) =
        (Walker::new(upper, Intent::Look), Walker::new(kept, Intent::Look));
    let mut different = Vec::new();
    for was in &then.deltas {
        let same = match is.get(&was.path) {
            Some(is) => same(&mut above, &mut below, is, was).during("read", || was.path.text())?,
            None => false,
        };
        if !same {
            different.push(was);
        }
    }
    Ok(different)
}

fn same(
    above: &mut Walker<'_>,
    below: &mut Walker<'_>,
    is: &Delta,
    was: &Delta,
) -> io::Result<bool> {
    let (is_now, then) = match (is.after, was.after) {
        (None, None) => return Ok(true),
        (Some(now), Some(then)) => (now, then),
        (None, Some(_)) | (Some(_), None) => return Ok(false),
    };
    let looks = |stat: Stat| (stat.kind, stat.mode & PERMISSIONS);
    if looks(is_now) != looks(then) {
        return Ok(false);
    }
    let (above, below) = (above.at(was.path.parent())?, below.at(was.path.parent())?);
    let name = was.path.name();
    match then.kind {
        Kind::File if is_now.size == then.size => {
            let ((one, _), (other, _)) = (above.open_file(name)?, below.open_file(name)?);
            content::same(&one, &other, then.size)
        }
        Kind::File => Ok(false),
        Kind::Symlink => Ok(above.link_target(name)? == below.link_target(name)?),
        Kind::Folder | Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => Ok(true),
    }
}

/// Makes one path of `back` what it was, with the folders above it. A deletion is an absence.
fn lay_out(back: &Folder, kept: &mut Walker<'_>, path: &Relative) -> io::Result<()> {
    let mut above: Vec<_> = path.ancestors().collect();
    above.reverse();
    for folder in &above {
        make_folder(back, folder)?;
    }
    let from = kept.at(path.parent())?;
    let Some(stat) = from.stat(path.name())? else { return Ok(()) };
    match crate::tree::layer::meaning(from, path.name(), &stat) {
        Kind::Folder => {
            make_folder(back, path)?;
            let parent = back.walk(&path.parent(), Intent::Change)?;
            set_mode(&parent, path.name(), stat.mode & PERMISSIONS)
        }
        Kind::File | Kind::Symlink => {
            let to = back.walk(&path.parent(), Intent::Change)?;
            Ok(linkat(from, path.name(), &to, path.name(), AtFlags::empty())?)
        }
        Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => Ok(()),
    }
}

fn make_folder(back: &Folder, path: &Relative) -> io::Result<()> {
    let parent = back.walk(&path.parent(), Intent::Change)?;
    match parent.create_folder(path.name()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Makes one path of the copy that code works in what it was.
fn rewrite(copy: &Folder, kept: &Folder, was: &Delta) -> io::Result<()> {
    let (parent, name) = (copy.walk(&was.path.parent(), Intent::Change)?, was.path.name());
    let owner = Stat::of(copy, c"")?.owner;
    let is = parent.stat(name)?;
    let stays = |then: &Stat| then.kind == Kind::Folder;
    if is.is_some_and(|is| is.kind != Kind::Folder || !was.after.as_ref().is_some_and(stays)) {
        sweep::remove(&parent, name)?;
    }
    let Some(then) = was.after else { return Ok(()) };
    let from = kept.walk(&was.path.parent(), Intent::Look)?;
    match then.kind {
        Kind::Folder => {
            if parent.stat(name)?.is_none() {
                parent.create_folder(name)?;
            }
            own(&parent, name, owner.user, owner.group)?;
            set_mode(&parent, name, then.mode & PERMISSIONS)
        }
        Kind::Symlink => {
            parent.create_link(name, &from.link_target(name)?)?;
            own(&parent, name, owner.user, owner.group)
        }
        Kind::File => {
            let (file, stat) = from.open_file(name)?;
            let new = parent.create_file(name)?;
            content::duplicate(&file, &new, stat.size)?;
            own(&parent, name, owner.user, owner.group)?;
            plain(Shape::File { size: stat.size, hash: String::new() }, &stat).dress(&new)
        }
        Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => Ok(()),
    }
}

/// Code may work in the copy as another user.
pub(crate) fn own(parent: &Folder, name: &OsStr, user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(chownat(parent, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
