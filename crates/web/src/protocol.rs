//! Protocol v1: the records of `--json`, and verbs.
//!
//! A request is one JSON object on a line, and so is its reply. Records flow beside the replies, for
//! whoever subscribed. There are no requests from the server to a client: a question is a record, and
//! an answer is a verb. `docs/reference/protocol.md` describes all of it.
//!
//! Pure: from text to values and back. Must not perform anything.

pub(crate) use self::{
    answering::{MOST_TEXT, answer_rights, given_answer},
    beside::{beat_line, broken_line, live_line, row_line, weights_line},
    refusal::{error_line, ok_line},
    request::read,
};
pub use self::{
    look::{LookAt, LookWish},
    model_name::ModelName,
    refusal::{ErrorCode, ProtocolError},
    request::{
        DenyWish, OpenMode, PictureSent, ProtocolRequest, RequestId, ShareWish, TextFileSent,
        VERBS, Verb,
    },
};

mod answering;
mod beside;
mod look;
mod model_name;
mod refusal;
mod request;
