//! The schema of a provider's file says what the program reads: every file that is shipped fits
//! both, and what one refuses the other does.

use interpreter_model::Provider;
use serde_json::{Value, json};
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn schema() -> Value {
    let text = fs_err::read_to_string(Path::new(ROOT).join("docs/reference/provider.schema.json"))
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The first mismatch of a value, by its place. Knows the words that our schema uses.
fn misfit(value: &Value, schema: &Value, place: &str) -> Option<String> {
    if let Some(allowed) = schema["enum"].as_array() {
        return (!allowed.contains(value)).then(|| format!("{place} is {value}"));
    }
    let fits = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        other => panic!("the schema says `{other}`, which this test does not know"),
    };
    if !fits {
        return Some(format!("{place} is {value}"));
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(found) = misfit(item, &schema["items"], &format!("{place}[]")) {
            return Some(found);
        }
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().unwrap()).is_none() {
            return Some(format!("{place} lacks {required}"));
        }
    }
    value.as_object()?.iter().find_map(|(name, field)| {
        let place = format!("{place}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(known), _) => misfit(field, known, &place),
            (None, further @ Value::Object(_)) => misfit(field, further, &place),
            (None, _) => Some(format!("{place} is not known")),
        }
    })
}

fn as_json(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

#[test]
fn every_shipped_provider_fits_the_schema() {
    let schema = schema();
    for entry in fs_err::read_dir(Path::new(ROOT).join("crates/model/providers")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs_err::read_to_string(&path).unwrap();
        assert_eq!(misfit(&as_json(&text), &schema, ""), None, "{}", path.display());
    }
}

/// A file that says everything that can be said.
const ALL: &str = r#"
title = "All"
format = "openai"
base_url = "{server}/v1"
usage = "unasked"
caching = "marked"
[setting.server]
about = "where"
variables = ["ALL_HOST"]
default = "https://all.example.org"
[key]
variables = ["ALL_KEY"]
header = "x-key"
scheme = "Token"
optional = true
[headers]
x-title = "Us"
[local]
list = "/v1/models"
owned_by = "all"
[[model]]
name = "*"
tools = true
images = false
context = 1000
price = { input = 1, cached = 0.5, written = 2, output = 3, as_of = "2025-11-01" }
"#;

/// Every place of a value, as a pointer.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let fields = value.as_object().into_iter().flatten();
    let items = value.as_array().into_iter().flatten().enumerate();
    let further = fields
        .map(|(name, field)| (name.clone(), field))
        .chain(items.map(|(index, item)| (index.to_string(), item)));
    for (name, field) in further {
        let place = format!("{at}/{name}");
        places(field, &place, all);
        all.push(place);
    }
}

fn is_read(value: &Value) -> bool {
    Provider::parse(Path::new("all.toml"), &toml_of(value)).is_ok()
}

/// A document as TOML, with everything inline.
fn toml_of(value: &Value) -> String {
    fn inline(value: &Value) -> String {
        match value {
            Value::Object(fields) => {
                let fields =
                    fields.iter().map(|(name, field)| format!("\"{name}\"={}", inline(field)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
            Value::Array(items) => {
                format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(","))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        }
    }
    let fields = value.as_object().unwrap().iter();
    let lines = fields.map(|(name, field)| format!("\"{name}\" = {}", inline(field)));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn schema_and_program_agree_on_every_key() {
    let (schema, all) = (schema(), as_json(ALL));
    assert_eq!(misfit(&all, &schema, ""), None);
    assert!(is_read(&all));
    let mut everywhere = Vec::new();
    places(&all, "", &mut everywhere);
    assert!(everywhere.len() > 30);
    for place in &everywhere {
        // A value of a wrong kind: refused by both.
        let mut wrong = all.clone();
        let value = wrong.pointer_mut(place).unwrap();
        *value = if value.is_boolean() { json!("x") } else { json!(true) };
        assert!(misfit(&wrong, &schema, "").is_some() && !is_read(&wrong), "{place}");
        // A name that is not known, unless any name may stand there.
        let (parent, name) = place.rsplit_once('/').unwrap();
        let mut unknown = all.clone();
        let table = unknown.pointer_mut(parent).unwrap();
        if let Some(fields) = table.as_object_mut()
            && !["/setting", "/headers"].contains(&parent)
        {
            fields.insert(format!("{name}-x"), json!("x"));
            assert!(misfit(&unknown, &schema, "").is_some() && !is_read(&unknown), "{place}");
        }
        // A name that is missing: refused by both or by neither, but for what only the program
        // knows: that a setting is named in the address.
        let mut missing = all.clone();
        if let Some(fields) = missing.pointer_mut(parent).unwrap().as_object_mut() {
            fields.remove(name);
            let named = ["/setting", "/setting/server"].contains(&place.as_str());
            assert_eq!(
                misfit(&missing, &schema, "").is_some(),
                !named && !is_read(&missing),
                "{place}"
            );
        }
    }
}
