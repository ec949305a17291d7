//! Staged changes, after their session: list, diff, apply, discard, undo, redo.
//!
//! Each goes on record before it is done, like everything else, and so does what came of it.

use crate::{AgentError, Scene, error::chain};
use interpreter_core::{Body, FileChange, LeftOut, Untrusted, record::ChangesState};
use interpreter_exec::workspace::{self, Set};
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

/// One look at a set, to decide on: what it lists, shows and applies is one and the same copy.
pub struct Review<'a> {
    scene: &'a Scene,
    set: Set,
    review: workspace::Review,
}

/// Takes a copy of what is staged at and below `paths`, or of everything, for a decision.
pub fn review<'a>(
    scene: &'a Scene,
    which: &Which,
    paths: &[String],
) -> Result<Option<Review<'a>>, AgentError> {
    let Some(set) = find(scene, which, Wanted::Staged)? else { return Ok(None) };
    // Its session is over, so nothing writes to it. If something does all the same, as a process
    // that outlived its session would, the copy is what counts.
    let review = set.review_of(paths, ())?;
    Ok(Some(Review { scene, set, review }))
}

impl Review<'_> {
    /// The set's id.
    pub fn id(&self) -> &str {
        self.set.id()
    }

    /// What would be applied, the most dangerous first.
    pub fn files(&self) -> &[FileChange] {
        &self.review.files
    }

    /// What would be left as it is, and why.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.review.left_out
    }

    /// The changes, line by line.
    pub fn diff(&self) -> Result<Untrusted, AgentError> {
        Ok(self.set.diff_of(&self.review)?)
    }

    /// Puts exactly this into the person's folder.
    pub fn apply(self, conflict: Conflict) -> Result<Applied, AgentError> {
        let Self { scene, mut set, review } = self;
        let id = set.id().to_owned();
        let applied =
            on_record(scene, &id, ChangesState::Applied, || set.apply_review(&review, conflict))?;
        drop(review);
        set.remove_if_empty()?;
        prune(scene)?;
        Ok(applied)
    }

    /// Forgets the whole set.
    pub fn discard(self) -> Result<Applied, AgentError> {
        let Self { scene, set, review } = self;
        drop(review);
        forget(scene, set, &[])
    }
}

/// What a set holds.
pub fn files(
    scene: &Scene,
    which: &Which,
) -> Result<Option<(String, Vec<FileChange>)>, AgentError> {
    let Some(set) = find(scene, which, Wanted::Staged)? else { return Ok(None) };
    Ok(Some((set.id().to_owned(), set.changes()?)))
}

/// What a set would change, as a diff.
pub fn diff(
    scene: &Scene,
    which: &Which,
    paths: &[String],
) -> Result<Option<Untrusted>, AgentError> {
    let Some(set) = find(scene, which, Wanted::Staged)? else { return Ok(None) };
    Ok(Some(set.diff(paths)?))
}

/// Puts a set, or some paths of it, into the person's folder.
pub fn apply(
    scene: &Scene,
    which: &Which,
    paths: &[String],
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(review) = review(scene, which, paths)? else { return Ok(None) };
    let id = review.id().to_owned();
    Ok(Some((id, review.apply(conflict)?)))
}

/// Forgets a set, or some paths of it.
pub fn discard(
    scene: &Scene,
    which: &Which,
    paths: &[String],
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(set) = find(scene, which, Wanted::Staged)? else { return Ok(None) };
    let id = set.id().to_owned();
    Ok(Some((id, forget(scene, set, paths)?)))
}

fn forget(scene: &Scene, mut set: Set, paths: &[String]) -> Result<Applied, AgentError> {
    let id = set.id().to_owned();
    let discarded = on_record(scene, &id, ChangesState::Discarded, || {
        Ok(Applied { files: set.discard(paths)?, left_out: vec![] })
    })?;
    set.remove_if_empty()?;
    Ok(discarded)
}

/// Takes what a set applied last out of the person's folder again.
pub fn undo(
    scene: &Scene,
    which: &Which,
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(scene, which, Wanted::Applied)? else { return Ok(None) };
    let id = set.id().to_owned();
    let undone = on_record(scene, &id, ChangesState::Undone, || set.undo(conflict))?;
    drop(set);
    prune(scene)?;
    Ok(Some((id, undone)))
}

/// Puts what was undone last into the person's folder once more.
pub fn redo(
    scene: &Scene,
    which: &Which,
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(scene, which, Wanted::Undone)? else { return Ok(None) };
    let id = set.id().to_owned();
    let redone = on_record(scene, &id, ChangesState::Applied, || set.redo(conflict))?;
    drop(set);
    prune(scene)?;
    Ok(Some((id, redone)))
}

/// Keeps what undo and redo need within the space that the person gives it.
fn prune(scene: &Scene) -> Result<(), AgentError> {
    Set::prune(&folder(scene)?, scene.settings.undo_space.value.count())?;
    Ok(())
}

/// What a set must have for what is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Something that waits for a decision.
    Staged,
    /// Something that can be undone.
    Applied,
    /// Something that can be redone.
    Undone,
}

fn folder(scene: &Scene) -> Result<PathBuf, AgentError> {
    Ok(scene.folders.make_changes_folder_for(&scene.work_folder)?)
}

fn find(scene: &Scene, which: &Which, wanted: Wanted) -> Result<Option<Set>, AgentError> {
    let folder = folder(scene)?;
    let work = &scene.work_folder;
    let newest = match (which, wanted) {
        (Which::Named(id), _) => return Ok(Some(Set::open(&folder, id)?)),
        (Which::Newest, Wanted::Staged) => Set::newest_staged(&folder, work)?,
        (Which::Newest, Wanted::Applied) => Set::newest_applied(&folder, work)?,
        (Which::Newest, Wanted::Undone) => Set::newest_undone(&folder, work)?,
    };
    Ok(newest.map(|summary| Set::open(&folder, &summary.id)).transpose()?)
}

/// Does something to a set: what is about to happen goes on record before it does, and what came
/// of it after, so that a refusal does not stand there as done.
fn on_record(
    scene: &Scene,
    id: &str,
    state: ChangesState,
    act: impl FnOnce() -> Result<Applied, WorkspaceError>,
) -> Result<Applied, AgentError> {
    // Forgetting staged files frees space, so it must be possible on a full disk.
    let frees = state == ChangesState::Discarded;
    let folders = &scene.folders;
    let mut log = if frees { Log::open_on_full_disk(folders)? } else { Log::open(folders)? };
    let session = new_session_id();
    let mut append = |body: &Body| {
        if frees {
            log.append_on_full_disk(folders, &session, body)
        } else {
            log.append(&session, body)
        }
    };
    let text = format!("the changes {id} are to be {}", state.word());
    append(&Body::Note { text })?;
    match act() {
        Ok(done) => {
            let Applied { files, left_out } = done.clone();
            append(&Body::Changes { id: id.to_owned(), state, files, left_out })?;
            Ok(done)
        }
        Err(error) => {
            append(&Body::Error { message: chain(&error), hint: None })?;
            Err(error.into())
        }
    }
}
