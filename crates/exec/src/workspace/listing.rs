//! Differences as a person reads them.
//!
//! A folder that is gone is one line, whatever was in it. A folder that is new is a line only if
//! nothing in it is: its files say that it is there. Where a folder takes the place of a file, or
//! a file that of a folder, there are two lines.

use super::{relative::Relative, stat::Kind};
use interpreter_core::{Change, FileChange};

/// What happened to the person's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// What changed, sorted by path.
    pub files: Vec<FileChange>,
    /// What was left as it is, and why. Both name paths that programs chose.
    pub skipped: Vec<(String, String)>,
}

/// One path, what it was and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference<'a> {
    /// Where.
    pub(super) path: &'a Relative,
    /// What was there.
    pub(super) before: Option<Kind>,
    /// What is there.
    pub(super) after: Option<Kind>,
}

/// The lines for `differences`, which are sorted by path.
pub(super) fn list<'a>(differences: impl IntoIterator<Item = Difference<'a>>) -> Vec<FileChange> {
    let mut files = Vec::new();
    let mut gone: Option<&Relative> = None;
    let mut differences = differences.into_iter().peekable();
    while let Some(Difference { path, before, after }) = differences.next() {
        if gone.is_some_and(|gone| path.is_within(gone)) {
            continue;
        }
        let line = |kind: Kind, change| {
            let end = if kind == Kind::Folder { "/" } else { "" };
            FileChange { path: path.text() + end, change }
        };
        let is_folder = |kind: Option<Kind>| kind == Some(Kind::Folder);
        if is_folder(before) && !is_folder(after) {
            gone = Some(path);
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
        let lines: Vec<_> = list(differences)
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
