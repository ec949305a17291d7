//! The responses format of `OpenAI`, the newer of its two.
//!
//! [`request`] writes a request, [`Parser`] reads what is streamed back. Both are pure.

pub(crate) use crate::responses::{parser::Parser, request::request};

mod parser;
mod request;
