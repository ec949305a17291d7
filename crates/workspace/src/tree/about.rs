//! Details of each change in a listing: modes, link targets, file types.
//!
//! Every change says whether it runs automatically later, or is a program; that decides the order.
//! Further details are limited to as many as a person would read.

use crate::tree::{
    folder::Walker,
    magic,
    relative::Relative,
    stat::{Kind, PERMISSIONS, Stat},
    verdicts::Verdicts,
};
use interpreter_core::{About, Change, FileChange, Turn, autorun};
use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::Path,
};

/// Number of changes with details. Beyond them only links have any.
const TOLD: usize = 1_000;

/// One path, with what the person has there and what the program made of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides<'a> {
    pub(crate) path: &'a Relative,
    pub(crate) before: Option<&'a Stat>,
    pub(crate) after: Option<&'a Stat>,
}

/// Marks in `files`, which are about `sides`, sorted by path, what runs by itself and what is a
/// program, and puts them in the order of danger. Of every file, however many there are.
pub(crate) fn rank(work_folder: &Path, sides: &[Sides<'_>], files: &mut [FileChange]) {
    let reason =
        |path: &Relative| autorun::reason(work_folder, Path::new(OsStr::from_bytes(path.bytes())));
    for file in files.iter_mut() {
        let Some(path) = Relative::parse(&file.path) else { continue };
        let start = sides.partition_point(|side| *side.path < path);
        let inside = sides[start..].iter().take_while(|side| side.path.is_within(&path));
        let of_old =
            || file.about.from.as_deref().and_then(Relative::parse).and_then(|p| reason(&p));
        // A folder that was renamed is one line, whatever is in it.
        let of_inside = || match file.change {
            Change::Renamed => inside.clone().find_map(|side| reason(side.path)),
            Change::Created | Change::Changed | Change::Deleted => None,
        };
        // A folder's row ends in a slash, which says so to the rules.
        let of_itself = || {
            let is_folder = file.path.ends_with('/');
            if is_folder { autorun::reason(work_folder, &path.as_folder()) } else { reason(&path) }
        };
        let why = of_itself().or_else(of_inside).or_else(of_old);
        file.about.runs_later = why.map(str::to_owned);
        let own = sides.get(start).filter(|side| *side.path == path);
        file.about.executable = file.change != Change::Deleted
            && own
                .and_then(|side| side.after)
                .is_some_and(|stat| stat.kind == Kind::File && stat.mode & 0o111 != 0);
    }
    FileChange::sort_by_danger(files);
}

/// Adds what there is to tell to `files`, which are about `sides`, sorted by path.
pub(crate) fn tell(
    above: &mut Walker<'_>,
    mut below: Option<&mut Walker<'_>>,
    sides: &[Sides<'_>],
    verdicts: &mut Verdicts,
    files: &mut [FileChange],
) {
    let find = |path: &str| {
        let path = Relative::parse(path)?;
        let at = sides.binary_search_by(|side| side.path.cmp(&path)).ok()?;
        Some(sides[at])
    };
    for (at, file) in files.iter_mut().enumerate() {
        let Some(side) = find(&file.path) else { continue };
        if at >= TOLD && side.after.is_none_or(|stat| stat.kind != Kind::Symlink) {
            continue;
        }
        let is_folder = |stat: Option<&Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        if is_folder(side.before) != is_folder(side.after) && file.path.ends_with('/') {
            continue;
        }
        let old = file.about.from.as_deref().map_or(Some(side), find);
        let before = old.and_then(|old| old.before.map(|stat| (old.path, stat)));
        let after = side.after.map(|stat| (side.path, stat));
        let told = about(above, below.as_deref_mut(), before, after, verdicts);
        let About { mode, target, holds, bytes, .. } = told;
        file.about = About { mode, target, holds, bytes, ..std::mem::take(&mut file.about) };
    }
}

fn about(
    above: &mut Walker<'_>,
    below: Option<&mut Walker<'_>>,
    before: Option<(&Relative, &Stat)>,
    after: Option<(&Relative, &Stat)>,
    verdicts: &mut Verdicts,
) -> About {
    let mut about = About::default();
    let digits = |stat: &Stat| Some(format!("{:03o}", stat.mode & PERMISSIONS));
    match (before, after) {
        (Some((_, old)), Some((_, new)))
            if old.kind == new.kind
                && old.kind != Kind::Symlink
                && old.mode & PERMISSIONS != new.mode & PERMISSIONS =>
        {
            about.mode = Some(Turn { from: digits(old), to: digits(new) });
        }
        // Others on the machine could change it.
        (None, Some((_, new))) if new.kind != Kind::Symlink && new.mode & 0o002 != 0 => {
            about.mode = Some(Turn { from: None, to: digits(new) });
        }
        _ => {}
    }
    let old = below.and_then(|below| before.and_then(|side| target(below, side)));
    let new = after.and_then(|side| target(above, side));
    if (old.is_some() || new.is_some()) && old != new {
        about.target = Some(Turn { from: old, to: new });
    }
    if let Some((path, stat)) = after.filter(|(_, stat)| stat.kind == Kind::File)
        && let Some(word) = verdicts.word(stat, || holds(above, path, stat))
    {
        about.holds = Some(word.to_owned());
        about.bytes = Some(stat.size);
    }
    about
}

/// Where a link points; none for what is none.
fn target(walker: &mut Walker<'_>, (path, stat): (&Relative, &Stat)) -> Option<String> {
    if stat.kind != Kind::Symlink {
        return None;
    }
    let target = walker.at(path.parent()).ok()?.link_target(path.name()).ok()?;
    Some(crate::tree::relative::text_of(&target))
}

/// The type of a binary file, or `None` for text and for files that cannot be read.
fn holds(walker: &mut Walker<'_>, path: &Relative, stat: &Stat) -> Option<&'static str> {
    if stat.size == 0 {
        return None;
    }
    let (file, _) = walker.at(path.parent()).ok()?.open_file(path.name()).ok()?;
    let mut head = [0; magic::HEAD];
    let read = file.read_at(&mut head, 0).ok()?;
    magic::holds(&head[..read], stat.size)
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, set_mode};
    use fs_err as fs;

    #[test]
    fn a_listing_tells_modes_targets_and_what_is_not_text() {
        let scene =
            Scene::new(&[("tool", "x"), ("l", "-> a"), ("gone", "-> a"), ("was", "x"), ("d/", "")]);
        scene.writes("tool", "y").sets_mode("tool", 0o755).writes("l", "-> b").deletes("gone");
        scene.deletes("was").writes("is", "x").sets_mode("is", 0o600).writes("text", "plain\n");
        scene.writes("d/", "").sets_mode("d", 0o700);
        scene
            .writes("open", "#!")
            .sets_mode("open", 0o777)
            .writes("to all", "")
            .sets_mode("to all", 0o666);
        set_mode(&scene.work.join("d"), 0o755);
        fs::write(scene.set.upper().join("p.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        let told: Vec<_> = scene
            .set
            .changes()
            .unwrap()
            .iter()
            .map(|file| format!("{}: {}", file.subject(), file.details()))
            .collect();
        assert_eq!(
            told,
            [
                "open: mode 777, writable by everybody",
                "tool: mode 644 → 755",
                "d/: mode 755 → 700",
                "gone: link to a",
                "was → is: mode 644 → 600",
                "l: link to a → b",
                "p.png: PNG image, 10 bytes",
                "text: ",
                "to all: mode 666, writable by everybody",
            ]
        );
    }

    #[test]
    fn what_runs_by_itself_comes_first_and_programs_after_it() {
        let scene = Scene::new(&[("a", "x"), ("hooks/pre-push", "x"), ("old/x", "-> y")]);
        scene.writes("a", "y").writes("0", "new").writes("run", "#!").sets_mode("run", 0o755);
        scene.writes("z/Makefile", "all:").writes("m/.vscode/tasks.json", "{}");
        scene.deletes("hooks");
        let told: Vec<_> = scene
            .set
            .changes()
            .unwrap()
            .iter()
            .map(|file| format!("{} {}: {}", file.change.word(), file.path, file.details()))
            .collect();
        assert_eq!(
            told,
            [
                "created m/.vscode/tasks.json: an editor can run it when the folder is opened",
                "created z/Makefile: runs when the project is built",
                "created run: executable",
                "changed a: ",
                "deleted hooks/: ",
                "created 0: ",
            ]
        );
        assert_eq!(scene.set.review().unwrap().files, scene.set.changes().unwrap());
    }

    #[test]
    fn a_link_among_very_many_files_says_where_it_leads() {
        let scene = Scene::new(&[]);
        (0..super::TOLD).for_each(|n| _ = scene.writes(&format!("a{n}"), "x"));
        scene.writes("z", "-> /etc/passwd");
        let files = scene.set.changes().unwrap();
        assert_eq!(files.last().unwrap().details(), "link to /etc/passwd");
    }

    #[test]
    fn a_folder_called_like_a_build_file_is_a_folder() {
        let scene = Scene::new(&[]);
        scene.writes("build/", "").writes("sub/BUILD", "x");
        let files = scene.set.changes().unwrap();
        let told: Vec<_> = files.iter().map(|file| (&*file.path, file.details())).collect();
        let runs = "runs when the project is built".to_owned();
        assert_eq!(told, [("sub/BUILD", runs), ("build/", String::new())]);
    }

    #[test]
    fn a_folder_that_was_renamed_tells_what_is_in_it() {
        let scene = Scene::new(&[("d/workflows/ci.yml", "on: push"), ("e/x", "1")]);
        scene.deletes("d").writes(".github/workflows/ci.yml", "on: push");
        scene.deletes("e").writes("f/x", "1");
        let files = scene.set.changes().unwrap();
        let dangers: Vec<_> = files.iter().map(|file| (file.subject(), file.danger())).collect();
        assert_eq!(
            dangers,
            [
                ("d/ → .github/".to_owned(), interpreter_core::Danger::RunsLater),
                ("e/ → f/".to_owned(), interpreter_core::Danger::Existing),
            ]
        );
    }
}
