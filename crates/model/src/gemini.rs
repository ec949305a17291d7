//! The `generateContent` format of Google.
//!
//! [`request`] writes a request, [`parse`] reads an event of the reply. Both are pure.

pub(crate) use crate::gemini::{parser::parse, request::request};

mod parser;
mod request;
