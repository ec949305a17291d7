//! Collects what names are bound to in Python code: first how often, then to what.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::{
    lines::Lines,
    names::{CHAIN, Names, STARS, is_import, item},
    sure,
    values::{DEPTH, Reader},
};
use crate::analysis::Script;
use ruff_python_ast::{
    Expr, ExprCall, ExprContext, Parameter, Pattern, Stmt, WithItem,
    visitor::source_order::{
        SourceOrderVisitor, walk_expr, walk_parameter, walk_pattern, walk_stmt, walk_with_item,
    },
};
use ruff_text_size::Ranged;

/// The names of a script, after what is known of the session.
pub(super) fn bind(body: &[Stmt], names: Names, script: &Script, lines: &Lines<'_>) -> Names {
    let mut counting = Counting(names);
    counting.visit_body(body);
    counting.0.sure = sure::names(body).into_iter().map(str::to_owned).collect();
    let mut binding = Binding { names: counting.0, script, lines };
    binding.visit_body(body);
    binding.names
}

/// Counts how often names are bound.
struct Counting(Names);

impl Counting {
    fn count(&mut self, name: &str) {
        *self.0.bound.entry(name.to_owned()).or_default() += 1;
    }
}

impl<'a> SourceOrderVisitor<'a> for Counting {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.count(name.split('.').next().unwrap_or(name));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.count(alias.asname.as_ref().unwrap_or(&alias.name));
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
            Expr::Call(call) => {
                if let Expr::Attribute(callee) = &*call.func
                    && let Expr::Name(list) = &*callee.value
                    && matches!(callee.attr.as_str(), "append" | "extend" | "insert")
                {
                    self.0.growing.insert(list.id.to_string());
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
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

/// Collects what names are bound to.
struct Binding<'a> {
    names: Names,
    script: &'a Script,
    lines: &'a Lines<'a>,
}

impl Binding<'_> {
    fn assign(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Name(name), _) => {
                let meanings = self.names.follow(value, CHAIN);
                self.names.bind(&name.id, meanings);
                // A name that is bound twice may hold either: then it is not known.
                if self.names.bound.get(name.id.as_str()) == Some(&1) {
                    let mut held = Reader { names: &self.names }.value_within(value, DEPTH);
                    if self.names.growing.contains(name.id.as_str()) {
                        held.grow();
                    }
                    if held.is_known() {
                        self.names.fresh.values.insert(name.id.to_string(), held);
                    }
                }
            }
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                for (target, value) in targets.elts.iter().zip(&values.elts) {
                    if target.is_name_expr() {
                        self.assign(target, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// `[p.kill() for p in psutil.process_iter()]`: the names of a comprehension.
    fn comprehend(&mut self, expression: &Expr) {
        let generators = match expression {
            Expr::ListComp(each) => &each.generators,
            Expr::SetComp(each) => &each.generators,
            Expr::DictComp(each) => &each.generators,
            Expr::Generator(each) => &each.generators,
            _ => return,
        };
        for each in generators {
            if let Expr::Name(name) = &each.target {
                let items: Vec<_> =
                    self.names.follow(&each.iter, CHAIN).into_iter().map(item).collect();
                self.names.bind(&name.id, items);
            }
        }
    }

    /// A call that imports a module.
    fn call(&mut self, call: &ExprCall) {
        let may_import = match &*call.func {
            Expr::Name(_) => true,
            Expr::Attribute(callee) => {
                matches!(callee.attr.as_str(), "__import__" | "import_module")
            }
            _ => false,
        };
        if may_import
            && let Some(Expr::StringLiteral(module)) = call.arguments.find_positional(0)
            && self.names.follow(&call.func, CHAIN).iter().any(|name| is_import(name))
        {
            self.names.fresh.modules.insert(module.value.to_str().to_owned());
        }
    }

    fn import(&mut self, name: &str, meaning: String) {
        self.names.fresh.modules.insert(meaning.clone());
        self.names.bind(name, [meaning]);
    }
}

impl<'a> SourceOrderVisitor<'a> for Binding<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    let top = module.split('.').next().unwrap_or(module);
                    self.names.fresh.modules.insert(module.to_owned());
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
                        let stars = &mut self.names.fresh.stars;
                        let is_known = stars.iter().any(|star| star == module.as_str());
                        if !is_known && stars.len() < STARS {
                            stars.push(module.to_string());
                        } else if !is_known {
                            self.names.fuel.cut();
                        }
                    } else {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name);
                        self.import(name, format!("{module}.{}", alias.name));
                    }
                }
            }
            Stmt::Assign(assign) => {
                self.comprehend(&assign.value);
                for target in &assign.targets {
                    self.assign(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                }
            }
            Stmt::For(each) => {
                if let Expr::Name(name) = &*each.target {
                    let items = self.names.follow(&each.iter, CHAIN).into_iter();
                    let items: Vec<_> = items.map(item).collect();
                    self.names.bind(&name.id, items);
                }
            }
            Stmt::FunctionDef(function) => {
                let line = |offset| self.script.line(self.lines.number(offset)).line;
                let lines = line(function.start())..=line(function.end());
                self.names.bodies.push((function.name.to_string(), lines));
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Named(named) => self.assign(&named.target, &named.value),
            Expr::Call(call) => self.call(call),
            _ => self.comprehend(expression),
        }
        walk_expr(self, expression);
    }

    fn visit_with_item(&mut self, item: &'a WithItem) {
        if let Some(target) = &item.optional_vars {
            self.assign(target, &item.context_expr);
        }
        walk_with_item(self, item);
    }
}
