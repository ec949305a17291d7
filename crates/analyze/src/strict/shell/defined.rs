//! The functions of a script, and where it is certain that they are defined.
//!
//! # Threat
//! `mkfs x` in front of `mkfs() { …; }`, or of one that is never reached: the name is that of a
//! program then.
//!
//! # Mechanism
//! A shell runs the statements of a script in their order. So a function of the outermost level is
//! there for every later statement, and for the functions that can't be called before it. Later
//! cells have it only if nothing stood before it that could have kept the shell from reaching it.

use shuck_ast::{Command, File, Stmt, StmtTerminator};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

/// The functions that a script defines at its outermost level.
#[derive(Clone, Debug, Default)]
pub(super) struct Defined {
    /// Where each is defined first.
    at: HashMap<String, usize>,
    /// Their bodies, each with the place of the first statement by which it can be called.
    bodies: Vec<(Range<usize>, usize)>,
    /// Those that stand before everything else.
    leading: HashSet<String>,
}

impl Defined {
    pub(super) fn of(file: &File) -> Self {
        let mut defined = Self::default();
        let all: Vec<_> = file.body.iter().collect();
        let mut next = usize::MAX;
        for statement in all.iter().rev() {
            let range = statement.span.start.offset()..statement.span.end.offset();
            if is_definition(statement) {
                defined.bodies.push((range, next));
            } else {
                next = range.start;
            }
        }
        defined.bodies.reverse();
        let mut is_leading = true;
        for statement in all {
            is_leading &= is_definition(statement);
            if let Command::Function(function) = &statement.command
                && is_definition(statement)
            {
                for name in function.static_names() {
                    let start = statement.span.start.offset();
                    defined.at.entry(name.as_str().into()).or_insert(start);
                    if is_leading {
                        defined.leading.insert(name.as_str().into());
                    }
                }
            }
        }
        defined
    }

    /// Whether a command at this place is surely the function of that name.
    pub(super) fn is_at(&self, name: &str, place: usize) -> bool {
        let after = self.bodies.partition_point(|(body, _)| body.start <= place);
        let before = after.checked_sub(1).and_then(|last| self.bodies.get(last));
        let body = before.filter(|(body, _)| body.contains(&place));
        let reached = body.map_or(place, |(_, next)| *next);
        self.at.get(name).is_some_and(|at| *at < reached)
    }

    /// Those that later cells surely have.
    pub(super) fn for_later(&self) -> impl Iterator<Item = &str> {
        self.leading.iter().map(String::as_str)
    }
}

/// Whether a statement defines a function in this shell, and not in one of its own.
fn is_definition(statement: &Stmt) -> bool {
    matches!(statement.command, Command::Function(_))
        && !matches!(statement.terminator, Some(StmtTerminator::Background(_)))
}

/// The names of all functions that stand in a script, at whatever place, and perhaps others.
pub(super) fn written(source: &str) -> HashSet<String> {
    let is_end = |c: char| c.is_whitespace() || "();&|{}".contains(c);
    let mut names = HashSet::new();
    for (at, _) in source.match_indices('(') {
        let is_empty = source[at + 1..].trim_start().starts_with(')');
        let before = source[..at].trim_end();
        if is_empty && let Some(name) = before.rsplit(is_end).next() {
            names.insert(name.to_owned());
        }
    }
    for (at, word) in source.match_indices("function") {
        let after = source[at + word.len()..].trim_start();
        names.extend(after.split(is_end).next().map(str::to_owned));
    }
    names
}
