//! The names that a cell sets, wherever in it: collected before anything is resolved.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few set names"
)]

use super::{StrictNames, StrictPast};
use crate::{python::sure, strict::names::PYTHON};
use ruff_python_ast::{
    Comprehension, Decorator, ExceptHandler, Expr, ExprContext, Identifier, Keyword, Parameters,
    Pattern, Stmt, TypeParams,
    visitor::source_order::{
        SourceOrderVisitor, walk_comprehension, walk_except_handler, walk_expr, walk_keyword,
        walk_parameters, walk_pattern, walk_stmt,
    },
};
use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

/// Modules whose values give a name of an attribute another meaning.
const MEANT: [(&str, &str); 13] = [
    ("matplotlib", "figures"),
    ("seaborn", "figures"),
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

/// Whether decorators leave a function or class what it is: another kind may give back anything.
fn keeps(decorators: &[Decorator]) -> bool {
    decorators.iter().all(|one| {
        let called = one.expression.as_call_expr().map_or(&one.expression, |call| &call.func);
        super::texts::dotted(called).is_some_and(|path| {
            matches!(
                path.rsplit('.').next().unwrap_or_default(),
                "dataclass" | "lru_cache" | "cache" | "total_ordering" | "staticmethod"
            )
        })
    })
}

#[derive(Debug, Default)]
pub(super) struct Bound<'a> {
    /// The dotted paths that a name is imported from.
    pub(super) imports: HashMap<String, Vec<String>>,
    /// Names that are set otherwise.
    pub(super) names: HashSet<String>,
    /// How often each name is set, in whichever way and scope.
    counts: HashMap<String, usize>,
    /// How often each is set to a value that is known here.
    explained: HashMap<String, usize>,
    /// Functions and classes that no decorator changes.
    pub(super) functions: HashSet<String>,
    /// Classes, decorated or not.
    pub(super) classes: HashSet<String>,
    /// Names that take the rest of the named arguments.
    pub(super) spread: HashSet<String>,
    /// How often each name is read, and how often that is as `**name`.
    loads: HashMap<String, (usize, usize)>,
    /// Attributes of its own classes.
    pub(super) attributes: HashSet<String>,
    /// The values of names that are set by `=` or as the members of a list that is gone through.
    pub(super) assigned: HashMap<String, Vec<&'a Expr>>,
    /// The values that loops and `with` take a name from.
    sources: HashMap<String, Vec<&'a Expr>>,
    /// Whether an item is set whose key is computed.
    pub(super) sets_items: bool,
    pub(super) has: HashSet<&'static str>,
    /// Names that are set before the cell comes to any use of them.
    pub(super) sure: HashSet<&'a str>,
    in_class: bool,
    /// How many names are being followed to their values now, one from another.
    following: Cell<usize>,
    /// How many were followed in all.
    followed: Cell<usize>,
}

/// Names that are followed from one to another: `a = [b]` and `b = [a]` have no end.
const CHAIN: usize = 12;

/// Names that are followed in all: `a = [b, b]`, `b = [c, c]` and so on doubles each time.
const FOLLOWED: usize = 20_000;

impl<'a> Bound<'a> {
    pub(super) fn of(body: &'a [Stmt], past: &StrictPast) -> Self {
        let mut bound = Self { sure: sure::names(body), ..Self::default() };
        for statement in body {
            bound.visit_stmt(statement);
        }
        // An earlier cell may have set the same name.
        for (name, count) in &mut bound.counts {
            let is_alike = bound.functions.contains(name) && past.functions.contains(name);
            if past.knows(name) && !bound.sure.contains(name.as_str()) && !is_alike {
                *count += 1;
            }
        }
        bound
    }

    /// The names and attributes for later cells.
    pub(super) fn names(self) -> StrictNames {
        let functions: HashSet<String> =
            self.functions.iter().filter(|name| self.is_single(name)).cloned().collect();
        let locals: HashSet<String> =
            self.assigned.keys().filter(|name| self.is_local_name(name)).cloned().collect();
        let one = |(name, mut paths): (String, Vec<String>)| Some((name, paths.pop()?));
        StrictNames {
            imports: self.imports.into_iter().filter_map(one).collect(),
            attributes: self.attributes,
            bound: self.names,
            has: self.has,
            functions,
            locals,
            unsure: HashSet::new(),
        }
    }

    fn import(&mut self, name: &str, path: &str) {
        let root = path.split('.').next().unwrap_or(path);
        let meant = MEANT.iter().filter(|(module, _)| *module == root);
        self.has.extend(meant.map(|(_, has)| *has));
        self.count(name);
        let paths = self.imports.entry(name.to_owned()).or_default();
        if !paths.iter().any(|one| one == path) {
            paths.push(path.to_owned());
        }
    }

    fn count(&mut self, name: &str) {
        *self.counts.entry(name.to_owned()).or_default() += 1;
    }

    fn explain(&mut self, name: &str) {
        *self.explained.entry(name.to_owned()).or_default() += 1;
    }

    /// Whether the code sets a name at all.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.counts.contains_key(name)
    }

    /// Whether a name is set exactly once.
    pub(super) fn is_single(&self, name: &str) -> bool {
        self.counts.get(name) == Some(&1)
    }

    /// Whether a name is a function or class of the code's own and nothing else.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.is_single(name) && self.functions.contains(name)
    }

    /// The values of a name, if it is set to these and nothing else.
    pub(super) fn values(&self, name: &str) -> Option<&[&'a Expr]> {
        let is_known = self.counts.get(name) == self.explained.get(name);
        self.assigned.get(name).filter(|_| is_known).map(Vec::as_slice)
    }

    /// Whether all values of a name fit, if it is set to these and nothing else. Those that take
    /// too long to follow don't.
    pub(super) fn all_values(&self, name: &str, fits: impl Fn(&'a Expr) -> bool) -> bool {
        let Some(values) = self.values(name) else { return false };
        let (depth, sum) = (self.following.get(), self.followed.get());
        if depth >= CHAIN || sum >= FOLLOWED {
            return false;
        }
        self.following.set(depth + 1);
        self.followed.set(sum + 1);
        let all_fit = values.iter().all(|one| fits(one));
        self.following.set(depth);
        all_fit
    }

    /// The values that loops or `with` take a name from, if it is set by these and nothing else.
    pub(super) fn sources(&self, name: &str) -> Option<&[&'a Expr]> {
        let sources = self.sources.get(name)?;
        (self.counts.get(name) == Some(&sources.len())).then_some(sources.as_slice())
    }

    fn source(&mut self, target: &Expr, from: &'a Expr) {
        if let Expr::Name(name) = target {
            self.sources.entry(name.id.to_string()).or_default().push(from);
        }
    }

    /// Whether a name is read only as `**name`: nothing can have put more into it.
    pub(super) fn is_only_spread(&self, name: &str) -> bool {
        self.loads.get(name).is_none_or(|(reads, spreads)| reads == spreads)
    }

    fn is_local_name(&self, name: &str) -> bool {
        self.values(name).is_some_and(|all| all.iter().all(|one| super::texts::is_local_text(one)))
    }

    fn parameters(&mut self, parameters: &Parameters) {
        for one in parameters {
            self.names.insert(one.name().to_string());
            self.count(one.name());
        }
        if let Some(rest) = &parameters.kwarg {
            self.spread.insert(rest.name.to_string());
        }
    }

    fn type_parameters(&mut self, parameters: Option<&TypeParams>) {
        for one in parameters.into_iter().flat_map(|all| &all.type_params) {
            self.count(one.name());
        }
    }

    /// A target of `=`, with its value if that is its own.
    fn target(&mut self, target: &'a Expr, value: Option<&'a Expr>) {
        if let (Expr::Name(name), Some(value)) = (target, value) {
            self.assigned.entry(name.id.to_string()).or_default().push(value);
            self.explain(&name.id);
        }
    }

    /// A loop over a list that stands in the code.
    fn members(&mut self, target: &'a Expr, list: &'a [Expr]) {
        let Expr::Name(name) = target else { return };
        if !list.iter().any(Expr::is_starred_expr) {
            self.assigned.entry(name.id.to_string()).or_default().extend(list);
            self.explain(&name.id);
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
                self.count(&function.name);
                if self.in_class {
                    self.attributes.insert(function.name.to_string());
                } else {
                    self.names.insert(function.name.to_string());
                    if keeps(&function.decorator_list) {
                        self.functions.insert(function.name.to_string());
                    }
                }
                self.type_parameters(function.type_params.as_deref());
                self.parameters(&function.parameters);
                self.in_class = false;
            }
            Stmt::ClassDef(class) => {
                self.count(&class.name);
                self.names.insert(class.name.to_string());
                self.classes.insert(class.name.to_string());
                if keeps(&class.decorator_list) {
                    self.functions.insert(class.name.to_string());
                }
                self.type_parameters(class.type_params.as_deref());
                self.in_class = true;
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.target(target, Some(&assign.value));
                }
            }
            Stmt::AnnAssign(assign) => self.target(&assign.target, assign.value.as_deref()),
            Stmt::For(each) => match &*each.iter {
                Expr::List(list) => self.members(&each.target, &list.elts),
                Expr::Tuple(list) => self.members(&each.target, &list.elts),
                from => self.source(&each.target, from),
            },
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.source(target, &item.context_expr);
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
        self.in_class = was_in_class;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                self.count(&name.id);
                if self.in_class {
                    self.attributes.insert(name.id.to_string());
                } else {
                    self.names.insert(name.id.to_string());
                }
            }
            Expr::Name(name) => self.loads.entry(name.id.to_string()).or_default().0 += 1,
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

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        if let (None, Expr::Name(name)) = (&keyword.arg, &keyword.value) {
            self.loads.entry(name.id.to_string()).or_default().1 += 1;
        }
        walk_keyword(self, keyword);
    }

    fn visit_comprehension(&mut self, one: &'a Comprehension) {
        self.source(&one.target, &one.iter);
        walk_comprehension(self, one);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.names.insert(name.to_string());
            self.count(name);
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
        if let Some(name) = name {
            self.names.insert(name.to_string());
            self.count(name);
        }
        walk_pattern(self, pattern);
    }
}
