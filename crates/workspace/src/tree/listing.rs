//! Differences as a person reads them.
//!
//! A removed folder is one line, whatever was in it. A new folder is a line only if it is empty,
//! because its files imply it. A folder that replaces a file, or the reverse, is two lines. A
//! rename is one line, with both names.

use crate::{
    journal::rename::Rename,
    tree::{relative::Relative, stat::Kind},
};
use interpreter_core::{About, Change, FileChange, LeftOut};
use std::collections::{HashMap, HashSet};

/// The changes made to the person's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The changes, most dangerous first.
    pub files: Vec<FileChange>,
    /// Entries left as they are, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// One path, what it was and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) path: &'a Relative,
    pub(crate) before: Option<Kind>,
    pub(crate) after: Option<Kind>,
}

/// The lines for `differences`, which are sorted by path, with `renames` among them.
pub(crate) fn list<'a>(
    differences: impl IntoIterator<Item = Difference<'a>>,
    renames: &'a [Rename],
) -> Vec<FileChange> {
    let origins: HashMap<_, _> = renames.iter().map(|one| (&one.to, &one.from)).collect();
    let moved: HashSet<_> = renames.iter().map(|one| &one.from).collect();
    let mut files = Vec::new();
    let mut gone: Option<&Relative> = None;
    let mut differences = differences.into_iter().peekable();
    while let Some(Difference { path, before, after }) = differences.next() {
        if gone.is_some_and(|gone| path.is_within(gone)) {
            continue;
        }
        let line = |kind: Kind, change| {
            let end = if kind == Kind::Folder { "/" } else { "" };
            FileChange::new(path.text() + end, change)
        };
        let is_folder = |kind: Option<Kind>| kind == Some(Kind::Folder);
        if is_folder(before) && !is_folder(after) {
            gone = Some(path);
        }
        if moved.contains(path) && after.is_none() {
            continue;
        }
        if let (None, Some(kind), Some(from)) = (before, after, origins.get(path)) {
            let mut told = line(kind, Change::Renamed);
            let end = if kind == Kind::Folder { "/" } else { "" };
            told.about = About { from: Some(from.text() + end), ..About::default() };
            files.push(told);
            // Its contents moved with it.
            gone = is_folder(after).then_some(path);
            continue;
        }
        if let (Some(_), Some(kind)) = (before, after)
            && is_folder(before) == is_folder(after)
        {
            files.push(line(kind, Change::Changed));
            continue;
        }
        if let Some(kind) = before {
            files.push(line(kind, Change::Deleted));
        }
        let told_by_content =
            is_folder(after) && differences.peek().is_some_and(|next| next.path.is_within(path));
        if let Some(kind) = after
            && !told_by_content
        {
            files.push(line(kind, Change::Created));
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_by_what_is_in_them() {
        let (file, folder) = (Some(Kind::File), Some(Kind::Folder));
        let rows = [
            ("empty", None, folder),
            ("gone", folder, None),
            ("gone/inside", file, None),
            ("new", None, folder),
            ("new/inside", None, file),
            ("was-file", file, folder),
            ("was-folder", folder, file),
            ("was-folder/inside", file, None),
            ("z", file, Some(Kind::Symlink)),
        ]
        .map(|(path, before, after)| (Relative::parse(path).unwrap(), before, after));
        let differences = rows.iter().map(|(path, before, after)| Difference {
            path,
            before: *before,
            after: *after,
        });
        let lines: Vec<_> = list(differences, &[])
            .into_iter()
            .map(|file| format!("{} {}", file.change.word(), file.path))
            .collect();
        assert_eq!(
            lines,
            [
                "created empty/",
                "deleted gone/",
                "created new/inside",
                "deleted was-file",
                "created was-file/",
                "created was-folder",
                "deleted was-folder/",
                "changed z",
            ]
        );
    }
}
