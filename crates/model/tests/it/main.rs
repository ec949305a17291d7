//! The network edge, against a real server on this machine; and the files of providers, against
//! their schema.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod http;
mod list;
mod pull;
mod retry;
mod schema;
mod server;
