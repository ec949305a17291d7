//! Lists of changed files, the most dangerous first, counted by folder where they are long.
//!
//! Pure. Every file is on a row of its own or counted in one that names its folder: nothing is
//! left out. A row that counts begins with a number and a row that names with what was done, so
//! that no name can pass for the other.

use interpreter_core::{
    Danger, FileChange,
    outline::{CountedChanges, Outline},
};
use std::collections::HashMap;

/// Rows of each half of a long list that is shown in passing.
const IN_PASSING: usize = 50;

/// The rows of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<String>,
    /// How many files are only counted.
    pub(crate) folded: usize,
}

/// Every file on a row of its own.
pub(crate) fn whole<'a>(files: impl IntoIterator<Item = &'a FileChange>) -> Listing {
    let files: Vec<_> = files.into_iter().collect();
    let mut listing = Listing::default();
    let groups: Vec<_> = Danger::ALL
        .map(|danger| (danger, files.iter().filter(|file| file.danger() == danger).collect()))
        .into_iter()
        .filter(|(_, group): &(Danger, Vec<&&FileChange>)| !group.is_empty())
        .collect();
    for (danger, group) in &groups {
        // That new files are new needs no heading.
        if groups.len() > 1 || *danger != Danger::New {
            listing.rows.push(format!("{}:", danger.heading()));
        }
        listing.rows.extend(group.iter().map(|file| row(file)));
    }
    listing
}

/// Every file on a row of its own if there are few. Of many, the first that stand out are named and
/// the others counted: for a list that is shown in passing.
pub(crate) fn short(files: &[FileChange]) -> Listing {
    let Some(outline) = Outline::of(files) else { return whole(files) };
    let unnamed = outline.named.len().saturating_sub(IN_PASSING);
    let cut =
        Outline { named: outline.named.iter().take(IN_PASSING).cloned().collect(), ..outline };
    let mut listing = outlined(files, &cut);
    if unnamed > 0 {
        let at = listing.rows.len() - cut.counted.len();
        listing.rows.insert(at, format!("{unnamed} more that stand out"));
    }
    let groups = cut.counted.len().saturating_sub(IN_PASSING);
    if groups > 0 {
        let files: usize = cut.counted[IN_PASSING..].iter().map(|group| group.files).sum();
        listing.rows.truncate(listing.rows.len() - groups);
        listing.rows.push(format!("{files} more in {groups} groups"));
    }
    listing.folded = files.len() - cut.named.len();
    listing
}

/// Everything that an outline of `files` names or counts.
pub(crate) fn outlined<'a>(
    files: impl IntoIterator<Item = &'a FileChange>,
    outline: &Outline,
) -> Listing {
    let by_path: HashMap<_, _> = files.into_iter().map(|file| (file.path.as_str(), file)).collect();
    let mut listing = Listing { rows: Vec::new(), folded: outline.count() };
    let mut last = None;
    for named in &outline.named {
        let Some(file) = by_path.get(named.path.as_str()) else { continue };
        if last != Some(named.why) {
            last = Some(named.why);
            listing.rows.push(format!("{}:", named.why.heading()));
        }
        listing.rows.push(row(file));
    }
    listing.rows.extend(outline.counted.iter().map(counted));
    listing
}

/// Changes that are like each other, on a row.
fn counted(group: &CountedChanges) -> String {
    let CountedChanges { files, change, folder, from, ending } = group;
    let place = |folder: &str| match folder {
        "" => "this folder".to_owned(),
        folder => folder.to_owned(),
    };
    let kind = match ending.as_deref() {
        None => "no ending".to_owned(),
        Some("/") => "folders".to_owned(),
        Some(ending) => format!(".{ending}"),
    };
    let word = change.word();
    match from {
        Some(from) => format!("{files} {word} from {} to {} ({kind})", place(from), place(folder)),
        None => format!("{files} {word} in {} ({kind})", place(folder)),
    }
}

/// One change, on a row.
pub(super) fn row(file: &FileChange) -> String {
    let (subject, details) = (file.subject(), file.details());
    let details = if details.is_empty() { details } else { format!(" ({details})") };
    format!("{:<8} {subject}{details}", file.change.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{About, Change, outline::NAMED};
    use proptest::prelude::*;

    fn created(path: &str) -> FileChange {
        FileChange::new(path, Change::Created)
    }

    #[test]
    fn up_to_fifty_files_are_all_named() {
        let listing = short(&[created("a"), created("b/c")]);
        assert_eq!(listing.rows, ["created  a", "created  b/c"]);
        assert_eq!(listing.folded, 0);
        let files: Vec<_> = (0..NAMED).map(|n| created(&format!("filler/{n}"))).collect();
        assert_eq!((short(&files).rows.len(), short(&files).folded), (NAMED, 0));
    }

    #[test]
    fn sixty_files_do_not_hide_one_that_stands_out() {
        let mut files: Vec<_> = (0..60).map(|n| created(&format!("filler/{n}"))).collect();
        files.push(created("note.txt"));
        files.push(created("filler/.x"));
        files.push(created("filler/run.sh"));
        files.push(created("60 created in filler"));
        let about = About { runs_later: Some("runs at installation".into()), ..About::default() };
        files.push(FileChange { about, ..created("setup.py") });
        FileChange::sort_by_danger(&mut files);
        let listing = short(&files);
        assert_eq!(
            listing.rows,
            [
                "runs automatically later:",
                "created  setup.py (runs at installation)",
                "programs and scripts:",
                "created  filler/run.sh",
                "hidden:",
                "created  filler/.x",
                "rare endings:",
                "created  note.txt",
                "others by name:",
                "created  60 created in filler",
                "60 created in filler/ (no ending)",
            ]
        );
        assert_eq!(listing.folded, 60);
        assert_eq!(whole(&files).rows.len(), 67);
    }

    #[test]
    fn a_list_told_in_passing_is_bounded_and_counts_the_rest() {
        let mut files: Vec<_> = (0..90).map(|n| created(&format!("x/.{n}"))).collect();
        for folder in 0..60 {
            files.extend((0..4).map(|n| created(&format!("f{folder:02}/{n}.csv"))));
        }
        let listing = short(&files);
        assert_eq!(listing.rows.len(), 1 + IN_PASSING + 1 + IN_PASSING + 1);
        assert_eq!(listing.rows[IN_PASSING + 1], "40 more that stand out");
        assert_eq!(listing.rows.last().unwrap(), "40 more in 10 groups");
        assert_eq!(listing.folded, 40 + 240);
        let all = outlined(&files, &Outline::of(&files).unwrap());
        assert_eq!((all.rows.len(), all.folded), (1 + 90 + 60, 240));
    }

    proptest! {
        #[test]
        fn every_file_is_named_or_counted(paths in prop::collection::hash_set("[a-z]{1,2}(/[a-z]{1,2}){0,2}", 0..300)) {
            let files: Vec<_> = paths.iter().map(|path| created(path)).collect();
            let listing = short(&files);
            let named = listing.rows.iter().filter(|row| row.starts_with("created "));
            prop_assert_eq!(named.count() + listing.folded, files.len());
        }
    }
}
