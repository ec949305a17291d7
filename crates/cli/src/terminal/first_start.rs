//! The first start: no model is selected, and one can be downloaded.
//!
//! Asks one question, and names the other ways. Without a clear yes nothing is downloaded.

use super::{
    ask::{Asker, Left, choice},
    download::size,
    ours::ours,
    screen::Screen,
};
use crate::{commands::model::fetch, report::Error};
use interpreter_agent::{
    AgentError, ChooseError, Context,
    embedded::{self, CatalogueEntry, Role},
    models::{self, Here},
};
use interpreter_core::Untrusted;
use std::io;

/// How many ways that are ready are named.
const NAMED: usize = 5;

/// The answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// There is a model: go on.
    Ready,
    /// The person interrupted the download.
    Interrupted,
}

/// Makes sure that there is a model, and asks if there is none.
pub(crate) async fn settle(
    context: &Context,
    asker: &mut Asker,
    screen: &mut Screen,
) -> Result<Start, Error> {
    if context.model_name()?.is_some() || !embedded::ENGINE || context.settings.offline.value {
        return Ok(Start::Ready);
    }
    let rows = models::list(context).await?;
    let offered = [Role::Default, Role::Tiny]
        .map(|role| embedded::list(context).into_iter().find(|(entry, _)| entry.role == role));
    let [Some((usual, _)), Some((tiny, _))] = offered else { return Ok(Start::Ready) };
    offer(context, screen, &usual, &tiny, &rows)?;
    let choices = [
        choice('y', "download", Some(Role::Default)),
        choice('t', "download the smaller one", Some(Role::Tiny)),
        choice('n', "no", None),
    ];
    let question = ours("Download it now (once)?");
    let entry = match asker.choose(screen, &question, &choices).await {
        Ok(Some(Role::Default | Role::Trial)) => usual,
        Ok(Some(Role::Tiny)) => tiny,
        Ok(None) | Err(Left::Interrupted | Left::Ended) => {
            return Err(AgentError::from(ChooseError::None).into());
        }
        Err(Left::Terminated) => return Ok(Start::Interrupted),
    };
    match fetch(context, &entry, None, false).await? {
        Some(_) => Ok(Start::Ready),
        None => Ok(Start::Interrupted),
    }
}

/// Draws what could be downloaded, and what else could be done.
fn offer(
    context: &Context,
    screen: &mut Screen,
    usual: &CatalogueEntry,
    tiny: &CatalogueEntry,
    rows: &[Here],
) -> io::Result<()> {
    screen.say(if ways(rows).is_empty() {
        "No model is chosen, no API key is set, and no local model server responds."
    } else {
        "No model is chosen."
    })?;
    screen.say("A small model can run inside this program, entirely on this machine.")?;
    screen.row(&format!("y  {}", entry(usual)))?;
    screen.row(&format!("t  smaller: saves disk space, makes more mistakes: {}", entry(tiny)))?;
    let host = Untrusted::new(embedded::host(context)).for_terminal_line(80);
    screen.row(&format!("from {host}; or, without a network, from a file:"))?;
    screen.row(&format!("`interpreter model pull {} --from FILE`", usual.name))?;
    others(rows).iter().try_for_each(|row| screen.row(row))
}

fn entry(entry: &CatalogueEntry) -> String {
    let CatalogueEntry { title, licence, bytes, .. } = entry;
    format!("{title} ({}, {licence})", size(*bytes).as_str())
}

/// Other ways to get a model.
fn others(rows: &[Here]) -> Vec<String> {
    let other = "Other ways: an API key, such as OPENAI_API_KEY, and `--model openai/MODEL`; or a \
                 model server of your own, and `--model ollama/MODEL`.";
    let ready = ways(rows).into_iter().take(NAMED).map(|way| format!("`--model {way}`"));
    let ready: Vec<_> = ready.collect();
    let ready = (!ready.is_empty()).then(|| format!("Ready without it: {}.", ready.join(", ")));
    ready.into_iter().chain([other.to_owned()]).collect()
}

/// Models that could be asked now.
fn ways(rows: &[Here]) -> Vec<String> {
    let shown = |name: &str| Untrusted::new(name).for_terminal_line(60);
    let way = |row: &Here| {
        let model = row.found.iter().flat_map(|found| found.models.iter().flatten()).next();
        let model = model.map_or("MODEL", String::as_str);
        format!("{}/{}", shown(&row.name), shown(model))
    };
    rows.iter().filter(|row| row.is_ready()).map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_agent::models::KeyState;

    fn row(name: &str, local: bool, key: KeyState) -> Here {
        let (title, format) = (String::new(), "openai");
        Here { name: name.into(), title, format, local, key, lacks: None, found: None }
    }

    #[test]
    fn what_is_ready_is_named_and_the_rest_is_not() {
        let missing = KeyState::Missing { variables: vec!["K".into()], optional: false };
        let none = [row("groq", false, missing.clone()), row("ollama", true, KeyState::NotNeeded)];
        assert!(others(&none)[0].starts_with("Other ways: an API key"), "{:?}", others(&none));
        let mut server = row("ollama", true, KeyState::NotNeeded);
        server.found = Some(models::LocalServer {
            provider: "ollama".into(),
            host: "127.0.0.1".into(),
            models: Some(vec!["qwen\u{1b}".into()]),
        });
        let some = [row("groq", false, missing), row("openai", false, KeyState::Set), server];
        let words = r"Ready without it: `--model openai/MODEL`, `--model ollama/qwen\u{1b}`.";
        assert_eq!(others(&some)[0], words);
    }
}
