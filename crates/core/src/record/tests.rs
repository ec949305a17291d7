//! The shape of a record: its body lies beside its envelope, in one object.

use std::{collections::BTreeSet, fs, path::Path};

/// The text of every file below a folder.
#[expect(clippy::disallowed_methods, reason = "this crate reads no files but in this test")]
fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// The lines between `head` and the end of that item, without comments.
fn item<'a>(all: &'a str, head: &str) -> Vec<&'a str> {
    let (_, rest) = all.split_once(head).unwrap_or_else(|| panic!("there is no `{head}`"));
    let (inside, _) = rest.split_once("\n}\n").unwrap();
    inside.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect()
}

/// The names of the fields in these lines, as they are written to JSON, and the types whose fields
/// lie beside them.
fn fields(lines: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut beside) = (BTreeSet::new(), BTreeSet::new());
    let (mut is_flat, mut renamed) = (false, None);
    for line in lines {
        if let Some(attribute) = line.strip_prefix("#[") {
            is_flat |= attribute.contains("flatten");
            let to = attribute.split_once("rename = \"").and_then(|(_, to)| to.split_once('"'));
            renamed = to.map(|(name, _)| name.to_owned()).or(renamed);
            continue;
        }
        // A variant that is a type of its own: `Piped(Piped),`.
        if let Some((_, inner)) = line.strip_suffix("),").and_then(|line| line.split_once('(')) {
            let boxed = inner.strip_prefix("Box<").and_then(|inner| inner.strip_suffix('>'));
            beside.insert(boxed.unwrap_or(inner).to_owned());
        }
        for part in line.split(['{', ',']) {
            let Some((name, of)) = part.split_once(": ") else { continue };
            let name = name.trim().trim_start_matches("pub ").trim_start_matches("r#");
            if is_flat {
                let of = of.trim();
                let inner = of.strip_prefix("Option<").and_then(|of| of.strip_suffix('>'));
                beside.insert(inner.unwrap_or(of).to_owned());
            } else {
                names.insert(renamed.take().unwrap_or_else(|| name.to_owned()));
            }
        }
        is_flat = false;
    }
    (names, beside)
}

#[test]
fn no_body_has_a_field_of_the_envelope() {
    let mut all = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let (envelope, body) = fields(&item(&all, "pub struct Record {\n"));
    assert_eq!(envelope, ["seq", "session", "time", "v", "who"].map(str::to_owned).into());
    assert_eq!(body, ["Body".to_owned()].into());
    let (mut names, mut beside) = fields(&item(&all, "pub enum Body {\n"));
    while let Some(of) = beside.pop_first() {
        let heads = [format!("pub struct {of} {{\n"), format!("pub enum {of} {{\n")];
        let head = heads.iter().find(|head| all.contains(head.as_str()));
        let head = head.unwrap_or_else(|| panic!("there is no `{of}`"));
        let (more, further) = fields(&item(&all, head));
        names.extend(more);
        beside.extend(further);
    }
    // The control: fields of every kind were found.
    for known in ["from", "opening", "for", "stream", "mime", "source", "head", "code_hash"] {
        assert!(names.contains(known), "`{known}` is not in {names:?}");
    }
    // An export has a link beside them.
    for taken in envelope.iter().map(String::as_str).chain(["kind", "link"]) {
        assert!(!names.contains(taken), "`{taken}` is the envelope's");
    }
}

/// The shape that early versions wrote.
#[test]
fn the_session_that_another_goes_on_from_is_read_under_both_names() {
    let now: super::Body = serde_json::from_str(r#"{"kind":"resumed","from":"s1"}"#).unwrap();
    let then: super::Body = serde_json::from_str(r#"{"kind":"resumed","session":"s1"}"#).unwrap();
    assert_eq!(now, then);
    assert_eq!(serde_json::to_string(&then).unwrap(), r#"{"kind":"resumed","from":"s1"}"#);
    // The envelope's own is not taken for it.
    let record = r#"{"v":1,"seq":2,"time":"","session":"s2","kind":"resumed"}"#;
    assert!(serde_json::from_str::<super::Record>(record).is_err());
}
