//! The HTTP server: the page, the API and the WebSocket that carries the protocol.
//!
//! [`HttpServer`] listens. Every request passes the gate, which is a pure function of its head, the
//! table of routes and the logins; then the handler of its route answers. Verbs are performed by a
//! [`Service`](crate::Service), which checks the right of the caller again.
//!
//! Must not print, and must not know what a session is.

pub use self::{
    kept_tokens::{TokenError, make_token},
    notices::ServerNotice,
    oidc::LoginProvider,
    options::{HttpError, HttpFront, HttpOptions},
    random_key::NoRandomness,
    server::{Doorkeeper, HttpServer},
};

mod answers;
mod api;
mod connection;
mod cookies;
mod failures;
mod figures;
mod gate;
mod guesses;
mod host_names;
mod jupyter;
mod kept_tokens;
mod logging_in;
mod logins;
mod notices;
mod oidc;
mod open_question;
mod openai;
mod options;
mod page_files;
mod passwords;
mod proxied;
mod random_key;
mod refusal;
mod routes;
mod seats;
mod sent_files;
mod server;
mod shown_results;
mod stalling;
mod token_watch;
mod upgraded;
mod web_socket;
