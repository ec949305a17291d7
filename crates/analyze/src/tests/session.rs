//! Cells of one session: what an earlier one has set counts in a later one.

use super::*;

/// The finding in every cell after one that was not followed.
const PARTIAL: &str = "1 unreadable earlier code, which may have changed what names mean, could not \
                       be followed unknown";

/// The findings of the last of these cells.
fn last(name: &str, cells: &[&str]) -> Vec<String> {
    let mut past = Past::default();
    let mut found = Vec::new();
    for cell in cells {
        let (findings, after) = analyze_after(&AddedRules::default(), &past, &language(name), cell);
        (found, past) = (lines(&findings), after);
    }
    found
}

#[test]
fn names_and_values_last_from_cell_to_cell() {
    for (name, cells, expected) in [
        (
            "python",
            &["p = '/home/ann'", "import os", "os.remove(p + '/x')"][..],
            "1 deletes /home/ann/x high",
        ),
        ("python", &["from os import remove as r", "r('x')"], "1 deletes x high"),
        (
            "python",
            &["cmd = ['rm', '-r', 'x']", "import subprocess\nsubprocess.run(cmd)"],
            "2 deletes x high",
        ),
        ("python", &["def f():\n  import os\n  os.remove('x')", "f()"], "1 deletes - high"),
        ("shell", &["D=/srv/x", "rm -r $D"], "1 deletes /srv/x high"),
        ("shell", &["f() { rm x; }", "f"], "1 deletes - high"),
        (
            "javascript",
            &["const fs = require('fs')", "const p = 'x'", "fs.rmSync(p)"],
            "1 deletes x high",
        ),
        ("javascript", &["function f() { require('fs').rmSync('x') }", "f()"], "1 deletes - high"),
    ] {
        let found = last(name, cells);
        assert!(found.iter().any(|one| one == expected), "{cells:?}\n{found:?}");
    }
}

#[test]
fn a_name_that_was_set_twice_may_stand_for_either() {
    let open = "open(p)";
    // The second cell may have ended before.
    assert_eq!(last("python", &["p = 'a'", "p = '/etc/b'", open]), ["1 reads - low"]);
    assert_eq!(last("python", &["p = '/etc/b'", "p = '/etc/b'", open]), ["1 reads /etc/b medium"]);
    // Here it has not.
    assert_eq!(last("python", &["p = 'a'", "p = '/etc/b'\nopen(p)"]), ["2 reads /etc/b medium"]);
    assert_eq!(last("python", &["p = '/etc/b'", "if q: p = 'a'\nopen(p)"]), ["2 reads - low"]);
    assert_eq!(last("python", &["p = '/etc/b'", "open(p)\np = 'a'"]), ["1 reads - low"]);
    let late = "def f(): open(p)\nf()\np = 'a'";
    assert_eq!(last("python", &["p = '/etc/b'", late]), ["1 reads - low"]);
    assert_eq!(last("shell", &["p=/etc/b", "p=a\ncat $p"]), ["2 reads a low"]);
    assert_eq!(last("shell", &["p=/etc/b", "cat $p\np=a"])[0], "1 reads - low");
    assert_eq!(last("python", &["p = 'a'", "p = f()", open]), ["1 reads - low"]);
    assert_eq!(last("python", &["p = 'a'", "for p in q: pass", open]), ["1 reads - low"]);
    assert_eq!(last("python", &["p = 'a'", "del p", open]), ["1 reads - low"]);
    let old = "def f():\n  import os\n  os.remove('x')";
    let again = "int('x')\ndef f(): pass";
    assert_eq!(last("python", &[old, again, "f()"]), ["1 deletes - high"]);
    assert_eq!(last("python", &[old, "def f(): pass\nf()"]), Vec::<String>::new());
    for (name, cells) in [
        ("python", ["from os import remove as g", "int('x')\ndef g(p): pass", "g('x')"]),
        (
            "python",
            ["from os import remove as g", "if False:\n    from math import sqrt as g", "g('x')"],
        ),
    ] {
        assert_eq!(last(name, &cells), ["1 deletes x high"], "{cells:?}");
    }
}

#[test]
fn after_a_cell_that_is_refused_names_may_mean_anything() {
    let deep = "(".repeat(100_000);
    for name in ["python", "shell", "javascript"] {
        let set = if name == "python" { "p = '/etc/x'" } else { "p=/etc/x" };
        let set = if name == "javascript" { "const p = '/etc/x'" } else { set };
        let read = match name {
            "python" => "open(p)",
            "shell" => "cat $p",
            _ => "require('fs').readFileSync(p)",
        };
        assert_eq!(last(name, &[set, read]), ["1 reads /etc/x medium"], "{name}");
        for cells in [&[set, &deep, read][..], &[set, &deep, "1", read]] {
            let found = last(name, cells);
            assert!(found.contains(&PARTIAL.into()), "{name}\n{found:?}");
        }
        // A kernel that starts afresh has forgotten them.
        let (mut past, language) = (Past::default(), language(name));
        past = analyze_after(&AddedRules::default(), &past, &language, &deep).1;
        past.forget(&language);
        let found = analyze_after(&AddedRules::default(), &past, &language, read).0;
        assert!(found.risk < Risk::Unknown, "{name}");
        // A mistake sets nothing.
        let found = last(name, &[set, "if (", read]);
        assert_eq!(found, ["1 reads /etc/x medium"], "{name}");
    }
}

#[test]
fn names_beyond_those_that_are_remembered_may_mean_anything() {
    let set = |times: usize| -> String {
        let all: Vec<_> = (0..times).map(|at| format!("x{at} = os")).collect();
        format!("import os\n{}", all.join("\n"))
    };
    let found = last("python", &[&set(2_100), "import os as o", "o.system('rm x')"]);
    assert!(found.contains(&PARTIAL.into()), "{found:?}");
    let found = last("python", &[&set(1_000), "import os as o", "o.system('rm x')"]);
    assert_eq!(found, ["1 starts rm medium", "1 deletes x high"]);
}

#[test]
fn a_function_behind_a_crowd_may_do_anything() {
    let crowd = |times: usize| {
        let crowd = "open('a', 'w')\n".repeat(times);
        format!("{crowd}def go():\n    open('a', 'w')")
    };
    assert!(last("python", &[&crowd(300), "go()"]).contains(&PARTIAL.into()));
    assert_eq!(last("python", &[&crowd(20), "go()"]), ["1 writes - medium"]);
}

#[test]
fn memory_of_a_session_is_bounded() {
    let mut past = Past::default();
    let python = language("python");
    for cell in 0..40 {
        let lines: Vec<_> = (0..200).map(|at| format!("v{cell}_{at} = 'x'")).collect();
        past = analyze_after(&AddedRules::default(), &past, &python, &lines.join("\n")).1;
    }
    let long = format!("v = '{}'", "x".repeat(100_000));
    past = analyze_after(&AddedRules::default(), &past, &python, &long).1;
    assert!(format!("{past:?}").len() < 1_000_000);
}

#[test]
fn findings_say_where_they_are_and_how_sure() {
    let found = findings("python", "import os\nx = os.remove('é', y); os.remove(z)");
    let one = |at: usize| {
        let Capability { line, columns, confidence, .. } = found.capabilities[at];
        (line, columns, confidence)
    };
    assert_eq!(one(0), (2, Some((5, 22)), Confidence::Certain));
    assert_eq!(one(1), (2, Some((24, 36)), Confidence::Likely));
    let shell = findings("shell", "echo a; rm x");
    assert_eq!(shell.capabilities[0].columns, Some((9, 13)));
    let script = findings("javascript", "  require('fs').rmSync('x')");
    assert_eq!(script.capabilities[0].columns, Some((3, 28)));
    // Inside a string there are no columns of the whole.
    let nested = findings("shell", "sh -c 'rm x'");
    assert_eq!(nested.capabilities[0].columns, None);
    assert!(!nested.capabilities[0].reason.is_empty());
}

#[test]
fn encodings_do_not_hide_what_code_does() {
    for (name, code, expected) in [
        (
            "python",
            "import base64 as b\nexec(b.b64decode('aW1wb3J0IG9zOyBvcy5yZW1vdmUoInkiKQ=='))",
            "2 deletes y high",
        ),
        (
            "python",
            "import codecs\nexec(codecs.decode('vzcbeg bf; bf.erzbir(\"l\")', 'rot13'))",
            "2 deletes y high",
        ),
        ("python", "exec('import os; os.remove(\"y\")'[::1])", "1 hides - high"),
        ("python", "exec(')\"y\"(evomer.so ;so tropmi'[::-1])", "1 deletes y high"),
        (
            "python",
            "exec(''.join(map(chr, [105, 109, 112, 111, 114, 116, 32, 111, 115, 59, 111, 115, 46, 114, 101, 109, 111, 118, 101, 40, 39, 121, 39, 41])))",
            "1 deletes y high",
        ),
        ("shell", "echo cm0geQ== | base64 --decode | sh", "1 deletes y high"),
        ("shell", "printf '\\x72\\x6d y' | bash", "1 deletes y high"),
        ("javascript", "eval(atob('cmVxdWlyZSgiZnMiKS5ybVN5bmMoInkiKQ=='))", "1 deletes y high"),
    ] {
        let found = lines(&findings(name, code));
        assert!(found.iter().any(|one| one == expected), "{code}\n{found:?}");
    }
}
