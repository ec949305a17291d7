//! The kinds of foreign text, and the mark before each.

use super::{rows::Wrap, syntax::Syntax};

const PROSE: &str = "  ";
const CODE: &str = "  │ ";
const OUTPUT: &str = "  ┆ ";

/// The kind of foreign text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Words of the model, as Markdown.
    Prose,
    Thoughts,
    /// Code that wants to run.
    Code(Syntax),
    /// Output of a program, with its colours.
    Printed,
    /// A diff.
    Diff,
    /// A sentence of ours that quotes something.
    Told,
    /// Everything else: names, lists, files.
    Output,
}

impl Section {
    /// The mark before every row.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Prose | Self::Thoughts => PROSE,
            Self::Code(_) => CODE,
            Self::Printed | Self::Diff | Self::Told | Self::Output => OUTPUT,
        }
    }

    pub(super) fn wrap(self) -> Wrap {
        match self {
            Self::Prose | Self::Thoughts | Self::Told => Wrap::Words,
            Self::Code(_) | Self::Printed | Self::Diff | Self::Output => Wrap::Anywhere,
        }
    }
}
