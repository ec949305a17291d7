//! Providers as data: where a model is reached, how, and with which key.
//!
//! # Threat
//! A file that sends a key somewhere else; a setting that turns the host of an address into
//! another one.
//!
//! # Mechanism
//! Every provider is a file. The built-in ones are compiled in; the person's own are handed in as
//! text by the crate that may read the person's home, and a project has none. A file is checked as
//! a whole when it is read. A value inserted into an address may contain no character that ends a
//! host or a path, unless it stands for the whole beginning of the address.
//!
//! # Limits
//! The person's own files are believed: they may name any address and any variable for its key.

pub use self::{
    error::ProviderError,
    file::{Capabilities, Key, Local, Provider, Setting},
    resolve::Surroundings,
    shipped::Providers,
};

mod error;
mod file;
mod resolve;
mod shipped;

#[cfg(test)]
mod tests;
