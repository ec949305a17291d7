//! Answers a request of the API that the gate let pass.

use super::{
    asking::ApiAsked,
    calls::ApiCall,
    openapi::document,
    performing::perform,
    records::{RecordsAnswer, RecordsWanted, records},
};
use crate::{
    Service,
    http::{
        answers::{self, Answered},
        gate::one,
        logins::Known,
        refusal::HttpRefusal,
        routes::RouteRule,
    },
};
use bytes::Bytes;
use hyper::{
    HeaderMap, Uri,
    header::{ACCEPT, HeaderName},
};
use std::sync::Arc;
use tokio::sync::watch;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A request, with its body.
pub(in crate::http) struct ApiHttp<'a> {
    pub(in crate::http) rule: &'static RouteRule,
    pub(in crate::http) uri: &'a Uri,
    pub(in crate::http) headers: &'a HeaderMap,
    pub(in crate::http) body: Bytes,
    /// Fails to wait for more when the server ends.
    pub(in crate::http) stopped: watch::Receiver<()>,
}

/// Answers it, unless the login or token ends before.
pub(in crate::http) async fn answer<S: Service>(
    service: &Arc<S>,
    known: Known,
    call: ApiCall,
    request: ApiHttp<'_>,
) -> Result<Answered, HttpRefusal> {
    let mut watched = known.clone();
    tokio::select! {
        biased;
        () = watched.ended() => Err(HttpRefusal::NotLoggedIn),
        answer = answered(service, known, call, request) => answer,
    }
}

async fn answered<S: Service>(
    service: &Arc<S>,
    known: Known,
    call: ApiCall,
    request: ApiHttp<'_>,
) -> Result<Answered, HttpRefusal> {
    let ApiHttp { rule, uri, headers, body, stopped } = request;
    let path = rule.path.values(uri.path());
    let asked = ApiAsked { call, path: &path, query: uri.query(), body: &body };
    match call {
        ApiCall::Document => Ok(answers::json(document().to_string())),
        ApiCall::Records => {
            let accepted = one(headers, &ACCEPT)?.unwrap_or_default();
            let wanted = RecordsWanted {
                as_events: accepts_events(accepted),
                last_event: one(headers, &LAST_EVENT_ID)?,
            };
            Ok(match records(service, known, asked, wanted, stopped).await {
                RecordsAnswer::Reply(reply) => answers::api(&reply),
                RecordsAnswer::Page(page) => answers::json(page),
                RecordsAnswer::NothingMore => answers::nothing(),
                RecordsAnswer::Events(stream) => answers::events(stream.frames()),
            })
        }
        ApiCall::Sessions
        | ApiCall::Open
        | ApiCall::Session
        | ApiCall::Close
        | ApiCall::Prompt
        | ApiCall::Run
        | ApiCall::Interrupt
        | ApiCall::Restart
        | ApiCall::Resume
        | ApiCall::Fork
        | ApiCall::Changes
        | ApiCall::Apply
        | ApiCall::Discard
        | ApiCall::Undo
        | ApiCall::RewindPlan
        | ApiCall::Rewind
        | ApiCall::Grants
        | ApiCall::Questions
        | ApiCall::Answer
        | ApiCall::Models => {
            let reply = perform(service.as_ref(), known.caller.clone(), asked).await;
            Ok(answers::api(&reply))
        }
    }
}

/// Whether events are among what a client takes.
fn accepts_events(accepted: &str) -> bool {
    let mut kinds = accepted.split(',').map(|kind| kind.split(';').next().unwrap_or_default());
    kinds.any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::accepts_events;

    #[test]
    fn events_come_only_to_whoever_asks_for_them() {
        for yes in ["text/event-stream", "text/event-stream;q=1, */*", "a/b, Text/Event-Stream"] {
            assert!(accepts_events(yes), "{yes}");
        }
        for no in ["", "*/*", "text/*", "application/json", "text/event-streams"] {
            assert!(!accepts_events(no), "{no}");
        }
    }
}
