//! A model server of the person's own, as a config file defines it.

use interpreter_core::{WireFormat, untrusted::is_plain};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A model server of the person's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointSettings {
    /// The address of requests, such as `"http://localhost:11434/v1"`.
    #[serde(deserialize_with = "base_url")]
    pub base_url: String,

    /// The wire format: `openai` (chat completions), `responses`, `anthropic`, `gemini` or
    /// `ollama`.
    pub format: WireFormat,

    /// The environment variable that holds the API key. The key itself is never in a config file.
    #[serde(default, deserialize_with = "variable_name")]
    pub key_variable: Option<String>,

    /// Why the key may be sent over plain `http` to another machine. Without a reason it is not.
    #[serde(default, deserialize_with = "reason")]
    pub insecure_http: Option<String>,

    /// Whether its models can call tools. If not, code is taken from fences.
    #[serde(default = "tools_work")]
    pub tools: bool,

    /// Whether its models are small, a few billion parameters at most. Small models get examples
    /// and write code in fences.
    #[serde(default)]
    pub small: bool,

    /// Whether its models accept images.
    #[serde(default)]
    pub images: bool,

    /// The context window in tokens, reply included, if it is known.
    #[serde(default, deserialize_with = "context")]
    pub context: Option<u64>,

    /// The model to use when `model` names only the endpoint.
    #[serde(default, deserialize_with = "model_name")]
    pub model: Option<String>,
}

/// An address of requests, without a user or a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The address as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address without its query: a key may be in it.
    pub(super) fn shown(address: &str) -> String {
        match address.split_once('?') {
            Some((address, _)) => format!("{address}?(hidden)"),
            None => address.to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        base_url(deserializer).map(Self)
    }
}

fn tools_work() -> bool {
    true
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().len() < 4 || text.len() > 200 || !text.chars().all(is_plain) {
        return Err(de::Error::custom("expected the reason in words, on one line"));
    }
    Ok(Some(text))
}

fn model_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(de::Error::custom("expected the name of a model, on one line"));
    }
    Ok(Some(text))
}

fn base_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let url = String::deserialize(deserializer)?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
    // The text is not repeated: it may hold a password.
    if host.contains('@') {
        return Err(de::Error::custom(
            "an address may hold no user or password; name the key's variable in `key_variable`",
        ));
    }
    if host.is_empty() || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(de::Error::custom("expected an address such as `https://api.example.com/v1`"));
    }
    Ok(url)
}

/// Context windows that are accepted. A smaller one leaves no room for the first instructions.
const CONTEXT: std::ops::RangeInclusive<u64> = 1_024..=1_000_000_000;

fn context<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let tokens = u64::deserialize(deserializer).ok().filter(|tokens| CONTEXT.contains(tokens));
    if tokens.is_none() {
        return Err(de::Error::custom(format!(
            "`context` is the context window in tokens: a number from {} to {}, such as 32768",
            CONTEXT.start(),
            CONTEXT.end()
        )));
    }
    Ok(tokens)
}

fn variable_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(plain)
    {
        // The text is not repeated: someone may have put the key itself here.
        return Err(de::Error::custom(
            "expected the name of an environment variable, such as `MY_API_KEY`; the key itself \
             does not belong in this file",
        ));
    }
    Ok(Some(name))
}
