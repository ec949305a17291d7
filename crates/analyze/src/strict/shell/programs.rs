//! One command of a shell: whether its program and its words are on the list.

use super::scripts::{is_plain_awk, is_plain_jq, is_plain_sed};
use crate::{
    rule::{own, own_text},
    rules::{BUILT_IN, Rules},
};
use serde::Deserialize;
use std::sync::LazyLock;

/// A word as far as it stands in the script.
#[derive(Clone, Debug)]
pub(super) enum ShellWord {
    /// Its text.
    Known(String),
    /// It is one word that begins with this text, and the rest is computed.
    Begins(String),
    /// A computed part may be any number of words.
    Splits(String),
}

impl ShellWord {
    fn whole(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Begins(_) | Self::Splits(_) => None,
        }
    }

    /// Whether it is one word, whatever is computed in it.
    fn is_one(&self) -> bool {
        !matches!(self, Self::Splits(_))
    }

    /// Whether it may turn out to be an option.
    fn may_be_option(&self) -> bool {
        match self {
            Self::Known(text) => text.len() > 1 && text.starts_with('-'),
            Self::Begins(text) | Self::Splits(text) => text.is_empty() || text.starts_with('-'),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellFile {
    pub(crate) any: Harmless,
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
    pub(crate) programs: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests hold the reasons and proofs"))]
pub(crate) struct Optioned {
    pub(crate) programs: String,
    pub(crate) reason: String,
    pub(crate) example: String,
    pub(crate) unlike: String,
    pub(crate) letters: String,
    values: String,
    pub(crate) long: String,
    most: Option<usize>,
    #[serde(default)]
    computed: bool,
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

pub(crate) static SHELL_FILE: LazyLock<ShellFile> = LazyLock::new(|| own(own_text!("names/shell")));

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// Whether a program does no harm whatever its words are.
fn is_any(program: &str) -> bool {
    lists(&SHELL_FILE.any.programs, program)
}

fn optioned(program: &str) -> Option<&'static Optioned> {
    SHELL_FILE.optioned.iter().find(|one| lists(&one.programs, program))
}

/// Whether a program that another starts, with words that are computed, is understood.
fn is_plain_inner(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let Some(program) = program.whole() else { return false };
    let known: Vec<_> = rest.iter().filter(|word| word.whole() != Some("{}")).cloned().collect();
    is_any(program)
        || optioned(program)
            .is_some_and(|one| one.computed && operands(one, program, &known).is_some())
}

/// Whether a name is that of a program or command that is known, harmless or not.
pub(super) fn is_known(name: &str) -> bool {
    is_any(name)
        || optioned(name).is_some()
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

/// Programs that tell their version without a look at the folder that they are in.
const VERSIONED: &str = "python3 python node bash git gcc g++ sqlite3 curl jq ls grep sed awk tar";

/// Whether a command is understood. The first word is the program.
pub(super) fn is_plain(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let Some(program) = program.whole() else { return false };
    if let [ShellWord::Known(only)] = rest
        && only == "--version"
        && lists(VERSIONED, program)
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
        "exit" | "return" => rest.iter().all(|word| word.whole().is_some()),
        "python" | "python3" => matches!(rest, [ShellWord::Known(file), ..]
            if !file.starts_with('-') && rest.iter().all(|word| word.whole().is_some())),
        _ if is_any(program) => true,
        _ => match optioned(program) {
            Some(optioned) => is_plainly_optioned(optioned, program, rest),
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

/// The words of a command that are no options, and the options that have a value with it.
type Operands<'w> = (Vec<&'w ShellWord>, Vec<(char, &'w ShellWord)>);

/// The words after a program's options, if those are on its list, and the values of the options.
fn operands<'w>(
    optioned: &Optioned,
    program: &str,
    words: &'w [ShellWord],
) -> Option<Operands<'w>> {
    let (mut operands, mut values) = (Vec::new(), Vec::new());
    let mut all = words.iter();
    while let Some(word) = all.next() {
        let is_computed = optioned.computed && word.whole().is_none();
        if !word.may_be_option() || is_computed {
            operands.push(word);
            if matches!(program, "xargs" | "awk") {
                operands.extend(all);
                break;
            }
            continue;
        }
        let text = word.whole()?;
        if text == "--" {
            operands.extend(all);
            break;
        }
        if text.starts_with("--") {
            let name = text.split('=').next().unwrap_or(text);
            // Values of long options stand in the same word, or are none of interest.
            if !lists(&optioned.long, name) || name == "--expression" {
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
        let Some(at) = value else { continue };
        let letter = letters[at..].chars().next()?;
        if at + 1 < letters.len() {
            // Its value is in the same word: read only where it doesn't matter.
            if program == "sed" || program == "tar" {
                return None;
            }
            continue;
        }
        match all.next() {
            Some(value) if value.is_one() || optioned.computed => values.push((letter, value)),
            None if optioned.computed => {}
            _ => return None,
        }
    }
    Some((operands, values))
}

fn is_plainly_optioned(optioned: &Optioned, program: &str, words: &[ShellWord]) -> bool {
    // `tar` takes letters without a dash as options, and `date` a time to set.
    if program == "tar"
        && words.first().is_none_or(|one| !one.whole().is_some_and(|text| text.starts_with('-')))
    {
        return false;
    }
    let Some((operands, values)) = operands(optioned, program, words) else { return false };
    let is_plain_script = |word: &ShellWord| word.whole().is_some_and(is_plain_sed);
    let is_bounded = optioned.most.is_none_or(|most| operands.len() <= most)
        && (optioned.computed
            || program == "awk"
            || operands.iter().all(|one| {
                // Files with an ending, whose names can't be options that do more.
                let has_ending = matches!(one, ShellWord::Splits(start) if start == "*");
                one.is_one()
                    || (optioned.most.is_none()
                        && !one.may_be_option()
                        && (program == "cp" || !has_ending))
            }));
    is_bounded
        && match program {
            "sed" => {
                let scripts = values.iter().map(|(_, script)| *script);
                let has_scripts = !values.is_empty();
                scripts
                    .chain(operands.first().copied().filter(|_| !has_scripts))
                    .all(is_plain_script)
                    && (has_scripts || !operands.is_empty())
            }
            "jq" => jq_program(words).is_some_and(is_plain_jq),
            // After its program, what looks like an option may be a file.
            "awk" => {
                let is_option = |word: &&ShellWord| {
                    word.whole().is_some_and(|text| text.len() > 1 && text.starts_with('-'))
                };
                operands.first().is_some_and(|word| word.whole().is_some_and(is_plain_awk))
                    && !operands.iter().skip(1).any(is_option)
            }
            "xargs" => {
                let inner: Vec<_> = operands.iter().map(|word| (*word).clone()).collect();
                is_plain_inner(&inner)
            }
            // A colon names another machine.
            "tar" => values.iter().all(|(letter, value)| {
                value.whole().is_some_and(|text| {
                    !text.starts_with('-') && (*letter != 'f' || !text.contains(':'))
                })
            }),
            "shift" | "wait" => operands.is_empty(),
            "seq" | "sleep" => operands.iter().all(|word| {
                word.whole().is_none_or(|text| {
                    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
                })
            }),
            "date" => {
                operands.iter().all(|word| word.whole().is_some_and(|text| text.starts_with('+')))
            }
            _ => true,
        }
}

/// The program that `jq` is given, if all words up to it are one each.
fn jq_program(words: &[ShellWord]) -> Option<&str> {
    let mut all = words.iter();
    while let Some(word) = all.next().filter(|word| word.is_one()) {
        match word.whole() {
            Some("--arg" | "--argjson") => {
                if !all.by_ref().take(2).all(ShellWord::is_one) {
                    return None;
                }
            }
            Some(text) if text.starts_with('-') => {}
            text => return text,
        }
    }
    None
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
    // More words would make it another test, of which one evaluates a name.
    if !words.iter().all(ShellWord::is_one) {
        return false;
    }
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
            Some("-d" | "-p" | "-n") if all.peek().is_some_and(|value| value.whole().is_some()) => {
                _ = all.next();
            }
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
            if word.may_be_option() || !word.is_one() {
                return false;
            }
            continue;
        };
        if text == "-exec" {
            let end = words[at..].iter().position(|word| matches!(word.whole(), Some(";" | "+")));
            let Some(end) = end else { return false };
            let command = &words[at..at + end];
            if !is_plain_inner(command) {
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
