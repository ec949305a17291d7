//! A lenient reading of every other language, by its words alone.
//!
//! Names of functions that act on the machine are much the same everywhere: `system(`, `unlink(`,
//! `exec.Command`. Finding one is a finding; finding none says nothing, so the risk of such code is
//! never less than unknown. Rules are data: `rules/words.toml`.

use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
    syntax::Syntax,
};
use interpreter_core::Confidence;

pub(crate) mod rules;

/// Most findings of one text.
const MOST: usize = 100;

/// How far after a name its argument is looked for.
const NEAR: usize = 400;

/// Finds what code in any language may do.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    analysis.unreadable("this language is read by its words alone", script.line(1));
    scan(script, analysis);
}

/// Notes that a script is not parsed, and why, and finds what its words tell.
pub(crate) fn refuse(script: &Script, why: &str, analysis: &mut Analysis) {
    analysis.refuse(why, script.line(1));
    scan(script, analysis);
}

fn scan(script: &Script, analysis: &mut Analysis) {
    // Only these letters change, so that offsets stay.
    let text = script.text.to_ascii_lowercase();
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let rules = analysis.rules.clone();
    let keep = |at: usize, kept: usize| kept < MOST && begins(&text, at);
    for (rule, name, places) in rules.on_words().flat_map(|words| words.on(&text, keep)) {
        for at in places {
            let line = script.line(starts.partition_point(|&start| start <= at) + 1);
            let object = argument(&script.text, at + name.len(), name);
            let object = object.map_or_else(Literal::computed, Literal::known);
            let shown = if rule.on.runs { program(&object) } else { object.clone() };
            analysis.note(rule.says().at_most(Confidence::Possible), &shown, line);
            if rule.on.runs {
                analysis.read_for(rule.is_added(), |analysis| {
                    analysis.nest(script, Syntax::Shell, &object, line);
                });
            }
        }
    }
}

/// Whether a name begins here, and does not go on from before.
fn begins(text: &str, at: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let here = text[at..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
    !here || !text[..at].chars().next_back().is_some_and(is_word)
}

/// The first string after a name, on the same line.
fn argument<'a>(text: &'a str, from: usize, name: &str) -> Option<&'a str> {
    let mut end = text.len().min(from + NEAR);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let near = text[from..end].lines().next()?;
    // A mark that is itself the opening quote: a command in backquotes.
    if let Some(quote) = name.chars().last().filter(|c| "`'\"".contains(*c)) {
        return near.split(quote).next();
    }
    let (at, quote) = near.char_indices().find(|(_, c)| "\"'`".contains(*c))?;
    let close = near[..at].find([')', ';']);
    close.is_none().then(|| near[at + 1..].split(quote).next())?
}

fn program(command: &Literal) -> Literal {
    match command.start().split_whitespace().next() {
        Some(word) => Literal::known(word),
        None => Literal::computed(),
    }
}
