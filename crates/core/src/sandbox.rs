//! Which sandbox is wanted, what each of them keeps of what is promised, and what may be missing.
//!
//! `SECURITY.md` numbers the promises. A backend keeps each of them fully, in part or not at all. A
//! gap is accepted only if the person named it. That is decided here; a backend only does its part.
//!
//! Must not know how a backend works, and must not choose one that was not asked for.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// A kind of sandbox, by its name. `exec::sandbox` has a value for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Backend(&'static str);

impl Backend {
    /// No sandbox at all: whoever names it has named everything that it lacks.
    pub const NONE: Self = Self("none");

    /// All of them, in order of preference: the strongest first.
    pub const ALL: [Self; 7] = [
        Self("native"),
        Self("bubblewrap"),
        Self("podman"),
        Self("docker"),
        Self("firejail"),
        Self("landlock"),
        Self::NONE,
    ];

    /// The backend of this name. In a constant, a name that is not listed does not compile.
    ///
    /// # Panics
    /// If no backend has this name. Names from elsewhere are parsed as a [`Choice`].
    pub const fn named(name: &str) -> Self {
        let mut at = 0;
        while at < Self::ALL.len() {
            if same(Self::ALL[at].0.as_bytes(), name.as_bytes()) {
                return Self::ALL[at];
            }
            at += 1;
        }
        panic!("no backend has this name")
    }

    /// Its name, as it stands on the command line and in config files.
    pub const fn word(self) -> &'static str {
        self.0
    }
}

/// Equality of bytes in a constant, where `==` cannot be used yet.
const fn same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Which backend is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Choice {
    /// The strongest of those that are used unasked and can be built here.
    #[default]
    Auto,
    /// This one.
    Only(Backend),
}

impl Choice {
    /// Every choice: `auto`, then the backends in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Auto].into_iter().chain(Backend::ALL.map(Self::Only))
    }

    /// The word on the command line and in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Only(backend) => backend.word(),
        }
    }

    /// Whether it may confine less than another. `auto` may come to a weaker one than the strongest;
    /// every other that is named is weaker still, in the order of [`Backend::ALL`].
    pub fn is_looser_than(self, other: Self) -> bool {
        let freedom = |choice| match choice {
            Self::Auto => 1,
            Self::Only(backend) => {
                let at = Backend::ALL.iter().position(|one| *one == backend);
                at.map_or(usize::MAX, |at| at * 2)
            }
        };
        freedom(self) > freedom(other)
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().find(|choice| choice.word() == text).ok_or_else(|| {
            let words: Vec<_> = Self::all().map(|choice| format!("`{}`", choice.word())).collect();
            format!("expected one of {}", words.join(", "))
        })
    }
}

impl TryFrom<String> for Choice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Choice> for String {
    fn from(choice: Choice) -> Self {
        choice.word().into()
    }
}

/// A promise of `SECURITY.md` that a backend has a part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Promise {
    /// No network but what is allowed.
    Network,
    /// No reading beyond what is listed.
    Reading,
    /// No writing beyond what is staged.
    Writing,
    /// No other processes.
    Processes,
    /// No environment but the listed.
    Environment,
    /// No privileges.
    Privileges,
    /// Less kernel.
    Calls,
    /// The terminal is the person's.
    Terminal,
    /// Nothing is left running.
    Ending,
    /// Limits.
    Limits,
}

impl Promise {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Network,
        Self::Reading,
        Self::Writing,
        Self::Processes,
        Self::Environment,
        Self::Privileges,
        Self::Calls,
        Self::Terminal,
        Self::Ending,
        Self::Limits,
    ];

    /// Its number in `SECURITY.md`.
    pub fn number(self) -> u8 {
        match self {
            Self::Network => 1,
            Self::Reading => 2,
            Self::Writing => 3,
            Self::Processes => 4,
            Self::Environment => 5,
            Self::Privileges => 6,
            Self::Calls => 7,
            Self::Terminal => 8,
            // 9 and 12 are kept outside of every sandbox.
            Self::Ending => 10,
            Self::Limits => 11,
        }
    }

    /// The word on the command line and in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Processes => "processes",
            Self::Environment => "environment",
            Self::Privileges => "privileges",
            Self::Calls => "calls",
            Self::Terminal => "terminal",
            Self::Ending => "ending",
            Self::Limits => "limits",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Promise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|promise| promise.word() == text).ok_or_else(|| {
            let words: Vec<_> = Self::ALL.iter().map(|promise| promise.word()).collect();
            format!("expected one of {}", words.join(", "))
        })
    }
}

impl TryFrom<String> for Promise {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Promise> for String {
    fn from(promise: Promise) -> Self {
        promise.word().into()
    }
}

/// How a backend keeps a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Wholly.
    Yes,
    /// In part; the text names the gap.
    InPart(&'static str),
    /// Not at all: why.
    No(&'static str),
}

impl Kept {
    /// The gap, if there is one.
    pub fn lack(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::InPart(why) | Self::No(why) => Some(why),
        }
    }
}

/// The requested backend, and the gaps it may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandboxing {
    /// The backend.
    pub backend: Choice,
    /// Promises that it need not keep wholly.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allow_missing: BTreeSet<Promise>,
    /// The image that a container is made from, where the backend makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Sandboxing {
    /// Whether it is what everybody gets who asks for nothing.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Whether there is to be no sandbox at all.
    pub fn is_none(&self) -> bool {
        self.backend == Choice::Only(Backend::NONE)
    }

    /// The gaps of `backend` that nobody accepted. Choosing `none` accepts all of them.
    pub fn not_allowed(&self, backend: Backend, keeps: impl Fn(Promise) -> Kept) -> Vec<Lack> {
        if backend == Backend::NONE && self.is_none() {
            return Vec::new();
        }
        lacks(keeps).filter(|lack| !self.allow_missing.contains(&lack.promise)).collect()
    }
}

/// A promise that is not kept wholly, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The promise.
    pub promise: Promise,
    /// The gap.
    pub why: &'static str,
}

/// Everything that is not kept wholly.
pub fn lacks(keeps: impl Fn(Promise) -> Kept) -> impl Iterator<Item = Lack> {
    Promise::ALL
        .into_iter()
        .filter_map(move |promise| keeps(promise).lack().map(|why| Lack { promise, why }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(promise: Promise) -> Kept {
        match promise {
            Promise::Reading => Kept::InPart("names"),
            Promise::Limits => Kept::No("none"),
            Promise::Network
            | Promise::Writing
            | Promise::Processes
            | Promise::Environment
            | Promise::Privileges
            | Promise::Calls
            | Promise::Terminal
            | Promise::Ending => Kept::Yes,
        }
    }

    const LANDLOCK: Backend = Backend::named("landlock");

    fn refused(backend: Backend, sandboxing: &Sandboxing) -> Vec<Promise> {
        sandboxing.not_allowed(backend, half).iter().map(|lack| lack.promise).collect()
    }

    #[test]
    fn a_lack_is_accepted_only_by_its_name() {
        let mut wanted = Sandboxing { backend: Choice::Only(LANDLOCK), ..Sandboxing::default() };
        assert_eq!(refused(LANDLOCK, &wanted), [Promise::Reading, Promise::Limits]);
        wanted.allow_missing.insert(Promise::Limits);
        assert_eq!(refused(LANDLOCK, &wanted), [Promise::Reading]);
        wanted.allow_missing.insert(Promise::Reading);
        assert_eq!(refused(LANDLOCK, &wanted), []);
    }

    #[test]
    fn none_is_had_only_by_its_name() {
        assert_eq!(refused(Backend::NONE, &Sandboxing::default()).len(), 2);
        let none = Sandboxing { backend: Choice::Only(Backend::NONE), ..Sandboxing::default() };
        assert_eq!(refused(Backend::NONE, &none), []);
        assert_eq!(refused(LANDLOCK, &none).len(), 2);
    }

    #[test]
    fn auto_is_looser_than_the_strongest_alone() {
        let [strongest, others @ ..] = Backend::ALL.map(Choice::Only);
        assert!(Choice::Auto.is_looser_than(strongest));
        assert!(!strongest.is_looser_than(Choice::Auto));
        assert!(others.iter().all(|other| other.is_looser_than(Choice::Auto)));
        assert!(others.is_sorted_by(|one, next| next.is_looser_than(*one)));
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for backend in Backend::ALL {
            assert_eq!(backend.word().parse(), Ok(Choice::Only(backend)));
            let json = serde_json::to_string(&Choice::Only(backend)).unwrap();
            assert_eq!(json, format!("\"{backend}\""));
        }
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        let unknown = "everywhere".parse::<Choice>().unwrap_err();
        assert!(unknown.starts_with("expected one of `auto`, `native`, "), "{unknown}");
        for promise in Promise::ALL {
            assert_eq!(promise.word().parse(), Ok(promise));
        }
        assert!("everything".parse::<Promise>().unwrap_err().contains("network, reading"));
    }
}
