//! One command: a program and its words, judged by the rules.

use super::{
    rules::{CodeWords, Interpreter, Object, RULES, Rule, Wrapper},
    words::Words,
};
use crate::{
    analysis::{Analysis, Script, Syntax},
    literal::Literal,
};
use interpreter_core::{Deed, Risk};
use std::collections::HashSet;

/// How many programs may start each other in one command.
const CHAIN: usize = 16;

/// The surroundings of a command.
pub(super) struct Scene<'a> {
    pub(super) script: &'a Script,
    pub(super) line: u32,
    pub(super) input: &'a Input,
    /// Names that are functions of the script.
    pub(super) functions: Option<&'a HashSet<String>>,
}

/// Where a command's input comes from.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Nothing, as far as the script shows.
    Nothing,
    /// The output of another command.
    Pipe,
    /// A here-document or here-string.
    Text(Literal),
}

/// Notes what a command does. The first word is the program.
pub(super) fn judge(words: &[Literal], scene: &Scene<'_>, analysis: &mut Analysis) {
    let mut waiting = vec![words.to_vec()];
    let mut left = CHAIN;
    while let Some(words) = waiting.pop() {
        let Some((program, rest)) = words.split_first() else { continue };
        let Some(remaining) = left.checked_sub(1) else {
            analysis.hides(scene.line);
            return;
        };
        left = remaining;
        let Some(path) = program.whole() else {
            analysis.hides(scene.line);
            continue;
        };
        let name = program_name(path);
        let mut known = RULES.is_plain(name, rest.first().and_then(Literal::whole));
        for rule in RULES.on(name) {
            if applies(rule, rest) {
                known = true;
                judge_by(rule, program, rest, scene, analysis);
            }
        }
        if let Some(interpreter) = RULES.interpreter(name) {
            known = true;
            interpret(interpreter, path, rest, scene, analysis);
        }
        if let Some(wrapper) = RULES.wrapper(name) {
            known = true;
            waiting.extend(unwrap(wrapper, rest));
        }
        let is_function = scene.functions.is_some_and(|names| names.contains(path));
        // A file that only has a known program's name may be any program.
        let is_known = is_function || path.is_empty() || (known && is_system(path));
        if !is_known {
            analysis.note(Deed::Starts, Risk::Medium, program, scene.line);
        }
    }
}

/// A program's name without its folder and version.
pub(super) fn program_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with("python") || name.starts_with("pip") {
        return name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    }
    name
}

/// Whether a program is looked up where the system keeps its own.
fn is_system(path: &str) -> bool {
    match path.rsplit_once('/') {
        None => true,
        Some((folder, _)) => {
            matches!(folder, "/bin" | "/usr/bin" | "/usr/local/bin" | "/sbin" | "/usr/sbin")
        }
    }
}

/// Whether a rule applies to a command with these words. A computed word may match.
fn applies(rule: &Rule, rest: &[Literal]) -> bool {
    let words = Words::divide(rest, &rule.values);
    let may_be = |word: &Literal| word.start().is_empty() && word.whole().is_none();
    let first = words.operands.first().map(|(_, word)| word);
    let has_word = || {
        first.is_some_and(|first| {
            may_be(first) || rule.words.iter().any(|word| first.whole() == Some(word))
        })
    };
    let has_flag = || rule.flags.iter().any(|flag| words.has(flag)) || rest.iter().any(may_be);
    let contains = || {
        rest.iter().any(|word| {
            may_be(word) || rule.containing.iter().any(|part| word.start().contains(part))
        })
    };
    (rule.words.is_empty() || has_word())
        && (rule.flags.is_empty() || has_flag())
        && (rule.containing.is_empty() || contains())
}

/// Notes what a rule says of a command that it is about.
fn judge_by(
    rule: &Rule,
    program: &Literal,
    rest: &[Literal],
    scene: &Scene<'_>,
    analysis: &mut Analysis,
) {
    let words = Words::divide(rest, &rule.values);
    let own = usize::from(!rule.words.is_empty());
    let operands = words.operands.get(own..).unwrap_or_default();
    let mut note = |object: &Literal| {
        analysis.note(rule.capability, rule.severity, object, scene.line);
    };
    let one = |found: Option<&(usize, &Literal)>| {
        found.map_or_else(Literal::computed, |&(_, word)| word.clone())
    };
    match &rule.object {
        Object::Each | Object::Rest => {
            let skipped = usize::from(matches!(rule.object, Object::Rest));
            let operands = operands.get(skipped..).unwrap_or_default();
            // A program without file operands reads its input; deletions are handled elsewhere.
            if operands.is_empty() && rule.capability != Deed::Reads {
                note(&Literal::computed());
            }
            for (_, word) in operands {
                note(word);
            }
        }
        Object::First => note(&one(operands.first())),
        Object::Last => note(&one(operands.last())),
        Object::Flag(flags) => note(&words.value(flags).cloned().unwrap_or_default()),
        Object::Key(key) => {
            let value = rest.iter().find_map(|word| {
                let value = word.start().strip_prefix(key.as_str())?.strip_prefix('=')?;
                Some(word.whole().map_or_else(Literal::computed, |_| Literal::known(value)))
            });
            if let Some(value) = value {
                note(&value);
            }
        }
        Object::Address | Object::OnlyAddress => {
            let address = operands.iter().find(|(_, word)| is_address(word));
            match (address, &rule.object) {
                (Some((_, word)), _) => note(word),
                (None, Object::OnlyAddress) => {}
                (None, _) => note(&Literal::default()),
            }
        }
        Object::Program => note(program),
        Object::Nothing => note(&Literal::default()),
    }
}

/// Whether a word names another machine, as a URL or as `user@host:path`.
fn is_address(word: &Literal) -> bool {
    let text = word.start();
    let before_colon = text.split_once(':').map(|(host, _)| host);
    word.is_remote() || text.contains('@') || before_colon.is_some_and(|host| !host.contains('/'))
}

/// Reads what an interpreter is given to run.
fn interpret(
    interpreter: &Interpreter,
    path: &str,
    rest: &[Literal],
    scene: &Scene<'_>,
    analysis: &mut Analysis,
) {
    let mut nest = |code: &Literal| match interpreter.language {
        Some(language) => analysis.nest(scene.script, language, code, scene.line),
        None => analysis.hides(scene.line),
    };
    match interpreter.words {
        None => {}
        Some(CodeWords::First) => return rest.first().into_iter().for_each(nest),
        Some(CodeWords::All) => {
            let space = || Literal::known(" ");
            let joined = rest.iter().cloned().reduce(|all, word| all.then(space()).then(word));
            return joined.iter().for_each(nest);
        }
    }
    let is_code = |word: &&Literal| {
        let flag = word.start();
        interpreter.code.iter().any(|code| {
            flag == code
                || (interpreter.language == Some(Syntax::Shell)
                    && flag.starts_with('-')
                    && !flag.starts_with("--")
                    && flag.ends_with(&code[1..]))
        })
    };
    if let Some(at) = rest.iter().position(|word| is_code(&word)) {
        // `sh -c` takes its code after all flags.
        let code = rest[at + 1..].iter().find(|word| !word.start().starts_with('-'));
        return nest(code.unwrap_or(&Literal::computed()));
    }
    let words = Words::divide(rest, &interpreter.values);
    let reads_input = words.has("-s") || rest.iter().any(|word| word.whole() == Some("-"));
    let file = words.operands.first().filter(|(_, word)| word.whole() != Some("-"));
    match (file, scene.input) {
        (Some((_, file)), _) if !reads_input => {
            analysis.note(Deed::Starts, Risk::Medium, file, scene.line);
        }
        (_, Input::Pipe) => analysis.hides(scene.line),
        (_, Input::Text(text)) => nest(text),
        (_, Input::Nothing) => {
            analysis.note(Deed::Starts, Risk::Medium, &Literal::known(path), scene.line);
        }
    }
}

/// The commands that a wrapper starts.
fn unwrap(wrapper: &Wrapper, rest: &[Literal]) -> Vec<Vec<Literal>> {
    if !wrapper.after.is_empty() {
        return after_flags(&wrapper.after, rest);
    }
    let words = Words::divide(rest, &[]);
    if wrapper.unless.iter().any(|flag| words.has(flag)) {
        return Vec::new();
    }
    let words = Words::divide(rest, &wrapper.values);
    let is_assignment = |word: &Literal| {
        word.start().split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let start = words
        .operands
        .iter()
        .filter(|(_, word)| !is_assignment(word))
        .nth(wrapper.skip)
        .map(|&(at, _)| at);
    start.map(|at| rest[at..].to_vec()).into_iter().collect()
}

fn after_flags(flags: &[String], rest: &[Literal]) -> Vec<Vec<Literal>> {
    let is_flag = |word: &Literal| flags.iter().any(|flag| word.whole() == Some(flag));
    let is_end = |word: &&Literal| !matches!(word.whole(), Some(";" | "\\;" | "+"));
    rest.iter()
        .enumerate()
        .filter(|(_, word)| is_flag(word))
        .map(|(at, _)| rest[at + 1..].iter().take_while(is_end).cloned().collect())
        .take(CHAIN)
        .collect()
}
