//! A subscription as the API holds one: a client of the protocol, in this process.
//!
//! The service serves it like any other. Nothing is queued beyond the lines that it sends at once:
//! it waits until they are taken. Dropping it ends it.

use crate::{Caller, Lines, Service};
use futures_util::future::BoxFuture;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use std::{borrow::Cow, io, sync::Arc};
use tokio::sync::mpsc;

/// The lines of a client in this process: one request in, everything out.
struct ApiLines {
    request: Option<String>,
    out: mpsc::Sender<Vec<String>>,
}

impl Lines for ApiLines {
    async fn next(&mut self) -> Option<String> {
        if let Some(request) = self.request.take() {
            return Some(request);
        }
        self.out.closed().await;
        None
    }

    async fn send(&mut self, lines: Vec<String>) -> io::Result<()> {
        self.out.send(lines).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// A subscription.
pub(in crate::http) struct Subscription {
    serving: Option<BoxFuture<'static, ()>>,
    out: mpsc::Receiver<Vec<String>>,
}

impl Subscription {
    /// Subscribes to a session. The first line is the reply.
    pub(in crate::http) fn begin<S: Service>(
        service: &Arc<S>,
        caller: Caller,
        session: &str,
        after: u64,
    ) -> Self {
        let request = json!({ "id": 1, "do": "subscribe", "session": session, "after": after });
        let (sender, out) = mpsc::channel(1);
        let lines = ApiLines { request: Some(request.to_string()), out: sender };
        let service = Arc::clone(service);
        let serving = async move { service.serve(caller, lines).await };
        Self { serving: Some(Box::pin(serving)), out }
    }

    /// The next lines, or nothing once the service has ended it. May be dropped at any time without
    /// losing a line.
    pub(in crate::http) async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            let Some(serving) = &mut self.serving else { return self.out.recv().await };
            tokio::select! {
                biased;
                lines = self.out.recv() => return lines,
                () = serving => self.serving = None,
            }
        }
    }
}

/// One line of a subscription.
#[derive(Debug, PartialEq)]
pub(in crate::http) enum Piece {
    /// The reply to the request.
    Reply(Value),
    Record {
        seq: u64,
        /// Whether it is the last one of its session.
        is_last: bool,
    },
    /// A piece of a reply as it comes.
    Live,
    /// The records cannot be read.
    Broken,
}

#[derive(Deserialize)]
struct Head<'a> {
    id: Option<IgnoredAny>,
    seq: Option<u64>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    live: Option<IgnoredAny>,
}

impl Piece {
    /// The kind of a line.
    pub(in crate::http) fn of(line: &str) -> Self {
        match serde_json::from_str::<Head<'_>>(line) {
            Ok(Head { seq: Some(seq), kind: Some(kind), .. }) => {
                Self::Record { seq, is_last: kind == "session_ended" }
            }
            Ok(Head { live: Some(_), .. }) => Self::Live,
            Ok(Head { id: Some(_), .. }) => {
                Self::Reply(serde_json::from_str(line).unwrap_or_default())
            }
            Ok(_) | Err(_) => Self::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let record = |kind: &str| format!(r#"{{"v":1,"seq":3,"kind":"{kind}","id":"q1"}}"#);
        assert_eq!(Piece::of(&record("question")), Piece::Record { seq: 3, is_last: false });
        assert_eq!(Piece::of(&record("session_ended")), Piece::Record { seq: 3, is_last: true });
        let live = r#"{"v":1,"session":"s","live":"text","reply":1,"offset":0,"text":"\u00e4"}"#;
        assert_eq!(Piece::of(live), Piece::Live);
        assert!(matches!(Piece::of(r#"{"id":1,"ok":{"after":0}}"#), Piece::Reply(_)));
        let broken = r#"{"v":1,"session":"s","error":{"code":"failed","message":"m"}}"#;
        assert_eq!(Piece::of(broken), Piece::Broken);
        assert_eq!(Piece::of("nonsense"), Piece::Broken);
    }
}
