//! The languages that we ship: `languages.toml`, parsed when it is needed.

use interpreter_core::Declaration;
use serde::Deserialize;
use std::{collections::BTreeMap, sync::LazyLock};

const TEXT: &str = include_str!("../../languages.toml");

/// These come first in the prompt, and start before anybody asks. The others follow by name.
const FIRST: [&str; 3] = ["python", "shell", "javascript"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: BTreeMap<String, Declaration>,
}

static LANGUAGES: LazyLock<Vec<(String, Declaration)>> = LazyLock::new(read);

/// All of them, by name. Reading them takes about a third of a millisecond, the first time.
pub(super) fn languages() -> &'static [(String, Declaration)] {
    &LANGUAGES
}

fn read() -> Vec<(String, Declaration)> {
    let File { language } = toml::from_str(TEXT).expect("a test reads the file");
    let mut all: Vec<_> = language.into_iter().collect();
    // Stable, so that those which are not listed stay sorted by name.
    all.sort_by_key(|(name, _)| {
        FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len())
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::declaration::is_language_name;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_whole_and_no_name_stands_for_two() {
        let all = languages();
        let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "python shell javascript applescript c cpp go html java julia lua perl php powershell \
             r ruby rust sql typescript"
        );
        let (mut called, mut endings) = (BTreeSet::new(), BTreeSet::new());
        for (name, declaration) in all {
            assert!(is_language_name(name));
            assert!(called.insert(name.clone()), "{name}");
            for alias in &declaration.aliases {
                assert!(called.insert(alias.clone()), "{alias}");
            }
            for ending in &declaration.endings {
                assert!(endings.insert(ending.clone()), "{ending}");
            }
            let needs_program = declaration.ways.iter().any(|way| !way.programs.is_empty());
            assert_eq!(declaration.hint.is_some(), needs_program, "{name}");
        }
    }
}
