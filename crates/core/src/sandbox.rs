//! Which sandbox is wanted, what each of them keeps of what is promised, and what may be missing.
//!
//! `SECURITY.md` numbers the promises. A backend keeps each of them wholly, in part or not at all;
//! what it does not keep wholly is a lack, and a lack is accepted only where the person named it.
//! That is decided here; a backend only does what it was chosen for.
//!
//! Must not know how a backend works, and must not choose one that was not asked for.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// What confines the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Namespaces, mounts, Landlock and a filter, all of our own.
    Native,
    /// The program `bwrap`, with our fences inside.
    Bubblewrap,
    /// The program `firejail`, with our fences inside.
    Firejail,
    /// Landlock, a filter and limits, without any namespace.
    Landlock,
    /// Nothing.
    None,
}

impl Backend {
    /// All of them, the strongest first.
    pub const ALL: [Self; 5] =
        [Self::Native, Self::Bubblewrap, Self::Firejail, Self::Landlock, Self::None];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Firejail => "firejail",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Which backend is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Choice {
    /// The strongest that can be built here; never none at all.
    #[default]
    Auto,
    /// This one.
    Only(Backend),
}

impl Choice {
    /// What is tried, in this order. Nobody gets no sandbox at all without having asked for it.
    pub fn candidates(self) -> Vec<Backend> {
        match self {
            Self::Auto => vec![Backend::Native, Backend::Bubblewrap, Backend::Landlock],
            Self::Only(backend) => vec![backend],
        }
    }

    /// The word on the command line and in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Only(backend) => backend.word(),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Backend::ALL.into_iter().map(Self::Only);
        [Self::Auto].into_iter().chain(named).find(|choice| choice.word() == text).ok_or_else(
            || {
                "one of `auto`, `native`, `bubblewrap`, `firejail`, `landlock` and `none` is wanted"
                    .into()
            },
        )
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
            format!("a promise is wanted, one of {}", words.join(", "))
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
    /// Not in all: what is missing.
    InPart(&'static str),
    /// Not at all: why.
    No(&'static str),
}

impl Kept {
    /// What is missing, if anything is.
    pub fn lack(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::InPart(why) | Self::No(why) => Some(why),
        }
    }
}

/// What was asked for: a backend, and what it may lack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandboxing {
    /// The backend.
    pub backend: Choice,
    /// Promises that it need not keep wholly.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allow_missing: BTreeSet<Promise>,
}

impl Sandboxing {
    /// Whether it is what everybody gets who asks for nothing.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Whether there is to be no sandbox at all.
    pub fn is_none(&self) -> bool {
        self.backend == Choice::Only(Backend::None)
    }

    /// What `backend` lacks and nobody allowed it to. Who names `none` has named all of it.
    pub fn not_allowed(&self, backend: Backend, keeps: impl Fn(Promise) -> Kept) -> Vec<Lack> {
        if backend == Backend::None && self.is_none() {
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
    /// What is missing.
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

    fn refused(backend: Backend, sandboxing: &Sandboxing) -> Vec<Promise> {
        sandboxing.not_allowed(backend, half).iter().map(|lack| lack.promise).collect()
    }

    #[test]
    fn a_lack_is_accepted_only_by_its_name() {
        let landlock = Choice::Only(Backend::Landlock);
        let mut wanted = Sandboxing { backend: landlock, allow_missing: BTreeSet::new() };
        assert_eq!(refused(Backend::Landlock, &wanted), [Promise::Reading, Promise::Limits]);
        wanted.allow_missing.insert(Promise::Limits);
        assert_eq!(refused(Backend::Landlock, &wanted), [Promise::Reading]);
        wanted.allow_missing.insert(Promise::Reading);
        assert_eq!(refused(Backend::Landlock, &wanted), []);
    }

    #[test]
    fn none_is_had_only_by_its_name() {
        assert!(!Choice::Auto.candidates().contains(&Backend::None));
        assert_eq!(refused(Backend::None, &Sandboxing::default()).len(), 2);
        let none = Sandboxing { backend: Choice::Only(Backend::None), ..Sandboxing::default() };
        assert_eq!(refused(Backend::None, &none), []);
        assert_eq!(refused(Backend::Landlock, &none).len(), 2);
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for backend in Backend::ALL {
            assert_eq!(backend.word().parse(), Ok(Choice::Only(backend)));
            let json = serde_json::to_string(&Choice::Only(backend)).unwrap();
            assert_eq!(json, format!("\"{backend}\""));
        }
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        assert!("docker".parse::<Choice>().is_err());
        for promise in Promise::ALL {
            assert_eq!(promise.word().parse(), Ok(promise));
        }
        assert!("everything".parse::<Promise>().unwrap_err().contains("network, reading"));
    }
}
