//! `interpreter model`: list, download, remove and test models.

use crate::{
    exit::Exit,
    report::Error,
    start::{context, wait_for},
    terminal::{json, screen::Screen},
};
use interpreter_agent::{
    Advise, Context, chain, embedded,
    models::{self, Here, KeyState, ModelError, Trial},
};
use interpreter_core::Untrusted;
use interpreter_store::Overrides;
use serde_json::{Value, json};
use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

pub(crate) use self::{pull::fetch, roster::names};

mod catalogue;
mod pull;
mod remove;
mod roster;

/// List, download, remove and test models
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ModelCommand {
    List(ListArgs),
    Pull(pull::PullArgs),
    Remove(remove::RemoveArgs),
    Test(TestArgs),
}

/// List embedded models, providers and local model servers
///
/// Shows each embedded model and whether it is installed, each provider and whether its API key is
/// set, and each local server that responds, with its models. Contacts nothing but this machine.
///
/// With PROVIDER, asks that provider for its models, and prints their names, one per line. Exits
/// with 5 if it does not answer.
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Provider or endpoint to ask for its models, such as openai
    provider: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Test a model with three tiny requests
///
/// Reports whether it responds, how fast, and whether streaming, tool calls and images work. Exits
/// with 5 if it does not respond.
#[derive(Debug, clap::Args)]
struct TestArgs {
    /// Model to test, such as openai/MODEL [default: the one in your settings]
    model: Option<String>,
    /// Use the settings in profiles/NAME.toml
    #[arg(short, long, value_name = "NAME")]
    profile: Option<String>,
    /// Contact nothing but this machine
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn model(args: &ModelArgs) -> Result<ExitCode, Error> {
    match &args.command {
        ModelCommand::List(args) => list(args),
        ModelCommand::Pull(args) => pull::pull(args),
        ModelCommand::Remove(args) => remove::remove(args),
        ModelCommand::Test(args) => test(args),
    }
}

/// The settings that `--offline` makes.
fn offline(offline: bool) -> Overrides {
    let none = Overrides::default();
    if offline { none.set("offline", ["true"]) } else { none }
}

fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    if let Some(provider) = &args.provider {
        return roster::list(&context, provider, args.json);
    }
    let rows = wait_for(models::list(&context))??;
    if args.json {
        let embedded = embedded::rows(&context.folders);
        let ours = std::iter::once(catalogue::json(&embedded));
        json::print_value(&ours.chain(rows.iter().map(row_json)).collect())?;
        return Ok(Exit::Done.into());
    }
    Screen::stdout(&context.environment).lines(&table(&context, &rows)?)?;
    Ok(Exit::Done.into())
}

/// The models of a context, for a chat.
pub(crate) async fn summary(context: &Context) -> Result<String, Error> {
    Ok(table(context, &models::list(context).await?)?)
}

fn table(context: &Context, rows: &[Here]) -> io::Result<String> {
    let mut out = Vec::new();
    catalogue::write(&mut out, &embedded::list(context))?;
    let (ready, rest): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.is_ready());
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    if ready.is_empty() {
        writeln!(out, "no provider is ready: no API key is set, and no local server responds\n")?;
    } else {
        writeln!(out, "ready:")?;
    }
    for row in ready {
        writeln!(out, "  {:width$}  {}", shown(&row.name), shown(&row.title))?;
        let models = row.found.iter().flat_map(|found| found.models.iter().flatten());
        for model in models {
            writeln!(out, "  {:width$}    {}", "", shown(&format!("{}/{model}", row.name)))?;
        }
    }
    writeln!(out, "not ready:")?;
    for row in rest {
        writeln!(
            out,
            "  {:width$}  {}: {}",
            row.name,
            shown(&row.title),
            shown(&row.missing().unwrap_or_default())
        )?;
    }
    writeln!(
        out,
        "\nA model is PROVIDER/MODEL; `interpreter model list PROVIDER` lists the models of a \
         provider, `interpreter model test PROVIDER/MODEL` tests one, `interpreter model pull` \
         downloads an embedded model."
    )?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn row_json(row: &Here) -> Value {
    let (key, variables) = match &row.key {
        KeyState::NotNeeded => ("not_needed", Vec::new()),
        KeyState::Set => ("set", Vec::new()),
        KeyState::Missing { variables, optional: true } => ("optional", variables.clone()),
        KeyState::Missing { variables, optional: false } => ("missing", variables.clone()),
    };
    json!({
        "name": row.name,
        "title": row.title,
        "format": row.format,
        "local": row.local,
        "ready": row.is_ready(),
        "key": key,
        "variables": variables,
        "lacks": row.lacks,
        "server": row.found.as_ref().map(|found| &found.host),
        "models": row.found.as_ref().and_then(|found| found.models.as_ref()),
    })
}

fn test(args: &TestArgs) -> Result<ExitCode, Error> {
    let overrides = Overrides { profile: args.profile.clone(), ..offline(args.offline) };
    let context = context(&overrides)?;
    let (name, trial) = wait_for(models::test(&context, args.model.as_deref()))??;
    if args.json {
        json::print_value(&trial_json(&name, &trial))?;
    } else {
        let mut out = Vec::new();
        write_trial(&mut out, &name, &trial)?;
        Screen::stdout(&context.environment).lines(&String::from_utf8_lossy(&out))?;
    }
    Ok(if trial.answer.is_ok() { Exit::Done } else { Exit::ModelFailed }.into())
}

/// One capability that was tested, and its result.
struct Tried {
    what: &'static str,
    works: bool,
    detail: String,
    hint: Option<String>,
}

fn tried(trial: &Trial) -> Vec<Tried> {
    let answer = match &trial.answer {
        Ok(answered) => {
            let (first, whole) = (seconds(answered.first), seconds(answered.whole));
            let usage = answered.usage.map_or_else(String::new, |usage| {
                let cost = usage.dollars().map(|cost| format!(", ${cost:.6}")).unwrap_or_default();
                format!("; {} tokens in, {} out{cost}", usage.input, usage.output)
            });
            let detail = format!("first words after {first}, all after {whole}{usage}");
            Tried { what: "answers", works: true, detail, hint: None }
        }
        Err(error) => failed("answers", error),
    };
    let mut all = vec![answer];
    if let Ok(answered) = &trial.answer {
        let detail = format!("{} pieces", answered.pieces);
        all.push(Tried { what: "streams", works: answered.pieces > 1, detail, hint: None });
    }
    let no_tools = "it did not call the tool; with `tools = false` it writes code in fences";
    let no_sight = "it did not name the colour of a red square";
    for (what, result, otherwise) in
        [("tools", &trial.tools, no_tools), ("images", &trial.images, no_sight)]
    {
        match result {
            None => {}
            Some(Ok(works)) => {
                let detail = if *works { String::new() } else { otherwise.into() };
                all.push(Tried { what, works: *works, detail, hint: None });
            }
            Some(Err(error)) => all.push(Tried { hint: None, ..failed(what, error) }),
        }
    }
    all
}

fn failed(what: &'static str, error: &ModelError) -> Tried {
    Tried { what, works: false, detail: chain(error), hint: error.advice() }
}

fn write_trial(out: &mut impl Write, name: &str, trial: &Trial) -> io::Result<()> {
    writeln!(out, "{}", shown(name))?;
    for Tried { what, works, detail, hint } in tried(trial) {
        let line = format!("  {what:8} {:4} {}", if works { "yes" } else { "no" }, shown(&detail));
        writeln!(out, "{}", line.trim_end())?;
        if let Some(hint) = hint {
            writeln!(out, "\nhint: {}", shown(&hint))?;
        }
    }
    Ok(())
}

fn trial_json(name: &str, trial: &Trial) -> Value {
    let mut json = json!({ "model": name });
    for Tried { what, works, detail, hint } in tried(trial) {
        json[what] = json!({ "works": works, "detail": detail, "hint": hint });
    }
    if let Ok(answered) = &trial.answer {
        json["first_ms"] = json!(milliseconds(answered.first));
        json["whole_ms"] = json!(milliseconds(answered.whole));
        json["usage"] = json!(answered.usage.map(|usage| {
            json!({
                "input": usage.input,
                "output": usage.output,
                "cached": usage.cached,
                "cost": usage.dollars(),
            })
        }));
    }
    json
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn shown(text: &str) -> String {
    Untrusted::new(text).for_terminal_line(400)
}
