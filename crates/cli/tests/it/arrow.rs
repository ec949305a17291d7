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
fn every_source_file_says_what_it_is() {
    for file in sources(&root().join("crates")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with `//!`", file.display());
    }
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
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
