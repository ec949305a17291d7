//! The Markdown pages: links lead somewhere, and prose has one width.
//!
//! Must not look at help texts or comments: `docs.rs` and `prose.rs` do that.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The widest line of prose. Tables, code blocks and words that cannot break are excepted.
const WIDTH: usize = 100;

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every page of the repository: those at its root and all below `docs`.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs")];
    let entries = |folder: &Path| {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    found.extend(entries(root()).into_iter().filter(|path| path.is_file()));
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found.sort();
    found
}

/// The lines of a page outside its code blocks, numbered from 1.
pub(crate) fn text_lines(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    page.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        let shown = !in_code && !fence;
        in_code ^= fence;
        shown.then_some((at + 1, line))
    })
}

/// The anchor that a heading has on GitHub.
fn anchor(heading: &str) -> String {
    let lower = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = lower.chars().filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &str) -> Vec<String> {
    text_lines(page)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| anchor(line))
        .collect()
}

/// The targets of the links on a page: what stands between `](` and `)`.
fn links(page: &str) -> Vec<String> {
    let text: String = text_lines(page).map(|(_, line)| format!("{line}\n")).collect();
    let parts = text.split("](").skip(1);
    parts.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for link in links(&page) {
            if link.contains("://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let is_known = target.exists()
                && (place.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(&place.to_owned()));
            if !is_known {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn prose_has_one_width() {
    let mut wide = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for (number, line) in text_lines(&page) {
            let is_table = line.trim_start().starts_with('|');
            let can_break = line.trim().contains(' ');
            if line.chars().count() > WIDTH && !is_table && can_break {
                wide.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "wider than {WIDTH} columns:\n{}", wide.join("\n"));
}

#[test]
fn every_page_is_on_the_index() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let listed = links(&index);
    for path in pages() {
        let Ok(name) = path.strip_prefix(root().join("docs")) else { continue };
        let name = name.display().to_string();
        assert!(name == "README.md" || listed.contains(&name), "docs/README.md lacks {name}");
    }
}
