//! Staged changes: shown as one snapshot, and decided on by its name.
//!
//! # Threat
//! Code that leaves a process running, which exchanges a file between the look and the decision; and
//! a decision on files that were not shown.
//!
//! # Mechanism
//! The runner keeps the snapshot that was shown, under a number. A decision names it: what is applied
//! is that copy, and if another was taken since, nothing is. A look at one path names that path, so
//! that nothing beside it can be picked. The guard is the one that the terminal uses. Many files are
//! applied only by a decision with the hash of the outline that was shown with them: see
//! `core::outline`. Whoever may
//! not answer questions applies, undoes and redoes data alone: to say yes to a file that may hold
//! code, or that something runs or reads by itself, is to say yes to code. A repository is changed at a terminal alone.

use super::{
    Shared,
    allowed::check,
    held::HeldSession,
    outcome::{begun, settled},
    reading::{elsewhere, failed},
};
use crate::{
    caller::{Caller, Right},
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_agent::{Looker, changes};
use interpreter_core::{
    Body, FileChange, Pick, ShownChange, Untrusted, autorun,
    outline::{ApplyOrder, Outline, SeenOutline},
    pick::is_at_or_below,
    session::{ChangesWish, Event, TurnReach},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};

/// The name of a snapshot, or of a part of it.
struct Snapshot<'a> {
    number: u64,
    /// The path that was shown, if it was not all of it.
    path: Option<&'a str>,
}

/// `SET.NUMBER` or `SET.NUMBER:PATH`.
fn snapshot(name: &str) -> Option<Snapshot<'_>> {
    let (_, rest) = name.split_once('.')?;
    let (number, path) = match rest.split_once(':') {
        Some((number, path)) => (number, Some(path)),
        None => (rest, None),
    };
    Some(Snapshot { number: number.parse().ok()?, path })
}

/// A part of a snapshot that a caller wants applied.
pub(super) struct WantedPart {
    /// The name of the snapshot.
    pub(super) changes: String,
    /// The changes; all of it without any.
    pub(super) picks: Option<Vec<Pick>>,
    /// The hash of the outline that was shown with it.
    pub(super) seen: Option<String>,
}

/// Shows a snapshot: of now, if the caller may decide on it.
pub(super) async fn changes(
    held: &HeldSession,
    path: Option<String>,
    caller: &Caller,
) -> Result<Value, ProtocolError> {
    let Some(set) = held.change_set() else {
        return Ok(json!({ "id": null, "files": [], "left_out": [] }));
    };
    let decides = caller.rights.has(Right::Change);
    let by = Looker { who: Some(caller.name.clone()), decides, path: path.clone() };
    let look = held.session.look_at_changes(&set, by).await.map_err(|error| failed(&error))?;
    let path = path.as_deref();
    let name = match path {
        Some(path) => format!("{set}.{}:{path}", look.number),
        None => format!("{set}.{}", look.number),
    };
    // Names of files may hold what must not be shown, as in a record.
    let Body::Changes(listed) = held.context.redactor().body(Body::Changes(look.changes)) else {
        return Err(ProtocolError::new(ErrorCode::Failed, "the changes cannot be shown"));
    };
    let is_wanted = |one: &str| path.is_none_or(|path| is_at_or_below(one, path));
    let outline = Outline::of_some(listed.files.iter().filter(|file| is_wanted(&file.path)));
    let mut files = Vec::new();
    for file in listed.files.iter().filter(|file| is_wanted(&file.path)) {
        files.push(with_lines(file, &file.path, &look.shown));
    }
    // A repository is left out as a whole, with the reason, also for whoever asks for a part of it.
    let is_around = |one: &str| path.is_some_and(|path| is_at_or_below(path, one));
    let is_told = |one: &str| is_wanted(one) || is_around(one);
    // Lines in which a value is masked can be seen, so that whoever names the file has seen the rest.
    let left_out: Vec<_> = listed
        .left_out
        .iter()
        .filter(|one| is_told(&one.path))
        .map(|one| with_lines(one, &one.path, &look.shown))
        .collect();
    let mut shown = json!({ "id": name, "files": files, "left_out": left_out });
    if let Some(outline) = outline {
        shown["outline"] = serde_json::to_value(outline).unwrap_or_default();
    }
    Ok(shown)
}

/// An entry of a list, with its lines if they are shown.
fn with_lines(entry: &impl Serialize, path: &str, shown: &[ShownChange]) -> Value {
    let mut entry = serde_json::to_value(entry).unwrap_or_default();
    if let Some(shown) = shown.iter().find(|shown| shown.path == path) {
        entry["head"] = shown.head.raw().into();
        let hunks = shown.hunks.iter().zip(1..);
        entry["hunks"] = hunks
            .map(|(hunk, number): (_, usize)| json!({ "number": number, "text": hunk.raw() }))
            .collect();
    }
    entry
}

/// Lists the change sets of the session's folder, the newest first.
pub(super) async fn sets(held: &HeldSession) -> Result<Value, ProtocolError> {
    let (context, own) = (Arc::clone(&held.context), held.change_set());
    elsewhere(move || {
        let sets = changes::list(&context).map_err(|error| failed(&error))?.sets;
        let told = sets.iter().map(|set| {
            let is_own = own.as_ref() == Some(&set.id);
            json!({
                "id": set.id, "session": set.session, "created": set.created, "state": set.state,
                "files": set.files, "undoable": set.undoable, "redoable": set.redoable,
                "in_use": set.in_use && !is_own,
            })
        });
        Ok(json!({ "sets": told.collect::<Vec<_>>() }))
    })
    .await
}

/// Puts what was shown, or what was picked of it, into the person's folder.
pub(super) async fn apply(
    shared: &Shared,
    held: &HeldSession,
    wanted: WantedPart,
    caller: &Caller,
) -> Result<Value, ProtocolError> {
    let malformed = |text: &str| ProtocolError::new(ErrorCode::Malformed, text);
    let WantedPart { changes, picks, seen } = wanted;
    let Some(Snapshot { number, path }) = snapshot(&changes) else {
        return Err(malformed("apply: `changes` is the `id` that the verb `changes` gave"));
    };
    if picks.as_ref().is_some_and(Vec::is_empty) {
        return Err(malformed("apply: `picks` is empty; without it all of it is applied"));
    }
    let picks = match (picks, path) {
        (Some(picks), Some(path)) => {
            if let Some(other) = picks.iter().find(|pick| !is_at_or_below(&pick.path, path)) {
                let text = format!("`{}` was not shown", other.path);
                return Err(ProtocolError::new(ErrorCode::LookAgain, text));
            }
            picks
        }
        (Some(picks), None) => picks,
        (None, Some(path)) => vec![Pick::below(path)],
        (None, None) => Vec::new(),
    };
    check_repositories(&picks)?;
    if !caller.rights.has(Right::Answer) {
        check_is_data(held, number, &picks, caller).await?;
    }
    let seen = seen.map(|hash| SeenOutline { hash, below: path.map(str::to_owned) });
    let wish = ChangesWish::ApplyShown { number, order: ApplyOrder { picks, seen } };
    decide(shared, held, wish, &caller.name, None).await
}

/// Refuses what no snapshot offers here.
fn check_repositories(picks: &[Pick]) -> Result<(), ProtocolError> {
    let is_in_one = |pick: &&Pick| autorun::repository(Path::new(&pick.path)).is_some();
    let Some(pick) = picks.iter().find(is_in_one) else { return Ok(()) };
    let path = Untrusted::new(pick.path.as_str()).for_terminal_line(200);
    let text = format!("`{path}` belongs to a repository, which can run programs");
    Err(ProtocolError::new(ErrorCode::Refused, text)
        .hint("whoever runs the server can apply it with `interpreter changes apply`"))
}

/// Refuses all but data to a caller who may not answer.
async fn check_is_data(
    held: &HeldSession,
    number: u64,
    picks: &[Pick],
    caller: &Caller,
) -> Result<(), ProtocolError> {
    let Some(set) = held.change_set() else { return Ok(()) };
    let by = Looker { who: Some(caller.name.clone()), decides: false, path: None };
    let look = held.session.look_at_changes(&set, by).await.map_err(|error| failed(&error))?;
    if look.number != number {
        let text = "what is staged has changed since it was shown";
        return Err(ProtocolError::new(ErrorCode::LookAgain, text));
    }
    let Some(file) = grave(&look.changes.files, picks) else { return Ok(()) };
    let path = Untrusted::new(file.path.as_str()).for_terminal_line(200);
    let why = file.takes_an_answer().unwrap_or_default();
    check(caller, &[Right::Answer]).map_err(|error| {
        error.hint(format!("`{path}` {why}; whoever may answer applies it, and you the others"))
    })
}

/// A change of more than data, unless it is plain that none is picked: each pick is written
/// as the list writes it, and has none at, above or below it.
fn grave<'a>(files: &'a [FileChange], picks: &[Pick]) -> Option<&'a FileChange> {
    let all: Vec<_> = files.iter().filter(|file| file.takes_an_answer().is_some()).collect();
    let of_one = |pick: &Pick| {
        let is_listed =
            files.iter().flat_map(FileChange::paths).any(|path| is_at_or_below(path, &pick.path));
        let meets =
            |path: &String| is_at_or_below(path, &pick.path) || is_at_or_below(&pick.path, path);
        let met = all.iter().find(|file| file.paths().any(meets)).copied();
        if is_listed { met } else { all.first().copied() }
    };
    if picks.is_empty() { all.first().copied() } else { picks.iter().find_map(of_one) }
}

/// Forgets what was shown, or what is at and below these paths of it.
pub(super) async fn discard(
    shared: &Shared,
    held: &HeldSession,
    name: Option<&str>,
    paths: Option<Vec<String>>,
    who: &str,
) -> Result<Value, ProtocolError> {
    let malformed = |text: &str| ProtocolError::new(ErrorCode::Malformed, text);
    let Some(name) = name else {
        let wish = ChangesWish::Discard(paths.unwrap_or_default());
        return decide(shared, held, wish, who, None).await;
    };
    let Some(Snapshot { number, path }) = snapshot(name) else {
        return Err(malformed("discard: `changes` is the `id` that the verb `changes` gave"));
    };
    let paths = paths.unwrap_or_default();
    let paths = match path {
        Some(path) => {
            if let Some(other) = paths.iter().find(|one| !is_at_or_below(one, path)) {
                let text = format!("`{other}` was not shown");
                return Err(ProtocolError::new(ErrorCode::LookAgain, text));
            }
            if paths.is_empty() { vec![path.to_owned()] } else { paths }
        }
        None => paths,
    };
    decide(shared, held, ChangesWish::DiscardShown { number, paths }, who, None).await
}

/// Undoes what was applied last, or redoes what was undone last. If more than data is among it, the
/// caller must be allowed to answer questions.
pub(super) async fn turn(
    shared: &Shared,
    held: &HeldSession,
    redo: bool,
    newest: Option<u64>,
    caller: &Caller,
) -> Result<Value, ProtocolError> {
    let reach = if caller.rights.has(Right::Answer) { TurnReach::All } else { TurnReach::Data };
    let wish = if redo { ChangesWish::Redo(reach) } else { ChangesWish::Undo(reach) };
    decide(shared, held, wish, &caller.name, newest).await
}

/// Decides about the changes of a session between two turns. `newest` is the newest record of changes
/// that the caller has seen, if it must be that.
async fn decide(
    shared: &Shared,
    held: &HeldSession,
    wish: ChangesWish,
    who: &str,
    newest: Option<u64>,
) -> Result<Value, ProtocolError> {
    let events = vec![Event::ChangesWanted(wish)];
    let begun_after = held.session.begin_after(events, Some(who.to_owned()), newest).await;
    let after = begun(held, begun_after).await?;
    settled(shared, held, after).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{About, Change};

    #[test]
    fn the_name_of_a_snapshot_is_read_or_refused() {
        let read = |name| snapshot(name).map(|one| (one.number, one.path));
        assert_eq!(read("0193.4"), Some((4, None)));
        assert_eq!(read("0193.4:a/b:c"), Some((4, Some("a/b:c"))));
        for wrong in ["", "4", ".", "a.", "a.b", "a.-1", "a.4.5"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_way_to_write_a_path_picks_more_than_data_unseen() {
        let file = |path: &str, runs: bool, from: Option<&str>| FileChange {
            path: path.into(),
            change: Change::Created,
            about: About {
                runs_later: runs.then(|| "runs".into()),
                from: from.map(str::to_owned),
                ..About::default()
            },
        };
        let mut files = vec![
            file(".interpreter/config.toml", true, None),
            file("new", true, Some("deep/.envrc")),
            file("d/a.csv", false, None),
            file("b/", false, None),
            file("code/a.py", false, None),
        ];
        let picked = |files: &[FileChange], picks: &[&str]| {
            grave(files, &picks.iter().map(|path| Pick::below(*path)).collect::<Vec<_>>()).is_some()
        };
        for path in [
            "",
            ".",
            "/",
            "./",
            ".interpreter",
            ".interpreter/",
            ".interpreter//",
            "./.interpreter/config.toml",
            ".interpreter/./config.toml",
            ".interpreter//config.toml",
            ".\\x69nterpreter",
            "new",
            "deep",
            "deep/.envrc",
            "./d/a.csv",
            "code",
            "code/a.py",
            "none",
        ] {
            assert!(picked(&files, &[path]), "{path}");
            assert!(picked(&files, &["d/a.csv", path]), "{path}");
        }
        assert!(picked(&files, &[]));
        for path in ["d", "d/", "d/a.csv", "b", "b/"] {
            assert!(!picked(&files, &[path]), "{path}");
        }
        files.drain(..2);
        files.pop();
        assert!(!picked(&files, &[]) && !picked(&files, &["."]));
    }
}
