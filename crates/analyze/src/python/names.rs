//! Possible meanings of names in Python code.
//!
//! Scopes and order are not followed: whatever a name is bound to anywhere, it may mean
//! everywhere. That finds too much rather than too little. A value is another matter: a name has
//! one only if it is bound once in its cell, or not at all and an earlier cell has set it.

use super::{
    depth,
    values::{DEPTH, Reader},
};
use crate::{
    fuel::Fuel,
    meanings::Meanings,
    past::{Known, SoFar},
    says::Says,
    value::Value,
};
use ruff_python_ast::{Expr, ExprCall, ExprContext};
use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
    rc::Rc,
};

/// Most modules of which everything is imported that are followed.
pub(super) const STARS: usize = 8;

/// How far a chain like `a.b().c` is followed: as far as code may be deep.
pub(super) const CHAIN: usize = 2 * depth::MOST;

/// Most elements of a list that are followed.
const HELD: usize = 16;

/// Marks the name of something as that of a list or a table of it.
const HOLDING: &str = "{}";

/// The names of a script.
#[derive(Debug)]
pub(super) struct Names {
    past: Known,
    pub(super) fresh: Known,
    /// How often each name is bound.
    pub(super) bound: HashMap<String, usize>,
    /// Names that it surely sets before it uses them.
    pub(super) sure: HashSet<String>,
    /// Names whose list grows.
    pub(super) growing: HashSet<String>,
    /// The lines of functions.
    pub(super) bodies: Vec<(String, RangeInclusive<u32>)>,
    pub(super) fuel: Rc<Fuel>,
    kept: Meanings,
}

impl Names {
    pub(super) fn new(past: Known, fuel: Rc<Fuel>, kept: Meanings) -> Self {
        Self {
            past,
            fresh: Known::default(),
            bound: HashMap::new(),
            sure: HashSet::new(),
            growing: HashSet::new(),
            bodies: Vec::new(),
            fuel,
            kept,
        }
    }

    /// The names of modules, each with the module that it may mean.
    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        [&self.past, &self.fresh].into_iter().flat_map(|known| {
            let themselves = known.modules.iter().map(|module| (module.as_str(), module.as_str()));
            let others = known.meanings.iter().flat_map(|(name, meanings)| {
                let modules = meanings.iter().filter(|one| self.is_known_module(one));
                modules.map(|meaning| (name.as_str(), meaning.as_str()))
            });
            themselves.chain(others)
        })
    }

    fn is_known_module(&self, name: &str) -> bool {
        self.fresh.modules.contains(name) || self.past.modules.contains(name)
    }

    /// The value of a name.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        match self.bound.get(name) {
            Some(_) if self.past.may_have(name) && !self.sure.contains(name) => None,
            Some(_) => self.fresh.values.get(name),
            None => self.past.values.get(name),
        }
    }

    /// The deeds of an earlier cell's function.
    pub(super) fn does(&self, name: &str) -> &[Says<'static>] {
        if self.sure.contains(name) {
            return &[];
        }
        self.past.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names that the session knows after this script.
    pub(super) fn learned(self, found: SoFar<'_>) -> Known {
        let mut fresh = self.fresh;
        for (name, lines) in self.bodies {
            let does = found.does(&lines);
            if !does.is_empty() {
                fresh.functions.insert(name, does);
            }
        }
        self.past.then(fresh, self.bound.into_keys())
    }

    /// Whether an expression is a module.
    pub(super) fn is_module(&self, expression: &Expr) -> bool {
        let is = |name: &String| self.is_known_module(name) || name == "__builtins__";
        matches!(expression, Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_))
            && self.resolve(expression).iter().any(is)
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

    pub(super) fn follow(&self, expression: &Expr, left: usize) -> Vec<String> {
        let (Some(left), Some(())) = (left.checked_sub(1), self.fuel.step()) else {
            self.fuel.cut();
            return unknown();
        };
        let each = |inner: &Expr, end: &str| -> Vec<String> {
            self.follow(inner, left).into_iter().map(|name| name + end).collect()
        };
        match expression {
            Expr::Name(name) => self.meanings_of(&name.id),
            Expr::Attribute(attribute) => each(&attribute.value, &format!(".{}", attribute.attr)),
            Expr::Call(call) => self.follow_call(call, left),
            Expr::Subscript(subscript) => {
                let of = self.follow(&subscript.value, left);
                let key = || {
                    let key = Reader { names: self }.text(&subscript.slice, DEPTH);
                    key.whole().map(str::to_owned)
                };
                let table = |name: &String| match name.strip_suffix("()") {
                    Some("vars" | "globals" | "locals") => Some(String::new()),
                    _ => name.strip_suffix("__dict__").map(str::to_owned),
                };
                if of.iter().any(|name| name == "sys.modules")
                    && let Some(module) = key()
                {
                    return vec![module];
                }
                if let Some(before) = of.iter().find_map(table)
                    && let Some(key) = key()
                {
                    return vec![format!("{before}{key}")];
                }
                of.into_iter().map(item).collect()
            }
            Expr::ListComp(each) => self.holding(std::iter::once(&*each.elt), left),
            Expr::SetComp(each) => self.holding(std::iter::once(&*each.elt), left),
            Expr::Generator(each) => self.holding(std::iter::once(&*each.elt), left),
            Expr::List(list) => self.holding(list.elts.iter(), left),
            Expr::Tuple(list) => self.holding(list.elts.iter(), left),
            Expr::Set(list) => self.holding(list.elts.iter(), left),
            Expr::Dict(table) => self.holding(table.items.iter().map(|one| &one.value), left),
            // `Path('a') / 'b'` is a path again.
            Expr::BinOp(operation) => self.follow(&operation.left, left),
            Expr::Await(inner) => self.follow(&inner.value, left),
            Expr::Named(named) => self.follow(&named.value, left),
            Expr::If(choice) => {
                let mut both = self.follow(&choice.body, left);
                self.kept.add(&mut both, self.follow(&choice.orelse, left), &self.fuel);
                both
            }
            Expr::BoolOp(choice) => {
                let mut all = Vec::new();
                for value in &choice.values {
                    self.kept.add(&mut all, self.follow(value, left), &self.fuel);
                }
                all
            }
            _ => unknown(),
        }
    }

    /// The dotted names that the result of a call may mean.
    fn follow_call(&self, call: &ExprCall, left: usize) -> Vec<String> {
        let each = |inner: &Expr, end: &str| -> Vec<String> {
            self.follow(inner, left).into_iter().map(|name| name + end).collect()
        };
        let callee = self.follow(&call.func, left);
        let text = |at: usize| {
            let argument = call.arguments.find_positional(at)?;
            Reader { names: self }.text(argument, DEPTH).whole().map(str::to_owned)
        };
        let is_named =
            |wanted: &str| callee.iter().any(|name| name.trim_start_matches("builtins.") == wanted);
        if callee.iter().any(|name| is_import(name)) {
            text(0).into_iter().collect()
        } else if is_named("getattr") {
            match (call.arguments.find_positional(0), text(1)) {
                (Some(of), Some(name)) => each(of, &format!(".{name}")),
                _ => unknown(),
            }
        } else if is_named("vars")
            && let Some(of) = call.arguments.find_positional(0)
        {
            each(of, ".__dict__")
        } else if let Expr::Attribute(getter) = &*call.func
            && matches!(getter.attr.as_str(), "__getattribute__" | "__getattr__")
            && let Some(name) = text(0)
        {
            each(&getter.value, &format!(".{name}"))
        } else if is_named("functools.partial") {
            match call.arguments.find_positional(0) {
                Some(of) => self.follow(of, left),
                None => unknown(),
            }
        } else {
            callee.into_iter().map(|name| name + "()").collect()
        }
    }

    /// The names of something that holds these. Only names among the first few are followed: of
    /// modules and functions, putting them there is a finding of its own.
    fn holding<'e>(&self, held: impl Iterator<Item = &'e Expr>, left: usize) -> Vec<String> {
        let mut all = unknown();
        for one in held.take(HELD).filter(|one| one.is_name_expr() || one.is_attribute_expr()) {
            let names = self.follow(one, left).into_iter().map(|name| name + HOLDING);
            self.kept.add(&mut all, names, &self.fuel);
        }
        all
    }

    fn meanings_of(&self, name: &str) -> Vec<String> {
        // The name itself comes first: elsewhere it may still be the built-in.
        let itself = std::iter::once(name.to_owned());
        let bound = [&self.fresh, &self.past].into_iter();
        let bound = bound.filter_map(|known| known.meanings.get(name)).flatten().cloned();
        let usual = if self.bound.contains_key(name) { None } else { usual(name) };
        let bound = bound.chain(usual.map(str::to_owned));
        let stars = self.fresh.stars.iter().chain(&self.past.stars);
        itself.chain(bound).chain(stars.map(|module| format!("{module}.{name}"))).collect()
    }

    pub(super) fn bind(&mut self, name: &str, meanings: impl IntoIterator<Item = String>) {
        let known = self.fresh.meanings.entry(name.to_owned()).or_default();
        let others = meanings.into_iter().filter(|meaning| meaning != name);
        self.kept.add(known, others, &self.fuel);
    }
}

/// The module behind a customary alias, where the cell that imports it is not known.
fn usual(name: &str) -> Option<&'static str> {
    match name {
        "pd" => Some("pandas"),
        "np" => Some("numpy"),
        "plt" => Some("matplotlib.pyplot"),
        "pl" => Some("polars"),
        "sns" => Some("seaborn"),
        _ => None,
    }
}

/// The name of what a list or a table of this name holds.
pub(super) fn item(name: String) -> String {
    match name.strip_suffix(HOLDING) {
        Some(held) => held.to_owned(),
        None => name + "[]",
    }
}

/// Something without a name, whose methods still have theirs.
fn unknown() -> Vec<String> {
    vec!["?".into()]
}

pub(super) fn is_import(name: &str) -> bool {
    matches!(
        name,
        "__import__" | "builtins.__import__" | "importlib.import_module" | "importlib.__import__"
    )
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
