//! Holds the list of names to what the tools themselves document.

use super::reason;
use serde::Deserialize;
use std::{collections::BTreeSet, path::Path};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Documented {
    tool: Vec<Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    page: String,
    says: String,
    files: Vec<String>,
}

fn documented() -> Vec<Tool> {
    toml::from_str::<Documented>(include_str!("documented.toml")).unwrap().tool
}

#[test]
fn every_documented_file_is_known() {
    let unknown: Vec<_> = documented()
        .into_iter()
        .flat_map(|tool| tool.files.into_iter().map(move |file| (tool.name.clone(), file)))
        .filter(|(_, file)| reason(Path::new("/home/person/project"), Path::new(file)).is_none())
        .collect();
    assert_eq!(unknown, []);
}

#[test]
fn every_tool_says_where_it_is_documented() {
    let mut seen = BTreeSet::new();
    for Tool { name, page, says, files } in documented() {
        assert!(!page.is_empty() && !says.ends_with('.') && says.len() > 10, "{name}");
        assert!(!files.is_empty(), "{name}");
        assert!(seen.insert((name.clone(), page)), "{name} twice");
    }
    assert!(seen.len() > 100);
}
