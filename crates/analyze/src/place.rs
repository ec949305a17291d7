//! The severity of touching a path.
//!
//! Knows paths only as text: nothing is looked up, so links and relative paths can deceive it.
//! It may raise a severity and never lowers one.

use crate::{literal::Literal, says::Says};
use aho_corasick::AhoCorasick;
use interpreter_core::{Deed, Risk};
use serde::Deserialize;

/// A rule on paths.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    #[serde(default)]
    pub(crate) ends: Option<String>,
    #[serde(default)]
    pub(crate) contains: Option<String>,
    is: Kind,
    pub(crate) reason: String,
    /// A path that it fits.
    pub(crate) example: String,
    /// A path that it does not fit.
    pub(crate) unlike: String,
    /// The statement of whoever added it; empty for the rules of this crate.
    #[serde(skip)]
    pub(crate) source: String,
}

/// The kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Reading it gives passwords, keys or tokens.
    Credentials,
    /// Writing it makes something run later.
    Persists,
    /// Writing it destroys all that it holds.
    Disk,
    /// Writing it covers tracks.
    Tracks,
    /// Any touch of it matters.
    System,
}

impl Place {
    /// Whether a path is such a place.
    pub(crate) fn fits(&self, path: &str) -> bool {
        self.holds(&rooted(path))
    }

    /// Whether a person or a project has added it.
    pub(crate) fn is_added(&self) -> bool {
        !self.source.is_empty()
    }

    fn holds(&self, path: &str) -> bool {
        self.ends.as_deref().is_some_and(|end| path.ends_with(end))
            || self.contains.as_deref().is_some_and(|part| path.contains(part))
    }
}

/// Rules on paths, found in one pass over a path.
#[derive(Debug, Default)]
pub(crate) struct PlaceIndex {
    places: Vec<Place>,
    /// The parts of paths that they look for, and which of them each is of.
    parts: Option<AhoCorasick>,
    containing: Vec<usize>,
    ending: Vec<usize>,
}

impl PlaceIndex {
    pub(crate) fn new(places: Vec<Place>) -> Self {
        let with = |part: fn(&Place) -> Option<&String>| -> Vec<usize> {
            places
                .iter()
                .enumerate()
                .filter(|(_, place)| part(place).is_some())
                .map(|(at, _)| at)
                .collect()
        };
        let (containing, ending) =
            (with(|one| one.contains.as_ref()), with(|one| one.ends.as_ref()));
        let parts = places.iter().filter_map(|place| place.contains.as_ref());
        // Only too many or too long parts fail, and both are bounded.
        let parts = AhoCorasick::new(parts).expect("the parts of paths are few and short");
        let parts = (!containing.is_empty()).then_some(parts);
        Self { places, parts, containing, ending }
    }

    /// The first place that a rooted path is.
    pub(crate) fn of(&self, path: &str) -> Option<&Place> {
        let found = self.parts.iter().flat_map(|parts| parts.find_overlapping_iter(path));
        let containing = found.map(|part| self.containing[part.pattern().as_usize()]).min();
        let ends = |at: &usize| self.places[*at].holds(path);
        let ending = self.ending.iter().copied().find(ends);
        containing.into_iter().chain(ending).min().map(|at| &self.places[at])
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Place] {
        &self.places
    }
}

/// The statement of a rule on `path`, in the light of the place that it is.
pub(crate) fn judge<'a>(place: Option<&'a Place>, path: &Literal, says: Says<'a>) -> Says<'a> {
    let Some(place) = place else {
        let least = if is_outside(path.start()) { Risk::Medium } else { says.severity };
        return Says { severity: says.severity.max(least), ..says };
    };
    let reads = matches!(says.deed, Deed::Reads | Deed::Lists);
    let writes = matches!(says.deed, Deed::Writes | Deed::Permissions);
    let deed = match place.is {
        Kind::Credentials if reads => Deed::Credentials,
        Kind::Persists if says.deed == Deed::Writes => Deed::Persists,
        Kind::Disk if writes => Deed::Irreversible,
        Kind::Tracks if writes || says.deed == Deed::Deletes => Deed::Hides,
        Kind::Credentials | Kind::Persists | Kind::Disk | Kind::Tracks | Kind::System => says.deed,
    };
    let says = Says { deed, severity: says.severity.max(Risk::High), ..says };
    if place.source.is_empty() {
        Says { reason: &place.reason, ..says }
    } else {
        Says { source: &place.source, is_added: true, ..says }
    }
}

/// A path as the rules look at it: a name at the beginning of a relative path counts like one after
/// a slash.
pub(crate) fn rooted(path: &str) -> String {
    format!("/{}", path.replace('\\', "/"))
}

/// The statement of a rule on the environment variable `name`, which is empty for all of them.
pub(crate) fn judge_variable<'a>(name: &str, says: Says<'a>) -> Says<'a> {
    if name.is_empty() || is_secret(name) {
        return Says { severity: says.severity.max(Risk::Medium), ..says };
    }
    says
}

/// Whether a variable sounds like a password, a key or a token.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["SECRET", "TOKEN", "PASSW", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"]
        .iter()
        .any(|part| name.contains(part))
        || ["_KEY", "_PWD", "_PAT", "_AUTH"].iter().any(|end| name.ends_with(end))
}

/// Whether a path plainly leads out of the work folder.
fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~', '\\'])
        || path.starts_with("$HOME")
        || path.split(['/', '\\']).any(|part| part == "..")
        || path.as_bytes().get(1) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;

    fn judged(path: &str, deed: Deed, severity: Risk) -> (Deed, Risk) {
        let rules = Rules::built_in();
        let says = Says::new(deed, severity, "");
        let path = Literal::known(path);
        let says = judge(rules.places(&path).0, &path, says);
        (says.deed, says.severity)
    }

    fn severity(path: &str, severity: Risk) -> Risk {
        judged(path, Deed::Reads, severity).1
    }

    #[test]
    fn a_place_says_what_touching_it_means() {
        for (deed, path, expected) in [
            (Deed::Reads, "~/.ssh/id_rsa", Deed::Credentials),
            (Deed::Writes, "~/.ssh/config", Deed::Writes),
            (Deed::Writes, "~/.ssh/authorized_keys", Deed::Persists),
            (Deed::Writes, "~/.bashrc", Deed::Persists),
            (Deed::Reads, "~/.bashrc", Deed::Reads),
            (Deed::Writes, "/dev/sda", Deed::Irreversible),
            (Deed::Deletes, "~/.bash_history", Deed::Hides),
            (Deed::Writes, "data.csv", Deed::Writes),
        ] {
            assert_eq!(judged(path, deed, Risk::Low).0, expected, "{path}");
        }
    }

    #[test]
    fn a_place_raises_the_severity() {
        for (path, expected) in [
            ("data.csv", Risk::Low),
            ("a/b.txt", Risk::Low),
            ("../b.txt", Risk::Medium),
            ("/tmp/x", Risk::Medium),
            ("~/x", Risk::Medium),
            ("C:\\x", Risk::Medium),
            ("~/.ssh/id_ed25519", Risk::High),
            (".env", Risk::High),
            ("my.env.py", Risk::Low),
            ("/etc/shadow", Risk::High),
            ("C:\\Users\\u\\.aws\\credentials", Risk::High),
        ] {
            assert_eq!(severity(path, Risk::Low), expected, "{path}");
        }
    }

    #[test]
    fn a_severity_is_never_lowered() {
        assert_eq!(severity("/tmp/x", Risk::High), Risk::High);
    }

    #[test]
    fn every_place_says_where_and_why() {
        for place in Rules::built_in().first().places.all() {
            assert!(place.ends.is_some() != place.contains.is_some(), "{}", place.reason);
            assert!(!place.reason.is_empty());
            assert!(place.fits(&place.example), "{}", place.example);
            assert!(!place.fits(&place.unlike), "{}", place.unlike);
        }
    }
}
