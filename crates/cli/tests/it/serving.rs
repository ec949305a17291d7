//! A server that runs, and clients that speak to it byte by byte.
//!
//! A server may refuse a client before it has sent everything. So no write or read of a client is
//! taken for granted: whatever fails counts as a refusal.

use crate::scene::Scene;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStderr, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

/// A test that waits longer than this has failed. Nothing is ever that slow.
const NEVER: Duration = Duration::from_mins(2);

/// The same for something that a connection is kept open for.
const IN_VAIN: Duration = Duration::from_mins(5);

/// A server that was started.
pub(crate) struct Serving {
    child: Child,
    pub(crate) port: u16,
    /// The address of its link.
    pub(crate) link_origin: String,
    /// The one-time code of its link.
    pub(crate) code: String,
    pub(crate) token: String,
    /// Everything that it printed on standard error.
    pub(crate) errors: Errors,
}

/// Lines of standard error, as they come.
#[derive(Clone, Default)]
pub(crate) struct Errors(Arc<(Mutex<String>, Condvar)>);

impl Errors {
    pub(crate) fn follow(&self, stream: ChildStderr) {
        let all = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let (text, changed) = &*all.0;
                text.lock().unwrap().push_str(&(line + "\n"));
                changed.notify_all();
            }
        });
    }

    pub(crate) fn text(&self) -> String {
        self.0.0.lock().unwrap().clone()
    }

    /// Waits for a line with these words.
    #[track_caller]
    pub(crate) fn wait_for(&self, words: &str) {
        let (text, changed) = &*self.0;
        let waiting =
            changed.wait_timeout_while(text.lock().unwrap(), NEVER, |text| !text.contains(words));
        let (text, waited) = waiting.unwrap();
        assert!(!waited.timed_out(), "`{words}` never came:\n{text}");
    }
}

impl Serving {
    pub(crate) fn start(scene: &Scene) -> Self {
        Self::start_with(scene, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn start_with(scene: &Scene, more: &[&str]) -> Self {
        let arguments = [&["serve", "--json", "--log"], more].concat();
        let mut child = scene
            .command(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let errors = Errors::default();
        errors.follow(child.stderr.take().unwrap());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            _ = child.wait();
            panic!("{error}: {line}{}", errors.text())
        });
        let (origin, code) = told["url"].as_str().unwrap().split_once("/#").unwrap();
        let address: std::net::SocketAddr = told["address"].as_str().unwrap().parse().unwrap();
        let token = told["token"].as_str().unwrap().to_owned();
        let (port, code) = (address.port(), code.to_owned());
        Self { child, port, link_origin: origin.to_owned(), code, token, errors }
    }

    /// Sends a whole request, by its lines before the empty one, and its body.
    pub(crate) fn send(&self, head: &[&str], body: &str) -> Answer {
        let mut all = head.join("\r\n") + "\r\n";
        if !body.is_empty() {
            all += &format!("Content-Length: {}\r\n", body.len());
        }
        self.send_raw(format!("{all}\r\n{body}").as_bytes())
    }

    pub(crate) fn send_raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may have been refused already.
        _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        stream
    }

    /// The process.
    pub(crate) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Waits until it has ended by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// The most memory that it has had so far, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A request with only a `Host`, and these lines.
    pub(crate) fn get(&self, target: &str, more: &[&str]) -> Answer {
        let (first, host) = (format!("GET {target} HTTP/1.1"), self.host());
        self.send(&[&[first.as_str(), &host, "Connection: close"], more].concat(), "")
    }

    pub(crate) fn post(&self, target: &str, more: &[&str], body: &str) -> Answer {
        let (first, host) = (format!("POST {target} HTTP/1.1"), self.host());
        let head = [first.as_str(), &host, "Connection: close", "Content-Type: application/json"];
        self.send(&[&head[..], more].concat(), body)
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Logs in by the first link.
    pub(crate) fn log_in(&self) -> Login {
        let body = serde_json::json!({ "code": self.code }).to_string();
        Login::of(&self.post("/v1/login", &[], &body))
    }

    /// Ends it in order.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Waits until the other end has ended a connection, and gives what came before.
#[track_caller]
pub(crate) fn must_end(stream: &mut impl Read) -> Vec<u8> {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        // Whether it was closed or cut off is all the same; that nothing came for minutes is not.
        Err(error) => {
            let kinds = [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::TimedOut];
            assert!(!kinds.contains(&error.kind()), "{error}");
        }
    }
    rest
}

/// The two secrets of a login.
pub(crate) struct Login {
    /// Its name and its value.
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Login {
    pub(crate) fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        Self { cookie, key: body["key"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn lines(&self) -> [String; 2] {
        [format!("Cookie: {}", self.cookie), format!("Authorization: Key {}", self.key)]
    }

    /// The lines by which a page opens its WebSocket.
    pub(crate) fn socket_lines(&self) -> [String; 2] {
        let key = URL_SAFE_NO_PAD.encode(&self.key);
        let offered = format!("Sec-WebSocket-Protocol: interpreter.v1, key.{key}");
        [format!("Cookie: {}", self.cookie), offered]
    }
}

/// The lines of every handshake of a WebSocket.
pub(crate) const HANDSHAKE: [&str; 4] = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/// The answer to a request. Status 0: the connection ended without one.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads until the connection ends.
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        // Whatever came before the connection broke is the answer.
        _ = stream.read_to_end(&mut bytes);
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let answer = Self { status, head: head.to_owned(), body: body.to_owned() };
        // No answer at all allows another origin, or sends a browser anywhere.
        assert!(!head.to_ascii_lowercase().contains("access-control-"), "{head}");
        assert!(answer.header("location").is_none(), "{head}");
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether it says no, or nothing.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.status, 0 | 400..=499)
    }
}

/// A WebSocket, as a browser has it.
pub(crate) struct WebSocket<S = TcpStream>(pub(crate) S);

impl WebSocket {
    /// Opens one with these lines, or gives the refusal.
    pub(crate) fn open(serving: &Serving, more: &[&str]) -> Result<Self, Answer> {
        Self::open_over(serving.connect(), &serving.host(), more)
    }
}

impl<S: Read + Write> WebSocket<S> {
    /// The same, over any connection.
    pub(crate) fn open_over(stream: S, host: &str, more: &[&str]) -> Result<Self, Answer> {
        Self::open_at(stream, "/v1/socket", host, more)
    }

    /// The same, at another address.
    pub(crate) fn open_at(
        mut stream: S,
        target: &str,
        host: &str,
        more: &[&str],
    ) -> Result<Self, Answer> {
        let first = format!("GET {target} HTTP/1.1");
        let lines = [&[first.as_str(), host], &HANDSHAKE[..], more].concat();
        _ = stream.write_all((lines.join("\r\n") + "\r\n\r\n").as_bytes());
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        let answer = Answer::parse(&String::from_utf8_lossy(&head));
        if answer.status == 101 { Ok(Self(stream)) } else { Err(answer) }
    }

    /// Sends one frame, masked as browsers do it.
    pub(crate) fn send(&mut self, kind: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | kind];
        match u16::try_from(payload.len()) {
            Ok(short @ ..126) => frame.push(0x80 | u8::try_from(short).unwrap()),
            Ok(length) => {
                frame.push(0x80 | 0x7e);
                frame.extend(length.to_be_bytes());
            }
            Err(_) => {
                frame.push(0x80 | 0x7f);
                frame.extend((payload.len() as u64).to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload as it is.
        frame.extend([0; 4]);
        frame.extend(payload);
        // The server may be gone.
        _ = self.0.write_all(&frame);
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.send(1, text.as_bytes());
    }

    /// The next text that is no beat, or nothing once the connection has ended. Answers pings.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Option<String> {
        let until = Instant::now() + IN_VAIN;
        loop {
            assert!(Instant::now() < until, "nothing came but beats");
            let mut head = [0; 2];
            self.0.read_exact(&mut head).ok()?;
            let length = match head[1] & 0x7f {
                126 => {
                    let mut more = [0; 2];
                    self.0.read_exact(&mut more).ok()?;
                    usize::from(u16::from_be_bytes(more))
                }
                127 => {
                    let mut more = [0; 8];
                    self.0.read_exact(&mut more).ok()?;
                    usize::try_from(u64::from_be_bytes(more)).ok()?
                }
                short => usize::from(short),
            };
            let mut payload = vec![0; length];
            self.0.read_exact(&mut payload).ok()?;
            match head[0] & 0x0f {
                1 if payload.starts_with(b"{\"beat\":") => {}
                1 => return String::from_utf8(payload).ok(),
                8 => return None,
                9 => self.send(10, &payload),
                _ => {}
            }
        }
    }

    /// Waits until the other end has ended it.
    #[track_caller]
    pub(crate) fn must_end(mut self) {
        while self.hear().is_some() {}
        let mut rest = [0];
        assert!(!matches!(self.0.read(&mut rest), Ok(1..)), "it goes on");
    }
}
