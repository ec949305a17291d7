//! The models that the settings offer, as a list of names.
//!
//! # Threat
//! A client of the server, whose word for a model becomes a path, an address or a script: whoever may
//! only ask would read files as the server, or send its keys somewhere.
//!
//! # Mechanism
//! A client's word is compared with the list and never taken apart further than at its first slash. On
//! the list are the model and the fallbacks of the settings, by the names that the record has for them;
//! the models of the settings' endpoints and of providers that are used without a name; the embedded
//! ones; and those that an endpoint or a provider of the settings lists when it is asked. A script or
//! an address is there only because the settings name it, and by its name in the record alone.
//!
//! Must not open what a client names.

use super::{Choice, ChooseError, SCRIPTED};
use interpreter_store::Settings;

/// An Ollama server adds this to a name without a tag.
const LATEST: &str = ":latest";

impl Choice<'_> {
    /// The model and the fallbacks of the settings: the name of each in the record, and the word that
    /// leads to it.
    fn of_settings(&self) -> Vec<(String, String)> {
        let Settings { model, base_url, fallback, .. } = self.settings;
        let own = self.recorded_name().ok().map(|name| {
            // At an address of the command line, only the recorded name says which one is meant.
            let word = model.value.clone().filter(|_| base_url.value.is_none());
            (name.clone(), word.unwrap_or(name))
        });
        let others = fallback.value.iter().filter_map(|word| {
            let name = self.recorded_name_of(word).ok()?;
            Some((name, word.clone()))
        });
        own.into_iter().chain(others).collect()
    }

    /// The names of models that are offered, as far as nobody has to be asked.
    pub(crate) fn offers(&self) -> Vec<String> {
        let mut names: Vec<_> = self.of_settings().into_iter().map(|(name, _)| name).collect();
        names.extend(self.here().map(|entry| format!("embedded/{}", entry.name)));
        let own = self.settings.endpoints.iter();
        names.extend(own.filter_map(|(place, own)| {
            own.value.model.as_ref().map(|model| format!("{place}/{model}"))
        }));
        let ready = self.providers.all().filter(|provider| {
            let has_key = self.around(provider, |around| provider.has_key(around));
            provider.key.is_some() && has_key.unwrap_or(false)
        });
        names.extend(ready.filter_map(|provider| {
            provider.default.as_ref().map(|model| format!("{}/{model}", provider.name))
        }));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// The word that leads to an offered model, if nobody has to be asked for its name.
    pub(crate) fn offered(&self, name: &str) -> Option<String> {
        if let Some((_, word)) = self.of_settings().into_iter().find(|(known, _)| known == name) {
            return Some(word);
        }
        if name.starts_with(SCRIPTED) {
            return None;
        }
        let (place, model) = name.split_once('/').unwrap_or((name, ""));
        let is_embedded = || self.embedded_entry(name).is_ok_and(|entry| entry.is_some());
        match self.usual(place) {
            // An endpoint is chosen by its name alone; a provider is not.
            Some(_) if name == place && self.settings.endpoints.contains_key(place) => {
                Some(name.to_owned())
            }
            Some(usual) if name == place || model == usual => Some(format!("{place}/{usual}")),
            Some(_) | None => is_embedded().then(|| name.to_owned()),
        }
    }

    /// Whether this is a model of a known endpoint or provider, by its form.
    pub(crate) fn is_of_known_place(&self, name: &str) -> bool {
        let Some((place, model)) = name.split_once('/') else { return false };
        let is_known =
            self.settings.endpoints.contains_key(place) || self.providers.get(place).is_some();
        is_known && !model.is_empty()
    }

    /// Whether the endpoint or provider of a model lists it. Asks there.
    pub(crate) async fn is_listed(&self, name: &str) -> Result<bool, ChooseError> {
        let Some((place, model)) = name.split_once('/').filter(|_| self.is_of_known_place(name))
        else {
            return Ok(false);
        };
        let roster = self.roster(place).await?;
        let is_meant = |known: &&str| *known == model || known.strip_suffix(LATEST) == Some(model);
        Ok(roster.names().iter().any(is_meant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_model::Providers;
    use interpreter_store::{ConfigFiles, ConfigText, Environment, Folders, Overrides};
    use std::path::Path;

    const CONFIG: &str = "model = 'scripted:/srv/own.toml'\n\
        fallback = ['scripted:/srv/other.toml', 'groq/x']\n\
        [endpoint.here]\nbase_url = 'http://localhost:1/v1'\nformat = 'openai'\nmodel = 'small'\n";

    fn with<T>(config: &str, ask: impl FnOnce(&Choice<'_>) -> T) -> T {
        let user = Some(ConfigText { path: "config.toml".into(), text: config.into() });
        let files = ConfigFiles { user, ..ConfigFiles::default() };
        let environment = Environment::from_pairs([("OPENAI_API_KEY", "sk-canary")]);
        let settings = Settings::resolve(&files, &environment, &Overrides::default()).unwrap();
        let (providers, folders) = (Providers::default(), Folders::under(Path::new("/nowhere")));
        ask(&Choice::new(&settings, &environment, &providers, &folders).unwrap())
    }

    #[test]
    fn what_the_settings_name_is_offered_by_its_name_in_the_record() {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "its lifetime is not general"
        )]
        let offers = with(CONFIG, |choice| choice.offers());
        assert_eq!(
            offers[..4],
            ["scripted:own.toml", "scripted:other.toml", "groq/x", "here/small"]
        );
        assert!(offers.iter().any(|name| name.starts_with("openai/")), "{offers:?}");
        assert!(!offers.iter().any(|name| name.starts_with("anthropic/")), "{offers:?}");
        let leads = |name: &str| with(CONFIG, |choice| choice.offered(name));
        assert_eq!(leads("scripted:own.toml").unwrap(), "scripted:/srv/own.toml");
        assert_eq!(leads("scripted:other.toml").unwrap(), "scripted:/srv/other.toml");
        assert_eq!(leads("here").unwrap(), "here");
        assert_eq!(leads("here/small").unwrap(), "here/small");
        assert_eq!(leads("embedded").unwrap(), "embedded");
        let usual = leads("openai").unwrap();
        assert_eq!(leads(&usual).unwrap(), usual);
    }

    #[test]
    fn no_path_no_script_and_no_address_is() {
        for name in [
            "",
            "/",
            "/etc/passwd",
            "../own.toml",
            "scripted:",
            "scripted:/etc/passwd",
            "scripted:/srv/own.toml",
            "scripted:/srv/../srv/own.toml",
            "scripted:./own.toml",
            "scripted:own.toml/",
            "scripted:own.toml\0",
            " scripted:own.toml",
            "Scripted:own.toml",
            "scripted:/proc/self/environ",
            "scripted:/dev/ptmx",
            "http://evil.example/v1",
            "https://evil.example/v1/model",
            "evil.example/model",
            "localhost:1/small",
            "file:/etc/passwd",
            "embedded/../../etc/passwd",
            "embedded/gpt-x",
            "here/",
            "here/other",
            "openai/",
        ] {
            assert_eq!(with(CONFIG, |choice| choice.offered(name)), None, "{name}");
        }
        // Of a known place, by its form: whether it is offered is asked there.
        let known = |name: &str| with(CONFIG, |choice| choice.is_of_known_place(name));
        assert!(known("here/other") && known("openai/gpt-x"));
        for name in ["scripted:/etc/passwd", "/etc/passwd", "here/", "http://evil.example/v1"] {
            assert!(!known(name), "{name}");
        }
    }

    #[test]
    fn the_model_at_an_address_of_the_settings_is_known_by_its_host() {
        let config = "model = 'qwen'\nbase_url = 'http://localhost:1234/v1'\n";
        let leads = |name: &str| with(config, |choice| choice.offered(name));
        assert_eq!(leads("localhost:1234/qwen").unwrap(), "localhost:1234/qwen");
        assert_eq!(leads("localhost:1234/other"), None);
        assert_eq!(leads("qwen"), None);
    }
}
