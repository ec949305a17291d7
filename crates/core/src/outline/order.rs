//! An order to apply staged changes, and whether it may reach so many of them.
//!
//! # Threat
//! One word for hundreds of files, from a client that has shown none of them: a program that answers
//! `apply` to every question, a page that draws a number.
//!
//! # Mechanism
//! An order that reaches more than [`NAMED`](super::NAMED) changes must carry the hash of an outline
//! that was shown for them: of the whole list, of the part that was looked at, of what the picks may
//! mean, or of exactly these changes. [`ApplyOrder::check`] alone decides that. An answer goes through it before its question
//! closes, and every order goes through it where files are written, with the changes that are about
//! to be. Pure.
//!
//! # Limits
//! A program can send the hash back and show nothing. It then says that it has shown the outline, and
//! the record has that.

use super::{NAMED, Outline};
use crate::{FileChange, Pick, pick::is_at_or_below};
use std::collections::HashSet;

/// An order to apply changes, with the outline that was shown before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyOrder {
    /// The changes; all of them without any.
    pub picks: Vec<Pick>,
    /// The outline, if one was shown.
    pub seen: Option<SeenOutline>,
}

/// An outline that was shown before a decision, as the decision names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenOutline {
    /// Its hash.
    pub hash: String,
    /// The path that was looked at, if it is not the outline of everything.
    pub below: Option<String>,
}

/// Why an order for many changes is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutlineUnseen {
    /// It names no outline.
    #[error("more than {} changes are applied only by a decision that names their outline", NAMED)]
    NotNamed,
    /// It names another one.
    #[error("the outline that the decision names is not that of these changes")]
    Another,
}

impl SeenOutline {
    /// The outline of everything that was listed.
    pub fn of_all(hash: impl Into<String>) -> Self {
        Self { hash: hash.into(), below: None }
    }

    /// The outline of these changes, if they are so many that they have one.
    pub fn of<'a>(files: impl Iterator<Item = &'a FileChange> + Clone) -> Option<Self> {
        Outline::of_some(files).map(|outline| Self::of_all(outline.hash))
    }
}

impl ApplyOrder {
    /// An order for these changes, none of which needs an outline unless they are many.
    pub fn of(picks: impl Into<Vec<Pick>>) -> Self {
        Self { picks: picks.into(), seen: None }
    }

    /// The changes of a list that it is for, as far as its paths are written as the list writes
    /// them.
    pub fn changes<'a>(&self, listed: &'a [FileChange]) -> Vec<&'a FileChange> {
        let is_meant = |file: &&FileChange| {
            self.picks.is_empty() || self.picks.iter().any(|pick| pick.takes(file))
        };
        listed.iter().filter(is_meant).collect()
    }

    /// Refuses to apply the changes that it reaches, if they are many and no outline of them was
    /// shown. `listed` is everything that was there to decide on.
    pub fn check(
        &self,
        reached: &[&FileChange],
        listed: &[FileChange],
    ) -> Result<(), OutlineUnseen> {
        let Some(exact) = Outline::of_some(reached.iter().copied()) else { return Ok(()) };
        let Some(SeenOutline { hash, below }) = &self.seen else {
            return Err(OutlineUnseen::NotNamed);
        };
        if exact.hash == *hash {
            return Ok(());
        }
        let is_shown = |file: &&FileChange| {
            below.as_deref().is_none_or(|above| is_at_or_below(&file.path, above))
        };
        let part: Vec<_> = listed.iter().filter(is_shown).collect();
        let covers = |shown: &[&FileChange]| {
            let outline = Outline::of_some(shown.iter().copied());
            outline.is_some_and(|outline| outline.hash == *hash)
                && self.is_within(reached, shown, listed)
        };
        let is_shown = covers(&part) || covers(&Pick::meant(&self.picks, listed));
        is_shown.then_some(()).ok_or(OutlineUnseen::Another)
    }

    /// Whether all that is reached was shown. A change that is withheld is on no list, so whoever
    /// wants it has named it.
    fn is_within(
        &self,
        reached: &[&FileChange],
        shown: &[&FileChange],
        listed: &[FileChange],
    ) -> bool {
        let shown: HashSet<_> = shown.iter().map(|file| file.path.as_str()).collect();
        let listed: HashSet<_> = listed.iter().map(|file| file.path.as_str()).collect();
        reached.iter().all(|file| {
            let path = file.path.as_str();
            let is_named = || self.picks.iter().any(|pick| pick.takes(file));
            shown.contains(path) || (!listed.contains(path) && is_named())
        })
    }
}

impl OutlineUnseen {
    /// Whether a message is one of these.
    pub fn is_said_by(message: &str) -> bool {
        [Self::NotNamed, Self::Another].iter().any(|one| one.to_string() == message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Extent};
    use proptest::prelude::*;

    fn created(path: String) -> FileChange {
        FileChange::new(path, Change::Created)
    }

    fn tables(folder: &str, count: usize) -> Vec<FileChange> {
        (0..count).map(|n| created(format!("{folder}/{n:03}.csv"))).collect()
    }

    fn itself(file: &FileChange) -> Pick {
        Pick { path: file.path.clone(), extent: Extent::Itself }
    }

    fn judged(order: &ApplyOrder, listed: &[FileChange]) -> Result<(), OutlineUnseen> {
        order.check(&order.changes(listed), listed)
    }

    fn hash(files: &[FileChange]) -> String {
        Outline::of(files).unwrap().hash
    }

    #[test]
    fn many_changes_take_the_hash_of_their_outline() {
        let listed = tables("a", NAMED + 1);
        let with = |seen: Option<&str>| ApplyOrder {
            picks: Vec::new(),
            seen: seen.map(SeenOutline::of_all),
        };
        assert_eq!(judged(&with(None), &listed), Err(OutlineUnseen::NotNamed));
        for wrong in ["", "a", &hash(&tables("b", NAMED + 1)), &hash(&tables("a", NAMED + 2))] {
            assert_eq!(judged(&with(Some(wrong)), &listed), Err(OutlineUnseen::Another), "{wrong}");
        }
        assert_eq!(judged(&with(Some(&hash(&listed))), &listed), Ok(()));
        // Of a few, every one is named.
        assert_eq!(judged(&with(None), &tables("a", NAMED)), Ok(()));
        assert_eq!(judged(&with(Some("anything")), &tables("a", NAMED)), Ok(()));
    }

    #[test]
    fn many_picks_are_not_a_way_around() {
        let listed = tables("a", 80);
        for picks in [
            listed.iter().map(itself).collect::<Vec<_>>(),
            listed[..=NAMED].iter().map(itself).collect(),
            vec![Pick::below("a")],
            vec![Pick::below("a/"), itself(&listed[0])],
        ] {
            let order = ApplyOrder::of(picks.clone());
            assert_eq!(judged(&order, &listed), Err(OutlineUnseen::NotNamed), "{picks:?}");
            let exact: Vec<_> = order.changes(&listed).into_iter().cloned().collect();
            for shown in [&listed, &exact] {
                let seen = Some(SeenOutline::of_all(hash(shown)));
                assert_eq!(judged(&ApplyOrder { seen, ..order.clone() }, &listed), Ok(()));
            }
        }
        let few = ApplyOrder::of(listed[..NAMED].iter().map(itself).collect::<Vec<_>>());
        assert_eq!(judged(&few, &listed), Ok(()));
        assert_eq!(few.changes(&listed).len(), NAMED);
    }

    #[test]
    fn the_outline_of_a_part_covers_that_part() {
        let (a, b) = (tables("a", 60), tables("b", 60));
        let listed: Vec<_> = a.iter().chain(&b).cloned().collect();
        let order = |picks: Vec<Pick>, below: &str| ApplyOrder {
            picks,
            seen: Some(SeenOutline { hash: hash(&a), below: Some(below.into()) }),
        };
        assert_eq!(judged(&order(vec![Pick::below("a")], "a"), &listed), Ok(()));
        let some: Vec<_> = a[..55].iter().map(itself).collect();
        assert_eq!(judged(&order(some, "a"), &listed), Ok(()));
        for (picks, below) in [
            (vec![], "a"),
            (vec![Pick::below("b")], "a"),
            (vec![Pick::below("b")], "b"),
            (vec![Pick::below("a"), Pick::below("b")], "a/000.csv"),
        ] {
            let wrong = order(picks.clone(), below);
            assert_eq!(judged(&wrong, &listed), Err(OutlineUnseen::Another), "{picks:?} {below}");
        }
    }

    #[test]
    fn what_is_withheld_comes_only_if_it_is_named() {
        let listed = tables("a", 60);
        let withheld = created(".env".into());
        let reached: Vec<_> = listed.iter().chain([&withheld]).collect();
        let seen = Some(SeenOutline::of_all(hash(&listed)));
        let all = ApplyOrder { picks: vec![Pick::below("a")], seen: seen.clone() };
        assert_eq!(all.check(&reached, &listed), Err(OutlineUnseen::Another));
        let named = ApplyOrder { picks: vec![Pick::below("a"), itself(&withheld)], seen };
        assert_eq!(named.check(&reached, &listed), Ok(()));
    }

    #[test]
    fn a_message_is_known_again() {
        for one in [OutlineUnseen::NotNamed, OutlineUnseen::Another] {
            assert!(OutlineUnseen::is_said_by(&one.to_string()));
        }
        assert!(!OutlineUnseen::is_said_by("something else"));
    }

    proptest! {
        #[test]
        fn no_list_of_many_is_applied_by_another_hash(
            names in prop::collection::hash_set("[a-d]{1,2}/[a-z]{1,3}(\\.[a-z]{1,2})?", 0..90),
            wrong in "[0-9a-f]{0,64}",
        ) {
            let listed: Vec<_> = names.into_iter().map(created).collect();
            let is_many = listed.len() > NAMED;
            for seen in [None, Some(SeenOutline::of_all(wrong))] {
                let order = ApplyOrder { picks: Vec::new(), seen };
                prop_assert_eq!(judged(&order, &listed).is_err(), is_many);
            }
            let order = ApplyOrder { picks: Vec::new(), seen: SeenOutline::of(listed.iter()) };
            prop_assert_eq!(judged(&order, &listed), Ok(()));
        }
    }
}
