//! A tree of JavaScript code as the walks need it: flat, in the order of the text, without most of
//! its punctuation. It is copied out of the parser's own tree once, whose nodes are slow to ask.

use super::kinds::{Field, Kind, Numbers};
use std::ops::Range;
use tree_sitter::Point;

/// Whether to look inside a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Descent {
    Into,
    Past,
}

/// The nodes of some code.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Entry>,
    /// Where each line of the code begins.
    lines: Vec<u32>,
    /// The line of the first error, from 0.
    pub(super) error: Option<usize>,
}

/// One node. Those inside it follow it, up to `after`.
#[derive(Debug)]
struct Entry {
    bytes: Range<u32>,
    after: u32,
    kind: Kind,
    /// The name by which its parent knows it.
    field: Field,
}

/// A tree while nodes are added to it, in the order of the text.
#[derive(Debug)]
pub(super) struct Growing(Tree);

impl Growing {
    pub(super) fn of(source: &str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| narrow(at + 1))).collect();
        Self(Tree { lines, ..Tree::default() })
    }

    /// Adds a node. Those that are added until it is closed are inside it.
    pub(super) fn open(&mut self, kind: Kind, field: Field, bytes: Range<usize>) -> usize {
        let bytes = narrow(bytes.start)..narrow(bytes.end);
        self.0.nodes.push(Entry { bytes, after: 0, kind, field });
        self.0.nodes.len() - 1
    }

    pub(super) fn close(&mut self, opened: usize) {
        let after = narrow(self.0.nodes.len());
        if let Some(entry) = self.0.nodes.get_mut(opened) {
            entry.after = after;
        }
    }

    pub(super) fn whole(self) -> Tree {
        self.0
    }
}

impl Tree {
    /// Copies a tree.
    pub(super) fn of(parsed: &tree_sitter::Tree, numbers: &Numbers, source: &str) -> Self {
        let mut tree = Growing::of(source);
        let mut error = None;
        let mut cursor = parsed.walk();
        let has_error = parsed.root_node().has_error();
        // The nodes that the cursor is inside of, and where each of them is kept, if it is.
        let mut open: Vec<Option<usize>> = Vec::new();
        loop {
            let node = cursor.node();
            if has_error && error.is_none() && (node.is_error() || node.is_missing()) {
                error = Some(node.start_position().row);
            }
            let kind = numbers.kind(node.kind_id());
            // The only sign whose presence is asked for.
            let kept = (kind == Kind::PLUS || node.is_named()).then(|| {
                let field = numbers.field(cursor.field_id());
                tree.open(kind, field, node.byte_range())
            });
            if cursor.goto_first_child() {
                open.push(kept);
                continue;
            }
            if let Some(kept) = kept {
                tree.close(kept);
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let error = if has_error { error.or(Some(0)) } else { None };
                    return Self { error, ..tree.whole() };
                }
                if let Some(kept) = open.pop().flatten() {
                    tree.close(kept);
                }
            }
        }
    }

    /// The line and column of a byte, from 0.
    fn point(&self, byte: u32) -> Point {
        let row = self.lines.partition_point(|&start| start <= byte).saturating_sub(1);
        let start = self.lines.get(row).copied().unwrap_or_default();
        Point { row, column: byte.saturating_sub(start) as usize }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Visits every node in the order of the text, without recursion.
    pub(super) fn each<'tree>(&'tree self, mut visit: impl FnMut(Node<'tree>) -> Descent) {
        let mut at = 0;
        while at < self.nodes.len() {
            let node = Node { tree: self, at };
            at = match visit(node) {
                Descent::Into => at + 1,
                Descent::Past => node.after(),
            };
        }
    }
}

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'tree> {
    tree: &'tree Tree,
    at: usize,
}

impl<'tree> Node<'tree> {
    fn entry(self) -> &'tree Entry {
        &self.tree.nodes[self.at]
    }

    fn after(self) -> usize {
        self.entry().after as usize
    }

    /// Its kind.
    pub(super) fn kind(self) -> Kind {
        self.entry().kind
    }

    /// Whether it is an operator or the like.
    pub(super) fn is_sign(self) -> bool {
        self.kind() == Kind::PLUS
    }

    #[cfg(test)]
    pub(super) fn field(self) -> Field {
        self.entry().field
    }

    /// A number that no other node of the tree has.
    pub(super) fn id(self) -> usize {
        self.at
    }

    pub(super) fn byte_range(self) -> Range<usize> {
        let bytes = &self.entry().bytes;
        bytes.start as usize..bytes.end as usize
    }

    /// Its first line and column, from 0.
    pub(super) fn start_position(self) -> Point {
        self.tree.point(self.entry().bytes.start)
    }

    /// Its last line, and the column after it, from 0.
    pub(super) fn end_position(self) -> Point {
        self.tree.point(self.entry().bytes.end)
    }

    /// The nodes in it. Comments stand anywhere and are none of them.
    fn all_children(self) -> impl Iterator<Item = Self> {
        let (tree, end) = (self.tree, self.after());
        let mut at = self.at + 1;
        let children = std::iter::from_fn(move || {
            let child = (at < end).then_some(Self { tree, at })?;
            at = child.after();
            Some(child)
        });
        children.filter(|child| !child.kind().is_comment())
    }

    /// The nodes in it, without its signs and comments.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        self.all_children().filter(|child| !child.is_sign())
    }

    /// The nodes in it, and those in them, itself first.
    pub(super) fn within(self) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        (self.at..self.after()).map(move |at| Self { tree, at })
    }

    /// Where the nodes after it and all in it begin, by [`Node::id`].
    pub(super) fn end(self) -> usize {
        self.after()
    }

    /// The node in it that it knows by a name.
    pub(super) fn child(self, name: Field) -> Option<Self> {
        self.all_children().find(|child| child.entry().field == name)
    }
}

/// Code is shorter than that.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
