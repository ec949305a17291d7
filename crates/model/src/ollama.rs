//! The chat format of Ollama: one JSON document a line.
//!
//! [`request`] writes a request, [`parse`] reads an event of the reply. Both are pure.

pub(crate) use crate::ollama::{parser::parse, request::request};

mod parser;
mod request;
