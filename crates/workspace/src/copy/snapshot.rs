//! A copy of an upper layer, to decide on.
//!
//! # Threat
//! A process left in the background that watches us look, by access times or by notifications, and
//! shows one content to whoever lists or reads the staged files and another to whoever applies them.
//!
//! # Mechanism
//! Everything is copied once, into a folder of the set that no sandbox shows. List, diff and
//! application read this copy and nothing else, so there is nothing left to exchange. Whoever runs
//! the sandbox stops everything in it while the copy is taken, where the kernel can do that; the copy
//! is then one moment. Files share their bytes with the layer where the file system can do that.
//!
//! # Order
//! A file is opened and examined before it is read: a write during the read makes it newer than the
//! copy says, and it is listed again after the copy was applied.
//!
//! # Limits
//! Where nothing can be stopped, files may be of different moments, and one file may be half old and
//! half new: as such it is shown, and as such it is applied. Without a file system that shares bytes
//! a copy takes as much room and time as what is staged; past what the disk has to spare it is
//! refused. A copy that a crash left is removed by whoever opens the set next.

use crate::{
    error::{During, WorkspaceError, is_gone},
    journal::log::private_folder,
    tree::{
        content,
        folder::{Folder, Intent},
        layer::{self, Origin},
        node::{Node, Shape},
        relative::Relative,
        scan::{DEEPEST, LONGEST},
        stat::{Kind, Moment, PERMISSIONS, Stat},
        sweep,
    },
};
use fs_err as fs;
use rustix::fs::{AtFlags, FileType, Mode, fstatvfs, linkat, mknodat};
use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Where copies are, in the folder of the set.
const SNAPSHOTS: &str = "snapshots";

/// Free space that the disk must keep.
const FREE: u64 = 1 << 30;

/// Bytes that disks hand out at once. The least that a folder takes, too.
const BLOCK: u64 = 4096;

/// How long before a copy a file must have been left alone, for its time to tell that it is the
/// same: file systems count in steps of some milliseconds.
pub(crate) const SETTLED: u32 = 50_000_000;

/// When the program staged what is in a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Staged<'a> {
    /// When the file system says.
    AsItStands,
    /// When it did so in the layer that this is a copy of.
    Noted(&'a HashMap<Relative, Moment>),
}

impl Staged<'_> {
    /// When what is at `path`, and looks like `stat`, was staged.
    pub(crate) fn of(self, path: &Relative, stat: &Stat) -> Moment {
        match self {
            Self::AsItStands => stat.changed,
            Self::Noted(moments) => moments.get(path).copied().unwrap_or(stat.changed),
        }
    }
}

/// A layer that stays as it is.
#[derive(Debug)]
pub(crate) struct Snapshot {
    layer: Folder,
    /// When each entry was staged, and where the copy is, or `None` if it is the layer itself.
    copy: Option<Private>,
}

#[derive(Debug)]
struct Private {
    moments: HashMap<Relative, Moment>,
    place: PathBuf,
    /// When it was begun.
    begun: Moment,
    /// Bytes of everything in it, and of what it does not share with the one before.
    sizes: (u64, u64),
}

impl Snapshot {
    /// The layer itself, to which nobody writes any more.
    pub(crate) fn at_rest(layer: Folder) -> Self {
        Self { layer, copy: None }
    }

    /// Copies `upper`, the layer of the set in `set_folder`.
    pub(crate) fn take(set_folder: &Path, upper: &Folder) -> Result<Self, WorkspaceError> {
        Self::take_after(set_folder, upper, None, u64::MAX)
    }

    /// The same, but files that have not changed since the copy `before` are shared with it. Copies
    /// at most `most` bytes.
    pub(crate) fn take_after(
        set_folder: &Path,
        upper: &Folder,
        before: Option<&Self>,
        most: u64,
    ) -> Result<Self, WorkspaceError> {
        let parent = set_folder.join(SNAPSHOTS);
        match private_folder(&parent) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other.during_at("create", &parent)?,
        }
        let place = parent.join(Uuid::new_v4().simple().to_string());
        private_folder(&place).during_at("create", &place)?;
        // From here on it is removed again, whatever happens.
        let layer = Folder::open(&place, Intent::Change).during_at("open", &place)?;
        let begun = Moment::now();
        let copy = Some(Private { moments: HashMap::new(), place, begun, sizes: (0, 0) });
        let mut snapshot = Self { layer, copy };
        let mut taking = Taking {
            from: upper,
            to: &snapshot.layer,
            moments: HashMap::new(),
            folders: Vec::new(),
            room: 0,
            before,
            most,
            sizes: (0, 0),
        };
        taking.take_all()?;
        let (moments, sizes) = (taking.moments, taking.sizes);
        if let Some(copy) = &mut snapshot.copy {
            (copy.moments, copy.sizes) = (moments, sizes);
        }
        Ok(snapshot)
    }

    /// The layer.
    pub(crate) fn layer(&self) -> &Folder {
        &self.layer
    }

    /// Where the copy is, if it is one.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.copy.as_ref().map(|copy| copy.place.as_path())
    }

    /// Bytes of everything in a copy, and of what it does not share with the one before.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        self.copy.as_ref().map_or((0, 0), |copy| copy.sizes)
    }

    /// Whether both are copies of the same, by the times of everything in them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.copy, &other.copy) {
            (Some(one), Some(other)) => {
                one.sizes.0 == other.sizes.0 && one.moments == other.moments
            }
            (None, _) | (_, None) => false,
        }
    }

    /// Whether the file at `path` was the same when this was copied.
    fn has_same(&self, path: &Relative, stat: &Stat) -> bool {
        self.copy.as_ref().is_some_and(|copy| {
            copy.moments.get(path) == Some(&stat.changed)
                && stat.changed.is_before(copy.begun, SETTLED)
        })
    }

    /// When what is in it was staged.
    pub(crate) fn staged(&self) -> Staged<'_> {
        match &self.copy {
            Some(copy) => Staged::Noted(&copy.moments),
            None => Staged::AsItStands,
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let Some(Private { place, .. }) = &self.copy else { return };
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else { return };
        // A leftover is removed when the set is next opened.
        if let Ok(folder) = Folder::open(parent, Intent::Change) {
            sweep::remove(&folder, name).ok();
            fs::remove_dir(parent).ok();
        }
    }
}

/// Whether a crash left copies in the folder of a set.
pub(crate) fn is_left(set_folder: &Path) -> bool {
    fs::symlink_metadata(set_folder.join(SNAPSHOTS)).is_ok()
}

/// Removes what a crash left in the folder of a set.
pub(crate) fn sweep(set_folder: &Path) -> Result<(), WorkspaceError> {
    if !is_left(set_folder) {
        return Ok(());
    }
    let folder = Folder::open(set_folder, Intent::Change).during_at("open", set_folder)?;
    sweep::remove(&folder, OsStr::new(SNAPSHOTS)).during_at("remove", set_folder)
}

/// A copy that is being taken.
struct Taking<'a> {
    from: &'a Folder,
    to: &'a Folder,
    moments: HashMap<Relative, Moment>,
    /// Folders, which get their modes last.
    folders: Vec<(Relative, Stat)>,
    /// Bytes that the disk has to spare, when it was last asked.
    room: u64,
    /// The copy before, which untouched files are shared with.
    before: Option<&'a Snapshot>,
    /// Bytes that may be copied.
    most: u64,
    /// Bytes of everything, and of what was copied.
    sizes: (u64, u64),
}

impl Taking<'_> {
    fn take_all(&mut self) -> Result<(), WorkspaceError> {
        let mut pending = vec![Relative::root()];
        while let Some(path) = pending.pop() {
            let from = match self.from.walk(&path, Intent::Look) {
                Err(error) if is_gone(&error) => continue,
                other => other.during("open", || path.text())?,
            };
            let to = self.to.walk(&path, Intent::Change).during("open", || path.text())?;
            if !path.is_root() && layer::is_opaque(&from) {
                layer::set_opaque(&to).during("copy", || path.text())?;
            }
            for name in from.names().during("read", || path.text())? {
                let inner = path.join(&name);
                // Deeper down nothing is looked at, and the scan says so.
                let ends = inner.parts().count() > DEEPEST || inner.length() > LONGEST;
                match self.one(&from, &to, &inner) {
                    Ok(Some(Kind::Folder)) if !ends => pending.push(inner),
                    Ok(_) => {}
                    Err(Stop::Gone) => {
                        self.moments.remove(&inner);
                    }
                    Err(Stop::Give(error)) => return Err(error),
                }
            }
        }
        for (path, stat) in self.folders.iter().rev() {
            let dress = || {
                let parent = self.to.walk(&path.parent(), Intent::Change)?;
                plain(Shape::Folder, stat).dress(&parent.handle(path.name())?)
            };
            dress().during("copy", || path.text())?;
        }
        Ok(())
    }

    /// Copies one entry, and says what it is, if it is still there.
    fn one(&mut self, from: &Folder, to: &Folder, path: &Relative) -> Result<Option<Kind>, Stop> {
        let name = path.name();
        let stop = |error: io::Error| Stop::of(error, path);
        let Some(stat) = from.stat(name).map_err(stop)? else { return Ok(None) };
        self.moments.insert(path.clone(), stat.changed);
        let kind = layer::meaning(from, name, &stat);
        let odd = |kind| Ok(mknodat(to, name, kind, Mode::RUSR, 0)?);
        match kind {
            Kind::Whiteout => layer::create_whiteout(to, name).map_err(stop)?,
            Kind::Folder => {
                // Folders are never shared, and code can make many.
                self.charge(stat.size.max(BLOCK), false).map_err(Stop::Give)?;
                to.create_folder(name).map_err(stop)?;
                self.folders.push((path.clone(), stat));
            }
            Kind::Symlink => {
                let target = from.link_target(name).map_err(stop)?;
                to.create_link(name, &target).map_err(stop)?;
                let node = plain(Shape::Symlink { target: String::new() }, &stat);
                node.dress_link(to, name).map_err(stop)?;
            }
            Kind::File => self.file(from, to, path)?,
            // None of these is applied. Nothing inside can make a device.
            Kind::Pipe | Kind::Device => odd(FileType::Fifo).map_err(stop)?,
            Kind::Socket => odd(FileType::Socket).map_err(stop)?,
        }
        Ok(Some(kind))
    }

    fn file(&mut self, from: &Folder, to: &Folder, path: &Relative) -> Result<(), Stop> {
        let name = path.name();
        let stop = |error: io::Error| Stop::of(error, path);
        let (file, stat) = from.open_file(name).map_err(stop)?;
        // Looked at once more: to open what is locked is to touch it.
        self.moments.insert(path.clone(), stat.changed);
        let blocks = file.metadata().map_err(stop)?.blocks().saturating_mul(512);
        let bytes = blocks.min(stat.size);
        let is_shared = self.shares(to, path, &stat);
        self.charge(bytes, is_shared).map_err(Stop::Give)?;
        if is_shared {
            return Ok(());
        }
        self.make_room(bytes, path).map_err(Stop::Give)?;
        let copied = || -> io::Result<()> {
            let new = to.create_file(name)?;
            content::duplicate(&file, &new, stat.size)?;
            if let Some(origin) = Origin::of(from, name) {
                origin.put(&new);
            }
            plain(Shape::File { size: stat.size, hash: String::new() }, &stat).dress(&new)
        };
        copied().during("copy", || path.text()).map_err(Stop::Give)
    }

    /// Counts what is about to be in the copy, and refuses what would be too much.
    fn charge(&mut self, bytes: u64, is_shared: bool) -> Result<(), WorkspaceError> {
        let bytes = bytes.checked_next_multiple_of(BLOCK).unwrap_or(bytes);
        self.sizes.0 = self.sizes.0.saturating_add(bytes);
        if is_shared {
            return Ok(());
        }
        self.sizes.1 = self.sizes.1.saturating_add(bytes);
        if self.sizes.1 > self.most {
            return Err(WorkspaceError::TooMuchToKeep { most: self.most });
        }
        Ok(())
    }

    /// Whether a file is the one of the copy before, and is now in this one too.
    fn shares(&self, to: &Folder, path: &Relative, stat: &Stat) -> bool {
        let Some(before) = self.before.filter(|before| before.has_same(path, stat)) else {
            return false;
        };
        let linked = before.layer.walk(&path.parent(), Intent::Look).and_then(|folder| {
            Ok(linkat(&folder, path.name(), to, path.name(), AtFlags::empty())?)
        });
        linked.is_ok()
    }

    /// Sees to it that so much more can be written, and the disk keeps something free.
    fn make_room(&mut self, bytes: u64, path: &Relative) -> Result<(), WorkspaceError> {
        if bytes > self.room {
            let disk = fstatvfs(self.to).during("copy", || path.text())?;
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            self.room = free - FREE.min(free / 2);
        }
        if bytes > self.room {
            return Err(WorkspaceError::NoRoom { path: path.text(), bytes, free: self.room });
        }
        self.room -= bytes;
        Ok(())
    }
}

/// Why copying ended early.
enum Stop {
    /// One entry: it has gone since it was listed, or is another kind of thing.
    Gone,
    /// All of it.
    Give(WorkspaceError),
}

impl Stop {
    fn of(error: io::Error, path: &Relative) -> Self {
        if is_gone(&error) || error.kind() == io::ErrorKind::InvalidInput {
            return Self::Gone;
        }
        Self::Give(WorkspaceError::Files { action: "copy", path: path.text(), source: error })
    }
}

/// Bits and time, and nobody's but ours.
pub(crate) fn plain(shape: Shape, stat: &Stat) -> Node {
    Node { shape, mode: stat.mode & PERMISSIONS, modified: stat.modified, owner: None }
}

#[cfg(test)]
mod tests {
    use crate::{Conflict, DiskUsage, Place, Set, WorkspaceError, scene::Scene};
    use fs_err as fs;
    use interpreter_core::outline::ApplyOrder;
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    use std::{io::Write, path::Path};

    /// A disk of four megabytes; only root can have one.
    struct Disk(tempfile::TempDir);

    impl Disk {
        fn new() -> Option<Self> {
            let place = tempfile::tempdir().unwrap();
            let options = Some(c"size=4m");
            mount("tmpfs", place.path(), "tmpfs", MountFlags::empty(), options).ok()?;
            Some(Self(place))
        }

        /// Writes to a file until nothing more fits.
        fn fill(path: &Path) {
            let mut file = fs::File::create(path).unwrap();
            for size in [64 * 1024, 4096, 1] {
                while file.write_all(&vec![b'x'; size]).is_ok() {}
            }
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            unmount(self.0.path(), UnmountFlags::DETACH).ok();
        }
    }

    #[test]
    fn a_full_disk_refuses_a_snapshot_and_is_freed_by_discarding() {
        let Some(disk) = Disk::new() else { return };
        let place = Place::new(
            disk.0.path().join("changes"),
            interpreter_core::hash::SealKey::new(&[1; 32]),
        );
        let scene = Scene::new(&[("a", "1")]);
        for with_copy in [false, true] {
            let mut set = Set::create(&place, &scene.work, "session").unwrap();
            let id = set.id().to_owned();
            if with_copy {
                let all = DiskUsage { bytes: u64::MAX, files: u64::MAX };
                set.take_copy(&[], all, None).unwrap();
                Disk::fill(&set.copy().unwrap().join("big"));
                // Its session is killed.
                drop(set);
            } else {
                Disk::fill(&set.upper().join("big"));
                let refused = set.apply(&[], Conflict::Refuse);
                assert!(
                    matches!(
                        refused,
                        Err(WorkspaceError::NoRoom { .. } | WorkspaceError::Files { .. })
                    ),
                    "{refused:?}"
                );
                drop(set);
            }
            let mut set = Set::open_as_it_is(&place, &id).unwrap();
            set.discard(&[]).unwrap();
            assert!(set.remove_if_empty().unwrap().is_none());
            assert!(!place.folder().join(&id).exists());
        }
        fs::write(disk.0.path().join("room"), vec![1; 3 << 20]).unwrap();
    }

    #[test]
    fn what_is_copied_says_what_the_layer_says() {
        let mut scene = Scene::new(&[("d/in", "x"), ("gone", "x"), ("l", "-> a"), ("o/p", "x")]);
        scene.writes("d/in", "y").deletes("gone").writes("l", "-> b").replaces_folder("o");
        scene.writes("o/q", "z").writes("tool", "#!").sets_mode("tool", 0o755);
        scene.writes("locked/f", "x").sets_mode("locked/f", 0o000).sets_mode("locked", 0o000);
        let review = scene.set.review().unwrap();
        assert_eq!(review.files, scene.set.changes().unwrap());
        assert_eq!(scene.set.diff_of(&review).unwrap().raw(), scene.set.diff(&[]).unwrap().raw(),);
        scene.set.apply_review(&review, &ApplyOrder::default(), Conflict::Refuse).unwrap();
        drop(review);
        // An applied change also counts as applied in the layer that it was copied from.
        assert_eq!(scene.lines(), Vec::<String>::new());
        scene.person_writes("d/in", "mine");
        assert_eq!(scene.lines(), Vec::<String>::new());
    }
}
