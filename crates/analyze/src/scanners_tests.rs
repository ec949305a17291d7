//! Reports of scanners add and raise, and nothing that they say or fail to say lowers a risk.

use super::*;
use crate::{AddedRules, analyze};
use interpreter_core::{LanguageInfo, Languages, Untrusted};
use proptest::prelude::*;

fn language(name: &str) -> Language {
    let (aliases, endings, continuity) = Default::default();
    let info = LanguageInfo { name: name.into(), aliases, endings, continuity };
    Languages::new(vec![info]).find(name).unwrap()
}

fn own(name: &str, code: &str) -> Findings {
    analyze(&AddedRules::default(), &language(name), code)
}

fn told(findings: &Findings) -> Vec<String> {
    let line = |one: &Capability| {
        let sources: Vec<_> = one.sources.iter().map(Untrusted::raw).collect();
        let (line, name, argument) = (one.line, &one.name, one.argument.raw());
        format!("{line} {name} {argument} {}; {}", one.severity.word(), sources.join("; "))
    };
    findings.capabilities.iter().map(line).collect()
}

const BANDIT: &str = r#"{"errors": [], "generated_at": "x", "metrics": {}, "results": [
  {"test_id": "B602", "issue_text": "shell=True", "issue_severity": "HIGH", "line_number": 2,
   "col_offset": 0, "end_col_offset": 31, "line_range": [2], "filename": "code.py"},
  {"test_id": "B301", "issue_text": "pickle", "issue_severity": "MEDIUM", "line_number": 3,
   "col_offset": 0, "end_col_offset": 8, "line_range": [3]},
  {"test_id": "B101", "issue_text": "assert", "issue_severity": "LOW", "line_number": 3,
   "line_range": [3]}]}"#;

#[test]
fn a_result_joins_the_finding_of_the_same_or_stands_alone() {
    let code = "import subprocess\nsubprocess.run('ls', shell=True)\nmystery(x)\n";
    let before = own("python", code);
    let after = with_report(before.clone(), Scanner::Bandit, code, Ok(BANDIT.as_bytes()));
    let told = told(&after);
    assert_eq!(told.len(), before.capabilities.len() + 1, "{told:?}");
    assert!(told.contains(&"2 starts ls high; bandit B602: shell=True".to_owned()), "{told:?}");
    assert!(
        told.contains(&"3 deserialises mystery( medium; bandit B301: pickle".to_owned()),
        "{told:?}"
    );
}

#[test]
fn a_scanner_that_fails_makes_the_risk_unknown_and_no_less() {
    let many = format!("{{\"comments\": [{}]}}", ["{}"; 3].join(","));
    let far = r#"{"comments": [{"line": 900, "endLine": 900, "column": 1, "endColumn": 2,
        "level": "error", "code": 2114, "message": "m"}]}"#;
    for report in
        [&b""[..], b"null", b"[]", b"{}", many.as_bytes(), b"{\"comments\": []} x", far.as_bytes()]
    {
        let found = with_report(own("shell", "ls"), Scanner::ShellCheck, "ls", Ok(report));
        assert_eq!(found.risk, Risk::Unknown, "{}", String::from_utf8_lossy(report));
        let is_told = |one: &Capability| one.argument.raw().starts_with("shellcheck ");
        assert!(found.capabilities.iter().any(is_told));
    }
    let huge = vec![b' '; MOST_REPORT + 1];
    assert_eq!(
        with_report(own("shell", "ls"), Scanner::ShellCheck, "ls", Ok(&huge)).risk,
        Risk::Unknown
    );
    let late = with_report(own("shell", "rm x"), Scanner::ShellCheck, "rm x", Err("took too long"));
    assert_eq!(late.risk, Risk::High);
    // The control: a report that finds nothing changes nothing.
    let quiet =
        with_report(own("shell", "ls"), Scanner::ShellCheck, "ls", Ok(b"{\"comments\": []}"));
    assert_eq!(quiet, own("shell", "ls"));
}

#[test]
fn results_that_are_not_listed_are_counted_and_grave_unless_they_only_repeat() {
    let report = |lines: usize| {
        let one = |line: usize| {
            let (id, severity) = if line == lines { ("B602", "HIGH") } else { ("B999", "LOW") };
            format!(
                r#"{{"test_id": "{id}", "issue_text": "t", "issue_severity": "{severity}",
                "line_number": {line}, "line_range": [{line}]}}"#
            )
        };
        let results = (1..=lines).map(one).collect::<Vec<_>>().join(",");
        format!(r#"{{"errors": [], "results": [{results}]}}"#)
    };
    let scan = |lines: usize, code: fn(usize) -> String| {
        let code: String = (1..=lines).map(code).collect();
        let report = report(lines);
        with_report(own("python", &code), Scanner::Bandit, &code, Ok(report.as_bytes()))
    };
    let marks = |found: &Findings| -> Vec<String> {
        told(found).into_iter().filter(|one| one.contains("not listed")).collect()
    };
    let many = scan(450, |at| format!("f({at})\n"));
    assert_eq!(marks(&many), ["1 unreadable 250 more results of bandit are not listed high; "]);
    assert!(told(&many).iter().any(|one| one.contains("bandit B602")), "the gravest is listed");
    assert_eq!(
        marks(&scan(201, |at| format!("f({at})\n"))),
        ["1 unreadable 1 more result of bandit is not listed high; "]
    );
    // The control: as many as are listed.
    assert_eq!(marks(&scan(200, |at| format!("f({at})\n"))), [""; 0]);
    // Those that only repeat others are counted as well, but add no risk.
    let (few, repeated) = (scan(2, |_| "f(1)\n".into()), scan(300, |_| "f(1)\n".into()));
    assert_eq!(marks(&repeated).len(), 1);
    assert_eq!(repeated.risk, few.risk);
}

#[test]
fn a_check_is_ignored_only_by_name() {
    let report = |id: &str| {
        format!(
            r#"{{"errors": [], "results": [{{"test_id": "{id}", "issue_text": "t",
            "issue_severity": "HIGH", "line_number": 1, "line_range": [1]}}]}}"#
        )
    };
    let risk = |id: &str| {
        with_report(own("python", "f()"), Scanner::Bandit, "f()", Ok(report(id).as_bytes())).risk
    };
    assert_eq!(risk("B101"), Risk::Low);
    assert_eq!(risk("B602"), Risk::High);
    assert_eq!(risk("B999"), Risk::High);
}

#[test]
fn semgrep_names_the_deed_in_its_metadata() {
    let report = r#"{"version": "1", "errors": [], "paths": {}, "results": [{"check_id": "tmp.rules.r1",
        "path": "code.js", "start": {"line": 1, "col": 1, "offset": 0}, "end": {"line": 1, "col": 5,
        "offset": 4}, "extra": {"message": "m", "severity": "ERROR",
        "metadata": {"capability": "kills"}}}]}"#;
    let found =
        with_report(own("javascript", "f(x)"), Scanner::Semgrep, "f(x)", Ok(report.as_bytes()));
    assert_eq!(told(&found), ["1 kills f(x) high; semgrep r1: m"]);
    let broken = r#"{"errors": [{"level": "error", "message": "bad"}], "results": []}"#;
    let found =
        with_report(own("javascript", "f(x)"), Scanner::Semgrep, "f(x)", Ok(broken.as_bytes()));
    assert_eq!(found.risk, Risk::Unknown);
}

#[test]
fn a_failure_is_told_in_the_words_of_the_scanner() {
    let report =
        br#"{"results": [], "errors": [{"level": "error", "long_msg": "no\n  such severity"},
        {"message": "invalid configuration"}]}"#;
    assert_eq!(failure(Scanner::Semgrep, report, "{"), "failed: no such severity");
    assert_eq!(failure(Scanner::Semgrep, b"{\"results\": [", "a\n b  c \n\n"), "failed: b c");
    assert_eq!(failure(Scanner::Bandit, report, "bad"), "failed: bad");
    assert_eq!(failure(Scanner::Bandit, b"", ""), "failed: ");
}

#[test]
fn commands_of_a_notebook_do_not_stop_a_scanner_of_python() {
    let code = "!ls\nimport os  # nosec\n%time x = 1\n";
    let given = scannable(Scanner::Bandit, &language("python"), code).unwrap();
    assert_eq!(given.lines().count(), 3, "{given}");
    assert!(given.contains("import os  # nosex") && !given.contains("!ls"), "{given}");
    assert!(scannable(Scanner::Bandit, &language("shell"), "ls").is_none());
}

proptest! {
    #[test]
    fn no_report_lowers_or_removes_anything(
        bytes in prop_oneof![
            any::<Vec<u8>>(),
            "\\{\"errors\": \\[\\], \"results\": \\[.{0,40}\\]\\}".prop_map(String::into_bytes),
        ],
        which in 0..3_usize,
    ) {
        let code = "import os\nos.remove('x')\n";
        let before = own("python", code);
        let after = with_report(before.clone(), Scanner::ALL[which], code, Ok(&bytes));
        prop_assert!(after.risk >= before.risk);
        for one in &before.capabilities {
            let is_there = after.capabilities.iter().any(|other| {
                (&other.name, &other.argument, other.line) == (&one.name, &one.argument, one.line)
                    && other.severity >= one.severity
            });
            prop_assert!(is_there, "{one:?}");
        }
    }
}
