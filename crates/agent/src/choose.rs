//! From the name of a model to the model.
//!
//! `scripted:FILE` plays a file. `NAME/MODEL` is a model of an endpoint of the person's own, or of
//! a provider; `embedded/MODEL` runs in this program. Where no name is given, one that runs here is
//! taken if its file is here. Keys come from the environment and go nowhere but into the endpoint.

use interpreter_core::{instructions::Strength, similar::slip_of};
use interpreter_model::{
    Endpoint, Model, ModelError, Pace, Provider, Providers, Surroundings, Tools, Weights,
    catalogue::{Catalogue, CatalogueEntry, Role},
    shelf::{Held, Shelf},
};
use interpreter_store::{ConfigFiles, EndpointSettings, Environment, Folders, Settings, regular};
use std::{collections::BTreeMap, path::Path, sync::Arc};

pub use self::error::ChooseError;

mod address;
mod error;
mod offer;
mod recorded;
mod roster;

/// Whether this program was built with an engine that runs models.
pub const ENGINE: bool = cfg!(feature = "embedded");

/// The largest file of certificates that is read.
const CERTIFICATE_BYTES: u64 = 4 << 20;

/// Before the file of a scripted model.
const SCRIPTED: &str = "scripted:";

/// How the names of well-known models begin, and the provider that has them.
const MAKERS: &[(&str, &str)] = &[
    ("gpt-", "openai"),
    ("chatgpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("grok", "xai"),
    ("deepseek", "deepseek"),
    ("command-", "cohere"),
    ("llama", "ollama"),
    ("qwen", "ollama"),
    ("gemma", "ollama"),
    ("phi", "ollama"),
];

/// The full name of a well-known model whose provider was left out.
pub(crate) fn with_maker(model: &str) -> Option<String> {
    let (_, provider) = MAKERS.iter().find(|(beginning, _)| model.starts_with(beginning))?;
    Some(format!("{provider}/{model}"))
}

/// Why there is no embedded model of this name.
pub(crate) fn unknown(catalogue: &Catalogue, name: &str) -> ChooseError {
    let known = catalogue.entries().iter().map(|entry| entry.name.clone()).collect();
    ChooseError::UnknownEmbedded { name: name.into(), known }
}

/// The sources of models.
pub(crate) struct Choice<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    providers: &'a Providers,
    shelf: Shelf,
    certificates: Option<Arc<[u8]>>,
    pace: Option<Arc<Pace>>,
}

/// The providers that are built in, and the person's own.
pub fn providers(files: &ConfigFiles) -> Result<Providers, ChooseError> {
    let own = files.providers.iter().map(|file| (file.path.as_path(), file.text.as_str()));
    Ok(Providers::new(own)?)
}

/// The person's own certificates, in the PEM form.
pub(crate) fn certificates(
    settings: &Settings,
    folders: &Folders,
) -> Result<Option<Vec<u8>>, ChooseError> {
    let path = settings.certificates.value.as_deref();
    let read = |path| regular::read_named(&folders.config.join(path), CERTIFICATE_BYTES);
    let certificates = path.map(read).transpose();
    certificates.map_err(ChooseError::Certificates)
}

impl<'a> Choice<'a> {
    pub(crate) fn new(
        settings: &'a Settings,
        environment: &'a Environment,
        providers: &'a Providers,
        folders: &Folders,
    ) -> Result<Self, ChooseError> {
        Ok(Self {
            settings,
            environment,
            providers,
            shelf: Shelf::new(folders.models_folder()),
            certificates: certificates(settings, folders)?.map(Into::into),
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
        let Settings { model, base_url, .. } = self.settings;
        let model = match (name.or(model.value.as_deref()), base_url.value.as_ref()) {
            (Some(first), Some(url)) if name.is_none() && !first.starts_with(SCRIPTED) => {
                self.remote(self.at_address(first, url)?, !others.is_empty())?
            }
            (Some(first), _) => {
                let model = self.model(first, !others.is_empty())?;
                if others.is_empty() {
                    self.has_its_key(first)?;
                }
                model
            }
            (None, Some(_)) => return Err(ChooseError::None),
            (None, None) => self.embedded(&self.here().ok_or(ChooseError::None)?)?,
        };
        let others = others.iter().zip((0..others.len()).rev());
        let others = others.map(|(name, left)| self.model(name, left > 0));
        Ok(model.with_fallbacks(others.collect::<Result<_, _>>()?))
    }

    /// The name of the model that is chosen, if one is.
    pub(crate) fn name(&self) -> Option<String> {
        let named = self.settings.model.value.clone();
        named.or_else(|| Some(format!("embedded/{}", self.here()?.name)))
    }

    /// The best model that runs in this program and whose file is here.
    fn here(&self) -> Option<CatalogueEntry> {
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
        self.model(name, false)
    }

    /// The environment and settings of a provider.
    pub(crate) fn around<T>(
        &self,
        provider: &Provider,
        then: impl FnOnce(&Surroundings<'_>) -> T,
    ) -> T {
        let none = BTreeMap::new();
        then(&Surroundings {
            settings: self.settings.providers.get(&provider.name).map_or(&none, |own| &own.value.0),
            variable: &|name| self.environment.text(name).map(str::to_owned),
            key: &|name| self.environment.secret(name),
        })
    }

    fn model(&self, name: &str, another_follows: bool) -> Result<Model, ChooseError> {
        if let Some(file) = name.strip_prefix(SCRIPTED) {
            let path = Path::new(file);
            return Ok(Model::scripted(path, regular::open_named(path))?);
        }
        if let Some(entry) = self.embedded_entry(name)? {
            return self.embedded(&entry);
        }
        self.remote(self.endpoint(name)?, another_follows)
    }

    /// A model that is called at an endpoint.
    fn remote(&self, mut endpoint: Endpoint, another_follows: bool) -> Result<Model, ChooseError> {
        self.bound(&mut endpoint);
        if another_follows {
            // Whoever waits for long would rather hear from the next.
            endpoint.retries.most = 1;
        }
        Ok(Model::remote(endpoint)?)
    }

    /// Puts the settings that hold for every call into an endpoint.
    fn bound(&self, endpoint: &mut Endpoint) {
        endpoint.offline = self.settings.offline.value;
        endpoint.certificates.clone_from(&self.certificates);
        endpoint.pace.clone_from(&self.pace);
    }

    /// The embedded model of this name, if it is one. The person's own endpoint or provider may
    /// have the name instead.
    fn embedded_entry(&self, name: &str) -> Result<Option<CatalogueEntry>, ChooseError> {
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

    fn embedded(&self, entry: &CatalogueEntry) -> Result<Model, ChooseError> {
        if !ENGINE {
            return Err(ModelError::NoEngine { model: entry.name.clone() }.into());
        }
        Ok(Model::embedded(Weights {
            name: entry.name.clone(),
            file: self.shelf.verified(entry)?,
            sha256: entry.sha256.clone(),
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
            near: self.near(place, model),
        })?;
        let model = named(None)?;
        Ok(self.around(&provider, |around| provider.endpoint(&model, around))?)
    }

    /// The name that may be meant by one that leads nowhere: of a provider or an endpoint, or of a
    /// model whose provider was left out.
    fn near(&self, place: &str, model: Option<&str>) -> Option<String> {
        let Some(model) = model else { return with_maker(place) };
        let own = self.settings.endpoints.keys().map(String::as_str);
        let known = self.providers.names().into_iter().chain(own).chain(["embedded"]);
        Some(format!("{}/{model}", slip_of(place, known)?))
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
    fn own(&self, name: &str, own: &EndpointSettings, model: String) -> Endpoint {
        let mut endpoint = Endpoint::new(own.format, own.base_url.clone(), model);
        name.clone_into(&mut endpoint.provider);
        endpoint.key = own.key_variable.as_deref().and_then(|name| self.environment.secret(name));
        endpoint.insecure_http.clone_from(&own.insecure_http);
        endpoint.key_variables = own.key_variable.iter().cloned().collect();
        // A small one would write a call as text, if at all.
        endpoint.tools = if own.tools && !own.small { Tools::Offer } else { Tools::None };
        endpoint.strength = if own.small { Strength::Small } else { Strength::Usual };
        endpoint.images = own.images;
        endpoint.context = own.context;
        endpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::{ConfigText, Overrides};

    fn chosen(config: &str, name: Option<&str>) -> Result<String, String> {
        later(config, name, None)
    }

    fn later(config: &str, name: Option<&str>, later: Option<&str>) -> Result<String, String> {
        let user = Some(ConfigText { path: "config.toml".into(), text: config.into() });
        let files = ConfigFiles { user, ..ConfigFiles::default() };
        let overrides = match name {
            Some(name) => Overrides::default().set("model", [name]),
            None => Overrides::default(),
        };
        let nothing = Environment::default();
        let settings = Settings::resolve(&files, &nothing, &overrides).unwrap();
        let keys = ["OPENAI_API_KEY", "OPENROUTER_API_KEY"].map(|name| (name, "sk-canary"));
        let environment = Environment::from_pairs(keys);
        let folders = Folders::under(Path::new("/nowhere"));
        Choice::new(&settings, &environment, &Providers::default(), &folders)
            .and_then(|choice| choice.chosen(later))
            .map(|model| model.name().to_owned())
            .map_err(|error| error.to_string())
    }

    fn near_of(name: &str) -> Option<String> {
        let user = Some(ConfigText { path: "config.toml".into(), text: LOCAL.into() });
        let files = ConfigFiles { user, ..ConfigFiles::default() };
        let (environment, providers) = (Environment::default(), Providers::default());
        let settings = Settings::resolve(&files, &environment, &Overrides::default()).unwrap();
        let folders = Folders::under(Path::new("/nowhere"));
        let choice = Choice::new(&settings, &environment, &providers, &folders).unwrap();
        let ChooseError::UnknownEndpoint { near, .. } = choice.named(name).unwrap_err() else {
            panic!("{name} leads somewhere");
        };
        near
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
        assert_eq!(chosen("", None).unwrap_err(), "no model is selected");
        let nowhere = "`nowhere` is neither a provider nor an endpoint";
        assert!(chosen("", Some("nowhere/x")).unwrap_err().contains(nowhere));
        assert!(chosen("fallback=['nowhere/x']", Some("groq/x")).unwrap_err().contains(nowhere));
        assert!(chosen("", Some("openai")).unwrap_err().contains("without a model"));
        for (name, near) in [
            ("gpt-4o", Some("openai/gpt-4o")),
            ("claude-x", Some("anthropic/claude-x")),
            ("opnai/x", Some("openai/x")),
            ("heer/x", Some("here/x")),
            ("embeded/x", Some("embedded/x")),
            ("nowhere", None),
            ("nowhere/x", None),
        ] {
            assert_eq!(near_of(name).as_deref(), near, "{name}");
        }
        assert!(chosen("", Some("openai/")).unwrap_err().contains("without a model"));
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
            let (environment, providers) = (Environment::default(), Providers::default());
            let settings = Settings::resolve(&files, &environment, &Overrides::default()).unwrap();
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
        assert!(error.starts_with("unknown embedded model `gpt-x`"), "{error}");
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
