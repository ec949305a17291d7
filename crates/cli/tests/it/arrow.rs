//! The architecture is one arrow: `ARCHITECTURE.md` has it as a table, and this holds the table.

use std::{fs, path::Path};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The rows of the table: a crate, and the crates it may depend on.
fn table() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = text.lines().skip_while(|line| *line != "## Crates").skip(1);
    let rows =
        lines.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let names = |cell: &str| {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(str::to_owned).collect::<Vec<_>>()
        };
        (names(cells[1])[0].clone(), names(cells[2]))
    })
    .collect()
}

#[test]
fn dependencies_follow_the_arrow() {
    let table = table();
    for (name, allowed) in &table {
        let manifest =
            fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let used = manifest.split("[dev-dependencies]").next().unwrap();
        for (other, _) in &table {
            let depends = used.contains(&format!("interpreter-{other}.workspace"));
            assert_eq!(
                depends,
                allowed.contains(other),
                "ARCHITECTURE.md and crates/{name}/Cargo.toml disagree about `{other}`"
            );
        }
    }
}

#[test]
fn the_arrow_has_no_circle_and_no_crate_is_missing() {
    let table = table();
    // Each row may use only rows above it, so there can be no circle.
    for (at, (name, allowed)) in table.iter().enumerate() {
        for other in allowed {
            let place = table.iter().position(|(row, _)| row == other);
            assert!(place.is_some_and(|place| place < at), "{name} points down to {other}");
        }
    }
    let mut crates: Vec<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    crates.sort();
    let mut rows: Vec<_> = table.into_iter().map(|(name, _)| name).collect();
    rows.sort();
    assert_eq!(crates, rows);
}

#[test]
fn unsafe_code_stands_in_one_file() {
    let mut with = Vec::new();
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        let is_code = |line: &str| line.contains("unsafe {") || line.contains("unsafe fn");
        if text.lines().any(|line| is_code(line) && !line.trim_start().starts_with("//")) {
            with.push(file.strip_prefix(root()).unwrap().display().to_string());
        }
    }
    with.retain(|file| !file.ends_with("tests/it/arrow.rs"));
    assert_eq!(with, ["crates/jail/src/sys.rs"]);
}

#[test]
fn errors_state_facts_and_advice_stands_in_one_file() {
    for path in sources(&root().join("crates")) {
        let text = fs::read_to_string(&path).unwrap();
        let (is_error, is_advice) = (path.ends_with("error.rs"), path.ends_with("advice.rs"));
        // Commands and options are for the person to use next.
        let advises = text.contains("`interpreter ") || text.contains("`--");
        assert!(!is_error || !advises, "{} gives advice", path.display());
        let implements = text.lines().any(|line| line.starts_with("impl Advise for "));
        assert_eq!(implements, is_advice, "{}", path.display());
        // Without a wildcard, a new error does not compile before its advice is written.
        assert!(!is_advice || !text.contains(" _ =>"), "{} has a wildcard", path.display());
    }
}

#[test]
fn every_source_file_says_what_it_is() {
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with `//!`", file.display());
    }
}

pub(crate) fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines of one section of `ARCHITECTURE.md`.
fn section(heading: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with("## ")).map(str::to_owned).collect()
}

/// The first word in backticks on each line that begins as `start` says.
fn named(lines: &[String], start: fn(&str) -> bool) -> Vec<&str> {
    let lines = lines.iter().filter(|line| start(line));
    lines.filter_map(|line| line.split('`').nth(1)).collect()
}

#[test]
fn the_files_to_read_first_exist() {
    let section = section("## Read these seven files first");
    let files = named(&section, |line| line.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(files.len(), 7);
    for file in files {
        assert!(root().join(file).is_file(), "{file} does not exist");
    }
}

#[test]
fn every_word_of_the_glossary_names_a_type_or_a_module() {
    let section = section("## Glossary");
    let words = named(&section, |line| line.starts_with("| `"));
    assert!(!words.is_empty() && words.len() <= 30, "there are {} words", words.len());
    let files = sources(&root().join("crates"));
    let texts: Vec<_> = files
        .iter()
        .filter(|file| !file.components().any(|part| part.as_os_str() == "tests"))
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    for word in words {
        let forms = ["struct", "enum", "trait", "type", "mod"].map(|kind| format!("{kind} {word}"));
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_named =
            |text: &String| forms.iter().any(|form| text.split(form.as_str()).skip(1).any(ends));
        let is_crate = root().join("crates").join(word).is_dir();
        assert!(is_crate || texts.iter().any(is_named), "nothing is called `{word}`");
    }
}

/// One name for a thing, and one thing for a name.
#[test]
fn no_two_public_types_share_a_name() {
    let mut places = std::collections::BTreeMap::<String, Vec<String>>::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                for line in fs::read_to_string(&path).unwrap().lines() {
                    let mut words = line.trim().split(|c: char| !c.is_alphanumeric() && c != '_');
                    let kind = words.next().filter(|word| *word == "pub").and(words.next());
                    if matches!(kind, Some("struct" | "enum" | "trait" | "type")) {
                        let name = words.next().unwrap_or_default().to_owned();
                        places.entry(name).or_default().push(path.display().to_string());
                    }
                }
            }
        }
    }
    assert!(places.len() > 100, "the types were not found: {}", places.len());
    let shared: Vec<_> = places.into_iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(shared.is_empty(), "{shared:#?}");
}
