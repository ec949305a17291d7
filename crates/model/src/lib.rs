//! Talks to models: one streaming interface over every way of reaching one.
//!
//! A [`Request`] goes in; [`ReplyPiece`]s come out while the model writes, and a
//! [`Reply`](interpreter_core::Reply) when it is done. A wire format is a pure pair of functions,
//! one that writes a request and one that reads events; only `http` asks a model over the network,
//! and `scripted` reads one from a file. Replies are passed on unchanged: nothing here judges,
//! repairs or runs them.
//!
//! The weights of a model that runs in this process stand in the [`catalogue`]; [`pull`] fetches them,
//! and the [`shelf`] hands them out, checked.
//!
//! A key leaves through the headers of a request and through nothing else: no error of this crate
//! holds one, whatever a provider sends back. A call is tried again, or another model asked, only
//! while nothing of a reply has been shown.

pub use crate::{
    discover::{LocalServer, discover},
    documents::{DocumentAddress, DocumentClient, DocumentError},
    embedded::Weights,
    endpoint::{Caching, Endpoint, KeyHeader, ListAddress, Retries, Timeouts, UsageReport},
    error::{ModelError, Wait},
    http::list_models,
    model::Model,
    pace::Pace,
    piece::{Headway, ReplyPiece},
    price::Price,
    provider::{
        Capabilities, Key, Local, Provider, ProviderError, Providers, Setting, Surroundings,
    },
    request::{Request, Tools},
    scripted::ScriptError,
    trial::{Answered, Trial},
    vault::{Vault, VaultError, VaultReason},
};

mod anthropic;
mod assembly;
pub mod catalogue;
mod complaint;
mod conversation;
mod discover;
mod documents;
mod embedded;
mod endpoint;
#[cfg(any(feature = "embedded", test))]
mod engine;
mod error;
mod fault;
mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gemini;
#[cfg(any(feature = "embedded", feature = "fuzzing", test))]
mod gguf;
mod http;
mod in_the_clear;
mod lines;
mod model;
mod ollama;
mod openai;
mod pace;
mod piece;
mod position;
mod price;
mod provider;
pub mod pull;
mod request;
mod responses;
mod retry;
mod scripted;
pub mod shelf;
mod sink;
mod sse;
mod tool;
mod trial;
mod vault;
