//! The shape of `OpenAI`'s API: chat completions and responses, so that its clients and the front
//! ends that are made for it get code that really runs here.
//!
//! # Threat
//! A client that has code run without a yes: by its text, by a message of the role `system`, by a
//! parameter, by leaving, by asking again; or that gets into the conversation of another caller.
//!
//! # Mechanism
//! An adapter of the protocol, like the API: a request becomes a prompt in a session, and the
//! service performs it and checks the rights. Whatever a client sends is text for the model. A
//! question ends the answer, with a link to the page, and waits there; nothing here can answer one.
//! A conversation goes on in its session only if the caller shows what we answered last in it.
//!
//! Must not know what a session is.

pub(super) use self::{
    answering::{OpenAiHttp, answer},
    conversations::Conversations,
    described::{OpenAiCall, operation, shapes},
    refusal::refused,
};

mod answering;
mod asked;
mod chat_form;
mod content;
mod conversations;
mod described;
mod following;
mod parameters;
mod refusal;
mod replies_seen;
mod response_form;
mod turn;
mod words;
