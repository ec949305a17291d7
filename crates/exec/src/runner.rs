//! Runs permitted code in a session's sandbox, and reports what happens.
//!
//! A runner is a task of its own. [`Command`]s go in, [`Happening`]s come out. It starts the
//! sandbox and its kernels when they are first needed, or earlier when it is told to
//! [`Command::Prepare`], keeps them between runs, and starts afresh what has died. Time, output
//! and death are measured here, outside of the sandbox; what comes from inside is a claim.
//!
//! Running takes a [`Permit`] by value. Nothing else makes code run.

use crate::{
    ExecError, Interpreters,
    egress::{Asks, Upstream},
    sandbox::{Machine, Protection},
    workspace::{Conflict, Place},
};
use interpreter_core::{
    Confinement, Denial, FileChange, HostContact, Language, LeftOut, Permit, Untrusted,
    record::ChangesState,
    session::{Chunk, HostAnswer, HostWanted, InputWanted, Ran, Typed},
};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

mod actor;
pub mod attack;
mod budget;
mod cell;
mod check;
mod complete;
mod death;
mod ending;
mod hearing;
mod hosts;
mod live;
mod restart;
mod staged;
mod staging;

pub use self::{check::check, complete::Completions};

/// What a runner needs to know.
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
    /// Whether the person is asked about hosts that are not listed; none means that there is no
    /// way out at all.
    pub asks: Option<Asks>,
}

/// What a runner can be told.
#[derive(Debug)]
pub enum Command {
    /// Start the sandbox and the language's kernel, unless they are there.
    Prepare {
        /// The language.
        language: Language,
        /// What bounds it.
        confinement: Confinement,
    },
    /// Run this. A [`Happening::Ready`] for its language must have come first.
    Run(Permit),
    /// Interrupt what runs; if it does not heed that, end its kernel.
    Interrupt,
    /// Hand the code what the person typed.
    Answer(Typed),
    /// Let code reach a host, or refuse it.
    AnswerHost(HostAnswer),
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
    /// Put that snapshot into the person's folder.
    Apply(Conflict),
    /// Forget staged changes.
    Discard,
    /// Show as a diff the snapshot that was taken last.
    Diff(oneshot::Sender<Result<Untrusted, ExecError>>),
    /// End everything.
    Stop,
}

/// What a runner reports.
#[derive(Debug)]
pub enum Happening {
    /// The kernel of a language is ready to run code.
    Ready(Report),
    /// The code printed something.
    Output(Chunk),
    /// The run has come to this line.
    Line(u32),
    /// The code asks the person for a line.
    InputWanted(InputWanted),
    /// The code wants to reach a host that is not listed, and waits.
    HostWanted(HostWanted),
    /// The run ended.
    Ran(Ran),
    /// A kernel that had nothing to run has ended.
    KernelEnded {
        /// Its language.
        language: Language,
        /// How: `was ended by …`, `exited with …`.
        how: String,
    },
    /// The kernels of these languages are fresh.
    Restarted(Vec<Language>),
    /// This is staged.
    Review {
        /// The change set.
        id: String,
        /// What is in it.
        files: Vec<FileChange>,
        /// The changes that are withheld, and why.
        left_out: Vec<LeftOut>,
    },
    /// Staged changes were applied or discarded.
    Settled {
        /// The change set.
        id: String,
        /// Its state now.
        state: ChangesState,
        /// The files.
        files: Vec<FileChange>,
        /// What was left as it is.
        left_out: Vec<LeftOut>,
    },
    /// What was asked for could not be done.
    Failed(ExecError),
    /// What was left running has tried these after the last run.
    TriedLate(Vec<HostContact>),
    /// This was denied to what was left running after the last run.
    DeniedLate(Vec<Denial>),
    /// Everything has ended.
    Stopped,
}

/// What stands ready, and what bounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The language.
    pub language: Language,
    /// What is enforced and what is missing.
    pub protection: Protection,
}

/// A handle to a runner. Dropping it ends everything.
#[derive(Debug)]
pub struct Runner {
    commands: mpsc::UnboundedSender<Command>,
}

impl Runner {
    /// Starts a runner, which reports to `happenings`.
    pub fn start(setup: RunnerSetup, happenings: mpsc::Sender<Happening>) -> Self {
        let (commands, inbox) = mpsc::unbounded_channel();
        tokio::spawn(actor::Actor::new(setup, happenings).run(inbox));
        Self { commands }
    }

    /// Tells the runner something. Commands are few, so the channel has no bound; if the runner
    /// is gone its last report has said why.
    pub fn tell(&self, command: Command) {
        _ = self.commands.send(command).is_ok();
    }
}
