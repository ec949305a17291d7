//! From a provider and a model's name to an endpoint.
//!
//! Pure: variables and settings come in as values.

use super::{Provider, ProviderError, Setting, file::is_reason};
use crate::{Endpoint, ListAddress, ModelError, Tools};
use interpreter_core::{Secret, Untrusted, instructions::Strength};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use std::{collections::BTreeMap, fmt::Write};

/// The setting that says why a key may go out in the clear.
const INSECURE: &str = "insecure_http";

/// How deep settings may be made of settings.
const DEPTH: usize = 3;

/// The environment and settings of a provider.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Settings from the person's config file.
    pub settings: &'a BTreeMap<String, String>,
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The key in an environment variable.
    pub key: &'a dyn Fn(&str) -> Option<Secret>,
}

impl Provider {
    /// The endpoint of a model.
    pub fn endpoint(
        &self,
        model: &str,
        around: &Surroundings<'_>,
    ) -> Result<Endpoint, ProviderError> {
        let base_url = self.base_url(model, around)?;
        let mut endpoint = Endpoint::new(self.format, base_url, model);
        let can = self.capabilities(model);
        endpoint.provider.clone_from(&self.name);
        if let Some(key) = &self.key {
            endpoint.key = key.variables.iter().find_map(|name| (around.key)(name));
            endpoint.key_header = key.header(self.format);
            endpoint.key_variables.clone_from(&key.variables);
        }
        for (name, value) in &self.headers {
            // Both were checked when the file was read.
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                endpoint.headers.insert(name, value);
            }
        }
        endpoint.tools = if can.tools { Tools::Offer } else { Tools::None };
        endpoint.strength = if can.small { Strength::Small } else { Strength::Usual };
        endpoint.images = can.images;
        endpoint.caching = self.caching;
        endpoint.usage = self.usage;
        endpoint.list = match self.list.as_deref() {
            None => ListAddress::OfFormat,
            Some("") => ListAddress::Nowhere,
            Some(path) => ListAddress::Path(path.to_owned()),
        };
        let own_reason = around.settings.get(INSECURE).filter(|reason| is_reason(reason));
        endpoint.insecure_http = own_reason.or(self.insecure_http.as_ref()).cloned();
        endpoint.context = can.context;
        endpoint.price = can.price;
        endpoint.start = self.local.as_ref().and_then(|local| local.start.clone());
        Ok(endpoint)
    }

    /// Whether a key is set, or `None` if it needs none.
    pub fn has_key(&self, around: &Surroundings<'_>) -> Option<bool> {
        let key = self.key.as_ref()?;
        Some(key.variables.iter().any(|name| (around.key)(name).is_some()))
    }

    /// The error of a call that needs a missing key, or `None` if the key is optional or the
    /// address is not the provider's own.
    pub fn missing_key(&self, model: &str, around: &Surroundings<'_>) -> Option<ModelError> {
        let key = self.key.as_ref().filter(|key| !key.optional)?;
        let nothing =
            Surroundings { settings: &BTreeMap::new(), variable: &|_| None, key: around.key };
        let address = self.base_url(model, around).ok()?;
        let own = self.base_url(model, &nothing).is_ok_and(|own| own == address);
        if !own || self.has_key(around) != Some(false) {
            return None;
        }
        let host = Url::parse(&address).ok()?.host_str()?.to_owned();
        let variables = key.variables.clone();
        Some(ModelError::KeyMissing { host, variables, said: Untrusted::default() })
    }

    /// The address, with everything in its place.
    pub fn base_url(
        &self,
        model: &str,
        around: &Surroundings<'_>,
    ) -> Result<String, ProviderError> {
        let always = ["base_url", INSECURE].map(str::to_owned);
        let known = || self.settings.keys().cloned().chain(always.clone());
        if let Some(unknown) = around.settings.keys().find(|key| known().all(|one| one != **key)) {
            return Err(ProviderError::SettingUnknown {
                provider: self.name.clone(),
                setting: unknown.clone(),
                known: known().map(|name| format!("`{name}`")).collect(),
            });
        }
        let own =
            around.settings.get("base_url").filter(|_| !self.settings.contains_key("base_url"));
        self.filled(own.unwrap_or(&self.base_url), model, around, DEPTH)
    }

    fn filled(
        &self,
        template: &str,
        model: &str,
        around: &Surroundings<'_>,
        depth: usize,
    ) -> Result<String, ProviderError> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            filled.push_str(before);
            if name == "model" {
                encode(model, &mut filled);
            } else {
                let value = self.value(name, model, around, depth)?;
                let fits = if filled.is_empty() { is_address(&value) } else { is_part(&value) };
                if !fits {
                    return Err(self.wrong(name, around));
                }
                filled.push_str(value.trim_end_matches('/'));
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(
        &self,
        name: &str,
        model: &str,
        around: &Surroundings<'_>,
        depth: usize,
    ) -> Result<String, ProviderError> {
        let unknown = Setting { about: String::new(), variables: Vec::new(), default: None };
        let setting = self.settings.get(name).unwrap_or(&unknown);
        let said = around.settings.get(name).cloned();
        let said =
            said.or_else(|| setting.variables.iter().find_map(|name| (around.variable)(name)));
        let default = setting.default.as_deref().filter(|_| depth > 0);
        match (said, default) {
            (Some(said), _) if is_server(setting) => Ok(server(&said, setting)),
            (Some(said), _) => Ok(said),
            (None, Some(default)) => self.filled(default, model, around, depth - 1),
            (None, None) => Err(ProviderError::SettingMissing {
                provider: self.name.clone(),
                setting: name.into(),
                about: setting.about.clone(),
                variables: setting.variables.clone(),
            }),
        }
    }

    fn wrong(&self, name: &str, around: &Surroundings<'_>) -> ProviderError {
        let from_file = around.settings.contains_key(name);
        let variables = self.settings.get(name).map(|setting| &setting.variables);
        let place = variables
            .filter(|_| !from_file)
            .and_then(|names| names.iter().find(|name| (around.variable)(name).is_some()).cloned());
        ProviderError::SettingWrong { provider: self.name.clone(), setting: name.into(), place }
    }
}

/// Whether a setting is the address of a server on this machine.
fn is_server(setting: &Setting) -> bool {
    setting.default.as_deref().is_some_and(|default| default.starts_with("http://127.0.0.1:"))
}

/// The address of a server as its own variable may spell it: without a scheme, without a port, or
/// as what it listens on rather than where it is reached.
fn server(said: &str, setting: &Setting) -> String {
    let url = if said.contains("://") { said.to_owned() } else { format!("http://{said}") };
    let Ok(mut parsed) = Url::parse(&url) else { return url };
    if matches!(parsed.host_str(), Some("0.0.0.0" | "[::]")) {
        // It was a host, so it stays one.
        _ = parsed.set_host(Some("127.0.0.1")).is_ok();
    }
    let usual = setting.default.as_deref().and_then(|default| Url::parse(default).ok()?.port());
    if parsed.port().is_none() && parsed.scheme() == "http" && !said.contains("://") {
        _ = parsed.set_port(usual).is_ok();
    }
    parsed.to_string()
}

fn is_address(value: &str) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', ' ', '#', '?', '\\']))
}

fn is_part(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !value.is_empty() && !value.contains("..") && value.chars().all(plain)
}

/// Writes a model's name as one segment of a path.
fn encode(model: &str, into: &mut String) {
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            into.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            _ = write!(into, "%{byte:02X}");
        }
    }
}
