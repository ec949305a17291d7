//! Runs a model in this process, with llama.cpp.
//!
//! One thread owns the model and its context. It starts to load when a session begins, so that the
//! model is ready when the person has typed. A [`Request`](crate::Request) goes to it through a
//! channel and text comes back through another. Dropping the second one ends the reply: the thread
//! checks it after each token.
//!
//! As much as possible is decided without the library: how a conversation becomes a prompt
//! (`prompt`), where a reply ends (`ending`), which bytes are text (`text`), which saved state fits
//! (`saved`). `llama` alone calls into it.
//!
//! # Threat
//! Words of a program or of a web page that pass for the marks between turns; a file of saved state that is not ours and is
//! read by C++; a reply without an end.
//!
//! # Mechanism
//! Marks come from the model's template alone: what was said is tokenised as plain text. Saved state is checked by its
//! SHA-256 before the library sees a byte of it. Every reply has a limit of tokens, and loops end before it.
//!
//! # Limits
//! The library is C++ in our own process: a fault in it is a fault of ours. Its weights are checked by whoever hands them over.

mod ending;
mod memory;
mod processor;
mod prompt;
mod saved;
mod text;
mod threads;

#[cfg(feature = "embedded")]
mod llama;
#[cfg(feature = "embedded")]
mod worker;

#[cfg(feature = "embedded")]
pub(crate) use worker::Engine;
