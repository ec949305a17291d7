//! Shell: what its commands do.
//!
//! The tree is bash's. Programs are found wherever they stand: in pipes, functions, substitutions
//! and here-documents, behind `sudo`, `env`, `xargs` and `find -exec`, in `sh -c '…'`.

use crate::{
    analysis::{Analysis, Script, levels, nests_deeper_than},
    literal::Literal,
    says::Site,
    strict, words as words_alone,
};
use shuck_ast::Span;
use shuck_parser::parser::{ParseStatus, Parser};

mod command;
mod expansions;
mod globs;
mod loops;
mod moves;
mod names;
mod output;
pub(crate) mod readers;
mod redirect;
pub(crate) mod rules;
mod walk;
pub(crate) mod words;

/// Deepest nesting of brackets that is read. The parser refuses less than that itself, but takes
/// time that grows with the square of the depth to find out.
const DEPTH: usize = 200;

/// Most work that a script may make: the parser goes over a word again for each substitution in
/// it, so its time grows with their number times the length.
const WORK: usize = 300_000_000;

/// How deep all bytes of a script may be in brackets, taken together: the parser goes over them
/// again at each level. Longer scripts may be [`LEVEL`] deep on average.
const LEVELS: usize = 2_500_000;

/// How deep the bytes of a long script may be on average.
const LEVEL: usize = 12;

/// Most commands that any script may have: each takes the parser and the walks some time, however
/// short it is. Longer scripts may have one for each [`BYTES`].
const COMMANDS: usize = 15_000;

/// Bytes of a long script that allow one more command. A short line of pipes has 11 for each.
const BYTES: usize = 9;

/// Words in a row that each hold the rest of a command, as in `time ! time true`. The parser and
/// the walks go one step deeper with each.
const PREFIXES: usize = 50;

/// The longest row of such words, and how many there are of those that take a name before the rest.
fn prefixes(text: &str) -> usize {
    let (mut row, mut longest, mut named) = (0, 0, 0);
    for word in text.split_ascii_whitespace() {
        let holds = matches!(word, "time" | "-p" | "--" | "!" | "coproc" | "noglob" | "nocorrect");
        row = if holds { row + 1 } else { 0 };
        named += usize::from(word == "coproc");
        longest = longest.max(row);
    }
    longest.max(named)
}

/// Why a text is not given to the parser, which would take too long.
fn refused(text: &str) -> Option<&'static str> {
    let nests = nests_deeper_than(text, DEPTH) || prefixes(text) > PREFIXES;
    if nests || levels(text) > LEVELS.max(LEVEL * text.len()) {
        return Some("code that is nested too deep");
    }
    let substitutions = text.bytes().filter(|byte| b"(`<".contains(byte)).count();
    if substitutions.saturating_mul(text.len()) > WORK {
        return Some("too many commands inside commands");
    }
    (commands(text) > COMMANDS.max(text.len() / BYTES)).then_some("too many commands")
}

/// How many commands a script seems to have, counting those in strings and comments too.
fn commands(text: &str) -> usize {
    let mut is_begun = false;
    let ends = text.bytes().filter(|byte| {
        let is_end = b";|&\n".contains(byte);
        let is_one = is_end && is_begun;
        is_begun = !is_end && (is_begun || !byte.is_ascii_whitespace());
        is_one
    });
    ends.count() + 1
}

/// Finds what a shell script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    if let Some(why) = refused(&script.text) {
        words_alone::refuse(script, why, analysis);
        analysis.learn(script, script.known.clone());
        return;
    }
    // The parser bounds its own depth, work and stack, and says so like any other error.
    let parsed = Parser::new(&script.text).parse();
    match parsed.status {
        ParseStatus::Clean => {}
        ParseStatus::Recovered | ParseStatus::Fatal => {
            let line = parsed.diagnostics.first().map_or(1, |first| first.span.start.line());
            analysis.unreadable("the shell code does not parse", script.line(line));
        }
    }
    if matches!(parsed.status, ParseStatus::Clean)
        && let Some(strict) = analysis.strict_for(script)
    {
        strict::shell::judge(&parsed.file, &script.text, strict);
    }
    walk::walk(&parsed.file, script, analysis);
}

/// Where in the code a stretch of a script is.
fn site(script: &Script, span: Span) -> Site {
    let (start, end) = (span.start, span.end);
    let last = if end.line() == start.line() { end.column() } else { start.column() + 1 };
    script.stretch(start.line(), (start.column(), last.max(start.column())))
}

/// Whether a text is a whole script, as far as it can be read.
pub(crate) fn parses(text: &str) -> bool {
    refused(text).is_none() && matches!(Parser::new(text).parse().status, ParseStatus::Clean)
}

/// Notes what one command does that another language starts: a program and its arguments, with an
/// input if that is not the person's.
pub(crate) fn judge(
    words: &[Literal],
    input: Option<Literal>,
    script: &Script,
    at: Site,
    analysis: &mut Analysis,
) {
    let input = command::Input::of(input);
    let scene = command::Scene { script, at, input: &input, names: None };
    command::judge(words, &scene, analysis);
}
