//! What a session wants done, and how it stands in the record.

use super::event::{InputWanted, Settle, Typed};
use crate::{Body, FileChange, Findings, Message, Permit, Proposal, Verdict, record::TurnEnd};

/// Something to do.
#[derive(Debug)]
pub enum Effect {
    /// Nothing but to record this.
    Note(Body),
    /// Send the conversation to the model.
    CallModel {
        /// All of it.
        messages: Vec<Message>,
        /// How many of them the model has not seen yet.
        unseen: usize,
    },
    /// Stop waiting for the model; what has come of its reply is still an event.
    CancelModel,
    /// Analyse the proposal.
    Judge(Proposal),
    /// Ask the person.
    Ask(Question),
    /// Run what was permitted.
    Run(Permit),
    /// Ask the person for a line that the code wants.
    AskInput(InputWanted),
    /// Hand the code what they typed.
    GiveInput(Typed),
    /// Interrupt what runs.
    Interrupt,
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
            Self::FinishTurn(end) => Some(Body::TurnFinished { end: *end }),
            Self::End => Some(Body::SessionEnded {}),
            Self::CancelModel
            | Self::Judge(_)
            | Self::Ask(_)
            | Self::Run(_)
            | Self::AskInput(_)
            | Self::GiveInput(_)
            | Self::Interrupt
            | Self::Review { .. }
            | Self::Settle { .. } => None,
        }
    }
}
