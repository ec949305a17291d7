//! Rows about sessions that go on from others, and about cells that run again.

use super::{
    ours::{Ours, count, ours, word},
    screen::Screen,
};
use interpreter_core::{Body, FilesRewound, MemoryRewound, Rewound, session};
use std::io;

/// Shows a record in a session that goes on.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
pub(super) fn show(screen: &mut Screen, body: &Body) -> io::Result<()> {
    match body {
        Body::Restarted { languages } => screen.tell(&session::restarted(languages)),
        Body::Rewound { to, cells, .. } => {
            let words = ours("Back to before ") + word(to) + ": " + count(cells.len(), "cell");
            screen.say(words + " and everything said since no longer count.")
        }
        Body::CameBack(rewound) => {
            came_back(rewound).iter().try_for_each(|row| screen.row_of_words(row))
        }
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
        Body::Resumed { from, before, question, .. } => {
            let words = ours("the conversation of session ") + word(from) + " goes on";
            screen.say(head(match (before, question) {
                (Some(cell), _) => words + ", from before " + word(cell),
                (None, Some(question)) => words + ", at question " + word(question),
                (None, None) => words,
            }))
        }
        Body::Restarted { languages } => {
            screen.say(head(ours("you restarted interpreters")))?;
            screen.row(&languages.join(", "))
        }
        Body::Rewound { to, cells, programs } => {
            screen.say(head(ours("you went back to before ") + word(to)))?;
            if *programs > 0 {
                screen.row_of_words(&format!("programs that were ended: {programs}"))?;
            }
            screen.row_of_words(&format!("no longer count: {}", cells.join(", ")))
        }
        Body::CameBack(rewound) => {
            screen.say(head(ours("came back")))?;
            came_back(rewound).iter().try_for_each(|row| screen.row_of_words(row))
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

/// How interpreters and files are after going back, a row each.
fn came_back(rewound: &Rewound) -> Vec<String> {
    let mut rows = Vec::new();
    for kernel in &rewound.kernels {
        let memory = match &kernel.memory {
            MemoryRewound::Restored { beside } if beside.is_empty() => "as it was then".to_owned(),
            MemoryRewound::Restored { beside } => format!("as it was then, without {beside}"),
            MemoryRewound::Fresh => "starts afresh, as then".to_owned(),
            MemoryRewound::Lost { reason } => format!("starts afresh: {reason}"),
        };
        rows.push(format!("{}: {memory}", kernel.language));
    }
    rows.push(match &rewound.files {
        FilesRewound::Restored => "staged files: as they were then".to_owned(),
        FilesRewound::NotStaged => "files: nothing is staged here, so they stay".to_owned(),
        FilesRewound::NotRestored { reason } => format!("staged files: stay as they are, {reason}"),
    });
    rows
}
