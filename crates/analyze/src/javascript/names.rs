//! Possible meanings of names in JavaScript code.
//!
//! As in Python, scopes and order are not followed: whatever a name is bound to anywhere, it may
//! mean everywhere.

use super::{
    handed,
    kinds::{Field, Kind},
    nodes::{
        binds, is_cut, is_import, is_sum, last_child, member, module_name, name_of, quoted, unknown,
    },
    tree::{Descent, Node, Tree},
    values,
};
use crate::{
    analysis::Script,
    fuel::Fuel,
    literal::Literal,
    meanings::Meanings,
    past::{Known, SoFar},
    says::Says,
    value::Value,
};
use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
    rc::Rc,
};

/// How far a chain like `a.b().c` is followed.
const CHAIN: usize = 128;

/// How deep a pattern or a sum of texts is followed.
pub(super) const DEPTH: usize = 32;

/// Most bytes of a text that is put together, and of a value that is remembered.
pub(super) const LONGEST: usize = 64 * 1024;

/// The names of a script.
#[derive(Debug)]
pub(super) struct Names {
    past: Known,
    fresh: Known,
    /// How often each name is bound.
    bound: HashMap<String, usize>,
    /// Names whose list grows.
    growing: HashSet<String>,
    /// The lines of functions.
    bodies: Vec<(String, RangeInclusive<usize>)>,
    pub(super) fuel: Rc<Fuel>,
    kept: Meanings,
}

impl Names {
    pub(super) fn of(
        tree: &Tree,
        source: &str,
        past: Known,
        fuel: Rc<Fuel>,
        kept: Meanings,
    ) -> Self {
        let (fresh, bound, growing, bodies) = Default::default();
        let mut names = Self { past, fresh, bound, growing, bodies, fuel, kept };
        tree.each(|node| {
            for name in binds(node) {
                *names.bound.entry(name_of(name, source)).or_default() += 1;
            }
            if node.kind() == Kind::CALL
                && let Some(callee) = node.child(Field::FUNCTION)
                && let Some(list) = callee.child(Field::OBJECT)
                && list.kind() == Kind::IDENTIFIER
                && callee.child(Field::PROPERTY).is_some_and(|property| {
                    matches!(name_of(property, source).as_str(), "push" | "unshift" | "splice")
                })
            {
                names.growing.insert(name_of(list, source));
            }
            if let Some(module) = handed::imported(node, source) {
                names.fresh.modules.insert(module);
            }
            Descent::Into
        });
        tree.each(|node| {
            match node.kind() {
                Kind::IMPORT_STATEMENT => names.import(node, source),
                Kind::VARIABLE => names.assign(node, Field::NAME, Field::VALUE, source),
                Kind::ASSIGNMENT => names.assign(node, Field::LEFT, Field::RIGHT, source),
                Kind::FUNCTION_DECLARATION => names.body(node, source),
                Kind::CALL => names.then(node, source),
                _ => {}
            }
            Descent::Into
        });
        names
    }

    /// `import('fs').then(fs => …)`: the function is given the module.
    fn then(&mut self, node: Node<'_>, source: &str) {
        let Some(callee) = node.child(Field::FUNCTION).filter(|one| one.kind() == Kind::MEMBER)
        else {
            return;
        };
        let (Some(of), Some(property)) =
            (callee.child(Field::OBJECT), callee.child(Field::PROPERTY))
        else {
            return;
        };
        if source.get(property.byte_range()) != Some("then") {
            return;
        }
        let Some(target) = values::first(node).and_then(handed::parameter) else { return };
        let modules = match of.kind() {
            Kind::IDENTIFIER => {
                let mut meanings = self.meanings_of(&name_of(of, source));
                meanings.retain(|name| self.is_known_module(name));
                meanings
            }
            _ => handed::imported(of, source).into_iter().collect(),
        };
        self.bind_pattern(target, &modules, source, DEPTH);
    }

    fn is_known_module(&self, name: &str) -> bool {
        self.fresh.modules.contains(name) || self.past.modules.contains(name)
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

    fn body(&mut self, node: Node<'_>, source: &str) {
        if let Some(name) = node.child(Field::NAME) {
            let lines = node.start_position().row + 1..=node.end_position().row + 1;
            self.bodies.push((name_of(name, source), lines));
        }
    }

    /// The value of a name: its own if it is bound once, or an earlier cell's.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        match self.bound.get(name) {
            Some(_) if self.past.may_have(name) => None,
            Some(_) => self.fresh.values.get(name),
            None => self.past.values.get(name),
        }
    }

    /// The deeds of an earlier cell's function.
    pub(super) fn does(&self, name: &str) -> &[Says<'static>] {
        // Its own deeds are found where it stands.
        self.past.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names that the session knows after this script.
    pub(super) fn learned(self, script: &Script, found: SoFar<'_>) -> Known {
        let mut fresh = self.fresh;
        for (name, lines) in self.bodies {
            let lines = script.line(*lines.start()).line..=script.line(*lines.end()).line;
            let does = found.does(&lines);
            if !does.is_empty() {
                fresh.functions.insert(name, does);
            }
        }
        self.past.then(fresh, self.bound.into_keys())
    }

    /// The dotted names that an expression may mean.
    pub(super) fn resolve(&self, node: Node<'_>, source: &str) -> Vec<String> {
        let mut found = self.follow(node, source, CHAIN);
        for name in &mut found {
            for prefix in ["globalThis.", "global.", "window.", "self."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    *name = rest.to_owned();
                }
            }
        }
        found
    }

    pub(super) fn follow(&self, node: Node<'_>, source: &str, left: usize) -> Vec<String> {
        let (Some(left), Some(())) = (left.checked_sub(1), self.fuel.step()) else {
            self.fuel.cut();
            return unknown();
        };
        let field = |name| node.child(name);
        let follow = |node: Option<Node<'_>>| {
            node.map(|node| self.follow(node, source, left)).unwrap_or_default()
        };
        match node.kind() {
            Kind::IDENTIFIER | Kind::SHORTHAND => self.meanings_of(&name_of(node, source)),
            Kind::IMPORT => vec!["import".into()],
            Kind::MEMBER => {
                let property = field(Field::PROPERTY).map(|node| name_of(node, source));
                member(follow(field(Field::OBJECT)), &property.unwrap_or_default())
            }
            Kind::SUBSCRIPT => {
                let of = follow(field(Field::OBJECT));
                let index = field(Field::INDEX);
                let index = index.map(|index| self.text_within(index, source, left.min(DEPTH)));
                match index.as_ref().and_then(Literal::whole) {
                    Some(property) => member(of, property),
                    None => of.into_iter().map(|name| name + "[]").collect(),
                }
            }
            Kind::CALL | Kind::NEW => {
                let callee = follow(field(Field::FUNCTION).or(field(Field::CONSTRUCTOR)));
                if callee.iter().any(|name| is_import(name)) {
                    let module = values::first(node);
                    let left = left.min(DEPTH);
                    let module = module.map(|node| self.text_within(node, source, left));
                    return module.iter().filter_map(Literal::whole).map(module_name).collect();
                }
                if callee.iter().any(|name| name == "util.promisify") {
                    return follow(values::first(node));
                }
                callee.into_iter().map(|name| name + "()").collect()
            }
            Kind::AWAIT | Kind::PARENTHESIZED | Kind::AS | Kind::SATISFIES | Kind::NON_NULL => {
                follow(node.children().next())
            }
            // The comma operator gives its last.
            Kind::SEQUENCE => follow(last_child(node)),
            Kind::ASSIGNMENT => follow(field(Field::RIGHT)),
            Kind::TERNARY => {
                let mut both = follow(field(Field::CONSEQUENCE));
                self.kept.add(&mut both, follow(field(Field::ALTERNATIVE)), &self.fuel);
                both
            }
            // A sum is a text or a number.
            Kind::BINARY if !is_sum(node) => {
                let mut both = follow(field(Field::LEFT));
                self.kept.add(&mut both, follow(field(Field::RIGHT)), &self.fuel);
                both
            }
            _ => unknown(),
        }
    }

    fn meanings_of(&self, name: &str) -> Vec<String> {
        // The name itself comes first: elsewhere it may still be the built-in.
        let bound = [&self.fresh, &self.past].into_iter();
        let bound = bound.filter_map(|known| known.meanings.get(name)).flatten().cloned();
        std::iter::once(name.to_owned()).chain(bound).collect()
    }

    fn bind(&mut self, name: &str, meanings: impl IntoIterator<Item = String>) {
        let known = self.fresh.meanings.entry(name.to_owned()).or_default();
        let others = meanings.into_iter().filter(|meaning| meaning != name);
        self.kept.add(known, others, &self.fuel);
    }

    fn import(&mut self, node: Node<'_>, source: &str) {
        let Some(from) = node.child(Field::SOURCE) else { return };
        let text = quoted(from, source);
        let Some(module) = text.whole().map(module_name) else { return };
        self.fresh.modules.insert(module.clone());
        let Some(clause) = node.children().find(|child| child.kind() == Kind::IMPORT_CLAUSE) else {
            return;
        };
        for part in clause.children() {
            match part.kind() {
                Kind::IDENTIFIER => self.bind(&name_of(part, source), [module.clone()]),
                Kind::NAMESPACE_IMPORT => {
                    if let Some(name) = part.children().next() {
                        self.bind(&name_of(name, source), [module.clone()]);
                    }
                }
                Kind::NAMED_IMPORTS => {
                    for specifier in part.children() {
                        let Some(name) = specifier.child(Field::NAME) else { continue };
                        let alias = specifier.child(Field::ALIAS).unwrap_or(name);
                        let meaning = format!("{module}.{}", name_of(name, source));
                        self.bind(&name_of(alias, source), [meaning]);
                    }
                }
                _ => {}
            }
        }
    }

    fn assign(&mut self, node: Node<'_>, target: Field, value: Field, source: &str) {
        let (Some(target), Some(value)) = (node.child(target), node.child(value)) else {
            return;
        };
        let meanings = self.follow(value, source, CHAIN);
        let is_name = target.kind() == Kind::IDENTIFIER;
        let name = if is_name { name_of(target, source) } else { String::new() };
        // A name that is bound twice may hold either: then it is not known.
        if self.bound.get(&name) == Some(&1) {
            let items = self.items(value, source, DEPTH);
            let text = self.text(value, source);
            let mut held = Value { text, items, ..Value::default() };
            if self.growing.contains(&name) {
                held.grow();
            }
            if held.is_known() && held.bytes() <= LONGEST {
                self.fresh.values.insert(name.clone(), held);
            }
            if value.kind() == Kind::ARROW_FUNCTION || value.kind() == Kind::FUNCTION_EXPRESSION {
                let lines = value.start_position().row + 1..=value.end_position().row + 1;
                self.bodies.push((name, lines));
            }
        }
        self.bind_pattern(target, &meanings, source, DEPTH);
    }

    fn bind_pattern(&mut self, target: Node<'_>, meanings: &[String], source: &str, left: usize) {
        let Some(left) = left.checked_sub(1) else { return self.fuel.cut() };
        let below = |name: &str| -> Vec<String> { member(meanings.to_vec(), name) };
        match target.kind() {
            Kind::IDENTIFIER => self.bind(&name_of(target, source), meanings.iter().cloned()),
            Kind::OBJECT_PATTERN => {
                for part in target.children() {
                    match part.kind() {
                        Kind::SHORTHAND_PATTERN => {
                            let name = name_of(part, source);
                            let meanings = below(&name);
                            self.bind(&name, meanings);
                        }
                        Kind::PAIR_PATTERN => {
                            let key = part.child(Field::KEY);
                            let value = part.child(Field::VALUE);
                            if key.is_some_and(is_cut) {
                                self.fuel.cut();
                            }
                            if let (Some(key), Some(value)) = (key, value) {
                                let inner = below(&name_of(key, source));
                                self.bind_pattern(value, &inner, source, left);
                            }
                        }
                        Kind::OBJECT_ASSIGNMENT_PATTERN => {
                            if let Some(name) = part.child(Field::LEFT) {
                                let name = name_of(name, source);
                                let meanings = below(&name);
                                self.bind(&name, meanings);
                            }
                        }
                        _ => {}
                    }
                }
            }
            Kind::ASSIGNMENT_PATTERN => {
                if let Some(inner) = target.child(Field::LEFT) {
                    self.bind_pattern(inner, meanings, source, left);
                }
            }
            _ => {}
        }
    }
}
