//! The providers that come with the program, and the person's own beside or over them.

use super::{Provider, ProviderError};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

macro_rules! shipped {
    ($($name:literal)*) => {
        /// Name and text of every file in `providers/`.
        const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../providers/", $name, ".toml"))),)*];
    };
}

shipped! {
    "anthropic" "azure" "bedrock" "cerebras" "cohere" "deepseek" "fireworks" "gemini" "github"
    "groq" "huggingface" "jan" "llamacpp" "lmstudio" "localai" "mistral" "ollama" "openai"
    "openai-compatible" "openai-responses" "openrouter" "perplexity" "together" "vertex" "vllm"
    "xai"
}

/// All providers that are known.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    own: BTreeMap<String, Provider>,
}

impl Providers {
    /// Those that come with the program, and the person's own: path and text of each file. One of
    /// their own stands in the place of ours of the same name.
    pub fn new<'a>(
        own: impl IntoIterator<Item = (&'a Path, &'a str)>,
    ) -> Result<Self, ProviderError> {
        let parsed = own.into_iter().map(|(path, text)| Provider::parse(path, text));
        let named = parsed.map(|provider| provider.map(|one| (one.name.clone(), one)));
        Ok(Self { own: named.collect::<Result<_, _>>()? })
    }

    /// The provider of this name. Ours are read when they are asked for.
    pub fn get(&self, name: &str) -> Option<Provider> {
        if let Some(own) = self.own.get(name) {
            return Some(own.clone());
        }
        let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        let file = PathBuf::from(format!("{name}.toml"));
        Some(Provider::parse(&file, text).expect("a test reads every file that is compiled in"))
    }

    /// The names of all, in order.
    pub fn names(&self) -> Vec<&str> {
        let ours = SHIPPED.iter().map(|(name, _)| *name);
        let mut names: Vec<_> = self.own.keys().map(String::as_str).chain(ours).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// All, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = Provider> {
        self.names().into_iter().filter_map(|name| self.get(name))
    }
}
