//! Modules that JavaScript code hands on: what is called of them elsewhere is not followed.
//!
//! A module that is an argument, a result, a property or an element leaves the names that are
//! followed. Only modules of which something grave can be called count.

use super::{
    kinds::{Field, Kind},
    names::Names,
    nodes::{is_import, module_name, quoted},
    tree::Node,
    values,
};
use crate::{rules::Rules, syntax::Syntax};
use std::collections::HashSet;

/// Functions to which a module is no more than something to look at.
const LOOKING: [&str; 8] = [
    "console.log",
    "console.dir",
    "console.error",
    "Object.keys",
    "Object.getOwnPropertyNames",
    "util.inspect",
    "String",
    "Boolean",
];

/// How many brackets around a module are looked through.
const AROUND: usize = 8;

/// The names of modules of which something grave can be called.
#[derive(Debug)]
pub(super) struct Harmful {
    names: HashSet<String>,
    rules: Rules,
}

impl Harmful {
    pub(super) fn of(names: &Names, rules: &Rules) -> Self {
        let mut harmful = Self { names: HashSet::new(), rules: rules.clone() };
        for (name, module) in names.modules() {
            if harmful.is_module(module) {
                harmful.names.insert(name.to_owned());
            }
        }
        harmful
    }

    fn is_module(&self, name: &str) -> bool {
        self.rules.is_harmful(Syntax::JavaScript, name)
    }

    /// Whether a node is such a module.
    pub(super) fn is(&self, node: Node<'_>, source: &str) -> bool {
        let mut inner = node;
        for _ in 0..AROUND {
            match inner.kind() {
                Kind::AWAIT | Kind::PARENTHESIZED | Kind::AS | Kind::SATISFIES | Kind::NON_NULL => {
                    match inner.children().next() {
                        Some(child) => inner = child,
                        None => return false,
                    }
                }
                Kind::IDENTIFIER | Kind::SHORTHAND => {
                    let name = source.get(inner.byte_range()).unwrap_or_default();
                    return self.names.contains(name);
                }
                Kind::CALL => {
                    return imported(inner, source).is_some_and(|module| self.is_module(&module));
                }
                _ => return false,
            }
        }
        false
    }
}

/// The parts of a node that it hands on. `names` are those of what a call calls.
pub(super) fn handed<'tree>(node: Node<'tree>, names: &[String]) -> Vec<Node<'tree>> {
    let child = |field| node.child(field).into_iter().collect();
    match node.kind() {
        Kind::CALL | Kind::NEW => {
            let looks = |name: &String| LOOKING.contains(&name.as_str()) || is_import(name);
            if names.iter().any(looks) { Vec::new() } else { values::arguments(node) }
        }
        Kind::RETURN | Kind::SPREAD | Kind::ARRAY => node.children().collect(),
        Kind::PAIR => child(Field::VALUE),
        Kind::SHORTHAND => vec![node],
        Kind::ARROW_FUNCTION => child(Field::BODY),
        Kind::ASSIGNMENT_PATTERN => child(Field::RIGHT),
        Kind::ASSIGNMENT => {
            let target = node.child(Field::LEFT).map(Node::kind);
            let is_kept = matches!(target, Some(Kind::MEMBER | Kind::SUBSCRIPT));
            if is_kept { child(Field::RIGHT) } else { Vec::new() }
        }
        // Properties of the class.
        Kind::CLASS_BODY => node.children().filter_map(|one| one.child(Field::VALUE)).collect(),
        _ => Vec::new(),
    }
}

/// The module that a call imports, if its name stands there.
pub(super) fn imported(node: Node<'_>, source: &str) -> Option<String> {
    if node.kind() != Kind::CALL {
        return None;
    }
    let callee = node.child(Field::FUNCTION)?;
    let name = source.get(callee.byte_range())?;
    if !(name.len() < 64 && is_import(name)) {
        return None;
    }
    let module = values::first(node).filter(|one| one.kind() == Kind::STRING)?;
    quoted(module, source).whole().map(module_name)
}

/// The name that a function gives its first argument.
pub(super) fn parameter(function: Node<'_>) -> Option<Node<'_>> {
    if !function.kind().is_function() {
        return None;
    }
    if let Some(only) = function.child(Field::PARAMETER) {
        return Some(only);
    }
    let list = function.children().find(|one| one.kind() == Kind::FORMAL_PARAMETERS)?;
    let first = list.children().next()?;
    match first.kind() {
        Kind::REQUIRED_PARAMETER | Kind::OPTIONAL_PARAMETER => first.child(Field::PATTERN),
        _ => Some(first),
    }
}
