//! The model that a session is had with, and what the session must know of it.
//!
//! The same for the model of the start and for one that takes its place later.

use crate::{AgentError, Context, project::Told};
use interpreter_core::{
    budget::Budget,
    context::{ContextWindow, Counter},
    instructions::{self, Project, Protocol, Strength, Telling},
    session::ModelProfile,
};
use interpreter_model::Model;

/// The most tokens of a small model's reply, unless the person says otherwise: far more than the
/// code that it gets right.
const SMALL_REPLY: u32 = 512;

/// A model, and all that follows from it.
pub(crate) struct Chosen {
    pub(crate) model: Model,
    pub(crate) profile: ModelProfile,
    pub(crate) sampling: Sampling,
    /// Notes about the project's instructions and about budgets.
    pub(crate) notes: Vec<String>,
}

/// Settings for replies.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    pub(crate) max_tokens: Option<u32>,
    pub(crate) temperature: Option<f32>,
}

impl Context {
    /// The model of this name, or of the settings.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<Chosen, AgentError> {
        let choice = self.choice()?;
        let name = name.or(self.picked.as_deref());
        let model = choice.chosen(choice.apart(name))?;
        let Told { files, mut notes } = self.project_told(&model)?;
        notes.extend(self.uncounted(&model));
        notes.extend(model.in_the_clear());
        let profile = self.profile(Some(&model), &files);
        let sampling = self.sampling(profile.strength);
        Ok(Chosen { model, profile, sampling, notes })
    }

    /// A note for each model whose cost no budget can know.
    fn uncounted(&self, model: &Model) -> Vec<String> {
        let Budget { session, day } = self.settings.budget();
        let set = [("session", session), ("day", day)];
        let Some((span, _)) = set.into_iter().find(|(_, most)| most.nano_dollars.is_some()) else {
            return vec![];
        };
        let note = |name| {
            format!(
                "the price of {name} is not known, so `budget.{span}.cost` counts only what its \
                 provider reports; `budget.{span}.tokens` limits it in any case"
            )
        };
        model.of_unknown_price().map(note).collect()
    }

    /// The properties of a model that a session depends on, or the defaults without a model.
    pub(crate) fn profile(&self, model: Option<&Model>, project: &[Project]) -> ModelProfile {
        let strength = model.map_or(Strength::Usual, Model::strength);
        let sees_images = model.is_some_and(Model::sees_images);
        let installed = self.installed_packages();
        let opening = instructions::opening(&Telling {
            languages: &self.interpreters().languages(),
            within: &self.confinement(),
            protocol: model.map_or(Protocol::Fence, |model| model.tools().protocol()),
            strength,
            custom: self.settings.instructions.value.as_deref(),
            project,
            packages: self.packages_told(&installed),
        });
        // A file of the project may hold a secret.
        let opening = opening.into_iter().map(|message| self.redactor.message(message)).collect();
        ModelProfile {
            opening,
            strength,
            window: self.window(model).seeing(sees_images),
            sees_images,
        }
    }

    /// How much a model takes.
    fn window(&self, model: Option<&Model>) -> ContextWindow {
        let Some(model) = model else { return ContextWindow::new(None, None, Counter::default()) };
        let reply = self.sampling(model.strength()).max_tokens.map(u64::from);
        ContextWindow::new(model.context(), reply, model.counter())
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
