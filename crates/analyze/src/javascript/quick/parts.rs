//! The nodes of a quick reading while they are put together: an outer one often begins before it
//! is known that there is one. Knows nothing of JavaScript.

use super::super::{
    kinds::{Field, Kind},
    tree::{Growing, Tree},
};

/// The number of a node.
pub(super) type Id = usize;

/// No node.
const NONE: Id = usize::MAX;

/// One node.
#[derive(Debug)]
struct Part {
    kind: Kind,
    field: Field,
    start: usize,
    end: usize,
    first: Id,
    next: Id,
}

/// The nodes so far.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// Adds a node with these in it, each by the name by which it knows them.
    pub(super) fn node(
        &mut self,
        kind: Kind,
        (start, end): (usize, usize),
        inside: &[(Field, Id)],
    ) -> Id {
        let first = inside.first().map_or(NONE, |&(_, id)| id);
        for (at, &(field, id)) in inside.iter().enumerate() {
            let next = inside.get(at + 1).map_or(NONE, |&(_, id)| id);
            (self.0[id].field, self.0[id].next) = (field, next);
        }
        self.0.push(Part { kind, field: Field::NONE, start, end, first, next: NONE });
        self.0.len() - 1
    }

    /// Adds a node without any in it.
    pub(super) fn leaf(&mut self, kind: Kind, span: (usize, usize)) -> Id {
        self.node(kind, span, &[])
    }

    pub(super) fn kind(&self, id: Id) -> Kind {
        self.0[id].kind
    }

    pub(super) fn start(&self, id: Id) -> usize {
        self.0[id].start
    }

    /// The tree of this node and all in it, in the order of the text.
    pub(super) fn tree(self, root: Id, source: &str) -> Tree {
        let mut tree = Growing::of(source);
        // Nodes that are to be added, and those that are to be closed.
        let mut waiting = vec![(root, None)];
        while let Some((id, opened)) = waiting.pop() {
            if let Some(opened) = opened {
                tree.close(opened);
                continue;
            }
            let part = &self.0[id];
            let opened = tree.open(part.kind, part.field, part.start..part.end);
            if part.next != NONE {
                waiting.push((part.next, None));
            }
            if part.first == NONE {
                tree.close(opened);
            } else {
                waiting.push((id, Some(opened)));
                waiting.push((part.first, None));
            }
        }
        tree.whole()
    }
}
