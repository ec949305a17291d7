//! The records of a session: a page of them, or all that come, as server-sent events.
//!
//! # Threat
//! A client that is cut off anywhere, so that it lacks records or has some twice; one whose token
//! was revoked and whose stream goes on.
//!
//! # Mechanism
//! The id of an event is the number of its record. Whoever comes back names the last one that it
//! has, and the service begins behind it. Nothing is held for a client that reads slowly. Before
//! each piece the login is looked at, and with it the stream ends. The stream of a session that has
//! ended ends too, and whoever then comes back gets 204, which browsers take as the end.

use super::{
    asking::{ApiAsked, malformed, whole},
    calls::ApiCall,
    performing::perform,
    replies::ApiReply,
    subscription::{Piece, Subscription},
};
use crate::{
    Service,
    http::logins::Known,
    protocol::{ErrorCode, ProtocolError},
};
use bytes::Bytes;
use futures_util::{Stream, stream::unfold};
use std::{fmt::Write, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};

/// Records of a page, unless the request names a number, and at most.
const USUAL: u64 = 500;
const MOST: u64 = 1_000;

/// Bytes after which a page ends.
const MOST_BYTES: usize = 4 << 20;

/// How often a quiet stream shows that it is there.
const BEAT: Duration = Duration::from_secs(15);

/// How a client wants the records.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct RecordsWanted<'a> {
    /// As events, rather than as one page.
    pub(in crate::http) as_events: bool,
    /// The header `Last-Event-ID`.
    pub(in crate::http) last_event: Option<&'a str>,
}

/// The records, or why there are none.
pub(in crate::http) enum RecordsAnswer {
    Reply(ApiReply),
    /// The JSON of a page.
    Page(String),
    /// The session has ended, and the client has all of it.
    NothingMore,
    Events(Box<ApiStream>),
}

/// Answers a request for records.
pub(in crate::http) async fn records<S: Service>(
    service: &Arc<S>,
    known: Known,
    asked: ApiAsked<'_>,
    wanted: RecordsWanted<'_>,
    stopped: watch::Receiver<()>,
) -> RecordsAnswer {
    match find(service, &known, asked, wanted).await {
        Err(refused) => RecordsAnswer::Reply(refused),
        Ok(found) if !wanted.as_events => match page(service, known, &found).await {
            Ok(page) => RecordsAnswer::Page(page),
            Err(refused) => RecordsAnswer::Reply(refused),
        },
        Ok(found) if found.has_ended && found.after >= found.last => RecordsAnswer::NothingMore,
        Ok(found) => match ApiStream::begin(service, known, &found, stopped).await {
            Ok(stream) => RecordsAnswer::Events(Box::new(stream)),
            Err(refused) => RecordsAnswer::Reply(refused),
        },
    }
}

/// A session on record, and the part of it to show.
struct FoundRecords {
    session: String,
    after: u64,
    limit: u64,
    /// The number of the newest record.
    last: u64,
    has_ended: bool,
}

async fn find<S: Service>(
    service: &Arc<S>,
    known: &Known,
    asked: ApiAsked<'_>,
    wanted: RecordsWanted<'_>,
) -> Result<FoundRecords, ApiReply> {
    let refused = |error: ProtocolError| ApiReply::refused(&error);
    let parameters = asked.parameters().map_err(refused)?;
    let not_a_number = || refused(malformed("`Last-Event-ID` must be a number"));
    let last_event = wanted.last_event.map(|last| whole(last).ok_or_else(not_a_number));
    let last_event = last_event.transpose()?.filter(|_| wanted.as_events);
    let after = parameters.get("after").and_then(serde_json::Value::as_u64);
    let limit = parameters.get("limit").and_then(serde_json::Value::as_u64);
    let row = ApiAsked { call: ApiCall::Session, query: None, ..asked };
    let row = perform(service.as_ref(), known.caller.clone(), row).await;
    if row.status != 200 {
        return Err(row);
    }
    Ok(FoundRecords {
        session: asked.in_path("session").to_owned(),
        after: last_event.or(after).unwrap_or_default(),
        limit: limit.unwrap_or(USUAL).clamp(1, MOST),
        last: row.body["seq"].as_u64().unwrap_or_default(),
        has_ended: row.body["state"] == "ended",
    })
}

fn broken() -> ApiReply {
    ApiReply::refused(&ProtocolError::new(ErrorCode::Failed, "the records cannot be read"))
}

/// One page, as JSON.
async fn page<S: Service>(
    service: &Arc<S>,
    known: Known,
    found: &FoundRecords,
) -> Result<String, ApiReply> {
    let FoundRecords { session, after, limit, last, .. } = found;
    let mut records = String::new();
    let (mut at, mut count) = (*after, 0);
    let mut subscription = Subscription::begin(service, known.caller.clone(), session, *after);
    'all: while at < *last {
        let lines = subscription.next().await.ok_or_else(broken)?;
        for line in lines {
            match Piece::of(&line) {
                Piece::Reply(reply) if reply["error"].is_object() => {
                    return Err(ApiReply::of(ApiCall::Records, &line));
                }
                Piece::Reply(_) | Piece::Live => {}
                Piece::Broken => return Err(broken()),
                Piece::Record { seq, .. } => {
                    if count > 0 {
                        records.push(',');
                    }
                    records.push_str(&line);
                    (at, count) = (seq, count + 1);
                    if count >= *limit || records.len() > MOST_BYTES || at >= *last {
                        break 'all;
                    }
                }
            }
        }
    }
    let more = at < *last;
    Ok(format!(r#"{{"records":[{records}],"after":{at},"more":{more}}}"#))
}

/// Records as they come.
pub(in crate::http) struct ApiStream {
    subscription: Subscription,
    known: Known,
    /// Fails to wait for more when the server ends.
    stopped: watch::Receiver<()>,
    beat: Interval,
    /// Events to be sent next.
    due: Option<EventText>,
    /// The last record of a session that had ended.
    until: Option<u64>,
    is_over: bool,
}

impl ApiStream {
    /// Subscribes, so that a refusal comes before the first byte.
    async fn begin<S: Service>(
        service: &Arc<S>,
        known: Known,
        found: &FoundRecords,
        stopped: watch::Receiver<()>,
    ) -> Result<Self, ApiReply> {
        let caller = known.caller.clone();
        let mut subscription = Subscription::begin(service, caller, &found.session, found.after);
        let first = subscription.next().await.ok_or_else(broken)?;
        if let Some(reply) = first.first()
            && let Piece::Reply(parsed) = Piece::of(reply)
            && parsed["error"].is_object()
        {
            return Err(ApiReply::of(ApiCall::Records, reply));
        }
        let until = found.has_ended.then_some(found.last);
        let mut due = EventText::default();
        due.text.push_str("retry: 1000\n\n");
        due.add(&first, until);
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let due = Some(due);
        Ok(Self { subscription, known, stopped, beat, due, until, is_over: false })
    }

    /// The next bytes, or nothing at the end.
    pub(in crate::http) async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            let event = match self.due.take() {
                Some(due) => due,
                None => self.wait().await?,
            };
            if self.known.is_gone() {
                return None;
            }
            self.is_over = event.is_last;
            if !event.text.is_empty() {
                return Some(event.text.into());
            }
        }
        None
    }

    /// All of them, one after another.
    pub(in crate::http) fn frames(self) -> impl Stream<Item = Bytes> + Send + 'static {
        unfold(self, async |mut stream| Some((stream.next().await?, stream)))
    }

    async fn wait(&mut self) -> Option<EventText> {
        let lines = tokio::select! {
            biased;
            () = self.known.ended() => return None,
            _ = self.stopped.changed() => return None,
            lines = self.subscription.next() => lines?,
            _ = self.beat.tick() => {
                return Some(EventText { text: ": beat\n\n".into(), is_last: false });
            }
        };
        let mut event = EventText::default();
        event.add(&lines, self.until);
        Some(event)
    }
}

/// Events, as they are sent.
#[derive(Debug, Default, PartialEq, Eq)]
struct EventText {
    text: String,
    is_last: bool,
}

impl EventText {
    fn add(&mut self, lines: &[String], until: Option<u64>) {
        for line in lines {
            // Lines of JSON have no line break.
            let written = match Piece::of(line) {
                Piece::Reply(_) => Ok(()),
                Piece::Record { seq, is_last } => {
                    self.is_last |= is_last || until.is_some_and(|until| seq >= until);
                    write!(self.text, "id: {seq}\ndata: {line}\n\n")
                }
                Piece::Live => write!(self.text, "event: live\ndata: {line}\n\n"),
                Piece::Broken => {
                    self.is_last = true;
                    write!(self.text, "event: failed\ndata: {line}\n\n")
                }
            };
            debug_assert!(written.is_ok(), "writing to memory does not fail");
        }
    }
}

#[cfg(test)]
mod tests;
