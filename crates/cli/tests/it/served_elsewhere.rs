//! The server for other computers: with TLS, and behind a proxy, of which one is a real nginx with the
//! lines of the guide.

use crate::{
    scene::Scene,
    serving::{Answer, Errors, Login, Serving, WebSocket},
};
use rcgen::CertifiedKey;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring,
    pki_types::CertificateDer,
};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

const NAME: &str = "code.example.org";

/// A certificate with its key, as files.
struct Certificate {
    der: CertificateDer<'static>,
    chain: PathBuf,
    key: PathBuf,
}

impl Certificate {
    fn new(scene: &Scene) -> Self {
        let names = vec![NAME.to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).unwrap();
        let (chain, key) = (scene.home().join("chain.pem"), scene.home().join("key.pem"));
        let pem = |kind: &str, der: &[u8]| {
            use base64::{Engine, engine::general_purpose::STANDARD};
            format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", STANDARD.encode(der))
        };
        scene.put(&chain, pem("CERTIFICATE", cert.der()).as_bytes());
        scene.put(&key, pem("PRIVATE KEY", &signing_key.serialize_der()).as_bytes());
        Self { der: cert.der().clone(), chain, key }
    }

    /// A connection with TLS, which trusts this certificate and no other.
    fn over<S: Read + Write>(&self, stream: S) -> StreamOwned<ClientConnection, S> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = NAME.try_into().unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
    }
}

/// Sends a request and reads its answer. A connection that is refused has none.
fn exchange(mut stream: impl Read + Write, head: &[&str], body: &str) -> Answer {
    let length = format!("Content-Length: {}", body.len());
    let mut lines = [head, &["Connection: close"]].concat();
    if !body.is_empty() {
        lines.extend([length.as_str(), "Content-Type: application/json"]);
    }
    _ = stream.write_all(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes());
    _ = stream.flush();
    Answer::read(&mut stream)
}

#[test]
fn with_a_certificate_it_serves_others_by_its_names_alone() {
    let scene = Scene::new();
    let certificate = Certificate::new(&scene);
    let files = [certificate.chain.to_str().unwrap(), certificate.key.to_str().unwrap()];
    let options = ["--address", "0.0.0.0", "--tls-cert", files[0], "--tls-key", files[1]];
    let serving = Serving::start_with(&scene, &options);
    let port = serving.port;
    assert_eq!(serving.link_origin, format!("https://{NAME}:{port}"));
    let asks = |host: &str| {
        let host = format!("Host: {host}");
        exchange(certificate.over(serving.connect()), &["GET /healthz HTTP/1.1", &host], "").status
    };
    assert_eq!(asks(&format!("{NAME}:{port}")), 200);
    assert_eq!(asks(&format!("127.0.0.1:{port}")), 200);
    for other in [
        NAME.to_owned(),
        format!("evil.example:{port}"),
        format!("a.{NAME}:{port}"),
        format!("localhost:{port}"),
    ] {
        assert_eq!(asks(&other), 421, "{other}");
    }
    // Without TLS there is no answer.
    assert!(serving.get("/healthz", &[]).is_refused());
    let host = format!("Host: {NAME}:{port}");
    let body = serde_json::json!({ "code": serving.code }).to_string();
    let over = || certificate.over(serving.connect());
    let answer = exchange(over(), &["POST /v1/login HTTP/1.1", &host], &body);
    let set = answer.header("set-cookie").unwrap().to_owned();
    assert!(
        set.starts_with("__Host-") && set.contains("; Secure") && set.contains("; Path=/;"),
        "{set}"
    );
    let [cookie, key] = Login::of(&answer).lines();
    let done = |origin: &str| {
        let head = ["POST /v1/do HTTP/1.1", &host, &cookie, &key, origin];
        exchange(over(), &head, r#"{"id":1,"do":"fly"}"#).status
    };
    assert_eq!(done(&format!("Origin: https://{NAME}:{port}")), 200);
    assert_eq!(done(&format!("Origin: http://{NAME}:{port}")), 403);
}

#[test]
fn a_certificate_that_cannot_be_used_is_refused_with_the_reason() {
    let scene = Scene::new();
    let (one, chain) = (Certificate::new(&scene), scene.home().join("other.pem"));
    std::fs::copy(&one.chain, &chain).unwrap();
    let other = Certificate::new(&scene);
    let serve = |chain: &Path, key: &Path| {
        let files = [chain.to_str().unwrap(), key.to_str().unwrap()];
        scene.run(&["serve", "--no-open", "--tls-cert", files[0], "--tls-key", files[1]]).exits(2)
    };
    serve(&chain, &other.key).mentions("cannot be used");
    serve(&chain, &chain).mentions("has no private key in PEM");
    serve(&other.key, &other.key).mentions("has no certificate in PEM");
    serve(&scene.home().join("nothing.pem"), &other.key).mentions("cannot read");
    for name in ["https://code.example.org", "a b", ""] {
        scene
            .run(&["serve", "--no-open", "--behind-proxy", name])
            .exits(2)
            .mentions("not a host name");
    }
    scene.run(&["serve", "--tls-cert", "x"]).exits(2).mentions("--tls-key");
}

#[test]
fn behind_a_proxy_only_its_name_and_its_word_count() {
    let scene = Scene::new();
    let serving = Serving::start_with(&scene, &["--behind-proxy", NAME]);
    assert_eq!(serving.link_origin, format!("https://{NAME}"));
    let (host, bearer) = (format!("Host: {NAME}"), serving.bearer());
    let asks = |host: &str, more: &[&str]| {
        let head = ["GET /metrics HTTP/1.1", host, &bearer];
        exchange(serving.connect(), &[&head[..], more].concat(), "").status
    };
    assert_eq!(asks(&host, &[]), 200);
    assert_eq!(asks(&serving.host(), &[]), 421);
    assert_eq!(asks(&host, &[&format!("Origin: https://{NAME}")]), 200);
    assert_eq!(asks(&host, &[&format!("Origin: http://{NAME}")]), 403);
    // The proxy names the client; what the client itself said comes before that.
    assert_eq!(asks(&host, &["X-Forwarded-For: 192.0.2.66, 192.0.2.7"]), 200);
    serving.errors.wait_for("192.0.2.7\"");
    assert!(!serving.errors.text().contains("192.0.2.66"));
    // Nobody but the proxy is served.
    let elsewhere = ["--behind-proxy", NAME, "--proxy-address", "192.0.2.1"];
    let serving = Serving::start_with(&scene, &elsewhere);
    let head = ["GET /healthz HTTP/1.1", host.as_str()];
    assert_eq!(exchange(serving.connect(), &head, "").status, 0);
}

/// A real proxy, which listens on a socket of its own.
struct Nginx {
    child: Child,
    socket: PathBuf,
}

impl Nginx {
    /// Starts it with the lines of the guide.
    fn start(folder: &Path, certificate: &Certificate, port: u16) -> Self {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/serving.md");
        let guide = fs_err::read_to_string(guide).unwrap();
        let lines = guide.split("```nginx\n").nth(1).unwrap().split("```").next().unwrap();
        let socket = folder.join("s");
        let replaced = [
            ("listen 443 ssl;", format!("listen unix:{} ssl;", socket.display())),
            ("127.0.0.1:8080", format!("127.0.0.1:{port}")),
            ("/etc/ssl/code.example.org.pem", certificate.chain.display().to_string()),
            ("/etc/ssl/code.example.org.key", certificate.key.display().to_string()),
        ];
        let ours = replaced.iter().fold(lines.to_owned(), |lines, (theirs, ours)| {
            assert!(lines.contains(theirs), "`{theirs}` is not in the guide");
            lines.replace(theirs, ours)
        });
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {}/{kind};\n", folder.display()))
            .concat();
        let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
        let whole = format!(
            "{user}daemon off;\nworker_processes 1;\npid {}/pid;\nerror_log stderr notice;\n\
             events {{}}\nhttp {{\naccess_log off;\n{temporary}{ours}}}\n",
            folder.display()
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, whole).unwrap();
        let path = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
        let mut child = Command::new("nginx")
            .env("PATH", path)
            .args(["-e", "stderr", "-p"])
            .arg(folder)
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this test needs nginx");
        let errors = Errors::default();
        errors.follow(child.stderr.take().unwrap());
        let started = Self { child, socket };
        errors.wait_for("start worker process");
        started
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        // Its workers end with it.
        _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        _ = self.child.wait();
    }
}

#[test]
fn nginx_in_front_works_as_the_guide_says() {
    let scene = Scene::new();
    let certificate = Certificate::new(&scene);
    let serving = Serving::start_with(&scene, &["--behind-proxy", NAME]);
    let folder = tempfile::tempdir().unwrap();
    let nginx = Nginx::start(folder.path(), &certificate, serving.port);
    let over = || certificate.over(UnixStream::connect(&nginx.socket).unwrap());
    let (host, origin) = (format!("Host: {NAME}"), format!("Origin: https://{NAME}"));
    let page = exchange(over(), &["GET / HTTP/1.1", &host], "");
    assert!(page.status == 200 && page.body.starts_with("<!doctype html>"), "{page:?}");
    let body = serde_json::json!({ "code": serving.code }).to_string();
    let login = Login::of(&exchange(over(), &["POST /v1/login HTTP/1.1", &host, &origin], &body));
    let [cookie, key] = login.lines();
    let head = ["POST /v1/do HTTP/1.1", &host, &origin, &cookie, &key];
    let done = exchange(over(), &head, r#"{"id":1,"do":"fly"}"#);
    assert!(done.status == 200 && done.body.contains("\"error\""), "{done:?}");
    let [cookie, offered] = login.socket_lines();
    let mut socket = WebSocket::open_over(over(), &host, &[&origin, &cookie, &offered])
        .unwrap_or_else(|seen| panic!("{seen:?}"));
    socket.say(r#"{"id":2,"do":"fly"}"#);
    assert!(socket.hear().unwrap().contains("\"error\""));
    // Somebody else's name and page are refused there, too.
    let other = ["GET /metrics HTTP/1.1", "Host: evil.example", &cookie, &key];
    assert!(exchange(over(), &other, "").is_refused());
    let evil = ["POST /v1/do HTTP/1.1", &host, "Origin: https://evil.example", &cookie, &key];
    assert_eq!(exchange(over(), &evil, "{}").status, 403);
    // A logout goes through, and ends the socket behind it.
    let head = ["POST /v1/logout HTTP/1.1", &host, &origin, &cookie, &key];
    assert_eq!(exchange(over(), &head, "{}").status, 200);
    socket.must_end();
}
