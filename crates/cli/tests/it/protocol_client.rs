//! A client of the protocol, on standard input and output or on a Unix socket.

use crate::scene::Scene;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, ExitStatus, Stdio},
    time::Duration,
};

/// A test that waits longer than this has failed. Nothing is ever that slow.
const NEVER: Duration = Duration::from_mins(2);

/// One client.
pub(crate) struct Client {
    input: Option<Box<dyn Write + Send>>,
    output: BufReader<Box<dyn Read + Send>>,
    /// Lines that came beside replies and that nobody has looked at yet.
    beside: Vec<Value>,
    number: i64,
}

impl Client {
    fn new(input: impl Write + Send + 'static, output: impl Read + Send + 'static) -> Self {
        let output: Box<dyn Read + Send> = Box::new(output);
        let input: Box<dyn Write + Send> = Box::new(input);
        let output = BufReader::new(output);
        Self { input: Some(input), output, beside: Vec::new(), number: 0 }
    }

    /// Connects to a socket.
    pub(crate) fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        Self::new(stream.try_clone().unwrap(), stream)
    }

    /// Sends bytes as they are. The server may be gone already.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    pub(crate) fn send(&mut self, line: &Value) {
        self.send_raw(format!("{line}\n").as_bytes());
    }

    /// Sends no more.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// The next line, or nothing at the end.
    pub(crate) fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}")))
    }

    /// Has a verb performed and gives its whole reply.
    #[track_caller]
    pub(crate) fn request(&mut self, verb: &str, fields: Value) -> Value {
        self.number += 1;
        let mut request = fields;
        request["id"] = self.number.into();
        request["do"] = verb.into();
        self.send(&request);
        loop {
            let Some(line) = self.line() else { panic!("the server ended before `{verb}`") };
            if line["id"] == self.number && line.get("v").is_none() {
                return line;
            }
            self.beside.push(line);
        }
    }

    /// The same, for one that must be performed.
    #[track_caller]
    pub(crate) fn ok(&mut self, verb: &str, fields: Value) -> Value {
        let reply = self.request(verb, fields);
        assert!(reply.get("ok").is_some(), "{verb}: {reply}");
        reply["ok"].clone()
    }

    /// The same, for one that must be refused: its code.
    #[track_caller]
    pub(crate) fn refused(&mut self, verb: &str, fields: Value) -> String {
        self.refusal(verb, fields)["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The same, with all that it says.
    #[track_caller]
    pub(crate) fn refusal(&mut self, verb: &str, fields: Value) -> Value {
        let reply = self.request(verb, fields);
        assert!(reply["error"]["code"].is_string(), "{verb}: {reply}");
        reply["error"].clone()
    }

    /// Waits for the next line beside replies that `is_it`; those before it are passed over.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        while !self.beside.is_empty() {
            let line = self.beside.remove(0);
            if is_it(&line) {
                return line;
            }
        }
        loop {
            let Some(line) = self.line() else { panic!("the server ended before it came") };
            if is_it(&line) {
                return line;
            }
        }
    }

    /// Waits for the next record of a kind.
    #[track_caller]
    pub(crate) fn record(&mut self, kind: &str) -> Value {
        self.wait_for(|line| line["kind"] == kind)
    }

    /// Everything until the server ends.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut all = std::mem::take(&mut self.beside);
        while let Some(line) = self.line() {
            all.push(line);
        }
        all
    }

    /// Opens a session and subscribes to it.
    #[track_caller]
    pub(crate) fn open(&mut self, fields: Value) -> String {
        let session = self.ok("open", fields)["session"].as_str().unwrap().to_owned();
        self.ok("subscribe", json!({ "session": session, "after": 0 }));
        session
    }

    /// Answers a question as it was shown.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &Value, answer: Value) -> Value {
        let mut fields = answer;
        fields["session"] = question["session"].clone();
        fields["question"] = question["id"].clone();
        fields["hash"] = question["hash"].clone();
        self.request("answer", fields)
    }

    /// Runs code, decides later on what it staged, and gives its output.
    #[track_caller]
    pub(crate) fn run(&mut self, session: &str, language: &str, code: &str) -> String {
        self.ok("run", json!({ "session": session, "language": language, "code": code }));
        let mut printed = String::new();
        loop {
            let record = self.wait_for(|line| line.get("kind").is_some());
            match record["kind"].as_str().unwrap() {
                "output" => printed += record["text"].as_str().unwrap(),
                "question" => {
                    let reply = self.answer(&record, json!({ "decision": "later" }));
                    assert!(reply.get("ok").is_some(), "{reply}");
                }
                "turn_finished" => return printed,
                _ => {}
            }
        }
    }
}

/// A server that was started.
pub(crate) struct Server {
    child: Child,
    /// Its socket, if it listens on one.
    pub(crate) socket: PathBuf,
    /// The rest of its output.
    _output: Option<BufReader<ChildStdout>>,
}

impl Server {
    /// A server on standard input and output, and its only client.
    pub(crate) fn stdio(scene: &Scene) -> (Self, Client) {
        let mut command = scene.command(&["serve", "--stdio"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let client = Client::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (Self { child, socket: PathBuf::new(), _output: None }, client)
    }

    /// A server that also listens on a socket.
    pub(crate) fn socket(scene: &Scene) -> Self {
        let socket = scene.home().join("run/s");
        let path = socket.to_str().unwrap();
        let mut command = scene.command(&["serve", "--json", "--socket", path]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        // It says where it is when everything listens.
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains("\"url\""), "{line}");
        Self { child, socket, _output: Some(output) }
    }

    /// A client on its socket.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket)
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A scene whose sessions talk to the scripted model.
pub(crate) fn scripted(scene: Scene) -> Scene {
    let model = scene.chat_arguments(&[])[1].clone();
    scene.variable("INTERPRETER_MODEL", &model)
}
