//! Lists of changed files, the most dangerous first, folded by folder where they are long.
//!
//! Pure. Every file is on a row of its own or counted in one that names its folder: nothing is
//! left out.

use interpreter_core::{Change, Danger, FileChange};
use std::collections::BTreeMap;

/// Rows up to which every file has one of its own.
const FOLDED_BEYOND: usize = 30;

/// Folders that are named in a folded list.
const FOLDERS: usize = 100;

/// The rows of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<String>,
    /// How many files are only counted.
    pub(crate) folded: usize,
}

/// Every file on a row of its own.
pub(crate) fn whole(files: &[FileChange]) -> Listing {
    list(files, usize::MAX)
}

/// Every file on a row of its own if there are few, and otherwise folded by folder. Files that run
/// by themselves later are folded last.
pub(crate) fn short(files: &[FileChange]) -> Listing {
    if files.len() <= FOLDED_BEYOND { whole(files) } else { list(files, FOLDED_BEYOND) }
}

fn list(files: &[FileChange], most: usize) -> Listing {
    let mut listing = Listing::default();
    let groups: Vec<_> = Danger::ALL
        .map(|danger| (danger, files.iter().filter(|file| file.danger() == danger).collect()))
        .into_iter()
        .filter(|(_, group): &(Danger, Vec<&FileChange>)| !group.is_empty())
        .collect();
    for (danger, group) in &groups {
        // That new files are new needs no heading.
        if groups.len() > 1 || *danger != Danger::New {
            listing.rows.push(format!("{}:", danger.heading()));
        }
        if group.len() <= most.saturating_sub(listing.rows.len()).max(3) {
            listing.rows.extend(group.iter().map(|file| row(file)));
        } else {
            listing.fold(group);
        }
    }
    listing
}

impl Listing {
    /// Adds a row for each kind of change in each folder.
    fn fold(&mut self, group: &[&FileChange]) {
        let mut folders: BTreeMap<(&str, Change), Vec<&FileChange>> = BTreeMap::new();
        for file in group {
            let folder = file.path.split_once('/').map_or("", |(folder, _)| folder);
            folders.entry((folder, file.change)).or_default().push(file);
        }
        let (mut more, mut unnamed) = (0, 0);
        for (at, ((folder, change), files)) in folders.into_iter().enumerate() {
            if let ([file], true) = (files.as_slice(), at < FOLDERS) {
                self.rows.push(row(file));
                continue;
            }
            self.folded += files.len();
            if at >= FOLDERS {
                more += 1;
                unnamed += files.len();
                continue;
            }
            let place = if folder.is_empty() { "here".to_owned() } else { format!("{folder}/") };
            self.rows.push(format!("{:<8} {place}  {} files", change.word(), files.len()));
        }
        if more > 0 {
            self.rows.push(format!("and {unnamed} files in {more} more folders"));
        }
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
    use interpreter_core::About;
    use proptest::prelude::*;

    fn created(path: &str) -> FileChange {
        FileChange::new(path, Change::Created)
    }

    #[test]
    fn few_files_are_all_named() {
        let listing = short(&[created("a"), created("b/c")]);
        assert_eq!(listing.rows, ["created  a", "created  b/c"]);
        assert_eq!(listing.folded, 0);
    }

    #[test]
    fn forty_files_do_not_hide_one_that_runs_by_itself() {
        let mut files: Vec<_> = (0..40).map(|n| created(&format!("filler/{n}"))).collect();
        files.push(created("note.txt"));
        let about = About { runs_later: Some("runs at installation".into()), ..About::default() };
        files.push(FileChange { about, ..created("setup.py") });
        FileChange::sort_by_danger(&mut files);
        let listing = short(&files);
        assert_eq!(
            listing.rows,
            [
                "runs automatically later:",
                "created  setup.py (runs at installation)",
                "new:",
                "created  note.txt",
                "created  filler/  40 files",
            ]
        );
        assert_eq!(listing.folded, 40);
        assert_eq!(whole(&files).rows.len(), 44);
    }

    proptest! {
        #[test]
        fn every_file_is_named_or_counted(paths in prop::collection::hash_set("[a-z]{1,2}(/[a-z]{1,2}){0,2}", 0..300)) {
            let files: Vec<_> = paths.iter().map(|path| created(path)).collect();
            let listing = short(&files);
            let named = listing.rows.iter().filter(|row| {
                row.starts_with("created ") && !row.ends_with(" files")
            });
            prop_assert_eq!(named.count() + listing.folded, files.len());
            prop_assert!(listing.rows.len() <= FOLDED_BEYOND.max(FOLDERS + 2));
        }
    }
}
