//! The first start: nobody has chosen a model, and one can be had.
//!
//! One question, which says what would be downloaded and what else could be done. Without a clear yes
//! nothing is downloaded.

use super::{
    download::size,
    keys::{Heard, Keys, Wanted},
};
use crate::{commands::model::fetch, report::Error};
use interpreter_agent::{
    AgentError, ChooseError, Scene,
    embedded::{self, Entry, Role},
    models::{self, Here},
};
use interpreter_core::Untrusted;
use std::io::{self, Write};

/// How many ways that are ready are named.
const NAMED: usize = 5;

/// What became of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// There is a model: go on.
    Ready,
    /// The person interrupted the download.
    Interrupted,
}

/// Makes sure that there is a model, and asks if there is none.
pub(crate) async fn settle(scene: &Scene, keys: &Keys) -> Result<Start, Error> {
    if scene.model_name()?.is_some() || !embedded::ENGINE || scene.settings.offline.value {
        return Ok(Start::Ready);
    }
    let rows = models::list(scene).await?;
    let offered = [Role::Default, Role::Tiny]
        .map(|role| embedded::list(scene).into_iter().find(|(entry, _)| entry.role == role));
    let [Some((usual, _)), Some((tiny, _))] = offered else { return Ok(Start::Ready) };
    write!(io::stdout(), "{}", question(scene, &usual, &tiny, &rows))?;
    let entry = loop {
        match keys.line(Wanted::Answer).await {
            Heard::Line(line) => match understood(&line) {
                Some(Said::Usual) => break usual,
                Some(Said::Tiny) => break tiny,
                Some(Said::No) => return Err(AgentError::from(ChooseError::None).into()),
                None => writeln!(io::stdout(), "y, t or n?")?,
            },
            Heard::Interrupted | Heard::Ended => {
                return Err(AgentError::from(ChooseError::None).into());
            }
        }
    };
    match fetch(scene, &entry, None, false).await? {
        Some(_) => Ok(Start::Ready),
        None => Ok(Start::Interrupted),
    }
}

fn question(scene: &Scene, usual: &Entry, tiny: &Entry, rows: &[Here]) -> String {
    let offer = |entry: &Entry| {
        let Entry { title, licence, bytes, .. } = entry;
        format!("{title} ({}, {licence})", size(*bytes))
    };
    format!(
        "No model is chosen{}.\nOne can run in this program, on this machine alone. Download it \
         once, from {}?\n  y  {}\n  t  the tiny one, for little room, and wrong more often: {}\n  \
         n  no\n{}\n",
        if ways(rows).is_empty() {
            ", no key is set, and no model server answers here"
        } else {
            ""
        },
        embedded::sources(scene, usual),
        offer(usual),
        offer(tiny),
        others(rows),
    )
}

/// What else could be done.
fn others(rows: &[Here]) -> String {
    let other = "Other ways: a key, such as OPENAI_API_KEY, and `--model openai/MODEL`; a server of \
                 your own, and `--model ollama/MODEL`.";
    let ready = ways(rows).into_iter().take(NAMED).map(|way| format!("`--model {way}`"));
    let ready: Vec<_> = ready.collect();
    if ready.is_empty() {
        return other.into();
    }
    format!("Ready without it: {}.\n{other}", ready.join(", "))
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

/// An answer, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Usual,
    Tiny,
    No,
}

/// What a line means; none if it means nothing, as an empty one does.
fn understood(line: &str) -> Option<Said> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Said::Usual),
        "t" | "tiny" => Some(Said::Tiny),
        "n" | "no" | "q" | "/quit" => Some(Said::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_agent::models::KeyState;

    #[test]
    fn only_a_clear_word_downloads() {
        assert_eq!(understood(" Y "), Some(Said::Usual));
        assert_eq!(understood("yes"), Some(Said::Usual));
        assert_eq!(understood("t"), Some(Said::Tiny));
        assert_eq!(understood("no"), Some(Said::No));
        for line in ["", "ok", "yes please", "1"] {
            assert_eq!(understood(line), None, "{line}");
        }
    }

    fn row(name: &str, local: bool, key: KeyState) -> Here {
        let (title, format) = (String::new(), "openai");
        Here { name: name.into(), title, format, local, key, lacks: None, found: None }
    }

    #[test]
    fn what_is_ready_is_named_and_the_rest_is_not() {
        let missing = KeyState::Missing { variables: vec!["K".into()], optional: false };
        let none = [row("groq", false, missing.clone()), row("ollama", true, KeyState::NotNeeded)];
        assert!(others(&none).starts_with("Other ways: a key"), "{}", others(&none));
        let mut server = row("ollama", true, KeyState::NotNeeded);
        server.found = Some(models::Found {
            provider: "ollama".into(),
            host: "127.0.0.1".into(),
            models: Some(vec!["qwen\u{1b}".into()]),
        });
        let some = [row("groq", false, missing), row("openai", false, KeyState::Set), server];
        let words = r"Ready without it: `--model openai/MODEL`, `--model ollama/qwen\u{1b}`.";
        assert_eq!(others(&some).lines().next(), Some(words));
    }
}
