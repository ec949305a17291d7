//! What a session wants done, and how it stands in the record.

use super::event::{HostAnswer, HostWanted, InputWanted, Settle, Typed};
use crate::{
    Body, FileChange, Findings, Language, Message, Permit, Proposal, Verdict, look::Look,
    record::TurnEnd,
};
use std::sync::Arc;

/// Something to do.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a step has a handful of them, which move once")]
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
        /// What it is sent.
        messages: Arc<Vec<Message>>,
    },
    /// Stop waiting for the model; what has come of its reply is still an event.
    CancelModel,
    /// Analyse the proposal.
    Judge(Proposal),
    /// Read what a run printed, for the model.
    Look(Look),
    /// Ask the person.
    Ask(Question),
    /// Run what was permitted.
    Run(Permit),
    /// Ask the person for a line that the code wants.
    AskInput(InputWanted),
    /// Hand the code what they typed.
    GiveInput(Typed),
    /// Ask the person whether the code may reach a host.
    AskHost(HostWanted),
    /// Let it through or refuse it, and keep what was granted for good.
    AnswerHost(HostAnswer),
    /// Interrupt what runs.
    Interrupt,
    /// End the kernel of a language, or all of them, and start afresh.
    Restart(Option<Language>),
    /// Find the model of this name, and say whether it can be talked to.
    FindModel(String),
    /// Talk to the model that was found from now on.
    UseModel,
    /// Ask the person what becomes of the staged changes.
    Review {
        /// The change set.
        id: String,
        /// What is in it.
        files: Vec<FileChange>,
    },
    /// Do what they decided.
    Settle {
        /// The change set.
        id: String,
        /// What they decided.
        decision: Settle,
    },
    /// The turn is over; wait for the next prompt.
    FinishTurn(TurnEnd),
    /// The session is over; stop everything.
    End,
}

/// What a person is asked before code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The code.
    pub proposal: Proposal,
    /// What it would do.
    pub findings: Findings,
    /// Why they are asked.
    pub verdict: Verdict,
}

impl Effect {
    /// Whether it does anything but to think: then everything so far is on record first. A run is
    /// prepared before its record can say what bounds it, and begins after.
    pub fn reaches_out(&self) -> bool {
        match self {
            Self::Note(_) | Self::Judge(_) | Self::Run(_) | Self::End => false,
            Self::CallModel { .. }
            | Self::Summarise { .. }
            | Self::CancelModel
            | Self::Look(_)
            | Self::Ask(_)
            | Self::AskInput(_)
            | Self::GiveInput(_)
            | Self::AskHost(_)
            | Self::AnswerHost(_)
            | Self::Interrupt
            | Self::Restart(_)
            | Self::FindModel(_)
            | Self::UseModel
            | Self::Review { .. }
            | Self::Settle { .. }
            | Self::FinishTurn(_) => true,
        }
    }

    /// What the record says of it, before it is performed. A run is recorded by the driver,
    /// which knows the sandbox that it is about to start in.
    pub fn body(&self, model: &str) -> Option<Body> {
        match self {
            Self::Note(body) => Some(body.clone()),
            Self::CallModel { messages, unseen } => Some(Body::Request {
                model: model.into(),
                messages: messages.len(),
                newest: messages[messages.len().saturating_sub(*unseen)..].to_vec(),
            }),
            Self::Summarise { messages } => Some(Body::Request {
                model: model.into(),
                messages: messages.len(),
                newest: messages.last().cloned().into_iter().collect(),
            }),
            Self::FinishTurn(end) => Some(Body::TurnFinished { end: *end }),
            Self::End => Some(Body::SessionEnded {}),
            Self::CancelModel
            | Self::Judge(_)
            | Self::Look(_)
            | Self::Ask(_)
            | Self::Run(_)
            | Self::AskInput(_)
            | Self::GiveInput(_)
            | Self::AskHost(_)
            | Self::AnswerHost(_)
            | Self::Interrupt
            | Self::Restart(_)
            | Self::FindModel(_)
            | Self::UseModel
            | Self::Review { .. }
            | Self::Settle { .. } => None,
        }
    }
}
