//! Some hunks of a file instead of the whole.
//!
//! # Threat
//! A file that is another when its hunks are applied than when they were shown, so that a number
//! means other lines, or an edit of the person's is lost.
//!
//! # Mechanism
//! The text is made of the person's file and the snapshot. The person's file must bear the stamp
//! that it had when it was shown, before and after it is read; whoever copies it away checks the
//! stamp once more, see `apply.rs`. The planned entry then has that text in place of the snapshot's
//! bytes, and everything after that is the same as for a whole file: copies, journal, undo. If the
//! hunks were shown by an earlier command they must be the same, see `numbered.rs`.
//!
//! # Limits
//! Only texts of the same mode have hunks. Everything else is applied as a whole, or not.

use crate::{
    error::{During, WorkspaceError},
    journal::{numbered::NumberedHunks, plan::Planned},
    tree::{
        diff::PATIENCE,
        folder::{Folder, Intent, Walker},
        relative::Relative,
        side::Side,
        stat::Stamp,
    },
};
use interpreter_core::{AppliedHunks, Extent, FileChange, Pick};
use std::{
    collections::{BTreeSet, HashMap},
    time::Instant,
};

/// The person's files, as they were when they were shown.
pub(crate) type Seen = HashMap<Relative, Stamp>;

/// The stamps of what the person has where something is planned.
pub(crate) fn seen(planned: &[Planned]) -> Seen {
    planned.iter().filter_map(|one| Some((one.path.clone(), one.before?.stamp()))).collect()
}

/// Has only the picked hunks applied of files of which hunks were picked, and says so in `told`.
pub(crate) fn divide(
    upper: &Folder,
    work: &Folder,
    (seen, numbered): (&Seen, Option<&NumberedHunks>),
    planned: &mut [Planned],
    picks: &[Pick],
    told: &mut [FileChange],
) -> Result<(), WorkspaceError> {
    let mut upper = Walker::new(upper, Intent::Look);
    let mut work = Walker::new(work, Intent::Look);
    for (path, numbers) in wanted(picks) {
        let Ok(at) = planned.binary_search_by(|one| one.path.cmp(&path)) else {
            return Err(WorkspaceError::NotAChange { paths: vec![path.text()] });
        };
        let one = &mut planned[at];
        let (before, after) = sides(&mut upper, &mut work, seen, one)?;
        let Some(hunks) = Side::hunks(&before, &after, Instant::now() + PATIENCE) else {
            return Err(WorkspaceError::Indivisible { path: path.text() });
        };
        if numbered.is_some_and(|shown| !shown.has(&path.text(), &hunks.numbered())) {
            return Err(WorkspaceError::HunksNotShown { path: path.text() });
        }
        let of = hunks.count();
        if let Some(&number) = numbers.iter().find(|number| !(1..=of).contains(number)) {
            return Err(WorkspaceError::NoSuchHunk { path: path.text(), number, of });
        }
        // All of them are the file itself, and nothing of it stays staged.
        if numbers.len() < of {
            one.content = Some(hunks.with(&numbers).into_bytes());
            let applied = AppliedHunks { numbers: numbers.into_iter().collect(), of };
            let text = path.text();
            let files = told.iter_mut().filter(|file| file.path == text);
            files.for_each(|file| file.about.hunks = Some(applied.clone()));
        }
    }
    Ok(())
}

/// The picked hunks of each file. Whoever picks all of a file too has picked all of it.
fn wanted(picks: &[Pick]) -> Vec<(Relative, BTreeSet<usize>)> {
    let parsed = |pick: &Pick| Relative::parse(&pick.path);
    let mut all: HashMap<Relative, BTreeSet<usize>> = HashMap::new();
    for pick in picks {
        if let (Extent::Hunks(numbers), Some(path)) = (&pick.extent, parsed(pick)) {
            all.entry(path).or_default().extend(numbers);
        }
    }
    all.retain(|path, _| {
        !picks.iter().any(|pick| match (&pick.extent, parsed(pick)) {
            (Extent::Below, Some(whole)) => path.is_within(&whole),
            (Extent::Itself, Some(whole)) => *path == whole,
            (Extent::Hunks(_), _) | (_, None) => false,
        })
    });
    all.into_iter().collect()
}

/// Both sides of a change, the person's as it was shown.
fn sides(
    upper: &mut Walker<'_>,
    work: &mut Walker<'_>,
    seen: &Seen,
    one: &Planned,
) -> Result<(Side, Side), WorkspaceError> {
    let path = || one.path.text();
    let changed = || WorkspaceError::Conflict { paths: vec![path()] };
    let shown = seen.get(&one.path);
    if one.before.map(|stat| stat.stamp()).as_ref() != shown {
        return Err(changed());
    }
    let before = Side::read(work, &one.path, one.before.as_ref()).during("read", path)?;
    let after = Side::read(upper, &one.path, one.after.as_ref()).during("read", path)?;
    let parent = work.at(one.path.parent()).during("open", path)?;
    let now = parent.stat(one.path.name()).during("read", path)?;
    if now.map(|stat| stat.stamp()).as_ref() != shown {
        return Err(changed());
    }
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use crate::{
        Conflict, WorkspaceError,
        scene::{Scene, set_mode},
    };
    use interpreter_core::{Extent, Pick, outline::ApplyOrder};
    use proptest::prelude::*;

    /// Forty lines, of which those of these numbers are changed.
    fn text(changed: &[usize]) -> String {
        let mark = |number| if changed.contains(&number) { " changed" } else { "" };
        (0..40).fold(String::new(), |all, number| all + &format!("{number}{}\n", mark(number)))
    }

    fn hunks(path: &str, numbers: &[usize]) -> Pick {
        let extent = Extent::Hunks(numbers.iter().copied().collect());
        Pick { path: path.to_owned(), extent }
    }

    /// The lines of a diff that are added.
    fn added(scene: &Scene) -> Vec<String> {
        let diff = scene.set.diff(&[]).unwrap();
        let lines = diff.raw().lines().filter(|line| line.starts_with('+'));
        lines.filter(|line| !line.starts_with("+++")).map(str::to_owned).collect()
    }

    /// A file with three hunks.
    fn scene() -> Scene {
        let scene = Scene::new(&[("a", &text(&[])), ("b", "x\n")]);
        scene.writes("a", &text(&[2, 20, 35])).writes("b", "y\n");
        scene
    }

    fn apply(scene: &mut Scene, picks: &[Pick]) -> Result<Vec<String>, WorkspaceError> {
        let review = scene.set.review()?;
        let applied = scene.set.apply_review(&review, &ApplyOrder::of(picks), Conflict::Refuse)?;
        Ok(applied.files.iter().map(|file| format!("{} {}", file.path, file.details())).collect())
    }

    #[test]
    fn chosen_hunks_land_and_the_others_stay_staged() {
        let mut scene = scene();
        let told = apply(&mut scene, &[hunks("a", &[1, 3])]).unwrap();
        assert_eq!(told, ["a hunks 1, 3 of 3; the rest stays staged"]);
        assert_eq!((scene.reads("a"), scene.reads("b")), (text(&[2, 35]), "x\n".into()));
        assert_eq!(added(&scene), ["+20 changed", "+y"]);
        // The rest can be applied as everything else.
        assert_eq!(scene.apply(), ["changed a", "changed b"]);
        assert_eq!(scene.reads("a"), text(&[2, 20, 35]));
        assert_eq!(scene.lines(), Vec::<String>::new());
        // Each is undone by itself, and redone.
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), text(&[2, 35]));
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), text(&[]));
        assert_eq!(added(&scene), ["+2 changed", "+20 changed", "+35 changed", "+y"]);
        scene.set.redo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), text(&[2, 35]));
        let scene = scene.reopen();
        assert_eq!(added(&scene), ["+20 changed", "+y"]);
    }

    #[test]
    fn all_hunks_are_the_file_itself() {
        let mut scene = scene();
        assert_eq!(apply(&mut scene, &[hunks("a", &[1, 2, 3])]).unwrap(), ["a "]);
        assert_eq!(scene.reads("a"), text(&[2, 20, 35]));
        assert_eq!(scene.lines(), ["changed b"]);
        scene.person_writes("a", "mine\n");
        assert_eq!(scene.lines(), ["changed b"]);
    }

    #[test]
    fn what_changed_after_it_was_shown_lands_as_it_was_shown() {
        let mut scene = scene();
        let shown = scene.set.review().unwrap();
        let texts = scene.set.changes_of(&shown).unwrap();
        assert_eq!(texts[0].hunks.len(), 3);
        // The program writes something else, with other hunks.
        scene.writes("a", &text(&[0, 10, 30]).replace("30 changed", "evil"));
        scene
            .set
            .apply_review(&shown, &ApplyOrder::of([hunks("a", &[2])]), Conflict::Refuse)
            .unwrap();
        assert_eq!(scene.reads("a"), text(&[20]));
        drop(shown);
        // The new version waits, and nothing of the old one.
        assert!(added(&scene).contains(&"+evil".to_owned()));
    }

    #[test]
    fn a_file_that_the_person_changed_is_refused() {
        for conflict in [Conflict::Refuse, Conflict::Overwrite] {
            let mut scene = scene();
            let shown = scene.set.review().unwrap();
            scene.person_writes("a", &text(&[39]));
            let refused =
                scene.set.apply_review(&shown, &ApplyOrder::of([hunks("a", &[1])]), conflict);
            assert!(matches!(refused, Err(WorkspaceError::Conflict { .. })), "{refused:?}");
            assert_eq!(scene.reads("a"), text(&[39]));
        }
        // Also between two parts, of which the rest is not forgotten because of that.
        let mut scene = scene();
        apply(&mut scene, &[hunks("a", &[1])]).unwrap();
        scene.person_writes("a", &text(&[2, 39]));
        assert_eq!(scene.lines(), ["changed a", "changed b"]);
        let refused = apply(&mut scene, &[hunks("a", &[1])]);
        assert!(matches!(refused, Err(WorkspaceError::Conflict { .. })), "{refused:?}");
        assert_eq!(scene.reads("a"), text(&[2, 39]));
    }

    #[test]
    fn everything_but_a_changed_text_is_all_or_nothing() {
        let long = "line\n".repeat(20);
        let mut scene = Scene::new(&[
            ("binary", "\u{0}1"),
            ("gone", &long),
            ("link", "-> a"),
            ("mode", &text(&[])),
            ("renamed", &long),
            ("text", &text(&[])),
        ]);
        scene.writes("binary", "\u{0}2").deletes("gone").writes("link", "-> b");
        scene.writes("mode", &text(&[1, 30])).sets_mode("mode", 0o755).writes("new", &long);
        scene.deletes("renamed").writes("moved", &long).writes("text", &text(&[1, 30]));
        let shown = scene.set.review().unwrap();
        let counts: Vec<_> = scene.set.changes_of(&shown).unwrap();
        let divided: Vec<_> = counts
            .iter()
            .filter(|one| !one.hunks.is_empty())
            .map(|one| one.path.as_str())
            .collect();
        assert_eq!(divided, ["text"]);
        drop(shown);
        let before = scene.holds();
        for name in ["binary", "gone", "link", "mode", "new", "moved"] {
            let refused = apply(&mut scene, &[hunks(name, &[1])]);
            assert!(
                matches!(refused, Err(WorkspaceError::Indivisible { .. })),
                "{name} {refused:?}"
            );
        }
        for (numbers, number) in [(&[3][..], 3), (&[1, 9], 9), (&[0], 0)] {
            let refused = apply(&mut scene, &[hunks("text", numbers)]);
            let is_it = |error: &WorkspaceError| matches!(error, WorkspaceError::NoSuchHunk { number: told, of: 2, .. } if *told == number);
            assert!(refused.as_ref().is_err_and(is_it), "{refused:?}");
        }
        let unknown = apply(&mut scene, &[hunks("nowhere", &[1])]);
        assert!(matches!(unknown, Err(WorkspaceError::NotAChange { .. })), "{unknown:?}");
        assert_eq!(scene.holds(), before);
    }

    #[test]
    fn a_change_alone_brings_nothing_that_is_below_it() {
        let mut scene = Scene::new(&[("d/f", "x"), ("d/g", "x")]);
        scene.writes("d/f", "y").writes("d/g", "y").sets_mode("d", 0o700);
        set_mode(&scene.work.join("d"), 0o755);
        let alone = Pick { path: "d".into(), extent: Extent::Itself };
        assert_eq!(apply(&mut scene, &[alone]).unwrap().len(), 1);
        assert_eq!((scene.reads("d/f"), scene.reads("d/g")), ("x".into(), "x".into()));
        assert_eq!(apply(&mut scene, &[Pick::below("d")]).unwrap().len(), 2);
        assert_eq!(scene.reads("d/g"), "y");
    }

    /// A file, and another version of it.
    fn versions() -> impl Strategy<Value = (String, String)> {
        let line = prop::sample::select(&["a\n", "b\n", "c\n", "d\r\n", "e"][..]);
        let text = prop::collection::vec(line, 0..60).prop_map(|lines| lines.concat());
        (text.clone(), text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn some_and_then_the_rest_is_everything((old, new) in versions(), chosen: [bool; 12]) {
            let mut scene = Scene::new(&[("a", &old)]);
            scene.writes("a", &new);
            let review = scene.set.review().unwrap();
            let shown = scene.set.changes_of(&review).unwrap();
            let count = shown.first().map_or(0, |one| one.hunks.len());
            let numbers: Vec<_> = (1..=count).filter(|number| chosen[number % 12]).collect();
            prop_assume!(!numbers.is_empty());
            let before = scene.holds();
            let picks = [hunks("a", &numbers)];
            scene.set.apply_review(&review, &ApplyOrder::of(picks), Conflict::Refuse).unwrap();
            drop(review);
            prop_assert_eq!(scene.lines().len(), usize::from(scene.reads("a") != new));
            scene.apply();
            prop_assert_eq!(scene.reads("a"), new.clone());
            prop_assert_eq!(scene.lines(), Vec::<String>::new());
            if numbers.len() < count {
                scene.set.undo(Conflict::Refuse).unwrap();
            }
            scene.set.undo(Conflict::Refuse).unwrap();
            prop_assert_eq!(scene.holds(), before);
        }
    }
}
