//! Which names are dangerous in any language: the patterns of `rules/words.toml`, found in one pass
//! over a text. Knows nothing of what a rule says of them.

use crate::rule::{Pattern, Rule};
use aho_corasick::AhoCorasick;
use serde::Deserialize;

/// The names that a rule is about, wherever they stand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordPattern {
    /// Texts, in small letters. One that begins like a name must begin one.
    pub(crate) texts: Vec<String>,
    /// The string after it is a command for a shell.
    #[serde(default)]
    pub(super) runs: bool,
}

impl Pattern for WordPattern {
    fn names(&self) -> Vec<(&'static str, &[String])> {
        vec![("{text}", &self.texts)]
    }
}

/// The rules on words of one origin.
#[derive(Debug, Default)]
pub(crate) struct WordIndex {
    rules: Vec<Rule<WordPattern>>,
    /// All their texts, in order.
    texts: Option<AhoCorasick>,
}

impl WordIndex {
    pub(crate) fn new(rules: Vec<Rule<WordPattern>>) -> Self {
        let all: Vec<&String> = rules.iter().flat_map(|rule| &rule.on.texts).collect();
        // Only too many or too long texts fail, and both are bounded.
        let texts = AhoCorasick::new(&all).expect("the texts of rules are few and short");
        let texts = (!all.is_empty()).then_some(texts);
        Self { rules, texts }
    }

    /// Each text of each rule, and where it stands in `code`, for as many places as `keep` wants:
    /// it is given the place and how many of that text are kept already.
    pub(super) fn on(
        &self,
        code: &str,
        keep: impl Fn(usize, usize) -> bool,
    ) -> impl Iterator<Item = (&Rule<WordPattern>, &str, Vec<usize>)> {
        let each = self.rules.iter().flat_map(|rule| rule.on.texts.iter().map(move |t| (rule, t)));
        let each: Vec<_> = each.collect();
        let mut places = vec![Vec::new(); each.len()];
        for found in self.texts.iter().flat_map(|texts| texts.find_overlapping_iter(code)) {
            let kept: &mut Vec<usize> = &mut places[found.pattern().as_usize()];
            if keep(found.start(), kept.len()) {
                kept.push(found.start());
            }
        }
        each.into_iter().zip(places).map(|((rule, text), places)| (rule, text.as_str(), places))
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Rule<WordPattern>] {
        &self.rules
    }
}
