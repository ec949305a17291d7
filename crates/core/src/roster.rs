//! The models that a provider lists: which are offered, in what order, and which one is meant by
//! what a person types.
//!
//! A list is foreign text. Only names that are plainly visible and of a sensible length are taken,
//! up to a limit. Nothing is read here: the caller asks the provider and limits the reply's size.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

/// The most models of one provider.
const MOST: usize = 1_000;

/// The longest name of a model, in bytes.
const LONGEST: usize = 200;

/// Parts of the names of models that do not write text: providers list them among the others.
const MUTE: [&str; 16] = [
    "audio",
    "babbage",
    "dall-e",
    "davinci",
    "embed",
    "image",
    "moderation",
    "ocr",
    "realtime",
    "rerank",
    "sora",
    "speech",
    "transcri",
    "tts",
    "veo",
    "whisper",
];

/// Whether a model writes text, as far as its name tells.
pub fn writes_text(name: &str) -> bool {
    let name = name.to_lowercase();
    !name.is_empty() && !MUTE.iter().any(|word| name.contains(word))
}

/// One model, as a provider lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosterEntry {
    /// Its name, as the provider sent it.
    pub name: String,
    /// When it was made, in seconds since 1970, if the provider says so.
    pub created: Option<i64>,
}

/// The models of a provider, the most useful first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    names: Vec<String>,
}

/// The models that are meant by what a person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant<'a> {
    /// This one.
    One(&'a str),
    /// Any of these.
    Several(Vec<&'a str>),
    /// None that there is.
    Nothing,
}

impl Roster {
    /// Those that can be offered: first `usual`, then the newest, where the provider says how old
    /// they are. A copy of a certain day comes after all that are no copies.
    pub fn new(entries: Vec<RosterEntry>, usual: Option<&str>) -> Self {
        let mut seen = HashSet::new();
        let mut entries = entries;
        entries.retain(|one| is_plain(&one.name) && writes_text(&one.name));
        entries.retain(|one| seen.insert(one.name.clone()));
        let is_copy = |name: &str| undated(name).is_some_and(|name| seen.contains(name));
        entries.sort_by_cached_key(|one| {
            let is_usual = usual == Some(one.name.as_str());
            (!is_usual, is_copy(&one.name), Reverse(one.created))
        });
        entries.truncate(MOST);
        Self { names: entries.into_iter().map(|one| one.name).collect() }
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// The models that are meant: by a number, counted from 1, one of those that are shown; by a
    /// name, that one; by parts of names, all that have every part. Nothing typed is the first one
    /// that is shown.
    pub fn meant<'a>(&'a self, typed: &str, shown: &[&'a str]) -> Meant<'a> {
        let typed = typed.trim().to_lowercase();
        let at = if typed.is_empty() { Some(1) } else { typed.parse::<usize>().ok() };
        if let Some(one) = at.and_then(|at| shown.get(at.checked_sub(1)?)) {
            return Meant::One(one);
        }
        let parts: BTreeSet<_> = typed.split_whitespace().collect();
        let has_all = |name: &&str| {
            let name = name.to_lowercase();
            parts.iter().all(|part| name.contains(part))
        };
        let found: Vec<_> = self.names().into_iter().filter(has_all).collect();
        match found[..] {
            _ if parts.is_empty() => Meant::Nothing,
            [] => Meant::Nothing,
            [one] => Meant::One(one),
            _ => match found.iter().find(|name| name.eq_ignore_ascii_case(&typed)) {
                Some(one) => Meant::One(one),
                None => Meant::Several(found),
            },
        }
    }
}

/// Whether a name can be shown and typed as it is.
fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST && !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic())
}

/// The name without the day at its end: `-2024-08-06` or `-20241022`.
fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = name.rsplit_once('-')?;
    if last.len() == 8 && digits(last) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    let fits = (year.len(), month.len(), last.len()) == (4, 2, 2);
    (fits && [year, month, last].into_iter().all(digits)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, created: i64) -> RosterEntry {
        RosterEntry { name: name.into(), created: Some(created) }
    }

    fn named(names: &[&str]) -> Roster {
        let entry = |name: &&str| RosterEntry { name: (*name).into(), created: None };
        Roster::new(names.iter().map(entry).collect(), None)
    }

    #[test]
    fn the_usual_one_comes_first_then_the_newest_and_copies_last() {
        let all = vec![
            entry("gpt-4o", 20),
            entry("gpt-4o-2024-08-06", 30),
            entry("claude-3-5-haiku-20241022", 40),
            entry("gpt-5", 50),
            entry("gpt-4.1", 10),
        ];
        let roster = Roster::new(all, Some("gpt-4.1"));
        // The copy of what is not listed itself is no copy.
        let expected =
            ["gpt-4.1", "gpt-5", "claude-3-5-haiku-20241022", "gpt-4o", "gpt-4o-2024-08-06"];
        assert_eq!(roster.names(), expected);
        assert_eq!(named(&["b", "a", "b"]).names(), ["b", "a"], "else in the provider's order");
    }

    #[test]
    fn what_cannot_be_typed_or_does_not_write_is_not_offered() {
        let long = "x".repeat(201);
        let odd = ["", "a b", "a\u{1b}[2J", "a\nb", "ä", "\u{202e}gpt", &long];
        assert_eq!(named(&odd).names(), [""; 0]);
        let mute = ["text-embedding-3-small", "whisper-1", "gpt-image-1", "TTS-1", "dall-e-3"];
        assert_eq!(named(&mute).names(), [""; 0]);
        assert_eq!(named(&["org/model:free", "gpt-4o"]).names().len(), 2);
    }

    #[test]
    fn a_list_has_an_end() {
        let many = (0..100_000).map(|at| entry(&format!("m{at}"), at)).collect();
        let roster = Roster::new(many, Some("m7"));
        assert_eq!(roster.names().len(), MOST);
        assert_eq!(roster.names()[..2], ["m7", "m99999"]);
    }

    #[test]
    fn a_number_a_name_or_parts_of_one_mean_a_model() {
        let roster = named(&["gpt-4o", "gpt-4o-mini", "gpt-5", "o3"]);
        let all = roster.names();
        let shown = &all[..2];
        assert_eq!(roster.meant("", shown), Meant::One("gpt-4o"));
        assert_eq!(roster.meant(" 2 ", shown), Meant::One("gpt-4o-mini"));
        // Past the numbers that are shown it is a part of a name.
        assert_eq!(roster.meant("5", shown), Meant::One("gpt-5"));
        assert_eq!(roster.meant("GPT-4o", shown), Meant::One("gpt-4o"));
        assert_eq!(roster.meant("mini 4o", shown), Meant::One("gpt-4o-mini"));
        assert_eq!(roster.meant("4o", shown), Meant::Several(vec!["gpt-4o", "gpt-4o-mini"]));
        assert_eq!(roster.meant("claude", shown), Meant::Nothing);
        assert_eq!(roster.meant("0", shown), Meant::Nothing);
        assert_eq!(named(&[]).meant("", &[]), Meant::Nothing);
    }
}
