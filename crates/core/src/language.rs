//! Which languages exist, and which names people and models use for them.
//!
//! The table comes in from outside: languages are declared, not compiled in. Interpreters are
//! unknown here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{collections::BTreeMap, fmt};

/// The one name of a language, such as `python`. Only a [`Languages`] table gives one out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language {
    name: String,
    written_in: Option<String>,
}

impl Language {
    /// The name as text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The language that its code is in: the same, unless this is another way to run that.
    pub fn written_in(&self) -> &str {
        self.written_in.as_deref().unwrap_or(&self.name)
    }
}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { name: String::deserialize(deserializer)?, written_in: None })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// State that a run leaves to the next one of the same language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuity {
    /// Variables, imports, functions.
    #[default]
    Kept,
    /// Nothing but files: each run is a whole program.
    Fresh,
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
    /// State that a run leaves to the next one.
    pub continuity: Continuity,
}

impl LanguageInfo {
    /// Whether this is its name or another one of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || among(&self.aliases, name)
    }
}

/// A language that could run, if its interpreter were here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingLanguage {
    /// The language.
    pub info: LanguageInfo,
    /// How to get an interpreter.
    pub hint: String,
}

/// All languages of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Languages {
    here: Vec<LanguageInfo>,
    missing: Vec<MissingLanguage>,
    written_in: BTreeMap<String, String>,
}

impl Languages {
    /// A table of languages that run. Of two with the same alias the first one has it.
    pub fn new(here: Vec<LanguageInfo>) -> Self {
        Self { here, missing: Vec::new(), written_in: BTreeMap::new() }
    }

    /// The same table, knowing also what could run.
    #[must_use]
    pub fn with_missing(self, missing: Vec<MissingLanguage>) -> Self {
        Self { missing, ..self }
    }

    /// The same table, knowing of some by name that they are another way to run a language. Rules
    /// and analysis take their code for that language's, and models are not told of them.
    #[must_use]
    pub fn with_written_in(self, written_in: BTreeMap<String, String>) -> Self {
        Self { written_in, ..self }
    }

    /// The language that goes by `name`, whatever its case. A name comes before an alias.
    pub fn find(&self, name: &str) -> Option<Language> {
        let named = self.here.iter().find(|info| info.name.eq_ignore_ascii_case(name));
        let found = named.or_else(|| self.here.iter().find(|info| info.is_called(name)));
        found.map(|info| self.named(info))
    }

    fn named(&self, info: &LanguageInfo) -> Language {
        let written_in = self.written_in.get(&info.name).cloned();
        Language { name: info.name.clone(), written_in }
    }

    /// The language of files that end in `.ending`.
    pub fn of_ending(&self, ending: &str) -> Option<Language> {
        let found = self.here.iter().find(|info| among(&info.endings, ending));
        found.map(|info| self.named(info))
    }

    /// The language that goes by `name`, also if it has no interpreter here. For what only looks at
    /// code.
    pub fn known(&self, name: &str) -> Option<Language> {
        let missing = || self.missing.iter().find(|one| one.info.is_called(name));
        self.find(name).or_else(|| missing().map(|one| self.named(&one.info)))
    }

    /// The language of files that end in `.ending`, also if it has no interpreter here.
    pub fn known_of_ending(&self, ending: &str) -> Option<Language> {
        let missing = || self.missing.iter().find(|one| among(&one.info.endings, ending));
        self.of_ending(ending).or_else(|| missing().map(|one| self.named(&one.info)))
    }

    /// How to get an interpreter for a language that has none here, by any of its names or
    /// endings.
    pub fn hint(&self, name: &str) -> Option<&str> {
        let mut missing = self.missing.iter();
        let found = missing.find(|one| one.info.is_called(name) || among(&one.info.endings, name));
        found.map(|one| one.hint.as_str())
    }

    /// The names of those that run, in the table's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.here.iter().map(|info| info.name.as_str())
    }

    /// The languages offered to a model, each once.
    pub fn offered(&self) -> impl Iterator<Item = &LanguageInfo> {
        self.here.iter().filter(|info| !self.written_in.contains_key(&info.name))
    }

    /// Those that run, in the table's order.
    pub fn iter(&self) -> impl Iterator<Item = &LanguageInfo> {
        self.here.iter()
    }
}

fn among(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
pub(crate) fn example() -> Languages {
    let language = |name: &str, aliases: &[&str], ending: &str| LanguageInfo {
        name: name.into(),
        aliases: aliases.iter().map(|&alias| alias.into()).collect(),
        endings: vec![ending.into()],
        continuity: Continuity::Kept,
    };
    Languages::new(vec![
        language("python", &["py", "python3"], "py"),
        language("shell", &["sh", "bash"], "sh"),
        language("javascript", &["js", "node"], "js"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(name: &str, aliases: &[&str]) -> LanguageInfo {
        LanguageInfo {
            name: name.into(),
            aliases: aliases.iter().map(|&alias| alias.into()).collect(),
            endings: vec![],
            continuity: Continuity::Fresh,
        }
    }

    #[test]
    fn a_language_is_found_by_any_of_its_names() {
        let table = example();
        assert_eq!(table.find("Bash").unwrap().name(), "shell");
        assert_eq!(table.of_ending("JS").unwrap().name(), "javascript");
        assert_eq!(table.find("text"), None);
    }

    #[test]
    fn a_name_comes_before_an_alias() {
        let table = Languages::new(vec![language("shell", &["zsh"]), language("zsh", &[])]);
        assert_eq!(table.find("zsh").unwrap().name(), "zsh");
    }

    #[test]
    fn another_way_to_run_a_language_is_not_offered_and_counts_as_that_language() {
        let table = Languages::new(vec![language("python", &[]), language("jupyter:p", &[])])
            .with_written_in([("jupyter:p".to_owned(), "python".to_owned())].into());
        let found = table.find("Jupyter:P").unwrap();
        assert_eq!((found.name(), found.written_in()), ("jupyter:p", "python"));
        let offered: Vec<_> = table.offered().map(|info| info.name.as_str()).collect();
        assert_eq!(offered, ["python"]);
    }

    #[test]
    fn a_missing_language_is_not_found_but_has_a_hint() {
        let info = language("ruby", &["rb"]);
        let table = example().with_missing(vec![MissingLanguage { info, hint: "get it".into() }]);
        assert_eq!(table.find("rb"), None);
        assert_eq!(table.known("rb").unwrap().name(), "ruby");
        assert_eq!(table.known("py").unwrap().name(), "python");
        assert_eq!(table.known("cobol"), None);
        assert_eq!(table.hint("RB"), Some("get it"));
        assert_eq!(table.hint("python"), None);
    }
}
