//! Staged files at checkpoints: kept when nothing runs, and put back after the kernels.
//!
//! While an overlay is mounted its layers must not be changed from outside, so the host puts files back
//! from inside, as it does for a discard. The view from outside decides whether it has.

use super::staged::Stage;
use crate::{
    ExecError,
    sandbox::{BACK, LOWER},
};
use interpreter_core::{FilesCheckpoint, FilesRewound, Limits, Rewound, Untrusted};
use interpreter_host::Inward;
use interpreter_workspace::WayBack;
use std::{collections::BTreeSet, path::Path};

/// Characters of a reason.
const LONGEST_REASON: usize = 300;

/// Checkpoints and rewinds of staged files.
#[derive(Debug, Default)]
pub(super) struct FilesBack {
    /// Checkpoints from before anything could be staged.
    early: BTreeSet<u32>,
    /// Bytes that may be staged. All checkpoints together keep no more than that either.
    most: u64,
    going: Option<Going>,
}

/// A rewind that the host performs.
#[derive(Debug)]
pub(super) struct Going {
    pub(super) rewound: Rewound,
    pub(super) reply: super::checkpoint::RewoundReply,
    /// Whether it puts files back, too.
    pub(super) by_host: bool,
    /// Whether the host has emptied the temporary folders so far as it was asked.
    pub(super) clean: bool,
    /// Answers of the host that are still to come.
    pub(super) awaited: usize,
}

/// Why files are not back although nothing failed.
const MEANWHILE: &str = "something that still runs has changed them meanwhile";

/// How files go back.
#[derive(Debug)]
pub(super) enum Way {
    /// They are settled: restored already, or they cannot be.
    Settled(FilesRewound),
    /// By these requests to the host.
    Inside(Vec<Inward>),
    /// From outside.
    Outside,
}

fn reason(error: &ExecError) -> String {
    Untrusted::new(error.to_string()).for_terminal_line(LONGEST_REASON)
}

impl Stage {
    /// Keeps what is staged under a number. `is_up` says whether a sandbox is.
    pub(super) async fn checkpoint(&mut self, number: u32, is_up: bool) -> FilesCheckpoint {
        if self.set().is_none() {
            if is_up {
                return FilesCheckpoint::NotStaged;
            }
            self.back.early.retain(|&early| early < number);
            self.back.early.insert(number);
            return FilesCheckpoint::Kept;
        }
        let most = self.back.most;
        match self.elsewhere(move |set| Ok(set.keep(number, most)?)).await {
            Ok(_) => FilesCheckpoint::Kept,
            Err(error) => FilesCheckpoint::NotKept { reason: reason(&error) },
        }
    }

    /// As much may be kept as may be staged.
    pub(super) fn bound_kept(&mut self, limits: &Limits) {
        self.back.most = limits.staged_bytes;
    }

    /// Nothing is staged yet: so it was at the checkpoints before.
    pub(super) async fn keep_early(&mut self) -> Result<(), ExecError> {
        let most = self.back.most;
        for number in std::mem::take(&mut self.back.early) {
            self.elsewhere(move |set| Ok(set.keep(number, most)?)).await?;
        }
        Ok(())
    }

    /// Begins to put files back. `work` is the folder of the sandbox that is up.
    pub(super) fn begin_rewind(&mut self, number: u32, work: Option<&Path>) -> Way {
        self.forget_review();
        match self.way_back(number, work) {
            Ok(way) => way,
            Err(error) => Way::Settled(FilesRewound::NotRestored { reason: reason(&error) }),
        }
    }

    fn way_back(&mut self, number: u32, work: Option<&Path>) -> Result<Way, ExecError> {
        let early = self.back.early.contains(&number);
        let Some(set) = self.set_mut() else {
            let settled = if early { FilesRewound::Restored } else { FilesRewound::NotStaged };
            return Ok(Way::Settled(settled));
        };
        let WayBack { uncovered, rewritten } = set.way_back(number)?;
        if uncovered.is_empty() && rewritten.is_empty() {
            set.forget_kept_after(number);
            return Ok(Way::Settled(FilesRewound::Restored));
        }
        let Some(work) = work.filter(|_| set.copy().is_none()) else { return Ok(Way::Outside) };
        set.lay_out(number, &rewritten)?;
        // If all are killed in the middle, whoever opens the set next takes out what is left of these.
        let scratch = set.begin_discard(Some(&uncovered))?;
        let restore = |lower: &str, paths: Vec<String>| Inward::Restore {
            work: work.to_owned(),
            lower: lower.into(),
            paths,
            scratch: scratch.clone(),
        };
        let all = [(LOWER, uncovered), (BACK, rewritten)];
        let some = all.into_iter().filter(|(_, paths)| !paths.is_empty());
        Ok(Way::Inside(some.map(|(lower, paths)| restore(lower, paths)).collect()))
    }

    /// The host was asked.
    pub(super) fn await_host(&mut self, going: Going) {
        self.back.going = Some(going);
    }

    /// The host has done one thing that it was asked for. Returns the rewind once that was all.
    pub(super) fn host_answered(&mut self, clean: bool) -> Option<Going> {
        let going = self.back.going.as_mut()?;
        going.clean &= clean;
        going.awaited = going.awaited.saturating_sub(1);
        self.back.going.take_if(|going| going.awaited == 0)
    }

    /// Takes out a rewind that the host will not end any more.
    pub(super) fn take_going(&mut self) -> Option<Going> {
        self.back.going.take()
    }

    /// Whether the host is putting files back.
    pub(super) fn is_going_back(&self) -> bool {
        self.back.going.is_some()
    }

    /// Whether everything is back, as it looks from outside.
    pub(super) fn is_back(&mut self, number: u32) -> Result<bool, ExecError> {
        let Some(set) = self.set_mut() else { return Ok(true) };
        set.end_discard()?;
        set.clear_back()?;
        let is_back = set.way_back(number)?.is_empty();
        if is_back {
            set.forget_kept_after(number);
        }
        Ok(is_back)
    }

    /// Puts files back from outside, where nothing mounted shows them.
    pub(super) fn go_back(&mut self, number: u32) -> FilesRewound {
        let Some(set) = self.set_mut() else { return FilesRewound::NotStaged };
        let done = set.go_back(number).and_then(|()| Ok(set.way_back(number)?.is_empty()));
        match done {
            Ok(true) => {
                set.forget_kept_after(number);
                FilesRewound::Restored
            }
            Ok(false) => FilesRewound::NotRestored { reason: MEANWHILE.into() },
            Err(error) => FilesRewound::NotRestored { reason: reason(&error.into()) },
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test panics with the path that it names")]
mod tests {
    use super::*;
    use crate::{
        Interpreters, RunnerSetup, StandardInput, runner::tests::confinement, sandbox::Machine,
    };
    use interpreter_core::{Confinement, Workspace, hash::SealKey};
    use interpreter_workspace::Place;
    use std::fs;

    #[tokio::test]
    async fn no_more_is_kept_than_may_be_staged() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["work", "scratch", "changes"] {
            fs::create_dir(at(name)).unwrap();
        }
        let setup = RunnerSetup {
            interpreters: Interpreters::elsewhere([]),
            machine: Machine::look(at("host"), at("scratch"), None),
            changes: Place::new(at("changes"), SealKey::new(&[7; 32])),
            undo_bytes: 0,
            session: "one".into(),
            upstream: None,
            broker: None,
            asks: None,
            input: StandardInput::Empty,
            redactor: std::sync::Arc::default(),
        };
        let bounded = |staged_bytes: u64| Confinement {
            work_folder: at("work"),
            workspace: Workspace::Stage,
            ..confinement(Limits { staged_bytes, ..Limits::default() })
        };
        let mut stage = Stage::default();
        stage.begin_set(&bounded(64 << 10), &setup).await.unwrap();
        assert_eq!(stage.checkpoint(1, true).await, FilesCheckpoint::Kept);
        fs::write(stage.set().unwrap().upper().join("a"), vec![1; 100 << 10]).unwrap();
        let refused = stage.checkpoint(2, true).await;
        assert!(matches!(refused, FilesCheckpoint::NotKept { .. }), "{refused:?}");
        // The one before it stays.
        assert!(stage.set().unwrap().has_kept(1));
        // The control.
        stage.begin_set(&bounded(1 << 20), &setup).await.unwrap();
        assert_eq!(stage.checkpoint(2, true).await, FilesCheckpoint::Kept);
    }
}
