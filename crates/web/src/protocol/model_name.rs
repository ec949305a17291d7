//! A client's word for a model.

use serde::Deserialize;

/// The longest word, in bytes. The longest name that a provider is known to list has a third of it.
const LONGEST: usize = 300;

/// A client's word for a model. It is no path, no address and no model yet: it only serves to be
/// compared with the names of those that the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelName(String);

impl ModelName {
    /// The word, to be looked up in the list of what is offered.
    pub(crate) fn to_look_up(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ModelName {
    type Error = String;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        if word.is_empty() || word.len() > LONGEST || word.chars().any(char::is_control) {
            return Err(format!("`model` must be a name, of {LONGEST} bytes at most"));
        }
        Ok(Self(word))
    }
}
