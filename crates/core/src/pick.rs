//! Staged changes that a person picks, and the texts by which they pick them.
//!
//! Pure. A path may end in numbers of hunks, as the diff shows them: `notes.txt:2,4-5`. A file that
//! is called so is named with `./` before it.

use crate::{FileChange, Redactor, Untrusted};
use serde::{Deserialize, Deserializer, de::Error};
use std::{collections::BTreeSet, fmt};

/// A change to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Its path, relative to the work folder.
    pub path: String,
    /// How much of it.
    pub extent: Extent,
}

/// How much of a change is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything at and below the path.
    Below,
    /// The change at the path itself.
    Itself,
    /// These hunks of a file, counted from 1.
    Hunks(BTreeSet<usize>),
}

/// The largest number of a hunk: a file that is shown has fewer lines.
const MOST: usize = 1 << 20;

impl Pick {
    /// Everything at and below a path.
    pub fn below(path: impl Into<String>) -> Self {
        Self { path: path.into(), extent: Extent::Below }
    }

    /// A pick as a person types it: a path, or a path with the numbers of hunks.
    pub fn typed(text: &str) -> Self {
        let hunks = text.rsplit_once(':').filter(|(path, _)| !path.is_empty());
        match hunks.and_then(|(path, typed)| Some((path, numbers(typed, MOST)?))) {
            Some((path, hunks)) if !text.starts_with("./") => {
                Self { path: path.to_owned(), extent: Extent::Hunks(hunks) }
            }
            Some(_) | None => Self::below(text),
        }
    }

    /// The changes that these may take, of all that there are: more than they do rather than fewer.
    pub fn meant<'a>(picks: &[Self], files: &'a [FileChange]) -> Vec<&'a FileChange> {
        let takes = |pick: &Self, file: &FileChange| {
            let picked = pick.path.as_str();
            file.paths().any(|path| is_at_or_below(path, picked) || is_at_or_below(picked, path))
        };
        // One that is written in another way than the list writes it may mean any of them.
        let is_plain = |pick: &Self| files.iter().any(|file| takes(pick, file));
        let is_all = picks.is_empty() || !picks.iter().all(is_plain);
        let is_meant = |file: &&FileChange| is_all || picks.iter().any(|pick| takes(pick, file));
        files.iter().filter(is_meant).collect()
    }

    /// Whether it takes a change of a list, by a path as the list writes it.
    pub fn takes(&self, file: &FileChange) -> bool {
        file.paths().any(|path| match self.extent {
            Extent::Below => is_at_or_below(path, &self.path),
            Extent::Itself | Extent::Hunks(_) => {
                path.trim_end_matches('/') == self.path.trim_end_matches('/')
            }
        })
    }

    /// Whether it is some hunks of a file.
    pub fn is_of_hunks(&self) -> bool {
        matches!(self.extent, Extent::Hunks(_))
    }
}

/// A pick as another program writes it: `{"path":"notes.txt"}` is the change at that path, and
/// `{"path":"notes.txt","hunks":[2,4]}` some hunks of it.
impl<'de> Deserialize<'de> for Pick {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            path: String,
            #[serde(default)]
            hunks: Option<BTreeSet<usize>>,
        }
        let Raw { path, hunks } = Raw::deserialize(deserializer)?;
        let is_meant = |hunks: &BTreeSet<usize>| {
            !hunks.is_empty() && hunks.iter().all(|number| (1..=MOST).contains(number))
        };
        let extent = match hunks {
            None => Extent::Itself,
            Some(hunks) if is_meant(&hunks) => Extent::Hunks(hunks),
            Some(_) => return Err(D::Error::custom("hunks are numbers from 1 on, at least one")),
        };
        Ok(Self { path, extent })
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        let Extent::Hunks(hunks) = &self.extent else { return Ok(()) };
        let numbers: Vec<_> = hunks.iter().map(usize::to_string).collect();
        write!(f, ":{}", numbers.join(","))
    }
}

/// Whether a path is `above`, or below it. That of a folder may end in a slash.
pub fn is_at_or_below(path: &str, above: &str) -> bool {
    let path = path.trim_end_matches('/');
    let below = path.strip_prefix(above.trim_end_matches('/'));
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The numbers and ranges of numbers in a text, such as `1 3-5`, each from 1 to `most`. A text with
/// anything else has none.
pub fn numbers(typed: &str, most: usize) -> Option<BTreeSet<usize>> {
    let mut all = BTreeSet::new();
    for part in typed.split([' ', ',']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first == 0 || last > most || first > last {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all).filter(|all| !all.is_empty())
}

/// A change as it is shown to a person who picks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownChange {
    /// Its path, relative to the work folder.
    pub path: String,
    /// Its kind, and all of it if it is not made of hunks.
    pub head: Untrusted,
    /// Its hunks. Empty if all of it is kept, or nothing.
    pub hunks: Vec<Untrusted>,
}

impl ShownChange {
    /// The change as it is drawn for somebody who decides on it.
    #[must_use]
    pub fn drawn(self, redactor: &Redactor) -> Self {
        let draw = |text: &Untrusted| redactor.draw(text).into_text();
        Self {
            path: draw(&Untrusted::new(self.path)).raw().to_owned(),
            head: draw(&self.head),
            hunks: self.hunks.iter().map(draw).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_beside_a_path_is_below_it() {
        for (path, above, is) in [
            ("a", "a", true),
            ("a/b", "a", true),
            ("a/b", "a/", true),
            ("a/", "a", true),
            ("ab", "a", false),
            ("b", "a", false),
            ("a", "a/b", false),
        ] {
            assert_eq!(is_at_or_below(path, above), is, "{path} {above}");
        }
    }

    #[test]
    fn a_pick_of_a_change_itself_takes_nothing_below_it() {
        let files = ["a/1", "a/", "b"].map(|path| FileChange::new(path, crate::Change::Created));
        let taken = |pick: Pick| files.iter().filter(|file| pick.takes(file)).count();
        let itself = |path: &str| Pick { path: path.into(), extent: Extent::Itself };
        assert_eq!([taken(itself("a")), taken(itself("a/1")), taken(itself("c"))], [1, 1, 0]);
        assert_eq!([taken(Pick::below("a")), taken(Pick::below("b"))], [2, 1]);
    }

    #[test]
    fn what_may_be_meant_is_never_too_little() {
        let files =
            ["a/1", "a/2", "b/", "ab"].map(|path| FileChange::new(path, crate::Change::Created));
        let meant = |words: &[&str]| {
            let picks: Vec<_> = words.iter().map(|word| Pick::below(*word)).collect();
            let meant = Pick::meant(&picks, &files);
            meant.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(meant(&["a"]), "a/1 a/2");
        assert_eq!(meant(&["a/", "b"]), "a/1 a/2 b/");
        assert_eq!(meant(&["a/1"]), "a/1");
        for any in [&[][..], &["."], &["./a/1"], &["a//1"], &[r"a/\x31"], &["a/1", "none"]] {
            assert_eq!(meant(any), "a/1 a/2 b/ ab", "{any:?}");
        }
    }

    #[test]
    fn numbers_and_ranges_are_read_or_refused_as_a_whole() {
        let of = |typed| numbers(typed, 6).map(|all| all.into_iter().collect::<Vec<_>>());
        assert_eq!(of("1 3-5"), Some(vec![1, 3, 4, 5]));
        assert_eq!(of("2,2, 6"), Some(vec![2, 6]));
        for wrong in ["", "0", "7", "5-3", "1-9", "1 x", "-", "1-", "+1", "99999999999999999999"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_path_may_end_in_numbers_of_hunks() {
        let hunks = |path: &str, numbers: &[usize]| Pick {
            path: path.into(),
            extent: Extent::Hunks(numbers.iter().copied().collect()),
        };
        for (typed, pick) in [
            ("a.txt:2,4-5", hunks("a.txt", &[2, 4, 5])),
            ("a:b:1", hunks("a:b", &[1])),
            ("a.txt", Pick::below("a.txt")),
            ("./a:2", Pick::below("./a:2")),
            ("a:", Pick::below("a:")),
            ("a:b", Pick::below("a:b")),
            (":2", Pick::below(":2")),
            ("a:0", Pick::below("a:0")),
            ("a:1-2000000000", Pick::below("a:1-2000000000")),
        ] {
            assert_eq!(Pick::typed(typed), pick, "{typed}");
        }
        assert_eq!(hunks("a", &[1, 2, 4]).to_string(), "a:1,2,4");
        assert_eq!(Pick::below("d/").to_string(), "d/");
    }
}
