//! Possible meanings of names in Python code.
//!
//! Scopes and order are not followed: whatever a name is bound to anywhere, it may mean
//! everywhere. That finds too much rather than too little.

use crate::literal::Literal;
use ruff_python_ast::{
    Expr, ExprContext, Parameter, Pattern, Stmt, WithItem,
    visitor::source_order::{
        SourceOrderVisitor, walk_expr, walk_parameter, walk_pattern, walk_stmt, walk_with_item,
    },
};
use std::collections::{HashMap, HashSet};

/// Most meanings of one name that are followed.
const MEANINGS: usize = 8;

/// How far a chain like `a.b().c` is followed.
const CHAIN: usize = 32;

/// The names of a script.
#[derive(Debug, Default)]
pub(super) struct Names {
    meanings: HashMap<String, Vec<String>>,
    modules: HashSet<String>,
    /// Modules of which everything was imported.
    stars: Vec<String>,
    constants: HashMap<String, Literal>,
}

impl Names {
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut binding = Binding::default();
        binding.visit_body(body);
        let Binding { mut names, bound, constants } = binding;
        // A name that is bound twice may hold either: then it is not known.
        names.constants = constants
            .into_iter()
            .filter(|(name, _)| bound.get(name) == Some(&1))
            .map(|(name, text)| (name, Literal::known(text)))
            .collect();
        names
    }

    /// The text of a name that is bound once, to text.
    pub(super) fn constant(&self, name: &str) -> Option<&Literal> {
        self.constants.get(name)
    }

    /// Whether an expression is a module.
    pub(super) fn is_module(&self, expression: &Expr) -> bool {
        self.resolve(expression)
            .iter()
            .any(|name| self.modules.contains(name) || name == "__builtins__")
    }

    /// The dotted names that an expression may mean.
    pub(super) fn resolve(&self, expression: &Expr) -> Vec<String> {
        let mut found = self.follow(expression, CHAIN);
        for name in &mut found {
            for prefix in ["builtins.", "__builtins__."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    *name = rest.to_owned();
                }
            }
        }
        found
    }

    fn follow(&self, expression: &Expr, left: usize) -> Vec<String> {
        let Some(left) = left.checked_sub(1) else { return unknown() };
        let each = |inner: &Expr, end: &str| -> Vec<String> {
            self.follow(inner, left).into_iter().map(|name| name + end).collect()
        };
        match expression {
            Expr::Name(name) => self.meanings_of(&name.id),
            Expr::Attribute(attribute) => each(&attribute.value, &format!(".{}", attribute.attr)),
            Expr::Call(call) => {
                let callee = self.follow(&call.func, left);
                let text = |at: usize| call.arguments.find_positional(at).and_then(plain_text);
                if callee.iter().any(|name| is_import(name)) {
                    text(0).into_iter().collect()
                } else if callee.iter().any(|name| name == "getattr") {
                    match (call.arguments.find_positional(0), text(1)) {
                        (Some(of), Some(name)) => each(of, &format!(".{name}")),
                        _ => unknown(),
                    }
                } else {
                    callee.into_iter().map(|name| name + "()").collect()
                }
            }
            Expr::Subscript(subscript) => {
                let of = self.follow(&subscript.value, left);
                match plain_text(&subscript.slice) {
                    Some(module) if of.iter().any(|name| name == "sys.modules") => vec![module],
                    _ => of.into_iter().map(|name| name + "[]").collect(),
                }
            }
            // `Path('a') / 'b'` is a path again.
            Expr::BinOp(operation) => self.follow(&operation.left, left),
            Expr::Await(inner) => self.follow(&inner.value, left),
            Expr::Named(named) => self.follow(&named.value, left),
            Expr::If(choice) => {
                let mut both = self.follow(&choice.body, left);
                both.extend(self.follow(&choice.orelse, left));
                both.truncate(MEANINGS);
                both
            }
            Expr::BoolOp(choice) => {
                let values = choice.values.iter().take(MEANINGS);
                let mut all: Vec<_> = values.flat_map(|value| self.follow(value, left)).collect();
                all.truncate(MEANINGS);
                all
            }
            _ => unknown(),
        }
    }

    fn meanings_of(&self, name: &str) -> Vec<String> {
        // The name itself comes first: elsewhere it may still be the built-in.
        let itself = std::iter::once(name.to_owned());
        let bound = self.meanings.get(name).into_iter().flatten().cloned();
        let starred = self.stars.iter().map(|module| format!("{module}.{name}"));
        itself.chain(bound).chain(starred).collect()
    }

    fn bind(&mut self, name: &str, meanings: impl IntoIterator<Item = String>) {
        let known = self.meanings.entry(name.to_owned()).or_default();
        for meaning in meanings {
            if known.len() < MEANINGS && !known.contains(&meaning) && meaning != name {
                known.push(meaning);
            }
        }
    }

    fn bind_value(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Name(name), _) => {
                let meanings = self.follow(value, CHAIN);
                self.bind(&name.id, meanings);
            }
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                for (target, value) in targets.elts.iter().zip(&values.elts) {
                    if let Expr::Name(name) = target {
                        let meanings = self.follow(value, CHAIN);
                        self.bind(&name.id, meanings);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Something without a name, whose methods still have theirs.
fn unknown() -> Vec<String> {
    vec!["?".into()]
}

fn is_import(name: &str) -> bool {
    matches!(name, "__import__" | "importlib.import_module" | "importlib.__import__")
}

fn plain_text(expression: &Expr) -> Option<String> {
    expression.as_string_literal_expr().map(|literal| literal.value.to_str().to_owned())
}

/// Whether an expression is read, not bound.
pub(super) fn is_read(expression: &Expr) -> bool {
    match expression {
        Expr::Name(name) => name.ctx == ExprContext::Load,
        Expr::Attribute(attribute) => attribute.ctx == ExprContext::Load,
        _ => false,
    }
}

/// The part before the first dot.
pub(super) fn root(expression: &Expr) -> Option<&Expr> {
    let mut inner = expression.as_attribute_expr()?;
    while let Expr::Attribute(next) = &*inner.value {
        inner = next;
    }
    Some(&inner.value)
}

/// Collects what names are bound to.
#[derive(Default)]
struct Binding {
    names: Names,
    bound: HashMap<String, usize>,
    constants: HashMap<String, String>,
}

impl Binding {
    fn count(&mut self, name: &str) {
        *self.bound.entry(name.to_owned()).or_default() += 1;
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        self.names.bind_value(target, value);
        if let (Expr::Name(name), Some(text)) = (target, plain_text(value)) {
            self.constants.insert(name.id.to_string(), text);
        }
    }

    fn import(&mut self, name: &str, meaning: String) {
        self.count(name);
        self.names.modules.insert(meaning.clone());
        self.names.bind(name, [meaning]);
    }
}

impl<'a> SourceOrderVisitor<'a> for Binding {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    let top = module.split('.').next().unwrap_or(module);
                    self.names.modules.insert(module.to_owned());
                    match &alias.asname {
                        Some(name) => self.import(name, module.to_owned()),
                        None => self.import(top, top.to_owned()),
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let Some(module) = &import.module else { return };
                for alias in &import.names {
                    if &alias.name == "*" {
                        if self.names.stars.len() < MEANINGS {
                            self.names.stars.push(module.to_string());
                        }
                    } else {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.import(name, format!("{module}.{}", alias.name));
                    }
                }
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.assign(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                }
            }
            Stmt::FunctionDef(function) => self.count(&function.name),
            Stmt::ClassDef(class) => self.count(&class.name),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.count(&name.id),
            Expr::Named(named) => self.assign(&named.target, &named.value),
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_with_item(&mut self, item: &'a WithItem) {
        if let Some(target) = &item.optional_vars {
            self.names.bind_value(target, &item.context_expr);
        }
        walk_with_item(self, item);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.count(&parameter.name);
        walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ruff_python_ast::ExceptHandler) {
        let ruff_python_ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.count(name);
        }
        ruff_python_ast::visitor::source_order::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(bound) => {
                if let Some(name) = &bound.name {
                    self.count(name);
                }
            }
            Pattern::MatchStar(bound) => {
                if let Some(name) = &bound.name {
                    self.count(name);
                }
            }
            Pattern::MatchMapping(bound) => {
                if let Some(name) = &bound.rest {
                    self.count(name);
                }
            }
            Pattern::MatchValue(_)
            | Pattern::MatchSingleton(_)
            | Pattern::MatchSequence(_)
            | Pattern::MatchClass(_)
            | Pattern::MatchOr(_) => {}
        }
        walk_pattern(self, pattern);
    }
}
