//! Tests of the outline: each kind of change that stands out, and a property over any list.

use super::*;
use crate::{About, Turn};
use proptest::prelude::*;

fn created(path: &str) -> FileChange {
    FileChange::new(path, Change::Created)
}

fn tables(count: usize) -> Vec<FileChange> {
    (0..count).map(|n| created(&format!("data/{n:03}.csv"))).collect()
}

/// Why one more change among sixty tables is named.
fn among_tables(file: FileChange) -> Option<Unusual> {
    let path = file.path.clone();
    let mut files = tables(60);
    files.push(file);
    let outline = Outline::of(&files).unwrap();
    assert_eq!(outline.named.len() + outline.count(), files.len());
    outline.named.iter().find(|one| one.path == path).map(|one| one.why)
}

#[test]
fn up_to_fifty_changes_have_no_outline() {
    assert_eq!(Outline::of(&tables(NAMED)), None);
    let outline = Outline::of(&tables(NAMED + 1)).unwrap();
    assert_eq!(outline.named, []);
    let counted = CountedChanges {
        files: NAMED + 1,
        change: Change::Created,
        folder: "data/".into(),
        from: None,
        ending: Some("csv".into()),
    };
    assert_eq!(outline.counted, [counted]);
}

#[test]
fn what_is_unusual_is_named_with_the_reason() {
    let about = |about: About| FileChange { about, ..created("data/x.csv") };
    let runs_later = Some("runs in every new shell".to_owned());
    let link = Turn { from: None, to: Some("/etc/passwd".into()) };
    for (file, why) in [
        (about(About { runs_later, ..About::default() }), Unusual::RunsLater),
        (about(About { executable: true, ..About::default() }), Unusual::Program),
        (about(About { holds: Some("ELF program".into()), ..About::default() }), Unusual::Program),
        (about(About { target: Some(link), ..About::default() }), Unusual::Link),
        (FileChange::new("data/x.csv", Change::Deleted), Unusual::Deletion),
        (created("data/x.sh"), Unusual::Program),
        (created("data/report.csv.EXE"), Unusual::Program),
        (created("data/.x.csv"), Unusual::Hidden),
        (created("data/x.py"), Unusual::RareEnding),
        (created("data/x"), Unusual::RareEnding),
        (created("data/x\u{202e}vsc.csv"), Unusual::OddName),
        (created("data/ x.csv"), Unusual::OddName),
        (created("data/-rf.csv"), Unusual::OddName),
        (created("data/x.csv\n60 created in data/"), Unusual::OddName),
        (created("data/x  y.csv"), Unusual::OddName),
        (created(r"data/\xff.csv"), Unusual::OddName),
        (created("data/a → b.csv"), Unusual::OddName),
        (created("data/x.csv."), Unusual::OddName),
        (created("data/x."), Unusual::OddName),
        (created(&format!("data/{}.csv", "x".repeat(200))), Unusual::OddName),
        (created("other/x.csv"), Unusual::Alone),
        (created("data/.git/x.csv"), Unusual::Alone),
        (created("x.csv"), Unusual::Alone),
        (FileChange::new("data/x.csv", Change::Changed), Unusual::Alone),
    ] {
        let words = format!("{file:?}");
        assert_eq!(among_tables(file), Some(why), "{words}");
    }
    assert_eq!(among_tables(created("data/x.csv")), None);
    assert_eq!(among_tables(created("data/deep/x.CSV")), None);
    assert_eq!(among_tables(created("data/Höhe 2024 (neu).csv")), None);
}

#[test]
fn a_rename_says_both_folders() {
    let renamed = |from: String, to: String| {
        let about = About { from: Some(from), ..About::default() };
        FileChange { about, ..FileChange::new(to, Change::Renamed) }
    };
    let mut files: Vec<_> =
        (0..60).map(|n| renamed(format!("mine/{n}.csv"), format!("bin/{n}.csv"))).collect();
    files.push(renamed("mine/x.txt".into(), "bin/x.csv".into()));
    files.push(renamed("mine/.x.csv".into(), "bin/y.csv".into()));
    let outline = Outline::of(&files).unwrap();
    let why: Vec<_> = outline.named.iter().map(|one| (one.path.as_str(), one.why)).collect();
    assert_eq!(why, [("bin/x.csv", Unusual::OddName), ("bin/y.csv", Unusual::Hidden)]);
    assert_eq!(outline.counted.len(), 1);
    assert_eq!((outline.counted[0].from.as_deref(), outline.counted[0].files), (Some("mine/"), 60));
}

#[test]
fn a_hidden_folder_is_in_the_row_of_its_group() {
    let mut files = tables(20);
    files.extend((0..40).map(|n| created(&format!("a/.cache/deep/{n}.csv"))));
    let outline = Outline::of(&files).unwrap();
    let folders: Vec<_> = outline.counted.iter().map(|one| one.folder.as_str()).collect();
    assert_eq!(folders, ["a/.cache/", "data/"]);
}

fn change() -> impl Strategy<Value = FileChange> {
    let part = prop_oneof![
        6 => "[a-c]{1,2}",
        1 => "\\.[a-c]{1,2}",
        1 => "[a-c \\-~.\u{202e}\u{200b}\\\\]{1,3}",
    ];
    let ending = prop_oneof![
        8 => Just(".csv".to_owned()),
        2 => Just(".png".to_owned()),
        1 => "\\.(sh|py|[a-z]{1,3}|[.]|)",
        1 => Just(String::new()),
    ];
    let kind = prop_oneof![
        8 => Just(Change::Created), 2 => Just(Change::Changed), 1 => Just(Change::Deleted),
    ];
    (
        prop::collection::vec(part, 1..4),
        ending,
        kind,
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(parts, ending, change, executable, runs)| {
            let runs_later = runs.then(|| "runs".to_owned());
            let about = About { runs_later, executable, ..About::default() };
            FileChange { about, ..FileChange::new(parts.join("/") + &ending, change) }
        })
}

proptest! {
    /// Nothing is applied that was neither named nor is in a group that says all that is unusual
    /// about it.
    #[test]
    fn every_change_is_named_or_counted_with_its_like(files in prop::collection::vec(change(), 0..150)) {
        let mut files = files;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        let Some(outline) = Outline::of(&files) else {
            prop_assert!(files.len() <= NAMED);
            return Ok(());
        };
        let mut left: Vec<usize> = outline.counted.iter().map(|group| group.files).collect();
        let mut named = outline.named.iter().map(|one| one.path.as_str()).collect::<Vec<_>>();
        prop_assert!(named.iter().all(|name| files.iter().any(|file| file.path == *name)));
        named.sort_unstable();
        for file in &files {
            if named.binary_search(&file.path.as_str()).is_ok() {
                continue;
            }
            prop_assert!(file.about.runs_later.is_none() && !file.about.executable, "{file:?}");
            prop_assert!(file.change != Change::Deleted, "{file:?}");
            let ending = file.path.rsplit_once('.').map(|(_, ending)| ending.to_owned());
            let mut groups = outline.counted.iter().zip(&mut left);
            let group = groups.find(|(group, left)| {
                let inside = file.path.strip_prefix(&group.folder);
                let inside = inside.filter(|rest| !group.folder.is_empty() || !rest.contains('/'));
                **left > 0
                    && group.change == file.change
                    && group.ending == ending.clone().filter(|ending| !ending.contains('/'))
                    // Nothing hidden is in the part that the row does not say.
                    && inside.is_some_and(|rest| {
                        !rest.split('/').any(|part| part.starts_with(['.', '-', '~']))
                            && rest.chars().all(is_plain)
                    })
            });
            let Some((_, left)) = group else {
                return Err(TestCaseError::fail(format!("{file:?} in {outline:?}")));
            };
            *left -= 1;
        }
        prop_assert_eq!(left.iter().sum::<usize>(), 0);
    }
}
