//! A provider's file. `docs/reference/provider.schema.json` is its schema.

use super::ProviderError;
use crate::{Caching, KeyHeader, Price, UsageReport, position::position};
use interpreter_core::{Untrusted, WireFormat, unquoted::unquoted};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// One provider.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name before the slash in a model's name: the file's own, without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Display name.
    pub title: String,
    /// The wire format.
    pub format: WireFormat,
    /// The address to which the format adds its path. `{NAME}` stands for a setting of that name,
    /// `{model}` for the model.
    pub base_url: String,
    /// The path on its host that lists its models, if it is not that of the format. Empty if none
    /// does.
    pub list: Option<String>,
    /// The model that is used if its models cannot be listed.
    pub default: Option<String>,
    /// Whether it must be asked to count tokens.
    #[serde(default)]
    pub usage: UsageReport,
    /// How it learns which part to cache.
    #[serde(default)]
    pub caching: Caching,
    /// The settings that make up the address.
    #[serde(default, rename = "setting")]
    pub settings: BTreeMap<String, Setting>,
    /// Its key, or `None` if it needs none.
    pub key: Option<Key>,
    /// Why its key may be sent over plain `http` to another machine. Without a reason it is not.
    pub insecure_http: Option<String>,
    /// Further headers of every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How it is found, if it is a server on this machine.
    pub local: Option<Local>,
    /// Properties of its models; the first match counts, and `*` matches all.
    #[serde(rename = "model")]
    pub models: Vec<ProviderEntry>,
}

/// A part of an address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// A description in a few words.
    pub about: String,
    /// Environment variables that may hold it, the first that is set.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The default; may be made of other settings.
    pub default: Option<String>,
}

/// Where a key comes from, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Environment variables that may hold it, the first that is set.
    pub variables: Vec<String>,
    /// The header that carries it; `Authorization: Bearer …` if none.
    pub header: Option<String>,
    /// The word before the key in that header, if any.
    pub scheme: Option<String>,
    /// Whether it also works without.
    #[serde(default)]
    pub optional: bool,
}

impl Key {
    pub(super) fn header(&self, format: WireFormat) -> KeyHeader {
        match (&self.header, &self.scheme) {
            (None, None) => KeyHeader::of(format),
            (None, Some(scheme)) => KeyHeader { scheme: scheme.clone(), ..KeyHeader::bearer() },
            (Some(name), scheme) => {
                KeyHeader { name: name.clone(), scheme: scheme.clone().unwrap_or_default() }
            }
        }
    }
}

/// A server on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// The path that lists its models.
    pub list: String,
    /// The owner that its models name, where several kinds of server use one port.
    pub owned_by: Option<String>,
    /// The line that starts it.
    pub start: Option<String>,
}

/// Properties of some models. Anything left out is as in the entry `*`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    /// A name, or the beginning of names and `*`.
    pub name: String,
    /// Whether they call tools.
    pub tools: Option<bool>,
    /// Whether they see pictures.
    pub images: Option<bool>,
    /// Whether they are small: then they are shown examples, and write code in fences.
    pub small: Option<bool>,
    /// The most tokens of a conversation.
    pub context: Option<u64>,
    /// The price of tokens.
    pub price: Option<Price>,
}

/// The capabilities of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    /// Whether it calls tools.
    pub tools: bool,
    /// Whether it sees pictures.
    pub images: bool,
    /// Whether it is small.
    pub small: bool,
    /// The most tokens of a conversation, if that is known.
    pub context: Option<u64>,
    /// The price of tokens, if known.
    pub price: Option<Price>,
}

impl ProviderEntry {
    fn fits(&self, model: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => model == self.name,
        }
    }
}

impl Provider {
    /// Reads a file. `file` is its path, for messages, and its name is the provider's.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ProviderError> {
        let mut provider = toml::from_str::<Self>(text).map_err(|error| {
            let (line, column) = position(text, error.span().map_or(0, |span| span.start));
            let message = Untrusted::new(unquoted(error.message())).for_terminal_line(400);
            ProviderError::Parse { file: file.to_owned(), line, column, message }
        })?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        provider.name = name.into_owned();
        match provider.problem() {
            None => Ok(provider),
            Some((key, problem)) => {
                let (file, problem) = (file.to_owned(), problem.to_owned());
                Err(ProviderError::Wrong { file, key, problem })
            }
        }
    }

    /// The capabilities of a model.
    pub fn capabilities(&self, model: &str) -> Capabilities {
        let fitting = || self.models.iter().filter(|entry| entry.fits(model) || entry.name == "*");
        let small = fitting().find_map(|entry| entry.small).unwrap_or(false);
        Capabilities {
            // They would write a call as text, if at all.
            tools: !small && fitting().find_map(|entry| entry.tools).unwrap_or(true),
            small,
            images: fitting().find_map(|entry| entry.images).unwrap_or(false),
            context: fitting().find_map(|entry| entry.context),
            price: fitting().find_map(|entry| entry.price.clone()),
        }
    }

    /// An error in it, if there is one: the key and the cause.
    fn problem(&self) -> Option<(String, &'static str)> {
        let name = self.name.as_str();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Some((name.into(), "is no name for a provider; use a-z, 0-9 and `-`"));
        }
        let begins =
            ["https://", "http://", "{"].iter().any(|with| self.base_url.starts_with(with));
        if !begins || self.base_url.contains(['@', ' ']) {
            return Some(("base_url".into(), "is not an address such as `https://host/v1`"));
        }
        let known = |name: &str| name == "model" || self.settings.contains_key(name);
        for (setting, value) in &self.settings {
            if setting == "model" || !is_variable(setting) {
                return Some((format!("setting.{setting}"), "is no name for a setting"));
            }
            if !value.variables.iter().all(|name| is_variable(name)) {
                let key = format!("setting.{setting}.variables");
                return Some((key, "holds something that is no name of a variable"));
            }
            if !value.default.iter().flat_map(|text| placeholders(text)).all(known) {
                return Some((format!("setting.{setting}.default"), "names an unknown setting"));
            }
        }
        if !placeholders(&self.base_url).all(known) {
            return Some(("base_url".into(), "names an unknown setting"));
        }
        if self.insecure_http.as_deref().is_some_and(|reason| !is_reason(reason)) {
            return Some(("insecure_http".into(), "is no reason in words, on one line"));
        }
        self.header_problem().or_else(|| self.model_problem())
    }

    fn header_problem(&self) -> Option<(String, &'static str)> {
        if let Some(key) = &self.key {
            if key.variables.is_empty() || !key.variables.iter().all(|name| is_variable(name)) {
                return Some(("key.variables".into(), "names the variables that hold the key"));
            }
            let header = key.header(self.format);
            if HeaderName::try_from(&header.name).is_err() {
                return Some(("key.header".into(), "is no name of a header"));
            }
            if HeaderValue::try_from(&header.scheme).is_err() || header.scheme.contains(' ') {
                return Some(("key.scheme".into(), "is not one word"));
            }
        }
        for (name, value) in &self.headers {
            if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                return Some((format!("headers.{name}"), "cannot be sent as a header"));
            }
        }
        None
    }

    fn model_problem(&self) -> Option<(String, &'static str)> {
        if self.local.as_ref().is_some_and(|local| !local.list.starts_with('/')) {
            return Some(("local.list".into(), "is not a path that begins with `/`"));
        }
        let is_path = |list: &String| list.is_empty() || list.starts_with('/');
        if self.list.as_ref().is_some_and(|list| !is_path(list)) {
            return Some(("list".into(), "is neither empty nor a path that begins with `/`"));
        }
        let plain = |c: char| c.is_ascii_graphic();
        if self.default.as_ref().is_some_and(|name| name.is_empty() || !name.chars().all(plain)) {
            return Some(("default".into(), "is no name of a model"));
        }
        if self.models.iter().filter(|entry| entry.name == "*").count() != 1 {
            return Some(("model".into(), "must have one entry of the name `*`, for all others"));
        }
        self.models.iter().find_map(|entry| {
            let key = |what: &str| format!("model.{}{what}", entry.name);
            if entry.name.trim_end_matches('*').contains('*') {
                return Some((key(""), "may hold `*` at its end only"));
            }
            let price = entry.price.as_ref().and_then(Price::problem);
            price.map(|problem| (key(".price"), problem))
        })
    }
}

/// Whether a text says why something is safe: words, on one line.
pub(super) fn is_reason(text: &str) -> bool {
    let is_worded = text.trim().len() >= 4 && text.len() <= 200;
    is_worded && text.chars().all(interpreter_core::untrusted::is_plain)
}

/// The names in braces.
pub(super) fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or_default())
}

fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(plain)
}
