//! SQL, of any dialect: what its statements do.
//!
//! A lexer that knows strings, quoted names and comments cuts the text into statements; rules
//! (`rules/sql.toml`) look at their words. There is no parser, because every database has its own
//! language. All of it takes one pass.

use crate::{
    analysis::{Analysis, Script},
    syntax::Syntax,
};
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
    let Some(start) = verb(statement) else { return };
    let words = &statement[start..];
    let line = script.line(words[0].1);
    let rules = analysis.rules.clone();
    for rule in rules.on_statements() {
        let Some(found) = rule.on.fits(words) else { continue };
        let object = rule.on.object(&words[found..]);
        analysis.note(rule.says(), &object, line);
        if rule.on.runs {
            analysis.read_for(rule.is_added(), |analysis| {
                analysis.nest(script, Syntax::Shell, &object, line);
            });
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
