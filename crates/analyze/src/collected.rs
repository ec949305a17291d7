//! Findings while they are being found: each once, and not too many.
//!
//! When there are more than can be shown, the gravest stay, so that danger cannot hide behind a
//! crowd of harmless findings. Never changes what was found but for cutting long arguments.

use interpreter_core::{Capability, Deed, Findings, Risk, findings::MOST_ARGUMENT};
use std::collections::HashSet;

/// Most findings that are reported.
const MOST: usize = 200;

/// All that was found so far.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    kept: Vec<Capability>,
    seen: HashSet<(Deed, String, u32)>,
    /// How many are kept of each severity.
    counts: [usize; 4],
}

impl Collected {
    pub(crate) fn add(&mut self, doing: Deed, severity: Risk, argument: &str, line: u32) {
        let count = &mut self.counts[severity as usize];
        if *count == MOST {
            return;
        }
        let argument = cut(argument);
        if self.seen.insert((doing, argument.clone(), line)) {
            *count += 1;
            self.kept.push(Capability::new(doing, argument, line, severity));
        }
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

    #[test]
    fn the_same_finding_is_kept_once() {
        let mut collected = Collected::default();
        collected.add(Deed::Reads, Risk::Low, "a", 1);
        collected.add(Deed::Reads, Risk::Low, "a", 1);
        collected.add(Deed::Reads, Risk::Low, "a", 2);
        assert_eq!(collected.finish().capabilities.len(), 2);
    }

    #[test]
    fn a_crowd_of_harmless_findings_does_not_hide_a_grave_one() {
        let mut collected = Collected::default();
        for line in 1..=10_000 {
            collected.add(Deed::Reads, Risk::Low, "a", line);
        }
        collected.add(Deed::Deletes, Risk::High, "b", 10_001);
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
