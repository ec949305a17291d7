//! Code that stands behind a bound is never taken for code that does nothing: what is left out,
//! cut or not followed counts. Each attack has a control just within the bound.

use super::*;

fn has(found: &Findings, name: &str) -> bool {
    found.capabilities.iter().any(|one| one.name == name)
}

/// Whether a finding says that something was not followed, or what it runs is hidden.
fn is_noted(found: &Findings) -> bool {
    found.risk == Risk::High && (has(found, "hides") || has(found, "unreadable"))
}

#[test]
fn findings_behind_a_crowd_are_kept_or_marked() {
    let code = |host: fn(usize) -> String, times: usize| {
        let get = |at| format!("requests.get('https://{}/{at}')\n", host(at));
        let crowd: String = (0..times).map(get).collect();
        format!("import requests, shutil\n{crowd}shutil.rmtree('/home/u/a')\nopen('b', 'w')")
    };
    let same = findings("python", &code(|_| "api.github.com".into(), 400));
    assert!(has(&same, "deletes") && has(&same, "writes"));
    assert!(!has(&same, "unreadable"), "a repetition is no other finding");
    let many = findings("python", &code(|at| format!("h{at}.example"), 400));
    assert!(has(&many, "deletes") && has(&many, "writes") && is_noted(&many));
    let few = findings("python", &code(|at| format!("h{at}.example"), 20));
    assert!(has(&few, "deletes") && !has(&few, "unreadable"));
}

#[test]
fn a_text_or_list_that_is_cut_goes_on_with_something_computed() {
    let escapes = |times: usize| {
        let blanks = "\\x20".repeat(times);
        format!("require('child_process').execSync('git status{blanks}; rm -r x')")
    };
    let template = |times: usize| {
        let holes = "${a}".repeat(times);
        format!("const a = ' ';\nrequire('child_process').execSync(`true{holes}; rm -r x`)")
    };
    let program = |times: usize| {
        let set = "'A=1', ".repeat(times);
        format!("require('child_process').execFileSync('env', [{set}'rm', '-r', 'x'])")
    };
    let spelled = |times: usize| {
        let blanks = ", 32".repeat(times);
        let code = "114, 101, 113, 117, 105, 114, 101, 40, 34, 102, 115, 34, 41";
        format!("eval(String.fromCharCode({code}{blanks}))")
    };
    let joined = |times: usize| {
        let nothing = "'', ".repeat(times);
        format!("import os\nos.system(' '.join(['git', 'status', {nothing}'; rm -r x']))")
    };
    let list = |times: usize| {
        let set = "'A=1', ".repeat(times);
        format!("import subprocess\nsubprocess.run(['env', {set}'rm', '-r', 'x'])")
    };
    for (name, code) in [
        ("javascript", &escapes as &dyn Fn(usize) -> String),
        ("javascript", &template),
        ("javascript", &program),
        ("python", &joined),
        ("python", &list),
    ] {
        let within = findings(name, &code(20));
        assert!(has(&within, "deletes") && !has(&within, "unreadable"), "{:?}", lines(&within));
        let beyond = findings(name, &code(300));
        assert!(is_noted(&beyond), "{}\n{:?}", code(3), lines(&beyond));
    }
    assert!(is_noted(&findings("javascript", &spelled(300))));
}

#[test]
fn comments_and_brackets_do_not_hide_a_name() {
    let run = "execSync('rm -r x')";
    for code in [
        format!("(/**/require)('child_process').{run}"),
        format!("(await /*a*/ import('child_process')).{run}"),
        format!("(0, require /*b*/)('child_process').{run}"),
        format!("{}require{}('child_process').{run}", "(".repeat(40), ")".repeat(40)),
        format!("const cp = require(/*c*/ 'child_process'); (/*d*/ cp /*e*/).{run}"),
    ] {
        let found = findings("javascript", &code);
        assert!(has(&found, "deletes"), "{code}\n{:?}", lines(&found));
    }
    let deep = |times: usize| {
        let (open, close) = ("(".repeat(times), ")".repeat(times));
        findings("javascript", &format!("{open}require{close}('child_process').{run}"))
    };
    assert!(is_noted(&deep(300)));
    check("javascript", &[("(/**/Math).max(1, 2) // x", &[])]);
}

#[test]
fn a_name_that_is_not_followed_is_refused() {
    let choices = |times: usize| {
        let (open, close) = ("(".repeat(times), " if 1 else 0)".repeat(times));
        findings("python", &format!("import os\n{open}os{close}.system('rm -r x')"))
    };
    assert!(has(&choices(40), "deletes"));
    assert_eq!(choices(400).risk, Risk::High);
    let bound = |times: usize| {
        let others: Vec<_> = (0..times).map(|at| format!("    m = a{at}\n")).collect();
        let others = others.concat();
        findings("python", &format!("import os\nif 0:\n{others}m = os\nm.system('rm -r x')"))
    };
    assert!(has(&bound(10), "deletes") && has(&bound(1_000), "deletes"));
    let bound: Vec<_> = (0..10).map(|at| format!("m = a{at};\n")).collect();
    let bound = bound.concat();
    let code = format!("let m;\n{bound}m = require('fs');\nm.rmSync('x')");
    assert!(has(&findings("javascript", &code), "deletes"));
    let commands = |times: usize| {
        let code = format!("{}!rm -r x", "!true\n".repeat(times));
        findings("python", &code)
    };
    assert!(has(&commands(20), "deletes"));
    assert!(is_noted(&commands(5_000)));
}

#[test]
fn ordinary_code_that_goes_on_and_on_is_not_refused() {
    let frames = "df = df.dropna()\ndf = df.assign(a=1)\ndf = df[df.a > 0]\n".repeat(12);
    let chain =
        format!("import pandas as pd\ndf = pd.DataFrame(){}\n{frames}", ".abs()".repeat(40));
    assert!(!has(&findings("python", &chain), "unreadable"));
    let sum = format!("let s = 'a'{};\n", " + f(x.y.z) + 'b'".repeat(60));
    let chain = format!("{sum}s = process.argv{};\n", ".map(f)".repeat(30));
    let again = "s = s.filter(f);\ns = s.map(g);\n".repeat(12);
    let found = findings("javascript", &format!("{chain}{again}"));
    assert!(!has(&found, "unreadable"), "{:?}", lines(&found));
}
