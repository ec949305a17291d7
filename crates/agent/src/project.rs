//! The project's instructions for the model, if the person trusts them.

use crate::{AgentError, Context};
use interpreter_core::instructions::{Project, Strength};
use interpreter_model::Model;
use interpreter_store::{Instructions, Standing, trust};

/// The part of what a model takes that one file may have.
const SHARE: u64 = 4;

/// Bytes of a token, about.
const BYTES: u64 = 3;

/// The instructions that a session uses, and notes about the others.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) files: Vec<Project>,
    pub(crate) notes: Vec<String>,
}

impl Context {
    /// The project's instructions that the person has said nothing to yet. None for a model that
    /// would not be told them, or a name that leads nowhere; without a name the one that is chosen
    /// is meant.
    pub fn unasked_instructions(
        &self,
        model: Option<&str>,
    ) -> Result<Vec<Instructions>, AgentError> {
        let name = match model {
            Some(name) => name.to_owned(),
            None => self.model_name()?.unwrap_or_default(),
        };
        if !self.may_be_told(&name) {
            return Ok(Vec::new());
        }
        let mut files = self.instructions()?;
        files.retain(|file| file.standing == Standing::Unknown);
        Ok(files)
    }

    /// The project's instructions, whatever the person said to them.
    pub fn instructions(&self) -> Result<Vec<Instructions>, AgentError> {
        Ok(trust::find(&self.folders, &self.work_folder)?.files)
    }

    /// Keeps what the person says to a file, as it was found.
    pub fn keep_trust(&self, file: &Instructions, said: Standing) -> Result<(), AgentError> {
        Ok(trust::keep(&self.folders, file, said)?)
    }

    /// The instructions in the prompt of a model.
    pub(crate) fn project_told(&self, model: &Model) -> Result<Told, AgentError> {
        if model.strength() == Strength::Small {
            return Ok(Told::default());
        }
        let most = model.context().map_or(u64::MAX, |context| context / SHARE * BYTES);
        let found = trust::find(&self.folders, &self.work_folder)?;
        let mut told = Told::default();
        for file in found.files {
            match file.standing {
                Standing::Trusted if file.text.len() as u64 > most => told.notes.push(format!(
                    "{} is not used: it would take more than a quarter of the model's context",
                    file.name
                )),
                Standing::Trusted => {
                    told.notes.push(format!("the model receives {}", file.name));
                    told.files.push(Project { file: file.name.into(), text: file.text });
                }
                Standing::Unknown => told.notes.push(format!(
                    "{} is not used: you have not trusted it; review it with `interpreter trust`",
                    file.name
                )),
                Standing::Refused => {}
            }
        }
        told.notes.extend(found.damaged);
        let unusable = found.unusable.into_iter();
        told.notes.extend(unusable.map(|(name, why)| format!("{name} is not used: {why}")));
        Ok(told)
    }

    /// Whether a model of this name may be told a project's instructions, without making it: not if
    /// it is known to be small, and not if there is none.
    fn may_be_told(&self, name: &str) -> bool {
        let (place, model) = name.split_once('/').unwrap_or((name, ""));
        if name.starts_with("scripted:") {
            return true;
        }
        if let Some(own) = self.settings.endpoints.get(place) {
            return !own.value.small;
        }
        self.providers.get(place).is_some_and(|provider| !provider.capabilities(model).small)
    }
}
