//! The list of a provider's models: what is asked, and a provider that answers with anything.

use crate::{
    http::endpoint,
    server::{Server, Then, answer},
};
use interpreter_core::{WireFormat, roster::RosterEntry};
use interpreter_model::{Endpoint, ListAddress, ModelError, list_models};
use std::time::Duration;

const JSON: &str = "Content-Type: application/json";

async fn listed(endpoint: Endpoint) -> Result<Vec<String>, String> {
    let names = |all: Vec<RosterEntry>| all.into_iter().map(|one| one.name).collect();
    list_models(endpoint).await.map(names).map_err(|error| {
        let shown = format!("{error:?} {error}");
        assert!(!shown.contains("canary"), "the key is in an error: {shown}");
        error.to_string()
    })
}

async fn answered(status: &str, body: &str) -> Result<Vec<String>, String> {
    let server = Server::of(status, &[JSON], body).await;
    listed(endpoint(&server.address)).await
}

#[tokio::test]
async fn each_format_asks_where_its_list_is_with_the_key() {
    let body = r#"{"data":[{"id":"a"}],"models":[{"name":"a"}]}"#;
    for (format, asked) in [
        (WireFormat::OpenAi, "GET /v1/models HTTP/1.1\r\n"),
        (WireFormat::Responses, "GET /v1/models HTTP/1.1\r\n"),
        (WireFormat::Anthropic, "GET /v1/models?limit=1000 HTTP/1.1\r\n"),
        (WireFormat::Gemini, "GET /v1/models?pageSize=1000 HTTP/1.1\r\n"),
        (WireFormat::Ollama, "GET /v1/api/tags HTTP/1.1\r\n"),
    ] {
        let server = Server::of("200 OK", &[JSON], body).await;
        let own = Endpoint { format, ..endpoint(&server.address) };
        assert_eq!(listed(own).await, Ok(vec!["a".to_owned()]), "{format:?}");
        let request = &server.requests()[0];
        assert!(request.starts_with(asked), "{request}");
        assert!(request.contains("canary"), "{request}");
    }
    let server = Server::of("200 OK", &[JSON], body).await;
    let list = ListAddress::Path("/catalog/models".into());
    assert!(listed(Endpoint { list, ..endpoint(&server.address) }).await.is_ok());
    assert!(server.requests()[0].starts_with("GET /catalog/models HTTP/1.1\r\n"));
    let list = ListAddress::Nowhere;
    let nowhere = listed(Endpoint { list, ..endpoint(&server.address) }).await;
    assert!(nowhere.unwrap_err().contains("no list of its models"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_no_list_says_why() {
    for (status, body, says) in [
        (
            "401 Unauthorized",
            r#"{"error":{"message":"bad key sk-canary-0123456789"}}"#,
            "refused the key",
        ),
        ("404 Not Found", "nothing", "sent no list of its models"),
        ("500 Oops", "later", "failed (status 500)"),
        ("429 Slow", "later", "limits the rate"),
        ("200 OK", "<html>", "sent no list of its models"),
        ("200 OK", "{\"data\":7}", "sent no list of its models"),
        ("200 OK", "{\"data\":[{\"id\":", "sent no list of its models"),
    ] {
        let error = answered(status, body).await.unwrap_err();
        assert!(error.contains(says), "{status}: {error}");
    }
    let moved = Server::of("302 Found", &["Location: http://elsewhere.example/"], "").await;
    let error = listed(endpoint(&moved.address)).await.unwrap_err();
    assert!(error.contains("redirects are not followed"), "{error}");
    let error = listed(endpoint("http://127.0.0.1:1/v1")).await.unwrap_err();
    assert!(error.contains("cannot be reached"), "{error}");
    let offline = Endpoint { offline: true, ..endpoint("https://api.example.org/v1") };
    assert!(matches!(list_models(offline).await, Err(ModelError::Offline { .. })));
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    // Five megabytes of names, and no end in sight.
    let begun = format!("{{\"data\":[{}", "{\"id\":\"model-name\"},".repeat(300_000));
    let endless = Server::new(vec![answer("200 OK", &[JSON], &begun)], Then::Hang).await;
    let error = listed(endpoint(&endless.address)).await.unwrap_err();
    assert!(error.contains("sent more than 4194304 bytes as its list of models"), "{error}");
    // One that begins and never goes on, and one that never begins.
    for parts in [vec![answer("200 OK", &[JSON], "{\"data\":[")], vec![]] {
        let silent = Server::new(parts, Then::Hang).await;
        let mut own = endpoint(&silent.address);
        own.timeouts.first_byte = Duration::from_millis(300);
        let error = listed(own).await.unwrap_err();
        assert!(error.contains("sent no complete list of its models for 300ms"), "{error}");
    }
}

#[tokio::test]
async fn many_names_are_read_within_the_bound() {
    let many: Vec<_> = (0..100_000).map(|at| format!("{{\"id\":\"m{at}\"}}")).collect();
    let body = format!("{{\"data\":[{}]}}", many.join(","));
    assert_eq!(answered("200 OK", &body).await.unwrap().len(), 100_000);
}
