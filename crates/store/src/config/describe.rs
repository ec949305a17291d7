//! The settings described, all from their declarations: values with origins, the JSON schema, and
//! a file to start from.

use super::{
    ConfigError, Provenance, SettingInfo, Settings,
    declare::{Setting, Table},
    layers::find,
};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// A value in force. A list has one row for each of its values.
#[derive(Clone, Debug)]
pub struct SettingRow {
    /// The name, with that of the definition behind it: `endpoint.local`.
    pub name: String,
    /// The declaration.
    pub info: SettingInfo,
    /// The value; null if nothing is set.
    pub value: Json,
    /// Where the value comes from.
    pub origin: Provenance,
    /// The value that is built in; null if there is none.
    pub default: Json,
    /// The rights of a project's file over it.
    pub for_project: &'static str,
}

/// A setting that has an option on the command line.
#[derive(Clone, Debug)]
pub struct SettingOption {
    /// The declaration.
    pub info: SettingInfo,
    /// The option, as its help shows it: `-m, --model MODEL`.
    pub option: &'static str,
    /// The value that is built in; null if there is none.
    pub default: Json,
    /// Whether the option takes no value.
    pub is_switch: bool,
    /// Whether it may be given more than once, or with commas.
    pub repeats: bool,
    /// The words that it can be, if only some can.
    pub choices: Vec<String>,
}

/// The schema of the records in a config file.
const RECORDS: &str = include_str!("records.schema.json");

impl SettingRow {
    /// It as programs read it. Shows no secret.
    pub fn json(&self) -> Json {
        let place = self.origin.place.as_ref();
        json!({
            "name": self.name,
            "value": self.value,
            "origin": {
                "layer": self.origin.layer,
                "file": place.map(|(path, _)| path.to_string_lossy()),
                "line": place.map(|(_, line)| line),
            },
            "default": self.default,
            "meaning": self.info.meaning(),
            "option": self.info.option,
            "variable": self.info.variable,
            "project": self.for_project,
        })
    }
}

impl Settings {
    /// Every value in force, in the order of the declarations.
    pub fn rows(&self) -> Vec<SettingRow> {
        rows(self)
    }

    /// The rows of one setting.
    pub fn rows_of(&self, name: &str) -> Result<Vec<SettingRow>, ConfigError> {
        match find::<Self>(name) {
            Some(setting) => Ok(rows_of(setting, self)),
            None => Err(ConfigError::no_setting(name)),
        }
    }

    /// The options that stand for settings.
    pub fn options() -> impl Iterator<Item = SettingOption> {
        Self::SETTINGS.iter().filter_map(|setting| {
            let info = *setting.info();
            let (is_switch, repeats) = (setting.is_switch(), setting.repeats());
            let default = default_of(*setting);
            let choices = choices(&setting.schema());
            let option = info.option?;
            Some(SettingOption { info, option, default, is_switch, repeats, choices })
        })
    }

    /// The JSON schema of a config file.
    pub fn schema() -> Json {
        schema::<Self>()
    }

    /// A file to start from: every setting with its meaning, commented out.
    pub fn starting_file() -> String {
        starting_file::<Self>()
    }
}

/// The words that a schema allows, of a value or of each value of a list.
fn choices(schema: &Json) -> Vec<String> {
    let words = schema.get("enum").or_else(|| schema.pointer("/items/enum"));
    let words = words.and_then(Json::as_array).into_iter().flatten();
    words.filter_map(Json::as_str).map(str::to_owned).collect()
}

pub(super) fn rows<S: Table>(settings: &S) -> Vec<SettingRow> {
    S::SETTINGS.iter().flat_map(|setting| rows_of(*setting, settings)).collect()
}

fn rows_of<S: Table>(setting: &dyn Setting<S>, settings: &S) -> Vec<SettingRow> {
    let info = *setting.info();
    let default = default_of(setting);
    let row = |name: String, value: Json, origin: &Provenance| SettingRow {
        name,
        info,
        value,
        origin: origin.clone(),
        default: default.clone(),
        for_project: setting.for_project(),
    };
    let items = setting.items(settings);
    if items.is_empty() {
        let nobody = Provenance::of(super::Layer::Default);
        return vec![row(info.name.into(), Json::Null, &nobody)];
    }
    let named = |name: Option<&str>| match name {
        Some(name) => format!("{}.{name}", info.name),
        None => info.name.into(),
    };
    items.into_iter().map(|(name, value, origin)| row(named(name), value, origin)).collect()
}

/// The default of a setting that has one value.
fn default_of<S: Table>(setting: &dyn Setting<S>) -> Json {
    let built_in = S::default();
    setting.items(&built_in).pop().map_or(Json::Null, |(_, value, _)| value)
}

pub(super) fn schema<S: Table>() -> Json {
    let records: Json = serde_json::from_str(RECORDS).unwrap_or_default();
    let mut root = object("A config file of the interpreter");
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["$defs"] = records;
    for setting in S::SETTINGS {
        let mut at = &mut root["properties"];
        let (tables, key) = split(setting.info().name);
        for table in tables {
            if at[table].is_null() {
                at[table] = object("");
            }
            at = &mut at[table]["properties"];
        }
        at[key] = setting.schema();
        at[key]["description"] = setting.info().meaning().into();
        let default = default_of(*setting);
        if !default.is_null() {
            at[key]["default"] = default;
        }
    }
    root
}

fn object(title: &str) -> Json {
    let mut object = Map::new();
    if !title.is_empty() {
        object.insert("title".into(), title.into());
    }
    object.extend([
        ("type".into(), "object".into()),
        ("additionalProperties".into(), false.into()),
        ("properties".into(), json!({})),
    ]);
    object.into()
}

fn split(name: &str) -> (impl Iterator<Item = &str>, &str) {
    let (tables, key) = name.rsplit_once('.').unwrap_or(("", name));
    (tables.split('.').filter(|table| !table.is_empty()), key)
}

pub(super) fn starting_file<S: Table>() -> String {
    let mut text = "# Settings. Remove a `#` before a key to set it.\n\
                    # `interpreter config show` lists the values in force.\n"
        .to_owned();
    let mut table = "";
    // Keys of no table come first, as TOML wants it.
    let mut settings = S::SETTINGS.to_vec();
    settings.sort_by_key(|setting| setting.info().name.contains('.'));
    for setting in settings {
        let info = setting.info();
        let (within, key) = info.name.rsplit_once('.').unwrap_or(("", info.name));
        if within != table {
            table = within;
            _ = write!(text, "\n[{table}]\n");
        }
        let default = default_of(setting);
        let is_set = !default.is_null() && default != json!([]);
        let value = if is_set { default.to_string() } else { setting.examples().swap_remove(0) };
        // Writing to a string cannot fail.
        _ = write!(text, "\n# {}\n#{key} = {value}\n", info.meaning());
    }
    text
}
