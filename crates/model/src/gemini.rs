//! The `generateContent` format of Google.
//!
//! [`request`] writes a request, [`Parser`] reads what is streamed back. Both are pure.

pub(crate) use crate::gemini::{parser::Parser, request::request};

mod parser;
mod request;
