//! Replies and failures of a model behind an address.

use crate::server::{Server, Then, answer, read_request};
use interpreter_core::{Message, Reply, Secret, WireFormat};
use interpreter_model::{
    Endpoint, Headway, Model, ModelError, ReplyPiece, Request, Timeouts, Tools, Wait,
};
use std::{error::Error, fmt::Write as _, sync::Arc, time::Duration};
use tokio::sync::mpsc;

const KEY: &str = "sk-canary-0123456789";
pub(crate) const EVENTS: &str = "Content-Type: text/event-stream; charset=utf-8";
const JSON: &str = "Content-Type: application/json";
pub(crate) const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n";
pub(crate) const END: &str =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub(crate) fn endpoint(address: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(WireFormat::OpenAi, address, "gpt-x");
    endpoint.key = Some(Secret::new(format!("{KEY}\n")));
    endpoint.retries.most = 0;
    endpoint.timeouts = Timeouts {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        wordless: Duration::from_secs(20),
    };
    endpoint
}

pub(crate) fn request() -> Request {
    Request {
        messages: vec![Message::user("Hello")].into(),
        tools: Tools::None,
        max_tokens: Some(10),
        temperature: Some(0.0),
    }
}

pub(crate) async fn ask(model: &Model) -> (Vec<ReplyPiece>, Result<Reply, ModelError>) {
    let (sink, mut pieces) = mpsc::channel(100);
    let reply = model.stream(&request(), &sink).await;
    drop(sink);
    let mut seen = Vec::new();
    while let Some(piece) = pieces.recv().await {
        if !matches!(piece, ReplyPiece::Headway(_) | ReplyPiece::Price(_)) {
            seen.push(piece);
        }
    }
    (seen, reply)
}

/// The error of a call, which must not hold the key in any of its forms.
async fn error(endpoint: Endpoint) -> (Vec<ReplyPiece>, ModelError) {
    let (pieces, reply) = ask(&Model::remote(endpoint).unwrap()).await;
    let error = reply.unwrap_err();
    let mut shown = format!("{error:?}");
    let mut cause: Option<&dyn Error> = Some(&error);
    while let Some(error) = cause {
        write!(shown, "{error} {error:?}").unwrap();
        cause = error.source();
    }
    assert!(!shown.contains("canary"), "the key is in an error: {shown}");
    (pieces, error)
}

async fn error_of(server: &Server) -> (Vec<ReplyPiece>, ModelError) {
    error(endpoint(&server.address)).await
}

fn half() -> Vec<ReplyPiece> {
    vec![ReplyPiece::Text("Half".into())]
}

#[tokio::test]
async fn a_reply_is_streamed_in_the_openai_format() {
    let parts = vec![answer("200 OK", &[EVENTS], ""), HALF.into(), ": ping\n\n".into(), END.into()];
    let server = Server::new(parts, Then::Hang).await;
    let model = Model::remote(endpoint(&server.address)).unwrap();
    assert_eq!(model.name(), "openai/gpt-x");
    assert_eq!(model.tools(), Tools::Offer);
    let (pieces, reply) = ask(&model).await;
    assert_eq!(pieces, half());
    assert_eq!(reply.unwrap().text.raw(), "Half");

    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
    assert!(request.contains("\"temperature\":0.0"), "{request}");
}

#[tokio::test]
async fn a_reply_is_streamed_in_the_anthropic_format() {
    let events = "event: content_block_delta\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n\
        event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let server = Server::of("200 OK", &[EVENTS], events).await;
    let mut anthropic = Endpoint::new(WireFormat::Anthropic, &server.address, "gpt-x");
    anthropic.key = Some(Secret::new(KEY.into()));
    let model = Model::remote(anthropic).unwrap();
    assert_eq!(model.name(), "anthropic/gpt-x");
    let (pieces, reply) = ask(&model).await;
    assert_eq!(pieces, half());
    assert_eq!(reply.unwrap().text.raw(), "Half");

    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("x-api-key: {KEY}\r\n")), "{request}");
    assert!(request.contains("anthropic-version: 2023-06-01\r\n"), "{request}");
}

#[tokio::test]
async fn a_reply_counts_although_nobody_watches() {
    let server = Server::of("200 OK", &[EVENTS], format!("{HALF}{END}")).await;
    let model = Model::remote(endpoint(&server.address)).unwrap();
    let (sink, pieces) = mpsc::channel(1);
    drop(pieces);
    assert_eq!(model.stream(&request(), &sink).await.unwrap().text.raw(), "Half");
}

#[tokio::test]
async fn nobody_there_is_told_with_the_host() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_, error) = error(endpoint(&format!("http://{free}/v1?key={KEY}"))).await;
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("`{free}` cannot be reached"));
}

#[tokio::test]
async fn a_refused_key_is_told_without_the_key() {
    let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\"}}}}");
    let server = Server::of("401 Unauthorized", &[JSON], body).await;
    let (_, error) = error_of(&server).await;
    assert!(matches!(error, ModelError::KeyRefused { .. }), "{error:?}");
    assert!(error.to_string().ends_with("Incorrect API key provided: [secret]."), "{error}");
}

#[tokio::test]
async fn a_missing_key_is_told_as_missing() {
    let server = Server::of("401 Unauthorized", &[], "").await;
    let mut endpoint = endpoint(&server.address);
    endpoint.key = None;
    let (_, error) = error(endpoint).await;
    assert!(matches!(error, ModelError::KeyMissing { .. }), "{error:?}");
    assert!(!server.requests()[0].contains("authorization"));
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_not_shown() {
    let server = Server::of("200 OK", &[EVENTS], END).await;
    let mut endpoint = endpoint(&server.address);
    endpoint.key = Some(Secret::new(format!("{KEY}\nHost: elsewhere")));
    let (_, error) = error(endpoint).await;
    assert!(matches!(error, ModelError::BadKey { .. }), "{error:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_rate_limit_says_how_long_to_wait() {
    let body = "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}";
    let headers = [JSON, "Retry-After: 20"];
    let server = Server::of("429 Too Many Requests", &headers, body).await;
    let (_, error) = error_of(&server).await;
    let ModelError::RateLimited { retry_after, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*retry_after, Some(Duration::from_secs(20)));
    assert!(error.to_string().ends_with("and asks to wait 20s: slow down"), "{error}");
}

#[tokio::test]
async fn an_unknown_model_and_a_failing_server_are_told_apart() {
    let server = Server::of("404 Not Found", &[], "{\"error\":{\"message\":\"no gpt-x\"}}").await;
    let (_, error) = error_of(&server).await;
    assert!(matches!(error, ModelError::UnknownModel { .. }), "{error:?}");

    let page = format!("<html>\u{1b}[31m {KEY}</html>");
    let server = Server::of("500 Internal Server Error", &["Content-Type: text/html"], page).await;
    let (_, error) = error_of(&server).await;
    assert!(matches!(error, ModelError::Server { status: Some(500), .. }), "{error:?}");
    assert!(error.to_string().ends_with(r": <html>\u{1b}[31m [secret]</html>"), "{error}");
}

#[tokio::test]
async fn an_endless_complaint_is_cut() {
    let body = "x".repeat(10 << 20);
    let server = Server::of("500 Internal Server Error", &[], body).await;
    let (_, error) = error_of(&server).await;
    assert!(error.to_string().len() < 1000, "{error}");
}

#[tokio::test]
async fn a_redirect_is_refused_and_the_key_stays_here() {
    let elsewhere = Server::of("200 OK", &[EVENTS], END).await;
    let location = format!("Location: {}/chat/completions", elsewhere.address);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = Server::of(status, &[&location], "").await;
        let (_, error) = error_of(&server).await;
        let ModelError::Redirected { to: Some(to), .. } = &error else { panic!("{error:?}") };
        assert!(elsewhere.address.contains(to.as_str()), "{error}");
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_told_as_such() {
    let server = Server::of("200 OK", &["Content-Type: text/html"], "<h1>Welcome</h1>").await;
    let (_, error) = error_of(&server).await;
    let shown = error.to_string();
    let end = "answered with text/html instead of a stream of events: <h1>Welcome</h1>";
    assert!(shown.ends_with(end), "{shown}");
}

#[tokio::test]
async fn an_error_with_a_good_status_is_still_an_error() {
    let body = "{\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}";
    let server = Server::of("200 OK", &[JSON], body).await;
    let (_, error) = error_of(&server).await;
    assert!(matches!(error, ModelError::Server { status: None, .. }), "{error:?}");
}

#[tokio::test]
async fn an_error_in_mid_stream_comes_after_its_text_and_without_the_key() {
    let body = format!("{HALF}data: {{\"error\":{{\"message\":\"key {KEY} expired\"}}}}\n\n");
    let server = Server::of("200 OK", &[EVENTS], body).await;
    let (pieces, error) = error_of(&server).await;
    assert_eq!(pieces, half());
    assert!(error.to_string().ends_with("key [secret] expired"), "{error}");
}

#[tokio::test]
async fn a_cut_stream_is_broken_and_its_text_was_seen() {
    let server = Server::of("200 OK", &[EVENTS], HALF).await;
    let (pieces, error) = error_of(&server).await;
    assert_eq!(pieces, half());
    assert!(matches!(error, ModelError::Broken { source: None, .. }), "{error:?}");

    // A promised length that is not kept: the connection itself reports the loss.
    let server = Server::of("200 OK", &[EVENTS, "Content-Length: 100000"], HALF).await;
    let (pieces, error) = error_of(&server).await;
    assert_eq!(pieces, half());
    assert!(matches!(error, ModelError::Broken { source: Some(_), .. }), "{error:?}");
}

#[tokio::test]
async fn a_connection_lost_after_the_finish_reason_loses_nothing() {
    let body = END.replace("data: [DONE]\n\n", "");
    let headers = [EVENTS, "Content-Length: 100000"];
    let server = Server::of("200 OK", &headers, format!("{HALF}{body}")).await;
    let (_, reply) = ask(&Model::remote(endpoint(&server.address)).unwrap()).await;
    assert_eq!(reply.unwrap().text.raw(), "Half");
}

#[tokio::test]
async fn a_huge_line_is_refused() {
    let body = format!("{HALF}data: {}", "x".repeat(5 << 20));
    let server = Server::of("200 OK", &[EVENTS], body).await;
    let (pieces, error) = error_of(&server).await;
    assert_eq!(pieces, half());
    assert!(matches!(error, ModelError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn bytes_that_are_not_text_are_replaced() {
    let mut body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xc3\"}}]}\n\n".to_vec();
    body.extend_from_slice(END.as_bytes());
    let server = Server::of("200 OK", &[EVENTS], body).await;
    let (_, reply) = ask(&Model::remote(endpoint(&server.address)).unwrap()).await;
    assert_eq!(reply.unwrap().text.raw(), "a\u{fffd}\u{fffd}");
}

#[tokio::test]
async fn an_event_that_is_not_json_is_malformed() {
    let server = Server::of("200 OK", &[EVENTS], format!("{HALF}data: {KEY}\n\n")).await;
    let (pieces, error) = error_of(&server).await;
    assert_eq!(pieces, half());
    assert!(matches!(error, ModelError::Malformed { .. }), "{error:?}");
}

#[tokio::test]
async fn silence_ends_when_patience_does() {
    let short = Duration::from_millis(200);
    for (answered, waiting) in [
        (vec![], Wait::FirstByte),
        (vec![answer("200 OK", &[EVENTS], "")], Wait::FirstByte),
        (vec![answer("200 OK", &[EVENTS], HALF)], Wait::NextByte),
    ] {
        let server = Server::new(answered, Then::Hang).await;
        let mut endpoint = endpoint(&server.address);
        match waiting {
            Wait::FirstByte => endpoint.timeouts.first_byte = short,
            Wait::NextByte => endpoint.timeouts.idle = short,
            Wait::Words | Wait::List => unreachable!("has a test of its own"),
        }
        let (pieces, error) = error(endpoint).await;
        let ModelError::TimedOut { waiting_for, after, .. } = error else { panic!("{error:?}") };
        assert_eq!((waiting_for, after), (waiting, short));
        assert_eq!(pieces.is_empty(), waiting == Wait::FirstByte);
    }
}

#[tokio::test]
async fn a_server_that_only_keeps_the_line_open_is_not_listened_to_for_ever() {
    use tokio::io::AsyncWriteExt;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(&answer("200 OK", &[EVENTS], HALF)).await.unwrap();
        // Until the client has had enough.
        while stream.write_all(b": keep-alive\n\n").await.is_ok() {}
    });
    let mut endpoint = endpoint(&address);
    endpoint.timeouts.wordless = Duration::from_millis(100);
    let (pieces, error) = error(endpoint).await;
    assert_eq!(pieces, half());
    let waited = matches!(error, ModelError::TimedOut { waiting_for: Wait::Words, .. });
    assert!(waited, "{error:?}");
    assert!(error.to_string().ends_with("sent no word of a reply for 100ms"), "{error}");
}

#[tokio::test]
async fn what_imitates_ollama_may_call_its_lines_json() {
    let lines = "{\"message\":{\"content\":\"Half\"},\"done\":false}\n{\"done\":true}\n";
    for kind in ["application/x-ndjson", "application/json; charset=utf-8"] {
        let server = Server::of("200 OK", &[&format!("Content-Type: {kind}")], lines).await;
        let endpoint = Endpoint::new(WireFormat::Ollama, &server.address, "qwen");
        let (pieces, reply) = ask(&Model::remote(endpoint).unwrap()).await;
        assert_eq!((pieces, reply.unwrap().text.raw()), (half(), "Half"), "{kind}");
    }
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let model = Arc::new(Model::remote(endpoint(&format!("http://{host}/v1"))).unwrap());
    let (sink, mut pieces) = mpsc::channel(1);
    let asked = Arc::clone(&model);
    let call = tokio::spawn(async move { asked.stream(&request(), &sink).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(&answer("200 OK", &[EVENTS], HALF)).await.unwrap();
    assert_eq!(pieces.recv().await, Some(ReplyPiece::Headway(Headway::Asked { host })));
    assert_eq!(pieces.recv().await, half().pop());

    call.abort();
    // The end of what the client sends is the end of the connection.
    stream.read_to_end(&mut Vec::new()).await.unwrap();
}

#[test]
fn debug_output_does_not_show_the_key() {
    let model = Model::remote(endpoint("http://localhost:1/v1")).unwrap();
    assert!(!format!("{model:?}").contains("canary"));
}

#[test]
fn an_address_that_cannot_be_used_is_refused_at_once() {
    let error = Model::remote(endpoint("localhost")).unwrap_err();
    assert!(matches!(error, ModelError::BadAddress { .. }), "{error:?}");
}
