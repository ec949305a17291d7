//! The person goes back to before a cell: the conversation, the staged files and the memory of
//! interpreters.
//!
//! # Mechanism
//! The record tells of any earlier moment, so the conversation of then is built from it; where it is
//! the beginning of the conversation of now, that is only cut. Nothing is erased: the record says
//! that the person went back, and how the conversation goes on. Interpreters go back to a
//! checkpoint, or start afresh and run their cells again, which is asked about like any other
//! replay. So going back never makes a permit of its own.
//!
//! # Order
//! The conversation; then whatever was applied is undone, if the person said so; then interpreters
//! and staged files; then the cells that must run again; and the staged files once more, because
//! those cells may have written some.
//!
//! # Limits
//! Open files, sockets and programs of then do not come back, and nothing that was sent to a host
//! does. Programs of now are ended, whichever cell they are of: nothing tells whose they are. Once outside text was read, the session stays careful, although the model no longer sees
//! it.

use super::{
    cells::{CellMemory, PastCell, before_proposal},
    changes_wish::{ChangesWish, TurnReach},
    effect::Effect,
    event::{Event, Failure},
    resuming::{answer_calls, conversation},
    setup::Setup,
    state::{Phase, State},
    wishes::{GoingBack, Replay, Rewind, RewindStep, checkpoint_number},
    words,
};
use crate::{
    Admission, Body, Changes, ChangesState, FileChange, FilesRewound, KernelRewound, MemoryRewound,
    Message, Record, RewindScope, Rewound, record::TurnEnd,
};
use std::{
    collections::{BTreeSet, HashMap},
    mem,
    sync::Arc,
};

impl Rewind {
    /// The way back to before a cell of the session that these records tell of. `earlier` are the
    /// cells of the session that it goes on from. `None` if there is no such cell.
    pub fn to(cell: &str, setup: Setup, earlier: &[PastCell], records: &[Record]) -> Option<Self> {
        let now = PastCell::all(earlier, records);
        let at = now.iter().skip(earlier.len()).position(|one| one.id == cell)?;
        let undone = now[earlier.len() + at..].to_vec();
        let then = PastCell::before(records, cell)?;
        let since = &records[then.len()..];
        let mut memory = PastCell::all(earlier, then);
        memory.retain(|one| one.memory == CellMemory::Kept);
        let (mut messages, _) = conversation(setup, then);
        answer_calls(&mut messages);
        let prompt = since.first().and_then(|record| {
            let Body::Prompt { text } = &record.body else { return None };
            Some(text.clone())
        });
        let counts = |record: &&Record| !record.body.is_passing();
        Some(Self {
            to: cell.to_owned(),
            messages,
            prompt,
            undone,
            memory,
            applied: applied(since),
            undo: false,
            hosts: reached(since),
            programs: 0,
            prompts: prompts(records, then.len()),
            sent: sent(since),
            as_of: records.iter().rfind(counts).map_or(0, |record| record.seq),
        })
    }

    /// The number of the checkpoint that was taken before the cell.
    pub fn number(&self) -> u32 {
        checkpoint_number(&self.to)
    }

    /// The languages that have to do with it, each once.
    pub fn languages(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in self.memory.iter().chain(&self.undone) {
            if !names.contains(&&*cell.language) {
                names.push(&cell.language);
            }
        }
        names
    }
}

/// Files that were applied and not undone, by application. One that was applied before, and then
/// undone and redone, is none of them.
fn applied(since: &[Record]) -> Vec<Vec<FileChange>> {
    let (mut applied, mut undone, mut is_redo) = (Vec::new(), Vec::new(), false);
    for record in since {
        if let Body::ChangesWanted { wish, .. } = &record.body {
            is_redo = wish == "redo";
        }
        let Body::Changes(Changes { state, files, .. }) = &record.body else { continue };
        match state {
            ChangesState::Applied => match undone.pop().filter(|_| is_redo) {
                Some(again) => applied.extend(again),
                None => applied.push(files.clone()),
            },
            ChangesState::Undone => undone.push(applied.pop()),
            ChangesState::Staged | ChangesState::Discarded => {}
        }
    }
    applied
}

/// How many prompts behind the first `then` records still count.
fn prompts(records: &[Record], then: usize) -> usize {
    let (mut proposed, mut prompts) = (HashMap::new(), Vec::new());
    for (at, record) in records.iter().enumerate() {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest is not about prompts")]
        match &record.body {
            Body::Proposal { id, .. } => _ = proposed.entry(id.as_str()).or_insert(at),
            Body::Prompt { .. } if at >= then => prompts.push(at),
            Body::Rewound { to, .. } => {
                let end = proposed.get(to.as_str()).map(|at| before_proposal(records, *at));
                while prompts.last().is_some_and(|prompt| end.is_some_and(|end| *prompt >= end)) {
                    prompts.pop();
                }
            }
            _ => {}
        }
    }
    prompts.len()
}

fn sent(since: &[Record]) -> Vec<String> {
    let paths = since.iter().filter_map(|record| {
        let Body::ChangesWanted { paths, put: Some(_), .. } = &record.body else { return None };
        Some(paths)
    });
    paths.flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

fn reached(since: &[Record]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for record in since {
        let (Body::Effects { network, .. } | Body::TriedLate { network, .. }) = &record.body else {
            continue;
        };
        for contact in network.iter().filter(|one| one.verdict == Admission::Allowed) {
            if !hosts.contains(&contact.host) {
                hosts.push(contact.host.clone());
            }
        }
    }
    hosts
}

impl State {
    /// The person goes back to before a cell.
    fn rewind_wanted(&mut self, rewind: Rewind) {
        let Rewind { to, messages, undone, memory, applied, undo, programs, .. } = rewind;
        let number = checkpoint_number(&to);
        let cells = undone.into_iter().map(|cell| cell.id).collect();
        self.record(Body::Rewound { to, cells, programs });
        self.converse_as(messages);
        self.notices.clear();
        if !undo && !applied.is_empty() {
            self.asides.push(words::APPLIED_STAYS.into());
        }
        let undo = if undo { applied.len() } else { 0 };
        let (lost, uncleared) = (Vec::new(), Vec::new());
        self.going_back =
            Some(GoingBack { number, memory, undo, lost, uncleared, has_files: false });
        self.go_back();
    }

    /// Makes the conversation this one. The part that it shares with that of now stays as it is.
    fn converse_as(&mut self, messages: Vec<Message>) {
        let opening = self.setup.profile.opening.len().min(self.messages.len());
        let same = |(one, other): &(&Message, &Message)| {
            serde_json::to_value(one).ok() == serde_json::to_value(other).ok()
        };
        let common = self.messages[opening..].iter().zip(&messages).take_while(same).count();
        let kept = opening + common;
        if kept < self.messages.len() {
            Arc::make_mut(&mut self.messages).truncate(kept);
            self.window.forget();
            self.changed_after(kept);
            if common == messages.len() {
                self.record(Body::Conversation { after: kept, messages: Vec::new() });
            }
        }
        for mut message in messages.into_iter().skip(common) {
            message.hide();
            self.say(message);
        }
    }

    /// The next step of going back.
    fn go_back(&mut self) {
        let Some(going) = &mut self.going_back else { return self.finish(TurnEnd::Done) };
        if going.undo > 0 {
            going.undo -= 1;
            let (wish, paths) = ("undo".into(), Vec::new());
            self.record(Body::ChangesWanted { wish, paths, seen: None, put: None });
            self.then(Effect::ChangeSet(ChangesWish::Undo(TurnReach::All)));
            self.phase = Phase::Rewinding(RewindStep::Undoing);
            return;
        }
        let (number, memory) = (going.number, going.memory.clone());
        self.then(Effect::Rewind { number, scope: RewindScope::Everything, memory });
        self.phase = Phase::Rewinding(RewindStep::GoingBack);
    }

    /// Interpreters and files have gone back, as far as they could.
    fn went_back(&mut self, went: Result<Rewound, Failure>) {
        let Some(going) = &mut self.going_back else { return self.finish(TurnEnd::Done) };
        let rewound = match went {
            Ok(rewound) => rewound,
            Err(Failure { message, hint, .. }) => {
                // Nothing may stand with the memory of a later time.
                going.lost = going.memory.iter().map(|cell| cell.language.clone()).collect();
                self.asides.push(words::FILES_STAY.into());
                self.record(Body::Error { message, hint });
                self.then(Effect::Restart(None));
                self.phase = Phase::Rewinding(RewindStep::Clearing);
                return;
            }
        };
        let is_lost = |one: &&KernelRewound| matches!(one.memory, MemoryRewound::Lost { .. });
        let lost = rewound.kernels.iter().filter(is_lost).map(|one| one.language.clone());
        going.uncleared = lost.collect();
        going.lost = going.uncleared.iter().map(|one| one.name().to_owned()).collect();
        going.has_files = rewound.files == FilesRewound::Restored;
        if let FilesRewound::NotRestored { .. } = rewound.files {
            self.asides.push(words::FILES_STAY.into());
        }
        self.record(Body::CameBack(rewound));
        self.clear();
    }

    /// Starts interpreters afresh that have not gone back; then their cells run again.
    fn clear(&mut self) {
        let Some(going) = &mut self.going_back else { return self.finish(TurnEnd::Done) };
        if let Some(language) = going.uncleared.pop() {
            self.then(Effect::Restart(Some(language)));
            self.phase = Phase::Rewinding(RewindStep::Clearing);
            return;
        }
        let lost = |cell: &&PastCell| going.lost.contains(&cell.language);
        let cells: Vec<_> = going.memory.iter().filter(lost).cloned().collect();
        if cells.is_empty() {
            return self.all_back(TurnEnd::Done);
        }
        self.replay_wanted(Replay { cells });
    }

    /// The cells have run again, or not. Files that they wrote do not count.
    pub(super) fn rebuilt_after_rewind(&mut self, end: TurnEnd) {
        let Some(going) = &mut self.going_back else { return self.end_turn(end) };
        if end != TurnEnd::Done {
            let lost = mem::take(&mut going.lost);
            self.asides.push(words::memory_lost(&lost));
        }
        if mem::take(&mut self.ran_again) == 0 || !going.has_files {
            return self.all_back(end);
        }
        let (number, scope, memory) = (going.number, RewindScope::FilesAlone, Vec::new());
        self.then(Effect::Rewind { number, scope, memory });
        self.phase = Phase::Rewinding(RewindStep::Files(end));
    }

    /// Everything is back. The person sees what is staged now.
    fn all_back(&mut self, end: TurnEnd) {
        if self.going_back.as_ref().is_none_or(|going| !going.has_files) {
            return self.is_back(end);
        }
        self.then(Effect::Review);
        self.phase = Phase::Rewinding(RewindStep::Listing(end));
    }

    fn is_back(&mut self, end: TurnEnd) {
        self.going_back = None;
        self.staged = false;
        self.finish(end);
    }

    /// Events that have to do with going back.
    pub(super) fn rewinding(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (Phase::Idle, Event::RewindWanted(rewind)) => self.rewind_wanted(*rewind),
            (Phase::Rewinding(RewindStep::Undoing), Event::Settled(_)) => self.go_back(),
            (Phase::Rewinding(RewindStep::GoingBack), Event::WentBack(went)) => {
                self.went_back(went);
            }
            (Phase::Rewinding(RewindStep::Clearing), Event::Restarted(_)) => {
                self.clear();
            }
            (Phase::Rewinding(RewindStep::Files(end)), Event::WentBack(went)) => {
                if let Err(Failure { message, hint, .. }) = went {
                    self.record(Body::Error { message, hint });
                }
                self.all_back(end);
            }
            (Phase::Rewinding(RewindStep::Listing(end)), Event::Reviewed(changes)) => {
                self.record(Body::Changes(changes));
                self.is_back(end);
            }
            // Nothing may stand with the memory of a later time, so this goes on to where all of it
            // is back or gone. None of it waits for code.
            (
                phase @ Phase::Rewinding(
                    RewindStep::Undoing | RewindStep::GoingBack | RewindStep::Clearing,
                ),
                Event::Interrupted,
            ) => self.phase = phase,
            (Phase::Rewinding(_), Event::Interrupted) => self.is_back(TurnEnd::Interrupted),
            (phase, _) => self.phase = phase,
        }
    }

    /// A step of going back failed outside of the code. An application that cannot be undone
    /// stays; the rest goes on.
    pub(super) fn rewind_failed(&mut self, step: RewindStep, end: TurnEnd) {
        match step {
            RewindStep::Undoing => {
                if let Some(going) = &mut self.going_back {
                    going.undo = 0;
                }
                self.asides.push(words::APPLIED_STAYS.into());
                self.go_back();
            }
            RewindStep::GoingBack
            | RewindStep::Clearing
            | RewindStep::Files(_)
            | RewindStep::Listing(_) => self.is_back(end),
        }
    }
}
