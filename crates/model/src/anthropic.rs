//! The messages format of Anthropic.
//!
//! [`request`] writes a request, [`parse`] reads an event of the reply. Both are pure.

pub(crate) use crate::anthropic::{parser::parse, request::request};

mod parser;
mod request;
