//! The record: every event and every effect, in the order they happened.
//!
//! These are the shapes that `--json` prints, that history shows, and that the tamper-evident
//! log keeps. Their field names are a promise to scripts; a change of meaning needs a new
//! [`VERSION`]. Hashing and writing are `interpreter-store`'s.

use crate::{
    Blob, Capability, Changes, Confinement, Denial, FileChange, Grant, Grantor, HostContact,
    HostWanted, Image, InputWanted, Invocation, Message, Opinion, Origin, Output, Person, Piped,
    PutContent, Rewound, Risk, SecretUse, StandingAnswer, ToolCall, Untrusted, WantedUse,
    egress::Host,
    file_header::FileHeader,
    packages::{Package, PackageList, PackageOrder},
    question::{QuestionEnd, RecordedQuestion},
    reply::Finish,
    session::HowAsked,
    taint::OutsideText,
};
use serde::{Deserialize, Serialize};

/// The version of the shapes below.
pub const VERSION: u32 = 1;

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the shapes.
    pub v: u32,
    /// Its place in its session, from 1.
    pub seq: u64,
    /// When, as RFC 3339 in UTC with microseconds.
    pub time: String,
    /// The session it belongs to.
    pub session: String,
    /// The name of the client or person that caused it. `None` for the person at the terminal, and
    /// for whatever nobody caused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub who: Option<String>,
    /// What.
    #[serde(flatten)]
    pub body: Body,
}

/// An event that happened or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are described in docs/reference/json.md, by name")]
pub enum Body {
    /// A session began. The first `opening` messages of its conversation are ours; records of
    /// early versions do not say how many.
    SessionStarted {
        version: String,
        model: Option<String>,
        confinement: Box<Confinement>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        opening: Option<usize>,
        /// How much it asks. Early versions do not say.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        asks: Option<HowAsked>,
        /// Whether it is a conversation of another program, and nothing of it happened here.
        #[serde(skip_serializing_if = "is_false", default)]
        imported: bool,
    },
    /// The conversation of an earlier session goes on. Early versions called it `session`.
    Resumed {
        #[serde(alias = "session")]
        from: String,
        /// The cell of that session before which the conversation was left.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        before: Option<String>,
        /// The last of its records that counts.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        at: Option<SessionHead>,
        /// The question of that session that is asked again in this one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        question: Option<String>,
        /// The place of its code in the reply that it came in.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        place: Option<ReplyPlace>,
        /// Whether code of that session may have read a secret.
        #[serde(skip_serializing_if = "is_false", default)]
        secret: bool,
        /// Whether its model was given outside text.
        #[serde(skip_serializing_if = "is_false", default)]
        outside_text: bool,
        /// Whether its code may hold outside text that the model was not given.
        #[serde(skip_serializing_if = "is_false", default)]
        unseen: bool,
    },
    /// From here on the model is another one, and the conversation has another opening.
    ModelChanged {
        model: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        opening: Option<usize>,
    },
    /// The person asked.
    Prompt { text: String },
    /// The person shows the model a picture, with the next prompt.
    Image {
        name: String,
        #[serde(flatten)]
        image: Image,
        kept: Blob,
    },
    /// Standard input comes with the next prompt.
    Piped(Piped),
    /// The person attaches a text file to the next prompt: its size, and the part that is sent.
    File { name: String, bytes: u64, text: Untrusted },
    /// The model is given the header of a file that the next prompt names.
    FileHeader(FileHeader),
    /// A model is about to be called, with this many messages; the newest ones are in full.
    Request {
        model: String,
        messages: usize,
        /// Whether it is asked to sum up the oldest part of the conversation.
        #[serde(skip_serializing_if = "is_false", default)]
        summary: bool,
        newest: Vec<Message>,
    },
    /// A model answered.
    Reply {
        text: Untrusted,
        reasoning: Untrusted,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        calls: Vec<ToolCall>,
        finish: Finish,
    },
    /// The conversation is changed before the next request: after so many of its messages these
    /// follow. If that is one more than it has, the newest reply comes between.
    Conversation { after: usize, messages: Vec<Message> },
    /// The oldest part of the conversation in short, by the model.
    Summary { text: Untrusted },
    /// The cost of a reply.
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
    Proposal {
        id: String,
        origin: Origin,
        language: String,
        code: Untrusted,
        hash: String,
        /// How it was called, if it came from a command line.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        invocation: Option<Invocation>,
        /// The earlier cell that it runs again.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        again: Option<String>,
        /// The code as it is, encrypted, if known values are masked in `code`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        sealed: Option<String>,
    },
    /// The person wants these cells run again, to rebuild the memory of interpreters.
    Replay {
        cells: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        left_out: Vec<CellLeftOut>,
    },
    /// The person restarted these interpreters.
    Restarted { languages: Vec<String> },
    /// The person goes back to before a cell. It and these after it no longer count.
    Rewound {
        to: String,
        cells: Vec<String>,
        /// Programs that code had left running, and that are ended.
        #[serde(skip_serializing_if = "is_none_left", default)]
        programs: u32,
    },
    /// The memory of interpreters and the staged files are those of then, as far as they could be.
    CameBack(Rewound),
    /// A block of code in a reply is not a proposal.
    NotProposed { language: Option<Untrusted>, reason: String },
    /// The findings of the analysis.
    Findings {
        proposal: String,
        risk: Risk,
        capabilities: Vec<Capability>,
        /// Whether every name in the code is known. Early versions do not say.
        #[serde(skip_serializing_if = "is_false", default)]
        understood: bool,
    },
    /// The model is given text that somebody else may have written, for the first time.
    OutsideText { source: OutsideText },
    /// The verdict of the rules.
    Verdict { proposal: String, decision: Opinion, rule: String },
    /// A question is about to be put to the person.
    Question(RecordedQuestion),
    /// A question is no longer open.
    QuestionClosed { id: String, why: QuestionEnd },
    /// From here on words of this person of a team are in the session: a prompt, code, an edit, the
    /// reason for a no.
    Author { person: Person },
    /// One of the yeses to a question that takes several, or not the author's.
    Approval { question: String, person: Person, missing: u8 },
    /// A yes no longer counts, because its giver may no longer answer.
    ApprovalWithdrawn { question: String, person: Person },
    /// The answer to a question, and who gave it.
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
        /// The edited code as it is, encrypted, if known values are masked in `code`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        sealed: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// From now on this answer holds, without a question.
    StandingGiven(StandingAnswer),
    /// The standing answer of this number holds no more.
    StandingRevoked { number: u32 },
    /// Code is about to run.
    RunStarted {
        proposal: String,
        hash: String,
        backend: String,
        enforced: Vec<String>,
        missing: Vec<String>,
    },
    /// The program printed, or showed a result.
    Output(Output),
    /// The code asks the person for a line.
    InputWanted(InputWanted),
    /// Code is completed by the kernel at the person's key, without being run. A draft may hold
    /// anything, and the record keeps it for good, so it has only the hash.
    CompletionWanted { language: String, hash: String },
    /// A kernel is started before it is needed.
    StartedAhead { language: String },
    /// The person was shown what is staged, line by line.
    DiffShown { id: String },
    /// The person answered; nothing if they had no answer.
    InputGiven { text: Option<String> },
    /// Code had been running for so many seconds when it was settled whether it may continue.
    LongRun { proposal: String, seconds: u64, may_continue: bool, by: Grantor },
    /// The code wants to reach a host that is not listed.
    HostWanted(HostWanted),
    /// It may.
    HostGranted {
        proposal: String,
        host: Host,
        port: u16,
        #[serde(rename = "for")]
        granted: Grant,
        by: Grantor,
    },
    /// This host, which was granted for more than one run, may be reached no more.
    HostRevoked { host: Host, port: u16 },
    /// It may not.
    HostRefused { proposal: String, host: Host, port: u16, by: Grantor },
    /// A request of the code is about to use a secret, or tried to and goes out without it.
    SecretUsed(WantedUse),
    /// Packages are wanted: by code that failed without them, by code that asks for them, or by the
    /// person.
    PackagesWanted {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        proposal: Option<String>,
        #[serde(flatten)]
        order: PackageOrder,
    },
    /// Their index was asked what the order comes to: every package by version and hash.
    PackagesResolved {
        #[serde(flatten)]
        order: PackageOrder,
        list: PackageList,
        tool: String,
        sandbox: String,
        network: Vec<HostContact>,
    },
    /// They are about to be installed or removed, or to be built.
    PackagesGranted {
        #[serde(flatten)]
        order: PackageOrder,
        by: Grantor,
    },
    /// They are not.
    PackagesRefused { by: Grantor },
    /// Packages were installed or removed.
    PackagesChanged {
        installed: Vec<Package>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        removed: Vec<Package>,
        tool: String,
        sandbox: String,
        network: Vec<HostContact>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        remark: Option<String>,
    },
    /// They could not be.
    PackagesFailed {
        #[serde(flatten)]
        order: PackageOrder,
        reason: String,
        network: Vec<HostContact>,
    },
    /// The effects of the run, measured from outside.
    Effects {
        proposal: String,
        files: Vec<FileChange>,
        network: Vec<HostContact>,
        /// Refusals of the sandbox.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        denials: Vec<Denial>,
        /// Uses of secrets, also those that were refused.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        secrets: Vec<SecretUse>,
    },
    /// Programs that code left running tried this while no run went on that it belongs to. `after`
    /// is the newest run until then.
    TriedLate {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        after: Option<String>,
        network: Vec<HostContact>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        denials: Vec<Denial>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        secrets: Vec<SecretUse>,
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
    /// The person wants this done with the session's own change set, or with these paths of it.
    ChangesWanted {
        wish: String,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        paths: Vec<String>,
        /// The hash of the outline that was shown before it, if there is one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        seen: Option<String>,
        /// The file that is to be staged, if that is the wish.
        #[serde(flatten, skip_serializing_if = "Option::is_none", default)]
        put: Option<PutContent>,
    },
    /// A change set is now in this state.
    Changes(Changes),
    /// The turn has used up this many seconds: whatever is under way is stopped.
    TimeUp { seconds: u64 },
    /// The model's turn is over.
    TurnFinished { end: TurnEnd },
    /// Something failed.
    Error { message: String, hint: Option<String> },
    /// Something that changes nothing but should be known.
    Note { text: String },
    /// These outputs are about to make room for newer ones, by the hashes of their files.
    OutputsPruned { hashes: Vec<String> },
    /// The person goes on with a record of which something is missing, for this reason.
    RecordAccepted { reason: String },
    /// The person printed an anchor. It covers these sessions up to their newest record, and
    /// every other session as far as the previous anchor did; `records` is the total.
    Anchored {
        records: u64,
        /// The record of the anchor before it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        since: Option<SessionHead>,
        heads: Vec<SessionHead>,
    },
    /// These sessions are about to be removed on purpose. Always the first record of its session.
    SessionsRemoved { why: RemovalReason, sessions: Vec<SessionHead> },
    /// A session ended.
    SessionEnded {},
}

impl Body {
    /// Whether it changes nothing about the conversation, the files and the variables: it tells of
    /// something printed, of somebody who looked or is typing, or of old outputs.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Output(_)
                | Self::DiffShown { .. }
                | Self::CompletionWanted { .. }
                | Self::StartedAhead { .. }
                | Self::OutputsPruned { .. }
        )
    }
}

/// A record by its place and hash: the newest of a session at some time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionHead {
    /// The session.
    pub session: String,
    /// The number of the record, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// The place of code in a reply that is on record in an earlier session only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyPlace {
    /// Why that reply ended: the end of one that was cut off is no code.
    pub finish: Finish,
    /// Its number among the proposals of that reply, from 1.
    pub number: usize,
}

/// A cell that is not run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellLeftOut {
    /// The id of the cell.
    pub cell: String,
    /// Why not.
    pub why: String,
}

/// Why sessions are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// The person asked for it.
    Asked,
    /// They are older than the setting `keep_sessions` says.
    Age,
    /// The record takes more space than the setting `record_space` says.
    Space,
}

impl RemovalReason {
    /// It in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Asked => "you asked for it",
            Self::Age => "they were older than `keep_sessions`",
            Self::Space => "the record was larger than `record_space`",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_none_left(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The answer to a question.
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
    /// The turn used up its time.
    TimedOut,
    /// A budget is used up.
    OverBudget,
}

#[cfg(test)]
mod tests;
