//! Python: what its calls do.
//!
//! Names are followed through imports, aliases and simple assignments, wherever in the code they
//! stand: a name that may mean something dangerous is taken to mean it. Commands and magics of a
//! notebook are read as what they do.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use crate::{
    analysis::{Analysis, Script, Syntax},
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

mod assignments;
mod depth;
mod encoding;
mod names;
mod notebook;
mod values;

pub use assignments::assignments;

static RULES: LazyLock<CallRules> = LazyLock::new(|| {
    CallRules::parse(include_str!("../rules/python.toml"))
        .expect("rules/python.toml is part of this crate and tested")
});

/// Finds what a Python script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    if let Some(line) = encoding::foreign(&script.text) {
        analysis.unreadable("the code says that it is not UTF-8", script.line(line));
    }
    // Python's newlines are all the same to it.
    let text = script.text.replace("\r\n", "\n").replace('\r', "\n");
    let Some(notebook) = notebook::read(&text) else {
        if let Err((why, line)) = read_text(&text, script, analysis) {
            analysis.unreadable(why, line);
        }
        return;
    };
    for one in &notebook.scripts {
        analysis.nest_lines(script, Syntax::Shell, &one.text, one.line);
    }
    if notebook.cut {
        analysis.unreadable("too many commands", script.line(1));
    }
    // The kernel reads as a notebook's only what is not Python as it stands. Here both readings
    // count, since another Python may have more or less to say than the one that runs.
    let is_python = !notebook.foreign && read_text(&text, script, analysis).is_ok();
    if !is_python && let Err((why, line)) = read_text(&notebook.python, script, analysis) {
        analysis.unreadable(why, line);
    }
}

/// Whether a text is Python, as the kernel reads it. In doubt it is.
pub(crate) fn parses(text: &str) -> bool {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = notebook::read(&text).map_or(text, |notebook| notebook.python);
    depth::check(&text).is_err()
        || parse_unchecked_source(&text, PySourceType::Python).errors().is_empty()
}

/// Whether a text is Python that does something: a word or a number alone is Python too.
pub(crate) fn is_program(text: &str) -> bool {
    if depth::check(text).is_err() {
        return false;
    }
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let acts = |statement: &Stmt| match statement {
        Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::FunctionDef(_)
        | Stmt::ClassDef(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::With(_)
        | Stmt::Try(_) => true,
        Stmt::Expr(expression) => match &*expression.value {
            // `name (remark)` would be a call as well.
            Expr::Call(call) => call.func.range().end() == call.arguments.range().start(),
            _ => false,
        },
        _ => false,
    };
    parsed.errors().is_empty() && parsed.syntax().body.iter().any(acts)
}

/// Finds what a text does. If it is not Python, finds what it can and says where it is not.
fn read_text(
    text: &str,
    script: &Script,
    analysis: &mut Analysis,
) -> Result<(), (&'static str, u32)> {
    depth::check(text).map_err(|why| (why, script.line(1)))?;
    let lines = Lines::of(text);
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let error = parsed.errors().first().map(|error| {
        let line = script.line(lines.number(error.location.start()));
        ("the Python code does not parse", line)
    });
    let body = &parsed.syntax().body;
    let mut walk = Walk { script, lines, names: Names::of(body), analysis };
    walk.visit_body(body);
    error.map_or(Ok(()), Err)
}

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
                // The callee was judged; its object is still to be walked.
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
