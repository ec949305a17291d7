//! A session that this server runs: one task follows its updates, and clients take what they lack.
//!
//! # Threat
//! A client that does not read, so that a queue grows or the session waits for it.
//!
//! # Mechanism
//! Nothing is queued for a client. It has a place, is woken, and takes what is behind its place: the
//! newest records from memory, older ones from the record. The task waits for nobody.

use super::{
    bell::Bell,
    live::{LivePlace, LiveText},
    places::Holder,
    row::{Doing, OpenQuestion, Portrait, Row},
    tail::{Lacking, Tail},
};
use interpreter_agent::{Context, Mode, Session, Update};
use interpreter_core::{Body, Record, StandingAnswer, egress::Host};
use interpreter_store::Overrides;
use std::{
    collections::BTreeSet,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};
use tokio::sync::watch;

/// A session that runs here, or has run until a while ago.
pub(crate) struct HeldSession {
    pub(crate) id: String,
    pub(crate) session: Session,
    pub(crate) context: Arc<Context>,
    pub(crate) mode: Mode,
    /// The options that its context was made with. A fork has the same.
    pub(crate) overrides: Overrides,
    /// Bytes that it was promised it may stage.
    pub(super) promised: u64,
    /// Whose place it has.
    pub(super) holder: Holder,
    /// Held by whoever works out what going back means, which reads the whole record.
    pub(super) rewinding: Arc<tokio::sync::Mutex<()>>,
    shown: Mutex<Shown>,
    bells: Mutex<Vec<Weak<Bell>>>,
    progress: watch::Sender<HeldProgress>,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldProgress {
    /// The number of its newest record.
    pub(crate) seq: u64,
    pub(crate) doing: Doing,
}

#[derive(Default)]
struct Shown {
    tail: Tail,
    live: LiveText,
    portrait: Portrait,
}

/// A client's place in a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The number of the last record that it has.
    pub(crate) after: u64,
    live: LivePlace,
}

impl Place {
    /// The place behind a record.
    pub(crate) fn after(seq: u64) -> Self {
        Self { after: seq, live: LivePlace::default() }
    }
}

/// The lines that a client lacks.
pub(crate) enum Taken {
    /// These lines; perhaps not all of them.
    Lines { lines: Vec<String>, is_all: bool },
    /// Its place is so far back that it must read the record.
    OnRecord,
}

impl HeldSession {
    pub(crate) fn new(
        session: Session,
        context: Arc<Context>,
        mode: Mode,
        overrides: Overrides,
    ) -> Self {
        let progress = watch::Sender::new(HeldProgress { seq: 0, doing: Doing::Idle });
        Self {
            id: session.id.clone(),
            session,
            context,
            mode,
            overrides,
            promised: 0,
            holder: None,
            rewinding: Arc::default(),
            shown: Mutex::default(),
            bells: Mutex::default(),
            progress,
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bells(&self) -> MutexGuard<'_, Vec<Weak<Bell>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a question that was decided is no longer shown as open.
    pub(super) async fn closed(&self, question: &str) {
        let is_closed = |at: &HeldProgress| {
            at.doing == Doing::Ended
                || !self.questions().iter().any(|one| one.question.id == question)
        };
        // The sender is held by the session itself.
        _ = self.progress().wait_for(is_closed).await.is_ok();
    }

    /// Wakes this client from now on, and now.
    pub(crate) fn wake(&self, bell: &Arc<Bell>) {
        let mut bells = self.bells();
        bells.retain(|other| other.strong_count() > 0);
        let is_new = !bells.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(bell)));
        if is_new {
            bells.push(Arc::downgrade(bell));
        }
        drop(bells);
        bell.ring(&self.id);
    }

    /// Wakes this client no more.
    pub(crate) fn let_sleep(&self, bell: &Arc<Bell>) {
        self.bells().retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(bell)));
    }

    /// Wakes everybody who receives it.
    pub(crate) fn ring(&self) {
        for bell in self.bells().iter().filter_map(Weak::upgrade) {
            bell.ring(&self.id);
        }
    }

    /// The row of the list.
    pub(crate) fn row(&self) -> Row {
        self.shown().portrait.row().clone()
    }

    /// The questions that are open.
    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        self.shown().portrait.questions().cloned().collect()
    }

    /// The standing answers that hold.
    pub(crate) fn standing(&self) -> Vec<StandingAnswer> {
        self.shown().portrait.standing().to_vec()
    }

    /// The hosts that were granted for more than one run.
    pub(crate) fn granted_hosts(&self) -> BTreeSet<(Host, u16)> {
        self.shown().portrait.granted_hosts().clone()
    }

    /// How far it is, and will be.
    pub(crate) fn progress(&self) -> watch::Receiver<HeldProgress> {
        self.progress.subscribe()
    }

    /// Its current work.
    pub(crate) fn doing(&self) -> Doing {
        self.progress.borrow().doing
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.doing() == Doing::Ended
    }

    /// Waits until it is over.
    pub(crate) async fn ended(&self) {
        let mut progress = self.progress();
        // The sender is ours, so it is there.
        _ = progress.wait_for(|at| at.doing == Doing::Ended).await.is_ok();
    }

    /// Waits until nothing is under way: it is idle or over, or only an answer could help.
    pub(crate) async fn quiet(&self) {
        let mut progress = self.progress();
        let is_quiet =
            |at: &HeldProgress| matches!(at.doing, Doing::Idle | Doing::Asking | Doing::Ended);
        _ = progress.wait_for(is_quiet).await.is_ok();
    }

    /// Takes what a client lacks, about so many bytes of it, and moves its place on.
    pub(crate) fn take(&self, place: &mut Place, bytes: usize) -> Taken {
        let shown = self.shown();
        let lines = match shown.tail.after(place.after, bytes) {
            Lacking::OnRecord => return Taken::OnRecord,
            Lacking::Here(lines) => lines,
        };
        place.after += lines.len() as u64;
        let mut lines: Vec<String> = lines.iter().map(|line| line.as_ref().to_owned()).collect();
        let is_all = place.after >= shown.tail.last();
        if is_all {
            // Live text comes behind every record.
            lines.extend(shown.live.after(&self.id, &mut place.live));
        }
        Taken::Lines { lines, is_all }
    }

    /// The records after number `after`, if they are held.
    pub(crate) fn records_after(&self, after: u64) -> Lacking {
        self.shown().tail.after(after, usize::MAX)
    }

    /// The id of its change set, if it has one.
    pub(crate) fn change_set(&self) -> Option<String> {
        self.shown().portrait.change_set().map(str::to_owned)
    }

    /// The number of its newest record.
    pub(crate) fn last(&self) -> u64 {
        self.shown().tail.last()
    }

    /// Takes in an update. Returns whether the row has changed.
    pub(super) fn hear(&self, update: &Update) -> bool {
        let mut shown = self.shown();
        let before = shown.portrait.row().clone();
        match update {
            Update::Records(records) => records.iter().for_each(|record| shown.take(record)),
            Update::Live(live) => shown.live.push(live),
            Update::Headway(headway) => shown.live.headway(headway),
            Update::Line(line) => shown.live.at_line(*line),
            Update::Ended(result) => {
                let failed = result.as_ref().err().map(|error| interpreter_agent::chain(error));
                shown.portrait.end(failed);
                shown.live = LiveText::default();
            }
            // Their records say the same.
            Update::Ask(_)
            | Update::Replay(_)
            | Update::Input(_)
            | Update::LongRun(_)
            | Update::Host(_)
            | Update::Packages(_)
            | Update::Review(_)
            | Update::TurnFinished(_) => return false,
        }
        let after = shown.portrait.row();
        let changed = is_other(&before, after);
        let at = HeldProgress { seq: shown.tail.last(), doing: after.doing };
        drop(shown);
        _ = self.progress.send_replace(at);
        self.ring();
        changed
    }

    /// Lets go of what is only of use while it runs.
    pub(super) fn shrink(&self) {
        let mut shown = self.shown();
        shown.tail.clear();
        drop(mem::take(&mut shown.live));
    }
}

/// Whether a row differs in more than its time and number, which every record moves.
fn is_other(before: &Row, after: &Row) -> bool {
    let same = Row { time: after.time.clone(), seq: after.seq, ..before.clone() };
    same != *after
}

impl Shown {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest leaves live text as it is")]
    fn take(&mut self, record: &Record) {
        match &record.body {
            Body::Reply { .. } | Body::Request { .. } | Body::TurnFinished { .. } => {
                self.live.end_reply();
            }
            Body::RunFinished { .. } => self.live.end_run(),
            _ => {}
        }
        self.portrait.take(record);
        // A record was written as JSON before, so it can be.
        if let Ok(line) = serde_json::to_string(record) {
            self.tail.push(record.seq, line.into());
        }
    }
}
