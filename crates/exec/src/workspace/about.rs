//! What a listing says of each change beside its name: modes, targets of links, what a file holds.
//!
//! Only for as many changes as a person would read; the rest of a long list has its names alone.

use super::{
    folder::Walker,
    magic,
    relative::Relative,
    stat::{Kind, PERMISSIONS, Stat},
    verdicts::Verdicts,
};
use interpreter_core::{About, FileChange, Turn};
use std::os::unix::fs::FileExt;

/// Changes of which more than the name is told.
const TOLD: usize = 1_000;

/// One path, with what the person has there and what the program made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    /// Where.
    pub(super) path: &'a Relative,
    /// What was there.
    pub(super) before: Option<&'a Stat>,
    /// What is there.
    pub(super) after: Option<&'a Stat>,
}

/// Adds what there is to tell to `files`, which are about `sides`, sorted by path.
pub(super) fn tell(
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
    for file in files.iter_mut().take(TOLD) {
        let Some(side) = find(&file.path) else { continue };
        let is_folder = |stat: Option<&Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        if is_folder(side.before) != is_folder(side.after) && file.path.ends_with('/') {
            continue;
        }
        let old = file.about.from.as_deref().map_or(Some(side), find);
        let before = old.and_then(|old| old.before.map(|stat| (old.path, stat)));
        let from = file.about.from.take();
        let after = side.after.map(|stat| (side.path, stat));
        file.about = About { from, ..about(above, below.as_deref_mut(), before, after, verdicts) };
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
    if let (Some((_, old)), Some((_, new))) = (before, after)
        && old.kind == new.kind
        && old.kind != Kind::Symlink
        && old.mode & PERMISSIONS != new.mode & PERMISSIONS
    {
        let digits = |stat: &Stat| Some(format!("{:03o}", stat.mode & PERMISSIONS));
        about.mode = Some(Turn { from: digits(old), to: digits(new) });
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
    Some(super::relative::text_of(&target))
}

/// What a file holds; none if that is text, or cannot be told.
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
    use super::super::scene::{Scene, set_mode};
    use fs_err as fs;

    #[test]
    fn a_listing_tells_modes_targets_and_what_is_not_text() {
        let scene =
            Scene::new(&[("tool", "x"), ("l", "-> a"), ("gone", "-> a"), ("was", "x"), ("d/", "")]);
        scene.writes("tool", "y").sets_mode("tool", 0o755).writes("l", "-> b").deletes("gone");
        scene.deletes("was").writes("is", "x").sets_mode("is", 0o600).writes("text", "plain\n");
        scene.writes("d/", "").sets_mode("d", 0o700);
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
                "d/: mode 755 → 700",
                "gone: link to a",
                "was → is: mode 644 → 600",
                "l: link to a → b",
                "p.png: PNG image, 10 bytes",
                "text: ",
                "tool: mode 644 → 755",
            ]
        );
    }
}
