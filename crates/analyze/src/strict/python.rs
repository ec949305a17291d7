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
mod classes;
mod functions;
mod places;
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
        let is_sure = self.bound.sure.contains(name);
        let earlier = self.past.imports.get(name).filter(|_| !is_sure);
        let is_foreign = self.past.foreign.contains(name) && !is_sure;
        let is_set = self.bound.names.contains(name);
        if imported.is_some() || earlier.is_some() {
            let paths = imported.unwrap_or_default().iter().chain(earlier);
            let mut kinds = paths.map(|path| special::path(self.names, path));
            let first = kinds.next().flatten();
            return match first {
                Some(kind) if kinds.all(|other| other == first) => {
                    let is_mixed =
                        is_set || (earlier.is_none() && self.past.knows(name) && !is_sure);
                    if is_foreign || (is_mixed && kind != Kind::Value) {
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
        if self.names.is_builtin(name) && !is_foreign {
            return Kind::Value;
        }
        let is_foreign =
            is_foreign || (self.past.is_foreign && !is_set && !self.past.known.contains(name));
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
        // It would be called with any number of arguments.
        if self.names.is_limited(name) {
            return false;
        }
        self.names.is_method(name)
            || (self.is_own(name) && !self.names.is_risky(name))
            || (name.ends_with('_') && !self.names.is_risky(name.trim_end_matches('_')))
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.bound.attributes.contains(name) || self.past.attributes.contains(name)
    }

    fn set_attribute(&mut self, base: Kind, whole: &Expr, name: &str, range: TextRange) -> Kind {
        let is_self = whole.as_attribute_expr().is_some_and(|one| is_own_receiver(&one.value));
        let is_plain = !is_dunder(name)
            && !special::REFUSED_KEYWORDS.contains(&name)
            && (is_self
                || self.names.may_set(name)
                || (self.is_own(name) && !self.names.is_risky(name)));
        match base {
            Kind::Value if is_plain => Kind::Value,
            Kind::Special(outer) if special::may_set(outer) && !is_dunder(name) => Kind::Value,
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
                let name = self.path_of(&call.func);
                let is_own = matches!(&*call.func, Expr::Name(name)
                    if self.is_own_function(&name.id)
                        || (name.id == "dict" && self.is_untouched("dict")));
                self.positional(name.as_deref().unwrap_or_default(), call);
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

    /// A call of something that a value has.
    fn method(&mut self, call: &'a ExprCall, of: &'a Expr, name: &str) -> Kind {
        let range = call.func.range();
        if special::depends(name) && !(self.is_own(name) && is_own_receiver(of)) {
            self.dependent(name, of, call);
        } else if self.names.is_found_method(name) {
            self.found(name, call);
        } else if self.may_take(of, name)
            || self.names.is_limited(name)
            || (self.is_own(name) && is_own_receiver(of))
        {
            let is_own = self.is_own(name);
            if !(is_own && is_own_receiver(of)) {
                self.positional(name, call);
            }
            self.arguments(call, is_own && is_own_receiver(of));
        } else {
            self.unknown(&format!(".{name}"), range);
            self.arguments(call, true);
        }
        Kind::Value
    }

    /// The arguments of a call that are given by their places: as many as are known to be harmless.
    fn positional(&mut self, path: &str, call: &'a ExprCall) {
        let name = path.rsplit('.').next().unwrap_or(path);
        let Some(most) =
            self.names.most_positional(path).or_else(|| self.names.most_positional(name))
        else {
            return;
        };
        let is_spread = call.arguments.args.iter().any(Expr::is_starred_expr);
        if is_spread || call.arguments.args.len() > most {
            self.unknown(&format!("{name}()"), call.range());
        }
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
            Some(name) if is_settings(name) && !self.is_plain_settings(&keyword.value) => {
                self.unknown(&format!("{name}="), keyword.range());
            }
            Some(_) => {}
            // Of its own functions, those that hand the rest on might hand on any.
            None if (is_own && !self.hands_on()) || self.spreads_plain(&keyword.value) => {}
            None => {
                self.unknown("**", keyword.range());
            }
        }
    }

    /// Whether the names that `**` hands on are known.
    pub(super) fn spreads_plain(&self, value: &Expr) -> bool {
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
        if self.bound.spread.contains(name) && self.bound.is_single(name) {
            return self.bound.is_only_spread(name) || !self.bound.sets_items;
        }
        let values = self.bound.values(name);
        self.bound.is_only_spread(name)
            && values.is_some_and(|all| all.iter().all(|one| is_plain(one)))
    }

    /// Whether some function of the session hands on the rest of its named arguments.
    fn hands_on(&self) -> bool {
        !self.bound.spread.is_empty() || !self.past.functions.is_empty()
    }

    /// Whether settings that are handed over in a dictionary have names that stand in the code.
    fn is_plain_settings(&self, value: &Expr) -> bool {
        let is_name = |one: &Expr| {
            one.as_name_expr().is_some_and(|name| {
                self.bound
                    .values(&name.id)
                    .is_some_and(|all| all.iter().all(|one| self.spreads_plain(one)))
            })
        };
        match value {
            Expr::Dict(_) | Expr::Call(_) => self.spreads_plain(value),
            Expr::Name(_) => is_name(value),
            other => other.is_literal_expr(),
        }
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
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => return self.class(class),
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
        // Which it is was looked at with what it stands before.
        match &decorator.expression {
            Expr::Call(call) => match self.expression(&call.func) {
                Kind::Special(_) | Kind::Value | Kind::Unknown => self.arguments(call, false),
                Kind::Module(name) | Kind::Found(name) => _ = self.unknown(name, call.range()),
            },
            other => match self.expression(other) {
                Kind::Special("dataclasses.dataclass") | Kind::Value | Kind::Unknown => {}
                Kind::Special(name) | Kind::Module(name) | Kind::Found(name) => {
                    self.unknown(name, other.range());
                }
            },
        }
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

/// Whether a named argument is a dictionary of further named arguments.
fn is_settings(name: &str) -> bool {
    ["kw", "kws", "kwargs", "dict", "props"].iter().any(|end| name.ends_with(end))
}

fn is_super(of: &Expr) -> bool {
    of.as_call_expr()
        .is_some_and(|call| call.func.as_name_expr().is_some_and(|name| name.id == "super"))
}

pub(super) fn is_dunder(name: &str) -> bool {
    name.starts_with("__")
}
