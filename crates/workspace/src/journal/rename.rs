//! Which deletions and creations are one thing that has a new name.
//!
//! The upper layer does not say: a renamed file is a mark of deletion and a file. So what is gone
//! is compared with what is new, by size and then by content. An empty file could be anybody's and
//! is left alone. A folder counts as renamed only if nothing in it differs.
//!
//! Bounded: beyond so many candidates, pairs or bytes, changes are listed as deletions and
//! creations, which is never wrong.

use crate::{
    error::is_gone,
    tree::{
        content,
        delta::Delta,
        folder::{Folder, Intent, Walker},
        relative::Relative,
        stat::{Kind, PERMISSIONS, Stat},
        verdicts::Verdicts,
    },
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    io,
};

/// Deletions, and creations, among which renames are looked for.
const CANDIDATES: usize = 2_000;
/// Creations past which none are looked for.
const CREATIONS: usize = 20 * CANDIDATES;
/// Bytes that are read for it, and pairs of files.
const BYTES: u64 = 256 << 20;
const PAIRS: usize = 10_000;

/// One thing that has a new name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rename {
    /// The path it had.
    pub(crate) from: Relative,
    /// The path it has.
    pub(crate) to: Relative,
}

impl Rename {
    /// The same, the other way round.
    pub(crate) fn reversed(&self) -> Self {
        Self { from: self.to.clone(), to: self.from.clone() }
    }
}

/// The renames among `deltas`, which are sorted by path; empty if something cannot be read.
pub(crate) fn find(
    upper: &Folder,
    work: &Folder,
    deltas: &[Delta],
    verdicts: &mut Verdicts,
) -> Vec<Rename> {
    let mut search = Search {
        above: Walker::new(upper, Intent::Look),
        below: Walker::new(work, Intent::Look),
        verdicts,
        budget: BYTES,
        pairs: PAIRS,
        entries: CANDIDATES,
    };
    let gone: Vec<&Delta> = deltas
        .iter()
        .filter(|delta| delta.after.is_none() && delta.before.is_some() && !delta.settled)
        .collect();
    let new: Vec<&Delta> = deltas
        .iter()
        .filter(|delta| delta.before.is_none() && delta.after.is_some() && !delta.settled)
        .collect();
    if gone.is_empty() || gone.len() > CANDIDATES || new.len() > CREATIONS {
        return Vec::new();
    }
    let mut renames = search.folders(&gone, &new);
    renames.extend(search.files(&gone, &new, &renames));
    renames.sort_by(|one, other| one.to.cmp(&other.to));
    renames
}

struct Search<'a> {
    above: Walker<'a>,
    below: Walker<'a>,
    verdicts: &'a mut Verdicts,
    /// Bytes that may still be compared.
    budget: u64,
    /// Pairs of files that may still be compared.
    pairs: usize,
    /// Entries of folders that may still be looked at.
    entries: usize,
}

/// The contents of a folder: kind and size, by path below it.
type Tree = BTreeMap<Relative, Stat>;

impl Search<'_> {
    fn folders(&mut self, gone: &[&Delta], new: &[&Delta]) -> Vec<Rename> {
        let is_folder = |stat: Option<Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        let mut trees: Vec<(&Delta, Tree)> = Vec::new();
        for delta in gone.iter().filter(|delta| is_folder(delta.before)) {
            if let Ok(Some(tree)) = self.tree(&delta.path)
                && !tree.is_empty()
            {
                trees.push((delta, tree));
            }
        }
        let mut renames: Vec<Rename> = Vec::new();
        for (at, delta) in new.iter().enumerate().filter(|(_, delta)| is_folder(delta.after)) {
            if trees.is_empty() {
                break;
            }
            if renames.iter().any(|rename| delta.path.is_within(&rename.to)) {
                continue;
            }
            let inside: Vec<&Delta> = new[at + 1..]
                .iter()
                .take_while(|inner| inner.path.is_within(&delta.path))
                .copied()
                .collect();
            let matching = trees.iter().position(|(old, tree)| {
                same_mode(old.before.as_ref(), delta.after.as_ref())
                    && self.is_tree(&old.path, tree, &delta.path, &inside)
            });
            if let Some(matching) = matching {
                let (old, _) = trees.swap_remove(matching);
                renames.push(Rename { from: old.path.clone(), to: delta.path.clone() });
            }
        }
        renames
    }

    /// The contents of the person's folder `path`, or `None` beyond the bound.
    fn tree(&mut self, path: &Relative) -> io::Result<Option<Tree>> {
        let mut tree = Tree::new();
        let mut pending = vec![Relative::root()];
        while let Some(inner) = pending.pop() {
            let folder = self.below.at(path.under(&inner))?;
            for name in folder.names()? {
                let Some(stat) = folder.stat(&name)? else { continue };
                if self.entries == 0 || !stat.kind.is_ordinary() {
                    return Ok(None);
                }
                self.entries -= 1;
                let inner = inner.join(&name);
                if stat.kind == Kind::Folder {
                    pending.push(inner.clone());
                }
                tree.insert(inner, stat);
            }
        }
        Ok(Some(tree))
    }

    /// Whether what is new below `to` is exactly `tree`, which was below `from`.
    fn is_tree(&mut self, from: &Relative, tree: &Tree, to: &Relative, new: &[&Delta]) -> bool {
        new.len() == tree.len()
            && tree.iter().zip(new).all(|((inner, old), delta)| {
                let Some(stat) = &delta.after else { return false };
                delta.path == to.under(inner)
                    && same_mode(Some(old), Some(stat))
                    && self.is_same(&from.under(inner), old, &delta.path, stat)
            })
    }

    fn files(&mut self, gone: &[&Delta], new: &[&Delta], known: &[Rename]) -> Vec<Rename> {
        let mut by_size: HashMap<u64, Vec<(&Delta, &Stat)>> = HashMap::new();
        for delta in new {
            let Some(stat) = delta.after.as_ref().filter(|stat| is_telling(stat)) else { continue };
            if !known.iter().any(|rename| delta.path.is_within(&rename.to)) {
                by_size.entry(stat.size).or_default().push((delta, stat));
            }
        }
        let mut renames = Vec::new();
        for delta in gone {
            let Some(old) = delta.before.as_ref().filter(|stat| is_telling(stat)) else { continue };
            let Some(fitting) = by_size.get_mut(&old.size).filter(|all| all.len() <= CANDIDATES)
            else {
                continue;
            };
            // The same time, or the same name, makes it more likely.
            let name: &OsStr = delta.path.name();
            fitting.sort_by_key(|(new, stat)| {
                (stat.modified != old.modified, new.path.name() != name)
            });
            let found = fitting
                .iter()
                .position(|(new, stat)| self.is_same(&delta.path, old, &new.path, stat));
            if let Some(found) = found {
                let (to, _) = fitting.remove(found);
                renames.push(Rename { from: delta.path.clone(), to: to.path.clone() });
            }
        }
        renames
    }

    /// Whether the person's `from` and the program's `to` have the same content. An unreadable file
    /// counts as different.
    fn is_same(&mut self, from: &Relative, old: &Stat, to: &Relative, new: &Stat) -> bool {
        if old.kind != new.kind {
            return false;
        }
        match self.compare(from, old, to, new) {
            Ok(same) => same,
            Err(error) => {
                // A look at what vanished must not be taken for a look at what is there.
                if is_gone(&error) {
                    self.above.forget();
                    self.below.forget();
                }
                false
            }
        }
    }

    fn compare(
        &mut self,
        from: &Relative,
        old: &Stat,
        to: &Relative,
        new: &Stat,
    ) -> io::Result<bool> {
        if old.kind == Kind::Folder {
            return Ok(true);
        }
        if old.size != new.size {
            return Ok(false);
        }
        let below = self.below.at(from.parent())?;
        let above = self.above.at(to.parent())?;
        if old.kind == Kind::Symlink {
            return Ok(below.link_target(from.name())? == above.link_target(to.name())?);
        }
        let (budget, pairs) = (&mut self.budget, &mut self.pairs);
        self.verdicts.same(new, old, || {
            let left = (budget.checked_sub(new.size), pairs.checked_sub(1));
            let (Some(bytes), Some(files)) = left else {
                return Err(io::ErrorKind::QuotaExceeded.into());
            };
            (*budget, *pairs) = (bytes, files);
            let ((one, _), (other, _)) =
                (below.open_file(from.name())?, above.open_file(to.name())?);
            content::same(&one, &other, new.size)
        })
    }
}

/// Whether two that are the same are so by more than chance.
fn is_telling(stat: &Stat) -> bool {
    matches!(stat.kind, Kind::File | Kind::Symlink) && stat.size > 0
}

fn same_mode(one: Option<&Stat>, other: Option<&Stat>) -> bool {
    let bits = |stat: Option<&Stat>| stat.map(|stat| stat.mode & PERMISSIONS);
    bits(one) == bits(other)
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict,
        scene::{Scene, line, texts},
    };

    #[test]
    fn a_file_with_a_new_name_is_one_change() {
        let mut scene = Scene::new(&[("old.txt", "text"), ("stay", "same"), ("empty", "")]);
        scene.deletes("old.txt").writes("sub/new.txt", "text").deletes("empty").writes("e", "");
        assert_eq!(scene.lines(), ["deleted empty", "renamed old.txt → sub/new.txt", "created e"]);
        let diff = scene.set.diff(&texts(&["old.txt"])).unwrap();
        assert_eq!(
            diff.raw(),
            "diff --git a/old.txt b/sub/new.txt\nsimilarity index 100%\n\
             rename from old.txt\nrename to sub/new.txt\n"
        );
        let before = scene.holds();
        let shown = scene.set.review().unwrap();
        assert_eq!(shown.files.len(), 3);
        // Either name means both.
        assert_eq!(scene.apply_only(&["sub/new.txt"]).unwrap(), ["renamed old.txt → sub/new.txt"]);
        assert!(!scene.work.join("old.txt").exists());
        assert_eq!(scene.reads("sub/new.txt"), "text");
        let undone = scene.set.undo(Conflict::Refuse).unwrap();
        let lines: Vec<_> = undone.files.iter().map(line).collect();
        assert_eq!(lines, ["renamed sub/new.txt → old.txt", "deleted sub/"]);
        assert_eq!(scene.holds(), before);
        let discarded = scene.set.discard(&texts(&["old.txt"])).unwrap();
        assert_eq!(
            discarded.iter().map(line).collect::<Vec<_>>(),
            ["renamed old.txt → sub/new.txt"]
        );
        assert_eq!(scene.lines(), ["deleted empty", "created e"]);
    }

    #[test]
    fn the_likeliest_of_several_is_meant() {
        let scene = Scene::new(&[("a/x", "same"), ("a/y", "same")]);
        scene.deletes("a/x").deletes("a/y");
        scene.writes("b/y", "same").writes("b/x", "same").writes("b/z", "same");
        assert_eq!(scene.lines(), ["renamed a/x → b/x", "renamed a/y → b/y", "created b/z"]);
    }

    #[test]
    fn a_folder_with_all_that_is_in_it_is_one_change() {
        let mut scene =
            Scene::new(&[("d/a", "1"), ("d/s/b", "2"), ("d/s/l", "-> b"), ("d/e/", "")]);
        scene.deletes("d").writes("n/a", "1").writes("n/s/b", "2").writes("n/s/l", "-> b");
        scene.writes("n/e/", "");
        assert_eq!(scene.lines(), ["renamed d/ → n/"]);
        assert_eq!(scene.set.diff(&[]).unwrap().raw(), "renamed folder d/ -> n/\n");
        let before = scene.holds();
        assert_eq!(scene.apply(), ["renamed d/ → n/"]);
        let undone = scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(undone.files.iter().map(line).collect::<Vec<_>>(), ["renamed n/ → d/"]);
        assert_eq!(scene.holds(), before);
        // One of its files alone is a new file, and the old folder stays.
        assert_eq!(scene.apply_only(&["n/a"]).unwrap(), ["created n/a"]);
        assert!(scene.work.join("d/a").exists());
    }

    #[test]
    fn a_folder_that_differs_is_not_renamed() {
        let scene = Scene::new(&[("d/a", "1"), ("d/b", "2")]);
        scene.deletes("d").writes("n/a", "1").writes("n/b", "3");
        assert_eq!(scene.lines(), ["deleted d/", "created n/a", "created n/b"]);
        scene.writes("n/b", "2").writes("n/c", "more");
        assert_eq!(scene.lines(), ["deleted d/", "created n/a", "created n/b", "created n/c"]);
    }

    #[test]
    fn what_was_moved_to_where_it_cannot_go_is_not_deleted() {
        let mut scene = Scene::new(&[("a", "text")]);
        let pipe = scene.work.join("p");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        scene.deletes("a").writes("p/a", "text");
        let applied = scene.set.apply(&[], Conflict::Refuse).unwrap();
        assert_eq!(applied.files, []);
        let left: Vec<_> = applied.left_out.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(left, ["p", "p/a", "a"]);
        assert_eq!(scene.reads("a"), "text");
    }
}
