//! Findings while they are being found: each once, and not too many.
//!
//! When there are more than can be shown, the gravest stay, so that danger cannot hide behind a
//! crowd of harmless findings. Never changes what was found but for cutting long arguments.

use crate::says::{Says, Site};
use interpreter_core::{Capability, Deed, Findings, Untrusted, findings::MOST_ARGUMENT};
use std::collections::{HashMap, hash_map::Entry};

/// Most findings that are reported.
const MOST: usize = 200;

/// All that was found so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    kept: Vec<Capability>,
    seen: HashMap<(Deed, String, u32), usize>,
    /// How many are kept of each severity.
    counts: [usize; 4],
}

impl Collected {
    pub(crate) fn add(&mut self, says: Says<'_>, argument: &str, at: Site) {
        let Says { deed, severity, reason, source, confidence } = says;
        let argument = cut(argument);
        let count = &mut self.counts[severity as usize];
        let found = Capability {
            columns: at.columns,
            confidence,
            reason: Untrusted::new(reason),
            sources: (!source.is_empty()).then(|| Untrusted::new(source)).into_iter().collect(),
            ..Capability::new(deed, argument.clone(), at.line, severity)
        };
        match self.seen.entry((deed, argument, at.line)) {
            Entry::Occupied(known) => self.kept[*known.get()].absorb(found),
            Entry::Vacant(_) if *count == MOST => {}
            Entry::Vacant(place) => {
                place.insert(self.kept.len());
                *count += 1;
                self.kept.push(found);
            }
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

fn cut(argument: &str) -> String {
    match argument.char_indices().nth(MOST_ARGUMENT) {
        Some((end, _)) => format!("{}…", &argument[..end]),
        None => argument.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Risk;

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
