//! The setup and the commands of a runner.

use super::{complete::Completions, input::StandardInput};
use crate::{
    ExecError, Interpreters,
    egress::{Asks, Upstream},
    sandbox::Machine,
};
use interpreter_core::{
    Broker, Changes, Checkpoint, Confinement, Language, Permit, Pick, Redactor, RewindScope,
    Rewound, ShownChange, Typed, Untrusted,
    egress::Host,
    outline::ApplyOrder,
    session::{HostAnswer, TurnReach},
};
use interpreter_workspace::{Export, ExportOf, Place, ReceivedFile};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A snapshot of what is staged, as it is shown.
#[derive(Clone, Debug)]
pub struct StagedLook {
    /// By which a decision names it. No two of a session have the same.
    pub number: u64,
    /// The list.
    pub changes: Changes,
    /// The changes one by one, with their hunks.
    pub shown: Vec<ShownChange>,
}

/// A file that is to be staged.
#[derive(Debug)]
pub struct PutOrder {
    /// Its path in the work folder.
    pub path: String,
    /// The file.
    pub file: ReceivedFile,
    /// The bounds of the session.
    pub confinement: Confinement,
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct OpenedFile {
    /// The file.
    pub file: std::fs::File,
    /// Its size.
    pub bytes: u64,
}

/// The setup of a runner.
#[derive(Clone, Debug)]
pub struct RunnerSetup {
    /// The interpreters of this machine.
    pub interpreters: Interpreters,
    /// The machine.
    pub machine: Machine,
    /// Where change sets are kept.
    pub changes: Place,
    /// The disk space that undo and redo may take, in bytes.
    pub undo_bytes: u64,
    /// The session, for the change set's own description.
    pub session: String,
    /// The person's own proxy for the outside, if they have one.
    pub upstream: Option<Arc<Upstream>>,
    /// Puts secrets into requests, where the person allowed that.
    pub broker: Option<Arc<Broker>>,
    /// Whether the person is asked about hosts that are not listed; none means that there is no
    /// way out at all.
    pub asks: Option<Asks>,
    /// The standard input of the code.
    pub input: StandardInput,
    /// Knows the values that are masked where staged changes are drawn.
    pub redactor: Arc<Redactor>,
}

/// A request to a runner.
#[derive(Debug)]
pub enum Command {
    /// Start the sandbox and the language's kernel, unless they are there.
    Prepare {
        /// The language.
        language: Language,
        /// The bounds of the run.
        confinement: Box<Confinement>,
    },
    /// Run this. An [`Event::Prepared`] for its language must have come first.
    Run(Box<Permit>),
    /// Interrupt what runs; if it does not heed that, end its kernel.
    Interrupt,
    /// Hand the code what the person typed.
    Answer(Typed),
    /// Let code reach a host, or refuse it.
    AnswerHost(HostAnswer),
    /// Let code reach this host no more, by its port, and end the connections to it.
    CloseHost(Host, u16),
    /// Mask these values from now on where staged changes are drawn.
    MaskWith(Arc<Redactor>),
    /// Let a request go out whose use of a secret is on record, or end it.
    AnswerUse {
        /// Which.
        number: u64,
        /// Whether it may go out.
        goes_out: bool,
    },
    /// Ask the kernel of a language how code could go on. It is not asked while something runs;
    /// one that is not there, or does not answer in time, gives no answer.
    Complete {
        /// The language.
        language: Language,
        /// The code as it stands.
        code: String,
        /// Where the cursor is, in bytes.
        cursor: usize,
        /// Who wants to know.
        reply: oneshot::Sender<Completions>,
    },
    /// End the kernel of a language, or all kernels, with everything they started, and start
    /// afresh. Not while something runs.
    Restart(Option<Language>),
    /// Take a snapshot of what is staged, for a person to decide about.
    Review,
    /// Put that snapshot, or what was picked of it, into the person's folder.
    Apply(ApplyOrder),
    /// Forget staged changes, all or those at and below these paths.
    Discard(Vec<String>),
    /// Take a snapshot and put it, or what was picked of it, into the person's folder. Hunks are
    /// picked of the snapshot that was shown last.
    ApplyNow(Vec<Pick>),
    /// Put the snapshot of this number, or what was picked of it, into the person's folder. If
    /// another one was taken since, nothing is applied.
    ApplyShown {
        /// The number that [`StagedLook`] has.
        number: u64,
        /// The changes of it, and the outline that was shown with them.
        order: ApplyOrder,
    },
    /// Forget what the snapshot of this number has, all of it or what is at and below these paths. If
    /// another one was taken since, nothing is forgotten.
    DiscardShown {
        /// The number that [`StagedLook`] has.
        number: u64,
        /// Nothing means all of it.
        paths: Vec<String>,
    },
    /// Stage a file of the person's own. Not while something runs.
    Put(Box<PutOrder>),
    /// Open one file for reading: the staged one, or that of the person's folder.
    OpenFile {
        /// Its path.
        path: String,
        /// The bounds of the session.
        confinement: Box<Confinement>,
        /// Who wants to read it.
        reply: oneshot::Sender<Result<OpenedFile, ExecError>>,
    },
    /// List the files that are staged or were applied, to be taken elsewhere.
    Export {
        /// Which.
        of: ExportOf,
        /// Who wants them.
        reply: oneshot::Sender<Result<Export, ExecError>>,
    },
    /// The same as a patch.
    Patch {
        /// Which.
        of: ExportOf,
        /// Who wants it.
        reply: oneshot::Sender<Result<OpenedFile, ExecError>>,
    },
    /// Take what was applied last out of the person's folder.
    Undo(TurnReach),
    /// Put what was undone last into it once more.
    Redo(TurnReach),
    /// Show as a diff the snapshot that was taken last.
    Diff(oneshot::Sender<Result<Untrusted, ExecError>>),
    /// Show the changes of that snapshot one by one, with their hunks.
    ShowChanges(oneshot::Sender<Result<Vec<ShownChange>, ExecError>>),
    /// Take a snapshot, and show as a diff what it has at and below these paths.
    DiffNow {
        /// Where.
        paths: Vec<String>,
        /// Who wants to know.
        reply: oneshot::Sender<Result<Untrusted, ExecError>>,
    },
    /// Show what is staged as lists and hunks: of a new snapshot, or of the one that somebody is
    /// deciding on.
    Look {
        /// Whether a new one is taken. If it is the same as the one that is held, that stays.
        anew: bool,
        /// Whether its hunks can be picked from now on.
        decides: bool,
        /// The path that is looked at; all of it without one.
        path: Option<String>,
        /// Who wants to know.
        reply: oneshot::Sender<Result<StagedLook, ExecError>>,
    },
    /// Keep what can be gone back to: the memory of kernels and the staged files. It drops all that
    /// were kept under this number or a higher one. Not while something runs.
    Checkpoint {
        /// Its number.
        number: u32,
        /// Who wants to know what was kept.
        reply: oneshot::Sender<Checkpoint>,
    },
    /// Say what is left of a checkpoint: copies of memory end by themselves, or are ended.
    LookAgain {
        /// It as it was taken.
        checkpoint: Checkpoint,
        /// Who wants to know.
        reply: oneshot::Sender<Option<Checkpoint>>,
    },
    /// Go back to a checkpoint. Later ones are gone then; it and earlier ones stay. A kernel whose
    /// memory was not kept is ended. Not while something runs.
    Rewind {
        /// Its number.
        number: u32,
        /// The parts that go back.
        scope: RewindScope,
        /// Who wants to know what came back.
        reply: oneshot::Sender<Result<Rewound, ExecError>>,
    },
    /// Count the programs that run beside the kernels: those that code has left running. Whoever asks
    /// hears nothing where there is no sandbox.
    CountPrograms(oneshot::Sender<u32>),
    /// End everything.
    Stop,
}
