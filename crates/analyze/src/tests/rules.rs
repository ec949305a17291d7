//! Every rule has an example that it finds.

use super::*;
use crate::{
    rule::{Pattern, Rule},
    rules::{BUILT_IN, Rules},
};

fn has(findings: &Findings, capability: &str, severity: Risk) -> bool {
    findings.capabilities.iter().any(|found| found.name == capability && found.severity >= severity)
}

/// Checks that a rule finds its examples, and nothing in its counterexample.
fn hold<P: Pattern>(name: &str, rule: &Rule<P>) {
    assert!(!rule.reason.is_empty(), "{} has no reason", rule.example);
    for code in rule.examples().unwrap() {
        let found = findings(name, &code);
        let capability = rule.capability.name();
        // Code that only saves `x` is of low severity there; elsewhere it is as grave as the rule says.
        let severity = if rule.on.saves().is_some() { Risk::Low } else { rule.severity };
        assert!(has(&found, capability, severity), "{code}\n{:?}", lines(&found));
        let is_readable = name == "ruby" || !has(&found, "unreadable", Risk::Low);
        assert!(is_readable, "{code}");
    }
    unfit(name, &rule.unlike, rule.capability, rule.severity, &rule.reason);
}

/// Checks that a rule says nothing of code that it does not fit.
fn unfit(name: &str, unlike: &str, deed: Deed, severity: Risk, reason: &str) {
    let found = findings(name, unlike);
    let says = |one: &Capability| {
        one.name == deed.name() && one.severity >= severity && one.reason.raw() == reason
    };
    assert!(!found.capabilities.iter().any(says), "{unlike}\n{:?}", lines(&found));
    assert!(!unlike.is_empty());
}

#[test]
fn every_rule_finds_its_example() {
    let rules = Rules::built_in();
    let set = rules.first();
    set.python.all().iter().for_each(|rule| hold("python", rule));
    set.javascript.all().iter().for_each(|rule| hold("javascript", rule));
    set.shell.all().iter().for_each(|rule| hold("shell", rule));
    set.sql.iter().for_each(|rule| hold("sql", rule));
    set.words.all().iter().for_each(|rule| hold("ruby", rule));
}

#[test]
fn every_wrapper_and_interpreter_is_seen_through() {
    let (wrappers, interpreters, _) = BUILT_IN.shell.all();
    let wrappers = wrappers.iter().map(|one| (&one.programs, &one.example));
    let interpreters = interpreters.iter().map(|one| (&one.programs, &one.example));
    for (programs, example) in wrappers.chain(interpreters) {
        for program in programs {
            let code = example.replace("{program}", program);
            let found = findings("shell", &code);
            let seen = if example.contains("rm") {
                has(&found, "deletes", Risk::High)
            } else {
                ["deletes", "hides"].iter().any(|name| has(&found, name, Risk::High))
                    || has(&found, "irreversible", Risk::High)
            };
            assert!(seen, "{code}\n{:?}", lines(&found));
        }
    }
}

#[test]
fn every_program_that_takes_in_files_is_seen_to() {
    for reader in BUILT_IN.shell.all().2 {
        for program in reader.programs() {
            let code = reader.example.replace("{program}", program);
            let found = findings("shell", &code);
            let takes_in = |one: &Capability| {
                matches!(one.name.as_str(), "reads" | "lists") && one.argument.raw() == "x.txt"
            };
            assert!(found.capabilities.iter().any(takes_in), "{code}\n{:?}", lines(&found));
        }
    }
}
