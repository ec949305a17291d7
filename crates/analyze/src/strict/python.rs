//! Python: whether every name is known.
//!
//! Names are resolved without regard to order or scope, so that a name which is a module anywhere in
//! the code is one everywhere. Modules can't be handed on; all that can is harmless.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node; those that hold no name are walked as they are"
)]

use super::{
    Strict, StrictNames, StrictPast,
    names::{PYTHON, PythonNames},
};
use crate::python::lines::Lines;
use bound::Bound;
use ruff_python_ast::{
    Alias, Decorator, Expr, ExprCall, ExprContext, Identifier, Keyword, Pattern, Stmt,
    visitor::source_order::{
        SourceOrderVisitor, walk_expr, walk_pattern, walk_pattern_keyword, walk_stmt,
    },
};
use ruff_text_size::{Ranged, TextRange};

mod bound;
pub(crate) mod special;
mod texts;

/// Reads a whole cell.
pub(crate) fn judge(body: &[Stmt], lines: &Lines<'_>, strict: &mut Strict) {
    let bound = Bound::of(body, &strict.past);
    let past = std::mem::take(&mut strict.past);
    let mut walk = StrictWalk { names: &PYTHON, lines, bound: &bound, past: &past, strict };
    for statement in body {
        walk.visit_stmt(statement);
    }
    let names = bound.names();
    strict.past = past;
    strict.finish();
    strict.learn(names);
}

/// The kind of thing that an expression may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Harmless, whatever is done with it.
    Value,
    /// A module, or a package that holds one.
    Module(&'static str),
    /// To be called by its name, and found then.
    Found(&'static str),
    /// To be used only as its own check allows.
    Special(&'static str),
    /// Not known; that was noted.
    Unknown,
}

pub(super) struct StrictWalk<'w, 'a> {
    pub(super) names: &'static PythonNames,
    lines: &'w Lines<'a>,
    bound: &'w Bound<'a>,
    pub(super) past: &'w StrictPast,
    strict: &'w mut Strict,
}

impl<'a> StrictWalk<'_, 'a> {
    pub(super) fn unknown(&mut self, name: &str, range: TextRange) -> Kind {
        let line = u32::try_from(self.lines.number(range.start())).unwrap_or(u32::MAX);
        self.strict.unknown(name, line);
        Kind::Unknown
    }

    /// Whether the session has come by a module.
    pub(super) fn has(&self, module: &str) -> bool {
        self.bound.has.contains(module) || self.past.has.contains(module)
    }

    /// The kind of thing that a name stands for.
    pub(super) fn name(&mut self, name: &str, range: TextRange) -> Kind {
        let imported = self.bound.imports.get(name).map(Vec::as_slice);
        let earlier = self.past.imports.get(name);
        let is_set = self.bound.names.contains(name);
        if imported.is_some() || earlier.is_some() {
            let paths = imported.unwrap_or_default().iter().chain(earlier);
            let mut kinds = paths.map(|path| special::path(self.names, path));
            let first = kinds.next().flatten();
            return match first {
                Some(kind) if kinds.all(|other| other == first) => {
                    if is_set && kind != Kind::Value {
                        return self.unknown(name, range);
                    }
                    kind
                }
                _ => self.unknown(name, range),
            };
        }
        if name == "open" {
            return Kind::Found("open");
        }
        if matches!(name, "getattr" | "setattr") {
            return Kind::Special(if name == "getattr" { "getattr" } else { "setattr" });
        }
        if name == "type" {
            return Kind::Special("type");
        }
        if self.names.is_refused(name) {
            return self.unknown(name, range);
        }
        if self.names.is_builtin(name) && !self.past.foreign.contains(name) {
            return Kind::Value;
        }
        let is_foreign = self.past.foreign.contains(name)
            || (self.past.is_foreign && !is_set && !self.past.known.contains(name));
        if is_foreign || is_dunder(name) {
            return self.unknown(name, range);
        }
        // It is set by code that is understood, or by nothing, which ends the code.
        Kind::Value
    }

    /// The kind of thing that an expression may be. Notes everything in it that isn't known.
    pub(super) fn expression(&mut self, expression: &'a Expr) -> Kind {
        match expression {
            Expr::Name(name) => self.name(&name.id, name.range()),
            Expr::Attribute(attribute) => {
                let (name, range) = (attribute.attr.as_str(), attribute.range());
                let base = if special::is_of_columns(name) && self.takes_a_column(&attribute.value)
                {
                    Kind::Value
                } else {
                    self.expression(&attribute.value)
                };
                match attribute.ctx {
                    ExprContext::Load => self.attribute(base, &attribute.value, name, range),
                    _ => self.set_attribute(base, expression, name, range),
                }
            }
            Expr::Call(call) => self.call(call),
            Expr::Subscript(subscript) => {
                let base = if self.takes_a_column(&subscript.value) {
                    Kind::Value
                } else {
                    self.expression(&subscript.value)
                };
                self.value(&subscript.slice);
                match base {
                    Kind::Value => Kind::Value,
                    Kind::Special(name) if special::may_index(name, subscript) => Kind::Value,
                    Kind::Unknown => Kind::Unknown,
                    Kind::Module(name) | Kind::Found(name) | Kind::Special(name) => {
                        self.unknown(name, subscript.range())
                    }
                }
            }
            Expr::BinOp(one) => {
                self.operand(&one.left);
                self.operand(&one.right);
                Kind::Value
            }
            // `"HOME" in os.environ`.
            Expr::Compare(compare) => {
                self.operand(&compare.left);
                for side in &compare.comparators {
                    if self.takes_a_column(side) {
                        continue;
                    }
                    match self.expression(side) {
                        Kind::Value | Kind::Unknown | Kind::Special("os.environ") => {}
                        Kind::Module(name) | Kind::Found(name) | Kind::Special(name) => {
                            self.unknown(name, side.range());
                        }
                    }
                }
                Kind::Value
            }
            Expr::IpyEscapeCommand(command) => self.unknown("a command", command.range()),
            _ => {
                walk_expr(self, expression);
                Kind::Value
            }
        }
    }

    /// An expression of which only an operator takes the value: a column may be named there.
    fn operand(&mut self, expression: &'a Expr) {
        if !self.takes_a_column(expression) {
            self.value(expression);
        }
    }

    /// Whether an expression is an attribute that no list knows, taken from a value where a function
    /// would do nothing: then it is the name of a column, or an error. Walks what it is taken from.
    fn takes_a_column(&mut self, expression: &'a Expr) -> bool {
        let Expr::Attribute(attribute) = expression else { return false };
        let name = attribute.attr.as_str();
        let is_column = attribute.ctx == ExprContext::Load
            && !name.starts_with('_')
            && !name.ends_with('_')
            && !special::depends(name)
            && !self.names.is_method(name)
            && !self.names.is_risky(name)
            && !matches!(&*attribute.value, Expr::Attribute(_));
        // Names of modules are resolved as such.
        let is_value = match &*attribute.value {
            Expr::Name(of) => {
                !self.bound.imports.contains_key(of.id.as_str())
                    && !self.past.imports.contains_key(of.id.as_str())
            }
            _ => true,
        };
        if is_column && is_value {
            self.value(&attribute.value);
            return true;
        }
        false
    }

    /// An expression that is handed on or stands for itself: it must be a value.
    pub(super) fn value(&mut self, expression: &'a Expr) {
        match self.expression(expression) {
            Kind::Value | Kind::Unknown => {}
            Kind::Module(name) | Kind::Found(name) | Kind::Special(name) => {
                self.unknown(name, expression.range());
            }
        }
    }

    /// An attribute that is read but not called.
    fn attribute(&mut self, base: Kind, of: &Expr, name: &str, range: TextRange) -> Kind {
        match base {
            Kind::Module(module) => self.member(module, name, range),
            Kind::Special(outer) => match special::member(outer, name) {
                Some(kind) => kind,
                None => self.unknown(&format!("{outer}.{name}"), range),
            },
            Kind::Found(outer) => self.unknown(&format!("{outer}.{name}"), range),
            Kind::Unknown => Kind::Unknown,
            Kind::Value if self.may_take(of, name) => Kind::Value,
            Kind::Value => self.unknown(&format!(".{name}"), range),
        }
    }

    /// A name of a module.
    fn member(&mut self, module: &'static str, name: &str, range: TextRange) -> Kind {
        special::path(self.names, &format!("{module}.{name}"))
            .unwrap_or_else(|| self.unknown(&format!("{module}.{name}"), range))
    }

    /// Whether an attribute may be taken from any value without calling it.
    pub(super) fn may_take(&self, of: &Expr, name: &str) -> bool {
        if name.starts_with('_') {
            // A class's own private names, of itself.
            let is_self =
                matches!(of, Expr::Name(own) if matches!(own.id.as_str(), "self" | "cls"));
            return matches!(name, "__name__" | "__doc__")
                || (name == "__init__" && is_super(of))
                || (is_self && !is_dunder(name) && self.is_own(name));
        }
        if special::depends(name) || self.names.is_found_method(name) {
            return (special::is_plain_without(name) && !self.has("pathlib"))
                || (name == "query" && !self.has("tables"));
        }
        self.names.is_method(name)
            || (self.is_own(name) && !self.names.is_risky(name))
            || (name.ends_with('_') && !self.names.is_risky(name.trim_end_matches('_')))
    }

    fn is_own(&self, name: &str) -> bool {
        self.bound.attributes.contains(name) || self.past.attributes.contains(name)
    }

    fn set_attribute(&mut self, base: Kind, whole: &Expr, name: &str, range: TextRange) -> Kind {
        let is_plain = !is_dunder(name) && !matches!(name, "backend" | "usetex");
        match base {
            Kind::Value if is_plain => Kind::Value,
            Kind::Special(outer) if special::may_set(outer) && is_plain => Kind::Value,
            Kind::Unknown => Kind::Unknown,
            _ => {
                let text = crate::strict::python::texts::dotted(whole);
                self.unknown(text.as_deref().unwrap_or(name), range)
            }
        }
    }

    fn call(&mut self, call: &'a ExprCall) -> Kind {
        let callee = match &*call.func {
            Expr::Attribute(attribute) => {
                let (name, range) = (attribute.attr.as_str(), attribute.range());
                let base = if special::is_of_columns(name) && self.takes_a_column(&attribute.value)
                {
                    Kind::Value
                } else {
                    self.expression(&attribute.value)
                };
                if base == Kind::Value {
                    return self.method(call, &attribute.value, name);
                }
                self.attribute(base, &attribute.value, name, range)
            }
            other => self.expression(other),
        };
        match callee {
            Kind::Value => {
                let is_own =
                    matches!(&*call.func, Expr::Name(name) if self.is_own_function(&name.id));
                self.arguments(call, is_own);
            }
            Kind::Found(name) => self.found(name, call),
            Kind::Special(name) => self.special(name, call),
            Kind::Module(name) => {
                self.unknown(name, call.range());
            }
            Kind::Unknown => self.arguments(call, true),
        }
        Kind::Value
    }

    fn is_own_function(&self, name: &str) -> bool {
        self.bound.functions.contains(name) || name == "dict"
    }

    /// A call of something that a value has.
    fn method(&mut self, call: &'a ExprCall, of: &'a Expr, name: &str) -> Kind {
        let range = call.func.range();
        if special::depends(name) && !(self.is_own(name) && is_own_receiver(of)) {
            self.dependent(name, of, call);
        } else if self.names.is_found_method(name) {
            self.found(name, call);
        } else if self.may_take(of, name) || (self.is_own(name) && is_own_receiver(of)) {
            self.arguments(call, self.is_own(name));
        } else {
            self.unknown(&format!(".{name}"), range);
            self.arguments(call, true);
        }
        Kind::Value
    }

    /// A call that the lenient walk finds: by its name, with its arguments in their places.
    fn found(&mut self, name: &str, call: &'a ExprCall) {
        let is_spread = call.arguments.args.iter().any(Expr::is_starred_expr)
            || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        if is_spread || (special::is_archive(name) && !special::only_reads(call)) {
            self.unknown(name, call.range());
        }
        self.arguments(call, false);
    }

    /// The arguments of a call: harmless ones, by names that don't change what it does.
    pub(super) fn arguments(&mut self, call: &'a ExprCall, is_own: bool) {
        for argument in &call.arguments.args {
            self.value(argument);
        }
        for keyword in &call.arguments.keywords {
            self.value(&keyword.value);
            self.keyword(keyword, is_own);
        }
    }

    fn keyword(&mut self, keyword: &'a Keyword, is_own: bool) {
        match &keyword.arg {
            Some(name) if special::REFUSED_KEYWORDS.contains(&name.as_str()) => {
                self.unknown(&format!("{name}="), keyword.range());
            }
            Some(name) if special::FUNCTION_KEYWORDS.contains(&name.as_str()) => {
                if !self.is_function(&keyword.value) {
                    self.unknown(&format!("{name}="), keyword.range());
                }
            }
            Some(_) => {}
            None if is_own || self.spreads_plain(&keyword.value) => {}
            None => {
                self.unknown("**", keyword.range());
            }
        }
    }

    /// Whether the names that `**` hands on are known.
    fn spreads_plain(&self, value: &Expr) -> bool {
        let is_plain = |dict: &Expr| {
            dict.as_dict_expr().is_some_and(|dict| {
                dict.items.iter().all(|item| {
                    let key = item.key.as_ref().and_then(texts::literal);
                    key.is_some_and(|key| {
                        !special::REFUSED_KEYWORDS.contains(&key.as_str())
                            && !special::FUNCTION_KEYWORDS.contains(&key.as_str())
                    })
                })
            }) || dict.as_call_expr().is_some_and(|call| {
                call.func.as_name_expr().is_some_and(|name| name.id == "dict")
                    && call.arguments.args.is_empty()
                    && call.arguments.keywords.iter().all(|keyword| keyword.arg.is_some())
            })
        };
        if is_plain(value) {
            return true;
        }
        let Expr::Name(name) = value else { return false };
        let name = name.id.as_str();
        if self.bound.sets_items {
            return false;
        }
        let is_spread = self.bound.spread.contains(name) && !self.bound.assigned.contains_key(name);
        is_spread
            || (!self.bound.others.contains(name)
                && self
                    .bound
                    .assigned
                    .get(name)
                    .is_some_and(|all| all.iter().all(|one| is_plain(one))))
    }

    fn import(&mut self, path: &str, range: TextRange) {
        if special::path(self.names, path).is_none() {
            self.unknown(path, range);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for StrictWalk<'_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for Alias { name, range, .. } in &import.names {
                    match self.names.module(name) {
                        Some(_) => {}
                        None => _ = self.unknown(name, *range),
                    }
                }
                return;
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map(Identifier::as_str).unwrap_or_default();
                if import.level > 0 || import.names.iter().any(|alias| &*alias.name == "*") {
                    self.unknown(&format!("from {module} import"), import.range());
                    return;
                }
                let module = self.names.module(module).unwrap_or(module);
                for alias in &import.names {
                    self.import(&format!("{module}.{}", alias.name), alias.range);
                }
                return;
            }
            Stmt::TypeAlias(alias) => _ = self.unknown("type", alias.range()),
            Stmt::IpyEscapeCommand(command) => _ = self.unknown("a command", command.range()),
            Stmt::FunctionDef(function) => self.defined(&function.name, function.name.range),
            Stmt::ClassDef(class) => {
                self.defined(&class.name, class.name.range);
                let keywords = class.arguments.iter().flat_map(|all| &all.keywords);
                for keyword in keywords {
                    // Another one may put any names into the class, which some decorators run.
                    let is_abstract = texts::dotted(&keyword.value)
                        .is_some_and(|path| matches!(path.as_str(), "ABCMeta" | "abc.ABCMeta"));
                    let is_plain = match &keyword.arg {
                        Some(name) if name.as_str() == "metaclass" => is_abstract,
                        Some(_) => true,
                        None => false,
                    };
                    if !is_plain {
                        self.unknown("metaclass", keyword.range());
                    }
                }
                for base in class.arguments.iter().flat_map(|all| &all.args) {
                    if !self.is_class(base) {
                        self.unknown("a base class", base.range());
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx != ExprContext::Load
        {
            return self.set_name(&name.id, name.range());
        }
        self.value(expression);
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        let (called, call) = match &decorator.expression {
            Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        if matches!(called, Expr::Name(_) | Expr::Attribute(_))
            && self.expression(called) == Kind::Special("dataclasses.dataclass")
        {
            if let Some(call) = call {
                self.arguments(call, false);
            }
            return;
        }
        self.value(&decorator.expression);
    }

    fn visit_annotation(&mut self, expression: &'a Expr) {
        self.value(expression);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        walk_pattern(self, pattern);
    }

    fn visit_pattern_keyword(&mut self, keyword: &'a ruff_python_ast::PatternKeyword) {
        let name = keyword.attr.as_str();
        let is_known = (self.names.is_method(name) && !special::depends(name)) || self.is_own(name);
        if name.starts_with('_') || !is_known {
            self.unknown(&format!(".{name}"), keyword.range);
        }
        walk_pattern_keyword(self, keyword);
    }
}

impl StrictWalk<'_, '_> {
    fn defined(&mut self, name: &str, range: TextRange) {
        // Methods are attributes; a function that takes a refused name is asked about.
        if self.names.is_refused(name) && self.bound.names.contains(name) {
            self.unknown(name, range);
        }
    }

    /// Whether an expression names a class: one of its own, of a module or of the language.
    fn is_class(&self, base: &Expr) -> bool {
        match base {
            Expr::Name(name) => {
                let name = name.id.as_str();
                !self.bound.assigned.contains_key(name)
                    && (self.bound.functions.contains(name)
                        || self.bound.imports.contains_key(name)
                        || self.past.imports.contains_key(name)
                        || self.past.known.contains(name)
                        || self.names.is_builtin(name))
            }
            Expr::Attribute(_) => true,
            Expr::Subscript(subscript) => self.is_class(&subscript.value),
            Expr::Call(call) => texts::dotted(&call.func).is_some_and(|path| {
                matches!(path.as_str(), "namedtuple" | "collections.namedtuple")
            }),
            _ => false,
        }
    }

    /// A name that is set. From then on it is harmless, though it may not have been before.
    fn set_name(&mut self, name: &str, range: TextRange) {
        let is_version = matches!(name, "__all__" | "__version__" | "__author__");
        let is_of_class = matches!(name, "__slots__" | "__match_args__" | "__hash__" | "__doc__");
        if self.names.is_refused(name) || (is_dunder(name) && !is_version && !is_of_class) {
            self.unknown(name, range);
        }
    }
}

/// A class's own name for itself, or a call that makes one: what is called of it is its own.
fn is_own_receiver(of: &Expr) -> bool {
    matches!(of, Expr::Name(own) if matches!(own.id.as_str(), "self" | "cls"))
}

fn is_super(of: &Expr) -> bool {
    of.as_call_expr()
        .is_some_and(|call| call.func.as_name_expr().is_some_and(|name| name.id == "super"))
}

pub(super) fn is_dunder(name: &str) -> bool {
    name.starts_with("__")
}
