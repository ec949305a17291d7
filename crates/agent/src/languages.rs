//! Versions that interpreters report when they are started.

pub use interpreter_exec::{Interpreter, Known};

use crate::{AgentError, Context};
use interpreter_core::{Language, Untrusted, Workspace};
use std::collections::BTreeMap;

/// The version that each interpreter answers with, or why it does not, by language. Each is
/// started in a sandbox that shows the work folder read-only; no code is run.
pub async fn check(
    context: &Context,
) -> Result<BTreeMap<String, Result<Untrusted, Untrusted>>, AgentError> {
    let table = context.interpreters().languages();
    let early = |language: &Language| context.interpreters().may_start_early(language);
    let languages: Vec<Language> =
        table.names().filter_map(|name| table.find(name)).filter(early).collect();
    let mut confinement = context.confinement();
    confinement.workspace = Workspace::ReadOnly;
    let answers =
        interpreter_exec::check(&languages, context.interpreters(), confinement, context.machine());
    let names = languages.iter().map(|language| language.name().to_owned());
    Ok(names.zip(answers.await?).collect())
}
