//! Retries, final errors, and fallbacks.

use crate::{
    http::{END, EVENTS, HALF, ask, endpoint},
    server::{Server, answer},
};
use interpreter_model::{Endpoint, Model, ModelError, Pace, Price, ReplyPiece, Retries};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

fn patient(address: &str) -> Endpoint {
    let mut endpoint = endpoint(address);
    endpoint.retries = Retries {
        most: 3,
        first_wait: Duration::from_millis(2),
        longest_wait: Duration::from_millis(50),
    };
    endpoint
}

fn good() -> Vec<u8> {
    answer("200 OK", &[EVENTS], format!("{HALF}{END}"))
}

fn texts(pieces: &[ReplyPiece]) -> Vec<&ReplyPiece> {
    pieces.iter().filter(|piece| !matches!(piece, ReplyPiece::Note(_))).collect()
}

fn notes(pieces: &[ReplyPiece]) -> Vec<&str> {
    let mut notes = Vec::new();
    for piece in pieces {
        if let ReplyPiece::Note(note) = piece {
            notes.push(note.as_str());
        }
    }
    notes
}

#[tokio::test]
async fn what_passes_is_tried_again_and_told() {
    for first in [
        answer("429 Too Many Requests", &["Retry-After-Ms: 3"], "slow down"),
        answer("500 Internal Server Error", &[], "oops"),
        answer("503 Service Unavailable", &[], ""),
        answer("529 Overloaded", &[], ""),
        // A stream that breaks before it has said anything, and a connection that just ends.
        answer("200 OK", &[EVENTS], ": welcome\n\n"),
        Vec::new(),
    ] {
        let server = Server::in_turn(vec![first.clone(), first, good()]).await;
        let (pieces, reply) = ask(&Model::remote(patient(&server.address)).unwrap()).await;
        assert_eq!(reply.unwrap().text.raw(), "Half");
        assert_eq!(texts(&pieces), [&ReplyPiece::Text("Half".into())]);
        assert_eq!(notes(&pieces).len(), 2, "{pieces:?}");
        assert!(notes(&pieces)[0].contains("; trying again in 0.0 s"), "{pieces:?}");
        assert!(!format!("{pieces:?}").contains("canary"));
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_stream_that_broke_off_is_never_begun_anew() {
    let half = answer("200 OK", &[EVENTS], HALF);
    let server = Server::in_turn(vec![half, good()]).await;
    let other = Server::in_turn(vec![good()]).await;
    let fallback = Model::remote(patient(&other.address)).unwrap();
    let model = Model::remote(patient(&server.address)).unwrap().with_fallbacks(vec![fallback]);
    let (pieces, reply) = ask(&model).await;
    assert!(matches!(reply, Err(ModelError::Broken { .. })), "{reply:?}");
    assert_eq!(pieces, [ReplyPiece::Text("Half".into())]);
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn what_does_not_pass_is_asked_once() {
    for status in ["400 Bad Request", "401 Unauthorized", "402 Payment Required", "404 Not Found"] {
        let server = Server::of(status, &[], "no").await;
        let (pieces, reply) = ask(&Model::remote(patient(&server.address)).unwrap()).await;
        assert!(reply.is_err() && pieces.is_empty(), "{status} {pieces:?}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn tries_end_and_a_wait_that_is_too_long_is_not_begun() {
    let server = Server::of("500 Internal Server Error", &[], "no").await;
    let (_, reply) = ask(&Model::remote(patient(&server.address)).unwrap()).await;
    assert!(matches!(reply, Err(ModelError::Server { .. })), "{reply:?}");
    assert_eq!(server.requests().len(), 4);

    let server = Server::of("429 Too Many Requests", &["Retry-After: 3600"], "no").await;
    let (_, reply) = ask(&Model::remote(patient(&server.address)).unwrap()).await;
    let error = reply.unwrap_err().to_string();
    assert!(error.contains("asks to wait 3600s"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn another_model_is_asked_where_one_cannot_answer() {
    let broke = Server::of("402 Payment Required", &[], "pay").await;
    let gone = Server::of("404 Not Found", &[], "no such model").await;
    let works = Server::in_turn(vec![good()]).await;
    let of = |server: &Server, name: &str| {
        let mut endpoint = patient(&server.address);
        endpoint.provider = name.into();
        Model::remote(endpoint).unwrap()
    };
    let model = of(&broke, "first").with_fallbacks(vec![of(&gone, "second"), of(&works, "third")]);
    let (pieces, reply) = ask(&model).await;
    assert_eq!(reply.unwrap().text.raw(), "Half");
    assert_eq!(texts(&pieces), [&ReplyPiece::Text("Half".into())]);
    let notes = notes(&pieces);
    assert!(notes[0].ends_with("is out of credit: pay; asking second/gpt-x instead"), "{notes:?}");
    assert!(notes[1].ends_with("no such model; asking third/gpt-x instead"), "{notes:?}");
}

/// A reply that breaks off is estimated by it, so it has to be that of whoever is asked.
#[tokio::test]
async fn the_price_of_whoever_is_asked_comes_first() {
    let broke = Server::of("402 Payment Required", &[], "pay").await;
    let works = Server::in_turn(vec![good()]).await;
    let price =
        Price { input: 1.0, output: 2.0, cached: None, written: None, as_of: "2025-11-01".into() };
    let mut dear = patient(&broke.address);
    dear.price = Some(price.clone());
    let free = Model::remote(patient(&works.address)).unwrap();
    let model = Model::remote(dear).unwrap().with_fallbacks(vec![free]);
    let (sink, mut pieces) = tokio::sync::mpsc::channel(100);
    model.stream(&crate::http::request(), &sink).await.unwrap();
    drop(sink);
    let mut seen = Vec::new();
    while let Some(piece) = pieces.recv().await {
        seen.extend(matches!(piece, ReplyPiece::Price(_) | ReplyPiece::Text(_)).then_some(piece));
    }
    let text = ReplyPiece::Text("Half".into());
    assert_eq!(seen, [ReplyPiece::Price(Some(price)), ReplyPiece::Price(None), text]);
}

#[tokio::test]
async fn what_is_not_on_this_machine_is_not_asked_when_offline() {
    let mut endpoint = endpoint("https://models.example.org/v1");
    endpoint.offline = true;
    let error = Model::remote(endpoint).unwrap_err();
    assert!(matches!(error, ModelError::Offline { .. }), "{error:?}");

    let server = Server::in_turn(vec![good()]).await;
    for host in ["127.0.0.1", "localhost", "models.localhost"] {
        let mut endpoint = patient(&server.address.replace("127.0.0.1", host));
        endpoint.offline = true;
        let (_, reply) = ask(&Model::remote(endpoint).unwrap()).await;
        assert_eq!(reply.unwrap().text.raw(), "Half", "{host}");
    }
}

#[tokio::test]
async fn calls_within_the_pace_are_made_at_once() {
    let server = Server::in_turn(vec![good()]).await;
    let mut endpoint = patient(&server.address);
    let calls = AtomicU32::new(0);
    let take = move || match calls.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => Ok(()),
        _ => Err(Duration::from_secs(50)),
    };
    endpoint.pace = Some(Arc::new(Pace::new(take)));
    let model = Model::remote(endpoint).unwrap();
    assert!(ask(&model).await.1.is_ok() && ask(&model).await.1.is_ok());
    // The third would wait for most of a minute, and says so before it does.
    let (sink, mut pieces) = tokio::sync::mpsc::channel(10);
    let request = crate::http::request();
    let waiting = async {
        let Some(ReplyPiece::Note(note)) = pieces.recv().await else { panic!("no note") };
        assert!(note.contains("as `requests_per_minute` has it"), "{note}");
    };
    tokio::select! {
        () = waiting => {}
        reply = model.stream(&request, &sink) => panic!("{reply:?} came at once"),
    }
    assert_eq!(server.requests().len(), 2);
}
