//! Long foreign text, a window at a time.
//!
//! Pages with the same question as everything else, so that a key that is held down does not run
//! through pages and then answer something.

use super::{
    ask::{Asker, Left, choice},
    ours::count,
    screen::{Screen, Section},
};
use interpreter_core::Untrusted;
use std::io;

/// The choice at the end of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Page,
    All,
    Back,
}

/// Shows text, such as code or a diff.
pub(super) async fn text(
    asker: &mut Asker,
    screen: &mut Screen,
    section: Section,
    text: &Untrusted,
) -> io::Result<Result<(), Left>> {
    let lines: Vec<&str> = text.raw().split_inclusive('\n').collect();
    pages(asker, screen, section, &lines).await
}

/// Shows the rows of a list.
pub(super) async fn rows(
    asker: &mut Asker,
    screen: &mut Screen,
    rows: &[String],
) -> io::Result<Result<(), Left>> {
    // A name can hold a line break, and a row of a list is one line.
    let lines: Vec<String> = rows.iter().map(|row| row.replace('\n', "⏎") + "\n").collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    pages(asker, screen, Section::Output, &lines).await
}

async fn pages(
    asker: &mut Asker,
    screen: &mut Screen,
    section: Section,
    lines: &[&str],
) -> io::Result<Result<(), Left>> {
    let (mut rest, mut pages) = (lines, true);
    while !rest.is_empty() {
        let shown = if pages { screen.page(section, rest) } else { rest.len() };
        screen.quote(section, &Untrusted::new(rest[..shown].concat()))?;
        rest = &rest[shown..];
        if rest.is_empty() || !pages {
            continue;
        }
        let question = count(rest.len(), "line") + " more.";
        let choices = [
            choice('m', "more", Next::Page),
            choice('a', "all of it", Next::All),
            choice('b', "back to the question", Next::Back),
        ];
        match asker.choose(screen, &question, &choices).await {
            Ok(Next::Page) => {}
            Ok(Next::All) => pages = false,
            Ok(Next::Back) => break,
            Err(left) => return Ok(Err(left)),
        }
    }
    Ok(Ok(()))
}
