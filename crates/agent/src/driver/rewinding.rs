//! Checkpoints before each cell, and going back to one.
//!
//! Only where a front end has asked for it: a session that nobody can rewind keeps none.

use super::Driver;
use crate::error::exec_failure;
use interpreter_analyze::{AddedRules, Past, analyze_after};
use interpreter_core::{
    Checkpoint, Languages, Proposal, RewindScope,
    record::TurnEnd,
    session::{Event, Failure, PastCell, checkpoint_number},
};
use interpreter_exec::Command;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::oneshot;

/// Checkpoints of which it is known what they hold; the runner keeps no more.
const KNOWN: usize = 16;

/// The checkpoints of a session, by number.
#[derive(Debug, Default)]
pub(super) struct Checkpoints(BTreeMap<u32, Answer>);

/// The contents of a checkpoint, once the runner has told them.
#[derive(Debug)]
enum Answer {
    Awaited(oneshot::Receiver<Checkpoint>),
    Known(Checkpoint),
}

impl Checkpoints {
    fn add(&mut self, number: u32, answer: oneshot::Receiver<Checkpoint>) {
        self.0.retain(|known, _| *known < number);
        self.0.insert(number, Answer::Awaited(answer));
        while self.0.len() > KNOWN {
            self.0.pop_first();
        }
    }

    /// The contents of a checkpoint, if they are known.
    pub(super) fn of(&mut self, number: u32) -> Option<Checkpoint> {
        let answer = self.0.get_mut(&number)?;
        if let Answer::Awaited(awaited) = answer {
            *answer = Answer::Known(awaited.try_recv().ok()?);
        }
        match answer {
            Answer::Known(checkpoint) => Some(checkpoint.clone()),
            Answer::Awaited(_) => None,
        }
    }
}

impl Driver {
    /// Keeps what can be gone back to, right before a cell runs. Nothing waits for it.
    pub(super) fn keep_checkpoint(&mut self, proposal: &Proposal) {
        // A cell that runs again is no place to go back to.
        let Some(checkpoints) = self.checkpoints.as_mut().filter(|_| proposal.again.is_none())
        else {
            return;
        };
        let number = checkpoint_number(&proposal.id);
        let (reply, answer) = oneshot::channel();
        checkpoints.add(number, answer);
        self.runner.tell(Command::Checkpoint { number, reply });
    }

    /// Goes back to a checkpoint, on another task.
    pub(super) async fn rewind(&mut self, number: u32, scope: RewindScope, memory: Vec<PastCell>) {
        if scope == RewindScope::Everything {
            let languages = self.state.languages().clone();
            let rules = Arc::clone(&self.context.added_rules);
            let read = move || past_of(&memory, &languages, &rules);
            self.past = tokio::task::spawn_blocking(read).await.unwrap_or_default();
        }
        let (reply, answer) = oneshot::channel();
        self.runner.tell(Command::Rewind { number, scope, reply });
        self.work = Some(tokio::spawn(async move {
            let gone = || {
                let message = "the sandbox is gone".into();
                Failure { message, hint: None, end: TurnEnd::CannotConfine }
            };
            let went = answer.await.map_err(|_| gone());
            Event::WentBack(went.and_then(|went| went.map_err(|error| exec_failure(&error))))
        }));
    }
}

/// The names that these cells have set.
fn past_of(cells: &[PastCell], languages: &Languages, rules: &AddedRules) -> Past {
    cells.iter().fold(Past::default(), |past, cell| match languages.find(&cell.language) {
        Some(language) => analyze_after(rules, &past, &language, cell.code.raw()).1,
        None => past,
    })
}
