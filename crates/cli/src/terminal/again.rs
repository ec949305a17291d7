//! Rows about sessions that go on from others, and about cells that run again.

use super::{
    ours::{Ours, count, ours, word},
    screen::Screen,
};
use interpreter_core::{Body, session};
use std::io;

/// Shows a record in a session that goes on.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn show(screen: &mut Screen, body: &Body) -> io::Result<()> {
    match body {
        Body::Restarted { languages } => screen.tell(&session::restarted(languages)),
        _ => Ok(()),
    }
}

/// Tells a record, for `history show`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn tell(
    screen: &mut Screen,
    body: &Body,
    head: impl Fn(Ours) -> Ours,
) -> io::Result<()> {
    match body {
        Body::Resumed { from, before, .. } => {
            let words = ours("the conversation of session ") + word(from) + " goes on";
            screen.say(head(match before {
                Some(cell) => words + ", from before " + word(cell),
                None => words,
            }))
        }
        Body::Restarted { languages } => {
            screen.say(head(ours("you restarted interpreters")))?;
            screen.row(&languages.join(", "))
        }
        Body::Replay { cells, left_out } => {
            screen.say(head(ours("you asked to run ") + count(cells.len(), "cell") + " again"))?;
            screen.row_of_words(&cells.join(", "))?;
            let row = |one: &interpreter_core::record::CellLeftOut| {
                format!("left out: {}, {}", one.cell, one.why)
            };
            left_out.iter().try_for_each(|one| screen.row_of_words(&row(one)))
        }
        _ => Ok(()),
    }
}
