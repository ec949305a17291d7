//! What a config file may say: every key, all of them optional.
//!
//! Each value is checked while it is read, so that the error names line and column. Must not
//! give defaults: what is not said here is said by an earlier layer.

use super::{NetworkTable, SandboxTable};
use crate::quantity::{Bytes, TimeLimit};
use interpreter_core::{Declaration, Rule, Workspace, declaration::is_language_name};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
    str::FromStr,
};

/// One config file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The model to talk to: `PROVIDER/NAME`, `ENDPOINT/NAME` for one of the endpoints below, or
    /// `scripted:FILE` for prepared replies. Not for a project.
    #[serde(default, deserialize_with = "some_text")]
    pub model: Option<String>,

    /// Models that are asked in turn where `model` cannot answer. Not for a project.
    pub fallback: Option<Vec<String>>,

    /// What the addresses of providers are made of, by provider and setting. Not for a project.
    #[serde(default, deserialize_with = "provider_settings")]
    pub provider: BTreeMap<String, BTreeMap<String, String>>,

    /// Whether to reach nothing but this machine. A project can only say `true`.
    pub offline: Option<bool>,

    /// A file of certificates, as PEM, that count beside the system's own where models are
    /// reached. Not for a project.
    pub certificates: Option<PathBuf>,

    /// The most calls of models in a minute.
    pub requests_per_minute: Option<NonZeroU32>,

    /// How many threads compute a model that runs in this program. Not for a project.
    pub threads: Option<NonZeroU32>,

    /// Further places where models are, by name. Not for a project.
    #[serde(default, deserialize_with = "endpoints")]
    pub endpoint: BTreeMap<String, Endpoint>,

    /// Languages of one's own, or one's own way to run one of ours, by name. Not for a project.
    #[serde(default, deserialize_with = "languages")]
    pub language: BTreeMap<String, Declaration>,

    /// What happens to the code's writes to the work folder: `stage` (shown before they touch
    /// it), `direct` or `read-only`.
    pub workspace: Option<Workspace>,

    /// Further instructions for the model, in your words. Not for a project.
    pub instructions: Option<String>,

    /// The most calls of the model in one turn.
    pub max_calls: Option<NonZeroU32>,

    /// The most tokens in one reply.
    pub max_tokens: Option<NonZeroU32>,

    /// How freely the model chooses its words, from 0 to 2. Not for a project.
    pub temperature: Option<Temperature>,

    /// Disk space for what undo and redo need, such as `"2G"`; past it, the oldest is forgotten.
    /// Not for a project.
    pub undo_space: Option<Bytes>,

    /// What confines code.
    #[serde(default)]
    pub sandbox: SandboxTable,

    /// What code may reach.
    #[serde(default)]
    pub network: NetworkTable,

    /// Which files of the work folder code may see.
    #[serde(default)]
    pub files: FilesTable,

    /// What a run may use up.
    #[serde(default)]
    pub limits: LimitsTable,

    /// Rules that allow, ask or deny. Those of a project can only make things stricter.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// Which files of the work folder code may see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesTable {
    /// Files and folders that code may see although their names are those of secrets, each by its
    /// exact path: absolute, or from the work folder. Not for a project.
    #[serde(default)]
    pub allow: Vec<PathBuf>,
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsTable {
    /// How long a run may take, such as `"15s"`, `"1h30m"` or `"none"`.
    pub wall: Option<TimeLimit>,

    /// Processor time that a run may use, with all that it starts, such as `"1m"` or `"none"`.
    pub cpu: Option<TimeLimit>,

    /// Memory that each process may have of its own, such as `"2G"`.
    pub memory: Option<Bytes>,

    /// Processes and threads at once.
    pub processes: Option<NonZeroU64>,

    /// The largest file that may be written, such as `"500M"`.
    pub file_size: Option<Bytes>,

    /// Files that one process may have open.
    pub open_files: Option<NonZeroU64>,

    /// All temporary files together, such as `"1G"`.
    pub temporary: Option<Bytes>,

    /// All files together that wait for a decision, such as `"8G"`.
    pub staged: Option<Bytes>,

    /// How many files and folders may wait for a decision.
    pub staged_files: Option<NonZeroU64>,

    /// What a run may print, such as `"100M"`.
    pub output: Option<Bytes>,
}

/// A place where models are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Where requests go, such as `"http://localhost:11434/v1"`.
    #[serde(deserialize_with = "base_url")]
    pub base_url: String,

    /// Which wire format it speaks: `openai` (chat completions), `responses`, `anthropic`,
    /// `gemini` or `ollama`.
    pub format: WireFormat,

    /// The name of the environment variable that holds its key; none if it needs no key. The key
    /// itself never stands in a config file.
    #[serde(default, deserialize_with = "variable_name")]
    pub key_variable: Option<String>,

    /// Whether its models can call tools; if not, code is taken from fences. `true` unless said.
    #[serde(default = "tools_work")]
    pub tools: bool,

    /// Whether its models are small: a few billion parameters at most. Then they are shown examples,
    /// and write code in fences.
    #[serde(default)]
    pub small: bool,

    /// Whether its models see pictures.
    #[serde(default)]
    pub images: bool,

    /// The most tokens that its models take, what they are sent and their reply together, such as
    /// `32768`; none if that is not known.
    #[serde(default, deserialize_with = "context")]
    pub context: Option<u64>,

    /// The model that is meant when `model` names only the endpoint.
    #[serde(default, deserialize_with = "some_text")]
    pub model: Option<String>,
}

/// The wire format of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// Chat completions, as `OpenAI` and most local servers speak them.
    OpenAi,
    /// Responses, as `OpenAI` speaks them.
    Responses,
    /// Messages, as Anthropic speaks them.
    Anthropic,
    /// Contents, as Google speaks them.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

impl WireFormat {
    /// The word in config files.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Anthropic => "anthropic",
        }
    }
}

/// How freely a model chooses its words: a number from 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Temperature(f64);

impl Temperature {
    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Temperature {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if (0.0..=2.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(format!("a temperature is a number from 0 to 2, not {value}"))
        }
    }
}

impl FromStr for Temperature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value: f64 =
            text.parse().map_err(|_| "a temperature is a number from 0 to 2".to_owned())?;
        value.try_into()
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn tools_work() -> bool {
    true
}

fn some_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(de::Error::custom("expected the name of a model, on one line"));
    }
    Ok(Some(text))
}

/// The settings of providers. The texts are not repeated in errors: a key may be among them.
fn provider_settings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, D::Error> {
    let tables = BTreeMap::<String, BTreeMap<String, Text>>::deserialize(deserializer)?;
    let plain = |table: BTreeMap<String, Text>| {
        table.into_iter().map(|(name, Text(text))| (name, text)).collect()
    };
    Ok(tables.into_iter().map(|(name, table)| (name, plain(table))).collect())
}

/// A short text on one line.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.len() > 1000 || text.chars().any(char::is_control) {
            return Err(de::Error::custom("expected a text on one line"));
        }
        Ok(Self(text))
    }
}

fn endpoints<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Endpoint>, D::Error> {
    let endpoints = BTreeMap::<String, Endpoint>::deserialize(deserializer)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match endpoints.keys().find(|name| name.is_empty() || !name.chars().all(plain)) {
        // It stands before a slash in a model's name.
        Some(name) => Err(de::Error::custom(format!(
            "`{name}` is not the name of an endpoint; use letters, digits, `-`, `_` and `.`"
        ))),
        None => Ok(endpoints),
    }
}

fn languages<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Declaration>, D::Error> {
    let languages = BTreeMap::<String, Declaration>::deserialize(deserializer)?;
    let mut taken = BTreeMap::new();
    for (name, declaration) in &languages {
        if !is_language_name(name) {
            return Err(de::Error::custom(format!(
                "`{name}` is not the name of a language; use lower-case letters, digits, `+`, \
                 `-`, `_`, `#` and `.`"
            )));
        }
        for called in declaration.aliases.iter().chain([name]) {
            let before = taken.insert(called.as_str(), name.as_str());
            if let Some(before) = before.filter(|before| before != name) {
                return Err(de::Error::custom(format!(
                    "`{called}` is a name of `language.{before}` and of `language.{name}`; take \
                     it out of one of them"
                )));
            }
        }
    }
    Ok(languages)
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

/// The tokens that a model can be said to take: fewer leave no room for what it is told first.
const CONTEXT: std::ops::RangeInclusive<u64> = 1_024..=1_000_000_000;

fn context<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let tokens = u64::deserialize(deserializer).ok().filter(|tokens| CONTEXT.contains(tokens));
    if tokens.is_none() {
        return Err(de::Error::custom(format!(
            "`context` is how many tokens a model takes: a number from {} to {}, such as 32768",
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
