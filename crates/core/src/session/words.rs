//! What the model is told of a run or a refusal. Plain, exact, and marked as data where it is.

use super::event::Ran;
use crate::{Excerpt, FileChange, Untrusted};
use std::fmt::Write;

/// How many changed files are named to the model.
const NAMED: usize = 20;

pub(super) fn ran(ran: &Ran, excerpt: &Excerpt, interrupted: bool) -> Untrusted {
    let mut text = excerpt.text().raw().to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if excerpt.is_empty() {
        text.push_str("[no output]\n");
    }
    let mut line = match (&ran.limit, ran.signal, ran.status) {
        (Some(limit), _, _) => format!("stopped: reached the limit {limit}"),
        (None, Some(signal), _) => format!("ended by signal {signal}"),
        (None, None, Some(status)) => format!("status {status}"),
        (None, None, None) => "ended without a status".into(),
    };
    if interrupted {
        line.push_str("; interrupted by the user");
    }
    if ran.kernel_ended {
        line.push_str("; the interpreter ended, so variables are lost");
    }
    // Writing to a string cannot fail.
    _ = writeln!(text, "[{line}]");
    if !ran.effects.files.is_empty() {
        _ = writeln!(text, "[staged: {}]", files(&ran.effects.files));
    }
    Untrusted::new(text)
}

fn files(files: &[FileChange]) -> String {
    let mut names: Vec<_> = files
        .iter()
        .take(NAMED)
        .map(|file| {
            format!("{} {}", file.change.word(), Untrusted::new(&*file.path).for_terminal_line(200))
        })
        .collect();
    if files.len() > NAMED {
        names.push(format!("and {} more", files.len() - NAMED));
    }
    names.join(", ")
}

pub(super) fn rejected(reason: Option<&str>) -> Untrusted {
    Untrusted::new(match reason {
        Some(reason) => format!("[not run: the user rejected it and says: {reason}]\n"),
        None => "[not run: the user rejected it]\n".into(),
    })
}

pub(super) fn denied(rule: &str) -> Untrusted {
    Untrusted::new(format!("[not run: refused by {rule}]\n"))
}

pub(super) fn not_reached() -> Untrusted {
    Untrusted::new("[not run: the code before it was not run or failed]\n")
}

pub(super) fn could_not_run(message: &str) -> Untrusted {
    Untrusted::new(format!("[not run: {message}]\n"))
}
