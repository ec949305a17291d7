//! The arguments of a JavaScript call, as far as they stand in the code.

use super::{
    kinds::{Field, Kind},
    names::Names,
    tree::Node,
};
use crate::{
    call::{Arguments, Call, REST},
    literal::Literal,
    says::Site,
    value::{Value, ValueKind},
};

/// Most arguments, elements and properties that are looked at.
pub(super) const WIDTH: usize = 64;

/// How deep a list is followed.
const DEPTH: usize = 16;

/// A call as the rules see it.
pub(super) fn call(
    node: Node<'_>,
    callee: Node<'_>,
    names: &Names,
    source: &str,
    at: Site,
) -> Call {
    let arguments = arguments(node);
    let is_spread = |node: &Node<'_>| node.kind() == Kind::SPREAD;
    let spread = arguments.iter().any(is_spread) || is_cut(node);
    let properties = arguments
        .iter()
        .filter(|node| node.kind() == Kind::OBJECT)
        .flat_map(|&object| properties(object, names, source))
        .collect();
    let receiver = callee
        .child(Field::OBJECT)
        .map_or_else(Literal::computed, |object| names.text(object, source));
    let positional = arguments
        .into_iter()
        .take_while(|node| !is_spread(node))
        .map(|node| value(node, names, source))
        .collect();
    Call {
        positional,
        named: properties,
        receiver,
        arguments: if spread { Arguments::Spread } else { Arguments::Seen },
        at,
    }
}

/// The arguments of a call. A tagged template is a call with one.
pub(super) fn arguments(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(list) = node.child(Field::ARGUMENTS) else { return Vec::new() };
    if list.kind() != Kind::ARGUMENTS {
        return vec![list];
    }
    some_children(list)
}

/// The first argument of a call.
pub(super) fn first(node: Node<'_>) -> Option<Node<'_>> {
    arguments(node).into_iter().next()
}

/// Whether a call has more arguments than are looked at, or one of its objects more properties.
pub(super) fn is_cut(node: Node<'_>) -> bool {
    let list = node.child(Field::ARGUMENTS);
    list.filter(|list| list.kind() == Kind::ARGUMENTS).is_some_and(|list| {
        let is_wide = |node: Node<'_>| node.children().nth(WIDTH).is_some();
        is_wide(list) || list.children().any(|child| child.kind() == Kind::OBJECT && is_wide(child))
    })
}

/// The elements of a list, and whether there are more than those.
pub(super) fn elements(node: Node<'_>) -> (Vec<Node<'_>>, bool) {
    (some_children(node), node.children().nth(WIDTH).is_some())
}

fn some_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children().take(WIDTH).collect()
}

fn value(node: Node<'_>, names: &Names, source: &str) -> Value {
    let items = names.items(node, source, DEPTH);
    let kind = match node.kind() {
        Kind::OBJECT => ValueKind::Table,
        _ => match source.get(node.byte_range()) {
            Some("true") => ValueKind::On,
            Some("false" | "null" | "undefined") => ValueKind::Off,
            Some(_) | None => ValueKind::Other,
        },
    };
    Value { text: names.text(node, source), items, kind, ..Value::default() }
}

/// The properties of an object that is written in the call, as if they were named arguments.
fn properties(object: Node<'_>, names: &Names, source: &str) -> Vec<(String, Value)> {
    let option = |part: Node<'_>| match part.kind() {
        Kind::PAIR => {
            let key = part.child(Field::KEY)?;
            let key = source.get(key.byte_range())?.trim_matches(['\'', '"']);
            Some((key.to_owned(), value(part.child(Field::VALUE)?, names, source)))
        }
        Kind::SHORTHAND => {
            let name = source.get(part.byte_range())?;
            let held = names.value(name).filter(|held| names.fuel.copy(held.bytes()).is_some());
            Some((name.to_owned(), held.cloned().unwrap_or_else(computed)))
        }
        Kind::SPREAD => Some((REST.to_owned(), computed())),
        _ => None,
    };
    some_children(object).into_iter().filter_map(option).collect()
}

fn computed() -> Value {
    Value { text: Literal::computed(), ..Value::default() }
}
