//! Modules that Python code hands on: what is called of them elsewhere is not followed.
//!
//! A module that is an argument, a result, an attribute or an element leaves the names that are
//! followed. Only modules of which something grave can be called count, so that `np` and `pd` go
//! wherever they like.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::names::{CHAIN, Names, is_import};
use crate::{rules::Rules, syntax::Syntax};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use std::collections::HashSet;

/// Functions to which a module is no more than something to look at.
const LOOKING: &str = "\
    bool callable dir getattr hasattr help id importlib.reload inspect.getdoc inspect.getfile \
    inspect.getsource inspect.getsourcefile inspect.ismodule isinstance len pprint.pprint \
    print repr str sys.getsizeof type vars";

/// The names of modules of which something grave can be called.
#[derive(Debug)]
pub(super) struct Harmful {
    names: HashSet<String>,
    rules: Rules,
}

impl Harmful {
    pub(super) fn of(names: &Names, rules: &Rules) -> Self {
        let mut harmful = Self { names: HashSet::new(), rules: rules.clone() };
        for (name, meaning) in names.modules() {
            if harmful.is_module(meaning) {
                harmful.names.insert(name.to_owned());
            }
        }
        harmful
    }

    fn is_module(&self, name: &str) -> bool {
        matches!(name, "builtins" | "__builtins__" | "importlib")
            || self.rules.is_harmful(Syntax::Python, name)
    }

    /// Whether an expression is such a module.
    pub(super) fn is(&self, expression: &Expr, names: &Names) -> bool {
        let is_module = || names.follow(expression, CHAIN).iter().any(|name| self.is_module(name));
        match expression {
            Expr::Name(name) => self.names.contains(name.id.as_str()) || name.id == "__builtins__",
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(root) => {
                    self.names.contains(root.id.as_str())
                        && names.is_module(expression)
                        && is_module()
                }
                _ => false,
            },
            Expr::Call(call) => {
                let may_import = match &*call.func {
                    Expr::Name(_) => true,
                    Expr::Attribute(callee) => callee.value.is_name_expr(),
                    _ => false,
                };
                let callee = || names.follow(&call.func, CHAIN);
                may_import && callee().iter().any(|name| is_import(name)) && is_module()
            }
            Expr::Starred(inner) => self.is(&inner.value, names),
            _ => false,
        }
    }

    /// Those of a statement's expressions that hand something on.
    pub(super) fn handed_by_statement(statement: &Stmt) -> Vec<&Expr> {
        let is_kept = |target: &Expr| target.is_attribute_expr() || target.is_subscript_expr();
        match statement {
            Stmt::Return(result) => result.value.iter().map(|value| &**value).collect(),
            Stmt::Assign(assign) if assign.targets.iter().any(is_kept) => vec![&assign.value],
            Stmt::AnnAssign(assign) if is_kept(&assign.target) => {
                assign.value.iter().map(|value| &**value).collect()
            }
            // Attributes of the class.
            Stmt::ClassDef(class) => class.body.iter().filter_map(assigned).collect(),
            Stmt::FunctionDef(function) => {
                let all = function.parameters.iter_non_variadic_params();
                all.filter_map(|one| one.default.as_deref()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Those parts of an expression that it hands on.
    pub(super) fn handed_by_expression(expression: &Expr) -> Vec<&Expr> {
        match expression {
            Expr::List(list) => list.elts.iter().collect(),
            Expr::Tuple(list) => list.elts.iter().collect(),
            Expr::Set(list) => list.elts.iter().collect(),
            Expr::Dict(table) => table.items.iter().map(|one| &one.value).collect(),
            Expr::Lambda(function) => vec![&function.body],
            Expr::Yield(one) => one.value.iter().map(|value| &**value).collect(),
            _ => Vec::new(),
        }
    }

    /// The arguments of a call that hand something on, if they do.
    pub(super) fn handed_by_call<'a>(call: &'a ExprCall, names: &[String]) -> Vec<&'a Expr> {
        if names.iter().any(|name| LOOKING.split(' ').any(|one| one == name)) {
            return Vec::new();
        }
        let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        call.arguments.args.iter().chain(keywords).collect()
    }
}

/// The value that a statement assigns.
fn assigned(statement: &Stmt) -> Option<&Expr> {
    match statement {
        Stmt::Assign(assign) => Some(&assign.value),
        Stmt::AnnAssign(assign) => assign.value.as_deref(),
        _ => None,
    }
}
