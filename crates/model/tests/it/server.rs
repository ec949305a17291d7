//! A server that answers each request with bytes that the test has written out, and keeps what it
//! was sent.

use std::sync::{Arc, Mutex};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The server's behaviour after its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Hangs up.
    Close,
    /// Keeps the connection and says nothing more.
    Hang,
}

/// A running server. It ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server that answers with `answer`, one write for each part.
    pub(crate) async fn new(answer: Vec<Vec<u8>>, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut held = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                for part in &answer {
                    // The client may have had enough, which is its right.
                    if stream.write_all(part).await.is_err() || stream.flush().await.is_err() {
                        break;
                    }
                }
                match then {
                    Then::Close => drop(stream),
                    Then::Hang => held.push(stream),
                }
            }
        });
        Self { address, requests }
    }

    /// A server that gives each of these answers once, in turn, and the last one from then on.
    pub(crate) async fn in_turn(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut turn = 0;
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                let answer = &answers[turn.min(answers.len() - 1)];
                turn += 1;
                // The client may have had enough, which is its right.
                _ = stream.write_all(answer).await.is_ok();
            }
        });
        Self { address, requests }
    }

    /// A server that makes an answer of each request, and says nothing more if that is cut short.
    pub(crate) async fn by(answer: impl Fn(&str) -> Vec<u8> + Send + 'static, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut held = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                let answer = answer(&request);
                seen.lock().unwrap().push(request);
                // The client may have had enough, which is its right.
                _ = stream.write_all(&answer).await.is_ok();
                match then {
                    Then::Close => drop(stream),
                    Then::Hang => held.push(stream),
                }
            }
        });
        Self { address, requests }
    }

    /// A server of one answer: a status line, headers, a body.
    pub(crate) async fn of(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        Self::new(vec![answer(status, headers, body)], Then::Close).await
    }

    /// The requests so far, headers and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// An answer whose end is the end of the connection.
pub(crate) fn answer(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for header in headers {
        answer.push_str(header);
        answer.push_str("\r\n");
    }
    answer.push_str("\r\n");
    let mut answer = answer.into_bytes();
    answer.extend_from_slice(body.as_ref());
    answer
}

pub(crate) async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        let read = stream.read(&mut part).await.unwrap();
        if read == 0 {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        bytes.extend_from_slice(&part[..read]);
    }
}
