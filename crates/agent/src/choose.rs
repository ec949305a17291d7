//! From the name of a model to the model.
//!
//! `scripted:FILE` plays a file. `NAME/MODEL` is a model of an endpoint: one of the person's own,
//! or a provider that is known from the start. Keys come from the environment and go nowhere but
//! into the endpoint.

use interpreter_model::{Endpoint, Format, Model, ModelError, Tools};
use interpreter_store::{Environment, Settings, WireFormat};
use std::path::Path;

/// Why no model can be had.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// Nobody chose one.
    #[error("no model is chosen")]
    None,
    /// The name is not of a known form.
    #[error("`{name}` does not name a model: `{provider}` is not an endpoint")]
    UnknownEndpoint {
        /// What was written.
        name: String,
        /// The part before the slash.
        provider: String,
    },
    /// The endpoint has no default model.
    #[error("`{name}` names an endpoint but no model of it")]
    NoModel {
        /// What was written.
        name: String,
    },
    /// The model cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A provider that is known from the start.
struct Provider {
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    format: WireFormat,
}

const PROVIDERS: &[Provider] = &[
    Provider {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_variable: "OPENAI_API_KEY",
        format: WireFormat::OpenAi,
    },
    Provider {
        name: "anthropic",
        base_url: "https://api.anthropic.com",
        key_variable: "ANTHROPIC_API_KEY",
        format: WireFormat::Anthropic,
    },
];

/// The forms that a model's name can have, for help.
pub fn model_names(settings: &Settings) -> Vec<String> {
    let own = settings.endpoints.keys().map(String::as_str);
    let known = PROVIDERS.iter().map(|provider| provider.name);
    let mut names: Vec<_> = own.chain(known).map(|name| format!("{name}/MODEL")).collect();
    names.dedup();
    names.push("scripted:FILE".into());
    names
}

/// The model that the settings name.
pub(crate) fn choose(settings: &Settings, environment: &Environment) -> Result<Model, ChooseError> {
    let name = settings.model.value.as_deref().ok_or(ChooseError::None)?;
    if let Some(file) = name.strip_prefix("scripted:") {
        return Ok(Model::scripted(Path::new(file))?);
    }
    let (provider, model) = match name.split_once('/') {
        Some((provider, model)) => (provider, Some(model)),
        None => (name, None),
    };
    let named = |default: Option<&str>| {
        model
            .or(default)
            .filter(|model| !model.is_empty())
            .map(str::to_owned)
            .ok_or_else(|| ChooseError::NoModel { name: name.into() })
    };
    if let Some(own) = settings.endpoints.get(provider) {
        let own = &own.value;
        let model = named(own.model.as_deref())?;
        let mut endpoint = Endpoint::new(format(own.format), own.base_url.clone(), model);
        provider.clone_into(&mut endpoint.provider);
        endpoint.key = own.key_variable.as_deref().and_then(|name| environment.secret(name));
        endpoint.tools = if own.tools { Tools::Offer } else { Tools::None };
        return Ok(Model::remote(endpoint)?);
    }
    let known = PROVIDERS.iter().find(|known| known.name == provider).ok_or_else(|| {
        ChooseError::UnknownEndpoint { name: name.into(), provider: provider.into() }
    })?;
    let mut endpoint = Endpoint::new(format(known.format), known.base_url, named(None)?);
    endpoint.key = environment.secret(known.key_variable);
    Ok(Model::remote(endpoint)?)
}

fn format(format: WireFormat) -> Format {
    match format {
        WireFormat::OpenAi => Format::OpenAi,
        WireFormat::Responses => Format::Responses,
        WireFormat::Anthropic => Format::Anthropic,
        WireFormat::Gemini => Format::Gemini,
        WireFormat::Ollama => Format::Ollama,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::{ConfigFiles, ConfigText, Overrides};

    fn chosen(config: &str, name: Option<&str>) -> Result<String, String> {
        let user = Some(ConfigText { path: "config.toml".into(), text: config.into() });
        let files = ConfigFiles { user, ..ConfigFiles::default() };
        let overrides = Overrides { model: name.map(Into::into), ..Overrides::default() };
        let settings = Settings::resolve(&files, &overrides).unwrap();
        let environment = Environment::from_pairs([("OPENAI_API_KEY", "sk-canary")]);
        choose(&settings, &environment)
            .map(|model| model.name().to_owned())
            .map_err(|error| error.to_string())
    }

    const LOCAL: &str = "[endpoint.here]\nbase_url = \"http://localhost:8080/v1\"\n\
                         format = \"openai\"\nmodel = \"small\"\n";

    #[test]
    fn a_name_leads_to_a_model() {
        assert_eq!(chosen("", Some("openai/gpt-x")).unwrap(), "openai/gpt-x");
        assert_eq!(chosen(LOCAL, Some("here")).unwrap(), "here/small");
        assert_eq!(chosen(LOCAL, Some("here/org/big")).unwrap(), "here/org/big");
    }

    #[test]
    fn a_name_that_leads_nowhere_says_why() {
        assert_eq!(chosen("", None).unwrap_err(), "no model is chosen");
        assert!(
            chosen("", Some("nowhere/x")).unwrap_err().contains("`nowhere` is not an endpoint")
        );
        assert!(chosen("", Some("openai")).unwrap_err().contains("no model of it"));
    }
}
