//! Findings in words.

use super::{
    ours::{Ours, ours, word},
    screen::Screen,
};
use interpreter_core::Merged;
use std::io;

/// Lines of one finding that are named.
const LINES: usize = 5;

/// Lists findings.
pub(crate) fn findings(screen: &mut Screen, found: &[Merged<'_>]) -> io::Result<()> {
    found.iter().try_for_each(|one| screen.row(&finding(one)))
}

/// One finding, with its lines.
pub(super) fn finding(one: &Merged<'_>) -> String {
    let lines = &one.lines;
    let numbers: Vec<_> = lines.iter().take(LINES).map(u32::to_string).collect();
    let more = if lines.len() > LINES { " …" } else { "" };
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    format!("{} ({noun} {}{more})", one.words(), numbers.join(", "))
}

/// How many of each kind there are.
pub(super) fn kinds(rest: &[Merged<'_>]) -> Ours {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for one in rest {
        match counts.iter_mut().find(|(name, _)| *name == one.name) {
            Some((_, number)) => *number += 1,
            None => counts.push((one.name, 1)),
        }
    }
    Ours::joined(counts.into_iter().map(|(name, number)| ours(number) + " " + word(name)), ", ")
}
