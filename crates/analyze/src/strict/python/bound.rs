//! The names that a cell sets, wherever in it: collected before anything is resolved.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few set names"
)]

use super::{StrictNames, StrictPast};
use crate::strict::names::PYTHON;
use ruff_python_ast::{
    ExceptHandler, Expr, ExprContext, Identifier, Parameters, Pattern, Stmt,
    visitor::source_order::{
        SourceOrderVisitor, walk_except_handler, walk_expr, walk_parameters, walk_pattern,
        walk_stmt,
    },
};
use std::collections::{HashMap, HashSet};

/// Modules whose values give a name of an attribute another meaning.
const MEANT: [(&str, &str); 11] = [
    ("pandas", "tables"),
    ("polars", "tables"),
    ("seaborn", "tables"),
    ("plotly", "tables"),
    ("statsmodels", "tables"),
    ("sklearn", "tables"),
    ("pathlib", "pathlib"),
    ("xml", "xml"),
    ("PIL", "PIL"),
    ("zipfile", "archives"),
    ("tarfile", "archives"),
];

#[derive(Debug, Default)]
pub(super) struct Bound<'a> {
    /// The dotted paths that a name is imported from.
    pub(super) imports: HashMap<String, Vec<String>>,
    /// Names that are set otherwise.
    pub(super) names: HashSet<String>,
    /// Functions and classes.
    pub(super) functions: HashSet<String>,
    /// Names that take the rest of the named arguments.
    pub(super) spread: HashSet<String>,
    /// Attributes of its own classes.
    pub(super) attributes: HashSet<String>,
    /// The values of names that are set by `=` or as the members of a list that is gone through.
    pub(super) assigned: HashMap<String, Vec<&'a Expr>>,
    /// Names that are also set in another way.
    pub(super) others: HashSet<String>,
    /// Whether an item is set whose key is computed.
    pub(super) sets_items: bool,
    pub(super) has: HashSet<&'static str>,
    in_class: bool,
}

impl<'a> Bound<'a> {
    pub(super) fn of(body: &'a [Stmt], _past: &StrictPast) -> Self {
        let mut bound = Self::default();
        for statement in body {
            bound.visit_stmt(statement);
        }
        bound
    }

    /// The names and attributes for later cells.
    pub(super) fn names(self) -> StrictNames {
        let one = |(name, mut paths): (String, Vec<String>)| Some((name, paths.pop()?));
        StrictNames {
            imports: self.imports.into_iter().filter_map(one).collect(),
            attributes: self.attributes,
            bound: self.names,
            has: self.has,
        }
    }

    fn import(&mut self, name: &str, path: &str) {
        let root = path.split('.').next().unwrap_or(path);
        if let Some((_, has)) = MEANT.iter().find(|(module, _)| *module == root) {
            self.has.insert(has);
        }
        let paths = self.imports.entry(name.to_owned()).or_default();
        if !paths.iter().any(|one| one == path) {
            paths.push(path.to_owned());
        }
    }

    fn parameters(&mut self, parameters: &Parameters) {
        for one in parameters {
            self.names.insert(one.name().to_string());
            self.others.insert(one.name().to_string());
        }
        if let Some(rest) = &parameters.kwarg {
            self.spread.insert(rest.name.to_string());
        }
    }

    /// A target of `=`, with its value if that is its own.
    fn target(&mut self, target: &'a Expr, value: Option<&'a Expr>) {
        match (target, value) {
            (Expr::Name(name), Some(value)) => {
                self.assigned.entry(name.id.to_string()).or_default().push(value);
            }
            (Expr::Name(name), None) => {
                self.others.insert(name.id.to_string());
            }
            _ => {}
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Bound<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let was_in_class = self.in_class;
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let path = alias.name.as_str();
                    let root = path.split('.').next().unwrap_or(path);
                    match &alias.asname {
                        Some(name) => self.import(name, path),
                        None => self.import(root, root),
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map(Identifier::as_str).unwrap_or_default();
                let module = PYTHON.module(module).unwrap_or(module);
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.import(name, &format!("{module}.{}", alias.name));
                }
            }
            Stmt::FunctionDef(function) => {
                if self.in_class {
                    self.attributes.insert(function.name.to_string());
                } else {
                    self.names.insert(function.name.to_string());
                    self.functions.insert(function.name.to_string());
                    self.others.insert(function.name.to_string());
                }
                self.parameters(&function.parameters);
                self.in_class = false;
            }
            Stmt::ClassDef(class) => {
                self.names.insert(class.name.to_string());
                self.functions.insert(class.name.to_string());
                self.others.insert(class.name.to_string());
                self.in_class = true;
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.target(target, Some(&assign.value));
                }
            }
            Stmt::AnnAssign(assign) => self.target(&assign.target, assign.value.as_deref()),
            Stmt::AugAssign(assign) => self.target(&assign.target, None),
            Stmt::For(each) => match (&*each.target, &*each.iter) {
                (target, Expr::List(list)) => {
                    list.elts.iter().for_each(|one| self.target(target, Some(one)));
                }
                (target, Expr::Tuple(list)) => {
                    list.elts.iter().for_each(|one| self.target(target, Some(one)));
                }
                (target, _) => self.target(target, None),
            },
            _ => {}
        }
        walk_stmt(self, statement);
        self.in_class = was_in_class;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                if self.in_class {
                    self.attributes.insert(name.id.to_string());
                } else {
                    self.names.insert(name.id.to_string());
                    if !self.assigned.contains_key(name.id.as_str()) {
                        self.others.insert(name.id.to_string());
                    }
                }
            }
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Store => {
                if matches!(&*attribute.value, Expr::Name(own) if matches!(own.id.as_str(), "self" | "cls"))
                {
                    self.attributes.insert(attribute.attr.to_string());
                }
            }
            Expr::Subscript(subscript) if subscript.ctx == ExprContext::Store => {
                self.sets_items |= !subscript.slice.is_literal_expr();
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
            }
            // The options of a program.
            Expr::Call(call)
                if call
                    .func
                    .as_attribute_expr()
                    .is_some_and(|one| one.attr.as_str() == "add_argument") =>
            {
                let names = call.arguments.args.iter().filter_map(super::texts::literal);
                self.attributes
                    .extend(names.map(|name| name.trim_start_matches('-').replace('-', "_")));
            }
            // The fields of a named tuple.
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                if name == "namedtuple"
                    && let Some(fields) = call.arguments.find_positional(1)
                {
                    let texts = match fields {
                        Expr::List(list) => {
                            list.elts.iter().filter_map(super::texts::literal).collect()
                        }
                        other => super::texts::literal(other).into_iter().collect::<Vec<_>>(),
                    };
                    for text in texts {
                        let fields = text.split([' ', ',']).filter(|field| !field.is_empty());
                        self.attributes.extend(fields.map(str::to_owned));
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.names.insert(name.to_string());
        }
        walk_except_handler(self, handler);
    }

    fn visit_parameters(&mut self, parameters: &'a Parameters) {
        walk_parameters(self, parameters);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(one) => one.name.as_ref(),
            Pattern::MatchStar(one) => one.name.as_ref(),
            Pattern::MatchMapping(one) => one.rest.as_ref(),
            _ => None,
        };
        self.names.extend(name.map(ToString::to_string));
        walk_pattern(self, pattern);
    }
}
