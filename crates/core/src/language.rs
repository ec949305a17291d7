//! Which languages exist, and which names people and models use for them.
//!
//! A table of values that comes in from outside: languages are declared, not compiled in. What
//! runs a language is not known here.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The one name of a language, such as `python`. Only a [`Languages`] table gives one out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Language(String);

impl Language {
    /// The name as text.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One language and the names it goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageInfo {
    /// The name in records, messages and on the command line.
    pub name: String,
    /// Other names, as models write them after a fence.
    pub aliases: Vec<String>,
    /// File endings, without the dot.
    pub endings: Vec<String>,
}

/// All languages of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Languages(Vec<LanguageInfo>);

impl Languages {
    /// A table of the given languages. The first one that claims a name has it.
    pub fn new(languages: Vec<LanguageInfo>) -> Self {
        Self(languages)
    }

    /// The language that goes by `name`, whatever its case.
    pub fn find(&self, name: &str) -> Option<Language> {
        self.0
            .iter()
            .find(|info| {
                info.name.eq_ignore_ascii_case(name)
                    || info.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
            })
            .map(|info| Language(info.name.clone()))
    }

    /// The language of files that end in `.ending`.
    pub fn of_ending(&self, ending: &str) -> Option<Language> {
        self.0
            .iter()
            .find(|info| info.endings.iter().any(|known| known.eq_ignore_ascii_case(ending)))
            .map(|info| Language(info.name.clone()))
    }

    /// The names, in the table's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|info| info.name.as_str())
    }

    /// All entries, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = &LanguageInfo> {
        self.0.iter()
    }
}

#[cfg(test)]
pub(crate) fn example() -> Languages {
    let language = |name: &str, aliases: &[&str], ending: &str| LanguageInfo {
        name: name.into(),
        aliases: aliases.iter().map(|&alias| alias.into()).collect(),
        endings: vec![ending.into()],
    };
    Languages::new(vec![
        language("python", &["py", "python3"], "py"),
        language("shell", &["sh", "bash"], "sh"),
        language("javascript", &["js", "node"], "js"),
    ])
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_language_is_found_by_any_of_its_names() {
        let table = super::example();
        assert_eq!(table.find("Bash").unwrap().name(), "shell");
        assert_eq!(table.of_ending("JS").unwrap().name(), "javascript");
        assert_eq!(table.find("text"), None);
    }
}
