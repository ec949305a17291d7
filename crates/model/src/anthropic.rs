//! The messages format of Anthropic.
//!
//! [`request`] writes a request, [`Parser`] reads what is streamed back. Both are pure.

pub(crate) use crate::anthropic::{parser::Parser, request::request};

mod parser;
mod request;
