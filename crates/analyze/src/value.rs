//! The value of an expression, as far as it stands in the code: a text, or a list of texts.

use crate::literal::Literal;

/// The value of an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: Literal,
    /// Its elements, if it is a list.
    pub(crate) items: Option<Vec<Literal>>,
    /// The kind of something that is neither.
    pub(crate) kind: ValueKind,
    /// Whether it is a module that was imported.
    pub(crate) is_module: bool,
    /// Whether it is a file that is only in memory, or was noted when it was opened.
    pub(crate) is_memory: bool,
}

/// The kind of a value that is an option, or holds some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ValueKind {
    #[default]
    Other,
    /// `True`.
    On,
    /// `False`, `None`, or the file that holds nothing.
    Off,
    /// A table that is written there.
    Table,
}

impl Value {
    /// Whether anything of it is known.
    pub(crate) fn is_known(&self) -> bool {
        self.items.is_some() || !self.text.start().is_empty() || self.text.whole().is_some()
    }

    /// Its list goes on with something that is computed.
    pub(crate) fn grow(&mut self) {
        if let Some(items) = &mut self.items {
            items.push(Literal::computed());
        }
    }

    /// How many bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let items = self.items.iter().flatten().map(Literal::len);
        self.text.len() + items.sum::<usize>()
    }
}
