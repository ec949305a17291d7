//! The API for programs: every route is a row of the table and becomes requests of the protocol.
//!
//! An adapter and nothing else: whatever it does, a client of the protocol can do, with the same
//! rights, because the service performs it and checks them. Must not know what a session is.

pub(super) use self::{
    answering::{ApiHttp, answer},
    calls::ApiCall,
    replies::{ApiReply, status_of},
    subscription::{Piece, Subscription},
};

mod answering;
mod asking;
mod calls;
mod openapi;
mod openapi_files;
mod performing;
mod records;
mod replies;
mod subscription;
