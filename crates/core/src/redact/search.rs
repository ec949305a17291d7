//! One pass over a text: every known value, and the beginning of every shape.
//!
//! Nearly all text holds neither. It is passed over by three bytes at a time that begin no pattern; an
//! automaton reads the rest. The time is linear in the text, whatever it holds: the automaton never
//! steps back, and what follows the beginning of a shape is read once for each shape.

use super::shapes::{End, Ends, shapes};
use aho_corasick::{
    Anchored,
    automaton::{Automaton, StateID},
    nfa::contiguous::NFA,
};
use std::{
    cmp::Reverse,
    ops::{ControlFlow, Range},
};

/// Bytes of the beginning of a secret from which on it is held back at the end of a piece. Fewer
/// would delay much that is harmless, such as a prompt that ends in `s`.
pub(super) const HELD: usize = 4;

/// The secrets to take out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Known values alone: for code, which must not change because it holds an example.
    Known,
    /// Known values and everything with a known shape.
    All,
}

/// The meaning of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pattern {
    /// A form of the value with this name.
    Known(usize),
    /// The beginning of this shape.
    Start(usize),
}

/// The automaton, and the meaning of its patterns.
#[derive(Clone)]
pub(super) struct Search {
    automaton: NFA,
    start: StateID,
    patterns: Vec<Pattern>,
    /// Which three bytes may begin a pattern, by their hash.
    begins: Box<[bool; BEGINS]>,
    /// The bytes of all patterns, sorted.
    sorted: Vec<(Vec<u8>, Pattern)>,
    pub(super) longest: usize,
    /// Whether some pattern begins with this byte.
    first: [bool; 256],
}

const BEGINS: usize = 1 << 14;

/// A part of a text that is a secret, by the value or the shape that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) of: Pattern,
}

impl Search {
    /// `None` if there is nothing to look for. Every pattern has at least three bytes.
    pub(super) fn new(patterns: Vec<(Vec<u8>, Pattern)>) -> Option<Self> {
        let longest = patterns.iter().map(|(text, _)| text.len()).max()?;
        let automaton = NFA::new(patterns.iter().map(|(text, _)| text))
            .expect("the bounds on values keep it far below what an automaton holds");
        let start = automaton.start_state(Anchored::No).expect("it may begin anywhere");
        let mut first = [false; 256];
        let mut begins = Box::new([false; BEGINS]);
        for (text, _) in &patterns {
            first[usize::from(text[0])] = true;
            begins[hash([text[0], text[1], text[2]])] = true;
        }
        let kinds = patterns.iter().map(|(_, kind)| *kind).collect();
        let mut sorted = patterns;
        sorted.sort_unstable();
        Some(Self { automaton, start, patterns: kinds, begins, sorted, longest, first })
    }

    /// Whether there is a known value or the beginning of a shape.
    pub(super) fn has_hit(&self, bytes: &[u8]) -> bool {
        self.hits(bytes, |_, _| ControlFlow::Break(())).is_break()
    }

    /// The secrets in a text, in order and apart from each other, and from where on it is undecided:
    /// more text could make that a secret.
    pub(super) fn scan(&self, text: &str, scope: Scope, end: End) -> (Vec<Found>, usize) {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut open = bytes.len();
        // How far the text was read for each shape. Another beginning there is a part of that.
        let mut read = Vec::new();
        _ = self.hits(bytes, |of, range| {
            match of {
                Pattern::Known(_) => found.push(Found { range, of }),
                Pattern::Start(_) if scope == Scope::Known => {}
                Pattern::Start(number) => {
                    read.resize(shapes().len(), 0);
                    if range.start < read[number] {
                        return ControlFlow::Continue(());
                    }
                    let (ends, until) = shapes()[number].ends(bytes, &range, end);
                    read[number] = until;
                    match ends {
                        Ends::At(at) => {
                            let keeps = shapes()[number].keeps;
                            let start = if keeps { range.end } else { range.start };
                            found.push(Found { range: start..at, of });
                        }
                        Ends::Undecided => open = open.min(range.start),
                        Ends::Nowhere => {}
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if let Some(tail) = self.unfinished(bytes) {
            let length = bytes.len() - tail;
            // A part of a value at the very end stays: whoever guesses a value would be told how far
            // the guess is right.
            if end == End::Open && length >= HELD {
                open = open.min(tail);
            }
        }
        (merged(found), open)
    }

    /// Everything that is there, also where it overlaps.
    pub(super) fn hits(
        &self,
        bytes: &[u8],
        mut hit: impl FnMut(Pattern, Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut state, mut at) = (self.start, 0);
        while at < bytes.len() {
            if state == self.start {
                let Some(skipped) = self.next_begin(&bytes[at..]) else { break };
                at += skipped;
            }
            state = self.automaton.next_state(Anchored::No, state, bytes[at]);
            at += 1;
            if self.automaton.is_match(state) {
                for index in 0..self.automaton.match_len(state) {
                    let pattern = self.automaton.match_pattern(state, index);
                    let length = self.automaton.pattern_len(pattern);
                    hit(self.patterns[pattern.as_usize()], at - length..at)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Where a pattern may begin next.
    fn next_begin(&self, bytes: &[u8]) -> Option<usize> {
        bytes.windows(3).position(|three| self.begins[hash([three[0], three[1], three[2]])])
    }

    /// Where the longest end of the text begins that is the beginning of a pattern.
    fn unfinished(&self, bytes: &[u8]) -> Option<usize> {
        let from = bytes.len().saturating_sub(self.longest - 1);
        let mut begins = (from..bytes.len()).filter(|at| self.first[usize::from(bytes[*at])]);
        begins.find_map(|at| {
            let tail = &bytes[at..];
            let next = self.sorted.partition_point(|(text, _)| text.as_slice() <= tail);
            let (text, _) = self.sorted.get(next)?;
            text.starts_with(tail).then_some(at)
        })
    }
}

/// A number for three bytes.
fn hash(three: [u8; 3]) -> usize {
    let [a, b, c] = three.map(usize::from);
    (a ^ (b << 4) ^ (c << 7)) & (BEGINS - 1)
}

/// Joins what overlaps. The one that begins first gives the name, of those the longest, and of those
/// the value that is known or the shape that is listed first.
fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|one| (one.range.start, Reverse(one.range.end), one.of));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}
