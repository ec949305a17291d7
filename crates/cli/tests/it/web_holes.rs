//! The catalogue of holes that servers of this kind had: each is tried on ours by tests that exist
//! and are run.

use self::table::HOLES;
use std::{collections::BTreeSet, path::Path};

mod table;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A hole.
struct Hole {
    name: &'static str,
    /// A program that had it.
    seen: &'static str,
    /// The tests that try it here.
    tests: &'static [&'static str],
}

/// The file of a test, and its name in there.
fn place(test: &str) -> Option<(String, &str)> {
    let (part, rest) = test.split_once('/')?;
    if part == "page" {
        let (file, words) = rest.split_once(": ")?;
        return Some((format!("web/page/tests/{file}.mjs"), words));
    }
    let (file, name) = rest.split_once("::")?;
    let folder = match part {
        "it" => "cli/tests/it",
        "web" => "web/src",
        "core" => "core/src",
        _ => return None,
    };
    Some((format!("{folder}/{file}.rs"), name))
}

/// Whether there is such a test, and nothing keeps it from being run.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let start = format!("fn {name}(");
    let at = lines
        .iter()
        .position(|line| line.strip_prefix("async ").unwrap_or(line).starts_with(&start));
    let Some(at) = at else { return false };
    let above: Vec<_> =
        lines[..at].iter().rev().take_while(|line| line.starts_with(['#', '/'])).collect();
    let is_marked =
        above.iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
    is_marked && !above.iter().any(|line| line.starts_with("#[ignore"))
}

fn exists(named: &str) -> bool {
    let Some((file, name)) = place(named) else { return false };
    let Ok(content) = fs_err::read_to_string(Path::new(CRATES).join(file)) else { return false };
    if named.starts_with("page/") {
        content.contains(&format!("\"{name}\""))
    } else {
        is_test(&content, name)
    }
}

#[test]
fn every_hole_is_tried_by_tests_that_exist() {
    let names: BTreeSet<_> = HOLES.iter().map(|hole| hole.name).collect();
    assert_eq!(names.len(), HOLES.len(), "two holes have the same name");
    assert!(HOLES.len() >= 37, "there are {}", HOLES.len());
    for Hole { name, seen, tests } in HOLES {
        assert!(!seen.is_empty() && !tests.is_empty(), "{name}");
        assert!(name.split(' ').count() >= 3, "`{name}` does not say what it is");
        for test in *tests {
            assert!(exists(test), "`{name}` names the test {test}, which does not exist");
        }
    }
    // The control: a test that there is not is noticed.
    for wrong in ["it/page_server::fly", "it/nothing::fly", "fly", "page/hostile: fly"] {
        assert!(!exists(wrong), "{wrong}");
    }
    assert!(!is_test("fn a() {}", "a") && is_test("#[test]\nfn a() {}", "a"));
    assert!(!is_test("#[test]\n#[ignore]\nfn a() {}", "a"));
}

#[test]
fn every_attack_of_these_files_is_in_the_catalogue() {
    let named: BTreeSet<_> = HOLES.iter().flat_map(|hole| hole.tests).copied().collect();
    for file in ["web_overreach", "web_exhaustion"] {
        let path = Path::new(CRATES).join(format!("cli/tests/it/{file}.rs"));
        let text = fs_err::read_to_string(path).unwrap();
        let tests = text.split("#[test]\nfn ").skip(1).map(|rest| rest.split('(').next().unwrap());
        for test in tests {
            assert!(
                named.contains(format!("it/{file}::{test}").as_str()),
                "{test} tries no known hole"
            );
        }
    }
}
