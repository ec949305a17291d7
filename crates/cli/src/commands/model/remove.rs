//! `interpreter model remove`: takes a model that runs in this program off this machine.

use crate::{commands::scene, exit::Exit, report::Error, terminal::download::size};
use interpreter_agent::{AgentError, embedded};
use interpreter_store::Overrides;
use serde_json::json;
use std::{
    io::{self, Write},
    process::ExitCode,
};

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
    let freed = embedded::remove(&scene(&Overrides::default())?, &entry)?;
    let mut out = io::stdout().lock();
    if args.json {
        let model = format!("embedded/{}", entry.name);
        writeln!(out, "{}", json!({ "model": model, "bytes": freed }))?;
    } else {
        writeln!(out, "embedded/{} was removed: {} are free.", entry.name, size(freed))?;
    }
    Ok(Exit::Done.into())
}
