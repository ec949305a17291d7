//! Every rule has an example that it finds.

use super::*;

fn has(findings: &Findings, capability: &str, severity: Risk) -> bool {
    findings.capabilities.iter().any(|found| found.name == capability && found.severity >= severity)
}

fn check_calls(name: &str, rules: &CallRules) {
    for rule in rules.all() {
        assert!(!rule.reason.is_empty(), "{:?} has no reason", rule.calls);
        let calls = rule.calls.iter().map(|call| ("{call}", call));
        let imports = rule.imports.iter().map(|import| ("{import}", import));
        for (mark, pattern) in calls.chain(imports) {
            assert!(
                rule.example.contains(mark) || rule.calls.len() == 1,
                "the example for {pattern} does not use it"
            );
            let mut written = pattern.replace("*.", "thing.").replace("[]", "[x]");
            let root = written.split('.').next().unwrap_or_default().to_owned();
            if mark == "{call}" && root.contains('-') {
                written = written.replacen(&root, &format!("require('{root}')"), 1);
            }
            let code = rule.example.replace(mark, &written);
            let found = findings(name, &code);
            let capability = rule.capability.name();
            assert!(has(&found, capability, rule.severity), "{code}\n{:?}", lines(&found));
            assert!(!has(&found, "unreadable", Risk::Low), "{code}");
        }
        unfit(name, &rule.unlike, rule.capability, rule.severity, &rule.reason);
    }
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
fn every_sql_rule_finds_its_example() {
    for rule in sql::rules() {
        for word in rule.words() {
            let code = rule.example.replace("{word}", word);
            let found = findings("sql", &code);
            assert!(
                has(&found, rule.capability.name(), rule.severity),
                "{code}\n{:?}",
                lines(&found)
            );
        }
        unfit("sql", &rule.unlike, rule.capability, rule.severity, &rule.reason);
    }
}

#[test]
fn every_rule_on_words_finds_its_example() {
    for rule in words::rules() {
        for text in &rule.texts {
            let code = rule.example.replace("{text}", text);
            let found = findings("ruby", &code);
            assert!(
                has(&found, rule.capability.name(), rule.severity),
                "{code}\n{:?}",
                lines(&found)
            );
        }
        unfit("ruby", &rule.unlike, rule.capability, rule.severity, &rule.reason);
    }
}

#[test]
fn every_python_rule_finds_its_example() {
    check_calls("python", &PYTHON);
}

#[test]
fn every_javascript_rule_finds_its_example() {
    check_calls("javascript", &JAVASCRIPT);
}

#[test]
fn every_shell_rule_finds_its_example() {
    let (rules, _, _) = shell::RULES.all();
    for rule in rules {
        assert!(!rule.reason.is_empty(), "{:?} has no reason", rule.programs);
        for program in &rule.programs {
            let words = if rule.words.is_empty() { &[String::new()][..] } else { &rule.words };
            for word in words {
                let code = rule.example.replace("{program}", program).replace("{word}", word);
                let found = findings("shell", &code);
                let capability = rule.capability.name();
                assert!(has(&found, capability, rule.severity), "{code}\n{:?}", lines(&found));
                assert!(!has(&found, "unreadable", Risk::Low), "{code}");
            }
        }
        unfit("shell", &rule.unlike, rule.capability, rule.severity, &rule.reason);
    }
}

#[test]
fn every_wrapper_and_interpreter_is_seen_through() {
    let (_, wrappers, interpreters) = shell::RULES.all();
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
