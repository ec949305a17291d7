//! Single nodes of a JavaScript tree: their names, texts and parts.

use super::{
    kinds::{Field, Kind},
    text::unescape,
    tree::Node,
};
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
    let roots = ["globalThis.", "global.", "window.", "self."];
    let name = roots.into_iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name);
    matches!(name, "require" | "import" | "module.require" | "process.mainModule.require")
        || matches!(name, "module.createRequire()" | "process.getBuiltinModule")
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
        Kind::VARIABLE | Kind::FUNCTION_DECLARATION => node.child(Field::NAME),
        Kind::ASSIGNMENT | Kind::AUGMENTED_ASSIGNMENT | Kind::FOR_IN => node.child(Field::LEFT),
        Kind::SHORTHAND_PATTERN => Some(node),
        Kind::UPDATE => node.child(Field::ARGUMENT),
        Kind::ARROW_FUNCTION => node.child(Field::PARAMETER),
        Kind::PAIR_PATTERN => node.child(Field::VALUE),
        Kind::REQUIRED_PARAMETER | Kind::OPTIONAL_PARAMETER => node.child(Field::PATTERN),
        Kind::FORMAL_PARAMETERS | Kind::ARRAY_PATTERN => {
            return node.children().filter(|child| child.kind() == Kind::IDENTIFIER).collect();
        }
        _ => None,
    };
    name.into_iter()
        .filter(|name| name.kind().is_identifier() || name.kind() == Kind::SHORTHAND_PATTERN)
        .collect()
}

pub(super) fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    node.children().last()
}

pub(super) fn is_sum(node: Node<'_>) -> bool {
    node.child(Field::OPERATOR).is_some_and(|operator| operator.kind() == Kind::PLUS)
}

/// The text of an identifier, or of a quoted key.
pub(super) fn name_of(node: Node<'_>, source: &str) -> String {
    match node.kind() {
        Kind::STRING => quoted(node, source).whole().unwrap_or_default().to_owned(),
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
            Kind::STRING_FRAGMENT | Kind::ESCAPE => {
                Literal::known(unescape(source.get(part.byte_range()).unwrap_or_default()))
            }
            _ => Literal::computed(),
        })
    })
}
