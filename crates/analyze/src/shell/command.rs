//! One command: a program and its words, judged by the rules.

use super::{
    names::Names,
    rules::{CodeWords, Interpreter, Object, ProgramPattern, Wrapper},
    words::Words,
};
use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
    rule::Rule,
    rules::BUILT_IN,
    says::{Says, Site},
    syntax::Syntax,
};
use interpreter_core::{Confidence, Deed, Risk};
use std::borrow::Cow;

/// The statement on a program that no rule knows.
const STARTS: Says<'_> = Says {
    deed: Deed::Starts,
    severity: Risk::Medium,
    reason: "starts a program",
    source: "",
    confidence: Confidence::Certain,
    is_added: false,
    saves: None,
};

/// How many programs may start each other in one command.
const CHAIN: usize = 16;

/// The surroundings of a command.
pub(super) struct Scene<'a> {
    pub(super) script: &'a Script,
    pub(super) at: Site,
    pub(super) input: &'a Input,
    /// The names of the script.
    pub(super) names: Option<&'a Names>,
}

/// Where a command's input comes from.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Nothing, as far as the script shows.
    Nothing,
    /// The output of another command, if it is known.
    Pipe(Option<Literal>),
    /// A here-document or here-string, or what code in another language gives it.
    Text(Literal),
}

impl Input {
    /// An input that code in another language gives.
    pub(super) fn of(given: Option<Literal>) -> Self {
        given.map_or(Self::Nothing, Self::Text)
    }

    /// It for a script that another one gives it to.
    fn passed_on(&self) -> Option<Literal> {
        match self {
            Self::Nothing => None,
            Self::Pipe(text) => Some(text.clone().unwrap_or_else(Literal::computed)),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// Notes what a command does. The first word is the program.
pub(super) fn judge(words: &[Literal], scene: &Scene<'_>, analysis: &mut Analysis) {
    let mut waiting = vec![Cow::Borrowed(words)];
    let mut left = CHAIN;
    let (rules, tables) = (analysis.rules.clone(), &BUILT_IN.shell);
    while let Some(words) = waiting.pop() {
        let Some((program, rest)) = words.split_first() else { continue };
        let Some(remaining) = left.checked_sub(1) else {
            analysis.hides("programs that start each other, too many to follow", scene.at);
            return;
        };
        left = remaining;
        let Some(path) = program.whole() else {
            analysis.hides("which program it starts is computed", scene.at);
            continue;
        };
        let name = program_name(path);
        // Asking a program for its version does nothing else.
        if let [only] = rest
            && matches!(only.whole(), Some("--version" | "-V" | "--help" | "version"))
            && is_system(path)
        {
            continue;
        }
        let mut known = tables.is_plain(name, rest.first().and_then(Literal::whole));
        // Most rules on a program divide its words in the same way.
        let (mut values, mut words): (&[String], _) = (&[], None);
        for rule in rules.on_program(name) {
            if values != rule.on.values {
                (values, words) = (&rule.on.values[..], None);
            }
            let words = words.get_or_insert_with(|| Words::divide(rest, values));
            let is_about = applies(&rule.on, words, rest);
            if is_about {
                judge_by(rule, program, words, rest, scene, analysis);
            }
            known |= !rule.is_added() && (is_about || !rule.on.unless.is_empty());
        }
        for reader in tables.readers(name) {
            known |= reader.judge(rest, scene.at, analysis);
        }
        if let Some(interpreter) = tables.interpreter(name) {
            known = true;
            interpret(interpreter, path, rest, scene, analysis);
        }
        if let Some(wrapper) = tables.wrapper(name) {
            known = true;
            let inner: Vec<_> = unwrap(wrapper, rest)
                .into_iter()
                .map(|words| Cow::Owned(words.into_owned()))
                .collect();
            waiting.extend(inner);
        }
        let is_function = scene.names.is_some_and(|names| {
            names.functions.contains(path) || names.past.functions.contains_key(path)
        });
        // A file that only has a known program's name may be any program.
        let is_known = is_function || path.is_empty() || (known && is_system(path));
        if !is_known {
            analysis.note(STARTS, program, scene.at);
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
fn applies(rule: &ProgramPattern, words: &Words<'_>, rest: &[Literal]) -> bool {
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
            (!rule.known && may_be(word))
                || rule.containing.iter().any(|part| word.start().contains(part))
        })
    };
    let is_any = |word: &Literal| rule.any.iter().any(|one| word.whole() == Some(one.as_str()));
    (rule.any.is_empty() || rest.iter().any(is_any))
        && !rule.unless.iter().any(|flag| words.has(flag) || first_is(first, flag))
        && (!rule.alone || words.operands.is_empty())
        && (rule.words.is_empty() || has_word())
        && (rule.flags.is_empty() || has_flag())
        && (rule.containing.is_empty() || contains())
}

fn first_is(first: Option<&&Literal>, word: &str) -> bool {
    first.is_some_and(|first| first.whole() == Some(word))
}

/// Notes what a rule says of a command that it is about.
fn judge_by(
    rule: &Rule<ProgramPattern>,
    program: &Literal,
    words: &Words<'_>,
    rest: &[Literal],
    scene: &Scene<'_>,
    analysis: &mut Analysis,
) {
    let own = usize::from(!rule.on.words.is_empty());
    let operands = words.operands.get(own..).unwrap_or_default();
    let says = rule.says();
    let mut note = |object: &Literal| {
        analysis.note(says, object, scene.at);
    };
    let one = |found: Option<&(usize, &Literal)>| {
        found.map_or_else(Literal::computed, |&(_, word)| word.clone())
    };
    match &rule.on.object {
        Object::Each | Object::Rest => {
            let skipped = usize::from(matches!(rule.on.object, Object::Rest));
            let operands = operands.get(skipped..).unwrap_or_default();
            // A program without file operands reads its input; deletions are handled elsewhere.
            let may_be_none = matches!(rule.capability, Deed::Reads | Deed::Lists | Deed::Packages);
            if operands.is_empty() && !may_be_none {
                note(&Literal::computed());
            }
            for (_, word) in operands {
                note(word);
            }
        }
        Object::AllButLast => {
            let operands = operands.split_last().map_or(operands, |(_, before)| before);
            if operands.is_empty() {
                note(&Literal::computed());
            }
            for (_, word) in operands {
                note(word);
            }
        }
        Object::Starting => starting(rest).iter().for_each(note),
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
            match (address, &rule.on.object) {
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
    let mut nest = |code: &Literal| nest(interpreter, code, scene, analysis);
    match interpreter.words {
        None => {}
        Some(CodeWords::First) => return rest.first().into_iter().for_each(nest),
        Some(CodeWords::Second) => {
            let words = Words::divide(rest, &interpreter.values);
            let second = words.operands.get(1).map(|(_, word)| *word);
            let input = match scene.input {
                Input::Text(text) => Some(text),
                Input::Pipe(text) => text.as_ref(),
                Input::Nothing => None,
            };
            return second.or(input).into_iter().for_each(nest);
        }
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
        let code = code.cloned().unwrap_or_else(Literal::computed);
        if interpreter.language == Some(Syntax::Shell) {
            let input = scene.input.passed_on();
            return analysis.nest_fed(scene.script, Syntax::Shell, &code, input, scene.at);
        }
        return nest(&code);
    }
    read_input(interpreter, path, rest, scene, analysis);
}

/// Reads a text that an interpreter runs.
fn nest(interpreter: &Interpreter, code: &Literal, scene: &Scene<'_>, analysis: &mut Analysis) {
    if interpreter.language.is_none() {
        analysis.hides("runs code in a language that is not read here", scene.at);
    }
    let language = interpreter.language.unwrap_or(Syntax::Words);
    analysis.nest(scene.script, language, code, scene.at);
}

/// Reads the file or the input that an interpreter runs, if it is given no code.
fn read_input(
    interpreter: &Interpreter,
    path: &str,
    rest: &[Literal],
    scene: &Scene<'_>,
    analysis: &mut Analysis,
) {
    if let [only] = rest
        && only.whole().is_some_and(|flag| interpreter.tells.iter().any(|one| one == flag))
    {
        return;
    }
    let words = Words::divide(rest, &interpreter.values);
    let reads_input = words.has("-s") || rest.iter().any(|word| word.whole() == Some("-"));
    let file = words.operands.first().filter(|(_, word)| word.whole() != Some("-"));
    let is_data = rest.windows(2).any(|two| {
        let module = two[1].whole().filter(|_| two[0].whole() == Some("-m"));
        module.is_some_and(|module| interpreter.data.iter().any(|one| one == module))
    });
    match (file, scene.input) {
        (Some((_, file)), _) if !reads_input => {
            analysis.note(STARTS, file, scene.at);
        }
        (_, Input::Pipe(_) | Input::Text(_)) if is_data && !reads_input => {}
        (_, Input::Pipe(text)) => {
            analysis.hides("what it runs comes out of another program", scene.at);
            if let (Some(text), Some(language)) = (text, interpreter.language) {
                analysis.nest(scene.script, language, text, scene.at);
            }
        }
        (_, Input::Text(text)) => nest(interpreter, text, scene, analysis),
        (_, Input::Nothing) => {
            analysis.note(STARTS, &Literal::known(path), scene.at);
        }
    }
}

/// Where `find` begins: the words before its expression, or the folder that it is in.
fn starting(rest: &[Literal]) -> Vec<Literal> {
    let is_own = |word: &&Literal| matches!(word.whole(), Some("-L" | "-H" | "-P"));
    let begins = |word: &Literal| word.start().starts_with(['-', '(', '!']);
    let rest = &rest[rest.iter().take_while(is_own).count()..];
    let end = rest.iter().position(begins).unwrap_or(rest.len());
    if end == 0 {
        return vec![Literal::known(".")];
    }
    rest[..end].to_vec()
}

/// The commands that a wrapper starts.
fn unwrap<'a>(wrapper: &Wrapper, rest: &'a [Literal]) -> Vec<Cow<'a, [Literal]>> {
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
    let with_more = |inner: &'a [Literal]| {
        if !wrapper.appends {
            return Cow::Borrowed(inner);
        }
        inner.iter().cloned().chain([Literal::computed()]).collect()
    };
    start.map(|at| with_more(&rest[at..])).into_iter().collect()
}

fn after_flags<'a>(flags: &[String], rest: &'a [Literal]) -> Vec<Cow<'a, [Literal]>> {
    let is_flag = |word: &Literal| flags.iter().any(|flag| word.whole() == Some(flag));
    let is_end = |word: &Literal| matches!(word.whole(), Some(";" | "\\;" | "+"));
    let is_filled = |word: &Literal| word.whole().is_some_and(|text| text.contains("{}"));
    let filled = |words: &'a [Literal]| {
        if !words.iter().any(is_filled) {
            return Cow::Borrowed(words);
        }
        let fill =
            |word: &Literal| if is_filled(word) { Literal::computed() } else { word.clone() };
        words.iter().map(fill).collect()
    };
    rest.iter()
        .enumerate()
        .filter(|(_, word)| is_flag(word))
        .map(|(at, _)| {
            let after = &rest[at + 1..];
            filled(&after[..after.iter().position(is_end).unwrap_or(after.len())])
        })
        .take(CHAIN)
        .collect()
}
