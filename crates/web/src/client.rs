//! Serves one client: its requests, and the records that it subscribed to.
//!
//! # Threat
//! A client that does not read, or sends without end; a connection that is cut anywhere.
//!
//! # Mechanism
//! A subscription is a place in a session. Whoever reads slowly falls behind and catches up from the
//! record; nothing waits in a queue. No further line is read while too many requests are under way.
//! Requests begin in the order in which they came.

use crate::{
    Caller, Lines, SessionHub,
    hub::{
        bell::{Bell, News},
        held::{HeldSession, Place, Taken},
        opening::unknown,
        performing::check_rights,
        reading::{Page, page},
    },
    people::reaching::without_details,
    protocol::{
        ErrorCode, ProtocolError, RequestId, Verb, broken_line, error_line, ok_line, read,
        row_line, weights_line,
    },
    reach::Reach,
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// Requests of one client that are under way.
const MOST_PENDING: usize = 64;

/// How long the requests that are under way when the server has ended may take.
const LAST_REPLIES: Duration = Duration::from_secs(5);

/// Subscriptions of one client.
const MOST_WATCHED: usize = 64;

/// Bytes of one session that are sent before it is another one's turn.
const AT_ONCE: usize = 256 << 10;

/// The same of its beginning: something is shown while the rest is on its way.
const FIRST: usize = 32 << 10;

/// The meaning of the end of a client's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// The client leaves, and sessions go on.
    Leave,
    /// It was the only one: what is under way is finished, and then every session ends.
    EndAll,
}

/// A session that a client receives.
struct Watched {
    /// Where it is. A session that somebody shared is there as long as they do.
    hub: SessionHub,
    source: Source,
    place: Place,
}

#[derive(Clone)]
enum Source {
    /// It runs here, or has run.
    Held(Arc<HeldSession>),
    /// It is on record.
    Past,
}

/// A request that was performed.
struct Finished {
    id: RequestId,
    outcome: Result<Value, ProtocolError>,
    /// The subscription that begins with its reply.
    watch: Option<Subscription>,
}

/// A subscription that is about to begin.
struct Subscription {
    session: String,
    /// By which it is known that nobody has ended it meanwhile.
    number: u64,
    /// Nothing if there is no such session.
    watched: Option<Watched>,
}

struct Client<R> {
    hub: R,
    caller: Caller,
    bell: Arc<Bell>,
    watched: BTreeMap<String, Watched>,
    /// Subscriptions whose request is under way. Another one of the session takes its place, and an
    /// end takes it away.
    expected: BTreeMap<String, u64>,
    /// Subscriptions so far.
    subscriptions: u64,
    /// Sessions that have news, the one whose turn it is first.
    ready: VecDeque<String>,
    /// Lines of the list that are due.
    rows: Vec<String>,
    watches_rows: bool,
    pending: FuturesUnordered<BoxFuture<'static, Finished>>,
}

/// Serves a client until it is gone, or the server ends.
pub(crate) async fn serve<R: Reach>(
    hub: &R,
    caller: Caller,
    mut lines: impl Lines,
    at_end: AtEnd,
) -> io::Result<()> {
    let mut client = Client::new(hub, caller);
    let (mut is_open, mut is_over) = (true, false);
    let mut ending: Option<BoxFuture<'static, ()>> = None;
    let mut patience = Instant::now();
    let wanted_to_end = hub.wanted_to_end();
    tokio::pin!(wanted_to_end);
    loop {
        client.take_news();
        let is_idle = client.pending.is_empty() && client.is_caught_up();
        if is_idle && (is_over || (!is_open && at_end == AtEnd::Leave)) {
            return Ok(());
        }
        let is_last = !is_open && at_end == AtEnd::EndAll && client.pending.is_empty();
        if is_last && ending.is_none() && !is_over {
            ending = Some(finish(hub.clone()).boxed());
        }
        tokio::select! {
            biased;
            Some(finished) = client.pending.next() => {
                let reply = client.finished(finished);
                lines.send(vec![reply]).await?;
            }
            line = lines.next(), if is_open && client.pending.len() < MOST_PENDING => match line {
                Some(line) => {
                    if let Some(refused) = client.accept(&line) {
                        lines.send(vec![refused]).await?;
                    }
                }
                None => is_open = false,
            },
            () = async { match &mut ending { Some(ending) => ending.await, None => std::future::pending().await } } => {
                (ending, is_over) = (None, true);
                patience = Instant::now() + LAST_REPLIES;
            }
            () = sleep_until(patience), if is_over && !client.pending.is_empty() => {
                // Whatever keeps them, the server ends.
                client.pending.clear();
            }
            () = &mut wanted_to_end, if ending.is_none() && !is_over => {
                let hub = hub.clone();
                ending = Some(async move { hub.shut().await }.boxed());
            }
            () = std::future::ready(()), if !client.is_caught_up() => {
                let due = client.due().await;
                if !due.is_empty() {
                    lines.send(due).await?;
                }
            }
            () = client.bell.rung() => {}
        }
    }
}

/// Waits for what is under way, then ends everything.
async fn finish(hub: impl Reach) {
    hub.quiet().await;
    hub.shut().await;
}

impl<R: Reach> Client<R> {
    fn new(hub: &R, caller: Caller) -> Self {
        Self {
            hub: hub.clone(),
            caller,
            bell: Arc::default(),
            watched: BTreeMap::new(),
            expected: BTreeMap::new(),
            subscriptions: 0,
            ready: VecDeque::new(),
            rows: Vec::new(),
            watches_rows: false,
            pending: FuturesUnordered::new(),
        }
    }

    fn is_caught_up(&self) -> bool {
        self.ready.is_empty() && self.rows.is_empty()
    }

    /// Takes in a line. Returns the reply if it is no request.
    fn accept(&mut self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let request = match read(line) {
            Ok(request) => request,
            Err((id, error)) => return Some(error_line(id.as_ref(), &error)),
        };
        let id = request.id;
        if let Verb::Subscribe { session, after, off, .. } = &request.verb {
            if let Err(error) = check_rights(&self.caller, &request.verb) {
                return Some(error_line(Some(&id), &error));
            }
            return match session {
                Some(session) if *off => Some(self.unwatch(&id, session)),
                Some(session) => self.watch(id, session.clone(), after.unwrap_or_default()),
                None => Some(self.watch_rows(&id, *off)),
            };
        }
        let (hub, caller) = (self.hub.clone(), self.caller.clone());
        let performed = async move {
            let outcome = hub.perform_verb(&caller, request.verb).await;
            Finished { id, outcome, watch: None }
        };
        self.pending.push(performed.boxed());
        None
    }

    fn unwatch(&mut self, id: &RequestId, session: &str) -> String {
        self.expected.remove(session);
        self.let_go(session);
        ok_line(id, &json!({}))
    }

    /// Whether the session is still where it was when the subscription began. A share that was taken
    /// back leads there no more.
    fn may_still_watch(&self, session: &str) -> bool {
        match (self.watched.get(session), self.hub.hub_of(&self.caller, session)) {
            (Some(watched), Some(hub)) => watched.hub.is(&hub),
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    /// Whether these are the sessions of the client itself.
    fn is_own(&self, hub: &SessionHub) -> bool {
        self.hub.hubs(&self.caller).first().is_some_and(|own| own.is(hub))
    }

    fn let_go(&mut self, session: &str) {
        if let Some(Watched { source: Source::Held(held), .. }) = self.watched.remove(session) {
            held.let_sleep(&self.bell);
        }
        self.ready.retain(|one| one != session);
    }

    fn watch_rows(&mut self, id: &RequestId, off: bool) -> String {
        self.watches_rows = !off;
        self.rows.clear();
        for hub in self.hub.hubs(&self.caller) {
            if off {
                hub.shared.let_sleep(&self.bell);
            } else {
                hub.shared.wake_for_rows(&self.bell);
            }
        }
        if !off {
            self.all_rows();
        }
        ok_line(id, &json!({}))
    }

    /// Begins a subscription. Returns the reply if there are too many.
    fn watch(&mut self, id: RequestId, session: String, after: u64) -> Option<String> {
        if self.watched.len() >= MOST_WATCHED && !self.watched.contains_key(&session) {
            let text = format!("one client has {MOST_WATCHED} subscriptions at most");
            let error = ProtocolError::new(ErrorCode::TooMany, text);
            return Some(error_line(Some(&id), &error));
        }
        self.subscriptions += 1;
        let number = self.subscriptions;
        self.expected.insert(session.clone(), number);
        let hub = self.hub.hub_of(&self.caller, &session);
        let is_own = hub.as_ref().is_some_and(|hub| self.is_own(hub));
        let found = async move {
            let found = match hub {
                Some(hub) => match find(&hub, &session).await {
                    Ok(found) => Ok((hub, found)),
                    Err(error) if is_own => Err(hub.shared.told(error)),
                    Err(error) => Err(without_details(error)),
                },
                None => Err(unknown(&session)),
            };
            let (outcome, watched) = match found {
                Ok((hub, (last, source))) => {
                    let after = after.min(last);
                    let watched = Watched { hub, source, place: Place::after(after) };
                    (Ok(json!({ "after": after })), Some(watched))
                }
                Err(error) => (Err(error), None),
            };
            Finished { id, outcome, watch: Some(Subscription { session, number, watched }) }
        };
        self.pending.push(found.boxed());
        None
    }

    /// The reply to a request, and what begins with it.
    fn finished(&mut self, finished: Finished) -> String {
        let Finished { id, outcome, watch } = finished;
        if let Some(Subscription { session, number, watched }) = watch
            && self.expected.get(&session) == Some(&number)
            && self.expected.remove(&session).is_some()
            && let Some(watched) = watched
        {
            if self.watched.len() >= MOST_WATCHED && !self.watched.contains_key(&session) {
                let error = ProtocolError::new(ErrorCode::TooMany, "too many subscriptions");
                return error_line(Some(&id), &error);
            }
            if let Source::Held(held) = &watched.source {
                held.wake(&self.bell);
            }
            self.due_now(&session);
            self.watched.insert(session, watched);
        }
        match outcome {
            Ok(ok) => ok_line(&id, &ok),
            Err(error) => error_line(Some(&id), &error),
        }
    }

    fn due_now(&mut self, session: &str) {
        if !self.ready.iter().any(|one| one == session) {
            self.ready.push_back(session.to_owned());
        }
    }

    fn all_rows(&mut self) {
        let mut rows = Vec::new();
        for hub in self.hub.hubs(&self.caller) {
            let is_seen = |held: &&Arc<HeldSession>| {
                self.hub.hub_of(&self.caller, &held.id).is_some_and(|seen| seen.is(&hub))
            };
            let running = hub.shared.running();
            let seen = running.iter().filter(is_seen);
            rows.extend(seen.map(|held| row_line(&held.id, &held.row())));
        }
        self.rows = rows;
    }

    fn take_news(&mut self) {
        let News { sessions, rows, all_rows, weights } = self.bell.take();
        for session in sessions {
            if self.watched.contains_key(&session) {
                self.due_now(&session);
            }
        }
        if !self.watches_rows {
            return;
        }
        if all_rows {
            self.all_rows();
        } else {
            // Of the sessions of others, those that this client may see.
            for session in rows {
                let hub = self.hub.hub_of(&self.caller, &session);
                if let Some(held) = hub.and_then(|hub| hub.shared.find(&session)) {
                    self.rows.push(row_line(&session, &held.row()));
                }
            }
        }
        if weights {
            let own = self.hub.hubs(&self.caller).into_iter().next();
            self.rows.extend(own.map(|hub| weights_line(&hub.shared.weights())));
        }
    }

    /// The lines that are due: rows, and the next of the session whose turn it is.
    async fn due(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.rows);
        let Some(session) = self.ready.pop_front() else { return lines };
        if !self.may_still_watch(&session) {
            self.let_go(&session);
            lines.push(broken_line(&session, &unknown(&session)));
            return lines;
        }
        let Some(Watched { hub, source, place }) = self.watched.get_mut(&session) else {
            return lines;
        };
        let bytes = if place.after == 0 { FIRST } else { AT_ONCE };
        if let Source::Held(held) = source
            && let Taken::Lines { lines: taken, is_all } = held.take(place, bytes)
        {
            lines.extend(taken);
            if !is_all {
                self.due_now(&session);
            }
            return lines;
        }
        match page(&hub.shared.folders, &session, place.after).await {
            Ok(Page { lines: taken, last }) => {
                place.after = last;
                if !taken.is_empty() {
                    self.due_now(&session);
                }
                lines.extend(taken.iter().map(|line| line.as_ref().to_owned()));
            }
            Err(error) => {
                let hub = self.watched.remove(&session).map(|watched| watched.hub);
                let error = match hub.filter(|hub| self.is_own(hub)) {
                    Some(hub) => hub.shared.told(error),
                    None => without_details(error),
                };
                lines.push(broken_line(&session, &error));
            }
        }
        lines
    }
}

/// A session, and the number of its newest record.
async fn find(hub: &SessionHub, session: &str) -> Result<(u64, Source), ProtocolError> {
    match hub.shared.find(session) {
        Some(held) => Ok((held.last(), Source::Held(held))),
        None => hub.summary(session).await.map(|past| (past.records, Source::Past)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HubSetup, RightSet};
    use interpreter_store::Overrides;
    use std::path::PathBuf;

    /// The reply to the subscription of this number, which found its session in the record.
    fn found(hub: &SessionHub, number: u64) -> Finished {
        let (source, place) = (Source::Past, Place::after(0));
        let watched = Some(Watched { hub: hub.clone(), source, place });
        let watch = Some(Subscription { session: "s".into(), number, watched });
        Finished { id: RequestId::Number(1), outcome: Ok(json!({})), watch }
    }

    #[test]
    fn a_subscription_that_is_ended_before_it_begins_does_not_begin() {
        let (work_folder, overrides) = (PathBuf::from("/"), Overrides::default());
        let setup = HubSetup { work_folder, program: PathBuf::new(), overrides, steps: None };
        let hub = SessionHub::new(setup).unwrap();
        let caller = Caller::operator("test", RightSet::all());
        let mut client = Client::new(&hub, caller);
        let id = RequestId::Number(1);
        assert!(client.watch(id.clone(), "s".into(), 0).is_none());
        client.unwatch(&id, "s");
        client.finished(found(&hub, 1));
        assert!(client.watched.is_empty() && client.is_caught_up());
        // Of two, the later one counts.
        assert!(client.watch(id.clone(), "s".into(), 0).is_none());
        assert!(client.watch(id.clone(), "s".into(), 7).is_none());
        client.finished(found(&hub, 2));
        assert!(client.watched.is_empty());
        client.finished(found(&hub, 3));
        assert!(client.watched.contains_key("s") && client.expected.is_empty());
        // One that finds no session leaves nothing behind.
        assert!(client.watch(id, "s".into(), 0).is_none());
        let nothing = Subscription { session: "s".into(), number: 4, watched: None };
        client.finished(Finished { watch: Some(nothing), ..found(&hub, 4) });
        assert!(client.expected.is_empty());
    }
}
