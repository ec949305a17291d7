//! Profiles and conversations of the original Open Interpreter (0.4.3), read as data.
//!
//! Everything here came from files that somebody else may have written. Nothing is run, and whatever
//! has no equal here is listed, not dropped.

pub use self::{
    conversation::{Conversation, MOST_MESSAGES},
    profile::{Profile, profile},
    yaml::settings,
};

mod conversation;
mod profile;
mod yaml;

/// A constant in a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// Nothing: `None`, `null`.
    Nothing,
    /// Something that is computed, or made of several.
    Other,
}

/// A name and its constant, with the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name, with dots: `llm.model`.
    pub name: String,
    /// Its value.
    pub value: Constant,
    /// The line, from 1.
    pub line: usize,
}

/// The settings that a file of the original names, and the lines that name none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The settings.
    pub named: Vec<Named>,
    /// Lines that are not understood, from 1.
    pub other: Vec<usize>,
}
