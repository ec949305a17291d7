//! Loops of JavaScript that never end.

use super::tree::Node;
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
    let condition = node.child_by_field_name("condition");
    let text = condition.and_then(|node| source.get(node.byte_range())).unwrap_or_default();
    let text = text.trim_matches(['(', ')', ';', ' ']);
    let is_endless = match node.kind() {
        "while_statement" | "do_statement" => matches!(text, "true" | "1" | "!0"),
        "for_statement" => matches!(text, "" | "true" | "1"),
        _ => false,
    };
    let body = node.child_by_field_name("body")?;
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
            "return_statement" | "throw_statement" | "yield_expression" | "await_expression" => {
                return Ending::Ends;
            }
            "break_statement" if node.id() >= inner => return Ending::Ends,
            "call_expression" | "new_expression" => {
                let callee = node.child_by_field_name("function");
                let callee = callee.or(node.child_by_field_name("constructor"));
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
        if kind.contains("function") || kind == "class_body" {
            function = node.end();
        }
        let is_loop = kind.ends_with("_statement")
            && ["for", "while", "do", "switch"].iter().any(|start| kind.starts_with(start));
        if is_loop {
            inner = inner.max(node.end());
        }
    }
    if grows { Ending::Growing } else { Ending::Endless }
}
