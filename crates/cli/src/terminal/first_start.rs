//! The first start: no model is selected.
//!
//! Asks at most two questions: whose model, of those that are ready or can be downloaded, and which
//! of that provider's models. Only a provider that was chosen is contacted, and only a clear yes
//! downloads anything. The answer is kept in the config file, so nobody is asked again.

use super::{
    ask::{Asker, Choice, Left, choice},
    download::size,
    model_question,
    ours::ours,
    screen::Screen,
};
use crate::{commands::model::fetch, report::Error};
use interpreter_agent::{
    AgentError, ChooseError, Context, chain,
    embedded::{self, CatalogueEntry, Role},
    models::{self, Here, KeyState},
};
use interpreter_core::{
    Untrusted,
    roster::{Roster, RosterEntry},
};
use std::io;

/// The keys of what is ready; what has no key is counted.
const KEYS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// The result of the first start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// There is a model, or nothing to ask about one: go on.
    Ready,
    /// The person interrupted it.
    Interrupted,
}

/// Whose models may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    /// Everybody's.
    All,
    /// Those of this machine; servers have been looked for.
    ThisMachine,
}

/// The person's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// A provider that is ready, by its place.
    Ready(usize),
    Download(Role),
    Nothing,
}

/// The two models that can be downloaded: the usual one and the tiny one.
type Downloads = Option<(CatalogueEntry, CatalogueEntry)>;

/// Makes sure that there is a model, and asks if there is none.
pub(crate) async fn settle(
    context: &mut Context,
    sources: Sources,
    asker: &mut Asker,
    screen: &mut Screen,
) -> Result<Start, Error> {
    // An address that was given is that of one model, whose name the person knows.
    if context.model_name()?.is_some() || context.settings.base_url.value.is_some() {
        return Ok(Start::Ready);
    }
    let offline = context.settings.offline.value;
    let ready = match sources {
        Sources::All => ready(context, models::list(context).await?, offline),
        Sources::ThisMachine => Vec::new(),
    };
    let downloads = if offline { None } else { downloads(context) };
    if ready.is_empty() && downloads.is_none() {
        return Ok(Start::Ready);
    }
    offer(context, screen, &ready, downloads.as_ref())?;
    let choices = choices(ready.len(), downloads.is_some());
    let question = ours(if ready.is_empty() { "Download it now (once)?" } else { "Which one?" });
    let decision = match asker.choose(screen, &question, &choices).await {
        Ok(decision) => decision,
        Err(Left::Interrupted | Left::Ended | Left::Nobody(_)) => Decision::Nothing,
        Err(Left::Terminated) => return Ok(Start::Interrupted),
    };
    match (decision, downloads) {
        (Decision::Ready(at), _) => choose_of(context, asker, screen, &ready[at]).await,
        (Decision::Download(role), Some((usual, tiny))) => {
            let entry = if role == Role::Tiny { tiny } else { usual };
            let fetched = fetch(context, &entry, None, false).await?;
            Ok(if fetched.is_some() { Start::Ready } else { Start::Interrupted })
        }
        (Decision::Download(_) | Decision::Nothing, _) => Err(none()),
    }
}

fn none() -> Error {
    AgentError::from(ChooseError::None).into()
}

/// The providers that could be asked now, as many as there are keys for.
fn ready(context: &Context, rows: Vec<Here>, offline: bool) -> Vec<Here> {
    let own_key = |row: &Here| context.providers.get(&row.name).and_then(|one| one.key);
    let mut taken = Vec::new();
    let mut ready = rows;
    ready.retain(|row| {
        // One key for two ways to the same models is offered once.
        let key = own_key(row).filter(|_| row.key == KeyState::Set).map(|key| key.variables);
        let is_new = key.as_ref().is_none_or(|key| !taken.contains(key));
        let offered = row.is_ready() && (row.found.is_some() || !offline) && is_new;
        taken.extend(key.filter(|_| offered));
        offered
    });
    ready.truncate(KEYS.len());
    ready
}

fn downloads(context: &Context) -> Downloads {
    let of_role = |role| embedded::list(context).into_iter().find(|(one, _)| one.role == role);
    let (usual, _) = of_role(Role::Default).filter(|_| embedded::ENGINE)?;
    Some((usual, of_role(Role::Tiny)?.0))
}

fn choices(ready: usize, can_download: bool) -> Vec<Choice<Decision>> {
    let keys = KEYS.into_iter().zip(0..ready);
    let mut all: Vec<_> = keys.map(|(key, at)| choice(key, "", Decision::Ready(at))).collect();
    if can_download {
        all.push(choice('y', "download", Decision::Download(Role::Default)));
        all.push(choice('t', "download the smaller one", Decision::Download(Role::Tiny)));
    }
    all.push(choice('n', "no", Decision::Nothing));
    all
}

/// Draws what is ready, what could be downloaded, and what else could be done.
fn offer(
    context: &Context,
    screen: &mut Screen,
    ready: &[Here],
    downloads: Option<&(CatalogueEntry, CatalogueEntry)>,
) -> io::Result<()> {
    if ready.is_empty() {
        screen.say("No model is chosen, no API key is set, and no local model server responds.")?;
    } else {
        screen.say("No model is chosen. Ready to use:")?;
    }
    for (row, key) in ready.iter().zip(KEYS) {
        screen.row(&format!("{key}  {}", way(row)))?;
    }
    let Some((usual, tiny)) = downloads else { return Ok(()) };
    screen.say("A small model can run inside this program, entirely on this machine.")?;
    screen.row(&format!("y  {}", entry(usual)))?;
    screen.row(&format!("t  smaller: saves disk space, makes more mistakes: {}", entry(tiny)))?;
    let host = Untrusted::new(embedded::host(context)).for_terminal_line(80);
    screen.row(&format!("from {host}; or, without a network, from a file:"))?;
    screen.row(&format!("`interpreter model pull {} --from FILE`", usual.name))?;
    if ready.is_empty() {
        let other = "Other ways: an API key, such as OPENAI_API_KEY, or a model server of your own, \
                     such as Ollama.";
        screen.row(other)?;
    }
    Ok(())
}

fn entry(entry: &CatalogueEntry) -> String {
    let CatalogueEntry { title, licence, bytes, .. } = entry;
    format!("{title} ({}, {licence})", size(*bytes).as_str())
}

/// A provider that is ready, and why it is.
fn way(row: &Here) -> String {
    let title = Untrusted::new(row.title.as_str()).for_terminal_line(60);
    match (&row.found, &row.key) {
        (Some(_), _) => format!("{title}, which runs on this machine"),
        (None, KeyState::Set) => format!("{title}, with your API key"),
        (None, KeyState::NotNeeded | KeyState::Missing { .. }) => title,
    }
}

/// Lets the person choose one of a provider's models, and uses it.
async fn choose_of(
    context: &mut Context,
    asker: &mut Asker,
    screen: &mut Screen,
    row: &Here,
) -> Result<Start, Error> {
    let listed = tokio::select! {
        listed = roster(context, screen, row) => listed,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            return Err(none());
        }
    };
    let usual = models::usual(context, &row.name)?;
    let chosen = match (listed, usual) {
        (Ok(roster), _) if !roster.names().is_empty() => {
            let name = match roster.names()[..] {
                [only] => Ok(only.to_owned()),
                _ => model_question::ask(asker, screen, &row.title, &roster).await,
            };
            name.map(|name| Some((name, Keep::Yes)))
        }
        (listed, usual) => {
            let why = listed.err().map_or_else(|| "it lists none".into(), |error| chain(&error));
            screen.tell(&format!("The models of {} cannot be shown: {why}.", row.title))?;
            if let Some(usual) = usual {
                Ok(Some((usual, Keep::No)))
            } else {
                let typed = model_question::ask_for_name(asker, screen).await;
                typed.map(|name| name.map(|name| (name, Keep::Yes)))
            }
        }
    };
    match chosen {
        Ok(Some((name, keep))) => {
            take(context, screen, &format!("{}/{name}", row.name), keep)?;
            Ok(Start::Ready)
        }
        Ok(None) | Err(Left::Interrupted | Left::Ended | Left::Nobody(_)) => Err(none()),
        Err(Left::Terminated) => Ok(Start::Interrupted),
    }
}

/// The models of a provider: those that its server on this machine has named, or those that it
/// lists when it is asked.
async fn roster(context: &Context, screen: &mut Screen, row: &Here) -> Result<Roster, AgentError> {
    if let Some(names) = row.found.as_ref().and_then(|found| found.models.as_ref()) {
        let entry = |name: &String| RosterEntry { name: name.clone(), created: None };
        return Ok(Roster::new(names.iter().map(entry).collect(), None));
    }
    // If it cannot be said, the terminal is gone, and the question notices.
    _ = screen.say_in_passing("Asking for the names of its models …").is_ok();
    models::roster(context, &row.name).await
}

/// Whether a choice holds for later starts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Yes,
    /// Nobody chose it.
    No,
}

/// Uses a model, and remembers it.
fn take(context: &mut Context, screen: &mut Screen, name: &str, keep: Keep) -> Result<(), Error> {
    context.use_model(name);
    if keep == Keep::No {
        return Ok(screen.tell(&format!("This session uses {name}."))?);
    }
    let file = context.folders.config_file();
    let file = Untrusted::new(file.display().to_string()).for_terminal_line(200);
    match context.keep_model(name) {
        Ok(()) => Ok(screen.tell(&format!("{name} is now your model, in {file}."))?),
        Err(error) => {
            let why = chain(&error);
            Ok(screen.tell(&format!("This session uses {name}; {file} was not changed: {why}."))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(title: &str, local: bool, key: KeyState) -> Here {
        let (name, format) = (title.to_lowercase(), "openai");
        Here { name, title: title.into(), format, local, key, lacks: None, found: None }
    }

    #[test]
    fn a_way_says_why_it_is_ready() {
        assert_eq!(way(&row("OpenAI", false, KeyState::Set)), "OpenAI, with your API key");
        assert_eq!(way(&row("http://h/v1", false, KeyState::NotNeeded)), "http://h/v1");
        let mut server = row("Oll\u{1b}ama", true, KeyState::NotNeeded);
        server.found = Some(models::LocalServer {
            provider: "ollama".into(),
            host: "127.0.0.1".into(),
            models: None,
        });
        assert_eq!(way(&server), r"Oll\u{1b}ama, which runs on this machine");
    }

    #[test]
    fn every_way_has_a_key_of_its_own() {
        let keys = |ready, download| -> String {
            choices(ready, download).iter().map(|one| one.key).collect()
        };
        assert_eq!(keys(0, true), "ytn");
        assert_eq!(keys(2, true), "12ytn");
        assert_eq!(keys(9, false), "123456789n");
    }
}
