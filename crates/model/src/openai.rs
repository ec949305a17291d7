//! The chat-completions format, which most servers speak, each in its own dialect.
//!
//! [`request`] writes a request, [`parse`] reads an event of the reply. Both are pure.

pub(crate) use crate::openai::{parser::parse, request::request};

mod parser;
mod request;
