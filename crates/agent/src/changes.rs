//! Staged changes, after their session: list, diff, apply, discard, undo.
//!
//! Each goes on record before it is done, like everything else, and so does what came of it.

use crate::{AgentError, Scene, error::chain};
use interpreter_core::{Body, FileChange, Untrusted, record::ChangesState};
use interpreter_exec::workspace::Set;
pub use interpreter_exec::workspace::{Applied, Conflict, Summary, WorkspaceError};
use interpreter_store::{Log, new_session_id};
use std::path::PathBuf;

/// Which change set is meant.
#[derive(Clone, Debug)]
pub enum Which {
    /// The newest of the work folder in the right state.
    Newest,
    /// The one with this id, or an id that begins so.
    Named(String),
}

/// The change sets of the work folder, newest first.
pub fn list(scene: &Scene) -> Result<Vec<Summary>, AgentError> {
    Ok(Set::list(&folder(scene)?, Some(&scene.work_folder))?)
}

/// What a set holds.
pub fn files(
    scene: &Scene,
    which: &Which,
) -> Result<Option<(String, Vec<FileChange>)>, AgentError> {
    let Some(set) = find(scene, which, ChangesState::Staged)? else { return Ok(None) };
    Ok(Some((set.id().to_owned(), set.changes()?)))
}

/// What a set would change, as a diff.
pub fn diff(
    scene: &Scene,
    which: &Which,
    paths: &[String],
) -> Result<Option<Untrusted>, AgentError> {
    let Some(set) = find(scene, which, ChangesState::Staged)? else { return Ok(None) };
    Ok(Some(set.diff(paths)?))
}

/// Puts a set, or some paths of it, into the person's folder.
pub fn apply(
    scene: &Scene,
    which: &Which,
    paths: &[String],
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(scene, which, ChangesState::Staged)? else { return Ok(None) };
    let id = set.id().to_owned();
    let applied = on_record(scene, &id, ChangesState::Applied, || {
        let applied = set.apply(paths, conflict)?;
        Ok((applied.files.clone(), applied))
    })?;
    set.remove_if_empty()?;
    Ok(Some((id, applied)))
}

/// Forgets a set, or some paths of it.
pub fn discard(
    scene: &Scene,
    which: &Which,
    paths: &[String],
) -> Result<Option<(String, Vec<FileChange>)>, AgentError> {
    let Some(mut set) = find(scene, which, ChangesState::Staged)? else { return Ok(None) };
    let id = set.id().to_owned();
    let files = on_record(scene, &id, ChangesState::Discarded, || {
        let files = set.discard(paths)?;
        Ok((files.clone(), files))
    })?;
    set.remove_if_empty()?;
    Ok(Some((id, files)))
}

/// Takes what a set applied last out of the person's folder again.
pub fn undo(
    scene: &Scene,
    which: &Which,
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(scene, which, ChangesState::Applied)? else { return Ok(None) };
    let id = set.id().to_owned();
    let undone = on_record(scene, &id, ChangesState::Undone, || {
        let undone = set.undo(conflict)?;
        Ok((undone.files.clone(), undone))
    })?;
    Ok(Some((id, undone)))
}

fn folder(scene: &Scene) -> Result<PathBuf, AgentError> {
    Ok(scene.folders.make_changes_folder_for(&scene.work_folder)?)
}

fn find(scene: &Scene, which: &Which, state: ChangesState) -> Result<Option<Set>, AgentError> {
    let folder = folder(scene)?;
    let newest = match (which, state) {
        (Which::Named(id), _) => return Ok(Some(Set::open(&folder, id)?)),
        (Which::Newest, ChangesState::Applied) => Set::newest_applied(&folder, &scene.work_folder)?,
        (Which::Newest, _) => Set::newest_staged(&folder, &scene.work_folder)?,
    };
    Ok(newest.map(|summary| Set::open(&folder, &summary.id)).transpose()?)
}

/// Does something to a set: what is about to happen goes on record before it does, and what came
/// of it after, so that a refusal does not stand there as done.
fn on_record<T>(
    scene: &Scene,
    id: &str,
    state: ChangesState,
    act: impl FnOnce() -> Result<(Vec<FileChange>, T), WorkspaceError>,
) -> Result<T, AgentError> {
    let mut log = Log::open(&scene.folders)?;
    let session = new_session_id();
    let text = format!("the changes {id} are to be {}", state.word());
    log.append(&session, &Body::Note { text })?;
    match act() {
        Ok((files, done)) => {
            log.append(&session, &Body::Changes { id: id.to_owned(), state, files })?;
            Ok(done)
        }
        Err(error) => {
            log.append(&session, &Body::Error { message: chain(&error), hint: None })?;
            Err(error.into())
        }
    }
}
