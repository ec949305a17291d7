//! The messages between a session and its front end: requests in, updates out.

use crate::AgentError;
use interpreter_core::{
    Changes, Checkpoint, HostWanted, InputWanted, Language, Record, ShownChange, Untrusted,
    record::TurnEnd,
    session::{Event, PackagesQuestion, Question, ReplayQuestion},
};
use interpreter_exec::{Completions, ExecError};
use interpreter_model::Headway;
use tokio::sync::oneshot;

/// The purpose of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A model writes code.
    Chat,
    /// The person hands over code; no model is needed.
    Run,
}

/// An update for a front end.
#[derive(Debug)]
pub enum Update {
    /// Something was recorded, all of it at once.
    Records(Vec<Record>),
    /// A piece of a reply, as it comes. It is recorded when the reply is whole.
    Live(Live),
    /// How far the model has come before its first word.
    Headway(Headway),
    /// The person is to be asked whether code may run.
    Ask(Box<Question>),
    /// The person is to be asked whether cells may run again.
    Replay(Box<ReplayQuestion>),
    /// The run has come to this line of its code.
    Line(u32),
    /// The code asks the person for a line.
    Input(InputWanted),
    /// The code wants to reach a host that is not listed, and waits.
    Host(HostWanted),
    /// The person is to be asked whether packages may be installed.
    Packages(PackagesQuestion),
    /// The person is to be asked what becomes of staged changes.
    Review(Changes),
    /// The turn is over.
    TurnFinished(TurnEnd),
    /// The session is over: well, or because it could not go on.
    Ended(Result<(), AgentError>),
}

/// A piece of a reply, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// More prose.
    Text(Untrusted),
    /// More of the model's thoughts.
    Reasoning(Untrusted),
    /// Code begins, in the language that the model named.
    CodeBegins(Option<Untrusted>),
    /// The code of a call begins. Its language may stand behind it.
    CallBegins(Option<Untrusted>),
    /// More code.
    Code(Untrusted),
    /// Code ends.
    CodeEnds,
    /// The reply is over.
    ReplyEnds,
}

/// A wish of a front end.
pub(crate) enum Request {
    /// Take this in.
    Happened(Event),
    /// Keep checkpoints from now on.
    KeepCheckpoints,
    /// Say what a checkpoint holds.
    Checkpoint { number: u32, reply: oneshot::Sender<Option<Checkpoint>> },
    /// Say when everything that was asked for so far is on record.
    Written(oneshot::Sender<()>),
    /// Ask a kernel how code could go on.
    Complete {
        language: Language,
        code: String,
        cursor: usize,
        reply: oneshot::Sender<Completions>,
    },
    /// Show as a diff what is staged by now, at and below these paths or all of it.
    DiffNow { id: String, paths: Vec<String>, reply: oneshot::Sender<Result<Untrusted, ExecError>> },
    /// Show the changes of a set one by one, with their hunks.
    ShowChanges { id: String, reply: oneshot::Sender<Result<Vec<ShownChange>, ExecError>> },
    /// Show a change set as a diff.
    Diff { id: String, reply: oneshot::Sender<Result<Untrusted, ExecError>> },
}
