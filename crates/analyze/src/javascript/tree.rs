//! A tree of JavaScript code as the walks need it: flat, in the order of the text, without most of
//! its punctuation. It is copied out of the parser's own tree once, whose nodes are slow to ask.

use std::ops::Range;
use tree_sitter::{Language, Point};

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
    /// The line of the first error, from 0.
    pub(super) error: Option<usize>,
}

/// One node. Those inside it follow it, up to `after`.
#[derive(Debug)]
struct Entry {
    kind: &'static str,
    /// The name by which its parent knows it, or nothing.
    field: &'static str,
    bytes: Range<u32>,
    start: (u32, u32),
    end: (u32, u32),
    after: u32,
    is_named: bool,
}

impl Tree {
    /// Copies a tree.
    pub(super) fn of(parsed: &tree_sitter::Tree, words: &Words) -> Self {
        let mut tree = Self::default();
        let mut cursor = parsed.walk();
        let has_error = parsed.root_node().has_error();
        // The nodes that the cursor is inside of, and where each of them is kept, if it is.
        let mut open: Vec<Option<usize>> = Vec::new();
        loop {
            let node = cursor.node();
            if has_error && tree.error.is_none() && (node.is_error() || node.is_missing()) {
                tree.error = Some(node.start_position().row);
            }
            let (kind, is_named) = (words.kind(node.kind_id()), node.is_named());
            // The only sign whose presence is asked for.
            let kept = (is_named || kind == "+").then(|| {
                let field = words.field(cursor.field_id());
                let bytes = narrow(node.start_byte())..narrow(node.end_byte());
                let (start, end) = (point(node.start_position()), point(node.end_position()));
                tree.nodes.push(Entry { kind, field, bytes, start, end, after: 0, is_named });
                tree.nodes.len() - 1
            });
            if cursor.goto_first_child() {
                open.push(kept);
                continue;
            }
            tree.close(kept);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    if has_error {
                        tree.error.get_or_insert(0);
                    }
                    return tree;
                }
                tree.close(open.pop().flatten());
            }
        }
    }

    fn close(&mut self, kept: Option<usize>) {
        let after = narrow(self.nodes.len());
        if let Some(entry) = kept.and_then(|at| self.nodes.get_mut(at)) {
            entry.after = after;
        }
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

/// The words of a grammar: the kinds of its nodes, and the names of its fields.
#[derive(Debug)]
pub(super) struct Words {
    kinds: Vec<&'static str>,
    fields: Vec<&'static str>,
}

impl Words {
    pub(super) fn of(language: &Language) -> Self {
        let kinds = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let fields = 0..=u16::try_from(language.field_count()).unwrap_or(u16::MAX - 1);
        Self {
            kinds: kinds.map(|id| language.node_kind_for_id(id).unwrap_or_default()).collect(),
            fields: fields.map(|id| language.field_name_for_id(id).unwrap_or_default()).collect(),
        }
    }

    /// The parser's own kinds, such as that of an error, have numbers beyond the grammar's.
    fn kind(&self, id: u16) -> &'static str {
        self.kinds.get(usize::from(id)).copied().unwrap_or("ERROR")
    }

    fn field(&self, id: Option<std::num::NonZeroU16>) -> &'static str {
        let name = id.and_then(|id| self.fields.get(usize::from(id.get())));
        name.copied().unwrap_or_default()
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

    /// Its kind, as the grammar calls it.
    pub(super) fn kind(self) -> &'static str {
        self.entry().kind
    }

    /// Whether it is an operator or the like.
    pub(super) fn is_sign(self) -> bool {
        !self.entry().is_named
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
        let (row, column) = self.entry().start;
        Point { row: row as usize, column: column as usize }
    }

    /// Its last line, and the column after it, from 0.
    pub(super) fn end_position(self) -> Point {
        let (row, column) = self.entry().end;
        Point { row: row as usize, column: column as usize }
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
        children.filter(|child| !matches!(child.kind(), "comment" | "html_comment"))
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
    pub(super) fn child_by_field_name(self, name: &str) -> Option<Self> {
        self.all_children().find(|child| child.entry().field == name)
    }
}

fn point(point: Point) -> (u32, u32) {
    (narrow(point.row), narrow(point.column))
}

/// Code is shorter than that.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
