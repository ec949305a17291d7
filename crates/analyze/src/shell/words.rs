//! The text of shell words, and how a command's words divide into flags and the rest.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::names::Names;
use crate::literal::Literal;
use shuck_ast::{
    BourneParameterExpansion, ParameterExpansionSyntax, Word, WordPart, WordPartNode,
    static_word_text,
};
use std::borrow::Cow;

/// How deep quoted parts are followed.
const DEPTH: usize = 8;

/// Most bytes of a word that is put together. A word that stands in the code may be longer.
const LONGEST: usize = 64 * 1024;

/// The text of a word that stands in the code as a whole, as the shell reads it.
pub(crate) fn plain<'w>(word: &'w Word, source: &'w str) -> Option<Cow<'w, str>> {
    let text = static_word_text(word, source)?;
    // Quoted parts come without their backslashes already.
    let is_escaped = |part: &WordPartNode| {
        matches!(&part.kind, WordPart::Literal(_)) && part.span.slice(source).contains('\\')
    };
    if !word.parts.iter().any(is_escaped) {
        return Some(text);
    }
    joined(&word.parts, source, &Names::default(), DEPTH, false)
        .whole()
        .map(|text| text.to_owned().into())
}

/// The text of a word.
pub(super) fn text(word: &Word, source: &str, names: &Names) -> Literal {
    match plain(word, source) {
        Some(text) => Literal::known(text),
        None => joined(&word.parts, source, names, DEPTH, false),
    }
}

/// The text that a variable holds.
pub(super) fn held(variable: &str, names: &Names) -> Literal {
    names.value(variable).map_or_else(Literal::computed, Literal::known)
}

/// A part that isn't quoted, without the backslashes that quote a sign in it.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut all = text.chars();
    while let Some(c) = all.next() {
        match c {
            '\\' => plain.extend(all.next().filter(|c| *c != '\n')),
            c => plain.push(c),
        }
    }
    plain.into()
}

fn joined(
    nodes: &[WordPartNode],
    source: &str,
    names: &Names,
    left: usize,
    is_quoted: bool,
) -> Literal {
    let Some(left) = left.checked_sub(1) else { return Literal::computed() };
    let (mut text, mut length) = (Literal::default(), 0);
    for node in nodes {
        let part = match &node.kind {
            WordPart::Literal(literal) if is_quoted => {
                Literal::known(literal.as_str(source, node.span))
            }
            WordPart::Literal(literal) => {
                Literal::known(unescaped(literal.as_str(source, node.span)))
            }
            WordPart::SingleQuoted { value, .. } => Literal::known(value.slice(source)),
            WordPart::DoubleQuoted { parts: inner, .. } => joined(inner, source, names, left, true),
            WordPart::Variable(name) => held(name.as_str(), names),
            WordPart::Parameter(parameter) => match &parameter.syntax {
                ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access {
                    reference,
                }) if reference.subscript.is_none() => held(reference.name.as_str(), names),
                _ => Literal::computed(),
            },
            _ => Literal::computed(),
        };
        length += part.len();
        if length > LONGEST {
            return Literal::computed();
        }
        text = text.then(part);
    }
    text
}

/// The variable that a word is, and nothing else.
pub(super) fn variable(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [WordPartNode { kind: WordPart::Variable(name), .. }] => Some(name.as_str()),
        [WordPartNode { kind: WordPart::DoubleQuoted { parts, .. }, .. }] => match parts.as_slice()
        {
            [WordPartNode { kind: WordPart::Variable(name), .. }] => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a word is, or holds, a file that another command makes: `<(…)`.
pub(super) fn has_process(word: &Word) -> bool {
    word.parts.iter().any(|node| matches!(node.kind, WordPart::ProcessSubstitution { .. }))
}

/// A command's words, told apart.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    /// Words that are no flags, and where they stand.
    pub(super) operands: Vec<(usize, &'a Literal)>,
    /// Flags as they stand.
    flags: Vec<&'a str>,
    /// The word after each flag that takes one.
    values: Vec<(&'a str, Literal)>,
}

impl<'a> Words<'a> {
    /// Divides the words after the program. `taking` are flags that take the next word.
    pub(super) fn divide(words: &'a [Literal], taking: &[String]) -> Self {
        let mut divided = Self::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let start = word.start();
            if start == "--" && word.whole().is_some() {
                divided.operands.extend((at + 1..).zip(&words[at + 1..]));
                break;
            }
            if start.len() > 1 && start.starts_with('-') {
                divided.flags.push(start);
                if let Some((flag, value)) = start.split_once('=')
                    && taking.iter().any(|one| one == flag)
                {
                    let value = match word.whole() {
                        Some(_) => Literal::known(value),
                        None => Literal::known(value).then(Literal::computed()),
                    };
                    divided.values.push((flag, value));
                } else if let Some(flag) = taking.iter().find(|flag| takes_next(start, flag)) {
                    at += 1;
                    if let Some(value) = words.get(at) {
                        // The flag as the rule spells it: `-so out` is `-s -o out`.
                        let spelled = if start == flag { start } else { &start[..0] };
                        divided.values.push((spelled, value.clone()));
                        if spelled.is_empty() {
                            divided.flags.push(start);
                        }
                    }
                }
            } else {
                divided.operands.push((at, word));
            }
            at += 1;
        }
        divided
    }

    /// Whether a flag is given, alone or among others: `-r` in `-rf`.
    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| is_flag(given, flag))
    }

    /// The word after one of these flags.
    pub(super) fn value(&self, wanted: &[String]) -> Option<&Literal> {
        let exact = |given: &str| wanted.iter().any(|flag| flag == given);
        self.values
            .iter()
            .find(|(given, _)| exact(given))
            .or_else(|| self.values.iter().find(|(given, _)| given.is_empty()))
            .map(|(_, value)| value)
    }
}

/// Whether `given` is a flag that takes the next word: `-o`, `--output`, or `-so`.
fn takes_next(given: &str, flag: &str) -> bool {
    given == flag || (is_short(flag) && is_cluster(given) && given.ends_with(&flag[1..]))
}

fn is_flag(given: &str, flag: &str) -> bool {
    if is_short(flag) {
        return given == flag
            || (is_cluster(given) && given[1..].contains(&flag[1..]))
            || given.starts_with(flag) && !given.starts_with("--");
    }
    given == flag || given.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
}

fn is_short(flag: &str) -> bool {
    flag.len() == 2 && flag.starts_with('-')
}

/// One dash and several letters: short flags in one word.
fn is_cluster(given: &str) -> bool {
    given.starts_with('-') && given[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(words: &[&str]) -> Vec<Literal> {
        words.iter().map(|&word| Literal::known(word)).collect()
    }

    #[test]
    fn flags_are_found_in_every_spelling() {
        let words = literals(&["-rf", "--hard", "--mode=x", "-i.bak"]);
        let divided = Words::divide(&words, &[]);
        for (flag, given) in [
            ("-r", true),
            ("-f", true),
            ("--hard", true),
            ("--mode", true),
            ("-i", true),
            ("-x", false),
            ("--har", false),
        ] {
            assert_eq!(divided.has(flag), given, "{flag}");
        }
    }

    #[test]
    fn what_a_flag_takes_is_no_operand() {
        let taking = ["-o".to_owned(), "--output".to_owned()];
        for words in [["-o", "out", "url"], ["-so", "out", "url"], ["--output=out", "-s", "url"]] {
            let words = literals(&words);
            let divided = Words::divide(&words, &taking);
            assert_eq!(divided.operands.len(), 1, "{words:?}");
            assert_eq!(divided.operands[0].1.whole(), Some("url"));
            assert_eq!(divided.value(&taking), Some(&Literal::known("out")), "{words:?}");
        }
    }

    #[test]
    fn after_two_dashes_everything_is_an_operand() {
        let words = literals(&["--", "-rf"]);
        assert_eq!(Words::divide(&words, &[]).operands.len(), 1);
    }
}
