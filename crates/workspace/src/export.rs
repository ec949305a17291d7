//! Staged and applied files, to be taken elsewhere: one by one, or as a patch.
//!
//! # Threat
//! Code chose the names and the content, and may change both while they are read.
//!
//! # Mechanism
//! A list is made first, without what would be withheld from the person's folder. Each file is
//! opened by descriptor when its turn comes, never through a link, and its size must be the listed
//! one. Links, deletions and special files are named and not carried: whoever unpacks the rest gets
//! plain files and nothing else.
//!
//! # Limits
//! An applied file is read as the person's folder has it now. A patch has text alone: files that are
//! not, and large ones, are named in its first lines.

use crate::{
    error::{During, WorkspaceError},
    journal::{
        history::History,
        log::{Journal, State},
    },
    put::{Seen, seen, unnamed},
    review::chosen,
    set::Set,
    tree::{
        diff::PATIENCE,
        folder::{Folder, Intent, Walker},
        hunks::Hunks,
        relative::Relative,
        scan::scan,
        side::Side,
        stat::{Kind, Stat},
        veiled::Veiled,
    },
};
use interpreter_core::LeftOut;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt::Write as _,
    fs::File,
    io::{self, BufWriter, Seek, Write},
    path::Path,
    time::Instant,
};

/// Which files of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportOf {
    /// Those that wait for a decision.
    Staged,
    /// Those that are in the person's folder by one.
    Applied,
}

/// Files to be taken elsewhere.
#[derive(Debug)]
pub struct Export {
    root: Folder,
    /// The files, by path.
    pub files: Vec<ExportedFile>,
    /// Everything else, and why it does not come along.
    pub left_out: Vec<LeftOut>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct ExportedFile {
    /// Its path in the work folder. Code may have chosen it.
    pub path: String,
    relative: Relative,
    /// Its size.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
    /// When it was last changed, in seconds since 1970.
    pub modified: i64,
}

impl Export {
    /// Opens a file of the list. It is as large as it was listed, or it is refused.
    pub fn open(&self, file: &ExportedFile) -> Result<File, WorkspaceError> {
        let opened = || -> io::Result<Option<File>> {
            let parent = self.root.walk(&file.relative.parent(), Intent::Look)?;
            let (opened, stat) = parent.open_file(file.relative.name())?;
            Ok((stat.size == file.bytes).then_some(opened))
        };
        let found = opened().during("read", || file.path.clone())?;
        found.ok_or_else(|| WorkspaceError::NoSuchFile { path: file.path.clone() })
    }

    fn add(&mut self, path: &Relative, stat: Option<&Stat>) {
        match stat.map(|stat| (stat.kind, stat)) {
            Some((Kind::File, stat)) => self.files.push(ExportedFile {
                path: path.text(),
                relative: path.clone(),
                bytes: stat.size,
                mode: stat.mode,
                modified: stat.modified.seconds,
            }),
            Some((Kind::Folder, _)) => {}
            Some((kind, _)) => self.left_out.push(path.left_out(format!("it is {}", kind.noun()))),
            None => self.left_out.push(path.left_out("it is deleted")),
        }
    }
}

/// One file on both sides of a patch.
struct Changed {
    path: Relative,
    before: Side,
    after: Side,
}

impl Set {
    /// The files that wait for a decision, or that were applied.
    pub fn export(&self, of: ExportOf) -> Result<Export, WorkspaceError> {
        match of {
            ExportOf::Staged => {
                let (upper, work) =
                    (self.open_upper(Intent::Look)?, self.open_work_folder(Intent::Look)?);
                let scan = scan(&upper, work.as_ref(), &History::of(&self.journals))?;
                let chosen = chosen(&scan, self.work_folder(), &[], &Veiled::default())?;
                let left_out = chosen.left_out.clone();
                let mut export = Export { root: upper, files: Vec::new(), left_out };
                for delta in chosen.deltas.iter().filter(|delta| !delta.settled) {
                    export.add(&delta.path, delta.after.as_ref());
                }
                Ok(export)
            }
            ExportOf::Applied => {
                let root = self.work_folder_or_gone()?;
                let mut export = Export { root, files: Vec::new(), left_out: Vec::new() };
                for path in first_applied(&self.journals).into_keys() {
                    let parent = export.root.walk(&path.parent(), Intent::Look);
                    let stat = parent.and_then(|parent| parent.stat(path.name())).ok().flatten();
                    export.add(path, stat.as_ref());
                }
                Ok(export)
            }
        }
    }

    /// The same as a patch, in a file without a name. Gives its length.
    pub fn patch(&self, of: ExportOf) -> Result<(File, u64), WorkspaceError> {
        let folder = self.place.folder();
        let file = unnamed(folder).during_at("create a file in", folder)?;
        let mut named = String::new();
        let mut text = BufWriter::new(&file);
        let deadline = Instant::now() + PATIENCE;
        // Whatever is not in it comes first, where `git apply` skips it, so the rest waits.
        let body = unnamed(folder).during_at("create a file in", folder)?;
        let mut hunks = BufWriter::new(&body);
        let mut each = |changed: Changed| -> io::Result<()> {
            let (mut head, whole) = (String::new(), changed.text(deadline, &mut named));
            std::mem::swap(&mut head, &mut named);
            text.write_all(head.as_bytes())?;
            hunks.write_all(whole.as_bytes())
        };
        match of {
            ExportOf::Staged => self.staged_sides(&mut each)?,
            ExportOf::Applied => self.applied_sides(&mut each)?,
        }
        let join = || -> io::Result<u64> {
            hunks.flush()?;
            drop(hunks);
            let mut body = &body;
            body.rewind()?;
            io::copy(&mut body, &mut text)?;
            text.flush()?;
            drop(text);
            Ok(file.metadata()?.len())
        };
        let length = join().during_at("write a file in", folder)?;
        Ok((file, length))
    }

    fn staged_sides(
        &self,
        each: &mut impl FnMut(Changed) -> io::Result<()>,
    ) -> Result<(), WorkspaceError> {
        let (upper, work) = (self.open_upper(Intent::Look)?, self.open_work_folder(Intent::Look)?);
        let scan = scan(&upper, work.as_ref(), &History::of(&self.journals))?;
        let chosen = chosen(&scan, self.work_folder(), &[], &Veiled::default())?;
        let mut above = Walker::new(&upper, Intent::Look);
        let mut below = work.as_ref().map(|work| Walker::new(work, Intent::Look));
        for delta in chosen.deltas.iter().filter(|delta| !delta.settled) {
            let mut read = || -> io::Result<()> {
                let before = match &mut below {
                    Some(below) => Side::read(below, &delta.path, delta.before.as_ref())?,
                    None => Side::Nothing,
                };
                let after = Side::read(&mut above, &delta.path, delta.after.as_ref())?;
                each(Changed { path: delta.path.clone(), before, after })
            };
            read().during("read", || delta.path.text())?;
        }
        Ok(())
    }

    fn applied_sides(
        &self,
        each: &mut impl FnMut(Changed) -> io::Result<()>,
    ) -> Result<(), WorkspaceError> {
        let work = self.work_folder_or_gone()?;
        let mut now = Walker::new(&work, Intent::Look);
        for (path, (journal, place)) in first_applied(&self.journals) {
            let mut read = || -> io::Result<()> {
                let before = before(journal, place)?;
                let parent = now.at(path.parent());
                let stat = parent.and_then(|parent| parent.stat(path.name())).ok().flatten();
                let after = Side::read(&mut now, path, stat.as_ref())?;
                each(Changed { path: path.clone(), before, after })
            };
            read().during("read", || path.text())?;
        }
        Ok(())
    }
}

/// The paths that are applied, each with the entry that has what was there before the first time.
fn first_applied(journals: &[Journal]) -> BTreeMap<&Relative, (&Journal, usize)> {
    let mut applied: Vec<_> = journals.iter().filter(|one| one.state == State::Applied).collect();
    applied.sort_by_key(|journal| journal.turn);
    let mut first = BTreeMap::new();
    for journal in applied {
        for (place, entry) in journal.entries.iter().enumerate() {
            first.entry(&entry.path).or_insert((journal, place));
        }
    }
    first
}

/// The file that an application replaced, as far as its copy is kept.
fn before(journal: &Journal, place: usize) -> io::Result<Side> {
    let Some(node) = &journal.entries[place].before else { return Ok(Side::Nothing) };
    if node.kind() == Kind::Folder {
        return Ok(Side::Folder { mode: node.mode });
    }
    let backups = journal.backups().map_err(io::Error::other)?;
    let path = Relative::of(OsStr::new(&place.to_string()));
    let stat = backups.stat(path.name())?.map(|stat| Stat { mode: node.mode, ..stat });
    Side::read(&mut Walker::new(&backups, Intent::Look), &path, stat.as_ref())
}

const EXECUTABLE: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;

/// The mode of a file as `git` knows it, and nothing where there is no file. A link or a special
/// file has none.
fn file_mode(side: &Side) -> Result<Option<u32>, NoFile> {
    let Some(mode) = side.mode() else { return Ok(None) };
    if mode & 0o170_000 != 0o100_000 {
        return Err(NoFile);
    }
    Ok(Some(if mode & 0o100 == 0 { PLAIN } else { EXECUTABLE }))
}

/// A link or a special file.
struct NoFile;

impl Changed {
    /// Its part of the patch; or a line in `named`, if it has none.
    fn text(&self, deadline: Instant, named: &mut String) -> String {
        let mut out = String::new();
        let name = self.path.bytes();
        let mut leave = |why: &str| {
            _ = writeln!(named, "# not in this patch: {}: {why}", quoted("", name));
        };
        let (Ok(old), Ok(new)) = (file_mode(&self.before), file_mode(&self.after)) else {
            leave("a link or a special file");
            return out;
        };
        let is_folder = |side: &Side| matches!(side, Side::Folder { .. });
        if is_folder(&self.before) && !is_folder(&self.after) {
            leave("a folder that is deleted, with what it held");
        }
        if old.is_none() && new.is_none() {
            return out;
        }
        if let Some(why) = self.after.opaque().or(self.before.opaque()) {
            let (before, after) = (self.before.size(), self.after.size());
            leave(&format!("{}, {before} bytes -> {after} bytes", why.word()));
            return out;
        }
        let (from, to) = (quoted("a/", name), quoted("b/", name));
        _ = writeln!(out, "diff --git {from} {to}");
        match (old, new) {
            (None, Some(new)) => _ = writeln!(out, "new file mode {new:06o}"),
            (Some(old), None) => _ = writeln!(out, "deleted file mode {old:06o}"),
            (Some(old), Some(new)) if old != new => {
                _ = writeln!(out, "old mode {old:06o}\nnew mode {new:06o}");
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        let (left, right) = (self.before.text(), self.after.text());
        if left != right {
            let nothing = || "/dev/null".to_owned();
            let from = if old.is_some() { from } else { nothing() };
            let to = if new.is_some() { to } else { nothing() };
            _ = writeln!(out, "--- {from}\n+++ {to}");
            out.extend(Hunks::between(left, right, deadline).texts());
        } else if old == new {
            // Only bits that `git` does not know.
            out.clear();
        }
        out
    }
}

/// A name as `git` writes it: in quotes, byte by byte, if it has more than plain letters.
fn quoted(prefix: &str, name: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/+@=,~".contains(byte);
    if name.iter().all(plain) {
        return format!("{prefix}{}", String::from_utf8_lossy(name));
    }
    let mut text = format!("\"{prefix}");
    for byte in name {
        if plain(byte) || *byte == b' ' {
            text.push(char::from(*byte));
        } else {
            _ = write!(text, "\\{byte:03o}");
        }
    }
    text.push('"');
    text
}

/// Opens one file: the staged one, or that of the person's folder. Without a set nothing is staged.
pub fn open_file(
    set: Option<&Set>,
    work_folder: &Path,
    path: &str,
) -> Result<(File, u64), WorkspaceError> {
    let missing = || WorkspaceError::NoSuchFile { path: path.to_owned() };
    let relative = Relative::parse(path).filter(|path| !path.is_root()).ok_or_else(missing)?;
    let found = match set {
        Some(set) => {
            let upper = set.open_upper(Intent::Look)?;
            seen(Some(upper), set.open_work_folder(Intent::Look)?, &relative)
        }
        None => seen(None, Folder::open(work_folder, Intent::Look).ok(), &relative),
    };
    let opened = match (found.map_err(|_| missing())?, set) {
        (Seen::Nothing, _) | (Seen::Staged(_), None) => return Err(missing()),
        (Seen::Staged(_), Some(set)) => {
            let upper = Folder::open(set.upper(), Intent::Look);
            let parent = upper.and_then(|upper| upper.walk(&relative.parent(), Intent::Look));
            parent.and_then(|parent| parent.open_file(relative.name()))
        }
        (Seen::Persons(_), _) => {
            let work = Folder::open(work_folder, Intent::Look);
            let parent = work.and_then(|work| work.walk_as_is(&relative.parent()));
            parent.and_then(|parent| parent.open_file_as_is(relative.name()))
        }
    };
    let (file, stat) = opened.map_err(|_| missing())?;
    Ok((file, stat.size))
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
