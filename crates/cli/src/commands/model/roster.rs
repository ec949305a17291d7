//! `interpreter model list PROVIDER`: the models of one provider, by name.

use crate::{
    exit::Exit,
    report::Error,
    start::wait_for,
    terminal::{json, screen::Screen},
};
use interpreter_agent::{Context, embedded, models};
use serde_json::json;
use std::process::ExitCode;

pub(super) fn list(context: &Context, provider: &str, json: bool) -> Result<ExitCode, Error> {
    let names = wait_for(names(context, provider))??;
    if json {
        let models: Vec<_> = names.iter().filter_map(|name| name.split_once('/')).collect();
        let models: Vec<_> = models.iter().map(|(_, model)| model).collect();
        json::print_value(&json!({ "name": provider.trim_end_matches('/'), "models": models }))?;
    } else {
        let lines: Vec<_> = names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
        Screen::stdout(&context.environment).lines(&lines.concat())?;
    }
    Ok(Exit::Done.into())
}

/// The full names of a provider's models. It is asked, unless they run in this program.
pub(crate) async fn names(context: &Context, provider: &str) -> Result<Vec<String>, Error> {
    let provider = provider.trim_end_matches('/');
    let is_own = context.settings.endpoints.contains_key(provider);
    if provider == "embedded" && !is_own && context.providers.get(provider).is_none() {
        let all = embedded::list(context).into_iter();
        return Ok(all.map(|(entry, _)| format!("embedded/{}", entry.name)).collect());
    }
    let roster = models::roster(context, provider).await?;
    Ok(roster.names().into_iter().map(|name| format!("{provider}/{name}")).collect())
}
