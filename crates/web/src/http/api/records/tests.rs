//! Records for programs, from a service in which a session is a list of numbers.

use super::*;
use crate::{
    Caller, Lines, Right,
    http::{
        kept_tokens::{look_up, make_token},
        logins::Logins,
    },
};
use interpreter_store::{Folders, KeptTokens};
use serde_json::{Value, json};
use tokio::sync::watch::Sender;

/// One session, `s`, whose records are numbered up to a number that grows.
struct Numbers {
    last: Sender<u64>,
    has_ended: bool,
}

impl Service for Numbers {
    type Upload = crate::hub::files::FileUpload;

    async fn serve<L: Lines + 'static>(&self, caller: Caller, mut lines: L) {
        let Some(line) = lines.next().await else { return };
        let request: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&request["do"], caller.name.as_str()), (&json!("subscribe"), "ci"));
        if lines.send(vec![json!({ "id": 1, "ok": {} }).to_string()]).await.is_err() {
            return;
        }
        let mut at = request["after"].as_u64().unwrap();
        let mut last = self.last.subscribe();
        loop {
            let until = *last.borrow_and_update();
            while at < until {
                at += 1;
                let record = json!({ "v": 1, "seq": at, "session": "s", "kind": "note" });
                let piece = json!({ "v": 1, "session": "s", "live": "text", "text": "ä\n" });
                let sent = lines.send(vec![record.to_string(), piece.to_string()]);
                if sent.await.is_err() {
                    return;
                }
            }
            tokio::select! {
                _ = last.changed() => {}
                next = lines.next() => if next.is_none() { return },
            }
        }
    }

    async fn perform(&self, _: Caller, request: String) -> String {
        let request: Value = serde_json::from_str(&request).unwrap();
        if request["session"] != "s" {
            let error = ProtocolError::new(ErrorCode::UnknownSession, "there is no session");
            return json!({ "id": 1, "error": error }).to_string();
        }
        let state = if self.has_ended { "ended" } else { "idle" };
        let row = json!({ "session": "s", "state": state, "seq": *self.last.borrow() });
        json!({ "id": 1, "ok": { "sessions": [row], "questions": [] } }).to_string()
    }

    async fn begin_upload(
        &self,
        _: &Caller,
        _: &str,
        _: &str,
        _: u64,
    ) -> Result<Self::Upload, ProtocolError> {
        Err(ProtocolError::new(ErrorCode::NotOffered, "no"))
    }

    async fn open_files(
        &self,
        _: &Caller,
        _: &str,
        _: crate::files::FilesWish,
    ) -> Result<crate::files::FilesDownload, ProtocolError> {
        Err(ProtocolError::new(ErrorCode::NotOffered, "no"))
    }

    fn folders_of(&self, _: &Caller, _: &str) -> Option<Arc<interpreter_store::Folders>> {
        None
    }

    async fn wanted_to_end(&self) {
        std::future::pending::<()>().await;
    }

    async fn shut(&self) {}
}

struct Server {
    service: Arc<Numbers>,
    tokens: KeptTokens,
    /// Whoever is known ends with them.
    _logins: Logins,
    known: Known,
    stop: Sender<()>,
    _home: tempfile::TempDir,
}

fn server(last: u64, has_ended: bool) -> Server {
    let home = tempfile::tempdir().unwrap();
    let tokens = KeptTokens::new(&Folders::under(home.path()));
    let token = make_token(&tokens, "ci", &[Right::Watch], None).unwrap();
    let (mut logins, now) = (Logins::default(), std::time::Instant::now());
    look_up(&tokens, &mut logins, &token, now);
    let known = logins.by_token(&token, now).unwrap();
    let service = Arc::new(Numbers { last: Sender::new(last), has_ended });
    Server { service, tokens, _logins: logins, known, stop: Sender::new(()), _home: home }
}

impl Server {
    async fn ask(&self, session: &str, query: &str, form: Form<'_>) -> RecordsAnswer {
        let path = [("session", session)];
        let asked = ApiAsked { call: ApiCall::Records, path: &path, query: Some(query), body: b"" };
        let (as_events, last_event) = match form {
            Form::Page => (false, None),
            Form::Events => (true, None),
            Form::EventsAfter(last) => (true, Some(last)),
        };
        let wanted = RecordsWanted { as_events, last_event };
        records(&self.service, self.known.clone(), asked, wanted, self.stop.subscribe()).await
    }

    async fn page(&self, query: &str) -> Value {
        match self.ask("s", query, Form::Page).await {
            RecordsAnswer::Page(page) => serde_json::from_str(&page).unwrap(),
            RecordsAnswer::Reply(reply) => reply.body,
            RecordsAnswer::NothingMore | RecordsAnswer::Events(_) => panic!("no page"),
        }
    }

    async fn events(&self, last: Option<&str>) -> Box<ApiStream> {
        match self.ask("s", "", last.map_or(Form::Events, Form::EventsAfter)).await {
            RecordsAnswer::Events(stream) => stream,
            RecordsAnswer::Reply(_) | RecordsAnswer::Page(_) | RecordsAnswer::NothingMore => {
                panic!("no events")
            }
        }
    }
}

/// How the records are asked for.
#[derive(Clone, Copy)]
enum Form<'a> {
    Page,
    Events,
    EventsAfter(&'a str),
}

fn refusal(answer: RecordsAnswer) -> Option<u16> {
    if let RecordsAnswer::Reply(reply) = answer { Some(reply.status) } else { None }
}

fn numbers(text: &[u8]) -> Vec<u64> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

#[tokio::test]
async fn a_page_has_what_was_asked_for_and_says_whether_there_is_more() {
    let server = server(7, false);
    let page = server.page("after=2&limit=3").await;
    let seqs: Vec<_> = page["records"].as_array().unwrap().iter().map(|one| &one["seq"]).collect();
    assert_eq!(seqs, [3, 4, 5]);
    assert_eq!((&page["after"], &page["more"]), (&json!(5), &json!(true)));
    assert_eq!(server.page("after=5").await["more"], json!(false));
    for nothing in ["after=7", "after=900"] {
        assert_eq!(server.page(nothing).await["records"], json!([]));
    }
    assert_eq!(server.page("").await["records"].as_array().unwrap().len(), 7);
    assert_eq!(server.page("from=1").await["error"]["code"], "malformed");
}

#[tokio::test]
async fn an_unknown_session_is_a_refusal_in_both_forms() {
    let server = server(1, false);
    for form in [Form::Page, Form::Events, Form::EventsAfter("3")] {
        assert_eq!(refusal(server.ask("other", "", form).await), Some(404));
    }
    for wrong in ["x", "", "-1", "+1", "9007199254740992"] {
        assert_eq!(refusal(server.ask("s", "", Form::EventsAfter(wrong)).await), Some(400));
    }
}

#[tokio::test]
async fn none_is_lost_and_none_doubled_wherever_a_stream_is_cut() {
    let server = server(1, false);
    let mut seen = Vec::new();
    for cut in 0..60_u64 {
        let last = seen.last().map(u64::to_string);
        let mut stream = server.events(last.as_deref()).await;
        server.service.last.send_modify(|last| *last += cut % 4);
        let wanted = *server.service.last.borrow();
        let mut pieces = 0;
        while seen.last().is_none_or(|seen| *seen < wanted) && pieces < cut % 5 + 2 {
            seen.extend(numbers(&stream.next().await.unwrap()));
            pieces += 1;
        }
    }
    let last = *seen.last().unwrap();
    assert!(last > 50);
    assert_eq!(seen, (1..=last).collect::<Vec<_>>());
}

#[tokio::test]
async fn live_text_has_no_number_and_never_breaks_a_line() {
    let server = server(1, false);
    let mut stream = server.events(None).await;
    let mut text = String::new();
    while !text.contains("live") {
        text.push_str(std::str::from_utf8(&stream.next().await.unwrap()).unwrap());
    }
    let event = text.split("\n\n").find(|event| event.contains("live")).unwrap();
    assert!(event.starts_with("event: live\ndata: {") && event.lines().count() == 2, "{event}");
}

#[tokio::test]
async fn a_revoked_token_ends_its_stream_before_the_next_event() {
    let server = server(1, false);
    let mut stream = server.events(None).await;
    assert!(stream.next().await.is_some());
    server.tokens.revoke("ci").unwrap();
    server.service.last.send_modify(|last| *last += 1);
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn a_stream_ends_with_the_server() {
    let server = server(0, false);
    let mut stream = server.events(None).await;
    assert!(stream.next().await.is_some());
    drop(server.stop);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn the_stream_of_an_ended_session_ends_and_does_not_begin_again() {
    let server = server(3, true);
    let mut stream = server.events(None).await;
    let mut seen = Vec::new();
    while let Some(bytes) = stream.next().await {
        seen.extend(numbers(&bytes));
    }
    assert_eq!(seen, [1, 2, 3]);
    assert!(matches!(
        server.ask("s", "", Form::EventsAfter("3")).await,
        RecordsAnswer::NothingMore
    ));
    assert!(matches!(server.ask("s", "after=3", Form::Events).await, RecordsAnswer::NothingMore));
}
