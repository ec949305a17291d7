//! Puts staged changes into the person's folder.
//!
//! It has two halves. The first copies: files to be replaced into the journal, new ones into the
//! scratch folder; it can fail without a trace. The second, begun only when the journal is on disk,
//! renames; if it fails, its renames are reverted.
//!
//! # Order
//! So that a loss of power finds old or new: (1) the name of the scratch folder, in a journal that
//! says `preparing`, is synced before the folder exists; (2) the bytes of every copy, and then the
//! folders they are in, are synced before the journal says `applying`; (3) the journal is written
//! beside itself, synced, renamed and its folder synced, so it is the one or the other; (4) only
//! then is anything of the person's removed or replaced, a file by one rename of bytes that are on
//! the disk; (5) those folders are synced before the journal says `applied`. Up to (3) there is
//! nothing to take back, from (3) to (5) all that it takes to do so is on the disk.

use crate::{
    error::{During, WorkspaceError},
    journal::{
        changeover::{Care, Changeover, Move},
        durability::Durability,
        log::{Entry, Journal, State},
        plan::Planned,
        recover, scratch,
    },
    tree::{
        folder::{Folder, Intent, Walker},
        node::{Attributes, Node, Shape},
        stat::{Kind, Stat},
    },
};
use std::{
    ffi::{OsStr, OsString},
    io,
};

/// An application that is ready to be performed.
#[derive(Debug)]
pub(crate) struct Application<'a> {
    work: &'a Folder,
    scratch: Folder,
    journal: Journal,
    moves: Vec<Move>,
    durability: Durability,
}

impl<'a> Application<'a> {
    /// Copies everything that `planned` needs, and writes the journal.
    pub(crate) fn prepare(
        upper: &Folder,
        work: &'a Folder,
        mut journal: Journal,
        planned: &[Planned],
    ) -> Result<Self, WorkspaceError> {
        let name = scratch::name();
        journal.scratch = Some(name.clone());
        let durability = Durability::for_files(planned.len());
        let mut prepare = || -> Result<(Folder, Vec<Move>), WorkspaceError> {
            journal.save()?;
            let scratch = scratch::create(work, &name)?;
            let backups = journal.backups()?;
            let mut copier = Copier {
                upper: Walker::new(upper, Intent::Look),
                work: Walker::new(work, Intent::Look),
                scratch: &scratch,
                backups: &backups,
                durability,
            };
            let mut moves = Vec::with_capacity(planned.len());
            for (at, one) in planned.iter().enumerate() {
                let (entry, one) = copier.copy(OsString::from(at.to_string()), one)?;
                journal.entries.push(entry);
                moves.push(one);
            }
            for folder in [&backups, &scratch] {
                durability.barrier(folder).during("sync", String::new)?;
            }
            journal.state = State::Applying;
            journal.save()?;
            Ok((scratch, moves))
        };
        match prepare() {
            Ok((scratch, moves)) => Ok(Self { work, scratch, journal, moves, durability }),
            Err(error) => {
                // The first error is the one to report; leftovers are removed when the set is next
                // opened.
                scratch::remove(work, &name).and_then(|()| journal.remove()).ok();
                Err(error)
            }
        }
    }

    /// Changes the person's folder.
    pub(crate) fn perform(mut self) -> Result<Journal, WorkspaceError> {
        match self.change() {
            Ok(()) => Ok(self.journal),
            Err(error) => {
                // As above: the journal stays if this fails, and opening the set tries again.
                recover::roll_back(self.work, self.journal).ok();
                Err(error)
            }
        }
    }

    fn change(&mut self) -> Result<(), WorkspaceError> {
        let mut changeover = Changeover::new(self.work, &self.scratch, &self.moves, Care::Strict);
        changeover.perform_all()?;
        let stamps = changeover.finish(self.durability)?;
        for (entry, stamp) in self.journal.entries.iter_mut().zip(stamps) {
            entry.left = stamp;
        }
        if let Some(name) = self.journal.scratch.take() {
            scratch::remove(self.work, &name)?;
        }
        self.durability.barrier(self.work).during("sync", String::new)?;
        self.journal.state = State::Applied;
        self.journal.save()
    }

    /// As far as a crash after `steps` steps lets it come.
    #[cfg(test)]
    pub(crate) fn perform_partly(self, steps: usize) {
        let mut changeover = Changeover::new(self.work, &self.scratch, &self.moves, Care::Strict);
        for step in crate::journal::changeover::steps(&self.moves).into_iter().take(steps) {
            changeover.perform(step).unwrap();
        }
    }
}

/// Makes the copies for one application.
struct Copier<'a> {
    upper: Walker<'a>,
    work: Walker<'a>,
    scratch: &'a Folder,
    backups: &'a Folder,
    durability: Durability,
}

impl Copier<'_> {
    fn copy(
        &mut self,
        prepared: OsString,
        planned: &Planned,
    ) -> Result<(Entry, Move), WorkspaceError> {
        let path = planned.path.clone();
        let (before, now) = match &planned.before {
            Some(stat) => {
                let kept = self.keep(&prepared, planned, stat);
                let (node, now) = kept.during("keep a copy of", || path.text())?;
                // Hunks were put into the file that was planned with, and into no other.
                if planned.content.is_some() && now.stamp() != stat.stamp() {
                    return Err(WorkspaceError::Conflict { paths: vec![path.text()] });
                }
                let (node, stat) = (node, now);
                (Some(node), Some(stat))
            }
            None => (None, None),
        };
        let after = match &planned.after {
            Some(stat) => {
                let taken = self.take_over(&prepared, planned, stat);
                Some(taken.during("copy", || path.text())?)
            }
            None => None,
        };
        let (to, staged) = (after.clone(), planned.staged);
        let partly = planned.content.is_some();
        let entry = Entry { path: path.clone(), before, after, staged, partly, left: None };
        Ok((entry, Move { path, now, to, prepared }))
    }

    /// Copies what the person has, to be brought back by undo.
    fn keep(&mut self, to: &OsStr, one: &Planned, stat: &Stat) -> io::Result<(Node, Stat)> {
        let parent = self.work.at(one.path.parent())?;
        let name = one.path.name();
        let (shape, stat) = match stat.kind {
            Kind::File => {
                let file = self.backups.create_file(to)?;
                let copied = Shape::of_copy(parent, name, &file, &Attributes::Its)?;
                self.durability.file(&file)?;
                copied
            }
            Kind::Symlink => (Shape::of_link(parent, name)?, *stat),
            Kind::Folder => (Shape::Folder, *stat),
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => return Err(special(stat)),
        };
        Ok((Node::kept(shape, &stat), stat))
    }

    /// Copies what the program made to where it can be renamed into place.
    fn take_over(&mut self, to: &OsStr, one: &Planned, stat: &Stat) -> io::Result<Node> {
        let replaced = match one.before {
            Some(before) if before.kind == Kind::File => {
                Some(self.work.at(one.path.parent())?.open_file(one.path.name())?.0)
            }
            Some(_) | None => None,
        };
        let parent = self.upper.at(one.path.parent())?;
        let name = one.path.name();
        match stat.kind {
            Kind::File => {
                let file = self.scratch.create_file(to)?;
                let attributes = Attributes::Of(replaced);
                let (shape, stat) = match &one.content {
                    Some(bytes) => (Shape::of_bytes(bytes, &file, &attributes)?, *stat),
                    None => Shape::of_copy(parent, name, &file, &attributes)?,
                };
                let node = Node::taken_over(shape, &stat, one.before.as_ref());
                node.dress(&file)?;
                self.durability.file(&file)?;
                Ok(node)
            }
            Kind::Symlink => {
                self.scratch.create_link(to, &parent.link_target(name)?)?;
                let shape = Shape::of_link(self.scratch, to)?;
                let node = Node::taken_over(shape, stat, one.before.as_ref());
                node.dress_link(self.scratch, to)?;
                Ok(node)
            }
            Kind::Folder => Ok(Node::taken_over(Shape::Folder, stat, one.before.as_ref())),
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => Err(special(stat)),
        }
    }
}

fn special(stat: &Stat) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", stat.kind.noun()))
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict, WorkspaceError,
        scene::{Scene, set_mode, texts},
    };
    use fs_err as fs;
    use rustix::fs::{CWD, Mode, XattrFlags, mkfifoat, setxattr};
    use std::{
        ffi::OsStr,
        os::unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, PermissionsExt},
        },
        path::Path,
    };

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn everything_is_applied_and_nothing_waits_after_it() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x"), ("c/d/e", "x"), ("l", "-> a")]);
        scene.writes("a", "new").deletes("b").deletes("c").writes("l", "-> b").writes("n/m", "y");
        let told = ["changed a", "deleted b", "deleted c/", "changed l", "created n/m"];
        assert_eq!(scene.apply(), told);
        assert_eq!((scene.reads("a"), scene.reads("n/m")), ("new".into(), "y".into()));
        assert_eq!(fs::read_link(scene.work.join("l")).unwrap(), Path::new("b"));
        assert_eq!(scene.holds().len(), 4);
        assert_eq!(scene.lines(), Vec::<String>::new());
        assert_eq!(scene.apply(), Vec::<String>::new());
    }

    #[test]
    fn times_and_plain_modes_are_kept_and_set_user_id_is_not() {
        let mut scene = Scene::new(&[("old", "x"), ("shared/", "")]);
        set_mode(&scene.work.join("old"), 0o4755);
        set_mode(&scene.work.join("shared"), 0o2775);
        scene.writes("tool", "x").sets_mode("tool", 0o6750);
        scene.writes("old", "y").sets_mode("old", 0o4755);
        scene.writes("shared/in/", "").sets_mode("shared", 0o2750).sets_mode("shared/in", 0o1777);
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        fs::File::open(scene.set.upper().join("tool")).unwrap().set_modified(time).unwrap();
        // The person's own chmod came before the set as far as this test is concerned.
        scene.set.apply(&[], Conflict::Overwrite).unwrap();
        let bits = |name: &str| mode(&scene.work.join(name));
        assert_eq!((bits("tool"), bits("old")), (0o750, 0o755));
        assert_eq!((bits("shared"), bits("shared/in")), (0o2750, 0o2755));
        assert_eq!(fs::metadata(scene.work.join("tool")).unwrap().mtime(), 1_000_000);
    }

    /// No list names the folders that a file brings with it, nor the mode of an empty one.
    #[test]
    fn new_folders_let_nobody_else_write_in_them() {
        let mut scene = Scene::new(&[("theirs/f", "x"), ("file", "x")]);
        set_mode(&scene.work.join("theirs"), 0o775);
        scene.writes("lib/pkg/deploy", "x").writes("empty/", "").writes("own/", "");
        scene.writes("file/", "").writes("file/in", "x").writes("theirs/f", "y");
        for open in ["lib", "lib/pkg", "file", "theirs"] {
            scene.sets_mode(open, 0o777);
        }
        scene.sets_mode("empty", 0o1777).sets_mode("own", 0o2700);
        let shown = scene.set.changes().unwrap();
        let theirs = shown.iter().find(|file| file.path == "theirs/").unwrap();
        assert_eq!(theirs.details(), "mode 775 → 777, writable by everybody");
        // The person's own chmod came before the set as far as this test is concerned.
        scene.set.apply(&[], Conflict::Overwrite).unwrap();
        let bits = |name: &str| mode(&scene.work.join(name));
        assert_eq!((bits("lib"), bits("lib/pkg"), bits("file")), (0o755, 0o755, 0o755));
        assert_eq!((bits("empty"), bits("own")), (0o755, 0o700));
        // Of a folder that the person had, the list has told.
        assert_eq!(bits("theirs"), 0o777);
        // Nothing is left to apply, and all of it can be taken back.
        assert_eq!(scene.lines(), Vec::<String>::new());
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!((bits("theirs"), scene.reads("file")), (0o775, "x".into()));
        assert!(!scene.work.join("lib").exists());
    }

    #[test]
    fn a_link_out_is_applied_as_a_link_and_read_by_nobody() {
        let mut scene = Scene::new(&[]);
        scene.writes("passwd", "-> /etc/passwd").writes("up", "-> ../../..");
        assert_eq!(scene.apply(), ["created passwd", "created up"]);
        assert!(scene.work.join("passwd").is_symlink());
        let diff = Scene::new(&[]).writes("passwd", "-> /etc/passwd").set.diff(&[]).unwrap();
        assert!(diff.raw().contains("+/etc/passwd") && !diff.raw().contains("root:"));
    }

    #[test]
    fn what_has_the_name_of_a_secret_is_applied_only_by_its_name() {
        let mut scene = Scene::new(&[(".env", "mine"), ("moved", "m")]);
        scene.writes(".env", "evil").writes("a/.env.local", "x").writes("b", "y");
        scene.writes(".ssh/config", "x").writes(".ssh/rc", "x").deletes("moved");
        scene.writes("k/id_rsa", "m");
        let shown = scene.set.review().unwrap();
        let left: Vec<_> = shown.left_out.iter().map(|one| one.path.as_str()).collect();
        let withheld =
            [".env", ".ssh", ".ssh/config", ".ssh/rc", "a/.env.local", "k/id_rsa", "moved"];
        assert_eq!(left, withheld);
        // With the folders above it, as everything.
        let all = scene.set.apply(&[], Conflict::Refuse).unwrap();
        assert_eq!(all.left_out, shown.left_out);
        assert_eq!(scene.reads("b"), "y");
        assert_eq!((scene.reads(".env"), scene.reads("moved")), ("mine".into(), "m".into()));
        assert!(!scene.work.join(".ssh").exists() && !scene.work.join("a/.env.local").exists());
        scene.set.apply(&texts(&["a"]), Conflict::Refuse).unwrap();
        assert!(!scene.work.join("a/.env.local").exists());
        scene.apply_only(&[".env", "a/.env.local", ".ssh", "k/id_rsa"]).unwrap();
        assert_eq!((scene.reads(".env"), scene.reads(".ssh/rc")), ("evil".into(), "x".into()));
        assert!(scene.work.join("a/.env.local").exists() && !scene.work.join("moved").exists());
    }

    #[test]
    fn a_linked_folder_is_not_written_through() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "theirs").unwrap();
        let link = format!("-> {}", outside.path().display());
        let mut scene = Scene::new(&[("dir", &link)]);
        scene.writes("dir/", "").writes("dir/f", "ours");
        assert_eq!(scene.apply(), ["deleted dir", "created dir/f"]);
        assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "theirs");
        assert!(scene.work.join("dir").symlink_metadata().unwrap().is_dir());
    }

    #[test]
    fn odd_names_arrive_as_they_are() {
        let mut scene = Scene::new(&[]);
        let odd: [&[u8]; 5] = [b"a\nb", b"\x1b[2J", b"...", b"\xff\\x41", b"\\xff"];
        for name in odd {
            fs::write(scene.set.upper().join(OsStr::from_bytes(name)), "x").unwrap();
        }
        assert_eq!(scene.apply_only(&[r"\xff\x5cx41"]).unwrap(), [r"created \xff\x5cx41"]);
        assert_eq!(scene.apply().len(), 4);
        for name in odd {
            assert!(scene.work.join(OsStr::from_bytes(name)).exists());
        }
    }

    #[test]
    fn locked_folders_are_applied_and_undone() {
        let mut scene = Scene::new(&[("d/f", "x")]);
        scene.writes("d/f", "y").writes("cache/mod/file", "z").sets_mode("cache/mod/file", 0o444);
        scene.sets_mode("cache/mod", 0o555).sets_mode("cache", 0o555);
        scene.sets_mode("d/f", 0o000).sets_mode("d", 0o000);
        let before = scene.holds();
        assert_eq!(scene.apply(), ["changed d/", "changed d/f", "created cache/mod/file"]);
        assert_eq!(mode(&scene.work.join("cache/mod")), 0o555);
        assert_eq!(mode(&scene.work.join("d")), 0);
        assert_eq!(scene.lines(), Vec::<String>::new());
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.holds(), before);
    }

    #[test]
    fn some_of_it_can_be_applied_with_the_folders_it_needs() {
        let mut scene = Scene::new(&[("f", "x"), ("d/a", "1"), ("d/b", "1")]);
        scene.writes("n/x/1", "").writes("n/x/2", "").writes("n/y", "");
        scene.deletes("f").writes("d/a", "2").deletes("d/b");
        assert_eq!(
            scene.apply_only(&["./n/x/2", "d/"]).unwrap(),
            ["changed d/a", "deleted d/b", "created n/x/2"]
        );
        assert_eq!(scene.lines(), ["deleted f", "created n/x/1", "created n/y"]);
        let Err(WorkspaceError::NotAChange { paths }) = scene.apply_only(&["f", "g", "../f", "d"])
        else {
            panic!("it applied what is not there")
        };
        assert_eq!(paths, ["../f", "d", "g"]);
        assert_eq!(scene.apply_only(&["."]).unwrap().len(), 3);
    }

    #[test]
    fn what_the_person_changed_is_not_overwritten_unasked() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1"), ("d/in", "1"), ("f", "1")]);
        scene.writes("a", "2").writes("b", "2").deletes("d").deletes("f").writes("new", "2");
        scene.person_writes("a", "mine");
        scene.person_writes("d/more", "mine");
        scene.person_writes("new", "mine");
        let before = scene.holds();
        let Err(WorkspaceError::Conflict { paths }) = scene.set.apply(&[], Conflict::Refuse) else {
            panic!("it overwrote")
        };
        assert_eq!(paths, ["a", "d/more", "new"]);
        assert_eq!(scene.holds(), before);
        assert_eq!(scene.apply_only(&["b"]).unwrap(), ["changed b"]);
        scene.set.apply(&[], Conflict::Overwrite).unwrap();
        assert_eq!((scene.reads("a"), scene.reads("new")), ("2".into(), "2".into()));
        assert!(!scene.work.join("d").exists());
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!((scene.reads("a"), scene.reads("d/more")), ("mine".into(), "mine".into()));
    }

    #[test]
    fn a_copied_file_whose_original_is_gone_is_a_conflict() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2").writes("fresh", "2");
        let path = scene.set.upper().join("a");
        setxattr(&path, "user.overlay.origin", b"somewhere", XattrFlags::empty()).unwrap();
        fs::remove_file(scene.work.join("a")).unwrap();
        let error = scene.set.apply(&[], Conflict::Refuse).unwrap_err();
        assert_eq!(error.to_string(), "changed in the folder in the meantime: `a`");
        scene.set.apply(&[], Conflict::Overwrite).unwrap();
        assert_eq!(scene.reads("a"), "2");
    }

    #[test]
    fn what_we_applied_ourselves_is_no_conflict() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1")]);
        scene.writes("a", "2").deletes("b");
        scene.apply();
        scene.writes("a", "3");
        fs::remove_file(scene.set.upper().join("b")).unwrap();
        scene.writes("b", "3");
        assert_eq!(scene.apply(), ["changed a", "created b"]);
        // Touched, but still what we left.
        let time = std::time::SystemTime::now();
        fs::File::open(scene.work.join("a")).unwrap().set_modified(time).unwrap();
        scene.writes("a", "4");
        assert_eq!(scene.apply(), ["changed a"]);
    }

    #[test]
    fn what_the_person_makes_of_it_afterwards_is_not_staged_again() {
        let mut scene = Scene::new(&[("a", "1"), ("b", "1")]);
        scene.writes("a", "2").deletes("b").writes("n/f", "2");
        scene.apply();
        scene.person_writes("a", "mine");
        scene.person_writes("b", "mine");
        fs::remove_dir_all(scene.work.join("n")).unwrap();
        assert_eq!(scene.lines(), Vec::<String>::new());
        scene.writes("n/g", "3");
        assert_eq!(scene.lines(), ["created n/g"]);
        assert_eq!(scene.apply(), ["created n/g"]);
    }

    #[test]
    fn files_that_are_one_by_two_names_are_changed_and_removed() {
        for deed in ["delete", "change", "one"] {
            let mut scene = Scene::new_with(|work| {
                fs::write(work.join("a"), "both").unwrap();
                fs::hard_link(work.join("a"), work.join("b")).unwrap();
                fs::hard_link(work.join("a"), work.join("c")).unwrap();
            });
            match deed {
                "delete" => scene.deletes("a").deletes("b"),
                "change" => scene.writes("a", "1").writes("b", "2"),
                // Through the overlay the link breaks: the program saw the others unchanged.
                _ => scene.writes("a", "1"),
            };
            let before = scene.holds();
            scene.apply();
            let applied = scene.holds();
            assert_eq!(scene.reads("c"), "both");
            scene.set.undo(Conflict::Refuse).unwrap();
            assert_eq!(scene.holds(), before, "{deed}");
            scene.set.redo(Conflict::Refuse).unwrap();
            assert_eq!(scene.holds(), applied, "{deed}");
        }
    }

    #[test]
    fn new_names_for_one_file_become_files_of_their_own() {
        let mut scene = Scene::new(&[("d/", "")]);
        scene.writes("one", "same").writes("d/", "");
        let upper = scene.set.upper().to_owned();
        fs::hard_link(upper.join("one"), upper.join("d/two")).unwrap();
        assert_eq!(scene.apply(), ["created d/two", "created one"]);
        assert_eq!(scene.reads("one") + &scene.reads("d/two"), "samesame");
        assert_eq!(fs::metadata(scene.work.join("one")).unwrap().nlink(), 1);
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.holds().len(), 1);
    }

    #[test]
    fn special_files_stay_where_they_are() {
        let mut scene = Scene::new(&[("d/f", "x"), ("e/f", "x")]);
        for name in ["d/pipe", "p"] {
            mkfifoat(CWD, scene.work.join(name), Mode::RWXU).unwrap();
        }
        scene.deletes("d").deletes("e").deletes("p");
        let applied = scene.set.apply(&[], Conflict::Refuse).unwrap();
        assert_eq!(applied.files.len(), 1);
        assert_eq!(
            applied.left_out.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
            ["d", "p"]
        );
        assert!(scene.work.join("d/f").exists() && !scene.work.join("e").exists());
    }

    #[test]
    fn large_sparse_files_stay_sparse() {
        let mut scene = Scene::new(&[]);
        let file = fs::File::create(scene.set.upper().join("disk")).unwrap();
        file.set_len(64 << 20).unwrap();
        scene.apply();
        let meta = fs::metadata(scene.work.join("disk")).unwrap();
        assert_eq!(meta.len(), 64 << 20);
        assert!(meta.blocks() * 512 < 1 << 20);
    }

    #[test]
    fn a_full_plan_leaves_no_trace_when_something_cannot_be_copied() {
        let mut scene = Scene::new(&[("a", "1")]);
        scene.writes("a", "2").writes("b", "2");
        let before = scene.holds();
        // The place of the copies is not a folder: preparing has to fail.
        let applied = scene.set.folder.join("applied");
        fs::remove_dir(&applied).unwrap();
        fs::write(&applied, "").unwrap();
        assert!(scene.set.apply(&[], Conflict::Refuse).is_err());
        assert_eq!(scene.holds(), before);
        fs::remove_file(&applied).unwrap();
        fs::create_dir(&applied).unwrap();
        scene.apply();
        assert_eq!(scene.reads("a"), "2");
    }

    #[test]
    fn many_files_are_applied_and_undone() {
        let mut scene = Scene::new(&[("keep", "x")]);
        for number in 0..200 {
            scene.writes(&format!("d{}/f{number}", number % 7), "x");
        }
        let before = scene.holds();
        assert_eq!(scene.apply().len(), 200);
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.holds(), before);
    }

    #[test]
    fn a_work_folder_that_is_gone_is_named() {
        let mut scene = Scene::new(&[]);
        scene.writes("a", "x");
        fs::remove_dir(&scene.work).unwrap();
        assert_eq!(scene.lines(), ["created a"]);
        let error = scene.set.apply(&texts(&["a"]), Conflict::Refuse).unwrap_err();
        assert!(matches!(error, WorkspaceError::WorkFolderGone { .. }));
    }
}
