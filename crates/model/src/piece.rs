//! What is shown while a model is still writing.

/// A piece of a reply, in the order it came. Everything in it is the model's own text: it goes
/// to a terminal or a page through `Untrusted`, never as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// More of the prose, with its fenced code.
    Text(String),
    /// More of the thoughts that the provider marks as such.
    Reasoning(String),
    /// A tool call begins. Further pieces name it by `index`.
    CallStarted {
        /// Its place among the calls of this reply, from 0; ours, not the provider's.
        index: usize,
        /// The id that the finished reply has for it, too.
        id: String,
        /// The tool's name; empty if the provider has not said it yet.
        name: String,
    },
    /// More of a call's arguments, which are JSON text once they are whole.
    CallArguments {
        /// The call it belongs to.
        index: usize,
        /// The next part of the text.
        text: String,
    },
}
