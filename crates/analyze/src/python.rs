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
    analysis::{Analysis, Script},
    call::{self, Call},
    literal::Literal,
    meanings::Meanings,
    past::Known,
    rules::Rules,
    says::{Says, Site},
    strict,
    syntax::Syntax,
    words,
};
use handed::Harmful;
use interpreter_core::{Deed, Risk};
use lines::Lines;
use loops::Ending;
use names::Names;
use ruff_python_ast::{
    Expr, ExprCall, ExprContext, PySourceType, Stmt, StmtFunctionDef,
    visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt},
};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged, TextRange};
use std::rc::Rc;
use values::{DEPTH, Reader};

mod assignments;
mod binding;
mod depth;
mod encoding;
mod handed;
pub(crate) mod lines;
mod loops;
mod names;
mod notebook;
pub(crate) mod sure;
mod values;

pub use assignments::assignments;

/// Finds what a Python script does.
pub(crate) fn read(mut script: Script, analysis: &mut Analysis) {
    let past = std::mem::take(&mut script.known);
    let script = &script;
    if let Some(line) = encoding::foreign(&script.text) {
        analysis.unreadable("the code says that it is not UTF-8", script.line(line));
    }
    // Python's newlines are all the same to it.
    let text = script.text.replace("\r\n", "\n").replace('\r', "\n");
    let Some(notebook) = notebook::read(&text) else {
        if let Err((why, line)) = read_text(&text, past, script, false, analysis) {
            analysis.unreadable(why, line);
        }
        return;
    };
    for one in &notebook.scripts {
        analysis.nest_lines(script, Syntax::Shell, &one.text, one.line);
    }
    if notebook.cut {
        analysis.refuse("too many commands", script.line(1));
    }
    // The kernel reads as a notebook's only what is not Python as it stands. Here both readings
    // count, since another Python may have more or less to say than the one that runs.
    let is_python =
        !notebook.foreign && read_text(&text, past.clone(), script, true, analysis).is_ok();
    if !is_python
        && let Err((why, line)) = read_text(&notebook.python, past, script, true, analysis)
    {
        analysis.unreadable(why, line);
    }
}

/// The code with the commands and magics of a notebook in words of Python, line by line.
pub(crate) fn without_commands(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    notebook::read(&text).map_or(text, |notebook| notebook.python)
}

/// Whether a text is Python, as the kernel reads it. In doubt it is.
pub(crate) fn parses(text: &str) -> bool {
    let text = without_commands(text);
    depth::check(&text).is_err()
        || parse_unchecked_source(&text, PySourceType::Python).errors().is_empty()
}

/// Whether a text nests too deep to be parsed.
pub(crate) fn is_too_deep(text: &str) -> bool {
    depth::check(text).is_err()
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
    past: Known,
    script: &Script,
    is_notebook: bool,
    analysis: &mut Analysis,
) -> Result<(), (&'static str, Site)> {
    if let Err(why) = depth::check(text) {
        if why == depth::TOO_DEEP {
            words::refuse(script, why, analysis);
        }
        analysis.learn(script, past);
        return Err((why, script.line(1)));
    }
    let lines = Lines::of(text);
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let is_read = parsed.errors().is_empty() && encoding::foreign(text).is_none();
    if is_read
        && !is_notebook
        && let Some(strict) = analysis.strict_for(script)
    {
        strict::python::judge(&parsed.syntax().body, &lines, strict);
    }
    let error = parsed.errors().first().map(|error| {
        let line = script.line(lines.number(error.location.start()));
        ("the Python code does not parse", line)
    });
    let body = &parsed.syntax().body;
    let kept = Meanings { rules: analysis.rules.clone(), syntax: Syntax::Python };
    let names = Names::new(past, Rc::clone(analysis.fuel()), kept);
    let names = binding::bind(body, names, script, &lines);
    let rules = analysis.rules.clone();
    let harmful = Harmful::of(&names, &rules);
    let mut walk = Walk { script, lines, names, harmful, rules, analysis };
    walk.visit_body(body);
    let Walk { names, analysis, .. } = walk;
    if names.fuel.is_spent() {
        analysis.refuse("its names take too long to follow", script.line(1));
    }
    let learned = names.learned(analysis.so_far());
    analysis.learn(script, learned);
    error.map_or(Ok(()), Err)
}

struct Walk<'a> {
    script: &'a Script,
    lines: Lines<'a>,
    names: Names,
    harmful: Harmful,
    rules: Rules,
    analysis: &'a mut Analysis,
}

impl Walk<'_> {
    fn site(&self, range: TextRange) -> Site {
        let line = self.lines.number(range.start());
        self.script.stretch(line, self.lines.columns(range))
    }

    fn say(&mut self, deed: Deed, severity: Risk, why: &str, range: TextRange) {
        let at = self.site(range);
        self.analysis.note(Says::new(deed, severity, why), &Literal::default(), at);
    }

    fn import(&mut self, module: &str, range: TextRange) {
        let at = self.site(range);
        call::import(self.rules.on_import(Syntax::Python, module), module, at, self.analysis);
    }

    fn environment(&mut self, name: &Expr, range: TextRange) {
        let name = Reader { names: &self.names }.text(name, DEPTH);
        let at = self.site(range);
        let says = Says::new(Deed::Environment, Risk::Low, "a variable of the environment");
        self.analysis.note(says, &name, at);
    }

    fn is_environment(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Name(_) | Expr::Attribute(_))
            && Reader { names: &self.names }.is_environment(expression)
    }

    /// Notes those of these expressions that are modules.
    fn hand_on(&mut self, handed: &[&Expr]) {
        for one in handed {
            if self.harmful.is(one, &self.names) {
                let at = self.site(one.range());
                self.analysis.hands_on(at);
            }
        }
    }

    /// A function that calls itself whatever happens.
    fn recursion(&mut self, function: &StmtFunctionDef) {
        if loops::calls_itself(function) {
            let why = "a function that calls itself without an end";
            self.say(Deed::Endless, Risk::Medium, why, function.name.range());
        }
    }

    /// A loop that only something inside it ends.
    fn endless(&mut self, body: &[Stmt], range: TextRange) {
        let ending = loops::ending(body);
        if ending != Ending::Ends {
            self.say(Deed::Endless, Risk::Medium, "a loop without an end", range);
        }
        if ending == Ending::Growing {
            self.say(Deed::Floods, Risk::Medium, "a loop that takes more each time", range);
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let names = self.names.resolve(&call.func);
        let rules = self.rules.on_call(Syntax::Python, &names);
        if !rules.is_empty() {
            let at = self.site(call.range());
            let call = Call::for_rules(&rules, at, || values::call(call, &self.names, at));
            call.judge(&rules, self.script, self.analysis);
        }
        self.hand_on(&Harmful::handed_by_call(call, &names));
        if let Expr::Attribute(getter) = &*call.func
            && matches!(getter.attr.as_str(), "__getattribute__" | "__getattr__")
            && self.names.is_module(&getter.value)
            && let Some(name) = call.arguments.find_positional(0)
            && (Reader { names: &self.names }).text(name, DEPTH).whole().is_none()
        {
            let why = "which function of a module it takes is computed";
            self.say(Deed::Hides, Risk::High, why, call.range());
        }
        if let Expr::Name(name) = &*call.func {
            for &says in self.names.does(&name.id) {
                let at = self.site(call.range());
                self.analysis.note(says, &Literal::computed(), at);
            }
        }
        if loops::makes_too_much(&names, call) {
            self.say(Deed::Floods, Risk::Medium, "more than a machine holds", call.range());
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.hand_on(&Harmful::handed_by_statement(statement));
        match statement {
            Stmt::FunctionDef(function) => self.recursion(function),
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(&alias.name, import.range());
                }
            }
            Stmt::ImportFrom(import) => {
                if let Some(module) = &import.module {
                    self.import(module, import.range());
                }
            }
            Stmt::While(endless) if loops::always(&endless.test) => {
                self.endless(&endless.body, endless.range());
            }
            Stmt::For(each) => {
                if let Expr::Call(source) = &*each.iter
                    && loops::is_endless_source(&self.names.resolve(&source.func), source)
                {
                    self.endless(&each.body, each.range());
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.hand_on(&Harmful::handed_by_expression(expression));
        match expression {
            Expr::Call(call) => {
                self.call(call);
                // The callee was judged; its object is still to be walked.
                if let Expr::Attribute(callee) = &*call.func {
                    if !self.is_environment(&callee.value) {
                        self.visit_expr(&callee.value);
                    }
                } else if !call.func.is_name_expr() {
                    self.visit_expr(&call.func);
                }
                self.visit_arguments(&call.arguments);
            }
            Expr::Subscript(subscript) if self.is_environment(&subscript.value) => {
                if subscript.ctx == ExprContext::Load {
                    self.environment(&subscript.slice, subscript.range());
                }
                self.visit_expr(&subscript.slice);
            }
            // `"HOME" in os.environ`.
            Expr::Compare(compare)
                if compare.comparators.iter().any(|side| self.is_environment(side)) =>
            {
                self.visit_expr(&compare.left);
            }
            Expr::BinOp(operation) if loops::is_too_large(operation) => {
                let range = operation.range();
                self.say(Deed::Floods, Risk::Medium, "more than a machine holds", range);
            }
            Expr::Name(_) | Expr::Attribute(_) if names::is_read(expression) => {
                let names = self.names.resolve(expression);
                if self.rules.on_mention(Syntax::Python, &names).next().is_some() {
                    let at = self.site(expression.range());
                    let rules = self.rules.on_mention(Syntax::Python, &names);
                    call::mention(rules, at, self.analysis);
                }
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
