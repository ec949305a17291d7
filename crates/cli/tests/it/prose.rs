//! Phrases that read like a translation must not come back: in pages, help texts and comments.
//!
//! Help texts are doc comments, so the comments cover them. Must not judge code: `None if` is an arm
//! of a match there.

use crate::pages::{pages, root, text_lines};
use std::{fs, path::Path};

/// Phrases that no sentence may contain.
const BANNED: &[&str] = &[
    "is told",
    "are told",
    "is said",
    "can be had",
    "of yours",
    "none if",
    "which is none",
    "with your yes",
    "on your yes",
];

/// Files whose comments are still to be rewritten. This list may only shrink.
const ALLOWED: &[&str] = &[
    // Names them.
    "crates/cli/tests/it/prose.rs",
];

/// The faults of one paragraph.
fn faults(paragraph: &str) -> Vec<String> {
    let lower = paragraph.to_lowercase();
    let mut found: Vec<_> = BANNED
        .iter()
        .filter(|phrase| lower.contains(*phrase))
        .map(|one| (*one).to_owned())
        .collect();
    let opens = |sentence: &&str| sentence.starts_with("What ") && !sentence.contains('?');
    // The question mark belongs to a sentence, so it must stay with it.
    let sentences = paragraph.split(". ");
    found.extend(sentences.filter(opens).map(|_| "a sentence that opens with \"What\"".into()));
    found
}

/// The paragraphs of the lines that `text` keeps of each line, with the number of their first line.
fn paragraphs<'a>(lines: impl Iterator<Item = (usize, Option<&'a str>)>) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in lines {
        let Some(line) = line.map(str::trim).filter(|line| !line.is_empty()) else {
            is_open = false;
            continue;
        };
        match all.last_mut().filter(|_| is_open && !line.starts_with("- ")) {
            Some((_, text)) => *text = format!("{text} {line}"),
            None => all.push((number, line.trim_start_matches("- ").to_owned())),
        }
        is_open = true;
    }
    all
}

fn report(path: &Path, paragraphs: Vec<(usize, String)>) -> Vec<String> {
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let of = |(number, text): (usize, String)| {
        let faults = faults(&text).into_iter();
        faults.map(move |fault| (number, fault)).collect::<Vec<_>>()
    };
    let all = paragraphs.into_iter().flat_map(of);
    all.map(|(number, fault)| format!("{name}:{number}: {fault}")).collect()
}

#[test]
fn no_page_has_a_banned_phrase() {
    let mut all = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        // Tables hold the examples of CONTRIBUTING; headings are no sentences.
        let is_prose = |line: &&str| !line.trim_start().starts_with(['|', '#']);
        let lines = text_lines(&page).map(|(at, line)| (at, Some(line).filter(is_prose)));
        all.extend(report(&path, paragraphs(lines)));
    }
    all.retain(|fault| !fault.starts_with("CONTRIBUTING.md"));
    assert!(all.is_empty(), "reads like a translation:\n{}", all.join("\n"));
}

#[test]
fn no_comment_has_a_banned_phrase() {
    let mut all = Vec::new();
    for path in crate::arrow::sources(&root().join("crates")) {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        if ALLOWED.iter().any(|allowed| name.starts_with(allowed)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let comment = |line: &'_ str| -> Option<usize> {
            let at = line.len() - line.trim_start().len();
            let marks = ["///", "//!", "//"];
            marks.iter().find(|mark| line[at..].starts_with(*mark)).map(|mark| at + mark.len())
        };
        let lines = text.lines().enumerate();
        let lines = lines.map(|(at, line)| (at + 1, comment(line).map(|from| &line[from..])));
        all.extend(report(&path, paragraphs(lines)));
    }
    assert!(all.is_empty(), "reads like a translation:\n{}", all.join("\n"));
}

#[test]
fn a_fault_is_found_and_a_question_is_none() {
    assert_eq!(faults("It works. What is new stays."), ["a sentence that opens with \"What\""]);
    assert_eq!(faults("The model is told."), ["is told"]);
    assert_eq!(faults("What now?"), Vec::<String>::new());
    assert_eq!(faults("`None` if it is missing."), Vec::<String>::new());
}
