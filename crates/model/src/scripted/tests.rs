//! The scripted model, from its file to its pieces.

use crate::{Model, ModelError, ReplyPiece, Request, Tools};
use interpreter_core::{Finish, Message, Reply, Usage};
use std::{error::Error as _, io::Write};
use tokio::sync::mpsc;

fn open(script: &str) -> Result<Model, ModelError> {
    let mut file = tempfile::Builder::new().prefix("demo").suffix(".toml").tempfile().unwrap();
    file.write_all(script.as_bytes()).unwrap();
    Model::scripted(file.path(), std::fs::File::open(file.path()))
}

/// Asks with `prompt` as the newest message.
async fn ask(model: &Model, prompt: &str) -> (Vec<ReplyPiece>, Result<Reply, ModelError>) {
    let request = Request {
        messages: vec![Message::user(prompt)].into(),
        tools: model.tools(),
        max_tokens: None,
        temperature: None,
    };
    let (sink, mut pieces) = mpsc::channel(100);
    let reply = model.stream(&request, &sink).await;
    drop(sink);
    let mut seen = Vec::new();
    while let Some(piece) = pieces.recv().await {
        seen.push(piece);
    }
    (seen, reply)
}

#[tokio::test]
async fn each_call_plays_the_next_reply_and_then_there_is_no_more() {
    let model = open("[[reply]]\ntext = 'a'\n[[reply]]\ntext = 'b'\n").unwrap();
    assert!(model.name().starts_with("scripted:demo"), "{}", model.name());
    assert_eq!(model.tools(), Tools::None);
    assert_eq!(ask(&model, "").await.1.unwrap().text.raw(), "a");
    assert_eq!(ask(&model, "").await.1.unwrap().text.raw(), "b");
    let error = ask(&model, "").await.1.unwrap_err().to_string();
    assert!(error.ends_with("has 2 replies, and one more was asked for"), "{error}");
}

#[tokio::test]
async fn text_comes_in_pieces_of_the_asked_size() {
    let model = open("[[reply]]\ntext = 'aé漢b'\nchunk = 3\nfinish = 'length'").unwrap();
    let (pieces, reply) = ask(&model, "").await;
    assert_eq!(pieces, [ReplyPiece::Text("aé漢".into()), ReplyPiece::Text("b".into())]);
    let reply = reply.unwrap();
    assert_eq!((reply.text.raw(), reply.finish), ("aé漢b", Finish::Length));
}

#[tokio::test]
async fn calls_are_played_as_calls() {
    let script = r#"
        [[reply]]
        reasoning = "Hm."
        call = { language = "python", code = "print(1)" }
        usage = { input = 3, output = 4 }
        [[reply]]
        calls = [{ arguments = "{ broken" }, { name = "other", arguments = "{}" }]
    "#;
    let model = open(script).unwrap();
    assert_eq!(model.tools(), Tools::Offer);
    let (pieces, reply) = ask(&model, "").await;
    let reply = reply.unwrap();
    let arguments = r#"{"language":"python","code":"print(1)"}"#;
    assert_eq!(reply.calls[0].arguments.raw(), arguments);
    assert_eq!(reply.calls[0].name, "execute");
    assert_eq!(reply.usage, Some(Usage { input: 3, output: 4, ..Usage::default() }));
    assert_eq!(pieces.len(), 3);
    let started =
        ReplyPiece::CallStarted { index: 0, id: "script_1_1".into(), name: "execute".into() };
    assert_eq!(pieces[1], started);

    let reply = ask(&model, "").await.1.unwrap();
    let calls = reply.calls.iter().map(|call| (call.name.as_str(), call.arguments.raw()));
    assert_eq!(calls.collect::<Vec<_>>(), [("execute", "{ broken"), ("other", "{}")]);
}

#[tokio::test]
async fn an_unexpected_conversation_is_told_with_what_was_there() {
    let script = "[[reply]]\nexpect = '42'\ntext = 'a'\n[[reply]]\nexpect = '42'\ntext = 'b'";
    let model = open(script).unwrap();
    assert!(ask(&model, "it is 42.").await.1.is_ok());
    let error = ask(&model, "it is \u{1b}43").await.1.unwrap_err().to_string();
    let end = r#"expects "42" in the newest message, which is: it is \u{1b}43"#;
    assert!(error.starts_with("reply 2 of the script") && error.ends_with(end), "{error}");
}

#[tokio::test]
async fn a_reply_can_fail_after_its_text() {
    let model = open("[[reply]]\ntext = 'I was'\nfail = 'rate limit'").unwrap();
    let (pieces, reply) = ask(&model, "").await;
    assert_eq!(pieces, [ReplyPiece::Text("I was".into())]);
    assert_eq!(reply.unwrap_err().to_string(), "rate limit");
}

#[tokio::test]
async fn a_reply_can_hang_until_it_is_dropped() {
    let model = open("[[reply]]\ntext = 'Well'\nfinish = 'never'\n[[reply]]\ntext = 'b'").unwrap();
    let request = Request {
        messages: vec![].into(),
        tools: Tools::None,
        max_tokens: None,
        temperature: None,
    };
    let (sink, mut pieces) = mpsc::channel(1);
    tokio::select! {
        biased;
        _ = model.stream(&request, &sink) => panic!("a reply that never ends has ended"),
        piece = pieces.recv() => assert_eq!(piece, Some(ReplyPiece::Text("Well".into()))),
    }
    assert_eq!(ask(&model, "").await.1.unwrap().text.raw(), "b");
}

#[test]
fn a_bad_script_is_refused_when_it_is_opened() {
    let problem = |script: &str| {
        let error = open(script).unwrap_err();
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        format!("{error}: {source}")
    };
    assert!(
        problem("[[reply]]\ntxt = 'a'").contains("line 2, column 1: unknown key, expected one of")
    );
    assert!(problem("[[reply]]\ntext = 'a'\nchunk = 0").contains("nonzero"));
    assert!(problem("[[reply]]\nexpect = 'a'").contains("reply 1 of the script"));
    assert!(problem("[[reply]]\ncall = { code = '1' }").contains("neither `language` and `code`"));
    assert!(
        problem("[[reply]]\ntext = 'a'\nfinish = 'soon'")
            .contains("unknown value, expected one of")
    );
    for secret in
        ["reply = 'CANARY'", "CANARY = 1", "root:CANARY:0", "[[reply]]\nfinish = 'CANARY'"]
    {
        assert!(!problem(secret).contains("CANARY"), "{}", problem(secret));
    }
    let path = std::path::Path::new("no/such.toml");
    let missing = Model::scripted(path, std::fs::File::open(path)).unwrap_err();
    assert!(missing.source().unwrap().to_string().contains("no/such.toml"));
}
