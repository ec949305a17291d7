//! Findings while they are being found: each once, and not too many.
//!
//! When there are more than can be shown, the gravest stay, and of each deed at least one, so that
//! danger cannot hide behind a crowd of harmless findings. Those that are left out leave a grave
//! one behind, unless they only repeat another one on another line. Never changes what was found
//! but for cutting long arguments.

use crate::says::{Says, Site};
use interpreter_core::{
    Capability, Deed, Findings, Risk, Untrusted,
    findings::{CUT, MOST_ARGUMENT, MOST_SOURCES, listed},
};
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
};

/// Most findings that are reported.
const MOST: usize = 200;

/// A table by hashes that are made with a secret, and need no other.
type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// The hash of a hash: itself.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// All that was found so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    kept: Vec<Capability>,
    /// Where each of them is kept, by the hash of what makes it another one.
    seen: ByHash<Vec<usize>>,
    hasher: RandomState,
    /// How many are kept of each severity.
    counts: [usize; 4],
    /// The gravest of each thing that is kept, by the hash of deed and argument.
    things: ByHash<Risk>,
    /// The gravest of each deed that is kept.
    deeds: [Option<Risk>; Deed::ALL.len()],
    /// Whether something was left out that does not only repeat another one.
    is_unlisted: bool,
    /// Whether anything above low was left out, or a write.
    is_cut: bool,
}

impl Collected {
    pub(crate) fn add(&mut self, says: Says<'_>, argument: &str, at: Site) {
        let Says { deed, severity, reason, source, confidence, is_added: _, saves: _ } = says;
        let argument = cut(argument);
        let thing = self.hasher.hash_one((deed as u8, &argument));
        // Things on other lines are others. Equal hashes are compared below.
        let key = thing ^ u64::from(at.line).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let known = self.seen.get(&key).into_iter().flatten().copied().find(|&place| {
            let one = &self.kept[place];
            one.line == at.line && one.name == deed.name() && one.argument.raw() == argument
        });
        let count = &mut self.counts[severity as usize];
        // Most of a crowd ends here, before anything is copied.
        let is_told = match known.map(|place| &self.kept[place]) {
            None if *count < MOST => false,
            None => {
                let is_as_grave = |kept: Option<Risk>| kept.is_some_and(|kept| kept >= severity);
                let is_left_out = is_as_grave(self.deeds[deed as usize]);
                self.is_cut |= is_left_out && (severity > Risk::Low || deed == Deed::Writes);
                self.is_unlisted |= is_left_out && !is_as_grave(self.things.get(&thing).copied());
                is_left_out
            }
            Some(one) => {
                let is_named = || one.sources.iter().any(|known| known.raw() == source);
                severity <= one.severity
                    && (source.is_empty() || one.sources.len() >= MOST_SOURCES || is_named())
            }
        };
        if is_told {
            return;
        }
        for gravest in [
            self.things.entry(thing).or_insert(severity),
            self.deeds[deed as usize].get_or_insert(severity),
        ] {
            *gravest = severity.max(*gravest);
        }
        let found = Capability {
            columns: at.columns,
            confidence,
            reason: Untrusted::new(reason),
            sources: (!source.is_empty()).then(|| Untrusted::new(source)).into_iter().collect(),
            ..Capability::new(deed, argument, at.line, severity)
        };
        if let Some(place) = known {
            self.kept[place].absorb(found);
        } else {
            self.seen.entry(key).or_default().push(self.kept.len());
            *count += 1;
            self.kept.push(found);
        }
    }

    /// The findings so far.
    pub(crate) fn so_far(&self) -> &[Capability] {
        &self.kept
    }

    /// Whether a finding names this path as read, listed, changed or deleted.
    pub(crate) fn names(&self, path: &str) -> bool {
        [Deed::Reads, Deed::Lists, Deed::Deletes, Deed::Writes]
            .into_iter()
            .any(|deed| self.things.contains_key(&self.hasher.hash_one((deed as u8, &cut(path)))))
    }

    /// Whether the findings so far are not all that the lines of the code do.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The findings in the order of their lines.
    pub(crate) fn finish(mut self) -> Findings {
        if self.is_unlisted {
            self.kept.push(Capability::unlisted());
        }
        let mut kept = listed(self.kept, MOST);
        kept.sort_by_key(|found| found.line);
        Findings::new(kept)
    }
}

/// The beginning of a long argument, up to the end of a word, or of a folder's name in a path.
/// Secrets are taken out of findings later, and a part of one would not be known for it.
fn cut(argument: &str) -> Cow<'_, str> {
    // No character is shorter than a byte.
    if argument.len() <= MOST_ARGUMENT {
        return argument.into();
    }
    match argument.char_indices().nth(MOST_ARGUMENT) {
        Some((end, _)) => {
            let kept = &argument[..end];
            let has_words = kept.contains(char::is_whitespace);
            let is_path = !has_words && kept.starts_with(['/', '~', '.', '$']);
            let is_inside =
                |c: char| if has_words { !c.is_whitespace() } else { c != '/' || !is_path };
            format!("{}{CUT}", kept.trim_end_matches(is_inside)).into()
        }
        None => argument.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(collected: &mut Collected, deed: Deed, severity: Risk, argument: &str, line: u32) {
        collected.add(Says::new(deed, severity, ""), argument, Site { line, columns: None });
    }

    #[test]
    fn the_same_finding_is_kept_once() {
        let mut collected = Collected::default();
        add(&mut collected, Deed::Reads, Risk::Low, "a", 1);
        add(&mut collected, Deed::Reads, Risk::Low, "a", 1);
        add(&mut collected, Deed::Reads, Risk::Low, "a", 2);
        assert_eq!(collected.finish().capabilities.len(), 2);
    }

    #[test]
    fn a_crowd_of_harmless_findings_does_not_hide_a_grave_one() {
        let mut collected = Collected::default();
        for line in 1..=10_000 {
            add(&mut collected, Deed::Reads, Risk::Low, "a", line);
        }
        add(&mut collected, Deed::Deletes, Risk::High, "b", 10_001);
        let findings = collected.finish();
        assert_eq!(findings.capabilities.len(), MOST);
        assert_eq!(findings.risk, Risk::High);
        assert_eq!(findings.capabilities.last().unwrap().name, "deletes");
    }

    #[test]
    fn a_crowd_of_grave_findings_does_not_hide_another_one() {
        let mut collected = Collected::default();
        for line in 1..=1_000 {
            add(&mut collected, Deed::Connects, Risk::High, "a", line);
        }
        assert!(collected.is_cut());
        add(&mut collected, Deed::Deletes, Risk::High, "b", 1_001);
        add(&mut collected, Deed::Unreadable, Risk::High, "refused", 1);
        add(&mut collected, Deed::Deletes, Risk::High, "c", 1_002);
        let findings = collected.finish();
        let has = |name, argument| {
            let is = |one: &Capability| one.name == name && one.argument.raw() == argument;
            findings.capabilities.iter().any(is)
        };
        assert!(has("connects", "a") && has("deletes", "b") && has("unreadable", "refused"));
        assert!(findings.capabilities.contains(&Capability::unlisted()));
        assert!(findings.capabilities.len() <= MOST + 1);
    }

    #[test]
    fn repetitions_are_left_out_without_a_mark() {
        let mut collected = Collected::default();
        for line in 1..=1_000 {
            add(&mut collected, Deed::Reads, Risk::Low, "a", line);
            add(&mut collected, Deed::Writes, Risk::Medium, "b", line);
        }
        let findings = collected.finish();
        assert_eq!((findings.capabilities.len(), findings.risk), (MOST, Risk::Medium));
    }

    #[test]
    fn a_long_argument_is_cut() {
        assert_eq!(cut(&"ä".repeat(MOST_ARGUMENT)), "ä".repeat(MOST_ARGUMENT));
        assert_eq!(cut(&"ä".repeat(MOST_ARGUMENT + 1)), "…");
        assert_eq!(cut("short"), "short");
        let path = format!("/home/x/{}", "a/".repeat(MOST_ARGUMENT));
        let shown = cut(&path);
        assert!(shown.starts_with("/home/x/a/") && shown.ends_with("a/…"), "{shown}");
        assert!(shown.chars().count() > 400, "{shown}");
    }

    #[test]
    fn no_part_of_a_secret_stays_at_the_cut() {
        let secret = "Zq8/Wx3+Lm5vB7nK2rT9yH4jC6dF0gAs1pQeRtUi";
        for before in 0..MOST_ARGUMENT + 9 {
            let text = format!("{} {secret} {}", "x ".repeat(before / 2), "y".repeat(600));
            let shown = cut(&text);
            assert!(shown.contains(secret) || !shown.contains(&secret[..4]), "{shown}");
        }
    }
}
