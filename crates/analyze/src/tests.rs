//! Tests of the whole crate: that every rule finds what its example shows, that realistic code
//! gives the findings a person would expect, and that no text breaks the analysis.

use crate::{analyze, call_rules::CallRules, javascript, python, shell};
use interpreter_core::{Findings, Language, LanguageInfo, Languages, Risk};

mod corpus;
mod hostile;
mod programs;
mod rules;
mod tables;

fn language(name: &str) -> Language {
    let (aliases, endings, continuity) = Default::default();
    let info = LanguageInfo { name: name.into(), aliases, endings, continuity };
    Languages::new(vec![info]).find(name).unwrap()
}

fn findings(name: &str, code: &str) -> Findings {
    analyze(&language(name), code)
}

/// Findings as lines: `3 deletes x high`.
fn lines(findings: &Findings) -> Vec<String> {
    let shown = findings.capabilities.iter().map(|found| {
        let argument = match found.argument.raw() {
            "" => "-",
            text => text,
        };
        format!("{} {} {argument} {}", found.line, found.name, found.severity.word())
    });
    shown.collect()
}

/// Checks that each code gives exactly these findings.
fn check(name: &str, table: &[(&str, &[&str])]) {
    for (code, expected) in table {
        assert_eq!(lines(&findings(name, code)), *expected, "in {name}:\n{code}");
    }
}
