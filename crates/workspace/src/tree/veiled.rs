//! Changes that nobody can see whole: the value of a known secret is masked in their text.
//!
//! They stay staged when everything is applied, and are applied if they are named themselves: whoever
//! names one has been told that a part of it is masked.
//!
//! Must decide by the very text that is drawn, and by nothing else.

use crate::tree::{diff::ChangeText, relative::Relative, selection::Chosen};
use interpreter_core::{
    FileChange, LeftOut, Pick, Redactor,
    redact::{Scope, named},
};
use std::collections::BTreeMap;

/// The veiled changes of a snapshot, by their paths.
#[derive(Debug, Default)]
pub(crate) struct Veiled {
    /// Why each is withheld. The path of a rename is the new one.
    why: BTreeMap<Relative, LeftOut>,
    /// The old paths of renames, with the new ones.
    renamed: BTreeMap<Relative, Relative>,
    /// Everything that there is to decide on, if something is veiled.
    pub(crate) files: Vec<FileChange>,
}

impl Veiled {
    /// Those in whose text a value is masked.
    pub(crate) fn among(texts: &[ChangeText], redactor: &Redactor) -> Self {
        let mut veiled = Self::default();
        for text in texts {
            let parts = std::iter::once(&text.head).chain(&text.hunks);
            let mut masked: Vec<_> = parts.flat_map(|part| redactor.masks(part)).collect();
            masked.sort();
            masked.dedup();
            if masked.is_empty() {
                continue;
            }
            veiled.add(text.path.clone(), &masked, redactor);
            if let Some(from) = &text.from {
                veiled.renamed.insert(from.clone(), text.path.clone());
            }
        }
        veiled
    }

    /// Adds those in whose own names a value is masked, such as a folder around others.
    pub(crate) fn with_names<'a>(
        mut self,
        paths: impl Iterator<Item = &'a Relative>,
        redactor: &Redactor,
    ) -> Self {
        for path in paths {
            let masked = redactor.masks(&path.text());
            if !masked.is_empty() {
                self.add(path.clone(), &masked, redactor);
            }
        }
        self
    }

    /// With everything that there is to decide on.
    pub(crate) fn of(mut self, files: &[FileChange]) -> Self {
        if !self.is_empty() {
            self.files = files.to_vec();
        }
        self
    }

    fn add(&mut self, path: Relative, masked: &[String], redactor: &Redactor) {
        let named = named(masked);
        let why = format!("the value of {named} stands in it, and is masked; name it to apply it");
        let shown = redactor.text(&path.text(), Scope::Known).into_owned();
        self.why.insert(path, LeftOut { path: shown, why, masked: masked.to_vec() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.why.is_empty()
    }

    /// All of them, with the reason.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        self.why.values().cloned().collect()
    }

    /// The chosen changes, without those of them that no pick names.
    pub(crate) fn withheld_from<'a>(&self, mut chosen: Chosen<'a>, picks: &[Pick]) -> Chosen<'a> {
        if self.is_empty() {
            return chosen;
        }
        let named: Vec<_> = picks.iter().filter_map(|one| Relative::parse(&one.path)).collect();
        let mut withheld = Vec::new();
        // Everything below a folder that is veiled, or was renamed, goes with it.
        let mut is_kept = |path: &Relative| {
            path.ancestors().chain([path.clone()]).fold(true, |is_kept, place| {
                let new = self.renamed.get(&place).unwrap_or(&place);
                let Some(why) = self.why.get(new) else { return is_kept };
                // A folder in whose name the same values are names what is in it.
                let covers = |one: &Relative| {
                    let of_folder = &self.why.get(one)?.masked;
                    let masks = |name| of_folder.contains(name);
                    Some(new.is_within(one) && why.masked.iter().all(masks))
                };
                let is_named = named.iter().any(|one| {
                    one == new
                        || (one.is_within(&place) && path.is_within(one))
                        || covers(one) == Some(true)
                });
                if !is_named {
                    withheld.push(why.clone());
                }
                is_kept && is_named
            })
        };
        chosen.renames.retain(|rename| is_kept(&rename.to));
        chosen.deltas.retain(|delta| is_kept(&delta.path));
        chosen.left_out.extend(withheld);
        chosen.left_out.sort();
        chosen.left_out.dedup();
        chosen
    }
}

#[cfg(test)]
mod tests {
    use crate::{Conflict, scene::Scene};
    use interpreter_core::{Pick, Redactor, Secret, outline::ApplyOrder};

    const VALUE: &str = "tok-Zq8-Wx3-Lm5-vB7nK";

    fn redactor() -> Redactor {
        Redactor::of_shapes().knowing([("API_TOKEN", &Secret::new(VALUE.into()))])
    }

    /// Staged files of which some hold the value: in a line, in a name, in the name of a folder, in
    /// the target of a link, next to a changed line, and in a new name of a file.
    fn staged() -> Scene {
        let scene = Scene::new(&[
            ("conf", &format!("key={VALUE}\nport=1\n")),
            ("moves", "much the same content as there was\n"),
        ]);
        scene.writes("plain", "nothing\n").writes("line", &format!("a\nb {VALUE}\n"));
        scene.writes(&format!("{VALUE}.txt"), "x").writes(&format!("d-{VALUE}/in"), "x");
        scene
            .writes("link", &format!("-> {VALUE}"))
            .writes("conf", &format!("key={VALUE}\nport=2\n"));
        scene
            .deletes("moves")
            .writes(&format!("moved-{VALUE}"), "much the same content as there was\n");
        scene
    }

    #[test]
    fn a_change_that_is_masked_is_withheld_until_it_is_named() {
        let mut scene = staged();
        let shown = scene.set.review_of(&[], (), &redactor()).unwrap();
        let files: Vec<_> = shown.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["plain"]);
        let left_out: Vec<_> = shown.left_out.iter().map(|one| one.path.as_str()).collect();
        let masked = "[secret:API_TOKEN]";
        let mut expected = vec![
            format!("{masked}.txt"),
            "conf".into(),
            format!("d-{masked}/"),
            format!("d-{masked}/in"),
            "line".into(),
            "link".into(),
            format!("moved-{masked}"),
        ];
        for path in &mut expected {
            *path = path.trim_end_matches('/').to_owned();
        }
        let mut told: Vec<_> = left_out.iter().map(|path| path.trim_end_matches('/')).collect();
        told.sort_unstable();
        expected.sort();
        assert_eq!(told, expected);
        assert!(shown.left_out[0].why.contains("`API_TOKEN`"), "{:?}", shown.left_out[0]);
        assert!(shown.left_out.iter().all(|one| one.masked == ["API_TOKEN"]));
        // It can be looked at all the same, and the diff says what is left out.
        let diff = scene.set.diff_of(&shown).unwrap();
        assert!(diff.raw().contains("+port=2") && diff.raw().contains("left out conf:"));
        scene.set.apply_review(&shown, &ApplyOrder::default(), Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("plain"), "nothing\n");
        assert!(scene.reads("conf").contains("port=1"), "it is not applied with the rest");
        assert_eq!(scene.reads("moves"), "much the same content as there was\n");
        // A folder names what is in it, if no other value is masked there.
        let shown = scene.set.review_of(&[], (), &redactor()).unwrap();
        let folder = Pick::below(format!("d-{VALUE}"));
        for pick in [Pick::below("conf"), Pick::below("line"), folder] {
            scene.set.apply_review(&shown, &ApplyOrder::of([pick]), Conflict::Refuse).unwrap();
        }
        assert!(scene.reads("conf").contains("port=2") && scene.reads("line").contains(VALUE));
        assert_eq!(scene.reads(&format!("d-{VALUE}/in")), "x");
    }

    #[test]
    fn without_known_values_nothing_is_withheld() {
        let scene = staged();
        let shown = scene.set.review_of(&[], (), &Redactor::of_shapes()).unwrap();
        assert!(shown.left_out.is_empty() && shown.files.len() > 6, "{:?}", shown.files);
    }
}
