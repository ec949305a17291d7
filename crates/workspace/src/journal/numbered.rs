//! The hunks that a person was shown of a set whose session is over.
//!
//! # Threat
//! A number that means other lines than the person saw: after some hunks were applied the rest have
//! other numbers, and so they have after the person or another program wrote to the file.
//!
//! # Mechanism
//! A diff notes in the set the hash of the hunks of each file that it numbered. Whoever then picks
//! hunks by number gets them only if they are still the same.

use crate::{
    error::WorkspaceError,
    place::{Lasting, Place},
    tree::diff::ChangeText,
};
use interpreter_core::hash::sha256;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

const FILE: &str = "numbered.json";

/// Files whose hunks were shown, each with the hash of these.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NumberedHunks {
    files: BTreeMap<String, String>,
}

impl NumberedHunks {
    /// Those that are noted in the set's folder. If that cannot be read, none was shown.
    pub(crate) fn noted(place: &Place, folder: &Path) -> Self {
        place.read(&folder.join(FILE)).ok().flatten().unwrap_or_default()
    }

    /// Notes them there.
    pub(crate) fn note(&self, place: &Place, folder: &Path) -> Result<(), WorkspaceError> {
        place.write(&folder.join(FILE), self, Lasting::Whole)
    }

    /// These were shown.
    pub(crate) fn add(&mut self, texts: &[ChangeText]) {
        for one in texts.iter().filter(|one| !one.hunks.is_empty()) {
            self.files.insert(one.path.text(), hash(&one.hunks));
        }
    }

    /// Whether a file was shown with these hunks.
    pub(crate) fn has(&self, path: &str, hunks: &[String]) -> bool {
        self.files.get(path) == Some(&hash(hunks))
    }
}

/// Each hunk begins with its number and its lines, so their texts need nothing between them.
fn hash(hunks: &[String]) -> String {
    sha256(hunks.concat().as_bytes())
}

#[cfg(test)]
mod tests {
    use crate::{Conflict, WorkspaceError, scene::Scene};
    use interpreter_core::{Extent, Pick, Redactor, outline::ApplyOrder};

    /// Forty lines, of which those of these numbers are changed.
    fn text(changed: &[usize]) -> String {
        let mark = |number| if changed.contains(&number) { " changed" } else { "" };
        let line = |number: usize| format!("line {number}{}\n", mark(number));
        (0..40).map(line).collect()
    }

    fn apply(scene: &mut Scene, name: &str, number: usize) -> Result<(), WorkspaceError> {
        let pick = Pick { path: name.into(), extent: Extent::Hunks([number].into()) };
        let review = scene.set.review_by_number(&[name.to_owned()], &Redactor::default())?;
        scene.set.apply_review(&review, &ApplyOrder::of([pick]), Conflict::Refuse).map(drop)
    }

    #[track_caller]
    fn refused(scene: &mut Scene, name: &str, number: usize) {
        let before = scene.holds();
        let error = apply(scene, name, number);
        assert!(matches!(error, Err(WorkspaceError::HunksNotShown { .. })), "{error:?}");
        assert_eq!(scene.holds(), before);
    }

    #[test]
    fn a_number_means_the_lines_that_were_shown_or_nothing() {
        let mut scene = Scene::new(&[("a", &text(&[])), ("b", &text(&[]))]);
        scene.writes("a", &text(&[2, 20, 35])).writes("b", &text(&[2, 20]));
        // Nothing has been shown, and then another file.
        refused(&mut scene, "a", 1);
        scene.set.diff(&["b".into()]).unwrap();
        refused(&mut scene, "a", 1);
        scene.set.diff(&[]).unwrap();
        apply(&mut scene, "a", 1).unwrap();
        assert_eq!(scene.reads("a"), text(&[2]));
        // The hunk that was shown as 3 is 2 now.
        refused(&mut scene, "a", 2);
        // The other file is as it was shown, also for whoever comes later.
        let mut scene = scene.reopen();
        apply(&mut scene, "b", 2).unwrap();
        assert_eq!(scene.reads("b"), text(&[20]));
        scene.set.diff(&["a".into()]).unwrap();
        apply(&mut scene, "a", 2).unwrap();
        assert_eq!(scene.reads("a"), text(&[2, 35]));
    }

    #[test]
    fn what_changes_after_it_was_shown_has_no_numbers() {
        let mut scene = Scene::new(&[("a", &text(&[]))]);
        scene.writes("a", &text(&[2, 20]));
        scene.set.diff(&[]).unwrap();
        // A process that outlived its session.
        scene.writes("a", &text(&[2, 20]).replace("20 changed", "20 evil"));
        refused(&mut scene, "a", 2);
        // Another program edits the note.
        scene.set.diff(&[]).unwrap();
        let note = scene.set.folder.join(super::FILE);
        let edited = fs_err::read_to_string(&note).unwrap().replace("\"a\"", "\"b\"");
        fs_err::write(&note, edited).unwrap();
        refused(&mut scene, "a", 2);
        // The control.
        scene.set.diff(&[]).unwrap();
        apply(&mut scene, "a", 1).unwrap();
        assert_eq!(scene.reads("a"), text(&[2]));
    }
}
