//! Lines over a WebSocket: one or several in a text message, as in the protocol, or messages of text
//! that are one each.
//!
//! # Threat
//! Endless messages, messages of endless lines, bytes that are no text, a login that ended while
//! its socket stayed open, a client that vanished without a word and holds its place.
//!
//! # Mechanism
//! Messages are bounded before they are held, and a message is held as it came: its lines are
//! taken one by one. Whatever is no text ends the connection. Every few seconds there is a beat: a
//! line that a page can see, a ping that every client answers by itself, and a look at the login.
//! Whoever leaves several in a row unanswered is gone. The login is also looked at before each
//! line that is taken and each message that is sent.

use super::{
    answers::Answered,
    gate::{SUBPROTOCOL, one},
    logins::Known,
    refusal::HttpRefusal,
    routes::MOST_OF_A_REQUEST,
};
use crate::{Lines, protocol::beat_line};
use futures_util::{SinkExt, StreamExt};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
    upgrade::Upgraded,
};
use hyper_util::rt::TokioIo;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Bytes, Message, Utf8Bytes,
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};

/// Bytes that are read at once: most sockets are quiet.
const READ_AT_ONCE: usize = 8 << 10;

/// Bytes of lines in one message, unless a single one is longer.
const MOST_OF_A_MESSAGE: usize = 256 << 10;

/// The time between two beats. The page gives up after two and a half of them.
const BEAT: Duration = Duration::from_secs(15);

/// Beats in a row that a client may leave unanswered.
const MOST_UNANSWERED: u32 = 4;

/// The answer that turns a connection into a WebSocket.
pub(super) fn handshake(headers: &HeaderMap) -> Result<Answered, HttpRefusal> {
    let has = |name, word: &str| {
        let value = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        value.is_some_and(|value| value.split(',').any(|one| one.trim().eq_ignore_ascii_case(word)))
    };
    let key = one(headers, &SEC_WEBSOCKET_KEY)?.filter(|key| key.len() == 24);
    let is_one = has(UPGRADE, "websocket")
        && has(CONNECTION, "upgrade")
        && one(headers, &SEC_WEBSOCKET_VERSION)? == Some("13");
    let Some(key) = key.filter(|_| is_one) else { return Err(HttpRefusal::NoHandshake) };
    let mut answer = Response::default();
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accepted = derive_accept_key(key.as_bytes());
    let accepted = HeaderValue::from_str(&accepted).map_err(|_| HttpRefusal::Failed)?;
    let fields = answer.headers_mut();
    fields.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
    fields.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    if has(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        fields.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    Ok(answer)
}

/// The meaning of a text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketForm {
    /// One or several lines. A beat is one too, so that a page can see it.
    Lines,
    /// One message, which may have line ends in it. A beat is a ping alone.
    Messages,
}

/// A message, and how much of it was taken.
#[derive(Debug, Default)]
struct HeldMessage {
    text: Utf8Bytes,
    taken: usize,
}

impl HeldMessage {
    /// Takes the next line that is not empty.
    fn next_line(&mut self) -> Option<String> {
        let rest = self.text[self.taken..].trim_start_matches(['\r', '\n']);
        let line = rest.split('\n').next().unwrap_or_default();
        if line.is_empty() {
            *self = Self::default();
            return None;
        }
        let taken = self.text.len() - rest.len() + line.len();
        let line = line.trim_end_matches('\r').to_owned();
        self.taken = taken;
        Some(line)
    }
}

/// Lines over a WebSocket.
#[derive(Debug)]
pub(super) struct SocketLines<C> {
    socket: WebSocketStream<C>,
    form: SocketForm,
    message: HeldMessage,
    known: Known,
    beats: Interval,
    /// The number of the last beat.
    beat: u64,
    /// Beats since the client was last heard.
    unanswered: u32,
    /// Whether a beat waits to be sent.
    is_flushing: bool,
}

impl SocketLines<TokioIo<Upgraded>> {
    pub(super) async fn new(connection: Upgraded, known: Known, form: SocketForm) -> Self {
        Self { form, ..Self::over(TokioIo::new(connection), known, BEAT).await }
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin + Send> SocketLines<C> {
    async fn over(connection: C, known: Known, period: Duration) -> Self {
        let bounds = WebSocketConfig::default()
            .read_buffer_size(READ_AT_ONCE)
            .max_message_size(Some(MOST_OF_A_REQUEST))
            .max_frame_size(Some(MOST_OF_A_REQUEST));
        let socket = WebSocketStream::from_raw_socket(connection, Role::Server, Some(bounds)).await;
        let mut beats = interval_at(Instant::now() + period, period);
        // Beats that were missed while something else was sent are not made up for.
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            socket,
            form: SocketForm::Lines,
            message: HeldMessage::default(),
            known,
            beats,
            beat: 0,
            unanswered: 0,
            is_flushing: false,
        }
    }

    /// Queues a beat. Nothing if the client has left too many unanswered, or is gone.
    async fn beat(&mut self) -> Option<()> {
        if self.unanswered >= MOST_UNANSWERED {
            return None;
        }
        self.unanswered += 1;
        self.beat += 1;
        match self.form {
            SocketForm::Lines => {
                self.socket.feed(Message::text(beat_line(self.beat))).await.ok()?;
            }
            SocketForm::Messages => {}
        }
        self.is_flushing = true;
        self.socket.feed(Message::Ping(Bytes::new())).await.ok()
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin + Send> Lines for SocketLines<C> {
    async fn next(&mut self) -> Option<String> {
        loop {
            if self.known.is_gone() {
                return None;
            }
            if let Some(line) = self.message.next_line() {
                return Some(line);
            }
            // This may be dropped half-way, and then goes on the next time.
            if self.is_flushing {
                self.socket.flush().await.ok()?;
                self.is_flushing = false;
            }
            tokio::select! {
                biased;
                message = self.socket.next() => {
                    self.unanswered = 0;
                    match message?.ok()? {
                        Message::Text(text) => match self.form {
                            SocketForm::Lines => self.message = HeldMessage { text, taken: 0 },
                            SocketForm::Messages => return Some(text.as_str().to_owned()),
                        },
                        // The library answers them by itself.
                        Message::Ping(_) | Message::Pong(_) => {}
                        Message::Binary(_) | Message::Close(_) | Message::Frame(_) => return None,
                    }
                }
                _ = self.beats.tick() => self.beat().await?,
            }
        }
    }

    async fn send(&mut self, lines: Vec<String>) -> io::Result<()> {
        let mut lines = lines.into_iter().peekable();
        while let Some(mut message) = lines.next() {
            let joins = self.form == SocketForm::Lines;
            while let Some(line) =
                lines.next_if(|line| joins && message.len() + line.len() < MOST_OF_A_MESSAGE)
            {
                message.push('\n');
                message.push_str(&line);
            }
            if self.known.is_gone() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            self.socket.send(Message::text(message)).await.map_err(io::Error::other)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Right,
        http::{
            kept_tokens::{look_up, make_token},
            logins::Logins,
        },
    };
    use interpreter_store::{Folders, KeptTokens};
    use tokio::{
        io::{DuplexStream, duplex},
        time::timeout,
    };

    /// A test that waits longer has failed.
    const NEVER: Duration = Duration::from_mins(2);

    /// A beat of a test: long enough that a busy computer answers four in time.
    const SHORT: Duration = Duration::from_millis(50);

    /// A token that is kept, and where.
    struct Holder {
        _home: tempfile::TempDir,
        tokens: KeptTokens,
        _logins: Logins,
        known: Known,
    }

    fn holder() -> Holder {
        let home = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(home.path()));
        let token = make_token(&tokens, "ci", &[Right::Watch], None).unwrap();
        let (mut logins, now) = (Logins::default(), std::time::Instant::now());
        look_up(&tokens, &mut logins, &token, now);
        let known = logins.by_token(&token, now).unwrap();
        Holder { _home: home, tokens, _logins: logins, known }
    }

    async fn pair(
        known: &Known,
        period: Duration,
    ) -> (SocketLines<DuplexStream>, WebSocketStream<DuplexStream>) {
        let (ours, theirs) = duplex(1 << 16);
        let lines = SocketLines::over(ours, known.clone(), period).await;
        (lines, WebSocketStream::from_raw_socket(theirs, Role::Client, None).await)
    }

    #[tokio::test]
    async fn whoever_answers_beats_stays_however_quiet() {
        let holder = holder();
        let (mut lines, mut client) = pair(&holder.known, SHORT).await;
        let hears = async {
            // More than may be left unanswered. Reading is enough to answer.
            for number in 1..=u64::from(2 * MOST_UNANSWERED) {
                let beat = loop {
                    if let Message::Text(text) = client.next().await.unwrap().unwrap() {
                        break text;
                    }
                };
                assert_eq!(beat.as_str(), format!("{{\"beat\":{number},\"v\":1}}"));
            }
            client.send(Message::text("still here")).await.unwrap();
            client
        };
        let both = async { tokio::join!(lines.next(), hears) };
        let (line, _client) = timeout(NEVER, both).await.unwrap();
        assert_eq!(line.as_deref(), Some("still here"));
    }

    #[tokio::test]
    async fn whoever_vanished_loses_the_place() {
        let holder = holder();
        // The connection stays open, and nobody is at its other end.
        let (mut lines, _client) = pair(&holder.known, Duration::from_millis(1)).await;
        assert_eq!(timeout(NEVER, lines.next()).await.unwrap(), None);
        assert_eq!((lines.beat, lines.unanswered), (u64::from(MOST_UNANSWERED), MOST_UNANSWERED));
    }

    #[tokio::test]
    async fn a_quiet_socket_of_a_revoked_token_ends() {
        let holder = holder();
        let (mut lines, mut client) = pair(&holder.known, SHORT).await;
        let reads = async {
            // The socket is quiet and lives.
            client.next().await.unwrap().unwrap();
            holder.tokens.revoke("ci").unwrap();
            while let Some(Ok(_)) = client.next().await {}
        };
        let ends = async {
            let line = lines.next().await;
            drop(lines);
            line
        };
        let (line, ()) = timeout(NEVER, async { tokio::join!(ends, reads) }).await.unwrap();
        assert_eq!(line, None);
    }

    #[test]
    fn a_message_is_taken_line_by_line_and_held_once() {
        let text = "\n\r\na\r\n\nbé\nc";
        let mut message = HeldMessage { text: text.into(), taken: 0 };
        let mut taken = Vec::new();
        while let Some(line) = message.next_line() {
            taken.push(line);
        }
        assert_eq!(taken, ["a", "bé", "c"]);
        assert!(message.text.is_empty() && message.next_line().is_none());
        // However many lines it has, nothing but the message itself is held.
        let mut message = HeldMessage { text: "a\n".repeat(1_000).into(), taken: 0 };
        assert_eq!(message.next_line().as_deref(), Some("a"));
        assert_eq!((message.text.len(), message.taken), (2_000, 1));
    }
}
