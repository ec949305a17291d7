//! Where a session stands.

use super::running::Run;
use crate::{
    Confinement, FileChange, Findings, Image, Languages, Message, Proposal, Rules, Verdict,
    context::Gauge, extract::Syntax, instructions::Strength, look::Look, record::TurnEnd,
};
use std::{collections::VecDeque, sync::Arc};

/// What a session starts with. None of it comes from a model or a project unchecked.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The languages that run here.
    pub languages: Languages,
    /// The person's rules.
    pub user_rules: Rules,
    /// The project's rules, which can only tighten.
    pub project_rules: Rules,
    /// What bounds every run.
    pub confinement: Confinement,
    /// Who answers where the rules say ask.
    pub approval: Approval,
    /// How often the model may be called in one turn.
    pub max_calls: u32,
    /// What tells the language of code by its syntax.
    pub syntax: Syntax,
    /// The model that is talked to.
    pub audience: Audience,
}

/// The model that is talked to, as far as a session must know it. It may be changed for another one
/// between two turns.
#[derive(Clone, Debug)]
pub struct Audience {
    /// How the conversation begins: what the model is told before the person says anything.
    pub opening: Vec<Message>,
    /// How much it can be expected to understand.
    pub strength: Strength,
    /// How much it takes.
    pub gauge: Gauge,
    /// Whether it sees pictures.
    pub sight: Sight,
}

/// Whether a model sees pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It does.
    Sees,
    /// It is told in words that there is one.
    Blind,
}

/// Who answers where the rules say ask. Deny stays deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The person.
    AsRulesSay,
    /// The person, even where the rules allow.
    AlwaysAsk,
    /// The person did, beforehand, with `--yes`.
    Yes,
}

/// Where a session stands.
#[derive(Debug)]
pub struct State {
    pub(super) setup: Setup,
    /// The conversation. Shared with the call of the model that is under way.
    pub(super) messages: Arc<Vec<Message>>,
    /// Whether there was ever a picture in it. A conversation without any is not searched for them.
    pub(super) pictures: Pictures,
    /// How many of the messages the model has been sent.
    pub(super) sent: usize,
    /// How much of what the model takes is used.
    pub(super) gauge: Gauge,
    /// Whether the call at hand was made shorter because the provider asked for that.
    pub(super) squeeze: Squeeze,
    pub(super) phase: Phase,
    pub(super) next_id: u32,
    /// Model calls in this turn.
    pub(super) calls: u32,
    /// Results of this turn that a small model was given to try again.
    pub(super) retries: u32,
    /// What the turn ends as if the model has nothing to add.
    pub(super) outcome: TurnEnd,
    /// The change set and its files, if something is staged and undecided.
    pub(super) staged: Option<(String, Vec<FileChange>)>,
    /// Pictures that go with the next prompt.
    pub(super) attached: Vec<Image>,
    /// What the model is told with the next result: kernels that are gone, with their variables.
    pub(super) notices: Vec<String>,
}

/// Whether a conversation may hold pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pictures {
    None,
    Some,
}

#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    Thinking,
    /// The model sums up everything between the opening and `until`.
    Summarising {
        until: usize,
    },
    Looking {
        looks: VecDeque<Look>,
        waiting: VecDeque<Proposal>,
    },
    Judging {
        work: Work,
        version: Version,
    },
    Asking {
        work: Work,
        findings: Findings,
        verdict: Verdict,
    },
    Running(Run),
    Reviewing {
        id: String,
        end: TurnEnd,
    },
    Restarting,
    /// Another model is looked for.
    Switching,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Squeeze {
    NotYet,
    Done,
}

/// Who wrote the code that is being judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Proposed,
    /// The person has edited it. They see it again, with its findings, before it runs.
    Edited,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    None,
    Asked,
}

/// The proposal at hand and those of the same reply that wait behind it.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) current: Proposal,
    pub(super) waiting: VecDeque<Proposal>,
}

impl State {
    /// A session in which nothing has been said.
    pub fn new(setup: Setup) -> Self {
        let messages = Arc::new(setup.audience.opening.clone());
        Self {
            pictures: Pictures::None,
            gauge: setup.audience.gauge.clone(),
            setup,
            messages,
            sent: 0,
            squeeze: Squeeze::NotYet,
            phase: Phase::Idle,
            next_id: 1,
            calls: 0,
            retries: 0,
            outcome: TurnEnd::Done,
            staged: None,
            attached: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The conversation so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Adds to the conversation. A call that is over holds it no more, so nothing is copied.
    pub(super) fn say(&mut self, message: Message) {
        if message.has_images() {
            self.pictures = Pictures::Some;
        }
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Whether the session is over.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// The languages that run here.
    pub fn languages(&self) -> &Languages {
        &self.setup.languages
    }

    /// What bounds every run.
    pub fn confinement(&self) -> &Confinement {
        &self.setup.confinement
    }
}
