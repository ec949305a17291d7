//! Keys that are computed, and keys by which the language calls a value: where a value that may be
//! any function could be had, and where it could be put so that something calls it.

use super::{METHODS, RISKY, StrictScript, is_function, lists};
use crate::javascript::{
    kinds::{Field, Kind},
    tree::Node,
};
use std::collections::{HashMap, HashSet};

/// Names by which the language calls what an object has.
const IMPLICIT: &str = "toString valueOf toJSON then next return throw raw done has keys get";

/// Methods' names that many values have, and that aren't called.
const UNCALLED: &str = "size length with test format values entries keys match filter search fill \
    at";

/// Methods that give a list, of whatever they are called.
const LISTING: &str = "split map filter slice sort concat flat flatMap toSorted toReversed reverse \
    splice match";

/// Functions of the language that give a list or a plain object.
const MAKING: &str = "JSON.parse Object.keys Object.values Object.entries Object.fromEntries \
    Object.groupBy Array.from Array.of";

/// Methods that hand a place in a list to the second parameter of a function.
const COUNTING: &str = "map filter some every find findIndex flatMap from";

/// How the names of a script are set, wherever in it.
#[derive(Debug, Default)]
pub(super) struct Settings {
    set: HashMap<String, usize>,
    numbers: HashMap<String, usize>,
    containers: HashMap<String, usize>,
    resolvers: HashSet<String>,
    /// The parts in which `this` is never the global object.
    classes: Vec<std::ops::Range<usize>>,
}

impl Settings {
    fn is_all(&self, of: &HashMap<String, usize>, name: &str) -> bool {
        self.set.get(name).is_some_and(|count| of.get(name) == Some(count))
    }

    /// Names that hold lists and plain objects alone.
    pub(super) fn containers(&self) -> HashSet<String> {
        let is_one = |name: &&String| self.is_all(&self.containers, name);
        self.containers.keys().filter(is_one).cloned().collect()
    }

    pub(super) fn set(&mut self, name: &str) {
        *self.set.entry(name.to_owned()).or_default() += 1;
    }

    /// Whether it is one of the functions that a promise hands to its maker, and nothing else.
    pub(super) fn is_resolver(&self, name: &str) -> bool {
        self.resolvers.contains(name) && self.set.get(name) == Some(&1)
    }
}

impl StrictScript<'_> {
    /// Notes what a node sets.
    pub(super) fn settings(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::VARIABLE => {
                if let Some(name) =
                    node.child(Field::NAME).filter(|one| one.kind() == Kind::IDENTIFIER)
                {
                    let name = self.text(name).to_owned();
                    let value = node.child(Field::VALUE);
                    // Others were counted with the names that are set.
                    if value.is_some_and(is_function) {
                        self.settings.set(&name);
                    }
                    if value.is_some_and(|value| self.is_number(value)) {
                        *self.settings.numbers.entry(name).or_default() += 1;
                    } else if value.is_some_and(|value| self.is_container(value)) {
                        *self.settings.containers.entry(name).or_default() += 1;
                    }
                }
            }
            Kind::ASSIGNMENT | Kind::AUGMENTED_ASSIGNMENT => {
                let (left, right) = (node.child(Field::LEFT), node.child(Field::RIGHT));
                if let (Some(left), Some(right)) = (left, right)
                    && left.kind() == Kind::IDENTIFIER
                {
                    let name = self.text(left).to_owned();
                    self.settings.set(&name);
                    let is_plain = node.kind() == Kind::ASSIGNMENT;
                    if self.is_number(right) {
                        *self.settings.numbers.entry(name).or_default() += 1;
                    } else if is_plain && self.is_container(right) {
                        *self.settings.containers.entry(name).or_default() += 1;
                    }
                } else if let Some(left) =
                    left.filter(|left| !matches!(left.kind(), Kind::MEMBER | Kind::SUBSCRIPT))
                {
                    let names = left.within().filter(|one| one.kind() == Kind::IDENTIFIER);
                    let names: Vec<_> = names.map(|one| self.text(one).to_owned()).collect();
                    for name in &names {
                        self.settings.set(name);
                    }
                }
            }
            Kind::CALL | Kind::NEW => self.handed(node),
            Kind::CLASS_BODY => self.settings.classes.push(node.byte_range()),
            Kind::OBJECT => {
                for member in node.children() {
                    let text = self.text(member);
                    if member.child(Field::BODY).is_some() && !text.contains("function") {
                        self.settings.classes.push(member.byte_range());
                    }
                }
            }
            _ => {}
        }
    }

    /// The parameters of a function that is handed to a listed method.
    fn handed(&mut self, node: Node<'_>) {
        let Some(arguments) = node.child(Field::ARGUMENTS) else { return };
        let is_promise = node.kind() == Kind::NEW
            && node.child(Field::CONSTRUCTOR).is_some_and(|one| self.text(one) == "Promise");
        let method = node.child(Field::FUNCTION).and_then(|one| one.child(Field::PROPERTY));
        let method = method.map(|one| self.text(one)).unwrap_or_default();
        // The places of a list of some length.
        let of = node.child(Field::FUNCTION).and_then(|one| one.child(Field::OBJECT));
        let is_places = method == "map"
            && of.map(|of| self.text(of)).is_some_and(|of| {
                of.starts_with("[...Array(") && of.ends_with(").keys()]") && !of.contains("=>")
            })
            && !self.names.contains("Array");
        for function in arguments.children().filter(|one| is_function(*one)) {
            if let Some(parameter) = function.child(Field::PARAMETER) {
                let name = self.text(parameter).to_owned();
                if is_promise {
                    self.settings.resolvers.insert(name);
                } else if is_places {
                    *self.settings.numbers.entry(name).or_default() += 1;
                }
            }
            let list = function.children().find(|one| one.kind() == Kind::FORMAL_PARAMETERS);
            for (at, name) in list.iter().flat_map(|list| list.children()).enumerate() {
                let text = self.text(name).to_owned();
                if is_promise {
                    self.settings.resolvers.insert(text);
                } else if (at == 1 && lists(COUNTING, method) && !self.methods.contains(method))
                    || (at == 0 && is_places)
                    || (at == 2 && method == "reduce" && !self.methods.contains(method))
                {
                    *self.settings.numbers.entry(text).or_default() += 1;
                } else if at == 0 && method == "reduce" {
                    let start = arguments.children().nth(1);
                    let returned = function.within().filter(|one| one.kind() == Kind::RETURN);
                    let mut returned = returned.peekable();
                    let is_same = |one: Node<'_>| {
                        one.children().next().is_some_and(|one| {
                            one.kind() == Kind::IDENTIFIER && self.text(one) == text
                        })
                    };
                    if start.is_some_and(|start| self.is_container(start))
                        && returned.peek().is_some()
                        && returned.all(is_same)
                    {
                        *self.settings.containers.entry(text).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Whether an expression is a number, or a text that begins or ends with one.
    fn is_number(&self, node: Node<'_>) -> bool {
        let text = self.text(node);
        match node.kind() {
            Kind::IDENTIFIER => self.settings.is_all(&self.settings.numbers, text),
            Kind::PARENTHESIZED => node.children().all(|one| self.is_number(one)),
            Kind::UPDATE => true,
            Kind::BINARY => {
                let operator = node.child(Field::OPERATOR).map(|one| self.text(one));
                let sides = [node.child(Field::LEFT), node.child(Field::RIGHT)];
                match operator {
                    Some("-" | "*" | "/" | "%" | "**" | "|" | "&" | "^" | "<<" | ">>" | ">>>") => {
                        true
                    }
                    Some("+") => sides.iter().flatten().any(|one| self.is_number(*one)),
                    _ => false,
                }
            }
            Kind::CALL => {
                let called = node.child(Field::FUNCTION).map(|one| self.text(one));
                called.is_some_and(|called| {
                    called.starts_with("Math.") || matches!(called, "parseInt" | "Number")
                }) && !self.names.contains("Math")
            }
            kind if kind == Kind::OTHER => {
                text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '~')
            }
            _ => false,
        }
    }

    /// Whether an expression is a list or a plain object: of these, one key alone gives no function
    /// that could act.
    fn is_container(&self, node: Node<'_>) -> bool {
        match node.kind() {
            Kind::ARRAY | Kind::OBJECT => true,
            Kind::NEW => node.child(Field::CONSTRUCTOR).is_some_and(|one| {
                lists("Map Set Array Float64Array Int32Array Uint8Array", self.text(one))
            }),
            Kind::CALL => {
                let Some(called) = node.child(Field::FUNCTION) else { return false };
                let name = called.child(Field::PROPERTY).map(|one| self.text(one));
                lists(MAKING, self.text(called))
                    || name.is_some_and(|name| lists(LISTING, name) && !self.methods.contains(name))
                    || name == Some("fill")
            }
            _ => false,
        }
    }

    /// Whether a value can be put under a key by which something may call it.
    fn is_plain_value(&self, node: Node<'_>) -> bool {
        let text = self.text(node);
        match node.kind() {
            Kind::STRING | Kind::TEMPLATE | Kind::ARRAY | Kind::OBJECT => true,
            Kind::IDENTIFIER | Kind::SHORTHAND => {
                self.is_own_function(text)
                    || self.settings.is_all(&self.settings.containers, text)
                    || self.settings.is_all(&self.settings.numbers, text)
            }
            Kind::BINARY => {
                let operator = node.child(Field::OPERATOR).map(|one| self.text(one));
                match operator {
                    Some("||" | "&&" | "??") => [Field::LEFT, Field::RIGHT]
                        .into_iter()
                        .filter_map(|side| node.child(side))
                        .all(|one| one.kind() == Kind::SUBSCRIPT || self.is_plain_value(one)),
                    _ => true,
                }
            }
            Kind::PARENTHESIZED => node.children().all(|one| self.is_plain_value(one)),
            Kind::CALL | Kind::NEW => self.is_number(node) || self.is_container(node),
            kind if kind == Kind::OTHER => {
                text.starts_with(|c: char| c.is_ascii_digit() || "-!~/".contains(c))
                    || matches!(text, "true" | "false" | "null")
            }
            _ => is_function(node),
        }
    }

    /// An item that is taken or set: by a key that stands there, a number, or of a plain container.
    pub(super) fn item(&mut self, node: Node<'_>) {
        let (Some(object), Some(index)) = (node.child(Field::OBJECT), node.child(Field::INDEX))
        else {
            return self.unknown("an item", node);
        };
        let text = self.text(index);
        let is_plain = match index.kind() {
            Kind::STRING => !lists(RISKY, text.trim_matches(['"', '\''])) && !text.contains('\\'),
            _ => {
                self.is_number(index)
                    || (object.kind() == Kind::IDENTIFIER
                        && (self.settings.is_all(&self.settings.containers, self.text(object))
                            || (!self.settings.set.contains_key(self.text(object))
                                && self.strict.past.locals.contains(self.text(object)))))
            }
        };
        if !is_plain {
            self.unknown("[…]", node);
        }
    }

    /// A value that is put under a key.
    pub(super) fn put(&mut self, key: Option<Node<'_>>, name: &str, value: Option<Node<'_>>) {
        let Some(key) = key else { return };
        let name = name.trim_matches(['"', '\'', '`']);
        if matches!(name, "__proto__" | "constructor" | "prototype") || name.contains('\\') {
            return self.unknown(name, key);
        }
        let is_computed = name.starts_with('[')
            && !matches!(name, "[Symbol.iterator]" | "[Symbol.asyncIterator]");
        let may_be_called = is_computed
            || name.starts_with('[')
            || ((lists(IMPLICIT, name) || lists(METHODS, name)) && !lists(UNCALLED, name));
        if may_be_called && value.is_some_and(|value| !self.is_plain_value(value)) {
            self.unknown(name, key);
        }
    }

    /// Objects, assignments, patterns and classes: what their keys are.
    pub(super) fn keys(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::PAIR => {
                let key = node.child(Field::KEY);
                let name = key.map(|key| self.text(key)).unwrap_or_default();
                self.put(key, name, node.child(Field::VALUE));
            }
            Kind::SHORTHAND => {
                let name = self.text(node);
                self.put(Some(node), name, Some(node));
            }
            Kind::PAIR_PATTERN => {
                let key = node.child(Field::KEY).map(|key| self.text(key)).unwrap_or_default();
                if key.starts_with('[')
                    || key.contains('\\')
                    || lists(RISKY, key.trim_matches(['"', '\'']))
                {
                    self.unknown(key, node);
                }
            }
            Kind::ASSIGNMENT | Kind::AUGMENTED_ASSIGNMENT => {
                let Some(left) = node.child(Field::LEFT) else { return };
                let right = node.child(Field::RIGHT);
                if let Some(property) = left.child(Field::PROPERTY) {
                    let name = self.text(property);
                    self.put(Some(property), name, right);
                } else if let Some(index) =
                    left.child(Field::INDEX).filter(|index| index.kind() == Kind::STRING)
                {
                    let name = self.text(index);
                    self.put(Some(index), name, right);
                }
            }
            Kind::CLASS_BODY => {
                for member in node.children() {
                    let key = member.child(Field::NAME).or_else(|| member.child(Field::PROPERTY));
                    let name = key.map(|key| self.text(key)).unwrap_or_default();
                    let is_method = member.child(Field::BODY).is_some();
                    if name.starts_with('[')
                        && !matches!(name, "[Symbol.iterator]" | "[Symbol.asyncIterator]")
                    {
                        self.unknown("a computed name", member);
                    } else if !is_method && name != "constructor" {
                        self.put(key, name, member.child(Field::VALUE));
                    }
                }
            }
            _ => {}
        }
    }

    /// The class that another is made of: another of the code's own, or one of the language.
    pub(super) fn heritage(&mut self, node: Node<'_>) {
        let Some(body) = node.child(Field::BODY).filter(|one| one.kind() == Kind::CLASS_BODY)
        else {
            return;
        };
        let head = self.source.get(node.byte_range().start..body.byte_range().start);
        let head = head.unwrap_or_default();
        let Some((_, of)) = head.split_once("extends") else { return };
        let of = of.trim();
        let of = of.split_once('<').map_or(of, |(of, _)| of);
        let is_listed =
            lists("Error TypeError RangeError Array Map Set", of) && !self.names.contains(of);
        if !is_listed && !self.is_own_function(of) {
            self.unknown("extends", node);
        }
        // It is no value here.
        let named = node.within().filter(|one| one.kind() == Kind::IDENTIFIER);
        let before: Vec<_> = named
            .filter(|one| one.byte_range().end <= body.byte_range().start)
            .map(Node::id)
            .collect();
        self.passed.extend(before);
    }

    /// `this`, which outside of classes and methods may be the global object.
    pub(super) fn this(&mut self, node: Node<'_>) {
        let at = node.byte_range().start;
        if !self.settings.classes.iter().any(|range| range.contains(&at)) {
            self.unknown("this", node);
        }
    }

    /// Sorts the parts in which `this` is plain, and joins those within others.
    pub(super) fn settle(&mut self) {
        let mut all = std::mem::take(&mut self.settings.classes);
        all.sort_by_key(|range| range.start);
        let mut outer: Vec<std::ops::Range<usize>> = Vec::new();
        for range in all {
            if outer.last().is_none_or(|last| last.end <= range.start) {
                outer.push(range);
            }
        }
        self.settings.classes = outer;
    }
}
