//! The messages between a session and its front end: requests in, updates out.

use crate::AgentError;
use interpreter_core::{
    Changes, Checkpoint, HostWanted, InputWanted, Language, LongRun, Record, ShownChange,
    Untrusted,
    record::TurnEnd,
    session::{
        AnswerRefused, AnswerTaken, Event, PackagesQuestion, Posed, Question, QuestionAnswer,
        ReplayQuestion,
    },
};
use interpreter_exec::{Completions, ExecError, OpenedFile, StagedLook};
use interpreter_model::Headway;
use interpreter_store::PackedOutput;
use interpreter_workspace::{Export, ExportOf, ReceivedFile};
use tokio::sync::oneshot;

/// Why nothing was begun. Nothing of it is on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotBegun {
    /// Something is under way.
    Busy,
    /// Something else was decided since.
    LookAgain,
    /// Outputs that belong to it could not be kept on the disk.
    NotKept,
    /// The session is over.
    Ended,
}

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
    Ask(Box<Posed<Question>>),
    /// The person is to be asked whether cells may run again.
    Replay(Box<Posed<ReplayQuestion>>),
    /// The run has come to this line of its code.
    Line(u32),
    /// The code asks the person for a line.
    Input(Posed<InputWanted>),
    /// The person is to be asked whether code that has been running for long may continue.
    LongRun(Posed<LongRun>),
    /// The code wants to reach a host that is not listed, and waits.
    Host(Posed<HostWanted>),
    /// The person is to be asked whether packages may be installed.
    Packages(Posed<PackagesQuestion>),
    /// The person is to be asked what becomes of staged changes.
    Review(Posed<Changes>),
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

/// Who looks at what is staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looker {
    /// The name of the client. None at the terminal, which shows the names alone.
    pub who: Option<String>,
    /// Whether they may decide on it. Whoever may not takes no snapshot from those who may.
    pub decides: bool,
    /// The path that they look at; all of it without one.
    pub path: Option<String>,
}

/// Files that a person takes elsewhere.
#[derive(Debug)]
pub(crate) enum FilesWanted {
    /// One of them.
    One { path: String, reply: oneshot::Sender<Result<OpenedFile, ExecError>> },
    /// A list to open them by.
    List { of: ExportOf, reply: oneshot::Sender<Result<Export, ExecError>> },
    /// A patch.
    Patch { of: ExportOf, reply: oneshot::Sender<Result<OpenedFile, ExecError>> },
}

/// A wish of a front end.
pub(crate) enum Request {
    /// The same, for a file that is to be staged.
    Put {
        path: String,
        file: ReceivedFile,
        who: String,
        reply: oneshot::Sender<Result<u64, NotBegun>>,
    },
    /// Open files for reading.
    Files(FilesWanted),
    /// Take these in one after another if nothing is under way, and say after which record. If they
    /// name the newest record of changes, it must be that. Outputs that belong to them are kept before.
    Begin {
        events: Vec<Event>,
        beside: Vec<PackedOutput>,
        who: Option<String>,
        newest: Option<u64>,
        reply: oneshot::Sender<Result<u64, NotBegun>>,
    },
    /// Show what is staged as lists and hunks, as far as nobody is deciding on it anew.
    LookAtChanges { id: String, by: Looker, reply: oneshot::Sender<Result<StagedLook, ExecError>> },
    /// Take this in. It comes from the client of this name.
    Happened { event: Event, who: Option<String> },
    /// Take this answer in, and say whether it counts.
    Answer {
        given: Box<QuestionAnswer>,
        reply: oneshot::Sender<Result<AnswerTaken, AnswerRefused>>,
    },
    /// Keep checkpoints from now on.
    KeepCheckpoints,
    /// Say what a checkpoint holds.
    Checkpoint { number: u32, reply: oneshot::Sender<Option<Checkpoint>> },
    /// Say how many programs code has left running.
    CountPrograms(oneshot::Sender<u32>),
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
