//! The model that a session is had with, and what the session must know of it.
//!
//! The same for the model of the start and for one that takes its place later.

use crate::{AgentError, Scene, driver::Sampling, project::Told};
use interpreter_core::{
    context::{Counter, Gauge},
    instructions::{self, Project, Protocol, Strength, Telling},
    session::{Audience, Sight},
};
use interpreter_model::Model;

/// The most tokens of a small model's reply, unless the person says otherwise: far more than the
/// code that it gets right.
const SMALL_REPLY: u32 = 512;

/// A model, and all that follows from it.
pub(crate) struct Chosen {
    pub(crate) model: Model,
    pub(crate) audience: Audience,
    pub(crate) sampling: Sampling,
    /// What is said of the project's instructions.
    pub(crate) notes: Vec<String>,
}

impl Scene {
    /// The model of this name, or of the settings.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<Chosen, AgentError> {
        let model = self.choice()?.chosen(name)?;
        let Told { files, notes } = self.project_told(&model)?;
        let audience = self.audience(Some(&model), &files);
        let sampling = self.sampling(audience.strength);
        Ok(Chosen { model, audience, sampling, notes })
    }

    /// What a session must know of a model; or of none, where only the person writes code.
    pub(crate) fn audience(&self, model: Option<&Model>, project: &[Project]) -> Audience {
        let strength = model.map_or(Strength::Usual, Model::strength);
        let sight = model.map_or(Sight::Blind, Model::sight);
        let opening = instructions::opening(&Telling {
            languages: &self.interpreters().languages(),
            within: &self.confinement(),
            protocol: model.map_or(Protocol::Fence, |model| model.tools().protocol()),
            strength,
            custom: self.settings.instructions.value.as_deref(),
            project,
        });
        Audience { opening, strength, gauge: self.gauge(model).seeing(sight), sight }
    }

    /// How much a model takes.
    fn gauge(&self, model: Option<&Model>) -> Gauge {
        let Some(model) = model else { return Gauge::new(None, None, Counter::default()) };
        let reply = self.sampling(model.strength()).max_tokens.map(u64::from);
        Gauge::new(model.context(), reply, model.counter())
    }

    /// How a model writes.
    pub(crate) fn sampling(&self, strength: Strength) -> Sampling {
        #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 2")]
        let temperature = self.settings.temperature.value.map(|value| value.value() as f32);
        let max_tokens = self.settings.max_tokens.value.map(Into::into);
        match strength {
            Strength::Usual => Sampling { max_tokens, temperature },
            // The likeliest word is the best guess of a small model, and one that has lost its
            // way does not end by itself.
            Strength::Small => Sampling {
                max_tokens: max_tokens.or(Some(SMALL_REPLY)),
                temperature: temperature.or(Some(0.0)),
            },
        }
    }
}
