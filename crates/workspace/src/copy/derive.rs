//! Derives an upper layer from a copy: the differences from the original copy, in the form in which
//! an overlay would have left them. Every later decision is then the same.
//!
//! # Threat
//! Code that works in the copy, also while this looks: it exchanges names, plants links and marks.
//!
//! # Mechanism
//! Both trees are walked by descriptor, never through a link. Files enter the layer as hard links,
//! so a large one costs nothing. Folders there are our own, and deletions are marks that we make.
//! Entries that are still right stay untouched, so that their times stay valid.
//!
//! # Limits
//! As with an overlay, a file in the layer is the one that code works with: before a decision it is
//! compared with the shown one. A file that cannot be hard-linked is copied each time.

use crate::{
    copy::taken::Taken,
    error::{During, WorkspaceError, is_gone},
    tree::{
        content,
        folder::{Folder, Intent, Walker},
        layer,
        relative::Relative,
        scan::{DEEPEST, LONGEST},
        stat::{Kind, PERMISSIONS, Stat},
        sweep,
        unlock::of_descriptor,
    },
};
use rustix::{
    fs::{AtFlags, Mode, chmod, linkat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ffi::OsStr,
    io,
};

/// The wanted entry of the upper layer at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The mark of a deletion.
    Gone,
    /// A folder of this mode. Whether it was one before.
    Folder { mode: u32, was: bool },
    /// The copy's own file with this number.
    Linked(u64),
}

/// Finds what differs between a copy and what it was, but for what code made at covered places. Every
/// folder above something that differs is named too.
pub(crate) fn differences(
    copy: &Folder,
    taken: &Taken,
) -> Result<BTreeMap<Relative, Wanted>, WorkspaceError> {
    let mut search = Search { taken, wanted: BTreeMap::new(), modes: HashMap::new() };
    let mut pending = vec![Relative::root()];
    while let Some(path) = pending.pop() {
        let folder = match copy.walk(&path, Intent::Look) {
            Err(error) if is_gone(&error) => continue,
            other => other.during("open", || path.text())?,
        };
        search.look(&folder, &path, &mut pending)?;
    }
    Ok(search.wanted)
}

struct Search<'a> {
    taken: &'a Taken,
    wanted: BTreeMap<Relative, Wanted>,
    /// The modes of folders that were seen.
    modes: HashMap<Relative, u32>,
}

impl Search<'_> {
    fn look(
        &mut self,
        folder: &Folder,
        path: &Relative,
        pending: &mut Vec<Relative>,
    ) -> Result<(), WorkspaceError> {
        let known = self.taken.folder(path);
        let mut seen = HashSet::new();
        for name in folder.names().during("read", || path.text())? {
            let inner = path.join(&name);
            let Some(stat) = folder.stat(&name).during("read", || inner.text())? else { continue };
            // The mark of a deletion is no file of code's, whoever made it.
            if stat.kind == Kind::Whiteout || self.taken.covered.contains(&inner) {
                continue;
            }
            let name = Relative::of(&name);
            let before = known.and_then(|known| known.get(&name));
            seen.insert(name);
            let was = before.is_some_and(|before| before.is_folder);
            if !before.is_some_and(|before| before.is(&stat)) {
                let wanted = match stat.kind {
                    Kind::Folder => Wanted::Folder { mode: stat.mode & PERMISSIONS, was },
                    Kind::File
                    | Kind::Symlink
                    | Kind::Whiteout
                    | Kind::Pipe
                    | Kind::Socket
                    | Kind::Device => Wanted::Linked(stat.inode),
                };
                self.want(inner.clone(), wanted);
            }
            // Deeper down nothing is taken over, and the scan says so.
            let ends = inner.parts().count() > DEEPEST || inner.length() > LONGEST;
            if stat.kind == Kind::Folder && !ends {
                self.modes.insert(inner.clone(), stat.mode & PERMISSIONS);
                pending.push(inner);
            }
        }
        let gone = known.into_iter().flatten().filter(|(name, _)| !seen.contains(*name));
        for (name, _) in gone {
            self.want(path.join(name.name()), Wanted::Gone);
        }
        Ok(())
    }

    fn want(&mut self, path: Relative, wanted: Wanted) {
        for above in path.ancestors() {
            if self.wanted.contains_key(&above) {
                break;
            }
            let mode = self.modes.get(&above).copied().unwrap_or(0o700);
            self.wanted.insert(above, Wanted::Folder { mode, was: true });
        }
        self.wanted.insert(path, wanted);
    }
}

/// Makes `upper` say what differs, and nothing else.
pub(crate) fn bring_up_to_date(
    upper: &Folder,
    copy: &Folder,
    taken: &Taken,
    mut wanted: BTreeMap<Relative, Wanted>,
) -> Result<(), WorkspaceError> {
    remove_what_is_not(upper, &mut wanted)?;
    let mut upper = Walker::new(upper, Intent::Change);
    let mut copy = Walker::new(copy, Intent::Look);
    // Folders come before what is in them.
    for (path, wanted) in wanted {
        match put(&mut upper, &mut copy, taken, &path, wanted) {
            // Code has taken it away meanwhile; the next look tells.
            Err(error) if is_gone(&error) => {}
            other => other.during("stage", || path.text())?,
        }
    }
    Ok(())
}

/// Removes from the layer what is not wanted there, and from `wanted` what is there.
fn remove_what_is_not(
    upper: &Folder,
    wanted: &mut BTreeMap<Relative, Wanted>,
) -> Result<(), WorkspaceError> {
    let mut pending = vec![Relative::root()];
    while let Some(path) = pending.pop() {
        let folder = upper.walk(&path, Intent::Change).during("open", || path.text())?;
        for name in folder.names().during("read", || path.text())? {
            let inner = path.join(&name);
            let stays =
                stays(&folder, &name, wanted.get(&inner)).during("read", || inner.text())?;
            if !stays {
                sweep::remove(&folder, &name).during("remove", || inner.text())?;
                continue;
            }
            if let Some(Wanted::Folder { .. }) = wanted.remove(&inner) {
                pending.push(inner);
            }
        }
    }
    Ok(())
}

/// Whether what is in the layer at `name` is what is wanted; a folder is made so.
fn stays(folder: &Folder, name: &OsStr, wanted: Option<&Wanted>) -> io::Result<bool> {
    let (Some(stat), Some(wanted)) = (folder.stat(name)?, wanted) else { return Ok(false) };
    Ok(match wanted {
        Wanted::Gone => stat.kind == Kind::Whiteout,
        Wanted::Linked(inode) => {
            let whole = layer::meaning(folder, name, &stat) != Kind::Whiteout;
            stat.inode == *inode && stat.kind != Kind::Folder && whole
        }
        Wanted::Folder { mode, .. } if stat.kind == Kind::Folder => {
            // Where nothing but Landlock stands around code, it can mark files by their paths.
            layer::clear_opaque(&folder.child(name, Intent::Change)?)?;
            if stat.mode & PERMISSIONS != *mode {
                set_mode(folder, name, *mode)?;
            }
            true
        }
        Wanted::Folder { .. } => false,
    })
}

fn put(
    upper: &mut Walker<'_>,
    copy: &mut Walker<'_>,
    taken: &Taken,
    path: &Relative,
    wanted: Wanted,
) -> io::Result<()> {
    let (to, name) = (upper.at(path.parent())?, path.name());
    match wanted {
        Wanted::Gone => layer::create_whiteout(to, name),
        Wanted::Folder { mode, .. } => {
            to.create_folder(name)?;
            set_mode(to, name, mode)
        }
        Wanted::Linked(_) => {
            let from = copy.at(path.parent())?;
            match linkat(from, name, to, name, AtFlags::empty()) {
                Ok(()) => {}
                Err(Errno::MLINK) => return copy_over(from, to, name),
                Err(error) => return Err(error.into()),
            }
            let Some(stat) = to.stat(name)? else { return Ok(()) };
            if stat.kind == Kind::File {
                // One that code gave another name is a file of its own there.
                let origin = taken.at(path).filter(|record| !record.is_folder);
                layer::mark(to, name, origin.map(|record| record.origin))?;
            }
            Ok(())
        }
    }
}

/// A file that has as many names as it can have.
fn copy_over(from: &Folder, to: &Folder, name: &OsStr) -> io::Result<()> {
    let (file, stat) = from.open_file(name)?;
    content::duplicate(&file, &to.create_file(name)?, stat.size)?;
    set_mode(to, name, stat.mode & PERMISSIONS)
}

/// Sets the mode of a folder or file of the layer.
pub(crate) fn set_mode(folder: &Folder, name: &OsStr, mode: u32) -> io::Result<()> {
    let handle = folder.handle(name)?;
    if Stat::of(&handle, c"")?.kind == Kind::Symlink {
        return Ok(());
    }
    Ok(chmod(of_descriptor(&handle), Mode::from_raw_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_can_have_no_other_name_is_copied() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(one.path().join("a"), "x").unwrap();
        let bits = std::fs::Permissions::from_mode(0o4750);
        fs::set_permissions(one.path().join("a"), bits).unwrap();
        let open = |place: &tempfile::TempDir| Folder::open(place.path(), Intent::Change).unwrap();
        copy_over(&open(&one), &open(&other), OsStr::new("a")).unwrap();
        assert_eq!(fs::read_to_string(other.path().join("a")).unwrap(), "x");
        let mode = fs::metadata(other.path().join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o750);
    }
}
