//! Single nodes of a JavaScript tree: their names, texts and parts.

use super::{text::unescape, tree::Node};
use crate::{decode::Encoding, literal::Literal};

/// Most parts of a string that are looked at.
const PARTS: usize = 256;

/// A text without its encoding.
pub(super) fn undone(text: Option<&Literal>, encoding: Encoding) -> Literal {
    let plain = text.and_then(Literal::whole).and_then(|text| encoding.undo(text));
    plain.map_or_else(Literal::computed, Literal::known)
}

/// Something without a name, whose methods still have theirs.
pub(super) fn unknown() -> Vec<String> {
    vec!["?".into()]
}

/// A member of something. `f.call` and `f.default` are `f` for whoever calls them.
pub(super) fn member(of: Vec<String>, property: &str) -> Vec<String> {
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

pub(super) fn module_name(name: &str) -> String {
    module(name)
}

/// The identifiers that a node binds.
pub(super) fn binds(node: Node<'_>) -> Vec<Node<'_>> {
    let name = match node.kind() {
        "variable_declarator" | "function_declaration" => node.child_by_field_name("name"),
        "assignment_expression" | "augmented_assignment_expression" | "for_in_statement" => {
            node.child_by_field_name("left")
        }
        "shorthand_property_identifier_pattern" => Some(node),
        "update_expression" => node.child_by_field_name("argument"),
        "arrow_function" => node.child_by_field_name("parameter"),
        "pair_pattern" => node.child_by_field_name("value"),
        "required_parameter" | "optional_parameter" => node.child_by_field_name("pattern"),
        "formal_parameters" | "array_pattern" => {
            return node.children().filter(|child| child.kind() == "identifier").collect();
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

pub(super) fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    node.children().last()
}

pub(super) fn is_sum(node: Node<'_>) -> bool {
    node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "+")
}

/// The text of an identifier, or of a quoted key.
pub(super) fn name_of(node: Node<'_>, source: &str) -> String {
    match node.kind() {
        "string" => quoted(node, source).whole().unwrap_or_default().to_owned(),
        _ => unescape(source.get(node.byte_range()).unwrap_or_default()),
    }
}

/// Whether a string has more parts than are looked at. Then its text is not known.
pub(super) fn is_cut(node: Node<'_>) -> bool {
    node.children().nth(PARTS).is_some()
}

/// The text between quotes.
pub(super) fn quoted(node: Node<'_>, source: &str) -> Literal {
    if is_cut(node) {
        return Literal::computed();
    }
    node.children().fold(Literal::default(), |text, part| {
        text.then(match part.kind() {
            "string_fragment" | "escape_sequence" => {
                Literal::known(unescape(source.get(part.byte_range()).unwrap_or_default()))
            }
            _ => Literal::computed(),
        })
    })
}
