//! Tests of the whole crate: that every rule finds what its example shows, that realistic code
//! gives the findings a person would expect, and that no text breaks the analysis.

use crate::{AddedRules, Past, analyze, analyze_after};
use interpreter_core::{
    Capability, Confidence, Deed, Findings, Language, LanguageInfo, Languages, Risk,
};

mod bounds;
mod corpus;
mod hostile;
mod programs;
mod rules;
mod session;
mod speed;
mod strict;
mod tables;
mod taken;
mod understood;
mod unseen;

fn language(name: &str) -> Language {
    let (aliases, endings, continuity) = Default::default();
    let info = LanguageInfo { name: name.into(), aliases, endings, continuity };
    Languages::new(vec![info]).find(name).unwrap()
}

fn findings(name: &str, code: &str) -> Findings {
    analyze(&AddedRules::default(), &language(name), code)
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
    let mut wrong = Vec::new();
    for (code, expected) in table {
        let found = lines(&findings(name, code));
        if found != *expected {
            wrong.push(format!("in {name}:\n{code}\n  found {found:?}\n  not   {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
