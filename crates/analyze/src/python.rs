//! Python: what its calls do.
//!
//! Names are followed through imports, aliases and simple assignments, wherever in the code they
//! stand: a name that may mean something dangerous is taken to mean it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use crate::{
    analysis::{Analysis, Script},
    call,
    call_rules::CallRules,
};
use names::Names;
use ruff_python_ast::{
    Expr, PySourceType, Stmt,
    visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt},
};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged, TextSize};
use std::sync::LazyLock;

mod depth;
mod names;
mod values;

static RULES: LazyLock<CallRules> = LazyLock::new(|| {
    CallRules::parse(include_str!("../rules/python.toml"))
        .expect("rules/python.toml is part of this crate and tested")
});

/// Finds what a Python script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    if let Err(why) = depth::check(&script.text) {
        analysis.unreadable(why, script.line(1));
        return;
    }
    let lines = Lines::of(&script.text);
    let parsed = parse_unchecked_source(&script.text, PySourceType::Python);
    if let Some(error) = parsed.errors().first() {
        analysis.unreadable(
            "the Python code does not parse",
            script.line(lines.number(error.location.start())),
        );
    }
    let body = &parsed.syntax().body;
    let mut walk = Walk { script, lines, names: Names::of(body), analysis };
    walk.visit_body(body);
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of an offset, from 1.
    fn number(&self, offset: TextSize) -> usize {
        self.0.partition_point(|&start| start <= offset.to_usize()) + 1
    }
}

struct Walk<'a> {
    script: &'a Script,
    lines: Lines,
    names: Names,
    analysis: &'a mut Analysis,
}

impl Walk<'_> {
    fn line(&self, offset: TextSize) -> u32 {
        self.script.line(self.lines.number(offset))
    }

    fn import(&mut self, module: &str, offset: TextSize) {
        let line = self.line(offset);
        call::import(RULES.on_import(module), module, line, self.analysis);
    }
}

impl<'a> SourceOrderVisitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Import(import) = statement {
            for alias in &import.names {
                self.import(&alias.name, import.range.start());
            }
        } else if let Stmt::ImportFrom(import) = statement
            && let Some(module) = &import.module
        {
            self.import(module, import.range.start());
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Call(call) => {
                let names = self.names.resolve(&call.func);
                let rules = RULES.on_call(&names);
                if !rules.is_empty() {
                    let line = self.line(call.start());
                    let call = values::call(call, &self.names, &RULES, line);
                    call.judge(&rules, self.script, self.analysis);
                }
                // What is called was judged; what it is looked up on is still to be walked.
                if let Expr::Attribute(callee) = &*call.func {
                    self.visit_expr(&callee.value);
                } else if !call.func.is_name_expr() {
                    self.visit_expr(&call.func);
                }
                self.visit_arguments(&call.arguments);
            }
            Expr::Name(_) | Expr::Attribute(_) if names::is_read(expression) => {
                let names = self.names.resolve(expression);
                let line = self.line(expression.start());
                call::mention(RULES.on_mention(&names), line, self.analysis);
                // The names before the last dot are no mention of their own.
                if let Some(root) = names::root(expression)
                    && !root.is_name_expr()
                {
                    self.visit_expr(root);
                }
            }
            _ => walk_expr(self, expression),
        }
    }
}

#[cfg(test)]
pub(crate) fn rules() -> &'static CallRules {
    &RULES
}
