//! Staged changes, after their session: list, diff, apply, discard, undo, redo.
//!
//! Each goes on record before it is done, like everything else, and so does what came of it.

use crate::{Advise, AgentError, Context, error::chain};
use interpreter_core::{
    Body, Changes, ChangesState, FileChange, LeftOut, Pick, ShownChange, Untrusted,
    outline::ApplyOrder,
};
use interpreter_store::{Log, StoreError, new_session_id};
use interpreter_workspace::{self as workspace, Place, Set};
pub use interpreter_workspace::{Applied, Catalog, Conflict, Summary, Unreadable, WorkspaceError};

/// Which change set is meant.
#[derive(Clone, Debug)]
pub enum Which {
    /// The newest of the work folder in the right state.
    Newest,
    /// The one with this id.
    Named(String),
}

/// The state that a command needs a set to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Something that waits for a decision.
    Staged,
    /// Something that can be undone.
    Applied,
    /// Something that can be redone.
    Undone,
}

/// The change sets of the work folder, newest first, and all that cannot be used.
pub fn list(context: &Context) -> Result<Catalog, AgentError> {
    match place(context) {
        Ok(place) => Ok(Set::list(&place, Some(&context.work_folder))?),
        // Where nothing can be written and nothing was, there is nothing to list.
        Err(AgentError::Store(StoreError::Make { .. })) => Ok(Catalog::default()),
        Err(error) => Err(error),
    }
}

/// The set that is meant where none is named.
pub fn newest(context: &Context, wanted: Wanted) -> Result<Option<Summary>, AgentError> {
    let (place, work) = (place(context)?, &context.work_folder);
    Ok(match wanted {
        Wanted::Staged => Set::newest_staged(&place, work)?,
        Wanted::Applied => Set::newest_applied(&place, work)?,
        Wanted::Undone => Set::newest_undone(&place, work)?,
    })
}

/// Whether there is a set with this id, and it can be used or not.
pub fn is_set(context: &Context, id: &str) -> Result<bool, AgentError> {
    Ok(Set::exists(&place(context)?, id)?)
}

/// Whether code has made or changed something called `name` in a set, at the top of the work folder.
pub fn has_name(context: &Context, id: &str, name: &str) -> Result<bool, AgentError> {
    Ok(Set::has_name(&place(context)?, id, name)?)
}

/// The changes that a person means by these words: paths, each perhaps with the numbers of hunks.
/// If a word can be both, it is refused.
pub fn picks(context: &Context, id: &str, words: &[String]) -> Result<Vec<Pick>, AgentError> {
    let place = place(context)?;
    let mut picks = Vec::with_capacity(words.len());
    for word in words {
        let pick = Pick::typed(word);
        if pick.is_of_hunks() && Set::has_path(&place, id, word)? {
            let (word, path) = (word.clone(), pick.path);
            return Err(WorkspaceError::FileOrHunks { word, path }.into());
        }
        picks.push(pick);
    }
    Ok(picks)
}

/// A snapshot of a set to decide on: the list, the diff and the application use the same copy.
pub struct ChangeReview<'a> {
    context: &'a Context,
    set: Set,
    look: workspace::Review,
}

/// Takes a copy of what is staged where something was picked, or of everything, for a decision. Hunks
/// are picked by the numbers that [`diff`] has shown.
pub fn review<'a>(
    context: &'a Context,
    which: &Which,
    picks: &[Pick],
) -> Result<Option<ChangeReview<'a>>, AgentError> {
    let Some(set) = find(context, which, Wanted::Staged)? else { return Ok(None) };
    // Its session is over, so nothing writes to it. If something does all the same, as a process
    // that outlived its session would, the copy is what counts.
    let paths: Vec<_> = picks.iter().map(|pick| pick.path.clone()).collect();
    let look = if picks.iter().any(Pick::is_of_hunks) {
        set.review_by_number(&paths, &context.redactor)?
    } else {
        set.review_of(&paths, (), &context.redactor)?
    };
    Ok(Some(ChangeReview { context, set, look }))
}

impl ChangeReview<'_> {
    /// The set's id.
    pub fn id(&self) -> &str {
        self.set.id()
    }

    /// The changes to apply, the most dangerous first.
    pub fn files(&self) -> &[FileChange] {
        &self.look.files
    }

    /// The changes that are withheld, and why.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.look.left_out
    }

    /// The changes, line by line.
    pub fn diff(&self) -> Result<Untrusted, AgentError> {
        Ok(self.context.redactor.draw(&self.set.diff_of(&self.look)?).into_text())
    }

    /// The changes one by one, with their hunks.
    pub fn shown_changes(&self) -> Result<Vec<ShownChange>, AgentError> {
        let changes = self.set.changes_of(&self.look)?;
        Ok(changes.into_iter().map(|one| one.drawn(&self.context.redactor)).collect())
    }

    /// Puts what an order names, or all of this, into the person's folder. The rest stays staged.
    pub fn apply(self, order: &ApplyOrder, conflict: Conflict) -> Result<Applied, AgentError> {
        let Self { context, mut set, look } = self;
        let id = set.id().to_owned();
        let apply = || set.apply_review(&look, order, conflict);
        let applied = on_record(context, &id, ChangesState::Applied, apply)?;
        drop(look);
        set.remove_if_empty()?;
        prune(context)?;
        Ok(applied)
    }

    /// Forgets the whole set.
    pub fn discard(self) -> Result<Applied, AgentError> {
        let Self { context, set, look } = self;
        drop(look);
        forget(context, set, &[])
    }
}

/// The changes of a set, as a diff.
pub fn diff(
    context: &Context,
    which: &Which,
    paths: &[String],
) -> Result<Option<Untrusted>, AgentError> {
    let Some(set) = find(context, which, Wanted::Staged)? else { return Ok(None) };
    Ok(Some(context.redactor.draw(&set.diff(paths)?).into_text()))
}

/// Forgets a set, or some paths of it.
pub fn discard(
    context: &Context,
    which: &Which,
    paths: &[String],
) -> Result<Option<(String, Applied)>, AgentError> {
    let set = match (find(context, which, Wanted::Staged), which) {
        (Ok(Some(set)), _) => set,
        (Ok(None), _) => return Ok(None),
        (Err(AgentError::Workspace(error)), Which::Named(id)) if paths.is_empty() => {
            let place = place(context)?;
            if error.is_damage() {
                let gone = on_record(context, id, ChangesState::Discarded, || {
                    Set::remove_unreadable(&place, id)?;
                    Ok(Applied::default())
                })?;
                return Ok(Some((id.clone(), gone)));
            }
            if !error.is_full_disk() {
                return Err(error.into());
            }
            // To put right what a crash left takes room, and to forget it takes none.
            of_this_folder(context, Set::open_as_it_is(&place, id)?)?
        }
        (Err(error), _) => return Err(error),
    };
    let id = set.id().to_owned();
    Ok(Some((id, forget(context, set, paths)?)))
}

fn forget(context: &Context, mut set: Set, paths: &[String]) -> Result<Applied, AgentError> {
    let id = set.id().to_owned();
    let discarded = on_record(context, &id, ChangesState::Discarded, || {
        Ok(Applied { files: set.discard(paths)?, left_out: vec![] })
    })?;
    set.remove_if_empty()?;
    Ok(discarded)
}

/// Takes what a set applied last out of the person's folder again.
pub fn undo(
    context: &Context,
    which: &Which,
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(context, which, Wanted::Applied)? else { return Ok(None) };
    let id = set.id().to_owned();
    let undone = on_record(context, &id, ChangesState::Undone, || set.undo(conflict))?;
    drop(set);
    prune(context)?;
    Ok(Some((id, undone)))
}

/// Puts what was undone last into the person's folder once more.
pub fn redo(
    context: &Context,
    which: &Which,
    conflict: Conflict,
) -> Result<Option<(String, Applied)>, AgentError> {
    let Some(mut set) = find(context, which, Wanted::Undone)? else { return Ok(None) };
    let id = set.id().to_owned();
    let redone = on_record(context, &id, ChangesState::Applied, || set.redo(conflict))?;
    drop(set);
    prune(context)?;
    Ok(Some((id, redone)))
}

/// Keeps what undo and redo need within the space that the person gives it.
fn prune(context: &Context) -> Result<(), AgentError> {
    Set::prune(&place(context)?, context.settings.undo_space.value.count())?;
    Ok(())
}

/// Where change sets are kept, made if need be.
pub(crate) fn place(context: &Context) -> Result<Place, AgentError> {
    let folder = context.folders.make_changes_folder_for(&context.work_folder)?;
    Ok(Place::new(folder, context.folders.make_key()?))
}

fn find(context: &Context, which: &Which, wanted: Wanted) -> Result<Option<Set>, AgentError> {
    let id = match which {
        Which::Named(id) => id.clone(),
        Which::Newest => match newest(context, wanted)? {
            Some(summary) => summary.id,
            None => return Ok(None),
        },
    };
    let set = Set::open(&place(context)?, &id)?;
    of_this_folder(context, set).map(Some)
}

/// Refuses a set of another folder: the person sees only this one.
fn of_this_folder(context: &Context, set: Set) -> Result<Set, AgentError> {
    if set.work_folder() == context.work_folder {
        return Ok(set);
    }
    let work_folder = set.work_folder().to_string_lossy().into_owned();
    Err(WorkspaceError::OtherFolder { id: set.id().to_owned(), work_folder }.into())
}

/// Acts on a set: the intention is recorded before, and the result after, so that a refusal is not
/// recorded as done.
fn on_record(
    context: &Context,
    id: &str,
    state: ChangesState,
    act: impl FnOnce() -> Result<Applied, WorkspaceError>,
) -> Result<Applied, AgentError> {
    // Forgetting staged files frees space, so it must be possible on a full disk.
    let frees = state == ChangesState::Discarded;
    let folders = &context.folders;
    let mut log = if frees { Log::open_on_full_disk(folders)? } else { Log::open(folders)? };
    let session = new_session_id();
    let mut append = |body: Body| {
        let body = context.redactor.body(body);
        if frees {
            log.append_on_full_disk(folders, &session, &body)
        } else {
            log.append(&session, &body)
        }
    };
    let text = format!("set {id} is about to be {}", state.word());
    append(Body::Note { text })?;
    match act() {
        Ok(done) => {
            let Applied { files, left_out } = done.clone();
            append(Body::Changes(Changes { id: id.to_owned(), state, files, left_out }))?;
            Ok(done)
        }
        Err(error) => {
            append(Body::Error { message: chain(&error), hint: error.advice() })?;
            Err(error.into())
        }
    }
}
