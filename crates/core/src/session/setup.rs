//! The setup of a session: languages, rules, confinement and the model.

use super::approval::Approval;
use crate::{
    Confinement, Languages, Message, People, Policy, Redactor, budget::Budget,
    context::ContextWindow, extract::Syntax, file_header::FileHeaders, instructions::Strength,
    packages::PackageSetup, project_code::ProjectCode,
};
use std::sync::Arc;

/// The setup of a session. None of it comes from a model or a project unchecked.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The languages that run here.
    pub languages: Languages,
    /// By what code is judged.
    pub policy: Policy,
    /// The bounds of every run.
    pub confinement: Confinement,
    /// Whether a person is asked about hosts that are not listed there.
    pub asks_for_hosts: bool,
    /// How many people can answer.
    pub people: People,
    /// Who answers where the rules say ask.
    pub approval: Approval,
    /// Whether a model takes part, and so learns what the person runs.
    pub has_model: bool,
    /// How much may be spent.
    pub budget: Budget,
    /// How often the model may be called in one turn.
    pub max_calls: u32,
    /// Detects the language of code by its syntax.
    pub syntax: Syntax,
    /// Which models are given the headers of files that a prompt names.
    pub file_headers: FileHeaders,
    /// Which packages can be installed, and who decides.
    pub packages: PackageSetup,
    /// The code of the work folder that runs by itself with a language.
    pub project_code: ProjectCode,
    /// Takes secrets out of the conversation.
    pub redactor: Arc<Redactor>,
    /// The model that is talked to.
    pub profile: ModelProfile,
}

/// The model that is talked to, as far as a session must know it. It may be changed for another one
/// between two turns.
#[derive(Clone, Debug)]
pub struct ModelProfile {
    /// The opening of the conversation: the messages before the person's first.
    pub opening: Vec<Message>,
    /// How much it can be expected to understand.
    pub strength: Strength,
    /// How much it takes.
    pub window: ContextWindow,
    /// Whether it sees pictures.
    pub sees_images: bool,
}
