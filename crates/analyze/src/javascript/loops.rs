//! Loops of JavaScript that never end.

use super::{
    kinds::{Field, Kind},
    tree::Node,
};
use crate::fuel::Fuel;

/// How a loop that only something inside it ends goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Ends,
    Endless,
    /// It also takes more memory each time.
    Growing,
}

/// How such a loop goes on. Nothing if the loop is not one.
pub(super) fn ending(node: Node<'_>, source: &str, fuel: &Fuel) -> Option<Ending> {
    let condition = node.child(Field::CONDITION);
    let text = condition.and_then(|node| source.get(node.byte_range())).unwrap_or_default();
    let text = text.trim_matches(['(', ')', ';', ' ']);
    let is_endless = match node.kind() {
        Kind::WHILE | Kind::DO => matches!(text, "true" | "1" | "!0"),
        Kind::FOR => matches!(text, "" | "true" | "1"),
        _ => false,
    };
    let body = node.child(Field::BODY)?;
    is_endless.then(|| search(body, source, fuel))
}

fn search(body: Node<'_>, source: &str, fuel: &Fuel) -> Ending {
    // Nodes before these are inside a function, and inside another loop.
    let (mut function, mut inner) = (0, 0);
    let mut grows = false;
    for node in body.within().filter(|node| !node.is_sign()) {
        if node.id() < function {
            continue;
        }
        if fuel.step().is_none() {
            break;
        }
        let kind = node.kind();
        match kind {
            Kind::RETURN | Kind::THROW | Kind::YIELD | Kind::AWAIT => {
                return Ending::Ends;
            }
            Kind::BREAK if node.id() >= inner => return Ending::Ends,
            Kind::CALL | Kind::NEW => {
                let callee = node.child(Field::FUNCTION);
                let callee = callee.or(node.child(Field::CONSTRUCTOR));
                let name = callee.and_then(|callee| source.get(callee.byte_range()));
                let name = name.unwrap_or_default();
                if name.ends_with("process.exit") {
                    return Ending::Ends;
                }
                grows |= [".push", ".concat", ".write", ".spawn", ".fork", "Array", "Buffer.alloc"]
                    .iter()
                    .any(|end| name.ends_with(end));
            }
            _ => {}
        }
        if kind.is_function() || kind == Kind::CLASS_BODY {
            function = node.end();
        }
        if kind.is_loop() {
            inner = inner.max(node.end());
        }
    }
    if grows { Ending::Growing } else { Ending::Endless }
}
