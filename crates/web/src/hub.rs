//! The sessions of a server: which there are, and who is woken when something happens.
//!
//! A session belongs to nobody's connection. It goes on while no client is there, and its questions
//! wait. Everything here has a bound: sessions, what is held of each, and what is kept of those that
//! are over.

pub use self::setup::HubSetup;
pub(crate) use self::setup::MOST_SESSIONS;
use self::{
    approvers::Approvers,
    bell::Bell,
    clock::TurnTime,
    held::HeldSession,
    places::{Holder, Holders, NoPlace},
    promise::Promise,
    weights::SeenWeights,
    whose::{Member, Whose},
};
use crate::protocol::{ErrorCode, ProtocolError};
use interpreter_agent::{Context, SessionUpdates, Update, embedded::WeightsRow};
use interpreter_core::{
    redact::{Redactor, Scope},
    session::Event,
};
use interpreter_store::{Bytes, Folders, StoreError};
use std::{
    collections::{BTreeMap, VecDeque},
    future::pending,
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::{Duration, Instant},
};
use tokio::{
    sync::{Notify, watch},
    time::timeout_at,
};

pub(crate) mod allowed;
pub(crate) mod approvers;
pub(crate) mod bell;
mod clock;
pub(crate) mod files;
mod granting;
mod guest_files;
pub(crate) mod held;
pub(crate) mod listing;
mod live;
mod looking;
pub(crate) mod opening;
mod outcome;
pub(crate) mod performing;
mod places;
mod promise;
mod prompting;
mod quota;
pub(crate) mod reading;
mod rewinding;
pub(crate) mod row;
mod setup;
mod staged;
mod tail;
mod waking;
mod weights;
pub(crate) mod whose;
mod withdrawing;

/// Sessions that are over and whose row is still known.
const MOST_PAST: usize = 64;

/// How long a server that ends waits for sessions that are just beginning.
const LONGEST_BEGINNING: Duration = Duration::from_secs(5);

/// One examination at a time: of the machine, or of a whole record.
type Examining = Arc<tokio::sync::Mutex<()>>;

/// The sessions of a server.
#[derive(Clone)]
pub struct SessionHub {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    setup: HubSetup,
    pub(crate) folders: Arc<Folders>,
    whose: Whose,
    /// Who may answer in these sessions, if several people can.
    pub(crate) approvers: Option<Arc<dyn Approvers>>,
    places: Mutex<Places>,
    /// Those who watch the list.
    bells: Mutex<Vec<Weak<Bell>>>,
    ending: watch::Sender<bool>,
    /// The client that ended the server.
    ended_by: OnceLock<String>,
    /// Whenever a session has begun, or could not.
    seat_left: Notify,
    /// Held by whoever shares out what is left to a person.
    sharing_out: tokio::sync::Mutex<()>,
    /// Held by whoever wakes a session.
    waking: tokio::sync::Mutex<()>,
    /// Held by whoever has the machine or the whole record examined.
    examining: Examining,
    weights: SeenWeights,
    /// Takes secrets out of refusals: it knows those of the context that was made last.
    redactor: Mutex<Arc<Redactor>>,
}

#[derive(Default)]
struct Places {
    running: BTreeMap<String, Arc<HeldSession>>,
    /// Places that are taken by sessions which are just beginning.
    beginning: usize,
    /// Whose all these places are.
    holders: Holders,
    /// Bytes that sessions may stage, of those that run and those that are just beginning.
    promised: u64,
    past: VecDeque<Arc<HeldSession>>,
}

impl SessionHub {
    /// A server without sessions.
    pub fn new(setup: HubSetup) -> Result<Self, StoreError> {
        Self::begin(setup, Whose::Operator, None, Examining::default())
    }

    /// The sessions of whoever runs the server of a team.
    pub(crate) fn of_operator(
        setup: HubSetup,
        approvers: Arc<dyn Approvers>,
    ) -> Result<Self, StoreError> {
        Self::begin(setup, Whose::Operator, Some(approvers), Examining::default())
    }

    /// The sessions of one person of a team, in folders of their own. They take their turn with this
    /// other hub at examinations: there is one machine for all.
    pub(crate) fn of_member(
        setup: HubSetup,
        member: Member,
        approvers: Arc<dyn Approvers>,
        operator: &Self,
    ) -> Result<Self, StoreError> {
        let hub = operator.beside(setup, Whose::Person(Box::new(member)), Some(approvers))?;
        // Whoever looks for something before their first session finds nothing, and no error.
        hub.shared.folders.make_data_folder()?;
        Ok(hub)
    }

    /// Another hub on the same machine. Touches no disk.
    fn beside(
        &self,
        setup: HubSetup,
        whose: Whose,
        approvers: Option<Arc<dyn Approvers>>,
    ) -> Result<Self, StoreError> {
        let examining = Arc::clone(&self.shared.examining);
        Self::begin(setup, whose, approvers, examining)
    }

    fn begin(
        setup: HubSetup,
        whose: Whose,
        approvers: Option<Arc<dyn Approvers>>,
        examining: Examining,
    ) -> Result<Self, StoreError> {
        let environment = whose.environment();
        let folders = Arc::new(Folders::find(&environment)?.resolved());
        let known: Vec<_> = environment.secrets().collect();
        let known = known.iter().map(|(name, value)| (*name, value));
        let redactor = Redactor::of_shapes().knowing(known);
        let shared = Shared {
            setup,
            folders,
            whose,
            approvers,
            places: Mutex::default(),
            bells: Mutex::default(),
            ending: watch::Sender::new(false),
            ended_by: OnceLock::new(),
            seat_left: Notify::new(),
            sharing_out: tokio::sync::Mutex::default(),
            waking: tokio::sync::Mutex::default(),
            examining,
            weights: SeenWeights::default(),
            redactor: Mutex::new(Arc::new(redactor)),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Waits until somebody wants the server to end.
    pub async fn wanted_to_end(&self) {
        let mut ending = self.shared.ending.subscribe();
        // The sender is ours, so it is there.
        _ = ending.wait_for(|ending| *ending).await.is_ok();
    }

    /// Ends every session in order, and waits until all are over. No other one begins. One that was
    /// just about to begin is waited for only for a while: what keeps it may never answer.
    pub async fn shut(&self) {
        self.shared.end();
        let until = Instant::now() + LONGEST_BEGINNING;
        for held in self.shared.running() {
            self.shared.quit(&held);
        }
        loop {
            let changed = self.shared.seat_left.notified();
            if let Some(held) = self.shared.running().pop() {
                self.shared.quit(&held);
                held.ended().await;
                self.shared.forget(&held);
            } else if self.shared.places().beginning > 0 {
                // One was just about to begin.
                if timeout_at(until.into(), changed).await.is_err() {
                    break;
                }
            } else {
                break;
            }
        }
    }

    /// The number of sessions that run or are about to.
    pub(crate) fn count(&self) -> usize {
        let places = self.shared.places();
        places.running.len() + places.beginning
    }

    /// Waits until nothing is under way in any session, unless it is a question.
    pub async fn quiet(&self) {
        for held in self.shared.running() {
            held.quiet().await;
        }
    }
}

impl Shared {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refusals are cleaned of what this context knows to be secret.
    fn redact_like(&self, context: &Context) {
        *self.redactor.lock().unwrap_or_else(PoisonError::into_inner) = context.redactor();
    }

    /// A refusal as a client may see it.
    pub(crate) fn told(&self, mut error: ProtocolError) -> ProtocolError {
        let redactor = Arc::clone(&self.redactor.lock().unwrap_or_else(PoisonError::into_inner));
        redactor.clean(&mut error.message, Scope::All);
        if let Some(hint) = &mut error.hint {
            redactor.clean(hint, Scope::All);
        }
        error
    }

    fn list_bells(&self) -> MutexGuard<'_, Vec<Weak<Bell>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no session begins any more.
    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    /// From now on no session begins.
    pub(crate) fn end(&self) {
        _ = self.ending.send_replace(true);
    }

    /// The same, because a client wants it.
    pub(crate) fn end_by(&self, who: &str) {
        // The first of them has ended it.
        _ = self.ended_by.set(who.to_owned()).is_ok();
        self.end();
    }

    fn quit(&self, held: &HeldSession) {
        match self.ended_by.get() {
            Some(who) => held.session.send_as(who, Event::ServerEnds),
            None => held.session.send(Event::ServerEnds),
        }
    }

    /// The sessions that run.
    pub(crate) fn running(&self) -> Vec<Arc<HeldSession>> {
        self.places().running.values().cloned().collect()
    }

    /// A session that runs, or ran until a while ago.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<HeldSession>> {
        let places = self.places();
        let past = || places.past.iter().find(|held| held.id == id);
        places.running.get(id).or_else(past).cloned()
    }

    /// Wakes this client when a row changes.
    pub(crate) fn wake_for_rows(&self, bell: &Arc<Bell>) {
        let mut bells = self.list_bells();
        bells.retain(|other| {
            other.strong_count() > 0 && !std::ptr::eq(other.as_ptr(), Arc::as_ptr(bell))
        });
        bells.push(Arc::downgrade(bell));
    }

    /// Those who are woken when a row changes.
    pub(crate) fn bells_of_list(&self) -> Vec<Arc<Bell>> {
        self.list_bells().iter().filter_map(Weak::upgrade).collect()
    }

    /// Wakes it for that no more.
    pub(crate) fn let_sleep(&self, bell: &Arc<Bell>) {
        self.list_bells().retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(bell)));
    }

    fn row_changed(&self, session: &str) {
        for bell in self.list_bells().iter().filter_map(Weak::upgrade) {
            bell.ring_for_row(session);
        }
    }

    /// The embedded models, as they were seen last.
    pub(crate) fn weights(&self) -> Vec<WeightsRow> {
        self.weights.rows()
    }

    fn weights_changed(&self) {
        for bell in self.list_bells().iter().filter_map(Weak::upgrade) {
            bell.ring_for_weights();
        }
    }

    /// Takes a place for a session that is about to begin, if fewer than `most` are taken.
    fn take_place(
        self: &Arc<Self>,
        most: usize,
        promise: Promise,
        holder: Holder,
    ) -> Result<Seat, ProtocolError> {
        let mut places = self.places();
        // Behind the lock: whoever ends the server sees this place, or this sees the end.
        if self.is_ending() {
            return Err(ProtocolError::new(ErrorCode::Ending, "the server is ending"));
        }
        let taken = places.running.len() + places.beginning;
        if taken >= most {
            return Err(self.whose.too_many(most));
        }
        places.holders.check(&holder, taken).map_err(NoPlace::refusal)?;
        places.beginning += 1;
        places.promised += promise.bytes();
        places.holders.add(&holder);
        Ok(Seat { shared: Arc::clone(self), promise, holder })
    }

    /// Bytes that the sessions may stage.
    fn promised(&self) -> u64 {
        self.places().promised
    }

    /// Takes a session in, and follows it from now on.
    fn admit(
        self: &Arc<Self>,
        mut seat: Seat,
        mut held: HeldSession,
        updates: SessionUpdates,
    ) -> Arc<HeldSession> {
        held.promised = mem::take(&mut seat.promise).bytes();
        held.holder = mem::take(&mut seat.holder);
        let held = Arc::new(held);
        self.places().running.insert(held.id.clone(), Arc::clone(&held));
        drop(seat);
        tokio::spawn(follow(Arc::clone(self), Arc::clone(&held), updates));
        held
    }

    /// A session is over.
    fn forget(&self, held: &Arc<HeldSession>) {
        let mut places = self.places();
        if places.running.remove(&held.id).is_some() {
            places.promised -= held.promised;
            places.holders.remove(&held.holder);
            held.shrink();
            places.past.push_back(Arc::clone(held));
            if places.past.len() > MOST_PAST {
                places.past.pop_front();
            }
        }
    }
}

/// A place among the sessions, until it is dropped.
struct Seat {
    shared: Arc<Shared>,
    promise: Promise,
    holder: Holder,
}

impl Seat {
    /// Bounds what a session stages by what it was promised, and gives back what it does not need.
    fn bound(&mut self, staged: &mut Bytes) {
        let needed = self.promise.bound(staged);
        self.shared.places().promised -= self.promise.bytes() - needed.bytes();
        self.promise = needed;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut places = self.shared.places();
        places.beginning -= 1;
        places.promised -= self.promise.bytes();
        places.holders.remove(&self.holder);
        drop(places);
        self.shared.seat_left.notify_waiters();
    }
}

/// Follows a session until it is over. Waits for no client.
async fn follow(shared: Arc<Shared>, held: Arc<HeldSession>, mut updates: SessionUpdates) {
    let mut clock = TurnTime::new(held.context.settings.turn_limit.value.seconds());
    // Without its last update it broke off, which is a bug; then it is over too.
    let mut last = Update::Ended(Ok(()));
    loop {
        let update = tokio::select! {
            update = updates.next() => update,
            () = until(clock.due()) => {
                held.session.send(Event::TimeUp(clock.stop()));
                continue;
            }
        };
        match update {
            Some(ended @ Update::Ended(_)) => last = ended,
            Some(update) => {
                if held.hear(&update) {
                    shared.row_changed(&held.id);
                }
                clock.follow(held.doing(), Instant::now());
            }
            // Its loop has let go of everything, also of its lock.
            None => break,
        }
    }
    held.hear(&last);
    shared.forget(&held);
    shared.row_changed(&held.id);
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::Overrides;
    use std::path::PathBuf;

    #[test]
    fn whoever_races_for_places_gets_no_more_than_there_are() {
        let (work_folder, overrides) = (PathBuf::from("/"), Overrides::default());
        let setup = HubSetup { work_folder, program: PathBuf::new(), overrides, steps: None };
        let hub = SessionHub::new(setup).unwrap();
        let start = std::sync::Barrier::new(8);
        let seats: Vec<Vec<Seat>> = std::thread::scope(|scope| {
            let racers = (0..8).map(|_| {
                scope.spawn(|| {
                    start.wait();
                    // Kept, so that none comes back while others race.
                    (0..MOST_SESSIONS)
                        .filter_map(|_| {
                            hub.shared.take_place(MOST_SESSIONS, Promise::default(), None).ok()
                        })
                        .collect()
                })
            });
            racers.collect::<Vec<_>>().into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let taken: usize = seats.iter().map(Vec::len).sum();
        assert_eq!((taken, hub.count()), (MOST_SESSIONS, MOST_SESSIONS));
        drop(seats);
        assert_eq!(hub.count(), 0);
    }

    #[test]
    fn one_examination_is_made_at_a_time_for_the_whole_team() {
        let (work_folder, overrides) = (PathBuf::from("/"), Overrides::default());
        let setup = HubSetup { work_folder, program: PathBuf::new(), overrides, steps: None };
        let operator = SessionHub::new(setup.clone()).unwrap();
        let beside = || operator.beside(setup.clone(), Whose::Operator, None).unwrap();
        let (one, other) = (beside(), beside());
        let alone = one.examine_alone().unwrap();
        for hub in [&one, &other, &operator] {
            assert_eq!(hub.examine_alone().unwrap_err().code, ErrorCode::Busy);
        }
        drop(alone);
        assert!(other.examine_alone().is_ok());
    }

    #[test]
    fn places_are_bounded_and_come_back() {
        let (work_folder, overrides) = (PathBuf::from("/"), Overrides::default());
        let setup = HubSetup { work_folder, program: PathBuf::new(), overrides, steps: None };
        let hub = SessionHub::new(setup).unwrap();
        let code = || {
            hub.shared
                .take_place(MOST_SESSIONS, Promise::default(), None)
                .err()
                .map(|error| error.code)
        };
        let mut seats: Vec<_> = (0..MOST_SESSIONS)
            .map(|_| {
                hub.shared
                    .take_place(MOST_SESSIONS, Promise::default(), None)
                    .unwrap_or_else(|_| panic!())
            })
            .collect();
        assert_eq!(code(), Some(ErrorCode::TooMany));
        seats.pop();
        assert_eq!(code(), None);
        hub.shared.end();
        assert_eq!(code(), Some(ErrorCode::Ending));
    }
}
