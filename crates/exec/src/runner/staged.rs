//! Staged changes while their sandbox is up: reviewed, applied, discarded. Slow work is done on
//! another thread.

use super::{
    command::{PutOrder, RunnerSetup, StagedLook},
    files_back::FilesBack,
    staging::DiskWatch,
};
use crate::{
    ExecError,
    sandbox::{Frozen, LOWER, Machine, covered, recipe, secrets},
};
use interpreter_core::{
    Backend, Changes, ChangesState, Confinement, FileChange, Limits, Pick, Redactor, ShownChange,
    Untrusted, Workspace, outline::ApplyOrder, session::TurnReach,
};
use interpreter_host::Inward;
use interpreter_workspace::{
    Applied, Conflict, DiskUsage, NotCopied, Review, Set, WorkspaceError, is_at_or_below,
};
use std::{
    collections::{BTreeSet, HashSet},
    io,
    path::Path,
    sync::Arc,
};

/// Number of entries missing from a copy that are named.
const NAMED: usize = 3;

fn take_copy(
    set: &mut Set,
    confinement: &Confinement,
    owner: Option<u32>,
) -> Result<NotCopied, ExecError> {
    let covered = covered(&secrets::cover(confinement)?);
    let limits = &confinement.limits;
    let most = DiskUsage { bytes: limits.staged_bytes, files: limits.staged_files };
    Ok(set.take_copy(&covered, most, owner)?)
}

/// A remark about a copy: its path inside, if that differs from the folder's own, and the entries
/// left out.
fn remark(backend: Backend, copy: Option<&Path>, left_out: &NotCopied) -> Option<String> {
    let line = |text: &str| Untrusted::new(text).for_terminal_line(200);
    let mut parts = Vec::new();
    if let Some(copy) = copy.filter(|_| recipe(backend).moves_the_folder()) {
        parts
            .push(format!("code works in a copy of the folder: {}", line(&copy.to_string_lossy())));
    }
    let NotCopied { named, count } = left_out;
    if *count > 0 {
        let shown =
            named.iter().take(NAMED).map(|one| format!("{} ({})", line(&one.path), one.why));
        let mut words: Vec<_> = shown.collect();
        let more = count - words.len();
        if more > 0 {
            words.push(format!("{more} more"));
        }
        parts.push(format!("not in the copy that code works in: {}", words.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The change set of a session, and the snapshot of it that the person decides on.
#[derive(Debug, Default)]
pub(super) struct Stage {
    set: Option<Set>,
    shown: Option<Review>,
    /// How many snapshots were taken: the number of the last one.
    looks: u64,
    /// The paths whose hunks the person has seen; nothing else has numbers that mean anything.
    numbered: Numbered,
    /// Changes that are being put back from inside.
    discarding: Option<Discarding>,
    /// A file of the person's own that the host copies in.
    pub(super) putting: Option<PutOrder>,
    /// Checkpoints of what is staged.
    pub(super) back: FilesBack,
    /// The disk space that is staged.
    pub(super) disk: DiskWatch,
    /// Knows the values that are masked where changes are drawn.
    pub(super) redactor: Arc<Redactor>,
}

/// The part of a snapshot that was shown line by line.
#[derive(Debug, Default, PartialEq, Eq)]
enum Numbered {
    #[default]
    Nothing,
    Below(BTreeSet<String>),
    Everything,
}

impl Numbered {
    /// These were shown too.
    fn add(&mut self, more: impl Iterator<Item = String>) {
        let more = more.map(|path| path.trim_end_matches('/').to_owned());
        match self {
            Self::Everything => {}
            Self::Nothing => *self = Self::Below(more.collect()),
            Self::Below(paths) => paths.extend(more),
        }
    }

    /// Whether what is at this path was shown.
    fn has(&self, path: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Below(paths) => Path::new(path)
                .ancestors()
                .filter_map(Path::to_str)
                .any(|above| !above.is_empty() && paths.contains(above)),
        }
    }
}

/// Changes that are being forgotten.
#[derive(Debug)]
struct Discarding {
    files: Vec<FileChange>,
    /// Whether they are all that is staged.
    all: bool,
}

impl Stage {
    /// Nothing is staged yet.
    pub(super) fn masked_with(redactor: Arc<Redactor>) -> Self {
        Self { redactor, ..Self::default() }
    }

    /// Makes ready for a sandbox that is about to start: a change set, if changes are staged, and a
    /// copy of the folder, if the sandbox has no overlay. Returns a remark on the copy.
    pub(super) async fn open(
        &mut self,
        backend: Backend,
        confinement: &Confinement,
        setup: &RunnerSetup,
    ) -> Result<Option<String>, ExecError> {
        self.begin_set(confinement, setup).await?;
        let remark = self.copy_for(backend, confinement, &setup.machine).await?;
        if let Some(set) = &self.set {
            set.clear_work()?;
        }
        Ok(remark)
    }

    /// Begins a change set, if changes are staged and there is none.
    pub(super) async fn begin_set(
        &mut self,
        confinement: &Confinement,
        setup: &RunnerSetup,
    ) -> Result<(), ExecError> {
        self.bound_kept(&confinement.limits);
        if self.set.is_none() && confinement.workspace == Workspace::Stage {
            let RunnerSetup { changes, session, .. } = setup;
            self.set = Some(Set::create(changes, &confinement.work_folder, session)?);
            self.keep_early().await?;
        }
        Ok(())
    }

    async fn copy_for(
        &mut self,
        backend: Backend,
        confinement: &Confinement,
        machine: &Machine,
    ) -> Result<Option<String>, ExecError> {
        let copies = recipe(backend).stages_in_copy() && confinement.workspace == Workspace::Stage;
        if !copies || self.set.as_ref().is_none_or(|set| set.copy().is_some()) {
            return Ok(None);
        }
        let (confinement, owner) = (confinement.clone(), recipe(backend).copy_owner(machine));
        let taken = self.elsewhere(move |set| take_copy(set, &confinement, owner)).await?;
        let copy = self.set.as_ref().and_then(Set::copy);
        Ok(taken.and_then(|taken| remark(backend, copy, &taken)))
    }

    /// Does something with the change set on another thread, if there is a set.
    pub(super) async fn elsewhere<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Set) -> Result<T, ExecError> + Send + 'static,
    ) -> Result<Option<T>, ExecError> {
        let Some(mut set) = self.set.take() else { return Ok(None) };
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&mut set);
            (set, done)
        });
        let (set, done) = done.await.map_err(io::Error::from)?;
        self.set = Some(set);
        done.map(Some)
    }

    pub(super) fn set(&self) -> Option<&Set> {
        self.set.as_ref()
    }

    pub(super) fn set_mut(&mut self) -> Option<&mut Set> {
        self.set.as_mut()
    }

    /// The set and its files that differ; no set if none do.
    pub(super) fn changed(&self) -> Result<(Option<String>, Vec<FileChange>), ExecError> {
        let Some(set) = &self.set else { return Ok((None, Vec::new())) };
        let files = set.changes()?;
        Ok(((!files.is_empty()).then(|| set.id().to_owned()), files))
    }

    /// Takes a snapshot of what is staged, while everything inside stands still if it can be made
    /// to, and lists it. Diff and application are of this snapshot.
    pub(super) async fn review(&mut self, frozen: Option<Frozen>) -> Result<Changes, ExecError> {
        self.forget_review();
        self.looks += 1;
        let redactor = Arc::clone(&self.redactor);
        let review = move |set: &mut Set| Ok(set.review_of(&[], frozen, &redactor)?);
        self.shown = self.elsewhere(review).await?;
        Ok(self.listed())
    }

    /// The same, but a snapshot that is held and differs in nothing stays, with its number: whoever
    /// is about to decide on it can.
    pub(super) async fn review_again(&mut self, frozen: Option<Frozen>) -> Result<(), ExecError> {
        let redactor = Arc::clone(&self.redactor);
        let review = move |set: &mut Set| Ok(set.review_of(&[], frozen, &redactor)?);
        let taken = self.elsewhere(review).await?;
        let is_same = match (&self.shown, &taken) {
            (Some(held), Some(taken)) => held.is_same(taken),
            (None, _) | (_, None) => false,
        };
        if !is_same {
            self.forget_review();
            self.looks += 1;
            self.shown = taken;
        }
        Ok(())
    }

    /// The list of the snapshot.
    fn listed(&self) -> Changes {
        let id = self.set.as_ref().map(|set| set.id().to_owned()).unwrap_or_default();
        let (files, left_out) = match &self.shown {
            Some(review) => (review.files.clone(), review.left_out.clone()),
            None => (Vec::new(), Vec::new()),
        };
        Changes { id, state: ChangesState::Staged, files, left_out }
    }

    /// The snapshot that is held, for somebody who decides on it by its number. The hunks that they
    /// see count as seen, and those that there was no room for do not.
    pub(super) fn look(
        &mut self,
        decides: bool,
        path: Option<&str>,
    ) -> Result<StagedLook, ExecError> {
        let shown = self.show_changes()?;
        if decides {
            let is_seen = |one: &&ShownChange| {
                let is_meant = |above: &str| Path::new(&one.path).starts_with(above);
                !one.hunks.is_empty() && path.is_none_or(is_meant)
            };
            self.numbered.add(shown.iter().filter(is_seen).map(|one| one.path.clone()));
        }
        Ok(StagedLook { number: self.looks, changes: self.listed(), shown })
    }

    /// Refuses a decision on a snapshot that is no longer held.
    pub(super) fn check_number(&self, number: u64) -> Result<(), ExecError> {
        let is_held = self.shown.is_some() && self.looks == number;
        is_held.then_some(()).ok_or(ExecError::LookAgain)
    }

    /// The paths of the snapshot that is held, at and below `paths` or all of them. Whatever was staged
    /// since is not among them.
    pub(super) fn shown_paths(&self, paths: Vec<String>) -> Result<Vec<String>, ExecError> {
        let Some(review) = &self.shown else { return Err(ExecError::LookAgain) };
        if !paths.is_empty() {
            return Ok(paths);
        }
        let listed = review.files.iter().flat_map(FileChange::paths).cloned();
        let left_out = review.left_out.iter().map(|one| one.path.clone());
        Ok(listed.chain(left_out).collect())
    }

    /// Whether there is a snapshot to decide on.
    pub(super) fn is_reviewed(&self) -> bool {
        self.shown.is_some()
    }

    /// The changes of the snapshot at and below `paths`, or all, line by line.
    pub(super) fn diff(&mut self, paths: &[String]) -> Result<Untrusted, ExecError> {
        match paths {
            [] => self.numbered = Numbered::Everything,
            paths => self.numbered.add(paths.iter().cloned()),
        }
        match (&self.set, &self.shown) {
            (Some(set), Some(review)) => {
                let diff = match paths {
                    [] => set.diff_of(review)?,
                    paths => set.diff_of_some(review, paths)?,
                };
                Ok(self.redactor.draw(&diff).into_text())
            }
            (None, _) | (_, None) => Ok(Untrusted::default()),
        }
    }

    /// A run begins: what it stages is bounded.
    pub(super) fn begin_run(&mut self, kernel: u32, limits: &Limits) {
        if let Some(set) = &self.set {
            self.disk.begin(set, kernel, limits);
        }
    }

    /// Code is about to run: a discard that failed is over, and what the code stages is not meant
    /// by it.
    pub(super) fn give_up_discard(&self) -> Result<(), ExecError> {
        match (&self.discarding, &self.set) {
            (Some(_), Some(set)) => Ok(set.end_discard()?),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Refuses hunks whose numbers the person has not seen in the snapshot that is held.
    pub(super) fn check_shown(&self, picks: &[Pick]) -> Result<(), ExecError> {
        let is_shown = |path: &str| self.shown.is_some() && self.numbered.has(path);
        match picks.iter().find(|pick| pick.is_of_hunks() && !is_shown(&pick.path)) {
            Some(pick) => Err(ExecError::HunksNotShown { path: pick.path.clone() }),
            None => Ok(()),
        }
    }

    /// Lets go of the snapshot: it was decided on, or is about to be out of date.
    pub(super) fn forget_review(&mut self) {
        (self.shown, self.numbered) = (None, Numbered::Nothing);
    }

    /// The changes of the snapshot one by one, with their hunks.
    pub(super) fn show_changes(&self) -> Result<Vec<ShownChange>, ExecError> {
        match (&self.set, &self.shown) {
            (Some(set), Some(review)) => {
                let changes = set.changes_of(review)?;
                Ok(changes.into_iter().map(|one| one.drawn(&self.redactor)).collect())
            }
            (None, _) | (_, None) => Ok(Vec::new()),
        }
    }

    /// Puts the snapshot, or what was picked of it, into the person's folder. A snapshot whose
    /// outline has yet to be shown stays.
    pub(super) async fn apply(&mut self, order: ApplyOrder) -> Result<Option<Changes>, ExecError> {
        let Some(review) = self.shown.take() else { return Ok(None) };
        let done = self.elsewhere(move |set| {
            let applied = set.apply_review(&review, &order, Conflict::Refuse);
            Ok((applied.map(|applied| settled(set, ChangesState::Applied, applied)), review))
        });
        let Some((applied, review)) = done.await? else { return Ok(None) };
        if matches!(applied, Err(WorkspaceError::OutlineUnseen(_))) {
            self.shown = Some(review);
        }
        Ok(Some(applied?))
    }

    /// Undoes what was applied last, or does once more what was undone last.
    pub(super) async fn turn(
        &mut self,
        to: ChangesState,
        reach: TurnReach,
    ) -> Result<Option<Changes>, ExecError> {
        self.shown = None;
        self.elsewhere(move |set| {
            let done = match to {
                ChangesState::Undone => set.undo_within(reach, Conflict::Refuse)?,
                ChangesState::Staged | ChangesState::Applied | ChangesState::Discarded => {
                    set.redo_within(reach, Conflict::Refuse)?
                }
            };
            Ok(settled(set, to, done))
        })
        .await
    }

    /// Begins to forget what is staged. Where an overlay is mounted its layers must not be changed
    /// from outside: returns the frame by which the host puts the files back from inside. A copy is
    /// a folder like any other.
    pub(super) fn begin_discard(
        &mut self,
        work: Option<&Path>,
        some: &[String],
    ) -> Result<Option<Inward>, ExecError> {
        self.shown = None;
        let Some(set) = &self.set else { return Ok(None) };
        let all = some.is_empty();
        let files = if all { set.changes()? } else { set.changes_at(some)? };
        let paths: Vec<_> = files.iter().flat_map(FileChange::paths).cloned().collect();
        self.discarding = Some(Discarding { files, all });
        let Some(work) = work.filter(|_| set.copy().is_none()) else { return Ok(None) };
        // On a full disk it is forgotten from outside, which needs no room.
        let Ok(scratch) = set.begin_discard((!all).then_some(&paths)) else { return Ok(None) };
        Ok(Some(Inward::Restore { work: work.to_owned(), lower: LOWER.into(), paths, scratch }))
    }

    /// Forgets what is staged, from outside, where nothing mounted shows it.
    pub(super) fn discard_files(&mut self) -> Result<(), ExecError> {
        let left = self.left_to_discard()?;
        if let (Some(set), Some(Discarding { all, .. })) = (&mut self.set, &self.discarding) {
            if *all {
                set.discard(&[])?;
            } else if !left.is_empty() {
                set.discard(&left)?;
            }
        }
        Ok(())
    }

    /// The paths that are being discarded and still wait for a decision.
    fn left_to_discard(&self) -> Result<Vec<String>, ExecError> {
        let (Some(set), Some(Discarding { files, all })) = (&self.set, &self.discarding) else {
            return Ok(Vec::new());
        };
        let waiting = set.changes()?;
        let waiting = waiting.iter().flat_map(FileChange::paths).cloned();
        if *all {
            return Ok(waiting.collect());
        }
        let meant: HashSet<_> =
            files.iter().flat_map(FileChange::paths).map(String::as_str).collect();
        let is_meant = |path: &String| is_at_or_below(path, |one| meant.contains(one));
        Ok(waiting.filter(is_meant).collect())
    }

    /// Whether something that was to be forgotten is still staged.
    pub(super) fn is_not_discarded(&self) -> Result<bool, ExecError> {
        Ok(!self.left_to_discard()?.is_empty())
    }

    /// Whether code works in a copy of the folder.
    pub(super) fn is_copy(&self) -> bool {
        self.set.as_ref().is_some_and(|set| set.copy().is_some())
    }

    /// Ends a discard. Returns the change set as it is now.
    pub(super) fn discarded(&mut self) -> Result<Option<Changes>, ExecError> {
        let Some(set) = &self.set else { return Ok(None) };
        let Some(Discarding { files, all }) = self.discarding.take() else { return Ok(None) };
        set.end_discard()?;
        if all {
            self.disk.forget();
        }
        let (id, state) = (set.id().to_owned(), ChangesState::Discarded);
        Ok(Some(Changes { id, state, files, left_out: Vec::new() }))
    }

    /// Whether something is being discarded.
    pub(super) fn is_discarding(&self) -> bool {
        self.discarding.is_some()
    }

    /// Lets go of the set when the session ends: an empty one is removed, and old copies for undo
    /// make room.
    pub(super) fn close(&mut self, setup: &RunnerSetup) -> Result<(), ExecError> {
        self.shown = None;
        // Only an application keeps copies, so only after one can there be too many.
        let applied = self.set.as_ref().is_some_and(Set::was_applied);
        let removed = self.set.take().map(Set::remove_if_empty).transpose();
        if applied {
            Set::prune(&setup.changes, setup.undo_bytes)?;
        }
        removed?;
        Ok(())
    }
}

/// A set after a decision.
fn settled(set: &Set, state: ChangesState, done: Applied) -> Changes {
    let Applied { files, left_out } = done;
    Changes { id: set.id().to_owned(), state, files, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_count_as_seen_where_they_were_shown_and_nowhere_else() {
        let mut seen = Numbered::default();
        assert!(!seen.has("a"));
        seen.add(["a/b".to_owned(), "c/".to_owned()].into_iter());
        for (path, is) in [
            ("a/b", true),
            ("a/b/c", true),
            ("c/d", true),
            ("a", false),
            ("a/bc", false),
            ("cd", false),
            ("", false),
        ] {
            assert_eq!(seen.has(path), is, "{path}");
        }
        seen = Numbered::Everything;
        seen.add(["x".to_owned()].into_iter());
        assert!(seen.has("a"));
    }
}
