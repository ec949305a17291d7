//! Replies, and why a request was refused.

use super::request::RequestId;
use serde::Serialize;
use serde_json::{Value, json};

/// The kind of a refusal, for programs. Within v1 codes are added and never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The line is no request: it is not a JSON object, lacks a field or has an unknown one.
    Malformed,
    /// There is no such verb.
    UnknownVerb,
    /// There is no such session, or the caller may not see it.
    UnknownSession,
    /// The caller lacks the right.
    NotAllowed,
    /// The verb is not offered here.
    NotOffered,
    /// The session has ended; `resume` goes on with it.
    Ended,
    /// The session runs, and this needs one that has ended.
    Running,
    /// Something is under way in the session.
    Busy,
    /// A limit is reached.
    TooMany,
    /// The question is closed, or was never open.
    Closed,
    /// The question is open, and its hash is another.
    AnotherHash,
    /// The answer does not fit the question.
    NotFitting,
    /// The question takes a yes from somebody who did not write the code.
    YouWroteIt,
    /// The caller has said yes, and it takes another person's.
    AlreadyApproved,
    /// The changes that were shown are not those that are staged.
    LookAgain,
    /// Many changes were to be applied without the hash of their outline.
    OutlineUnseen,
    /// There is no such file, or it is out of reach.
    NoSuchFile,
    /// No such cell ran in the session.
    NoSuchCell,
    /// No model can be used.
    NoModel,
    /// The settings, a rule or a conflict with the person's files stand against it.
    Refused,
    /// The server is ending.
    Ending,
    /// It failed.
    Failed,
}

impl ErrorCode {
    /// All of them, as the schema lists them.
    pub const ALL: [Self; 22] = [
        Self::Malformed,
        Self::UnknownVerb,
        Self::UnknownSession,
        Self::NotAllowed,
        Self::NotOffered,
        Self::Ended,
        Self::Running,
        Self::Busy,
        Self::TooMany,
        Self::Closed,
        Self::AnotherHash,
        Self::NotFitting,
        Self::YouWroteIt,
        Self::AlreadyApproved,
        Self::LookAgain,
        Self::OutlineUnseen,
        Self::NoSuchFile,
        Self::NoSuchCell,
        Self::NoModel,
        Self::Refused,
        Self::Ending,
        Self::Failed,
    ];
}

/// Why a request was not performed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolError {
    /// Its kind.
    pub code: ErrorCode,
    /// What, on what, why.
    pub message: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Who answered the question before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl ProtocolError {
    /// A refusal without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, by: None }
    }

    /// The same, with the next step.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The line of a request that was performed.
pub(crate) fn ok_line(id: &RequestId, ok: &Value) -> String {
    json!({ "id": id, "ok": ok }).to_string()
}

/// The line of a request that was refused. A line that is no request has no id.
pub(crate) fn error_line(id: Option<&RequestId>, error: &ProtocolError) -> String {
    json!({ "id": id, "error": error }).to_string()
}
