//! Servers that play providers: one that others wrote, one that answers with fixed bytes, and one
//! with a certificate that nobody knows.

use crate::scene::without;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
};
use tempfile::TempDir;

/// A program that serves until its standard input ends, and says its address on its first line.
struct Program {
    child: Child,
    _input: ChildStdin,
    first_line: String,
}

impl Program {
    fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it is there");
        let input = child.stdin.take().unwrap();
        let mut first_line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first_line).unwrap();
        Self { child, _input: input, first_line: first_line.trim().to_owned() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// `@copilotkit/aimock`, which speaks all five formats and was written by others.
pub(crate) struct Mock {
    pub(crate) address: String,
    _program: Program,
}

const MOCK: &str = r#"
const { LLMock } = await import(process.argv[1]);
const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 5 });
const call = { name: "execute", arguments: JSON.stringify({ language: "python", code: "print(2+2)" }) };
mock.on({ userMessage: "three words" }, { content: "one two three" });
mock.on({ userMessage: "Which colour" }, { content: "Red." });
mock.on({ hasToolResult: true }, { content: "The answer is four, héé 漢字 😀." });
mock.on({ hasToolResult: false }, { toolCalls: [call] });
await mock.start();
console.log(mock.url);
process.stdin.resume().on("end", () => process.exit(0));
"#;

impl Mock {
    pub(crate) fn start() -> Option<Self> {
        let package =
            "../../target/test-tools/aimock/node_modules/@copilotkit/aimock/dist/index.js";
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
        let Ok(package) = package.canonicalize() else {
            without("aimock");
            return None;
        };
        let mut command = Command::new("node");
        command.args(["--input-type=module", "-e", MOCK]).arg(package);
        let program = Program::start(&mut command);
        if !program.first_line.starts_with("http://") {
            without("a Node.js that is new enough for aimock");
            return None;
        }
        Some(Self { address: program.first_line.clone(), _program: program })
    }
}

/// llama.cpp's own server with a tiny model: whatever it says, it says in formats that others defined.
pub(crate) struct Llama {
    pub(crate) address: String,
    child: Child,
}

impl Llama {
    pub(crate) fn start() -> Option<Self> {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
        let folder = tools.join("llama-server/shellwise/bin/linux-x64");
        let (program, weights) =
            (folder.join("llama-server"), tools.join("models/SmolLM2-135M-Instruct.Q4_1.gguf"));
        if !program.exists() || !weights.exists() {
            // There is a build for one kind of processor.
            if cfg!(target_arch = "x86_64") {
                without("llama-server");
            }
            return None;
        }
        let mut child = Command::new(program)
            .arg("-m")
            .arg(weights)
            .args(["-t", "1", "-c", "4096", "-np", "1", "--no-webui"])
            .args(["--host", "127.0.0.1", "--port", "0"])
            .env("LD_LIBRARY_PATH", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            line.split_once("listening on ").map(|(_, address)| address.trim().to_owned())
        });
        // It says more, and must not wait for a reader.
        thread::spawn(move || lines.for_each(drop));
        let address = address.expect("it says where it listens, or why it does not");
        Some(Self { address, child })
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A server that gives one answer to every question, and perhaps another to who only looks.
pub(crate) struct Plain {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Plain {
    pub(crate) fn answering(status: &str, content_type: &str, body: &str) -> Self {
        let answer = answer(status, content_type, body);
        Self::saying(answer.clone(), answer)
    }

    /// Answers a GET and everything else with these bytes.
    pub(crate) fn saying(get: String, other: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let request = request(&stream);
                let answer = if request.starts_with("GET ") { &get } else { &other };
                remembered.lock().unwrap().push(request.clone());
                // The client may have had enough, which is its right.
                _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, asked }
    }

    /// A server that lists these models, and whose models say these words, by chat completions.
    pub(crate) fn serving(models: &[&str], words: &str) -> Self {
        let models: Vec<_> = models.iter().map(|name| serde_json::json!({ "id": name })).collect();
        let list = serde_json::json!({ "data": models }).to_string();
        Self::saying(
            answer("200 OK", "application/json", &list),
            answer("200 OK", "text/event-stream", &stream(words)),
        )
    }

    /// A model that says these words, by chat completions.
    pub(crate) fn streaming(words: &str) -> Self {
        Self::answering("200 OK", "text/event-stream", &stream(words))
    }

    /// The requests so far, headers and body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A model that says its words when the test wants it, by chat completions.
pub(crate) struct Paced {
    pub(crate) address: String,
    words: mpsc::Sender<String>,
}

impl Paced {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (words, told) = mpsc::channel::<String>();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            request(&stream);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close";
            // The client may have had enough, which is its right.
            _ = write!(stream, "{head}\r\n\r\n");
            for words in told {
                let delta = serde_json::json!({ "choices": [{ "delta": { "content": words } }] });
                _ = write!(stream, "data: {delta}\n\n");
            }
            let end = serde_json::json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
            _ = write!(stream, "data: {end}\n\ndata: [DONE]\n\n");
        });
        Self { address, words }
    }

    pub(crate) fn says(&self, words: &str) -> &Self {
        self.words.send(words.to_owned()).unwrap();
        self
    }
}

fn answer(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn stream(words: &str) -> String {
    let delta = serde_json::json!({ "choices": [{ "delta": { "content": words } }] });
    let end = serde_json::json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
        text.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    text + &String::from_utf8_lossy(&body)
}

/// A server over TLS, whose certificate is signed by an authority of its own.
pub(crate) struct Tls {
    pub(crate) port: u16,
    folder: TempDir,
    _program: Program,
}

const TLS: &str = "
import http.server, ssl, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        body = sys.argv[2].encode()
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *ignored): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + '/server.pem', sys.argv[1] + '/server.key')
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
";

const CERTIFICATES: &str = r#"
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj "/CN=Test authority" -addext basicConstraints=critical,CA:TRUE
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj "/CN=localhost"
printf 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n' >extensions
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.pem
"#;

impl Tls {
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("sh")
            .args(["-c", CERTIFICATES])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !made.unwrap().success() {
            without("openssl");
            return None;
        }
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", TLS]).arg(folder.path()).arg(stream("Over TLS."));
        let program = Program::start(&mut command);
        Some(Self { port: program.first_line.parse().unwrap(), folder, _program: program })
    }

    /// The file with the authority's certificate.
    pub(crate) fn ca(&self) -> String {
        self.folder.path().join("ca.pem").display().to_string()
    }
}
