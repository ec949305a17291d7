//! Detects the language of code by its syntax, where a model named none or a wrong one.
//!
//! Only where there is no doubt: the text parses in that language and begins like a program in it.
//! A sample of output, a table or a sentence is in no language. Nothing here changes code.

use crate::{analyze::with_stack, python, shell};

/// More than a model writes into a fence; longer code is in no language.
const SIZE: usize = 64 * 1024;

/// Commands that code for a shell begins with. A word of Python's is not among them.
const COMMANDS: &[&str] = &[
    "[",
    "[[",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "bash",
    "bzip2",
    "cal",
    "cat",
    "cd",
    "chmod",
    "chown",
    "cmp",
    "comm",
    "cp",
    "curl",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "env",
    "export",
    "file",
    "find",
    "free",
    "git",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hostname",
    "id",
    "kill",
    "ln",
    "ls",
    "lscpu",
    "make",
    "md5sum",
    "mkdir",
    "mktemp",
    "mv",
    "node",
    "npm",
    "nproc",
    "paste",
    "pip",
    "pip3",
    "printf",
    "ps",
    "pwd",
    "python",
    "python3",
    "readlink",
    "rename",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "set",
    "sh",
    "sha256sum",
    "sort",
    "source",
    "split",
    "stat",
    "sudo",
    "tac",
    "tail",
    "tar",
    "tee",
    "test",
    "touch",
    "tr",
    "tree",
    "uname",
    "uniq",
    "unzip",
    "uptime",
    "wc",
    "wget",
    "which",
    "whoami",
    "xargs",
    "xz",
    "zip",
];

/// Words that begin a compound command, and that the parser follows to its end.
const COMPOUND: &[&str] = &["for", "while", "until", "if", "case"];

/// The language that code is in, if it is another one than `said`, the language that was named.
pub fn detect_language(said: Option<&str>, code: &str) -> Option<&'static str> {
    if code.len() > SIZE {
        return None;
    }
    with_stack(|| read(said, code))
}

fn read(said: Option<&str>, code: &str) -> Option<&'static str> {
    match said {
        // It may still be meant as Python, with a mistake in it.
        Some("python") if !python::parses(code) && is_shell(code) => Some("shell"),
        None if python::is_program(code) => Some("python"),
        None if is_shell(code) => Some("shell"),
        Some(_) | None => None,
    }
}

/// Whether code is for a shell beyond doubt.
fn is_shell(code: &str) -> bool {
    let mut lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(mut first) = lines.next() else { return false };
    if let Some(program) = first.strip_prefix("#!") {
        return program.trim_end().ends_with("sh") && shell::parses(code);
    }
    while first.starts_with('#') {
        match lines.next() {
            Some(next) => first = next,
            None => return false,
        }
    }
    let end = first.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(first.len());
    let (word, rest) = first.split_at(end);
    // `date = …` and `set (…)` are something else.
    let is_command = COMMANDS.contains(&word) && !rest.trim_start().starts_with(['=', '(']);
    (is_command || COMPOUND.contains(&word)) && shell::parses(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn python_that_is_shell_is_told_from_python_with_a_mistake() {
        for shell in [
            "df -h .",
            "wc -l data.csv",
            "# count\nls *.txt | wc -l\n",
            "for f in *.txt; do\n  mv \"$f\" \"${f%.txt}.md\"\ndone",
            "#!/bin/bash\necho $((1 + 2))\n",
            "if [ -f a ]; then cat a; fi",
            "mkdir -p a/b && touch a/b/c.txt",
        ] {
            assert_eq!(detect_language(Some("python"), shell), Some("shell"), "{shell}");
            assert_eq!(detect_language(Some("shell"), shell), None, "{shell}");
        }
        for mistaken in [
            "print \"hello\"",
            "for x in range(3)\n    print(x)",
            "if x == 1:\nprint(x)",
            "date = 5 +",
            "set (1, 2",
            "import os\nls -la | wc",
            "def f(:\n  pass",
            "with open('a') as f\n    f.read()",
            "x = [1, 2",
        ] {
            assert_eq!(detect_language(Some("python"), mistaken), None, "{mistaken}");
        }
        for python in ["print(1)", "x = 1", "!ls *.txt\nprint(1)", "%time 1"] {
            assert_eq!(detect_language(Some("python"), python), None, "{python}");
        }
    }

    #[test]
    fn code_that_names_no_language_is_taken_for_what_it_surely_is() {
        for (code, language) in [
            ("import math\nprint(math.pi)", Some("python")),
            ("print(1)", Some("python")),
            ("x = 2\nfor i in range(x):\n    print(i)", Some("python")),
            ("df -h .", Some("shell")),
            ("ls -la", Some("shell")),
            ("cat a.txt | sort | uniq -c", Some("shell")),
            // Samples of output, sentences, data.
            ("42", None),
            ("total 4\n-rw-r--r-- 1 a a 3 b.txt", None),
            ("name,city\nAda,London", None),
            ("{\"a\": 1}", None),
            ("a = 1\nb = 2", None),
            ("Hello (world)", None),
            ("find (2)", None),
            ("The file has 3 lines.", None),
            ("", None),
            ("# only a remark", None),
        ] {
            assert_eq!(detect_language(None, code), language, "{code}");
        }
    }

    #[test]
    fn what_is_very_long_or_deep_is_in_no_language() {
        assert_eq!(detect_language(None, &"print(1)\n".repeat(10_000)), None);
        let deep = format!("print{}1{}", "(".repeat(20_000), ")".repeat(20_000));
        assert_eq!(detect_language(None, &deep), None);
        assert_eq!(detect_language(Some("python"), &deep), None);
    }

    proptest! {
        #[test]
        fn anything_may_come(code in any::<String>(), said in prop::option::of("python|shell|r")) {
            let found = detect_language(said.as_deref(), &code);
            prop_assert!(found.is_none() || found != said.as_deref());
        }
    }
}
