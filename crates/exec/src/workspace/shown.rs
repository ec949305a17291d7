//! What a person was shown, so that it alone is applied.
//!
//! # Threat
//! A process left in the background that changes a file between the moment a person looks at it
//! and the moment they say yes.
//!
//! # Mechanism
//! A fingerprint over every path, its kind, its bits and its content. It is taken when the changes
//! are shown, and taken again of the very copies that would be put in place, before they are.
//!
//! # Limits
//! The diff is drawn a moment after the fingerprint. If something changes in between, the two
//! differ, and applying is refused.

use super::{
    content,
    folder::Walker,
    journal::Entry,
    node::{Node, Shape},
    plan::Planned,
    stat::Kind,
};
use interpreter_core::{FileChange, LeftOut, hash::sha256};
use std::{fmt::Write, io};

/// What a person was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The changes, sorted by path.
    pub files: Vec<FileChange>,
    /// What would be left as it is.
    pub left_out: Vec<LeftOut>,
    pub(super) fingerprint: String,
}

/// The fingerprint of what waits in the upper layer.
pub(super) fn of_layer(upper: &mut Walker<'_>, planned: &[Planned]) -> io::Result<String> {
    let mut text = String::new();
    for one in planned {
        let Some(stat) = one.after else { continue };
        let parent = upper.at(one.path.parent())?;
        let name = one.path.name();
        let (shape, stat) = match stat.kind {
            Kind::File => {
                let (file, stat) = parent.open_file(name)?;
                let read = content::hash(&file, stat.size)?;
                (Shape::File { size: read.size, hash: read.hash }, stat)
            }
            Kind::Symlink => (Shape::of_link(parent, name)?, stat),
            Kind::Folder => (Shape::Folder, stat),
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => continue,
        };
        let node = Node::taken_over(shape, &stat, one.before.as_ref());
        describe(&mut text, &one.path.text(), &node);
    }
    Ok(sha256(text.as_bytes()))
}

/// The fingerprint of copies that are ready to be put in place.
pub(super) fn of_copies(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if let Some(node) = &entry.after {
            describe(&mut text, &entry.path.text(), node);
        }
    }
    sha256(text.as_bytes())
}

fn describe(text: &mut String, path: &str, node: &Node) {
    // Debug form: quoted, so that no name can look like the end of one and the start of another.
    // Writing to a string cannot fail.
    _ = writeln!(text, "{path:?} {:?} {:o}", node.shape, node.mode);
}

#[cfg(test)]
mod tests {
    use super::super::{Conflict, WorkspaceError, scene::Scene};
    use rustix::fs::{CWD, Mode, mkfifoat};

    #[test]
    fn what_was_shown_is_applied() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x"), ("c/d", "x")]);
        scene.writes("a", "new").deletes("b").deletes("c").writes("n/m", "y").writes("l", "-> a");
        let shown = scene.set.review().unwrap();
        assert_eq!(shown.files, scene.set.changes().unwrap());
        scene.set.apply_shown(&shown, Conflict::Refuse).unwrap();
        assert_eq!((scene.reads("a"), scene.reads("n/m")), ("new".into(), "y".into()));
    }

    #[test]
    fn what_cannot_be_applied_does_not_keep_the_rest_from_it() {
        let mut scene = Scene::new(&[("a", "old")]);
        mkfifoat(CWD, scene.work.join("pipe"), Mode::RWXU).unwrap();
        mkfifoat(CWD, scene.work.join("other"), Mode::RWXU).unwrap();
        scene.writes("a", "new").deletes("pipe").writes("other/in", "x");
        mkfifoat(CWD, scene.set.upper().join("made"), Mode::RWXU).unwrap();
        let shown = scene.set.review().unwrap();
        let left: Vec<_> = shown.left_out.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(left, ["made", "other", "other/in", "pipe"]);
        let applied = scene.set.apply_shown(&shown, Conflict::Refuse).unwrap();
        assert_eq!((applied.files, applied.left_out), (shown.files, shown.left_out));
        assert_eq!(scene.reads("a"), "new");
    }

    #[test]
    fn what_changed_after_it_was_shown_is_not() {
        let mut scene = Scene::new(&[("a", "old"), ("b", "x")]);
        scene.writes("a", "new");
        for trick in ["content", "another", "deleted"] {
            let shown = scene.set.review().unwrap();
            match trick {
                "content" => scene.writes("a", "evil"),
                "another" => scene.writes("extra", "evil"),
                _ => scene.deletes("b"),
            };
            let refused = scene.set.apply_shown(&shown, Conflict::Refuse);
            assert!(
                matches!(refused, Err(WorkspaceError::ChangedSinceShown { .. })),
                "{trick}: {refused:?}"
            );
            assert_eq!((scene.reads("a"), scene.reads("b")), ("old".into(), "x".into()));
        }
        let shown = scene.set.review().unwrap();
        scene.set.apply_shown(&shown, Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "evil");
    }
}
