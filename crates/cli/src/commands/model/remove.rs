//! `interpreter model remove`: takes a model that runs in this program off this machine.

use crate::{
    exit::Exit,
    report::Error,
    start::context,
    terminal::{download::size, json, screen::Screen},
};
use interpreter_agent::{AgentError, embedded};
use interpreter_store::Overrides;
use serde_json::json;
use std::process::ExitCode;

/// Remove an embedded model
///
/// Removes its file, any partial download and its saved state.
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
    let context = context(&Overrides::default())?;
    let freed = embedded::remove(&context, &entry)?;
    if args.json {
        let model = format!("embedded/{}", entry.name);
        json::print_value(&json!({ "model": model, "bytes": freed }))?;
    } else {
        let (name, freed) = (&entry.name, size(freed));
        let words = format!("embedded/{name} was removed: {} are free.", freed.as_str());
        Screen::stdout(&context.environment).tell(&words)?;
    }
    Ok(Exit::Done.into())
}
