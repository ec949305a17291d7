//! Possible meanings of names in JavaScript code.
//!
//! As in Python, scopes and order are not followed: whatever a name is bound to anywhere, it may
//! mean everywhere.

use super::{Descent, each, text::unescape, values};
use crate::literal::Literal;
use std::collections::HashMap;
use tree_sitter::{Node, Tree};

/// Most meanings of one name that are followed.
const MEANINGS: usize = 8;

/// How far a chain like `a.b().c` is followed, and how deep a pattern or a sum of texts.
const CHAIN: usize = 32;

/// Most parts of a string that are looked at.
const PARTS: usize = 256;

/// The names of a script.
#[derive(Debug, Default)]
pub(super) struct Names {
    meanings: HashMap<String, Vec<String>>,
    constants: HashMap<String, Literal>,
}

impl Names {
    pub(super) fn of(tree: &Tree, source: &str) -> Self {
        let mut names = Self::default();
        let mut bound: HashMap<String, usize> = HashMap::new();
        each(tree, |node| {
            match node.kind() {
                "import_statement" => names.import(node, source),
                "variable_declarator" => names.assign(node, "name", "value", source),
                "assignment_expression" => names.assign(node, "left", "right", source),
                _ => {}
            }
            for name in binds(node) {
                *bound.entry(name_of(name, source)).or_default() += 1;
            }
            Descent::Into
        });
        // A name that is bound twice may hold either: then it is not known.
        names.constants.retain(|name, _| bound.get(name) == Some(&1));
        names
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
        let Some(left) = left.checked_sub(1) else { return unknown() };
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
                let index = field("index").map(|index| self.text_within(index, source, left));
                match index.as_ref().and_then(Literal::whole) {
                    Some(property) => member(of, property),
                    None => of.into_iter().map(|name| name + "[]").collect(),
                }
            }
            "call_expression" | "new_expression" => {
                let callee = follow(field("function").or(field("constructor")));
                if callee.iter().any(|name| is_import(name)) {
                    let module = values::first(node);
                    let module = module.map(|node| self.text_within(node, source, left));
                    return module.iter().filter_map(Literal::whole).map(module_name).collect();
                }
                if callee.iter().any(|name| name == "util.promisify") {
                    return follow(values::first(node));
                }
                callee.into_iter().map(|name| name + "()").collect()
            }
            "await_expression" | "parenthesized_expression" => follow(node.named_child(0)),
            // The comma operator gives its last.
            "sequence_expression" => follow(last_child(node)),
            "assignment_expression" => follow(field("right")),
            "ternary_expression" => {
                let mut both = follow(field("consequence"));
                both.extend(follow(field("alternative")));
                both.truncate(MEANINGS);
                both
            }
            "binary_expression" => {
                let mut both = follow(field("left"));
                both.extend(follow(field("right")));
                both.truncate(MEANINGS);
                both
            }
            _ => unknown(),
        }
    }

    /// The text that an expression gives.
    pub(super) fn text(&self, node: Node<'_>, source: &str) -> Literal {
        self.text_within(node, source, CHAIN)
    }

    fn text_within(&self, node: Node<'_>, source: &str, left: usize) -> Literal {
        let Some(left) = left.checked_sub(1) else { return Literal::computed() };
        let of = |name: &str| match node.child_by_field_name(name) {
            Some(node) => self.text_within(node, source, left),
            None => Literal::computed(),
        };
        match node.kind() {
            "string" | "template_string" => quoted(node, source),
            "identifier" => {
                let constant = self.constants.get(&name_of(node, source));
                constant.cloned().unwrap_or_else(Literal::computed)
            }
            "parenthesized_expression" => match node.named_child(0) {
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
        let names = self.follow(callee, source, left);
        let is = |list: &[String]| names.iter().any(|name| list.contains(name));
        let rules = &super::RULES;
        let mut arguments =
            values::arguments(node).into_iter().map(|node| self.text_within(node, source, left));
        if names.iter().any(|name| name == "os.homedir") {
            Literal::known("~")
        } else if is(&rules.joins) {
            let slash = || Literal::known("/");
            arguments.reduce(|folder, name| folder.then(slash()).then(name)).unwrap_or_default()
        } else if is(&rules.passes) {
            arguments.next().unwrap_or_else(Literal::computed)
        } else {
            Literal::computed()
        }
    }

    fn meanings_of(&self, name: &str) -> Vec<String> {
        // The name itself comes first: elsewhere it may still be the built-in.
        let bound = self.meanings.get(name).into_iter().flatten().cloned();
        std::iter::once(name.to_owned()).chain(bound).collect()
    }

    fn bind(&mut self, name: &str, meanings: impl IntoIterator<Item = String>) {
        let known = self.meanings.entry(name.to_owned()).or_default();
        for meaning in meanings {
            if known.len() < MEANINGS && !known.contains(&meaning) && meaning != name {
                known.push(meaning);
            }
        }
    }

    fn import(&mut self, node: Node<'_>, source: &str) {
        let Some(from) = node.child_by_field_name("source") else { return };
        let text = quoted(from, source);
        let Some(module) = text.whole().map(module_name) else { return };
        let Some(clause) = children(node).find(|child| child.kind() == "import_clause") else {
            return;
        };
        for part in children(clause) {
            match part.kind() {
                "identifier" => self.bind(&name_of(part, source), [module.clone()]),
                "namespace_import" => {
                    if let Some(name) = part.named_child(0) {
                        self.bind(&name_of(name, source), [module.clone()]);
                    }
                }
                "named_imports" => {
                    for specifier in children(part) {
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
        if target.kind() == "identifier" && matches!(value.kind(), "string" | "template_string") {
            self.constants.insert(name_of(target, source), quoted(value, source));
        }
        self.bind_pattern(target, &meanings, source, CHAIN);
    }

    fn bind_pattern(&mut self, target: Node<'_>, meanings: &[String], source: &str, left: usize) {
        let Some(left) = left.checked_sub(1) else { return };
        let below = |name: &str| -> Vec<String> { member(meanings.to_vec(), name) };
        match target.kind() {
            "identifier" => self.bind(&name_of(target, source), meanings.iter().cloned()),
            "object_pattern" => {
                for part in children(target) {
                    match part.kind() {
                        "shorthand_property_identifier_pattern" => {
                            let name = name_of(part, source);
                            let meanings = below(&name);
                            self.bind(&name, meanings);
                        }
                        "pair_pattern" => {
                            let key = part.child_by_field_name("key");
                            let value = part.child_by_field_name("value");
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

/// Something without a name, whose methods still have theirs.
fn unknown() -> Vec<String> {
    vec!["?".into()]
}

/// A member of something. `f.call` and `f.default` are `f` for whoever calls them.
fn member(of: Vec<String>, property: &str) -> Vec<String> {
    match property {
        "call" | "apply" | "bind" | "default" => of,
        _ => of.into_iter().map(|name| format!("{name}.{property}")).collect(),
    }
}

/// Whether calling this imports a module.
pub(super) fn is_import(name: &str) -> bool {
    matches!(name, "require" | "import" | "module.require" | "process.mainModule.require")
        || name == "module.createRequire()"
}

/// A module's name as the rules have it.
pub(super) fn module(name: &str) -> String {
    let name = name.strip_prefix("node:").unwrap_or(name);
    if name == "fs/promises" { "fs.promises".into() } else { name.into() }
}

fn module_name(name: &str) -> String {
    module(name)
}

/// The identifiers that a node binds.
fn binds(node: Node<'_>) -> Vec<Node<'_>> {
    let name = match node.kind() {
        "variable_declarator" => node.child_by_field_name("name"),
        "assignment_expression" | "augmented_assignment_expression" | "for_in_statement" => {
            node.child_by_field_name("left")
        }
        "shorthand_property_identifier_pattern" => Some(node),
        "update_expression" => node.child_by_field_name("argument"),
        "arrow_function" => node.child_by_field_name("parameter"),
        "pair_pattern" => node.child_by_field_name("value"),
        "formal_parameters" | "array_pattern" => {
            return children(node).filter(|child| child.kind() == "identifier").collect();
        }
        _ => None,
    };
    name.into_iter()
        .filter(|name| {
            name.kind().ends_with("identifier")
                || name.kind() == "shorthand_property_identifier_pattern"
        })
        .collect()
}

fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let all: Vec<_> = node.named_children(&mut cursor).collect();
    all.into_iter()
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    children(node).last()
}

fn is_sum(node: Node<'_>) -> bool {
    node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "+")
}

/// The text of an identifier, or of a quoted key.
fn name_of(node: Node<'_>, source: &str) -> String {
    match node.kind() {
        "string" => quoted(node, source).whole().unwrap_or_default().to_owned(),
        _ => unescape(source.get(node.byte_range()).unwrap_or_default()),
    }
}

/// The text between quotes.
fn quoted(node: Node<'_>, source: &str) -> Literal {
    children(node).take(PARTS).fold(Literal::default(), |text, part| {
        text.then(match part.kind() {
            "string_fragment" | "escape_sequence" => {
                Literal::known(unescape(source.get(part.byte_range()).unwrap_or_default()))
            }
            _ => Literal::computed(),
        })
    })
}
