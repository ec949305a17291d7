//! The result of analysis: capabilities of a proposal, their severity and certainty.
//!
//! Findings inform the question and the rules. They are never a boundary: that is the sandbox. Where
//! a decision rests on them and no one looks, the code must be understood as well
//! ([`crate::understanding`]).

use crate::{Deed, Understanding, Untrusted};
use serde::{Deserialize, Serialize};
use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

pub use crate::deed::NAMES;

/// Most characters of an argument that are reported; longer ones are cut.
pub const MOST_ARGUMENT: usize = 500;

/// The end of an argument that was cut.
pub const CUT: char = '…';

/// Most sources that one finding names.
pub const MOST_SOURCES: usize = 4;

/// Most findings that added rules and scanners contribute to those of our own.
pub const MOST_ADDED: usize = 200;

/// The findings of one proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The gravest of the capabilities, or `Unknown` if the code could not be read.
    pub risk: Risk,
    /// Capabilities of the code, in the order of its lines.
    pub capabilities: Vec<Capability>,
    /// Whether every name in the code is known.
    #[serde(default)]
    pub understanding: Understanding,
}

/// How much harm is possible. Ordered, so that the graver of two is their `max`; not being able
/// to tell counts as grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Computes, prints, reads the work folder, writes files there that are staged.
    Low,
    /// Changes other files, starts programs.
    Medium,
    /// Analysis cannot tell.
    Unknown,
    /// Deletes, talks to the network, hides what it does.
    High,
}

impl Risk {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::Unknown => "unknown",
            Self::High => "high",
        }
    }
}

/// How sure it is that the code does what a finding says.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It may, if something that is computed turns out so.
    Possible,
    /// Names and values were followed to find it. Findings of older records count as this.
    #[default]
    Likely,
    /// It stands there.
    Certain,
}

impl Confidence {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// One thing that the code would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// What: one of [`NAMES`].
    pub name: String,
    /// To what: a path, a program, a host; empty if it is computed.
    pub argument: Untrusted,
    /// The line of the code, from 1.
    pub line: u32,
    /// The columns on that line, from 1: the first, and the one after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<(u32, u32)>,
    /// How grave.
    pub severity: Risk,
    /// How sure.
    #[serde(default)]
    pub confidence: Confidence,
    /// Why it matters, in the words of the rule that found it.
    #[serde(default, skip_serializing_if = "Untrusted::is_empty")]
    pub reason: Untrusted,
    /// Who else says so, each with their reason: added rules and scanners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Untrusted>,
}

impl Capability {
    /// A finding without columns or a reason.
    pub fn new(deed: Deed, argument: impl Into<String>, line: u32, severity: Risk) -> Self {
        Self {
            name: deed.name().into(),
            argument: Untrusted::new(argument),
            line,
            columns: None,
            severity,
            confidence: Confidence::default(),
            reason: Untrusted::new(""),
            sources: Vec::new(),
        }
    }

    /// The finding that there are more than are listed. Nobody has seen the others, so it is grave.
    pub fn unlisted() -> Self {
        Self::new(Deed::Unreadable, "more findings than are listed", 1, Risk::High)
    }

    /// Takes over what another finding of the same says: its sources, and all of it if it is graver.
    pub fn absorb(&mut self, other: Self) {
        if other.severity > self.severity {
            self.severity = other.severity;
            self.confidence = other.confidence;
            self.columns = other.columns.or(self.columns);
            // A rule of ours keeps its words unless another one of ours is graver.
            if !other.reason.is_empty() {
                self.reason = other.reason;
            }
        }
        for source in other.sources {
            if self.sources.len() < MOST_SOURCES && !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
    }

    /// Whether it goes by this name, or is a case of what does: reading credentials is reading.
    pub fn is_a(&self, name: &str) -> bool {
        let wider = Deed::named(&self.name).and_then(Deed::wider);
        self.name == name || wider.is_some_and(|deed| deed.name() == name)
    }
}

/// One thing that the code would do, on however many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged<'a> {
    /// As in [`Capability::name`].
    pub name: &'a str,
    /// As in [`Capability::argument`].
    pub argument: &'a Untrusted,
    /// As in [`Capability::reason`]; the first of them.
    pub reason: &'a Untrusted,
    /// As in [`Capability::sources`], each once.
    pub sources: Vec<&'a Untrusted>,
    /// The gravest of them.
    pub severity: Risk,
    /// The surest of them.
    pub confidence: Confidence,
    /// The lines, in order.
    pub lines: Vec<u32>,
}

impl Merged<'_> {
    /// It in words, on one line and fit for a terminal.
    pub fn words(&self) -> String {
        let mut words = self.own_words();
        for source in &self.sources {
            words.push_str("; ");
            words.push_str(&source.for_terminal_line(usize::MAX));
        }
        words
    }

    fn own_words(&self) -> String {
        let argument = self.argument.for_terminal_line(usize::MAX);
        let reason = self.reason.for_terminal_line(usize::MAX);
        if let Some(deed) = Deed::named(self.name) {
            return deed.words(&argument, &reason);
        }
        // A newer program's record.
        let name = Untrusted::new(self.name).for_terminal_line(usize::MAX);
        format!("{name} {argument}").trim_end().to_owned()
    }
}

impl Findings {
    /// The capabilities with the gravest first. Those that differ only in their line are one.
    pub fn by_severity(&self) -> Vec<Merged<'_>> {
        let mut merged: Vec<Merged<'_>> = Vec::new();
        let mut places = HashMap::new();
        for one in &self.capabilities {
            let Capability { name, argument, line, severity, confidence, reason, .. } = one;
            let at = *places.entry((name, argument.raw())).or_insert_with(|| {
                let (severity, confidence) = (*severity, *confidence);
                let (lines, sources) = (Vec::new(), Vec::new());
                let all = Merged { name, argument, reason, sources, severity, confidence, lines };
                merged.push(all);
                merged.len() - 1
            });
            for source in &one.sources {
                let known = &mut merged[at].sources;
                if known.len() < MOST_SOURCES && !known.contains(&source) {
                    known.push(source);
                }
            }
            merged[at].severity = merged[at].severity.max(*severity);
            merged[at].confidence = merged[at].confidence.max(*confidence);
            if merged[at].lines.last() != Some(line) {
                merged[at].lines.push(*line);
            }
        }
        // Stable: within one severity they stay in the order of the code.
        merged.sort_by_key(|one| Reverse(one.severity));
        merged
    }

    /// These and what others found in the same code. None of these is lost or lowered; of the
    /// others', those stay that [`listed`] keeps.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        let mut all = self.capabilities;
        let key = |one: &Capability| (one.name.clone(), one.argument.raw().to_owned(), one.line);
        let known: HashMap<_, _> = all.iter().enumerate().map(|(at, one)| (key(one), at)).collect();
        let mut new = Vec::new();
        for one in others.capabilities {
            match known.get(&key(&one)) {
                Some(&at) => all[at].absorb(one),
                None => new.push(one),
            }
        }
        all.append(&mut listed(new, MOST_ADDED));
        all.sort_by_key(|one| one.line);
        Self { understanding: self.understanding, ..Self::new(all) }
    }

    /// Findings whose risk is the gravest of the capabilities', on code that isn't understood.
    pub fn new(capabilities: Vec<Capability>) -> Self {
        let risk = capabilities.iter().map(|one| one.severity).max().unwrap_or(Risk::Low);
        Self { risk, capabilities, understanding: Understanding::default() }
    }

    /// The same on code that is understood.
    #[must_use]
    pub fn understood(self) -> Self {
        Self { understanding: Understanding::Understood, ..self }
    }

    /// Whether every name in the code is known, and all of it could be read.
    pub fn is_understood(&self) -> bool {
        let unreadable = |one: &Capability| one.name == Deed::Unreadable.name();
        self.understanding == Understanding::Understood
            && self.risk != Risk::Unknown
            && !self.capabilities.iter().any(unreadable)
    }

    /// Why the code isn't understood, in words; `None` if it is.
    pub fn why_not_understood(&self) -> Option<String> {
        if self.is_understood() {
            return None;
        }
        Some(self.understanding.why_not().unwrap_or_else(|| "not understood".into()))
    }
}

/// The first `most` of these findings: the gravest of each name, then the gravest of each name and
/// argument, then those that only repeat another one on a different line. If more than repetitions
/// are left out, an extra finding says so, because a decision on the list would not cover them.
pub fn listed(mut all: Vec<Capability>, most: usize) -> Vec<Capability> {
    if all.len() <= most {
        return all;
    }
    all.sort_by_key(|one| Reverse(one.severity));
    let (mut names, mut things) = (HashSet::new(), HashSet::new());
    let rank = |one: &Capability| {
        let is_new_thing = things.insert((one.name.clone(), one.argument.raw().to_owned()));
        let is_new_name = names.insert(one.name.clone());
        (!is_new_name, !is_new_thing)
    };
    let ranks: Vec<(bool, bool)> = all.iter().map(rank).collect();
    let mut ranked: Vec<_> = ranks.into_iter().zip(all).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let is_cut = ranked.get(most).is_some_and(|((_, is_repetition), _)| !is_repetition);
    let mut kept: Vec<_> = ranked.into_iter().take(most).map(|(_, one)| one).collect();
    let mark = Capability::unlisted();
    if is_cut && !kept.contains(&mark) {
        kept.push(mark);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_are_left_out_leave_a_mark_unless_they_only_repeat() {
        let many = |argument: fn(u32) -> String| -> Vec<_> {
            let one = |line| Capability::new(Deed::Connects, argument(line), line, Risk::High);
            (1..=300).map(one).collect()
        };
        let mut all = many(|_| "a".into());
        all.push(Capability::new(Deed::Writes, "b", 301, Risk::Medium));
        let kept = listed(all, 200);
        assert_eq!(kept.len(), 200);
        assert!(kept.iter().any(|one| one.name == "writes"));
        assert!(!kept.contains(&Capability::unlisted()));
        let mut all = many(|line| line.to_string());
        all.push(Capability::new(Deed::Writes, "b", 301, Risk::Medium));
        let kept = listed(all, 200);
        assert_eq!(kept.len(), 201);
        assert!(kept.iter().any(|one| one.name == "writes"));
        assert!(kept.contains(&Capability::unlisted()));
    }

    #[test]
    fn the_gravest_comes_first_and_repetitions_are_one() {
        let mut all: Vec<_> =
            (1..=12).map(|line| Capability::new(Deed::Writes, "a", line, Risk::Medium)).collect();
        all.push(Capability::new(Deed::Reads, "b", 13, Risk::Low));
        all.push(Capability::new(Deed::Deletes, "c", 14, Risk::High));
        let findings = Findings::new(all);
        let told: Vec<_> = findings
            .by_severity()
            .into_iter()
            .map(|one| (one.name, one.lines.len(), one.severity))
            .collect();
        let expected = [("deletes", 1, Risk::High), ("writes", 12, Risk::Medium)];
        assert_eq!(told, [&expected[..], &[("reads", 1, Risk::Low)]].concat());
    }

    #[test]
    fn a_finding_of_an_older_record_is_read() {
        let old = r#"{"name":"reads","argument":"x","line":3,"severity":"low"}"#;
        let read: Capability = serde_json::from_str(old).unwrap();
        assert_eq!(read, Capability::new(Deed::Reads, "x", 3, Risk::Low));
    }

    #[test]
    fn a_case_of_something_wider_is_that_too() {
        let keys = Capability::new(Deed::Credentials, "~/.ssh", 1, Risk::High);
        assert!(keys.is_a("credentials") && keys.is_a("reads"));
        assert!(!keys.is_a("writes") && !keys.is_a(""));
        assert!(!Capability::new(Deed::Reads, "x", 1, Risk::Low).is_a("credentials"));
    }

    #[test]
    fn words_fit_one_line_of_a_terminal() {
        let mut hostile = Capability::new(Deed::Deletes, "a\n\u{1b}[2Jb", 1, Risk::High);
        let words = |one: &Capability| Findings::new(vec![one.clone()]).by_severity()[0].words();
        assert!(!words(&hostile).contains(['\n', '\u{1b}']), "{}", words(&hostile));
        hostile.name = "sings\n".into();
        assert!(!words(&hostile).contains('\n'), "{}", words(&hostile));
    }
}
