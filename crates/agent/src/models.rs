//! The available models, and a test of one.

use crate::{AgentError, Context, choose::Choice};
use interpreter_core::roster::Roster;
use interpreter_model::{Provider, discover};
use interpreter_store::{Sourced, keep_model};

pub use interpreter_model::{LocalServer, ModelError, Trial};

/// A provider, and what of it is here.
#[derive(Clone, Debug)]
pub struct Here {
    /// The name before the slash.
    pub name: String,
    /// Display name; for an endpoint of the config file, its address.
    pub title: String,
    /// The word for its wire format.
    pub format: &'static str,
    /// Whether it is usually on this machine.
    pub local: bool,
    /// Its key.
    pub key: KeyState,
    /// The missing part of its address, if any.
    pub lacks: Option<String>,
    /// The server on this machine that answered.
    pub found: Option<LocalServer>,
}

/// Whether a key is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// None is wanted.
    NotNeeded,
    /// It is there.
    Set,
    /// It may be in one of these variables, and is not. Some can do without.
    Missing {
        /// The variables.
        variables: Vec<String>,
        /// Whether it also works without.
        optional: bool,
    },
}

impl Here {
    /// Whether a request could be made now.
    pub fn is_ready(&self) -> bool {
        let key = match &self.key {
            KeyState::NotNeeded | KeyState::Set => true,
            KeyState::Missing { optional, .. } => *optional,
        };
        key && self.lacks.is_none() && (!self.local || self.found.is_some())
    }

    /// The requirement that is missing, if one is.
    pub fn missing(&self) -> Option<String> {
        if self.is_ready() {
            return None;
        }
        if let Some(lacks) = &self.lacks {
            return Some(lacks.clone());
        }
        Some(match &self.key {
            KeyState::Missing { variables, optional: false } => {
                format!("no API key in {}", variables.join(" or "))
            }
            KeyState::NotNeeded | KeyState::Set | KeyState::Missing { .. } => {
                "no local server responds".into()
            }
        })
    }
}

/// All providers and endpoints, with the local servers that answer. Only this machine is asked.
pub async fn list(context: &Context) -> Result<Vec<Here>, AgentError> {
    let choice = context.choice()?;
    let own = context.settings.endpoints.iter().map(|(name, own)| {
        let own = &own.value;
        let variables: Vec<_> = own.key_variable.iter().cloned().collect();
        let there = variables.iter().any(|name| context.environment.secret(name).is_some());
        Here {
            name: name.clone(),
            title: own.base_url.clone(),
            format: own.format.word(),
            local: false,
            key: key_state(variables, there, false),
            lacks: None,
            found: None,
        }
    });
    let mut rows: Vec<_> = own.collect();
    let mut places = Vec::new();
    for provider in context.providers.all() {
        if rows.iter().any(|row| row.name == provider.name) {
            // An endpoint of that name comes first.
            continue;
        }
        let (row, base_url) = row(&choice, &provider);
        rows.push(row);
        places.extend(base_url.map(|base_url| (provider, base_url)));
    }
    for found in discover(places).await {
        if let Some(row) = rows.iter_mut().find(|row| row.name == found.provider) {
            row.found = Some(found);
        }
    }
    Ok(rows)
}

/// The known facts about a provider, without contacting it, and its address.
fn row(choice: &Choice<'_>, provider: &Provider) -> (Here, Option<String>) {
    let (base_url, has_key) = choice.around(provider, |around| {
        (provider.base_url("MODEL", around), provider.has_key(around).unwrap_or(false))
    });
    let key = provider.key.clone();
    let (variables, optional) = key.map_or((Vec::new(), true), |key| (key.variables, key.optional));
    let lacks = base_url.as_ref().err().map(ToString::to_string);
    let row = Here {
        name: provider.name.clone(),
        title: provider.title.clone(),
        format: provider.format.word(),
        local: provider.local.is_some(),
        key: key_state(variables, has_key, optional),
        lacks,
        found: None,
    };
    (row, base_url.ok())
}

fn key_state(variables: Vec<String>, there: bool, optional: bool) -> KeyState {
    match (variables.is_empty(), there) {
        (true, _) => KeyState::NotNeeded,
        (false, true) => KeyState::Set,
        (false, false) => KeyState::Missing { variables, optional },
    }
}

/// The models that a provider or an endpoint lists. It is asked, with its key.
pub async fn roster(context: &Context, name: &str) -> Result<Roster, AgentError> {
    Ok(context.choice()?.roster(name).await?)
}

/// The model of a provider or an endpoint that is used if nobody names one.
pub fn usual(context: &Context, name: &str) -> Result<Option<String>, AgentError> {
    Ok(context.choice()?.usual(name))
}

impl Context {
    /// Uses this model from now on.
    pub fn use_model(&mut self, name: &str) {
        self.settings.model = Sourced::typed(Some(name.to_owned()));
    }

    /// Sets this model in the person's config file.
    pub fn keep_model(&self, name: &str) -> Result<(), AgentError> {
        Ok(keep_model(&self.folders, name)?)
    }
}

/// The name of the model that was tried, and what came of it; `name`, or the one of the settings.
pub async fn test(context: &Context, name: Option<&str>) -> Result<(String, Trial), AgentError> {
    let choice = context.choice()?;
    let model = match name {
        Some(name) => choice.named(name)?,
        None => choice.chosen(None)?,
    };
    Ok((model.name().to_owned(), model.try_out().await))
}
