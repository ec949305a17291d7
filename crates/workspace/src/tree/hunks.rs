//! The hunks of a changed text, and the text that some of them make.
//!
//! Pure. The same two texts have the same hunks each time, unless comparing them takes too long:
//! then they count as one piece, and no hunk of theirs can be chosen.

use similar::{DiffOp, DiffTag, TextDiff};
use std::{collections::BTreeSet, time::Instant};

/// Lines around a change that are shown, and that keep two hunks apart.
const CONTEXT: usize = 3;

/// Two texts, compared line by line.
pub(crate) struct Hunks<'a> {
    compared: TextDiff<'a, 'a, str>,
    groups: Vec<Vec<DiffOp>>,
    /// Whether the comparison came to its end.
    pub(crate) is_certain: bool,
}

impl<'a> Hunks<'a> {
    /// Compares two texts until `deadline`; after that whole blocks count as replaced.
    pub(crate) fn between(old: &'a str, new: &'a str, deadline: Instant) -> Self {
        let compared = TextDiff::configure().deadline(deadline).diff_lines(old, new);
        let groups = compared.grouped_ops(CONTEXT);
        let groups = groups.into_iter().filter(|ops| !ops.is_empty()).collect();
        Self { compared, groups, is_certain: Instant::now() < deadline }
    }

    pub(crate) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Each of them as a diff shows it.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut formatter = self.compared.unified_diff();
        let hunks = formatter.context_radius(CONTEXT).iter_hunks();
        hunks.map(|hunk| hunk.to_string()).collect()
    }

    /// The same. Several have numbers behind their first line, where `git` has the name of a
    /// function.
    pub(crate) fn numbered(&self) -> Vec<String> {
        let texts = self.texts();
        if texts.len() < 2 {
            return texts;
        }
        let number = |(text, number): (String, usize)| match text.split_once('\n') {
            Some((head, rest)) => format!("{head} hunk {number}\n{rest}"),
            None => text,
        };
        texts.into_iter().zip(1..).map(number).collect()
    }

    /// The old text with the hunks of these numbers, counted from 1, and without the others.
    pub(crate) fn with(&self, chosen: &BTreeSet<usize>) -> String {
        let mut text = String::new();
        let mut at = 0;
        for (ops, number) in self.groups.iter().zip(1..) {
            for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
                let (old, new) = (op.old_range(), op.new_range());
                (at..old.start).for_each(|line| self.add_old(&mut text, line));
                if chosen.contains(&number) {
                    new.for_each(|line| text.push_str(self.compared.new_slice(line).unwrap_or("")));
                } else {
                    old.clone().for_each(|line| self.add_old(&mut text, line));
                }
                at = old.end;
            }
        }
        (at..self.compared.old_len()).for_each(|line| self.add_old(&mut text, line));
        text
    }

    fn add_old(&self, text: &mut String, line: usize) {
        text.push_str(self.compared.old_slice(line).unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn between<'a>(old: &'a str, new: &'a str) -> Hunks<'a> {
        Hunks::between(old, new, Instant::now() + Duration::from_mins(1))
    }

    /// Lines that are added and removed, in order.
    fn changed(hunks: &[String]) -> Vec<String> {
        let lines = hunks.iter().flat_map(|hunk| hunk.lines());
        lines.filter(|line| line.starts_with(['+', '-'])).map(str::to_owned).collect()
    }

    fn numbers(chosen: &[bool]) -> BTreeSet<usize> {
        chosen.iter().zip(1..).filter(|(is, _)| **is).map(|(_, number)| number).collect()
    }

    #[test]
    fn hunks_have_numbers_and_make_the_text() {
        let old: String = (0..40).fold(String::new(), |all, line| all + &format!("line {line}\n"));
        let new = old.replace("line 3\n", "three\n").replace("line 20\n", "").replace("39\n", "39");
        let hunks = between(&old, &new);
        let heads: Vec<_> = hunks
            .numbered()
            .iter()
            .map(|text| text.lines().next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(
            heads,
            ["@@ -1,7 +1,7 @@ hunk 1", "@@ -18,7 +18,6 @@ hunk 2", "@@ -37,4 +36,4 @@ hunk 3"]
        );
        assert_eq!(hunks.with(&BTreeSet::from([2])), old.replace("line 20\n", ""));
        assert_eq!(hunks.with(&BTreeSet::from([3])), old.trim_end());
        assert_eq!(hunks.with(&BTreeSet::new()), old);
        assert_eq!(hunks.with(&BTreeSet::from([1, 2, 3])), new);
        // A single one needs no number, and is the whole.
        assert_eq!(between("a\n", "b\n").numbered(), ["@@ -1 +1 @@\n-a\n+b\n"]);
    }

    #[test]
    fn a_comparison_that_takes_too_long_is_not_certain() {
        assert!(!Hunks::between("a\n", "b\n", Instant::now()).is_certain);
        assert!(between("a\n", "b\n").is_certain);
    }

    /// A text whose lines are all different, and the same with some of them changed.
    fn distinct() -> impl Strategy<Value = (String, String)> {
        prop::collection::vec(0..8_u8, 0..120).prop_map(|deeds| {
            let (mut old, mut new) = (String::new(), String::new());
            for (at, deed) in deeds.iter().enumerate() {
                let line = format!("line {at}\n");
                match deed {
                    0 => old.push_str(&line),
                    1 => new.push_str(&line),
                    _ => [&mut old, &mut new].into_iter().for_each(|text| text.push_str(&line)),
                }
            }
            (old, new)
        })
    }

    proptest! {
        #[test]
        fn some_and_then_the_rest_is_everything(
            old in "([ab]\r?\n?|c\n){0,60}", new in "([ab]\r?\n?|c\n){0,60}", chosen: [bool; 16],
        ) {
            let all = between(&old, &new);
            let every: BTreeSet<usize> = (1..=all.count()).collect();
            prop_assert_eq!(all.with(&every), new.clone());
            prop_assert_eq!(all.with(&BTreeSet::new()), old.clone());
            let some = all.with(&numbers(&chosen));
            let rest = between(&some, &new);
            let every: BTreeSet<usize> = (1..=rest.count()).collect();
            prop_assert_eq!(rest.with(&every), new);
        }

        #[test]
        fn what_is_left_is_exactly_the_others((old, new) in distinct(), chosen: [bool; 16]) {
            let all = between(&old, &new);
            let chosen = numbers(&chosen);
            let texts = all.texts();
            let others: Vec<_> = texts
                .iter()
                .zip(1..)
                .filter(|(_, number)| !chosen.contains(number))
                .map(|(text, _)| text.clone())
                .collect();
            let some = all.with(&chosen);
            prop_assert_eq!(changed(&between(&some, &new).texts()), changed(&others));
        }
    }
}
