//! The record: every event and every effect, in the order they happened.
//!
//! These are the shapes that `--json` prints, that history shows, and that the tamper-evident
//! log keeps. Their field names are a promise to scripts; a change of meaning needs a new
//! [`VERSION`]. Hashing and writing are `interpreter-store`'s.

use crate::{
    Capability, Confinement, Denial, FileChange, Grantor, HostContact, Image, LeftOut, Message,
    Opinion, Origin, Risk, Stream, Untrusted, reply::Finish, session::Grant,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the shapes below.
pub const VERSION: u32 = 1;

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the shapes.
    pub v: u32,
    /// Its place in the whole record, from 1.
    pub seq: u64,
    /// When, as RFC 3339 in UTC with microseconds.
    pub time: String,
    /// The session it belongs to.
    pub session: String,
    /// What.
    #[serde(flatten)]
    pub body: Body,
}

/// What happened, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are described in docs/json.md, by name")]
pub enum Body {
    /// A session began.
    SessionStarted { version: String, model: Option<String>, confinement: Box<Confinement> },
    /// From here on the model is another one.
    ModelChanged { model: String },
    /// The person asked.
    Prompt { text: String },
    /// The person shows the model a picture, with the next prompt.
    Image {
        name: String,
        #[serde(flatten)]
        image: Image,
        kept: Kept,
    },
    /// A model is about to be called, with this many messages; the newest ones are in full.
    Request { model: String, messages: usize, newest: Vec<Message> },
    /// A model answered.
    Reply { text: Untrusted, reasoning: Untrusted, finish: Finish },
    /// The oldest part of the conversation in short, by the model.
    Summary { text: Untrusted },
    /// What a reply cost.
    Usage {
        input: u64,
        output: u64,
        #[serde(skip_serializing_if = "is_zero", default)]
        cached: u64,
        /// In US dollars.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost: Option<f64>,
        /// The most tokens that the model takes, what it is sent and its reply together.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        context: Option<u64>,
    },
    /// Code wants to run.
    Proposal { id: String, origin: Origin, language: String, code: Untrusted, hash: String },
    /// A block of code in a reply is not a proposal.
    NotProposed { language: Option<Untrusted>, reason: String },
    /// What analysis says.
    Findings { proposal: String, risk: Risk, capabilities: Vec<Capability> },
    /// What the rules say.
    Verdict { proposal: String, decision: Opinion, rule: String },
    /// What the person said to a question, or what spoke for them.
    Answer {
        proposal: String,
        decision: Decision,
        by: Grantor,
        /// The hash of the code that was approved; another than the proposal's after an edit.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        hash: Option<String>,
        /// The code itself, if it was edited.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<Untrusted>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// Code is about to run.
    RunStarted {
        proposal: String,
        hash: String,
        backend: String,
        enforced: Vec<String>,
        missing: Vec<String>,
    },
    /// The program printed, or showed a result. `bytes` has the exact bytes, as base64, where
    /// they are not valid UTF-8.
    Output {
        proposal: String,
        stream: Stream,
        text: Untrusted,
        mime: String,
        /// Other forms of a result, by kind; pictures and the like as base64.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        bundle: BTreeMap<String, Untrusted>,
        /// The name by which a later result replaces this one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        display: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        bytes: Option<String>,
        /// Where the whole of it is, if it is too large for the record. The record then holds
        /// none of the above but its kind; whoever reads it back is given all of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        kept: Option<Kept>,
    },
    /// The code asks the person for a line.
    InputWanted { proposal: String, prompt: Untrusted, secret: bool },
    /// The person answered; nothing if they had no answer.
    InputGiven { text: Option<String> },
    /// The code wants to reach a host that is not listed.
    HostWanted { proposal: String, host: String, port: u16 },
    /// It may.
    HostGranted {
        proposal: String,
        host: String,
        port: u16,
        #[serde(rename = "for")]
        granted: Grant,
        by: Grantor,
    },
    /// It may not.
    HostRefused { proposal: String, host: String, port: u16, by: Grantor },
    /// What the run did, measured from outside.
    Effects {
        proposal: String,
        files: Vec<FileChange>,
        network: Vec<HostContact>,
        /// What the sandbox stopped.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        denials: Vec<Denial>,
    },
    /// The run ended. `limit` names the limit that ended it; `kernel_ended` that the next run
    /// starts afresh.
    RunFinished {
        proposal: String,
        status: Option<i32>,
        signal: Option<i32>,
        limit: Option<String>,
        kernel_ended: bool,
        ms: u64,
    },
    /// A change set is now in this state.
    Changes {
        id: String,
        state: ChangesState,
        files: Vec<FileChange>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOut>,
    },
    /// The model's turn is over.
    TurnFinished { end: TurnEnd },
    /// Something failed.
    Error { message: String, hint: Option<String> },
    /// Something that changes nothing but should be known.
    Note { text: String },
    /// These outputs are about to make room for newer ones, by the hashes of their files.
    OutputsPruned { hashes: Vec<String> },
    /// The person goes on with a record whose end did not fit, for this reason.
    RecordAccepted { reason: String },
    /// A session ended.
    SessionEnded {},
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Output that has a file of its own, named by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many characters its text has.
    pub characters: u64,
}

/// What a question was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it as it stands.
    Run,
    /// Run the edited code.
    Edit,
    /// Do not run it.
    Reject,
}

/// The state of a change set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangesState {
    /// Waiting for a decision, apart from the person's files.
    Staged,
    /// In the person's files.
    Applied,
    /// Forgotten.
    Discarded,
    /// Taken out of the person's files again.
    Undone,
}

impl ChangesState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
            Self::Undone => "undone",
        }
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// Nothing went wrong that was not put right.
    Done,
    /// The last code that ran failed.
    CodeFailed,
    /// A rule or the person refused.
    Refused,
    /// No sandbox could be had, or the record could not be written; nothing ran.
    CannotConfine,
    /// The model could not be reached, or stopped short.
    ModelFailed,
    /// The person interrupted.
    Interrupted,
    /// The turn used up its model calls.
    TooManyCalls,
}
