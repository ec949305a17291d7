//! Actions that a session asks for, and their records.

use super::{
    answers::Posed,
    cells::PastCell,
    changes_wish::ChangesWish,
    event::{HostAnswer, Settle},
    wishes::ReplayQuestion,
};
use crate::{
    Body, Changes, Confinement, Findings, HostWanted, InputWanted, Language, LongRun, Message,
    Permit, Proposal, RewindScope, Rule, Typed, Verdict,
    egress::Host,
    look::Look,
    packages::{PackageList, PackageLookup, PackageOrder, PackagePermit},
    record::TurnEnd,
    redact::Drawn,
};
use std::sync::Arc;

/// Something to do.
#[derive(Debug)]
pub enum Effect {
    /// Nothing but to record this.
    Note(Body),
    /// Send the conversation to the model.
    CallModel {
        /// All of it.
        messages: Arc<Vec<Message>>,
        /// How many of them the model has not seen yet.
        unseen: usize,
    },
    /// Have the model sum up the oldest part of the conversation.
    Summarise {
        /// The messages to send.
        messages: Arc<Vec<Message>>,
    },
    /// Stop waiting for the model; what has come of its reply is still an event.
    CancelModel,
    /// Analyse the proposal.
    Judge(Proposal),
    /// Read what a run printed, for the model.
    Look(Look),
    /// Analyse cells that would run again, one after another in fresh interpreters.
    JudgeAll(Vec<Proposal>),
    /// Ask the person whether they may.
    AskReplay(Posed<ReplayQuestion>),
    /// Ask the person.
    Ask(Posed<Question>),
    /// Start the sandbox and the kernel of a language, unless they are ready.
    Prepare {
        /// The language of the kernel.
        language: Language,
        /// The bounds of the run.
        confinement: Box<Confinement>,
    },
    /// Run what was permitted.
    Run(Permit),
    /// Show the person the line that runs.
    ShowLine(u32),
    /// Ask the person for a line that the code wants.
    AskInput(Posed<InputWanted>),
    /// Hand the code what they typed.
    GiveInput(Typed),
    /// Ask the person whether code that has been running for long may continue.
    AskLongRun(Posed<LongRun>),
    /// Ask the person whether the code may reach a host.
    AskHost(Posed<HostWanted>),
    /// Let it through or refuse it, and keep what was granted for good.
    AnswerHost(HostAnswer),
    /// Code reaches this host no more, by its port. Connections to it end.
    CloseHost(Host, u16),
    /// Let a request go out whose use of a secret is on record, or end it.
    AnswerUse {
        /// By which the proxy knows it.
        number: u64,
        /// Whether it may go out.
        goes_out: bool,
    },
    /// Keep a rule in the person's config file.
    KeepRule(Rule),
    /// Ask the person whether packages may be installed.
    AskPackages(Posed<PackagesQuestion>),
    /// Find out what an order for packages comes to.
    ResolvePackages(PackageLookup),
    /// Install or remove packages, as permitted.
    ChangePackages(PackagePermit),
    /// Stop installing; nothing more is reported of it.
    CancelPackages,
    /// Interrupt what runs.
    Interrupt,
    /// End the kernel of a language, or all of them, and start afresh.
    Restart(Option<Language>),
    /// Go back to a checkpoint, and say what came back.
    Rewind {
        /// Its number.
        number: u32,
        /// The parts that go back.
        scope: RewindScope,
        /// The cells whose variables kernels then have.
        memory: Vec<PastCell>,
    },
    /// Find the model of this name, and say whether it can be talked to.
    FindModel(String),
    /// Talk to the model that was found from now on.
    UseModel,
    /// Take a snapshot of the staged changes.
    Review,
    /// Ask the person what becomes of that snapshot.
    AskChanges(Posed<Changes>),
    /// Apply the snapshot, or discard what is staged.
    Settle(Settle),
    /// Do this with the changes of the session.
    ChangeSet(ChangesWish),
    /// The turn is over; wait for the next prompt.
    FinishTurn(TurnEnd),
    /// The session is over; stop everything.
    End,
}

/// The question to a person before code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The code, with its language.
    pub proposal: Proposal,
    /// The code as it is drawn.
    pub drawn: Drawn,
    /// Its findings.
    pub findings: Findings,
    /// Why they are asked.
    pub verdict: Verdict,
    /// Whether a standing yes could cover code like this.
    pub may_stand: bool,
    /// Whether a yes to this kind of code could become a rule.
    pub may_last: bool,
    /// The hosts that were granted for more than one run, in words.
    pub hosts: Option<String>,
}

/// The question to a person before packages are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagesQuestion {
    /// The packages.
    pub order: PackageOrder,
    /// Everything that would come and go, if the index was asked.
    pub list: Option<PackageList>,
    /// Whether code that failed without them runs again with them.
    pub runs_again: bool,
}

impl Effect {
    /// Whether it does anything but to think: then everything so far is on record first. A kernel
    /// that is prepared has no code yet.
    pub fn reaches_out(&self) -> bool {
        match self {
            Self::Note(_)
            | Self::Judge(_)
            | Self::JudgeAll(_)
            | Self::Prepare { .. }
            | Self::ShowLine(_)
            | Self::End => false,
            Self::CallModel { .. }
            | Self::Summarise { .. }
            | Self::CancelModel
            | Self::Look(_)
            | Self::Ask(_)
            | Self::AskReplay(_)
            | Self::Run(_)
            | Self::AskInput(_)
            | Self::AskLongRun(_)
            | Self::GiveInput(_)
            | Self::AskHost(_)
            | Self::AnswerHost(_)
            | Self::CloseHost(..)
            | Self::AnswerUse { .. }
            | Self::KeepRule(_)
            | Self::AskPackages(_)
            | Self::ResolvePackages(_)
            | Self::ChangePackages(_)
            | Self::CancelPackages
            | Self::Interrupt
            | Self::Restart(_)
            | Self::Rewind { .. }
            | Self::FindModel(_)
            | Self::UseModel
            | Self::Review
            | Self::AskChanges(_)
            | Self::Settle(_)
            | Self::ChangeSet(_)
            | Self::FinishTurn(_) => true,
        }
    }

    /// The record of it, written before it is performed.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a step notes whatever else is to be on record"
    )]
    pub fn body(&self, model: &str) -> Option<Body> {
        match self {
            Self::Note(body) => Some(body.clone()),
            Self::CallModel { messages, unseen } => Some(Body::Request {
                model: model.into(),
                messages: messages.len(),
                summary: false,
                newest: messages[messages.len().saturating_sub(*unseen)..].to_vec(),
            }),
            Self::Summarise { messages } => Some(Body::Request {
                model: model.into(),
                messages: messages.len(),
                summary: true,
                newest: messages.last().cloned().into_iter().collect(),
            }),
            Self::FinishTurn(end) => Some(Body::TurnFinished { end: *end }),
            Self::End => Some(Body::SessionEnded {}),
            _ => None,
        }
    }
}
