//! Shell: what its commands do.
//!
//! The tree is bash's. Programs are found wherever they stand: in pipes, functions, substitutions
//! and here-documents, behind `sudo`, `env`, `xargs` and `find -exec`, in `sh -c '…'`.

use crate::{
    analysis::{Analysis, Script, nests_deeper_than},
    literal::Literal,
    says::Site,
};
use shuck_ast::Span;
use shuck_parser::parser::{ParseStatus, Parser};

mod command;
mod expansions;
mod loops;
mod names;
mod output;
mod redirect;
pub(crate) mod rules;
mod walk;
mod words;

/// Deepest nesting of brackets that is read. The parser refuses less than that itself, but takes
/// time that grows with the square of the depth to find out.
const DEPTH: usize = 200;

/// Most work that a script may make: the parser goes over a word again for each substitution in
/// it, so its time grows with their number times the length.
const WORK: usize = 300_000_000;

/// Finds what a shell script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    if script.is_deeper_than(DEPTH) {
        analysis.unreadable("code that is nested too deep", script.line(1));
        analysis.learn(script, script.known.clone());
        return;
    }
    let substitutions = script.text.bytes().filter(|byte| b"(`<".contains(byte)).count();
    if substitutions.saturating_mul(script.text.len()) > WORK {
        analysis.unreadable("too many commands inside commands", script.line(1));
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
    let shallow = !nests_deeper_than(text, DEPTH);
    let substitutions = text.bytes().filter(|byte| b"(`<".contains(byte)).count();
    let read = || matches!(Parser::new(text).parse().status, ParseStatus::Clean);
    shallow && substitutions.saturating_mul(text.len()) <= WORK && read()
}

/// Notes what one command does that another language starts: a program and its arguments.
pub(crate) fn judge(words: &[Literal], script: &Script, at: Site, analysis: &mut Analysis) {
    let scene = command::Scene { script, at, input: &command::Input::Nothing, names: None };
    command::judge(words, &scene, analysis);
}
