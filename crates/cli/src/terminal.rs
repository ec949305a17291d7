//! How a session looks in a terminal, and how keys come in.
//!
//! Whatever a model or a program wrote passes [`gutter`], which spells out what is not plainly
//! visible and keeps it off the first column: a line that starts there is always ours.

pub(crate) mod chat;
pub(crate) mod download;
mod editor;
pub(crate) mod face;
pub(crate) mod first_start;
pub(crate) mod gutter;
pub(crate) mod hosts;
pub(crate) mod json;
pub(crate) mod keys;
pub(crate) mod plain;
pub(crate) mod repl;
pub(crate) mod repl_editor;
pub(crate) mod story;
pub(crate) mod style;
