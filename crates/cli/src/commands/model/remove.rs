//! `interpreter model remove`: takes a model that runs in this program off this machine.

use crate::{
    commands::scene,
    exit::Exit,
    report::Error,
    terminal::{download::size, json, screen::Screen},
};
use interpreter_agent::{AgentError, embedded};
use interpreter_store::Overrides;
use serde_json::json;
use std::process::ExitCode;

/// Remove a model that runs in this program
///
/// Removes its file, what an interrupted download has left, and what was kept for it.
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// Model to remove; `interpreter model list` shows them
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn remove(args: &RemoveArgs) -> Result<ExitCode, Error> {
    let entry = embedded::find(Some(&args.name)).map_err(AgentError::from)?;
    let scene = scene(&Overrides::default())?;
    let freed = embedded::remove(&scene, &entry)?;
    if args.json {
        let model = format!("embedded/{}", entry.name);
        json::print_value(&json!({ "model": model, "bytes": freed }))?;
    } else {
        let (name, freed) = (&entry.name, size(freed));
        let words = format!("embedded/{name} was removed: {} are free.", freed.as_str());
        Screen::stdout(&scene.environment).tell(&words)?;
    }
    Ok(Exit::Done.into())
}
