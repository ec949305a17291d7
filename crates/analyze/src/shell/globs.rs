//! Words that the shell replaces by the names of files: patterns, and what may turn out to be one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest may hold a pattern"
)]

use super::{names::Names, walk::Walk, words};
use crate::{
    literal::Literal,
    says::{Says, Site},
};
use interpreter_core::{Deed, Risk};
use shuck_ast::{
    BourneParameterExpansion, Command, ParameterExpansionSyntax, ParameterOp, StmtSeq, Word,
    WordPart, static_word_text,
};

/// Programs that print no sign of a pattern, unless they are given one.
const TAME: [&str; 7] = ["seq", "wc", "date", "nproc", "id", "uname", "whoami"];

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a text holds the sign of a pattern that no backslash stands before.
fn is_open_pattern(text: &str) -> bool {
    let mut all = text.chars();
    while let Some(c) = all.next() {
        match c {
            '\\' => _ = all.next(),
            '*' | '?' | '[' | '(' => return true,
            _ => {}
        }
    }
    false
}

/// Whether a word may become the names of files.
fn expands(word: &Word, source: &str, names: &Names) -> bool {
    word.parts.iter().any(|part| part_expands(&part.kind, part.span.slice(source), source, names))
}

fn part_expands(part: &WordPart, text: &str, source: &str, names: &Names) -> bool {
    let variable = |name: &str| match names.value(name) {
        Some(held) => is_pattern(held),
        None => !names.is_tame(name),
    };
    match part {
        WordPart::Literal(_) => is_open_pattern(text),
        WordPart::SingleQuoted { .. }
        | WordPart::DoubleQuoted { .. }
        | WordPart::ArithmeticExpansion { .. }
        | WordPart::Length(_)
        | WordPart::ArrayLength(_)
        | WordPart::ProcessSubstitution { .. } => false,
        WordPart::Variable(name) => variable(name.as_str()),
        WordPart::Parameter(parameter) => match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Length { .. }) => false,
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access { reference }) => {
                reference.subscript.is_some() || variable(reference.name.as_str())
            }
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Operation {
                reference,
                operator,
                ..
            }) => !only_cuts(operator) || variable(reference.name.as_str()),
            _ => true,
        },
        WordPart::ParameterExpansion { reference, operator, .. } => {
            !only_cuts(operator) || variable(reference.name.as_str())
        }
        WordPart::CommandSubstitution { body, .. } => !is_tame_output(body, source),
        _ => true,
    }
}

/// Whether what an operation gives is a part of what the variable holds.
fn only_cuts(operator: &ParameterOp) -> bool {
    matches!(
        operator,
        ParameterOp::RemovePrefixShort { .. }
            | ParameterOp::RemovePrefixLong { .. }
            | ParameterOp::RemoveSuffixShort { .. }
            | ParameterOp::RemoveSuffixLong { .. }
    )
}

fn is_tame_output(body: &StmtSeq, source: &str) -> bool {
    let mut all = body.iter();
    let (Some(only), None) = (all.next(), all.next()) else { return false };
    let Command::Simple(simple) = &only.command else { return false };
    let mut words = simple.args.iter();
    static_word_text(&simple.name, source).is_some_and(|name| TAME.contains(&&*name))
        && words.all(|word| static_word_text(word, source).is_some_and(|text| !is_pattern(&text)))
}

/// Whether a variable that is set to a word holds no sign of a pattern.
fn is_tame_value(word: &Word, source: &str, text: &Literal, names: &Names) -> bool {
    match (text.whole(), word.parts.as_slice()) {
        (Some(text), _) => !is_pattern(text),
        (None, [part]) => match &part.kind {
            WordPart::ArithmeticExpansion { .. } => true,
            WordPart::Variable(name) => names.is_tame(name.as_str()),
            WordPart::CommandSubstitution { body, .. } => is_tame_output(body, source),
            _ => false,
        },
        _ => false,
    }
}

impl Walk<'_> {
    /// Remembers what a variable is set to.
    pub(super) fn learn_value(&mut self, name: &str, word: &Word, appends: bool) {
        let source = &self.script.text;
        let text = words::text(word, source, &self.learned);
        // The next round of a loop may hold something else.
        let is_fixed = self.repeats == 0 || words::plain(word, source).is_some();
        self.learned.set(name, text.whole().filter(|_| is_fixed && !appends));
        if !is_fixed || !is_tame_value(word, source, &text, &self.learned) {
            self.learned.set_wild(name);
        }
    }

    /// Remembers a variable that takes each of these words, or those of its script.
    pub(super) fn looped(&mut self, variable: &str, all: Option<&[Word]>) {
        self.learned.set(variable, None);
        let source = &self.script.text;
        let is_tame = |word: &Word| {
            let text = words::text(word, source, &self.learned);
            // The names that a pattern becomes have been told of.
            is_tame_value(word, source, &text, &self.learned)
                || expands(word, source, &self.learned)
        };
        if !all.is_some_and(|all| all.iter().all(is_tame)) {
            self.learned.set_wild(variable);
        }
    }

    /// Words that a loop goes over or an array holds.
    pub(super) fn listed<'w>(&mut self, all: impl IntoIterator<Item = &'w Word>) {
        for word in all {
            self.word(word);
            let at = self.site(word.span);
            self.expansions(std::slice::from_ref(word), at);
        }
    }

    /// Notes that words become the names of files, unless a finding does so already.
    pub(super) fn expansions(&mut self, all: &[Word], at: Site) {
        if self.is_learning {
            return;
        }
        let source = &self.script.text;
        let names = self.names();
        let all = all.iter().filter(|word| expands(word, source, names));
        for name in all.map(|word| words::text(word, source, names)).collect::<Vec<_>>() {
            let path = self.analysis.folder.of(&name).into_owned();
            if !self.analysis.found.names(path.whole().unwrap_or_default()) {
                let says = Says::new(Deed::Lists, Risk::Low, "becomes the names of files");
                self.analysis.note(says, &name, at);
            }
        }
    }
}
