//! No text breaks the analysis: not deep, not long, not random.

use super::*;
use proptest::prelude::*;

const LANGUAGES: [&str; 6] = ["python", "shell", "javascript", "typescript", "sql", "ruby"];

#[test]
fn other_languages_are_unreadable() {
    check(
        "ruby",
        &[("puts 1", &["1 unreadable this language is read by its words alone unknown"])],
    );
    assert_eq!(findings("ruby", "").risk, Risk::Unknown);
}

#[test]
fn too_much_code_is_unreadable() {
    for name in LANGUAGES {
        let found = findings(name, &"\n".repeat(1024 * 1024 + 1));
        assert_eq!(lines(&found), ["1 unreadable more than 1 MiB of code high"]);
    }
}

/// Ways to go one level deeper, in one language or another.
const DEEPER: [&str; 46] = [
    "(",
    "[",
    "{",
    "$(",
    "${",
    "`",
    "f(",
    "- ",
    "!",
    "not ",
    "~",
    "a.",
    "a+",
    "a=>",
    "lambda: ",
    "if(a)",
    "if a; then ",
    "if a: ",
    "while a; do ",
    "x && ",
    "x | ",
    "a ? b : ",
    "a if b else ",
    "f`${",
    "f\"{",
    "\"$(",
    "$((",
    "<(",
    "f() { ",
    "case x in y) ",
    "((",
    "[[ ( ",
    "a[",
    "new ",
    "await ",
    "...",
    "x()",
    "x[0]",
    "**a",
    "do ",
    "{a:",
    "<<A\n$(",
    "<<A\n",
    "a=",
    "a,",
    "$()",
];

#[test]
fn deep_code_ends_in_a_finding_and_not_in_an_overflow() {
    for name in ["python", "shell", "javascript", "sql"] {
        for piece in DEEPER {
            // Brackets are counted before anything is parsed; the rest is parsed, and slow in a
            // debug build.
            let times = if piece.ends_with(['(', '[', '{']) { 100_000 } else { 3_000 };
            findings(name, &piece.repeat(times));
            findings(name, &format!("{}x{}", piece.repeat(times), ")]}".repeat(times)));
        }
    }
}

#[test]
fn a_hundred_thousand_brackets_are_unreadable() {
    for name in ["python", "shell", "javascript", "typescript"] {
        for bracket in ["(", "[", "{", "$("] {
            let found = findings(name, &bracket.repeat(100_000));
            assert_eq!(found.risk, Risk::High, "{bracket} in {name}");
        }
    }
}

#[test]
fn too_many_substitutions_are_unreadable() {
    let found = findings("shell", &format!("\"{}\"", "$(a)\n".repeat(50_000)));
    assert_eq!(lines(&found), ["1 unreadable too many commands inside commands high"]);
}

#[test]
fn the_deepest_code_that_is_read_fits_the_stack() {
    for depth in 1..6 {
        let depth = depth * 100 - 10;
        for (open, close) in
            [("(", ")"), ("[", "]"), ("-", ""), ("a.", ""), ("a+", ""), ("lambda: ", "")]
        {
            let code = format!("x = {}a{}", open.repeat(depth), close.repeat(depth));
            findings("python", &code);
        }
        let blocks: String = (0..depth).flat_map(|at| [" ".repeat(at), "if a:\n".into()]).collect();
        findings("python", &format!("{blocks}{}pass", " ".repeat(depth)));
    }
}

#[test]
fn scripts_that_nest_too_deep_hide_what_they_do() {
    let mut code = String::from("rm x");
    for _ in 0..6 {
        code = format!("eval '{}'", code.replace('\'', "'\\''"));
    }
    assert!(lines(&findings("shell", &code)).contains(&"1 hides - high".to_owned()));
}

#[test]
fn a_crowd_of_findings_is_capped() {
    for (name, line) in
        [("python", "open('x')\n"), ("shell", "cat x\n"), ("javascript", "fetch(x)\n")]
    {
        assert_eq!(findings(name, &line.repeat(5_000)).capabilities.len(), 200);
    }
}

#[test]
fn text_that_is_shown_in_another_order_hides_something() {
    check("python", &[("x = 1\ny = 'a\u{202e}b'", &["2 hides - high"])]);
}

fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "import os",
        "os.remove(",
        "open(",
        "'x'",
        "\"",
        "$(",
        ")",
        "`",
        "{",
        "}",
        "\n",
        ";",
        "|",
        "&&",
        "rm ",
        "sh -c ",
        "<<E\n",
        "E\n",
        "eval ",
        "require('fs')",
        ".rmSync(",
        "=>",
        "const {a: b} = ",
        "f'{",
        "${",
        "[",
        "]",
        "\\",
        " ",
        "é",
        "if ",
        "then",
        "fi",
        "for ",
        "do",
        "done",
        "case x in",
        "esac",
        "lambda: ",
        "def f(",
        "):",
        "    ",
        "\t",
        "#",
        "//",
        "/*",
        "*/",
        "<(",
        "> ",
        "2>&1",
        "=",
        "+",
        "-",
        "!",
        "~",
        "$'\\x",
        "DROP TABLE ",
        "base64.b64decode(",
        "'cm0gLXJm'",
        ".join(",
        "while True:",
        "os.environ",
        "sudo ",
        "find . -exec ",
        "xargs ",
        "\n!ls ",
        "\n%pip ",
        "%%bash\n",
        "\u{0}",
        "\u{202e}",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_has_findings(code in any::<String>(), name in prop::sample::select(&LANGUAGES[..])) {
        findings(name, &code);
    }

    #[test]
    fn any_mixture_of_syntax_has_findings(code in pieces(), name in prop::sample::select(&LANGUAGES[..])) {
        let found = findings(name, &code);
        let last = u32::try_from(code.lines().count()).unwrap() + 1;
        prop_assert!(found.capabilities.iter().all(|one| (1..=last).contains(&one.line)), "{:?}", lines(&found));
        prop_assert!(found.capabilities.is_sorted_by_key(|one| one.line));
    }
}
