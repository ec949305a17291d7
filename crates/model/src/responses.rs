//! The responses format of `OpenAI`, the newer of its two.
//!
//! [`request`] writes a request, [`parse`] reads an event of the reply. Both are pure.

pub(crate) use crate::responses::{parser::parse, request::request};

mod parser;
mod request;
