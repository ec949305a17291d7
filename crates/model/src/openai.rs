//! The chat-completions format, which most servers speak, each in its own dialect.
//!
//! [`request`] writes a request, [`Parser`] reads what is streamed back. Both are pure.

pub(crate) use crate::openai::{parser::Parser, request::request};

mod parser;
mod request;
