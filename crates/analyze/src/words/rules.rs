//! Which names are dangerous in any language: the patterns of `rules/words.toml`.

use crate::rule::Pattern;
use serde::Deserialize;

/// The names that a rule is about, wherever they stand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordPattern {
    /// Texts, in small letters. One that begins like a name must begin one.
    pub(crate) texts: Vec<String>,
    /// The string after it is a command for a shell.
    #[serde(default)]
    pub(super) runs: bool,
}

impl Pattern for WordPattern {
    fn names(&self) -> Vec<(&'static str, &[String])> {
        vec![("{text}", &self.texts)]
    }
}
