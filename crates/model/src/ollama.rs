//! The chat format of Ollama: one JSON document a line.
//!
//! [`request`] writes a request, [`Parser`] reads what is streamed back. Both are pure.

pub(crate) use crate::ollama::{parser::Parser, request::request};

mod parser;
mod request;
