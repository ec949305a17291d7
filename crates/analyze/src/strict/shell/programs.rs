//! One command of a shell: whether its program and its words are on the list.
//!
//! Scripts of `sed` and `awk` are read as far as it takes to see that they only print.

use crate::rules::{BUILT_IN, Rules};
use serde::Deserialize;
use std::sync::LazyLock;

/// A word as far as it stands in the script.
#[derive(Clone, Debug)]
pub(super) enum ShellWord {
    /// Its text.
    Known(String),
    /// It begins with this text, and the rest is computed.
    Begins(String),
}

impl ShellWord {
    fn whole(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Begins(_) => None,
        }
    }

    /// Whether it may turn out to be an option.
    fn may_be_option(&self) -> bool {
        match self {
            Self::Known(text) => text.len() > 1 && text.starts_with('-'),
            Self::Begins(text) => text.is_empty() || text.starts_with('-'),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellFile {
    pub(crate) harmless: Harmless,
    pub(crate) optioned: Vec<Optioned>,
    pub(crate) find: Find,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Harmless {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    programs: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Optioned {
    program: String,
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    letters: String,
    values: String,
    long: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Find {
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    predicates: String,
}

pub(crate) static SHELL_FILE: LazyLock<ShellFile> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../names/shell.toml"))
        .expect("the lists are part of this crate and tested")
});

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

fn is_harmless(program: &str) -> bool {
    lists(&SHELL_FILE.harmless.programs, program)
}

/// Whether a name is that of a program or command that is known, harmless or not.
pub(super) fn is_known(name: &str) -> bool {
    is_harmless(name)
        || SHELL_FILE.optioned.iter().any(|one| one.program == name)
        || is_in_rules(name)
        || matches!(
            name,
            "printf" | "read" | "uniq" | "test" | "[" | "set" | "cd" | "find" | "exit" | "return"
        )
}

/// Whether the lenient walk knows a program, so that it may find nothing in what it does.
fn is_in_rules(name: &str) -> bool {
    BUILT_IN.shell.knows(name)
        || Rules::built_in().on_program(name).next().is_some()
        || matches!(
            name,
            "eval"
                | "source"
                | "."
                | "exec"
                | "trap"
                | "alias"
                | "builtin"
                | "command"
                | "enable"
                | "bind"
                | "complete"
                | "compgen"
                | "let"
                | "mapfile"
                | "readarray"
                | "hash"
                | "unset"
                | "history"
                | "fc"
                | "coproc"
                | "git"
                | "docker"
                | "podman"
                | "kubectl"
                | "npm"
                | "pip"
                | "cargo"
                | "go"
                | "make"
        )
}

/// Whether a command is understood. The first word is the program.
pub(super) fn is_plain(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let Some(program) = program.whole() else { return false };
    if let [ShellWord::Known(only)] = rest
        && only == "--version"
        && !program.contains('/')
    {
        return true;
    }
    match program {
        "printf" => matches!(rest, [ShellWord::Known(format), ..]
            if !format.starts_with('-') && !format.contains("%n") && !format.contains('*')),
        "test" => is_plain_test(rest),
        "[" => rest
            .split_last()
            .is_some_and(|(end, rest)| end.whole() == Some("]") && is_plain_test(rest)),
        "set" => rest.iter().all(|word| {
            matches!(word.whole(), Some("-e" | "-u" | "-eu" | "-euo" | "-o" | "pipefail" | "+e"))
        }),
        "cd" => matches!(rest, [ShellWord::Known(folder)] if is_plain_folder(folder)),
        "read" => is_plain_read(rest),
        "find" => is_plain_find(rest),
        // Its second file is written.
        "uniq" => {
            let files = rest.iter().filter(|word| {
                !matches!(word.whole(), Some(text)
                if text.len() > 1 && text.starts_with('-'))
            });
            files.count() <= 1
        }
        "exit" | "return" => rest.iter().all(|word| word.whole().is_some()),
        "python" | "python3" => matches!(rest, [ShellWord::Known(file), ..]
            if !file.starts_with('-') && rest.iter().all(|word| word.whole().is_some())),
        _ if is_harmless(program) => true,
        _ => match SHELL_FILE.optioned.iter().find(|one| one.program == program) {
            Some(optioned) => is_plainly_optioned(optioned, rest),
            // The lenient walk finds that it is started. Its words stand in the script.
            None => {
                !is_in_rules(program)
                    && program.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
                    && rest.iter().all(|word| word.whole().is_some())
            }
        },
    }
}

fn is_plain_folder(folder: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    folder.trim_end_matches('/').split('/').all(is_part)
}

/// The words after a program's options, if those are on its list.
fn operands<'w>(optioned: &Optioned, words: &'w [ShellWord]) -> Option<Vec<&'w ShellWord>> {
    let mut operands = Vec::new();
    let mut all = words.iter();
    while let Some(word) = all.next() {
        if !word.may_be_option() {
            operands.push(word);
            if optioned.program == "xargs" {
                operands.extend(all);
                break;
            }
            continue;
        }
        let text = word.whole()?;
        if text.starts_with("--") {
            let name = text.split('=').next().unwrap_or(text);
            if !lists(&optioned.long, name) {
                return None;
            }
            continue;
        }
        let letters = &text[1..];
        let value = letters.find(|c| optioned.values.contains(c));
        let flags = &letters[..value.map_or(letters.len(), |at| at + 1)];
        if !flags.chars().all(|c| optioned.letters.contains(c) || c.is_ascii_digit()) {
            return None;
        }
        if value.is_some_and(|at| at + 1 == letters.len()) {
            let value = all.next()?;
            if optioned.program == "sed" {
                operands.push(value);
            }
            if optioned.program == "tar" && value.may_be_option() {
                return None;
            }
        }
    }
    Some(operands)
}

fn is_plainly_optioned(optioned: &Optioned, words: &[ShellWord]) -> bool {
    let Some(operands) = operands(optioned, words) else { return false };
    match optioned.program.as_str() {
        "sed" => {
            let has_expressions = words
                .iter()
                .any(|word| word.whole().is_some_and(|text| text == "-e" || text == "-ne"));
            // With `-e` all that is not a file is a script; here each that might be one must be plain.
            if has_expressions {
                let scripts = words
                    .windows(2)
                    .filter(|two| two[0].whole().is_some_and(|text| text == "-e" || text == "-ne"));
                scripts.map(|two| &two[1]).all(|word| word.whole().is_some_and(is_plain_sed))
                    && !words.iter().any(|word| {
                        word.whole().is_some_and(|text| {
                            text.starts_with("-e") && text.len() > 2
                                || text.starts_with("--expression")
                        })
                    })
            } else {
                operands.first().is_some_and(|word| word.whole().is_some_and(is_plain_sed))
            }
        }
        "awk" => operands.first().is_some_and(|word| word.whole().is_some_and(is_plain_awk)),
        "xargs" => operands.first().is_none_or(|word| word.whole().is_some_and(is_harmless)),
        _ => true,
    }
}

/// Whether a script of `sed` only prints, deletes and replaces what it prints.
fn is_plain_sed(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = sed_command(rest) else { return false };
        rest = after.trim_start_matches([' ', ';', '\n']);
    }
    true
}

fn sed_address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('/') {
        return after_delimited(rest, '/');
    }
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~'))
}

/// The text after the next `end` that no backslash stands before.
fn after_delimited(text: &str, end: char) -> Option<&str> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == end {
            return Some(&text[at + c.len_utf8()..]);
        }
    }
    None
}

fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?;
    if let Some(after) = rest.strip_prefix(',') {
        rest = sed_address(after)?;
    }
    let rest = rest.trim_start_matches([' ', '!']);
    let mut all = rest.chars();
    match all.next()? {
        'p' | 'd' | 'q' | '=' | 'n' => {
            let after = all.as_str();
            let is_end = after.is_empty() || after.starts_with([';', '\n', ' ']);
            is_end.then_some(after)
        }
        's' => {
            let end = all.next()?;
            if end.is_alphanumeric() || matches!(end, '\\' | '\n') {
                return None;
            }
            let after = after_delimited(after_delimited(all.as_str(), end)?, end)?;
            let rest = after.trim_start_matches(['g', 'p', 'i', 'I', '1', '2', '3']);
            (rest.is_empty() || rest.starts_with([';', '\n', ' '])).then_some(rest)
        }
        _ => None,
    }
}

/// Whether a program of `awk` only computes and prints.
fn is_plain_awk(program: &str) -> bool {
    let words =
        ["system", "getline", "fflush", "close", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB"];
    let has_word = |word: &str| program.contains(word);
    let pipes = program.replace("||", "");
    let writes = program.split([';', '{', '}', '\n']).any(|statement| {
        statement.find("print").is_some_and(|at| {
            // A text may hold any sign.
            let parts = statement[at..].split('"');
            parts.step_by(2).any(|part| part.contains('>'))
        })
    });
    !words.iter().any(|word| has_word(word))
        && !pipes.split('"').step_by(2).any(|part| part.contains('|'))
        && (!program.contains('\\') || is_plain_escape(program))
        && !program.contains('@')
        && !writes
}

/// Whether every backslash only makes a sign of a text.
fn is_plain_escape(program: &str) -> bool {
    let mut all = program.chars();
    while let Some(c) = all.next() {
        if c == '\\' && !matches!(all.next(), Some('n' | 't' | '.' | '$')) {
            return false;
        }
    }
    true
}

fn is_plain_test(words: &[ShellWord]) -> bool {
    let unary = |word: &ShellWord| {
        matches!(
            word.whole(),
            Some("-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x" | "-n" | "-z" | "-L" | "-h" | "!")
        )
    };
    let binary = |word: &ShellWord| {
        matches!(
            word.whole(),
            Some("=" | "==" | "!=" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot")
        )
    };
    match words {
        [] | [_] => true,
        [first, _] => unary(first),
        [first, second, _] => binary(second) || (first.whole() == Some("!") && unary(second)),
        [first, _, operator, _] => first.whole() == Some("!") && binary(operator),
        _ => false,
    }
}

fn is_plain_read(words: &[ShellWord]) -> bool {
    let mut all = words.iter().peekable();
    while let Some(word) = all.next() {
        match word.whole() {
            Some("-r" | "-ra" | "-a" | "-s") => {}
            Some("-d" | "-p" | "-n") => _ = all.next(),
            Some(name) if super::is_plain_name(name) => {}
            _ => return false,
        }
    }
    true
}

fn is_plain_find(words: &[ShellWord]) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.whole() else {
            if word.may_be_option() {
                return false;
            }
            continue;
        };
        if text == "-exec" {
            let end = words[at..].iter().position(|word| matches!(word.whole(), Some(";" | "+")));
            let Some(end) = end else { return false };
            let command = &words[at..at + end];
            if !command.first().and_then(ShellWord::whole).is_some_and(is_harmless) {
                return false;
            }
            at += end + 1;
        } else if (text.starts_with('-') || matches!(text, "!" | "(" | ")"))
            && !text[1..].starts_with(|c: char| c.is_ascii_digit())
            && !lists(&SHELL_FILE.find.predicates, text)
        {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_print() {
        for script in ["3,5p", "s/a/b/g", "/^$/d", "$d", "s|a|b|;s/c/d/", "1!p", "10q"] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in ["1e cmd", "s/a/b/e", "s/a/b/w x", "w x", "r x", "e", "1{e\n}", "s/a/b/ge"] {
            assert!(!is_plain_sed(script), "{script}");
        }
        for program in
            ["{ print $2 }", "NR > 1 { s += $5 } END { print s }", "/a|b/ || $1 == \"x>y\""]
        {
            assert_eq!(is_plain_awk(program), !program.contains("a|b"), "{program}");
        }
        for program in [
            "BEGIN { system(\"x\") }",
            "{ print > \"x\" }",
            "{ print | \"sh\" }",
            "BEGIN { \"x\" | getline }",
            "{ @f() }",
            "BEGIN { printf \"x\" > \"y\" }",
        ] {
            assert!(!is_plain_awk(program), "{program}");
        }
    }
}
