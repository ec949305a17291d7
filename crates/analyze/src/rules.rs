//! All rules: those of this crate, and those that are asked in one analysis.
//!
//! The rules of this crate are read once. An [`Analysis`](crate::analysis::Analysis) asks one or
//! more sets of them, each by itself, so that a set cannot silence another one.

use crate::{
    call_rules::{CallIndex, CallPattern, CallTables},
    literal::Literal,
    place::{self, Place, PlaceIndex},
    rule::{Rule, own, own_text},
    shell::rules::{ProgramIndex, ProgramPattern, ProgramTables},
    sql::rules::StatementPattern,
    syntax::Syntax,
    words::rules::WordIndex,
};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};

/// The rules of this crate and the tables that help to read code.
pub(crate) static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(BuiltIn::load);

/// All that is in `rules/*.toml`.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) python: CallTables,
    pub(crate) javascript: CallTables,
    pub(crate) shell: ProgramTables,
    set: Arc<RuleSet>,
}

/// A file with nothing but rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain<T> {
    rule: Vec<T>,
}

/// The file of places.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    place: Vec<Place>,
}

impl BuiltIn {
    fn load() -> Self {
        let (python, calls) = CallTables::parse(own_text!("rules/python"));
        let (javascript, web_calls) = CallTables::parse(own_text!("rules/javascript"));
        let (shell, programs) = ProgramTables::parse(own_text!("rules/shell"));
        let sql: Plain<_> = own(own_text!("rules/sql"));
        let words: Plain<_> = own(own_text!("rules/words"));
        let places: Places = own(own_text!("rules/places"));
        let set = RuleSet {
            python: CallIndex::new(calls),
            javascript: CallIndex::new(web_calls),
            shell: ProgramIndex::new(programs),
            sql: sql.rule,
            words: WordIndex::new(words.rule),
            places: PlaceIndex::new(places.place),
            is_added: false,
        };
        Self { python, javascript, shell, set: Arc::new(set) }
    }
}

/// Rules of one origin, by what they are about.
#[derive(Debug, Default)]
pub(crate) struct RuleSet {
    pub(crate) python: CallIndex,
    pub(crate) javascript: CallIndex,
    pub(crate) shell: ProgramIndex,
    pub(crate) sql: Vec<Rule<StatementPattern>>,
    pub(crate) words: WordIndex,
    pub(crate) places: PlaceIndex,
    /// Whether a person or a project has added them.
    pub(crate) is_added: bool,
}

impl RuleSet {
    fn calls(&self, syntax: Syntax) -> &CallIndex {
        match syntax {
            Syntax::Python | Syntax::Shell | Syntax::Sql | Syntax::Words => &self.python,
            Syntax::JavaScript | Syntax::TypeScript => &self.javascript,
        }
    }
}

/// The sets that are asked in one analysis, the first first.
#[derive(Clone, Debug)]
pub(crate) struct Rules(Arc<[Arc<RuleSet>]>);

impl Rules {
    /// The rules of this crate.
    pub(crate) fn built_in() -> Self {
        Self(Arc::new([Arc::clone(&BUILT_IN.set)]))
    }

    /// Those of a set, and then the rules of this crate.
    pub(crate) fn with(set: RuleSet) -> Self {
        Self(Arc::new([Arc::new(set), Arc::clone(&BUILT_IN.set)]))
    }

    /// Those of a set alone.
    pub(crate) fn only(set: RuleSet) -> Self {
        Self(Arc::new([Arc::new(set)]))
    }

    fn sets(&self) -> impl Iterator<Item = &RuleSet> {
        self.0.iter().map(|set| &**set)
    }

    /// The rules on a call of something that goes by any of `names`.
    pub(crate) fn on_call(&self, syntax: Syntax, names: &[String]) -> Vec<&Rule<CallPattern>> {
        self.sets().flat_map(|set| set.calls(syntax).on_call(names)).collect()
    }

    /// The part of a name that matters to rules on names.
    pub(crate) fn reach<'a>(&self, syntax: Syntax, name: &'a str) -> Option<&'a str> {
        self.sets().find_map(|set| set.calls(syntax).reach(name))
    }

    /// Whether something grave can be called of a module.
    pub(crate) fn is_harmful(&self, syntax: Syntax, module: &str) -> bool {
        self.sets().any(|set| set.calls(syntax).is_harmful(module))
    }

    /// The rules on something that goes by any of `names` and is handed on without a call.
    pub(crate) fn on_mention(
        &self,
        syntax: Syntax,
        names: &[String],
    ) -> impl Iterator<Item = &Rule<CallPattern>> {
        self.sets().flat_map(move |set| set.calls(syntax).on_mention(names))
    }

    /// The rules on an import of a module.
    pub(crate) fn on_import(
        &self,
        syntax: Syntax,
        module: &str,
    ) -> impl Iterator<Item = &Rule<CallPattern>> {
        self.sets().flat_map(move |set| set.calls(syntax).on_import(module))
    }

    /// The rules on a program.
    pub(crate) fn on_program(&self, name: &str) -> impl Iterator<Item = &Rule<ProgramPattern>> {
        self.sets().flat_map(move |set| set.shell.on(name))
    }

    pub(crate) fn on_statements(&self) -> impl Iterator<Item = &Rule<StatementPattern>> {
        self.sets().flat_map(|set| &set.sql)
    }

    pub(crate) fn on_words(&self) -> impl Iterator<Item = &WordIndex> {
        self.sets().map(|set| &set.words)
    }

    /// The place that a path is: by our own rules, and by all of them.
    pub(crate) fn places(&self, path: &Literal) -> (Option<&Place>, Option<&Place>) {
        let path = place::rooted(&path.with_holes());
        let (mut own, mut any) = (None, None);
        for set in self.sets() {
            let place = set.places.of(&path);
            any = any.or(place);
            own = own.or(place.filter(|_| !set.is_added));
        }
        (own, any)
    }

    #[cfg(test)]
    pub(crate) fn first(&self) -> &RuleSet {
        &self.0[0]
    }
}
