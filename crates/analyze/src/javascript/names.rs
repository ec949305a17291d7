//! Possible meanings of names in JavaScript code.
//!
//! As in Python, scopes and order are not followed: whatever a name is bound to anywhere, it may
//! mean everywhere.

use super::{
    nodes::{
        binds, is_cut, is_import, is_sum, last_child, member, module_name, name_of, quoted, undone,
        unknown,
    },
    text::unescape,
    tree::{Descent, Node, Tree},
    values,
};
use crate::{
    analysis::Script,
    decode::Encoding,
    fuel::Fuel,
    literal::Literal,
    meanings::Meanings,
    past::{Known, SoFar},
    rules::BUILT_IN,
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
const DEPTH: usize = 32;

/// Most bytes of a text that is put together, and of a value that is remembered.
const LONGEST: usize = 64 * 1024;

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
    fuel: Rc<Fuel>,
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
            if node.kind() == "call_expression"
                && let Some(callee) = node.child_by_field_name("function")
                && let Some(list) = callee.child_by_field_name("object")
                && list.kind() == "identifier"
                && callee.child_by_field_name("property").is_some_and(|property| {
                    matches!(name_of(property, source).as_str(), "push" | "unshift" | "splice")
                })
            {
                names.growing.insert(name_of(list, source));
            }
            Descent::Into
        });
        tree.each(|node| {
            match node.kind() {
                "import_statement" => names.import(node, source),
                "variable_declarator" => names.assign(node, "name", "value", source),
                "assignment_expression" => names.assign(node, "left", "right", source),
                "function_declaration" => names.body(node, source),
                _ => {}
            }
            Descent::Into
        });
        names
    }

    fn body(&mut self, node: Node<'_>, source: &str) {
        if let Some(name) = node.child_by_field_name("name") {
            let lines = node.start_position().row + 1..=node.end_position().row + 1;
            self.bodies.push((name_of(name, source), lines));
        }
    }

    /// The value of a name: its own if it is bound once, or an earlier cell's.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        match self.bound.get(name) {
            Some(_) => self.fresh.values.get(name),
            None => self.past.values.get(name),
        }
    }

    /// The deeds of an earlier cell's function.
    pub(super) fn does(&self, name: &str) -> &[Says<'static>] {
        match self.bound.get(name) {
            Some(_) => &[],
            None => self.past.functions.get(name).map_or(&[], Vec::as_slice),
        }
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

    fn follow(&self, node: Node<'_>, source: &str, left: usize) -> Vec<String> {
        let (Some(left), Some(())) = (left.checked_sub(1), self.fuel.step()) else {
            self.fuel.cut();
            return unknown();
        };
        let field = |name| node.child_by_field_name(name);
        let follow = |node: Option<Node<'_>>| {
            node.map(|node| self.follow(node, source, left)).unwrap_or_default()
        };
        match node.kind() {
            "identifier" | "shorthand_property_identifier" => {
                self.meanings_of(&name_of(node, source))
            }
            "import" => vec!["import".into()],
            "member_expression" => {
                let property = field("property").map(|node| name_of(node, source));
                member(follow(field("object")), &property.unwrap_or_default())
            }
            "subscript_expression" => {
                let of = follow(field("object"));
                let index = field("index");
                let index = index.map(|index| self.text_within(index, source, left.min(DEPTH)));
                match index.as_ref().and_then(Literal::whole) {
                    Some(property) => member(of, property),
                    None => of.into_iter().map(|name| name + "[]").collect(),
                }
            }
            "call_expression" | "new_expression" => {
                let callee = follow(field("function").or(field("constructor")));
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
            "await_expression"
            | "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression" => follow(node.children().next()),
            // The comma operator gives its last.
            "sequence_expression" => follow(last_child(node)),
            "assignment_expression" => follow(field("right")),
            "ternary_expression" => {
                let mut both = follow(field("consequence"));
                self.kept.add(&mut both, follow(field("alternative")), &self.fuel);
                both
            }
            // A sum is a text or a number.
            "binary_expression" if !is_sum(node) => {
                let mut both = follow(field("left"));
                self.kept.add(&mut both, follow(field("right")), &self.fuel);
                both
            }
            _ => unknown(),
        }
    }

    /// The text that an expression gives.
    pub(super) fn text(&self, node: Node<'_>, source: &str) -> Literal {
        self.fuel.for_text(|| self.text_within(node, source, DEPTH))
    }

    fn text_within(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let text = self.any_text(node, source, left);
        let length = text.len();
        let is_short = length <= LONGEST && self.fuel.copy(length).is_some();
        if is_short {
            return text;
        }
        self.fuel.cut();
        Literal::computed()
    }

    fn any_text(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let (Some(left), Some(())) = (left.checked_sub(1), self.fuel.step()) else {
            self.fuel.cut();
            return Literal::computed();
        };
        let of = |name: &str| match node.child_by_field_name(name) {
            Some(node) => self.text_within(node, source, left),
            None => Literal::computed(),
        };
        match node.kind() {
            "string" | "template_string" if is_cut(node) => {
                self.fuel.cut();
                Literal::computed()
            }
            "string" => quoted(node, source),
            "template_string" => node.children().fold(Literal::default(), |text, part| {
                text.then(match (part.kind(), part.children().next()) {
                    ("template_substitution", Some(inner)) => self.text_within(inner, source, left),
                    ("string_fragment" | "escape_sequence", _) => {
                        Literal::known(unescape(source.get(part.byte_range()).unwrap_or_default()))
                    }
                    _ => Literal::computed(),
                })
            }),
            "identifier" => {
                let value = self.value(&name_of(node, source));
                let value = value.filter(|value| value.items.is_none());
                value.map_or_else(Literal::computed, |value| value.text.clone())
            }
            "member_expression" => {
                let names = self.follow(node, source, left);
                let is_home = names.iter().any(|name| name == "process.env.HOME");
                if is_home { Literal::known("~") } else { Literal::computed() }
            }
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "await_expression" => match node.children().next() {
                Some(inner) => self.text_within(inner, source, left),
                None => Literal::computed(),
            },
            "binary_expression" if is_sum(node) => of("left").then(of("right")),
            "call_expression" | "new_expression" => self.call_text(node, source, left),
            _ => Literal::computed(),
        }
    }

    /// The text that a call gives, for the few calls where it shows.
    fn call_text(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let callee = node.child_by_field_name("function");
        let Some(callee) = callee.or(node.child_by_field_name("constructor")) else {
            return Literal::computed();
        };
        if values::is_cut(node) {
            self.fuel.cut();
            return Literal::computed();
        }
        let names = self.follow(callee, source, left);
        let is = |list: &[String]| names.iter().any(|name| list.contains(name));
        let tables = &BUILT_IN.javascript;
        let mut arguments =
            values::arguments(node).into_iter().map(|node| self.text_within(node, source, left));
        let goes_by = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
        if let Some(encoding) = names.iter().find_map(|name| tables.decodes.get(name)) {
            return undone(arguments.next().as_ref(), *encoding);
        }
        if goes_by(&["Buffer.from", "buffer.Buffer.from"]) {
            let text = arguments.next();
            return match arguments
                .next()
                .as_ref()
                .and_then(Literal::whole)
                .and_then(Encoding::named)
            {
                Some(encoding) => undone(text.as_ref(), encoding),
                None => text.unwrap_or_else(Literal::computed),
            };
        }
        if goes_by(&["String.fromCharCode", "String.fromCodePoint"]) {
            let codes = values::arguments(node);
            let code = |node: &Node<'_>| {
                let digits = source.get(node.byte_range())?;
                let code = match digits.strip_prefix("0x") {
                    Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                    None => digits.parse().ok()?,
                };
                char::from_u32(code)
            };
            let spelled: Option<String> = codes.iter().map(code).collect();
            return spelled.map_or_else(Literal::computed, Literal::known);
        }
        if let Some(text) = self.method_text(callee, node, source, left) {
            return text;
        }
        if goes_by(&["os.homedir"]) {
            Literal::known("~")
        } else if is(&tables.joins) {
            let slash = || Literal::known("/");
            arguments.reduce(|folder, name| folder.then(slash()).then(name)).unwrap_or_default()
        } else if is(&tables.passes) {
            arguments.next().unwrap_or_else(Literal::computed)
        } else {
            Literal::computed()
        }
    }

    /// The text that a method of a text or a list gives.
    fn method_text(
        &self,
        callee: Node<'_>,
        call: Node<'_>,
        source: &str,
        left: usize,
    ) -> Option<Literal> {
        let of = callee.child_by_field_name("object")?;
        let method = name_of(callee.child_by_field_name("property")?, source);
        let text = || self.text_within(of, source, left);
        match method.as_str() {
            "toString" | "trim" | "valueOf" => Some(text()),
            "join" => {
                let items = self.items_within(of, source, left)?;
                // Behind the bound anything may follow, also what ends a command.
                if items.len() > values::WIDTH {
                    self.fuel.cut();
                    return Some(Literal::computed());
                }
                let between = match values::first(call) {
                    Some(between) => self.text_within(between, source, left),
                    None => Literal::known(","),
                };
                let join = |all: Literal, item| all.then(between.clone()).then(item);
                Some(items.into_iter().reduce(join).unwrap_or_default())
            }
            "concat" => {
                let more = values::arguments(call).into_iter();
                let more = more.map(|node| self.text_within(node, source, left));
                Some(more.fold(text(), Literal::then))
            }
            _ => None,
        }
    }

    /// The elements of a list.
    pub(super) fn items(&self, node: Node<'_>, source: &str, left: usize) -> Option<Vec<Literal>> {
        self.fuel.for_text(|| self.items_within(node, source, left))
    }

    fn items_within(&self, node: Node<'_>, source: &str, left: usize) -> Option<Vec<Literal>> {
        let left = left.checked_sub(1)?;
        match node.kind() {
            "array" => {
                let (items, is_cut) = values::elements(node);
                let items = items.into_iter().map(|item| self.text_within(item, source, left));
                Some(items.chain(is_cut.then(Literal::computed)).collect())
            }
            "identifier" => {
                let value = self.value(&name_of(node, source))?;
                self.fuel.copy(value.bytes())?;
                value.items.clone()
            }
            "as_expression" | "parenthesized_expression" => {
                self.items_within(node.children().next()?, source, left)
            }
            _ => None,
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
        let Some(from) = node.child_by_field_name("source") else { return };
        let text = quoted(from, source);
        let Some(module) = text.whole().map(module_name) else { return };
        let Some(clause) = node.children().find(|child| child.kind() == "import_clause") else {
            return;
        };
        for part in clause.children() {
            match part.kind() {
                "identifier" => self.bind(&name_of(part, source), [module.clone()]),
                "namespace_import" => {
                    if let Some(name) = part.children().next() {
                        self.bind(&name_of(name, source), [module.clone()]);
                    }
                }
                "named_imports" => {
                    for specifier in part.children() {
                        let Some(name) = specifier.child_by_field_name("name") else { continue };
                        let alias = specifier.child_by_field_name("alias").unwrap_or(name);
                        let meaning = format!("{module}.{}", name_of(name, source));
                        self.bind(&name_of(alias, source), [meaning]);
                    }
                }
                _ => {}
            }
        }
    }

    fn assign(&mut self, node: Node<'_>, target: &str, value: &str, source: &str) {
        let (Some(target), Some(value)) =
            (node.child_by_field_name(target), node.child_by_field_name(value))
        else {
            return;
        };
        let meanings = self.follow(value, source, CHAIN);
        let is_name = target.kind() == "identifier";
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
            if value.kind() == "arrow_function" || value.kind() == "function_expression" {
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
            "identifier" => self.bind(&name_of(target, source), meanings.iter().cloned()),
            "object_pattern" => {
                for part in target.children() {
                    match part.kind() {
                        "shorthand_property_identifier_pattern" => {
                            let name = name_of(part, source);
                            let meanings = below(&name);
                            self.bind(&name, meanings);
                        }
                        "pair_pattern" => {
                            let key = part.child_by_field_name("key");
                            let value = part.child_by_field_name("value");
                            if key.is_some_and(is_cut) {
                                self.fuel.cut();
                            }
                            if let (Some(key), Some(value)) = (key, value) {
                                let inner = below(&name_of(key, source));
                                self.bind_pattern(value, &inner, source, left);
                            }
                        }
                        "object_assignment_pattern" => {
                            if let Some(name) = part.child_by_field_name("left") {
                                let name = name_of(name, source);
                                let meanings = below(&name);
                                self.bind(&name, meanings);
                            }
                        }
                        _ => {}
                    }
                }
            }
            "assignment_pattern" => {
                if let Some(inner) = target.child_by_field_name("left") {
                    self.bind_pattern(inner, meanings, source, left);
                }
            }
            _ => {}
        }
    }
}
