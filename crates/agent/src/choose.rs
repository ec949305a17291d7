//! From the name of a model to the model.
//!
//! `scripted:FILE` plays a file. `NAME/MODEL` is a model of an endpoint of the person's own, or of
//! a provider; `embedded/MODEL` runs in this program. Where no name is given, one that runs here is
//! taken if its file is here. Keys come from the environment and go nowhere but into the endpoint.

use crate::embedded::{ENGINE, unknown};
use interpreter_core::instructions::Strength;
use interpreter_model::{
    Endpoint, Format, Model, ModelError, Pace, Provider, Providers, Surroundings, Tools, Weights,
    catalogue::{Catalogue, Entry, Role},
    shelf::{Held, Shelf},
};
use interpreter_store::{Endpoint as OwnEndpoint, Environment, Folders, Settings, WireFormat};
use std::{collections::BTreeMap, io::Read, path::Path, sync::Arc};

pub use self::error::ChooseError;

mod error;

/// The largest file of certificates that is read.
const CERTIFICATE_BYTES: u64 = 4 << 20;

/// What models are made from.
pub(crate) struct Choice<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    providers: &'a Providers,
    shelf: Shelf,
    certificates: Option<Arc<[u8]>>,
    pace: Option<Arc<Pace>>,
}

/// Whether another model is asked after this one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Another,
    Nothing,
}

impl<'a> Choice<'a> {
    pub(crate) fn new(
        settings: &'a Settings,
        environment: &'a Environment,
        providers: &'a Providers,
        folders: &Folders,
    ) -> Result<Self, ChooseError> {
        let certificates = settings.certificates.value.as_deref();
        let certificates = certificates.map(|path| read(&folders.config.join(path))).transpose();
        Ok(Self {
            settings,
            environment,
            providers,
            shelf: Shelf::new(folders.models_folder()),
            certificates: certificates.map_err(ChooseError::Certificates)?.map(Into::into),
            pace: None,
        })
    }

    /// The same, with calls of all its models at this pace.
    pub(crate) fn paced(self, pace: Option<Arc<Pace>>) -> Self {
        Self { pace, ..self }
    }

    /// The model of this name, or that the settings name, or one that is here; with those that are
    /// asked where it cannot answer.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<Model, ChooseError> {
        let others = &self.settings.fallback.value;
        let then = |left: usize| if left == 0 { Then::Nothing } else { Then::Another };
        let model = match name.or(self.settings.model.value.as_deref()) {
            Some(first) => {
                let model = self.model(first, then(others.len()))?;
                if others.is_empty() {
                    self.has_its_key(first)?;
                }
                model
            }
            None => self.embedded(&self.here().ok_or(ChooseError::None)?)?,
        };
        let others = others.iter().zip((0..others.len()).rev());
        let others = others.map(|(name, left)| self.model(name, then(left)));
        Ok(model.with_fallbacks(others.collect::<Result<_, _>>()?))
    }

    /// The name of the model that is chosen, if one is.
    pub(crate) fn name(&self) -> Option<String> {
        let named = self.settings.model.value.clone();
        named.or_else(|| Some(format!("embedded/{}", self.here()?.name)))
    }

    /// The best model that runs in this program and whose file is here.
    fn here(&self) -> Option<Entry> {
        let catalogue = Catalogue::shipped();
        let useful = [Role::Default, Role::Tiny].into_iter().filter(|_| ENGINE);
        let mut useful = useful.filter_map(|role| catalogue.of_role(role));
        useful.find(|entry| self.shelf.holds(entry) == Held::Whole).cloned()
    }

    /// Further certificates, in the PEM form.
    pub(crate) fn certificates(&self) -> Option<Arc<[u8]>> {
        self.certificates.clone()
    }

    /// The model of this name alone.
    pub(crate) fn named(&self, name: &str) -> Result<Model, ChooseError> {
        self.model(name, Then::Nothing)
    }

    /// What a provider finds around it.
    pub(crate) fn around<T>(
        &self,
        provider: &Provider,
        then: impl FnOnce(&Surroundings<'_>) -> T,
    ) -> T {
        let none = BTreeMap::new();
        then(&Surroundings {
            settings: self.settings.providers.get(&provider.name).unwrap_or(&none),
            variable: &|name| self.environment.text(name).map(str::to_owned),
            key: &|name| self.environment.secret(name),
        })
    }

    fn model(&self, name: &str, then: Then) -> Result<Model, ChooseError> {
        if let Some(file) = name.strip_prefix("scripted:") {
            return Ok(Model::scripted(Path::new(file))?);
        }
        if let Some(entry) = self.embedded_entry(name)? {
            return self.embedded(&entry);
        }
        let mut endpoint = self.endpoint(name)?;
        endpoint.offline = self.settings.offline.value;
        endpoint.certificates.clone_from(&self.certificates);
        endpoint.pace.clone_from(&self.pace);
        if then == Then::Another {
            // Whoever waits for long would rather hear from the next.
            endpoint.retries.most = 1;
        }
        Ok(Model::remote(endpoint)?)
    }

    /// The model in this program that a name means; none if it means something else. An endpoint or a
    /// provider of the person's own may have the name.
    fn embedded_entry(&self, name: &str) -> Result<Option<Entry>, ChooseError> {
        let (place, model) = name.split_once('/').unwrap_or((name, ""));
        let theirs = self.settings.endpoints.contains_key(place);
        if place != "embedded" || theirs || self.providers.get(place).is_some() {
            return Ok(None);
        }
        let catalogue = Catalogue::shipped();
        if model.is_empty() {
            return Ok(self.here().or_else(|| catalogue.of_role(Role::Default).cloned()));
        }
        let entry = catalogue.get(model).cloned();
        entry.map(Some).ok_or_else(|| unknown(&catalogue, model))
    }

    fn embedded(&self, entry: &Entry) -> Result<Model, ChooseError> {
        if !ENGINE {
            return Err(ModelError::NoEngine { model: entry.name.clone() }.into());
        }
        Ok(Model::embedded(Weights {
            name: entry.name.clone(),
            file: self.shelf.verified(entry)?,
            saved: self.shelf.saved(entry),
            context: entry.context,
            threads: self.settings.threads.value.and_then(|count| count.try_into().ok()),
        })?)
    }

    fn endpoint(&self, name: &str) -> Result<Endpoint, ChooseError> {
        let (place, model) = match name.split_once('/') {
            Some((place, model)) => (place, Some(model)),
            None => (name, None),
        };
        let named = |default: Option<&'a str>| {
            let model = model.or(default).filter(|model| !model.is_empty()).map(str::to_owned);
            model.ok_or_else(|| ChooseError::NoModel { name: name.into() })
        };
        if let Some(own) = self.settings.endpoints.get(place) {
            let model = named(own.value.model.as_deref())?;
            return Ok(self.own(place, &own.value, model));
        }
        let provider = self.providers.get(place).ok_or_else(|| ChooseError::UnknownEndpoint {
            name: name.into(),
            provider: place.into(),
        })?;
        let model = named(None)?;
        Ok(self.around(&provider, |around| provider.endpoint(&model, around))?)
    }

    /// Fails if the provider of a model wants a key and there is none: it would answer nothing else.
    /// Wherever the person sends requests by an address of their own, who listens there decides.
    fn has_its_key(&self, name: &str) -> Result<(), ChooseError> {
        let (place, model) = name.split_once('/').unwrap_or((name, ""));
        let theirs = self.settings.endpoints.contains_key(place);
        let Some(provider) = self.providers.get(place).filter(|_| !theirs) else { return Ok(()) };
        match self.around(&provider, |around| provider.missing_key(model, around)) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// A model of an endpoint in the person's config file.
    fn own(&self, name: &str, own: &OwnEndpoint, model: String) -> Endpoint {
        let mut endpoint = Endpoint::new(format(own.format), own.base_url.clone(), model);
        name.clone_into(&mut endpoint.provider);
        endpoint.key = own.key_variable.as_deref().and_then(|name| self.environment.secret(name));
        endpoint.key_variables = own.key_variable.iter().cloned().collect();
        // A small one would write a call as text, if at all.
        endpoint.tools = if own.tools && !own.small { Tools::Offer } else { Tools::None };
        endpoint.strength = if own.small { Strength::Small } else { Strength::Usual };
        endpoint.images = own.images;
        endpoint.context = own.context;
        endpoint
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(CERTIFICATE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > CERTIFICATE_BYTES {
        let why = format!("`{}` is larger than {} MiB", path.display(), CERTIFICATE_BYTES >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
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
        later(config, name, None)
    }

    fn later(config: &str, name: Option<&str>, later: Option<&str>) -> Result<String, String> {
        let user = Some(ConfigText { path: "config.toml".into(), text: config.into() });
        let files = ConfigFiles { user, ..ConfigFiles::default() };
        let overrides = Overrides { model: name.map(Into::into), ..Overrides::default() };
        let settings = Settings::resolve(&files, &overrides).unwrap();
        let keys = ["OPENAI_API_KEY", "OPENROUTER_API_KEY"].map(|name| (name, "sk-canary"));
        let environment = Environment::from_pairs(keys);
        let folders = Folders::under(Path::new("/nowhere"));
        Choice::new(&settings, &environment, &Providers::default(), &folders)
            .and_then(|choice| choice.chosen(later))
            .map(|model| model.name().to_owned())
            .map_err(|error| error.to_string())
    }

    const LOCAL: &str = "[endpoint.here]\nbase_url = \"http://localhost:8080/v1\"\n\
                         format = \"openai\"\nmodel = \"small\"\n";

    #[test]
    fn a_name_leads_to_a_model() {
        assert_eq!(chosen("", Some("openai/gpt-x")).unwrap(), "openai/gpt-x");
        assert_eq!(chosen("", Some("openrouter/org/x:free")).unwrap(), "openrouter/org/x:free");
        assert_eq!(chosen(LOCAL, Some("here")).unwrap(), "here/small");
        assert_eq!(chosen(LOCAL, Some("here/org/big")).unwrap(), "here/org/big");
        let azure = "[provider.azure]\nresource = 'res'\n";
        assert_eq!(chosen(azure, Some("azure/mine")).unwrap(), "azure/mine");
        let fallback = format!("fallback = ['here', 'groq/x']\n{LOCAL}");
        assert_eq!(chosen(&fallback, Some("openai/x")).unwrap(), "openai/x");
    }

    #[test]
    fn a_name_that_leads_nowhere_says_why() {
        assert_eq!(chosen("", None).unwrap_err(), "no model is chosen");
        let nowhere = "`nowhere` is neither a provider nor an endpoint";
        assert!(chosen("", Some("nowhere/x")).unwrap_err().contains(nowhere));
        assert!(chosen("fallback=['nowhere/x']", Some("groq/x")).unwrap_err().contains(nowhere));
        assert!(chosen("", Some("openai")).unwrap_err().contains("no model of it"));
        assert!(chosen("", Some("openai/")).unwrap_err().contains("no model of it"));
        assert!(chosen("", Some("azure/x")).unwrap_err().contains("needs `resource`"));
        let missing = chosen("certificates = 'ca.pem'", Some("openai/x")).unwrap_err();
        assert!(missing.contains("`certificates`"), "{missing}");
    }

    #[test]
    fn an_endpoint_says_what_its_models_can_do() {
        let endpoint = |more: &str| {
            let text = format!("{LOCAL}{more}\n");
            let user = Some(ConfigText { path: "config.toml".into(), text });
            let files = ConfigFiles { user, ..ConfigFiles::default() };
            let settings = Settings::resolve(&files, &Overrides::default()).unwrap();
            let (environment, providers) = (Environment::default(), Providers::default());
            let folders = Folders::under(Path::new("/nowhere"));
            let choice = Choice::new(&settings, &environment, &providers, &folders).unwrap();
            let Endpoint { tools, strength, images, context, .. } =
                choice.endpoint("here").unwrap();
            (tools, strength, images, context)
        };
        assert_eq!(endpoint(""), (Tools::Offer, Strength::Usual, false, None));
        assert_eq!(endpoint("tools = false").0, Tools::None);
        let all = endpoint("small = true\nimages = true\ncontext = 32768");
        assert_eq!(all, (Tools::None, Strength::Small, true, Some(32_768)));
        assert_eq!(endpoint("small = true\ntools = true").0, Tools::None);
    }

    #[test]
    fn a_key_that_is_missing_is_told_before_anything_is_sent() {
        let missing = chosen("", Some("groq/x")).unwrap_err();
        assert_eq!(missing, "`api.groq.com` wants a key, and none is set");
        // Others are asked then.
        assert_eq!(chosen("fallback = ['openai/y']", Some("groq/x")).unwrap(), "groq/x");
        // Whoever listens at an address of the person's own may do without.
        let own = "[provider.groq]\nbase_url = 'http://localhost:1/v1'\n";
        assert_eq!(chosen(own, Some("groq/x")).unwrap(), "groq/x");
        let endpoint = LOCAL.replace("endpoint.here", "endpoint.groq");
        assert_eq!(chosen(&endpoint, Some("groq")).unwrap(), "groq/small");
        assert_eq!(chosen("", Some("lmstudio/x")).unwrap(), "lmstudio/x");
    }

    #[test]
    fn a_name_that_is_given_later_comes_before_that_of_the_settings() {
        let settings = "model = 'nowhere/x'";
        assert!(later(settings, None, None).is_err());
        assert_eq!(later(settings, None, Some("ollama/qwen")).unwrap(), "ollama/qwen");
        assert!(later("model = 'ollama/qwen'", None, Some("nowhere/x")).is_err());
    }

    #[test]
    fn a_model_in_this_program_is_known_by_its_name_unless_the_person_has_one_of_that_name() {
        let own = LOCAL.replace("endpoint.here", "endpoint.embedded");
        assert_eq!(chosen(&own, Some("embedded")).unwrap(), "embedded/small");
        for name in ["embedded", "embedded/", "embedded/qwen2.5-coder-1.5b"] {
            let error = chosen("", Some(name)).unwrap_err();
            assert!(error.starts_with("`embedded/qwen2.5-coder-1.5b` "), "{error}");
            let expected = if ENGINE { "is not on this machine" } else { "without the engine" };
            assert!(error.contains(expected), "{error}");
        }
        let error = chosen("", Some("embedded/gpt-x")).unwrap_err();
        assert!(error.starts_with("`gpt-x` is none of the models"), "{error}");
    }

    #[test]
    fn offline_leaves_only_this_machine() {
        let offline = format!("offline = true\n{LOCAL}");
        let refused = chosen(&offline, Some("openai/x")).unwrap_err();
        assert!(refused.contains("`api.openai.com` is not on this machine"), "{refused}");
        assert_eq!(chosen(&offline, Some("here")).unwrap(), "here/small");
        assert_eq!(chosen(&offline, Some("ollama/qwen")).unwrap(), "ollama/qwen");
    }
}
