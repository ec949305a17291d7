//! Settings as text for a person, from the rows of the store.
//!
//! Values come from files: the caller draws the text as foreign.

use interpreter_core::Untrusted;
use interpreter_store::{Layer, SettingRow};
use serde_json::Value;
use std::{fmt::Write, path::Path};

/// Columns of the text. With the mark of foreign rows it fits into 80.
const COLUMNS: usize = 76;

/// Characters of a value in the list of all settings.
const LONGEST: usize = 120;

/// Every setting: name and value, the origin if it is not the default, and the meaning.
pub(super) fn list(rows: &[SettingRow], home: Option<&Path>) -> String {
    let mut text = String::new();
    let mut explained = "";
    for row in rows {
        let value = Untrusted::new(words(&row.value)).for_terminal_line(LONGEST);
        if row.origin.layer == Layer::Default {
            wrap(&mut text, &format!("{} = {value} (default)", row.name), "", "      ");
        } else {
            wrap(&mut text, &format!("{} = {value}", row.name), "", "      ");
            let origin = format!("from {}; default: {}", origin(row, home), words(&row.default));
            wrap(&mut text, &origin, "    ", "    ");
        }
        // The meaning of a list stands once, below its first value.
        if explained != row.info.name {
            explained = row.info.name;
            wrap(&mut text, row.info.meaning(), "    ", "    ");
        }
    }
    text
}

/// One setting, with all that is declared of it.
pub(super) fn detail(rows: &[SettingRow], home: Option<&Path>) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = String::new();
    wrap(&mut text, first.info.meaning(), "", "");
    let mut line = |what: &str, value: &str| {
        for (number, value) in value.lines().enumerate() {
            let what = if number == 0 { what } else { "" };
            // Writing to a string cannot fail.
            _ = writeln!(text, "{what:<9} {value}");
        }
    };
    for row in rows {
        line("name", &row.name);
        line("value", &words(&row.value));
        line("origin", &origin(row, home));
    }
    line("default", &words(&first.default));
    line("option", first.info.option.unwrap_or("none"));
    line("variable", first.info.variable.unwrap_or("none"));
    line("project", &format!("{} it", first.for_project));
    text
}

fn origin(row: &SettingRow, home: Option<&Path>) -> String {
    if let Some(setting) = row.origin.decided_by {
        return format!("`{setting}`, set by {}", row.origin.layer);
    }
    match (&row.origin.place, row.origin.layer) {
        (Some((path, line)), _) => match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}:{line}", below.display()),
            None => format!("{}:{line}", path.display()),
        },
        (None, Layer::Default) => "default".into(),
        (None, Layer::Environment) => format!("variable {}", row.info.variable.unwrap_or_default()),
        (None, Layer::CommandLine) => format!("option {}", row.info.option.unwrap_or_default()),
        (None, layer) => layer.to_string(),
    }
}

/// A value in words.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "not set".into(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(values) if values.is_empty() => "not set".into(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let set = fields.iter().filter(|(_, value)| !value.is_null());
            let set = set.map(|(name, value)| format!("{name} {}", words(value)));
            set.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Appends a text, broken between words.
fn wrap(out: &mut String, text: &str, first: &str, rest: &str) {
    *out += first;
    let mut column = first.len();
    for (number, word) in text.split(' ').enumerate() {
        let width = word.chars().count();
        if number > 0 && column + 1 + width > COLUMNS {
            // Writing to a string cannot fail.
            _ = write!(out, "\n{rest}");
            column = rest.len();
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        *out += word;
        column += width;
    }
    out.push('\n');
}
