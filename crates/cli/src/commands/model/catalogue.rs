//! The models that run in this program, as `interpreter model list` shows them.

use crate::terminal::download::size;
use interpreter_agent::embedded::{CatalogueEntry, ENGINE, Held, Role, WeightsRow};
use serde_json::{Value, json};
use std::io::{self, Write};

pub(super) fn write(out: &mut impl Write, models: &[(CatalogueEntry, Held)]) -> io::Result<()> {
    let without = if ENGINE { "" } else { " (this program was built without the engine for them)" };
    writeln!(out, "embedded{without}:")?;
    let width = models.iter().map(|(entry, _)| entry.name.len()).max().unwrap_or(0);
    for (entry, held) in models {
        let here = match held {
            Held::Whole => "installed".into(),
            Held::Part(bytes) => format!("{} downloaded", size(*bytes).as_str()),
            Held::Nothing => "not installed".into(),
        };
        let role = match entry.role {
            Role::Default => "",
            Role::Tiny => "; the tiny one",
            Role::Trial => "; only for trying things out, too weak for real use",
        };
        let (name, title, bytes) = (&entry.name, &entry.title, size(entry.bytes));
        let (licence, bytes) = (&entry.licence, bytes.as_str());
        writeln!(out, "  embedded/{name:width$}  {here}: {title}, {bytes}, {licence}{role}")?;
    }
    writeln!(out)
}

/// Shaped like a provider, so that one list holds everything.
pub(super) fn json(models: &[WeightsRow]) -> Value {
    let here = models.iter().filter(|row| row.here);
    let here: Vec<_> = here.map(|row| row.name.as_str()).collect();
    json!({
        "name": "embedded",
        "title": "In this program",
        "local": true,
        "ready": ENGINE && !here.is_empty(),
        "key": "not_needed",
        "models": here,
        "catalogue": models,
    })
}
