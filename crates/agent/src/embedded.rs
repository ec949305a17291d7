//! Models that run in this program: listing, installing and removing them.

use crate::{AgentError, ChooseError, Context, choose::unknown};
use interpreter_model::{
    pull::{Hub, Tell, pull as download, take},
    shelf::Shelf,
};
use interpreter_store::Folders;
use serde::Serialize;
use std::path::Path;

pub use interpreter_model::{
    catalogue::{Catalogue, CatalogueEntry, Role},
    pull::{Progress, PullError, Pulled},
    shelf::{Held, ShelfError},
};

pub use crate::choose::ENGINE;

/// All that there are, and how much of each is here.
pub fn list(context: &Context) -> Vec<(CatalogueEntry, Held)> {
    let (catalogue, shelf) = (Catalogue::shipped(), shelf(context));
    catalogue.entries().iter().map(|entry| (entry.clone(), shelf.holds(entry))).collect()
}

/// A model of this program, and how much of it is here, as programs read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WeightsRow {
    /// Its name, behind `embedded/`.
    pub name: String,
    /// Its display name.
    pub title: String,
    /// The word for its purpose.
    pub role: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its hash.
    pub sha256: String,
    /// The licence of the weights.
    pub licence: String,
    /// The tokens of its context.
    pub context: u32,
    /// Whether it is installed.
    pub here: bool,
    /// The bytes of an unfinished download.
    pub part: Option<u64>,
}

/// The same list, as programs read it.
pub fn rows(folders: &Folders) -> Vec<WeightsRow> {
    let (catalogue, shelf) = (Catalogue::shipped(), Shelf::new(folders.models_folder()));
    let row = |entry: &CatalogueEntry| {
        let held = shelf.holds(entry);
        let CatalogueEntry { name, title, role, bytes, sha256, licence, context, .. } =
            entry.clone();
        let part = if let Held::Part(bytes) = held { Some(bytes) } else { None };
        let here = held == Held::Whole;
        let role = role.word();
        WeightsRow { name, title, role, bytes, sha256, licence, context, here, part }
    };
    catalogue.entries().iter().map(row).collect()
}

/// The model of this name; without a name, the one that is used unless somebody says otherwise.
pub fn find(name: Option<&str>) -> Result<CatalogueEntry, ChooseError> {
    let catalogue = Catalogue::shipped();
    let found = match name {
        Some(name) => catalogue.get(name),
        None => catalogue.of_role(Role::Default),
    };
    found.cloned().ok_or_else(|| unknown(&catalogue, name.unwrap_or_default()))
}

/// The host that models are downloaded from.
pub fn host(context: &Context) -> String {
    hub(context).host()
}

/// Installs a model: downloads it, or takes it from a file of this machine.
pub async fn pull(
    context: &Context,
    entry: &CatalogueEntry,
    from: Option<&Path>,
    tell: Tell<'_>,
) -> Result<Pulled, AgentError> {
    if from.is_none() && context.settings.offline.value {
        return Err(AgentError::PullOffline { name: entry.name.clone() });
    }
    let shelf = Shelf::new(context.folders.make_models_folder()?);
    if let Some(file) = from {
        return Ok(take(entry, &shelf, file, tell).await?);
    }
    let certificates = context.choice()?.certificates();
    Ok(download(entry, &shelf, &Hub { certificates, ..hub(context) }, tell).await?)
}

/// Reads once how every conversation with a model begins, and keeps the state after it beside the
/// weights: otherwise the first question would wait for that. `tell` hears how many tokens of how
/// many are read.
pub async fn read_ahead(
    context: &Context,
    entry: &CatalogueEntry,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<(), AgentError> {
    let model = context.choice()?.named(&format!("embedded/{}", entry.name))?;
    let opening = context.profile(Some(&model), &[]).opening;
    Ok(model.begin(&opening, tell).await?)
}

fn hub(context: &Context) -> Hub {
    let usual = Hub::default();
    let endpoint = context.environment.text("HF_ENDPOINT").map(str::to_owned);
    Hub {
        endpoint: endpoint.unwrap_or(usual.endpoint),
        token: context.environment.secret("HF_TOKEN"),
        ..usual
    }
}

/// Removes a model from this machine, and says how many bytes that freed.
pub fn remove(context: &Context, entry: &CatalogueEntry) -> Result<u64, AgentError> {
    Ok(shelf(context).remove(entry).map_err(PullError::from)?)
}

fn shelf(context: &Context) -> Shelf {
    Shelf::new(context.folders.models_folder())
}
