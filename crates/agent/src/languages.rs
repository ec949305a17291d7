//! What interpreters say of themselves when they are really started.

pub use interpreter_exec::{Interpreter, Known};

use crate::{AgentError, Scene};
use interpreter_core::{Language, Untrusted, Workspace};
use std::collections::BTreeMap;

/// The version that each interpreter answers with, or why it does not, by language. Each is
/// started in a sandbox that shows the work folder read-only; no code is run.
pub async fn check(
    scene: &Scene,
) -> Result<BTreeMap<String, Result<Untrusted, Untrusted>>, AgentError> {
    let table = scene.interpreters().languages();
    let early = |language: &Language| scene.interpreters().may_start_early(language);
    let languages: Vec<Language> =
        table.names().filter_map(|name| table.find(name)).filter(early).collect();
    let mut confinement = scene.confinement();
    confinement.workspace = Workspace::ReadOnly;
    let answers =
        interpreter_exec::check(&languages, scene.interpreters(), confinement, scene.machine());
    let names = languages.iter().map(|language| language.name().to_owned());
    Ok(names.zip(answers.await?).collect())
}
