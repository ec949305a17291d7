//! SQL, of any dialect: what its statements do.
//!
//! A lexer that knows strings, quoted names and comments cuts the text into statements; rules
//! (`rules/sql.toml`) look at their words. There is no parser, because every database has its own
//! language. All of it takes one pass.

use crate::{
    analysis::{Analysis, Script},
    syntax::Syntax,
};
use interpreter_core::Deed;
use lexer::{Token, tokens};

mod lexer;
pub(crate) mod rules;

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
    for words in within(statement) {
        judge_words(words, script, analysis);
    }
    if let Some(start) = verb(statement) {
        judge_words(&statement[start..], script, analysis);
    }
}

/// The statements in brackets that change something: `WITH a AS (DELETE FROM …)`. Each ends where
/// the next one begins, so that all of them together are read once.
fn within<'s, 't>(
    statement: &'s [(Token<'t>, usize)],
) -> impl Iterator<Item = &'s [(Token<'t>, usize)]> {
    let begins = |at: &usize| {
        let is_verb = |token: &Token<'_>| {
            ["INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|verb| token.is(verb))
        };
        statement[*at].0 == Token::Sign('(')
            && statement.get(at + 1).is_some_and(|(token, _)| is_verb(token))
            // `INSERT(…)` is a function, too.
            && statement.get(at + 2).is_some_and(|(token, _)| *token != Token::Sign('('))
    };
    let starts: Vec<usize> = (0..statement.len()).filter(begins).map(|at| at + 1).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([statement.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| {
        let mut depth = 0_usize;
        let words = &statement[start..end];
        let close = words.iter().position(|(token, _)| match token {
            Token::Sign('(') => {
                depth += 1;
                false
            }
            Token::Sign(')') if depth == 0 => true,
            Token::Sign(')') => {
                depth -= 1;
                false
            }
            Token::Word(_)
            | Token::Name(_)
            | Token::Text(_)
            | Token::Sign(_)
            | Token::End
            | Token::Open => false,
        });
        &words[..close.unwrap_or(words.len())]
    })
}

fn judge_words(words: &[(Token<'_>, usize)], script: &Script, analysis: &mut Analysis) {
    let line = script.line(words[0].1);
    let rules = analysis.rules.clone();
    for rule in rules.on_statements() {
        let Some(found) = rule.on.fits(words) else { continue };
        if script.is_in_memory && rule.capability == Deed::Writes && fills(words) {
            continue;
        }
        let object = rule.on.object(&words[found..]);
        analysis.note(rule.says(), &object, line);
        if rule.on.runs {
            analysis.read_for(rule.is_added(), |analysis| {
                analysis.nest(script, Syntax::Shell, &object, line);
            });
        }
    }
}

/// Whether a statement only makes or fills a table of the database that it is given to, as far as
/// its text tells: a name with a dot is in another one.
fn fills(words: &[(Token<'_>, usize)]) -> bool {
    let is = |at: usize, all: &[&str]| {
        words.get(at).is_some_and(|(token, _)| all.iter().any(|word| token.is(word)))
    };
    let is_table = is(0, &["CREATE"]) && is(1, &["TABLE", "INDEX", "VIEW", "UNIQUE"]);
    (is_table || (is(0, &["INSERT"]) && is(1, &["INTO"])))
        && !words.iter().any(|(token, _)| *token == Token::Sign('.'))
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
