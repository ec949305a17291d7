//! The program that a call starts: its words, and where its input comes from.
//!
//! Options are read by the names that they have in Python and JavaScript. An input that code writes
//! after the call has begun is not followed: it counts as computed.

use super::{Arguments, Call};
use crate::{
    analysis::{Analysis, Script},
    call_rules::{CallPattern, Object, Runs},
    literal::Literal,
    rule::Rule,
    shell,
    syntax::Syntax,
    value::{Value, ValueKind},
};

/// Whether a shell reads the words of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InShell {
    No,
    Yes,
    /// That is computed.
    Perhaps,
}

impl Call {
    /// The program that a call starts, as a person would name it.
    pub(super) fn program(&self, rule: &Rule<CallPattern>) -> Literal {
        if let Some(executable) = self.executable(rule) {
            return executable.clone();
        }
        let first_word = |text: &Literal| {
            let start = text.start().trim_start();
            match start.split_once(char::is_whitespace) {
                Some((word, _)) => Literal::known(word),
                None => text.clone(),
            }
        };
        match self.list(rule) {
            Some(items) => items.first().cloned().unwrap_or_else(Literal::computed),
            None => first_word(&self.object(rule)),
        }
    }

    /// Notes what the program does that a call starts.
    pub(super) fn start(
        &self,
        rule: &Rule<CallPattern>,
        runs: &Runs,
        script: &Script,
        analysis: &mut Analysis,
    ) {
        let (words, is_script) = match (runs, self.list(rule)) {
            (Runs::Code(_), _) => return,
            (Runs::Command, None) => (vec![self.object(rule)], true),
            (Runs::Command, Some(items)) => (items.to_vec(), false),
            (Runs::Program, _) => (self.with_list(rule), false),
            (Runs::NamedList, _) => (unnamed(self.with_list(rule)), false),
            (Runs::NamedWords, _) => (unnamed(self.words_from(place(rule))), false),
            (Runs::Words(first), _) => (self.words_from(*first), false),
        };
        let input = self.input(rule, runs);
        let mut judge = |words: &[Literal]| {
            shell::judge(words, input.clone(), script, self.at, analysis);
        };
        let in_shell = self.in_shell();
        if let Some(executable) = self.executable(rule) {
            let given = if in_shell == InShell::No { words.get(1..) } else { Some(&words[..]) };
            // The shell that it takes the place of would get its script in this way.
            let code = Literal::known("-c");
            let flag = (in_shell != InShell::No).then_some(code);
            let started: Vec<_> = std::iter::once(executable.clone())
                .chain(flag)
                .chain(given.unwrap_or_default().iter().cloned())
                .collect();
            judge(&started);
            if in_shell != InShell::Perhaps {
                return;
            }
            let bare = words.get(1..).unwrap_or_default();
            return judge(&[std::slice::from_ref(executable), bare].concat());
        }
        if !is_script && in_shell != InShell::Yes {
            judge(&words);
        }
        if is_script || in_shell != InShell::No {
            let text = match runs {
                // Python gives its shell the other words as arguments.
                Runs::Command => words.into_iter().next().unwrap_or_default(),
                Runs::Program
                | Runs::NamedList
                | Runs::NamedWords
                | Runs::Words(_)
                | Runs::Code(_) => joined(words),
            };
            analysis.nest_fed(script, Syntax::Shell, &text, input, self.at);
        }
    }

    /// The object, and the list that the next argument is.
    fn with_list(&self, rule: &Rule<CallPattern>) -> Vec<Literal> {
        let mut words = vec![self.object(rule)];
        match self.positional.get(place(rule) + 1) {
            Some(Value { items: Some(items), .. }) => words.extend(items.iter().cloned()),
            // Options come next, and may hold the list.
            Some(Value { kind: ValueKind::Table | ValueKind::Off, .. }) => {
                match self.option("args") {
                    Some(Value { items: Some(items), .. }) => words.extend(items.iter().cloned()),
                    Some(_) => words.push(Literal::computed()),
                    None => {}
                }
            }
            Some(_) => words.push(Literal::computed()),
            None => words.extend(self.unseen()),
        }
        words
    }

    /// The arguments from this one on.
    fn words_from(&self, first: usize) -> Vec<Literal> {
        let words = self.positional.iter().skip(first).map(|value| value.text.clone());
        words.chain(self.unseen()).collect()
    }

    /// The argument that stands for those that cannot be seen.
    fn unseen(&self) -> Option<Literal> {
        (self.arguments == Arguments::Spread).then(Literal::computed)
    }

    /// The list that the object is, for a rule that runs one.
    fn list(&self, rule: &Rule<CallPattern>) -> Option<&[Literal]> {
        let value = match (&rule.on.runs, &rule.on.object) {
            (Some(Runs::Command), Some(Object::Argument(at))) => self.argument(*at, None),
            (Some(Runs::Command), Some(Object::Named(at, name))) => self.argument(*at, Some(name)),
            _ => None,
        };
        value.and_then(|value| value.items.as_deref())
    }

    fn option(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The program that is started in the place of the first word.
    fn executable(&self, rule: &Rule<CallPattern>) -> Option<&Literal> {
        let by_place = || self.positional.get(rule.on.options.as_ref()?.executable);
        let value = self.option("executable").or_else(by_place)?;
        (value.kind != ValueKind::Off).then_some(&value.text)
    }

    fn in_shell(&self) -> InShell {
        match self.option("shell").map(|value| value.kind) {
            None | Some(ValueKind::Off) => InShell::No,
            Some(ValueKind::On) => InShell::Yes,
            Some(ValueKind::Other | ValueKind::Table) => InShell::Perhaps,
        }
    }

    /// The input of the program, unless that is the person's own or there is none.
    fn input(&self, rule: &Rule<CallPattern>, runs: &Runs) -> Option<Literal> {
        if let Some(input) = self.option("input").filter(|value| value.kind != ValueKind::Off) {
            let is_list = input.items.is_some();
            return Some(if is_list { Literal::computed() } else { input.text.clone() });
        }
        let by_place = || self.positional.get(rule.on.options.as_ref()?.stdin);
        let source = self.option("stdin").or_else(|| self.option("stdio")).or_else(by_place);
        let may_be_fed = match source {
            Some(source) => !is_inherited(source),
            None => rule.on.fed || self.has_unseen_options(runs),
        };
        may_be_fed.then(Literal::computed)
    }

    /// Whether there may be options that do not stand in the call.
    fn has_unseen_options(&self, runs: &Runs) -> bool {
        let may_be_options = |value: &Value| value.kind == ValueKind::Other && !value.is_known();
        self.arguments == Arguments::Spread
            || self.option(REST).is_some()
            || (*runs == Runs::Command && self.positional.iter().skip(1).any(may_be_options))
    }
}

/// The position of the object.
fn place(rule: &Rule<CallPattern>) -> usize {
    match &rule.on.object {
        Some(Object::Argument(at) | Object::Named(at, _)) => *at,
        Some(Object::Receiver) | None => 0,
    }
}

/// The key of the options that a table takes over from another one.
pub(crate) const REST: &str = "...";

/// Whether a program's input is that of the code, or empty.
fn is_inherited(source: &Value) -> bool {
    let word = match &source.items {
        Some(items) => items.first(),
        None => Some(&source.text),
    };
    source.kind == ValueKind::Off
        || word.is_some_and(|word| matches!(word.whole(), Some("inherit" | "ignore" | "null")))
}

/// A command without the name that the program is given, which is its first argument.
fn unnamed(mut words: Vec<Literal>) -> Vec<Literal> {
    if words.get(1).is_some_and(|name| name.whole().is_some()) {
        words.remove(1);
    }
    words
}

/// The words as a line of a shell script.
fn joined(words: Vec<Literal>) -> Literal {
    let join = |line: Literal, word| line.then(Literal::known(" ")).then(word);
    words.into_iter().reduce(join).unwrap_or_default()
}
