//! A walk through a tree without recursion, and loops that never end.

use tree_sitter::{Node, Tree};

/// Whether to look inside a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Descent {
    Into,
    Past,
}

/// Visits every node in the order of the text, without recursion.
pub(super) fn each<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>) -> Descent) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) == Descent::Into && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// How a loop that only something inside it ends goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Ends,
    Endless,
    /// It also takes more memory each time.
    Growing,
}

/// How such a loop goes on. Nothing if the loop is not one.
pub(super) fn ending(node: Node<'_>, source: &str) -> Option<Ending> {
    let condition = node.child_by_field_name("condition");
    let text = condition.and_then(|node| source.get(node.byte_range())).unwrap_or_default();
    let text = text.trim_matches(['(', ')', ';', ' ']);
    let is_endless = match node.kind() {
        "while_statement" | "do_statement" => matches!(text, "true" | "1" | "!0"),
        "for_statement" => matches!(text, "" | "true" | "1"),
        _ => false,
    };
    let body = node.child_by_field_name("body")?;
    is_endless.then(|| search(body, source))
}

fn search(body: Node<'_>, source: &str) -> Ending {
    let mut cursor = body.walk();
    let (mut grows, mut depth, mut inner) = (false, 0_usize, Vec::new());
    loop {
        let node = cursor.node();
        let kind = node.kind();
        let is_function = kind.contains("function") || kind == "class_body";
        match kind {
            "return_statement" | "throw_statement" | "yield_expression" | "await_expression" => {
                return Ending::Ends;
            }
            "break_statement" if inner.is_empty() => return Ending::Ends,
            "call_expression" | "new_expression" => {
                let text = source.get(node.byte_range()).unwrap_or_default();
                let name = text.split('(').next().unwrap_or_default();
                if name.ends_with("process.exit") {
                    return Ending::Ends;
                }
                grows |= [".push", ".concat", ".write", ".spawn", ".fork", "Array", "Buffer.alloc"]
                    .iter()
                    .any(|end| name.ends_with(end));
            }
            _ => {}
        }
        if !is_function && cursor.goto_first_child() {
            let is_loop = kind.ends_with("_statement")
                && (kind.starts_with("for")
                    || kind.starts_with("while")
                    || kind.starts_with("do")
                    || kind.starts_with("switch"));
            if is_loop {
                inner.push(depth);
            }
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return if grows { Ending::Growing } else { Ending::Endless };
            }
            depth -= 1;
            if inner.last() == Some(&depth) {
                inner.pop();
            }
        }
    }
}
