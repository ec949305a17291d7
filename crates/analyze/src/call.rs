//! One call in a programming language, and what the rules make of it.
//!
//! Python and JavaScript turn their syntax into a [`Call`]; from there on they are alike.

use crate::{
    analysis::{Analysis, Script, Target},
    call_rules::{CallPattern, Condition, Object, Runs, Standing},
    literal::Literal,
    rule::Rule,
    says::Site,
    sql,
    syntax::Syntax,
    value::Value,
};
use interpreter_core::Confidence;

mod started;

pub(crate) use self::started::REST;

/// A call and its arguments.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(String, Value)>,
    pub(crate) receiver: Literal,
    /// Whether some arguments come out of a list or a table that is not in the code.
    pub(crate) arguments: Arguments,
    pub(crate) at: Site,
}

/// Whether all arguments of a call can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    Seen,
    Spread,
}

impl Call {
    /// A call whose arguments no rule asks for.
    fn bare(at: Site) -> Self {
        let (positional, named, receiver) = Default::default();
        Self { positional, named, receiver, arguments: Arguments::Seen, at }
    }

    /// The call, for these rules: following its arguments takes long, so `read` does that only if
    /// one of them asks for any.
    pub(crate) fn for_rules(
        rules: &[&Rule<CallPattern>],
        at: Site,
        read: impl FnOnce() -> Self,
    ) -> Self {
        if rules.iter().any(|rule| rule.on.asks()) { read() } else { Self::bare(at) }
    }

    fn argument(&self, at: usize, keyword: Option<&str>) -> Option<&Value> {
        let named = |name| self.named.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        keyword.and_then(named).or_else(|| self.positional.get(at))
    }

    fn object(&self, rule: &Rule<CallPattern>) -> Literal {
        let argument = |at, keyword| {
            self.argument(at, keyword).map_or_else(Literal::computed, |value| value.text.clone())
        };
        match &rule.on.object {
            None => Literal::default(),
            Some(Object::Argument(at)) => argument(*at, None),
            Some(Object::Named(at, keyword)) => argument(*at, Some(keyword)),
            Some(Object::Receiver) => self.receiver.clone(),
        }
    }

    fn fits(&self, condition: &Condition) -> bool {
        if let Some(module) = condition.module
            && self.argument(module, None).is_none_or(|value| !value.is_module)
        {
            return false;
        }
        let value = self.argument(condition.argument, condition.keyword.as_deref());
        let text = value.map(|value| value.text.whole());
        let has = |characters: &str| match text {
            None => self.arguments == Arguments::Spread,
            Some(None) => true,
            Some(Some(text)) => text.contains(|c| characters.contains(c)),
        };
        let lacks = |characters: &str| match text {
            None | Some(None) => true,
            Some(Some(text)) => !text.contains(|c| characters.contains(c)),
        };
        condition.contains.as_deref().is_none_or(has)
            && condition.lacks.as_deref().is_none_or(lacks)
            && condition.is.as_ref().is_none_or(|standing| match (standing, text) {
                (Standing::Text, None) => false,
                (Standing::Computed | Standing::Given, None) => self.arguments == Arguments::Spread,
                (Standing::Computed, Some(text)) => text.is_none(),
                (Standing::Given, Some(_)) => true,
                (Standing::Text, Some(text)) => text.is_some(),
            })
    }

    /// Notes what the rules on this call say, and reads what it runs.
    pub(crate) fn judge(
        &self,
        rules: &[&Rule<CallPattern>],
        script: &Script,
        analysis: &mut Analysis,
    ) {
        for rule in rules {
            if rule.on.when.as_ref().is_some_and(|condition| !self.fits(condition)) {
                continue;
            }
            if self.is_in_memory(rule) {
                continue;
            }
            if let Some(Runs::Code(Syntax::Sql)) = rule.on.runs {
                analysis.read_for(rule.is_added(), |analysis| self.run(rule, script, analysis));
                continue;
            }
            let object = match rule.on.runs {
                None | Some(Runs::Code(_)) => self.object(rule),
                Some(
                    Runs::Command
                    | Runs::Program
                    | Runs::NamedList
                    | Runs::NamedWords
                    | Runs::Words(_),
                ) => self.program(rule),
            };
            analysis.note(rule.says_of_call(), &object, self.at);
            analysis.read_for(rule.is_added(), |analysis| self.run(rule, script, analysis));
        }
    }

    fn is_in_memory(&self, rule: &Rule<CallPattern>) -> bool {
        let value = match &rule.on.object {
            Some(Object::Argument(at)) => self.argument(*at, None),
            Some(Object::Named(at, name)) => self.argument(*at, Some(name)),
            Some(Object::Receiver) | None => None,
        };
        value.is_some_and(|value| value.is_memory)
    }

    fn run(&self, rule: &Rule<CallPattern>, script: &Script, analysis: &mut Analysis) {
        let Some(runs) = &rule.on.runs else { return };
        let object = self.object(rule);
        match runs {
            // Only a string is code; `eval(x)` is noted by its rule already.
            Runs::Code(Syntax::Sql) => {
                // Other things than databases execute something, too.
                if sql::is_statement(object.start()) {
                    if self.receiver.whole() == Some(":memory:") {
                        analysis.nest_in_memory(script, &object, self.at);
                    } else {
                        analysis.nest(script, Syntax::Sql, &object, self.at);
                    }
                }
            }
            Runs::Code(syntax) if object.script().is_some() => {
                analysis.nest(script, *syntax, &object, self.at);
            }
            Runs::Code(_) => {}
            Runs::Command | Runs::Program | Runs::NamedList | Runs::NamedWords | Runs::Words(_) => {
                self.start(rule, runs, script, analysis);
            }
        }
    }
}

/// Notes what the rules say on something dangerous that is handed on, to be called elsewhere.
pub(crate) fn mention<'a>(
    rules: impl Iterator<Item = &'a Rule<CallPattern>>,
    at: Site,
    analysis: &mut Analysis,
) {
    for rule in rules {
        let unknown = match rule.on.object {
            Some(_) => Literal::computed(),
            None => Literal::default(),
        };
        analysis.note(rule.says_of_call().at_most(Confidence::Likely), &unknown, at);
    }
}

/// Notes what the rules say on an import.
pub(crate) fn import<'a>(
    rules: impl Iterator<Item = &'a Rule<CallPattern>>,
    module: &str,
    at: Site,
    analysis: &mut Analysis,
) {
    for rule in rules {
        // An import has a name, but is neither a host nor a path.
        let object = match Target::of(rule.capability) {
            Target::Host | Target::Path => Literal::default(),
            Target::Thing => Literal::known(module),
        };
        analysis.note(rule.says_of_call(), &object, at);
    }
}
