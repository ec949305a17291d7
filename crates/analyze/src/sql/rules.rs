//! Which statements are dangerous: the patterns of `rules/sql.toml`.

use super::lexer::Token;
use crate::{literal::Literal, rule::Pattern};
use serde::{Deserialize, Deserializer};

/// The statements that a rule is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatementPattern {
    /// The first word of the statement is one of these.
    #[serde(default)]
    begins: Vec<String>,
    /// One of these words stands anywhere in it, outside of strings.
    #[serde(default)]
    has: Vec<String>,
    /// None of these words does.
    #[serde(default, deserialize_with = "one_or_more")]
    lacks: Vec<String>,
    /// Its source is an address.
    #[serde(default)]
    from_address: bool,
    /// A function of one of these names is called anywhere in it.
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    object: Object,
    /// The string is a command for a shell.
    #[serde(default)]
    pub(super) runs: bool,
}

/// Reads one word, or a list of words.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        One(String),
        More(Vec<String>),
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::One(word) => vec![word],
        Words::More(words) => words,
    })
}

impl Pattern for StatementPattern {
    /// The most telling of its lists.
    fn names(&self) -> Vec<(&'static str, &[String])> {
        let lists = [&self.calls, &self.has, &self.begins];
        let first = lists.into_iter().find(|list| !list.is_empty());
        first.map(|list| ("{word}", list.as_slice())).into_iter().collect()
    }
}

/// The object of a statement.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Object {
    /// The first name after the words that say what is done.
    Name,
    /// The first string after the word or function that the rule looks for.
    String,
    #[default]
    Nothing,
}

/// Words that stand between what is done and what it is done to.
const FILLERS: [&str; 24] = [
    "TABLE",
    "TABLES",
    "IF",
    "EXISTS",
    "NOT",
    "FROM",
    "INTO",
    "ONLY",
    "DATABASE",
    "SCHEMA",
    "VIEW",
    "INDEX",
    "USER",
    "ROLE",
    "OR",
    "REPLACE",
    "IGNORE",
    "TEMP",
    "TEMPORARY",
    "MATERIALIZED",
    "COLUMN",
    "LOW_PRIORITY",
    "UNLOGGED",
    "CONCURRENTLY",
];

impl StatementPattern {
    /// Where the word or function stands that it looks for, if a statement is what it is about.
    pub(super) fn fits(&self, words: &[(Token<'_>, usize)]) -> Option<usize> {
        let is_one = |token: &Token<'_>, list: &[String]| list.iter().any(|word| token.is(word));
        if !self.begins.is_empty() && !is_one(&words[0].0, &self.begins) {
            return None;
        }
        if !self.lacks.is_empty() && words.iter().any(|(token, _)| is_one(token, &self.lacks)) {
            return None;
        }
        let mut found = 0;
        if self.from_address {
            found = words.windows(2).position(|pair| {
                (pair[0].0.is("FROM") || pair[0].0.is("JOIN"))
                    && matches!(pair[1].0, Token::Text(text) if Literal::known(text).is_remote())
            })?;
        }
        if !self.has.is_empty() {
            found = words.iter().position(|(token, _)| is_one(token, &self.has))?;
        }
        if !self.calls.is_empty() {
            found = words.windows(2).position(|pair| {
                is_one(&pair[0].0, &self.calls) && pair[1].0 == Token::Sign('(')
            })?;
        }
        Some(found)
    }

    pub(super) fn object(&self, words: &[(Token<'_>, usize)]) -> Literal {
        let mut after = words.iter().skip(1).map(|(token, _)| token);
        let found = match self.object {
            Object::Nothing => return Literal::default(),
            Object::String => after.find_map(|token| match token {
                Token::Text(text) => Some(text),
                Token::Word(_) | Token::Name(_) | Token::Sign(_) | Token::End | Token::Open => None,
            }),
            Object::Name => after.find_map(|token| match token {
                Token::Word(_) if FILLERS.iter().any(|word| token.is(word)) => None,
                Token::Word(name) | Token::Name(name) => Some(name),
                Token::Text(_) | Token::Sign(_) | Token::End | Token::Open => None,
            }),
        };
        found.map_or_else(Literal::computed, |text| Literal::known(*text))
    }
}
