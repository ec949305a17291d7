//! The way from code to findings, and its limits.
//!
//! # Threat
//! Code written to exhaust or mislead whoever reads it: too long, too deep, nested in itself,
//! reordered on the screen.
//!
//! # Mechanism
//! Size, nesting and the amount of nested code are bounded before a parser sees them. Scripts
//! inside code (`sh -c '…'`) wait in a queue instead of recursing. Everything runs on a stack of
//! known size.
//!
//! # Limits
//! Names are resolved without running anything: code that is computed, fetched or patched at run
//! time is at best found to hide something.

use crate::{
    added::AddedRules,
    analysis::{Analysis, SIZE},
    collected::Collected,
    javascript,
    past::{Known, Names, Past},
    python,
    rules::Rules,
    says::{Says, Site},
    shell, sql,
    strict::Strict,
    syntax::Syntax,
    words,
};
use interpreter_core::{Deed, Findings, Language, Risk, Understanding};

/// Stack for parsers and walks. Their recursion is bounded by the nesting checks; this is about
/// eight times what the deepest allowed code was measured to need in a debug build.
const STACK: usize = 16 * 1024 * 1024;

/// Stack that suffices: twice that need. Where so much is left nothing is set up, which takes
/// longer than reading a line of code.
const ENOUGH: usize = 4 * 1024 * 1024;

/// Finds what `code` would do, as far as its text tells. Never fails: code that cannot be read, or
/// in an unknown language, is a finding of its own.
pub fn analyze(added: &AddedRules, language: &Language, code: &str) -> Findings {
    analyze_after(added, &Past::default(), language, code).0
}

/// The same for code that runs after other code in the same kernel, and what is known after it.
///
/// Findings of rules that a person or a project has added are kept apart and joined to ours at the
/// end: whatever they say, nothing that our own rules find is lost or lowered.
pub fn analyze_after(
    added: &AddedRules,
    past: &Past,
    language: &Language,
    code: &str,
) -> (Findings, Past) {
    let mut past = past.clone();
    let rules = added.rules().cloned().unwrap_or_else(Rules::built_in);
    let found = with_stack(|| read_by(rules, &mut past.0, language.written_in(), code));
    // Another way to run a language may give its names other meanings.
    if language.name() != language.written_in() {
        return (Findings { understanding: Understanding::default(), ..found }, past);
    }
    (found, past)
}

/// Finds what `code` would do by these rules alone.
pub(crate) fn by(rules: Rules, language: &str, code: &str) -> Findings {
    with_stack(|| read_by(rules, &mut Names::default(), language, code))
}

/// Runs a parser on a stack that bounded nesting cannot exhaust.
pub(crate) fn with_stack<T>(parse: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(ENOUGH, STACK, parse)
}

fn read_by(rules: Rules, past: &mut Names, language: &str, code: &str) -> Findings {
    let mut analysis = Analysis::new(rules, code.len());
    note_reordered_text(code, &mut analysis.found);
    let syntax = Syntax::of(language);
    let known = past.of(syntax);
    analysis.strict = Strict::after(past.strict(syntax));
    let mut is_partial = known.is_partial;
    if is_partial {
        let why = "earlier code, which may have changed what names mean, could not be followed";
        analysis.unreadable(why, Site { line: 1, columns: None });
    }
    if code.len() > SIZE {
        analysis.refuse("more than 1 MiB of code", Site { line: 1, columns: None });
        analysis.learned = known;
    } else {
        analysis.begin(syntax, code, known);
    }
    while let Some(script) = analysis.next() {
        match script.syntax {
            Syntax::Python => python::read(script, &mut analysis),
            Syntax::Shell => shell::read(&script, &mut analysis),
            Syntax::JavaScript | Syntax::TypeScript => javascript::read(&script, &mut analysis),
            Syntax::Sql => sql::read(&script, &mut analysis),
            Syntax::Words => words::read(&script, &mut analysis),
        }
    }
    is_partial |= analysis.learned.is_partial || (syntax.has_names() && analysis.is_partial());
    let (understanding, strict) = analysis.strict.end();
    past.set(syntax, Known { is_partial, ..analysis.learned }, strict);
    let found = Findings { understanding, ..analysis.found.finish() };
    found.and(analysis.added.finish())
}

/// Characters that make an editor or a terminal show code in another order than it runs.
fn note_reordered_text(code: &str, found: &mut Collected) {
    for (at, line) in code.lines().enumerate() {
        if line.contains(['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}'])
            || line.contains(['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'])
        {
            let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let says = Says::new(Deed::Hides, Risk::High, "text that is shown in another order");
            found.add(says, "", Site { line, columns: None });
        }
    }
}
