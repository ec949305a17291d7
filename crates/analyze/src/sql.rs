//! SQL, of any dialect: what its statements do.
//!
//! A lexer that knows strings, quoted names and comments cuts the text into statements; rules
//! (`rules/sql.toml`) look at their words. There is no parser, because every database has its own
//! language. All of it takes one pass.

use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
    says::Says,
    syntax::Syntax,
};
use interpreter_core::{Deed, Risk};
use lexer::{Token, tokens};
use serde::Deserialize;
use std::sync::LazyLock;

mod lexer;

static RULES: LazyLock<Vec<SqlRule>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../rules/sql.toml"))
        .expect("rules/sql.toml is part of this crate and tested");
    file.rule
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<SqlRule>,
}

/// A rule on statements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SqlRule {
    /// The first word of the statement is one of these.
    #[serde(default)]
    begins: Vec<String>,
    /// One of these words stands anywhere in it, outside of strings.
    #[serde(default)]
    has: Vec<String>,
    /// This word does not.
    #[serde(default)]
    lacks: Option<String>,
    /// A function of one of these names is called anywhere in it.
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    object: Object,
    /// The string is a command for a shell.
    #[serde(default)]
    runs: bool,
    pub(crate) capability: Deed,
    pub(crate) severity: Risk,
    pub(crate) reason: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) example: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read and test the rules"))]
    pub(crate) unlike: String,
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

/// Whether a text begins like a statement.
pub(crate) fn is_statement(text: &str) -> bool {
    let first = tokens(text.get(..text.len().min(4096)).unwrap_or(text)).next();
    let Some((Token::Word(word), _)) = first else { return false };
    let verbs = [
        "SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "DROP", "TRUNCATE", "ALTER", "CREATE",
        "COPY", "GRANT", "REVOKE", "ATTACH", "EXEC", "EXECUTE", "CALL", "REPLACE", "MERGE", "LOAD",
        "INSTALL", "EXPORT", "IMPORT", "VACUUM", "SET", "BEGIN", "DO",
    ];
    verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb))
}

/// Finds what SQL does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    let mut statement: Vec<(Token<'_>, usize)> = Vec::new();
    for (token, line) in tokens(&script.text) {
        match token {
            Token::End => judge(&std::mem::take(&mut statement), script, analysis),
            Token::Open => {
                // A string or comment without an end: the rest cannot be told from text.
                analysis.unreadable("the SQL does not end", script.line(line));
            }
            Token::Word(_) | Token::Name(_) | Token::Text(_) | Token::Sign(_) => {
                statement.push((token, line));
            }
        }
    }
    judge(&statement, script, analysis);
}

fn judge(statement: &[(Token<'_>, usize)], script: &Script, analysis: &mut Analysis) {
    let Some(start) = verb(statement) else { return };
    let words = &statement[start..];
    let line = script.line(words[0].1);
    for rule in RULES.iter() {
        let Some(found) = rule.fits(words) else { continue };
        let object = rule.object(&words[found..]);
        let says = Says::new(rule.capability, rule.severity, &rule.reason);
        analysis.note(says, &object, line);
        if rule.runs {
            analysis.nest(script, Syntax::Shell, &object, line);
        }
    }
}

/// Where the word stands that says what a statement does.
fn verb(statement: &[(Token<'_>, usize)]) -> Option<usize> {
    let mut at = 0;
    if statement.first()?.0.is("EXPLAIN") {
        // Only this form runs what it explains.
        at = statement.iter().take(6).position(|(token, _)| token.is("ANALYZE"))? + 1;
    }
    if statement.get(at)?.0.is("WITH") {
        let mut depth = 0_usize;
        let is_verb = |token: &Token<'_>| {
            ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|verb| token.is(verb))
        };
        at = statement.iter().position(|(token, _)| {
            match token {
                Token::Sign('(') => depth += 1,
                Token::Sign(')') => depth = depth.saturating_sub(1),
                Token::Word(_)
                | Token::Name(_)
                | Token::Text(_)
                | Token::Sign(_)
                | Token::End
                | Token::Open => {}
            }
            depth == 0 && is_verb(token)
        })?;
    }
    (at < statement.len()).then_some(at)
}

impl SqlRule {
    /// Where the word or function stands that it looks for, if a statement is what it is about.
    fn fits(&self, words: &[(Token<'_>, usize)]) -> Option<usize> {
        let is_one = |token: &Token<'_>, list: &[String]| list.iter().any(|word| token.is(word));
        if !self.begins.is_empty() && !is_one(&words[0].0, &self.begins) {
            return None;
        }
        if let Some(lacks) = &self.lacks
            && words.iter().any(|(token, _)| token.is(lacks))
        {
            return None;
        }
        let mut found = 0;
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

    fn object(&self, words: &[(Token<'_>, usize)]) -> Literal {
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

#[cfg(test)]
impl SqlRule {
    /// The words that its example stands for.
    pub(crate) fn words(&self) -> &[String] {
        [&self.calls, &self.has, &self.begins].into_iter().find(|list| !list.is_empty()).unwrap()
    }
}

#[cfg(test)]
pub(crate) fn rules() -> &'static [SqlRule] {
    &RULES
}
