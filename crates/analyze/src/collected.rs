//! Findings while they are being found: each once, and not too many.
//!
//! When there are more than can be shown, the gravest stay, so that danger cannot hide behind a
//! crowd of harmless findings. Never changes what was found but for cutting long arguments.

use crate::says::{Says, Site};
use interpreter_core::{
    Capability, Findings, Untrusted,
    findings::{MOST_ARGUMENT, MOST_SOURCES},
};
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

/// Most findings that are reported.
const MOST: usize = 200;

/// All that was found so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    kept: Vec<Capability>,
    /// Where each of them is kept, by the hash of what makes it another one.
    seen: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
    /// How many are kept of each severity.
    counts: [usize; 4],
}

impl Collected {
    pub(crate) fn add(&mut self, says: Says<'_>, argument: &str, at: Site) {
        let Says { deed, severity, reason, source, confidence, is_added: _ } = says;
        let argument = cut(argument);
        let key = self.hasher.hash_one((deed, &argument, at.line));
        let known = self.seen.get(&key).into_iter().flatten().copied().find(|&place| {
            let one = &self.kept[place];
            one.line == at.line && one.name == deed.name() && one.argument.raw() == argument
        });
        let count = &mut self.counts[severity as usize];
        // Most of a crowd ends here, before anything is copied.
        let is_told = match known.map(|place| &self.kept[place]) {
            None => *count == MOST,
            Some(one) => {
                let is_named = || one.sources.iter().any(|known| known.raw() == source);
                severity <= one.severity
                    && (source.is_empty() || one.sources.len() >= MOST_SOURCES || is_named())
            }
        };
        if is_told {
            return;
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

    /// The findings in the order of their lines.
    pub(crate) fn finish(mut self) -> Findings {
        if self.kept.len() > MOST {
            self.kept.sort_by_key(|found| std::cmp::Reverse(found.severity));
            self.kept.truncate(MOST);
        }
        self.kept.sort_by_key(|found| found.line);
        Findings::new(self.kept)
    }
}

fn cut(argument: &str) -> Cow<'_, str> {
    // No character is shorter than a byte.
    if argument.len() <= MOST_ARGUMENT {
        return argument.into();
    }
    match argument.char_indices().nth(MOST_ARGUMENT) {
        Some((end, _)) => format!("{}…", &argument[..end]).into(),
        None => argument.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{Deed, Risk};

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
    fn a_long_argument_is_cut() {
        assert_eq!(cut(&"ä".repeat(MOST_ARGUMENT + 9)).chars().count(), MOST_ARGUMENT + 1);
        assert_eq!(cut("short"), "short");
    }
}
