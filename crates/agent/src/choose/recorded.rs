//! The name by which the record will know a model, found without starting it.

use super::{Choice, ChooseError, SCRIPTED};
use interpreter_model::{Endpoint, Model};
use interpreter_store::Settings;
use std::path::Path;

impl Choice<'_> {
    /// The name that the record has for the model which the settings choose.
    pub(crate) fn recorded_name(&self) -> Result<String, ChooseError> {
        let at = |endpoint: Endpoint| format!("{}/{}", endpoint.provider, endpoint.model);
        let Settings { model, base_url, .. } = self.settings;
        let name = match (&model.value, &base_url.value) {
            (Some(name), Some(url)) if !name.starts_with(SCRIPTED) => {
                return Ok(at(self.at_address(name, url)?));
            }
            (Some(name), _) => name,
            (None, Some(_)) => return Err(ChooseError::None),
            (None, None) => {
                return Ok(format!("embedded/{}", self.here().ok_or(ChooseError::None)?.name));
            }
        };
        self.recorded_name_of(name)
    }

    /// A word for a model, unless it means the one of the settings at an address of theirs: that has
    /// no other way.
    pub(crate) fn apart<'w>(&self, word: Option<&'w str>) -> Option<&'w str> {
        let is_there = |word: &&str| {
            self.settings.base_url.value.is_some()
                && self.recorded_name().is_ok_and(|own| own == **word)
        };
        word.filter(|word| !is_there(word))
    }

    /// The name that the record has for the model to which a word leads.
    pub(crate) fn recorded_name_of(&self, name: &str) -> Result<String, ChooseError> {
        if let Some(file) = name.strip_prefix(SCRIPTED) {
            return Ok(Model::scripted_name(Path::new(file)));
        }
        if let Some(entry) = self.embedded_entry(name)? {
            return Ok(format!("embedded/{}", entry.name));
        }
        let Endpoint { provider, model, .. } = self.endpoint(name)?;
        Ok(format!("{provider}/{model}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_model::Providers;
    use interpreter_store::{ConfigFiles, Environment, Folders, Overrides};

    fn name(overrides: &Overrides) -> Result<String, ChooseError> {
        let nothing = Environment::default();
        let settings = Settings::resolve(&ConfigFiles::default(), &nothing, overrides).unwrap();
        let (providers, folders) = (Providers::default(), Folders::under(Path::new("/nowhere")));
        Choice::new(&settings, &nothing, &providers, &folders)?.recorded_name()
    }

    #[test]
    fn a_name_of_the_record_leads_to_the_same_model_or_nowhere() {
        let of = |model: &str| Overrides::default().set("model", [model]);
        assert_eq!(name(&of("ollama/qwen3:8b")).unwrap(), "ollama/qwen3:8b");
        assert_eq!(name(&of("scripted:/a/b.toml")).unwrap(), "scripted:b.toml");
        // At an address of the command line the record names the host, which is no provider.
        let there = of("ollama/qwen3").set("base_url", ["http://localhost:1234/v1"]);
        assert_eq!(name(&there).unwrap(), "localhost:1234/qwen3");
        assert!(name(&of("localhost:1234/qwen3")).is_err());
        assert!(name(&Overrides::default()).is_err());
    }
}
