//! `interpreter model pull`: installs a model that runs in this program.

use crate::{
    commands::model::offline,
    exit::Exit,
    report::Error,
    start::{context, wait_for},
    terminal::{
        download::{Download, size},
        json,
        screen::Screen,
    },
};
use interpreter_agent::{
    Context, chain,
    embedded::{self, CatalogueEntry, Pulled},
};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Download an embedded model
///
/// Downloads it from Hugging Face, or from the mirror in `HF_ENDPOINT`; `HF_TOKEN` is used if set.
/// The SHA-256 must be that of the catalogue. An interrupted download is resumed by the next `pull`.
/// Exits with 5 if the download fails.
#[derive(Debug, clap::Args)]
pub(super) struct PullArgs {
    /// Model to download; `interpreter model list` shows them [default: qwen2.5-coder-1.5b]
    name: Option<String>,
    /// Copy it from this file instead, after checking its SHA-256
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Contact nothing but this machine: only `--from` works
    #[arg(long)]
    offline: bool,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn pull(args: &PullArgs) -> Result<ExitCode, Error> {
    let entry =
        embedded::find(args.name.as_deref()).map_err(interpreter_agent::AgentError::from)?;
    let context = context(&offline(args.offline))?;
    let fetched = wait_for(fetch(&context, &entry, args.from.as_deref(), args.json))??;
    let Some(Pulled { path, already }) = fetched else { return Ok(Exit::CodeFailed.into()) };
    if args.json {
        let done = json!({
            "event": "done",
            "model": format!("embedded/{}", entry.name),
            "file": path,
            "bytes": entry.bytes,
            "sha256": entry.sha256,
            "fetched": !already,
        });
        json::print_value(&done)?;
        return Ok(Exit::Done.into());
    }
    let already = if already { "already " } else { "" };
    let (name, bytes) = (&entry.name, size(entry.bytes));
    let mut screen = Screen::stdout(&context.environment);
    let bytes = bytes.as_str();
    screen.tell(&format!("embedded/{name} is {already}installed: {bytes}, SHA-256 checked."))?;
    if !embedded::ENGINE {
        screen.say("This program was built without the engine for it.")?;
    }
    Ok(Exit::Done.into())
}

/// Installs a model and shows the progress. Returns `None`, and says so, if Ctrl-C came first.
pub(crate) async fn fetch(
    context: &Context,
    entry: &CatalogueEntry,
    from: Option<&Path>,
    json: bool,
) -> Result<Option<Pulled>, Error> {
    let mut download = Download::new(json, &context.environment);
    let pulled = {
        let mut tell = |progress| download.show(&progress);
        tokio::select! {
            pulled = embedded::pull(context, entry, from, &mut tell) => Some(pulled),
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                None
            }
        }
    };
    let Some(pulled) = pulled else {
        let name = &entry.name;
        let words = format!("Interrupted. `interpreter model pull {name}` resumes the download.");
        download.end().tell(&words)?;
        return Ok(None);
    };
    let pulled = match pulled {
        Ok(pulled) => pulled,
        Err(error) => {
            download.end();
            return Err(error.into());
        }
    };
    if !pulled.already && embedded::ENGINE {
        read_ahead(context, entry, &mut download).await?;
    }
    download.end();
    Ok(Some(pulled))
}

/// The last step of an installation. The model can be used without it: the first question then takes
/// as long.
async fn read_ahead(
    context: &Context,
    entry: &CatalogueEntry,
    download: &mut Download,
) -> Result<(), Error> {
    let result = {
        let mut tell = |read, total| download.reading(read, total);
        tokio::select! {
            result = embedded::read_ahead(context, entry, &mut tell) => result,
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                Ok(())
            }
        }
    };
    if let Err(error) = result {
        let why = chain(&error);
        download.end().tell(&format!("The first question will take longer: {why}."))?;
    }
    Ok(())
}
