//! A model at an address that the person gives beside its name: `--base-url`.
//!
//! # Threat
//! An address that somebody has a person paste, to which their key would go.
//!
//! # Mechanism
//! No key goes to such an address. A server that wants one is an endpoint of the config file, where
//! the variable of its key stands beside its address.

use super::{Choice, ChooseError};
use interpreter_core::WireFormat;
use interpreter_model::Endpoint;
use interpreter_store::BaseUrl;

impl Choice<'_> {
    /// The model of this name at this address. The format is that of the endpoint or provider in the
    /// name, or the one that most servers speak.
    pub(super) fn at_address(&self, name: &str, url: &BaseUrl) -> Result<Endpoint, ChooseError> {
        let (place, model) = name.split_once('/').unwrap_or((name, ""));
        let own = self.settings.endpoints.get(place).map(|own| own.value.format);
        let (format, model) = match own.or_else(|| Some(self.providers.get(place)?.format)) {
            Some(format) => (format, model),
            None => (WireFormat::OpenAi, name),
        };
        if model.is_empty() {
            return Err(ChooseError::NoModel { name: name.into() });
        }
        let mut endpoint = Endpoint::new(format, url.as_str(), model);
        // The record names who is really asked.
        let rest = url.as_str().split_once("://").map_or("", |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.clone_into(&mut endpoint.provider);
        Ok(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_model::Providers;
    use interpreter_store::{ConfigFiles, Environment, Folders, Overrides, Settings};
    use std::path::Path;

    const HERE: &str = "http://localhost:1234/v1";

    fn endpoint(name: &str) -> Result<Endpoint, ChooseError> {
        let overrides = Overrides::default().set("base_url", [HERE]);
        let nothing = Environment::default();
        let settings = Settings::resolve(&ConfigFiles::default(), &nothing, &overrides).unwrap();
        let environment = Environment::from_pairs([("OPENAI_API_KEY", "sk-canary")]);
        let (providers, folders) = (Providers::default(), Folders::under(Path::new("/nowhere")));
        let choice = Choice::new(&settings, &environment, &providers, &folders).unwrap();
        choice.at_address(name, settings.base_url.value.as_ref().unwrap())
    }

    #[test]
    fn a_model_is_called_at_the_address_and_no_key_goes_there() {
        for (name, format, model) in [
            ("openai/gpt-x", WireFormat::OpenAi, "gpt-x"),
            ("qwen", WireFormat::OpenAi, "qwen"),
            ("org/qwen", WireFormat::OpenAi, "org/qwen"),
            ("ollama/qwen:7b", WireFormat::Ollama, "qwen:7b"),
        ] {
            let found = endpoint(name).unwrap();
            assert_eq!((found.format, found.model.as_str()), (format, model), "{name}");
            assert_eq!(
                (found.base_url.as_str(), found.provider.as_str()),
                (HERE, "localhost:1234")
            );
            assert!(found.key.is_none() && found.key_variables.is_empty(), "{name}");
        }
        assert!(matches!(endpoint("openai/").unwrap_err(), ChooseError::NoModel { .. }));
    }
}
