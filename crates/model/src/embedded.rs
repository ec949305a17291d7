//! A model whose weights are a file of this machine, run by an engine in this very process.

use std::{num::NonZeroUsize, path::PathBuf};

/// A model's weights, and how to run them.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The name after `embedded/`.
    pub name: String,
    /// The GGUF file. Whoever makes this has checked that it is the one it should be.
    pub file: PathBuf,
    /// The SHA-256 of that file, in hexadecimal: saved states are known by it.
    pub sha256: String,
    /// The folder where the state after a conversation's constant beginning may be kept.
    pub saved: PathBuf,
    /// Tokens of context.
    pub context: u32,
    /// Threads to compute with; as many as serve best if none.
    pub threads: Option<NonZeroUsize>,
}
