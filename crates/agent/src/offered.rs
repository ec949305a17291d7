//! Which model a session of the server talks to: one that its settings offer.

use crate::{AgentError, Context, choose::ChooseError};
use interpreter_core::Untrusted;

/// Characters of a client's word that are repeated.
const TOLD: usize = 80;

/// Names that are listed in a refusal.
const LISTED: usize = 20;

/// The way to a model that the settings offer. Only the settings make one: see [`Context::offered`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedModel(String);

impl OfferedModel {
    /// The word by which a running session finds it.
    pub fn word(&self) -> &str {
        &self.0
    }
}

impl Context {
    /// The names of models that are offered, as far as nobody has to be asked.
    pub fn offers(&self) -> Result<Vec<String>, AgentError> {
        Ok(self.choice()?.offers())
    }

    /// The offered model of this name. If it can only be known by its endpoint or provider, that is
    /// asked.
    pub async fn offered(&self, name: &str) -> Result<OfferedModel, AgentError> {
        let choice = self.choice()?;
        if let Some(word) = choice.offered(name) {
            return Ok(OfferedModel(word));
        }
        if choice.is_listed(name).await? {
            return Ok(OfferedModel(name.to_owned()));
        }
        Err(self.not_offered(name)?)
    }

    /// The model of an earlier session, by its name in the record: if it is offered, or one of an
    /// endpoint or a provider that is still known.
    pub fn offered_before(&self, name: &str) -> Result<OfferedModel, AgentError> {
        let choice = self.choice()?;
        if let Some(word) = choice.offered(name) {
            return Ok(OfferedModel(word));
        }
        if choice.is_of_known_place(name) {
            return Ok(OfferedModel(name.to_owned()));
        }
        Err(self.not_offered(name)?)
    }

    /// Has sessions talk to this model.
    pub fn talk_to(&mut self, model: OfferedModel) {
        self.picked = Some(model.0);
    }

    fn not_offered(&self, name: &str) -> Result<AgentError, AgentError> {
        let mut offered = self.offers()?;
        offered.truncate(LISTED);
        let name = Untrusted::new(name).for_terminal_line(TOLD);
        Ok(ChooseError::NotOffered { name, offered }.into())
    }
}
