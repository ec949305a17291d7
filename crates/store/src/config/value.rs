//! The types of settings: how each is read, shown and described in the schema.
//!
//! A value is checked while it is read, so that the error names its line and column. Must not
//! repeat a text that may hold a secret, neither in an error nor in [`Value::json`].

use super::{BaseUrl, EndpointSettings, Listed, NetworkMode, text::Misread};
use crate::quantity::{Bytes, Dollars, TimeLimit};
use interpreter_core::{
    ApprovalMode, Choice, Declaration, Promise, RiskLimit, Rule, Scanner, Theme, Workspace,
    declaration::{How, is_language_name},
    egress::HostRule,
    file_header::FileHeaders,
    packages::PackagePolicy,
    system_users::UserRange,
    vault::VaultSecret,
};
use serde::{Deserialize, Serialize, de};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU32, NonZeroU64},
    ops::Deref,
    path::PathBuf,
};
use toml::{
    Spanned,
    de::{DeValue, ValueDeserializer},
};

/// A value of a config file, with its place.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;

/// A type that a setting can have.
pub(super) trait Value:
    Clone + PartialEq + fmt::Debug + de::DeserializeOwned + 'static
{
    /// Accepted values, as TOML. The first one is typical.
    const EXAMPLES: &'static [&'static str];

    /// The JSON schema of the type.
    fn schema() -> Json;

    /// The value as JSON; null if nothing is set. Shows no secret.
    fn json(&self) -> Json;

    /// Reads a value of a config file.
    fn read(node: Node<'_>) -> Result<Self, Misread> {
        let at = node.span().start;
        Self::deserialize(ValueDeserializer::from(node)).map_err(|error| Misread::new(&error, at))
    }
}

/// A value that is defined by name, such as an endpoint.
pub(super) trait Named: Value {
    /// Checks all that one file defines: their names, and what they share.
    fn check(all: &BTreeMap<&str, &Self>) -> Result<(), String>;

    /// Puts a definition over an earlier one of the same name.
    fn over(self, _earlier: &Self) -> Self {
        self
    }
}

/// Reads the words of an option or of a variable.
pub(super) fn from_words<T: Value>(words: &str) -> Result<T, String> {
    let schema = T::schema();
    let node = match (schema["type"].as_str(), words) {
        (Some("string"), _) => Ok(Spanned::new(0..words.len(), DeValue::String(words.into()))),
        (Some("boolean"), "1") => DeValue::parse("true"),
        (Some("boolean"), "0") => DeValue::parse("false"),
        _ => DeValue::parse(words),
    };
    let node = node.map_err(|_| format!("expected a value such as `{}`", T::EXAMPLES[0]))?;
    T::read(node).map_err(|error| error.message)
}

macro_rules! plain_values {
    ($($type:ty: $schema:expr, [$($example:literal),+];)*) => {
        $(impl Value for $type {
            const EXAMPLES: &'static [&'static str] = &[$($example),+];

            fn schema() -> Json {
                $schema
            }

            fn json(&self) -> Json {
                serde_json::to_value(self).unwrap_or_default()
            }
        })*
    };
}

plain_values! {
    bool: json!({"type": "boolean"}), ["true", "false"];
    NonZeroU32: json!({"type": "integer", "minimum": 1}), ["20", "1", "21", "512", "4000000"];
    NonZeroU64: json!({"type": "integer", "minimum": 1}), ["20", "1", "511", "1024", "4000000"];
    PathBuf: json!({"type": "string"}), ["\"path/to/file\""];
    Prose: json!({"type": "string"}), ["\"Answer briefly.\"", "\"\""];
    Temperature: json!({"type": "number", "minimum": 0, "maximum": 2}), ["0", "1.5"];
    Bytes: json!({"type": "string", "pattern": "^[0-9.]+ *([KMGT]i?)?B?$"}),
        ["\"2G\"", "\"1B\"", "\"10M\"", "\"4G\"", "\"1T\""];
    Dollars: json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000}),
        ["2.5", "0.01", "10"];
    TimeLimit: json!({"type": "string"}), ["\"10m\"", "\"1s\"", "\"2d\"", "\"none\""];
    Workspace: one_of(["stage", "direct", "read-only"]), ["\"stage\"", "\"direct\"", "\"read-only\""];
    Theme: one_of(Theme::ALL.map(Theme::word)), ["\"auto\"", "\"light\"", "\"dark\"", "\"none\""];
    ApprovalMode: one_of(["ask", "auto", "deny"]), ["\"ask\"", "\"auto\"", "\"deny\""];
    RiskLimit: one_of(["low", "medium"]), ["\"low\"", "\"medium\""];
    PackagePolicy: one_of(["never", "ask", "allow"]), ["\"ask\"", "\"never\"", "\"allow\""];
    FileHeaders: one_of(["never", "small", "always"]), ["\"small\"", "\"never\"", "\"always\""];
    NetworkMode: one_of(["none", "listed", "open"]), ["\"listed\"", "\"none\"", "\"open\""];
    Choice: one_of(Choice::all().map(Choice::word)),
        ["\"auto\"", "\"native\"", "\"bubblewrap\"", "\"landlock\"", "\"none\""];
    Promise: one_of(Promise::ALL.iter().map(|one| one.word())), ["\"limits\"", "\"reading\""];
    Scanner: one_of(Scanner::ALL.map(Scanner::name)), ["\"bandit\"", "\"shellcheck\""];
    Listed: json!({"type": "string"}), ["\"example.org\"", "\"*.example.org\"", "\"python\""];
    HostRule: json!({"type": "string"}), ["\"ads.example.org\""];
    SecretName: json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}),
        ["\"LOGIN_SECRET\""];
    VaultSecret: json!({"type": "string"}), ["\"GITHUB_TOKEN=secret/github#token\""];
    UserRange: json!({"type": "string", "pattern": "^[0-9]+-[0-9]+$"}),
        ["\"200000-265533\"", "\"1879048193-1879113727\""];
    Rule: json!({"$ref": "#/$defs/rule"}),
        ["{ decision = \"deny\", line = \"git push*\" }", "{ decision = \"allow\" }"];
}

fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Json {
    json!({"type": "string", "enum": words.into_iter().collect::<Vec<_>>()})
}

impl<T: Value> Value for Option<T> {
    const EXAMPLES: &'static [&'static str] = T::EXAMPLES;

    fn schema() -> Json {
        T::schema()
    }

    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }

    fn read(node: Node<'_>) -> Result<Self, Misread> {
        T::read(node).map(Some)
    }
}

/// A name on one line.
impl Value for String {
    const EXAMPLES: &'static [&'static str] = &["\"ollama/qwen\"", "\"scripted:f\""];

    fn schema() -> Json {
        json!({"type": "string", "minLength": 1})
    }

    fn json(&self) -> Json {
        self.as_str().into()
    }

    fn read(node: Node<'_>) -> Result<Self, Misread> {
        one_line(&node, "expected a name on one line")
    }
}

impl Value for Vec<String> {
    const EXAMPLES: &'static [&'static str] = &["[\"ollama/qwen\"]", "[]"];

    fn schema() -> Json {
        json!({"type": "array", "items": String::schema()})
    }

    fn json(&self) -> Json {
        self.as_slice().into()
    }
}

/// A short text on one line. It is not repeated in the error: it may be a key.
fn one_line(node: &Node<'_>, expected: &str) -> Result<String, Misread> {
    let fits = |text: &str| (1..=1000).contains(&text.len()) && !text.chars().any(char::is_control);
    let text = node.get_ref().as_str().filter(|text| fits(text));
    text.map(str::to_owned)
        .ok_or_else(|| Misread { at: node.span().start, message: expected.into() })
}

/// A text of any length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prose(String);

impl Deref for Prose {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The name of a secret that is kept, or of a variable that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SecretName(String);

impl Deref for SecretName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SecretName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins_well = name.starts_with(|c: char| !c.is_ascii_digit());
        if begins_well && name.chars().all(is_plain) {
            return Ok(Self(name));
        }
        // The text is not repeated: someone may have put the secret itself here.
        Err(
            "expected the name of a secret, such as `LOGIN_SECRET`; the secret itself does not belong \
             in this file",
        )
    }
}

/// The sampling temperature of a model: a number from 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Temperature(f64);

impl Temperature {
    /// The temperature as a number.
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
            Err(format!("expected a number from 0 to 2, not {value}"))
        }
    }
}

/// The parts of one provider's address, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct AddressParts(pub BTreeMap<String, String>);

impl Value for AddressParts {
    const EXAMPLES: &'static [&'static str] = &["{ resource = \"my-resource\" }"];

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": String::schema()})
    }

    /// Without the texts: a key may be among them.
    fn json(&self) -> Json {
        self.0.keys().map(|name| (name.clone(), Json::from("(hidden)"))).collect()
    }

    fn read(node: Node<'_>) -> Result<Self, Misread> {
        let at = node.span().start;
        let DeValue::Table(table) = node.into_inner() else {
            return Err(Misread { at, message: "expected a table of texts".into() });
        };
        let parts = table.into_iter().map(|(name, text)| {
            Ok((name.into_inner().into_owned(), one_line(&text, "expected a text on one line")?))
        });
        parts.collect::<Result<_, _>>().map(Self)
    }
}

impl Named for AddressParts {
    fn check(_: &BTreeMap<&str, &Self>) -> Result<(), String> {
        Ok(())
    }

    fn over(mut self, earlier: &Self) -> Self {
        for (name, text) in &earlier.0 {
            self.0.entry(name.clone()).or_insert_with(|| text.clone());
        }
        self
    }
}

impl Value for Declaration {
    const EXAMPLES: &'static [&'static str] = &["{ programs = [\"fish\"] }"];

    fn schema() -> Json {
        json!({"$ref": "#/$defs/language"})
    }

    /// The programs that would run it, best first.
    fn json(&self) -> Json {
        let words = self.ways.iter().map(|way| match &way.how {
            How::Driver(_) | How::Once(_) => way.programs.join(", "),
            How::Show(kind) => kind.clone(),
            How::Jupyter(name) => format!("the Jupyter kernel {name}"),
        });
        words.collect::<Vec<_>>().join(", ").into()
    }
}

impl Named for Declaration {
    fn check(all: &BTreeMap<&str, &Self>) -> Result<(), String> {
        let mut taken = BTreeMap::new();
        for (&name, declaration) in all {
            if !is_language_name(name) {
                return Err(format!(
                    "`{name}` is not the name of a language; use lower-case letters, digits, `+`, \
                     `-`, `_`, `#` and `.`"
                ));
            }
            for called in declaration.aliases.iter().map(String::as_str).chain([name]) {
                let before = taken.insert(called, name);
                if let Some(before) = before.filter(|before| *before != name) {
                    return Err(format!(
                        "`{called}` is a name of `language.{before}` and of `language.{name}`; \
                         remove it from one of them"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Value for BaseUrl {
    const EXAMPLES: &'static [&'static str] =
        &["\"http://localhost:1234/v1\"", "\"https://models.example.org/v1\""];

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^https?://"})
    }

    fn json(&self) -> Json {
        Self::shown(self.as_str()).into()
    }
}

impl Value for EndpointSettings {
    const EXAMPLES: &'static [&'static str] =
        &["{ base_url = \"http://localhost:8080/v1\", format = \"openai\" }"];

    fn schema() -> Json {
        json!({"$ref": "#/$defs/endpoint"})
    }

    /// Without the query of the address: a key may be in it.
    fn json(&self) -> Json {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["base_url"] = BaseUrl::shown(&self.base_url).into();
        json
    }
}

impl Named for EndpointSettings {
    fn check(all: &BTreeMap<&str, &Self>) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        // The name stands before a slash in a model's name.
        match all.keys().find(|name| name.is_empty() || !name.chars().all(plain)) {
            Some(name) => Err(format!(
                "`{name}` is not the name of an endpoint; use letters, digits, `-`, `_` and `.`"
            )),
            None => Ok(()),
        }
    }
}
