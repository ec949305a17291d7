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
    }
}

#[test]
fn every_python_rule_finds_its_example() {
    check_calls("python", python::rules());
}

#[test]
fn every_javascript_rule_finds_its_example() {
    check_calls("javascript", javascript::rules());
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
                has(&found, "deletes", Risk::High) || has(&found, "hides", Risk::High)
            };
            assert!(seen, "{code}\n{:?}", lines(&found));
        }
    }
}
