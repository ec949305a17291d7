//! `interpreter history list`: the sessions of this folder, or all of them.

use crate::{
    report::Error,
    terminal::{
        json,
        ours::{ours, word},
        screen::Screen,
    },
};
use interpreter_agent::AgentError;
use interpreter_core::Untrusted;
use interpreter_store::{Environment, Log, SessionFilter, SessionSummary, local_time};
use std::path::PathBuf;

/// Number of sessions listed without `--all`.
const LISTED: usize = 100;

/// Characters of a title.
const TITLE: usize = 60;

pub(super) fn list(log: &Log, mut screen: Screen, all: bool, as_json: bool) -> Result<(), Error> {
    let environment = Environment::read();
    // One more than is listed, to know whether there are more.
    let which = if all {
        SessionFilter::ALL
    } else {
        SessionFilter { newest: LISTED + 1, work_folder: Some(here()?) }
    };
    let mut sessions = log.sessions(&which)?;
    let has_older = !all && sessions.len() > LISTED;
    sessions.truncate(if all { usize::MAX } else { LISTED });
    for session in &sessions {
        if as_json {
            json::print_value(&serde_json::json!({
                "session": session.id,
                "started": session.started,
                "ended": session.ended,
                "prompt": session.first_prompt,
                "code": session.first_code,
                "records": session.records,
                "work_folder": session.work_folder,
            }))?;
        } else {
            screen.tell(&line(session))?;
            if let Some(folder) = session.work_folder.as_ref().filter(|_| all) {
                screen.row(&format!("in {}", folder.display()))?;
            }
        }
    }
    if as_json {
        return Ok(());
    }
    let mut screen = Screen::stderr(&environment);
    if has_older {
        screen.say("Older sessions are not listed; `--all` lists every session.")?;
    } else if sessions.is_empty() && !all {
        screen.say("This folder has no sessions; `--all` lists those of every folder.")?;
    }
    Ok(())
}

/// A session in one line: the end of its id, its time and its title.
pub(super) fn line(session: &SessionSummary) -> String {
    let title = match (&session.first_prompt, &session.first_code) {
        (Some(prompt), _) => Untrusted::new(prompt.as_str()).for_terminal_line(TITLE),
        (None, Some(code)) => {
            let code = Untrusted::new(code.as_str()).for_terminal_line(TITLE);
            format!("run: {code}")
        }
        (None, None) => "(no prompt, no code)".to_owned(),
    };
    let time = local_time(&session.started);
    let minute = time.get(..16).unwrap_or(&time);
    format!("{}  {minute}  {title}", session.short_id())
}

/// This folder, as sessions name it.
fn here() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    Ok(here.map_err(AgentError::WorkFolder)?)
}

/// A time of the record, for a row of ours.
pub(super) fn time(recorded: &str) -> crate::terminal::ours::Ours {
    let time = local_time(recorded);
    let (date, clock) = time.split_once(' ').unwrap_or((&time, ""));
    let minute = clock.get(..5).unwrap_or_default();
    ours(word(date)) + " " + word(minute)
}
