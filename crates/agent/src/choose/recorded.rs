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
        if let Some(file) = name.strip_prefix(SCRIPTED) {
            return Ok(Model::scripted_name(Path::new(file)));
        }
        match self.embedded_entry(name)? {
            Some(entry) => Ok(format!("embedded/{}", entry.name)),
            None => Ok(at(self.endpoint(name)?)),
        }
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
