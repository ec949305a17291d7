//! The login provider of a team in the settings and on the command line, and crowds at its door.
//! Logins themselves are driven in a browser, with a real provider:
//! `crates/web/page/tests/provider.mjs`.

use crate::{scene::Scene, serving::Serving};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData, SigningKey};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

mod hostile;

const CONFIG: &str = ".config/interpreter/config.toml";

const PROVIDER: &str =
    "[login]\nissuer = \"https://id.example\"\nclient = \"us\"\nsecret = \"LOGIN_SECRET\"\n";

fn provider() -> Scene {
    Scene::new().home_file(CONFIG, PROVIDER).variable("LOGIN_SECRET", "canary-0123456789")
}

fn ways(scene: &Scene, more: &[&str]) -> Value {
    let serving = Serving::start_with(scene, more);
    serde_json::from_str(&serving.get("/v1/login", &[]).body).unwrap()
}

#[test]
fn the_page_offers_the_provider_of_a_team_and_its_secret_is_nowhere() {
    let scene = provider();
    let team = ways(&scene, &["--team"]);
    assert_eq!(team["ways"], serde_json::json!(["link", "password", "provider"]));
    assert_eq!(team["provider"], "id.example");
    assert!(!team.to_string().contains("canary"));
    // One person has no use for it, and a team without one does not offer it.
    assert_eq!(ways(&scene, &[])["ways"], serde_json::json!(["link"]));
    assert_eq!(ways(&Scene::new(), &["--team"])["ways"], serde_json::json!(["link", "password"]));
    scene.run(&["config", "show"]).mentions("LOGIN_SECRET").lacks("canary").exits(0);
}

#[test]
fn a_project_names_no_login_provider() {
    for line in
        ["issuer = \"https://evil.example\"", "client = \"x\"", "secret = \"PATH\"", "name = \"x\""]
    {
        let project = format!("[login]\n{line}\n");
        provider()
            .file(".interpreter/config.toml", project)
            .run(&["serve", "--team", "--json"])
            .mentions("a project may not set `login.")
            .exits(2);
    }
}

#[test]
fn a_team_whose_provider_is_not_in_order_is_not_served() {
    for (config, words) in [
        ("[login]\nissuer = \"https://id.example\"\n", "`login.client` is not"),
        (PROVIDER, "there is no secret `LOGIN_SECRET`"),
        (
            "[login]\nissuer = \"http://id.example\"\nclient = \"us\"\n",
            "`login.issuer` is no address",
        ),
        (
            "[login]\nissuer = \"https://id.example/?x\"\nclient = \"us\"\n",
            "`login.issuer` is no address",
        ),
        ("[login]\nissuer = \"https://me@id.example\"\nclient = \"us\"\n", "no user or password"),
        (
            "[login]\nissuer = \"https://id.example\"\nclient = \"us\"\nscopes = [\"a b\"]\n",
            "is no scope",
        ),
        ("[login]\nsecret = \"sk-canary!\"\n", "does not belong in this file"),
        (
            "offline = true\n[login]\nissuer = \"https://id.example\"\nclient = \"us\"\n",
            "`offline` is set",
        ),
    ] {
        let scene = Scene::new().home_file(CONFIG, config);
        scene.run(&["serve", "--team", "--json"]).mentions(words).lacks("canary").exits(2);
    }
}

#[test]
fn somebody_is_added_by_their_subject_without_a_password() {
    let scene = provider();
    let add = |name: &str, subject: &str| {
        scene.run(&["serve", "user", "add", name, "--role", "author", "--subject", subject])
    };
    add("anna", "7").mentions("They can log in.").exits(0);
    add("ben", "7").mentions("somebody else logs in as that subject").exits(2);
    for wrong in ["", " 7", "7\n", "ä"] {
        add("ben", wrong).mentions("visible characters").exits(2);
    }
    let listed = scene.run(&["serve", "user", "list", "--json"]).exits(0).stdout();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (listed[0]["issuer"].as_str(), listed[0]["subject"].as_str()),
        (Some("https://id.example"), Some("7"))
    );
    // No password opens: not even an empty one.
    let serving = Serving::start_with(&scene, &["--team"]);
    for password in ["", "7", "correct-horse-battery"] {
        let body = serde_json::json!({ "name": "anna", "password": password }).to_string();
        assert_eq!(serving.post("/v1/login", &[], &body).status, 401, "{password}");
    }
    scene.run(&["serve", "user", "subject", "anna", "8"]).exits(0);
    scene.run(&["serve", "user", "subject", "eve", "9"]).mentions("nobody").exits(1);
    scene.run(&["serve", "user", "list"]).mentions("8").exits(0);
    Scene::new()
        .run(&["serve", "user", "add", "anna", "--role", "author", "--subject", "7"])
        .mentions("there is no login provider")
        .exits(2);
}

/// The name by which browsers reach the server.
const NAME: &str = "code.example.org";

/// A provider of one key, where the subject 7 has logged in. A code is the nonce of its login.
struct ProviderDouble {
    issuer: String,
    /// How often it was asked for a token.
    asked: Arc<AtomicUsize>,
}

impl ProviderDouble {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let (name, count) = (issuer.clone(), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &name, &key, &count);
            }
        });
        Self { issuer, asked }
    }

    /// A team with it, behind a proxy, so that clients come from any address.
    fn team(&self) -> (Scene, Serving) {
        let settings = format!("[login]\nissuer = \"{}\"\nclient = \"us\"\n", self.issuer);
        let scene = Scene::new().home_file(CONFIG, &settings);
        scene.run(&["serve", "user", "add", "anna", "--role", "author", "--subject", "7"]).exits(0);
        let serving = Serving::start_with(&scene, &["--team", "--behind-proxy", NAME]);
        (scene, serving)
    }
}

/// Answers one request to the provider.
fn answer(stream: TcpStream, issuer: &str, key: &KeyPair, asked: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).unwrap() > 2 {
        head += &std::mem::take(&mut line);
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let base64 = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let (status, reply) = match head.split(' ').nth(1).unwrap() {
        "/.well-known/openid-configuration" => {
            let at = |path| format!("{issuer}{path}");
            let (authorization, token, keys) = (at("/auth"), at("/token"), at("/keys"));
            let document = json!({
                "issuer": issuer, "authorization_endpoint": authorization,
                "token_endpoint": token, "jwks_uri": keys,
            });
            ("200 OK", document)
        }
        "/keys" => {
            let x = base64(key.der_bytes());
            ("200 OK", json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": x }] }))
        }
        _ => {
            asked.fetch_add(1, Ordering::Relaxed);
            let form = fields(std::str::from_utf8(&body).unwrap());
            if form["code"] == "made-up" {
                ("400 Bad Request", json!({ "error": "invalid_grant" }))
            } else {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
                let claims = json!({
                    "iss": issuer, "sub": "7", "aud": "us", "nonce": form["code"],
                    "iat": now, "exp": now + 300,
                });
                let header = base64(br#"{"alg":"EdDSA"}"#);
                let message = format!("{header}.{}", base64(claims.to_string().as_bytes()));
                let signature = base64(&key.sign(message.as_bytes()).unwrap());
                ("200 OK", json!({ "id_token": format!("{message}.{signature}") }))
            }
        }
    };
    let (reply, mut stream) = (reply.to_string(), reader.into_inner());
    let length = reply.len();
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{reply}").as_bytes()).unwrap();
}

/// The fields of a query or a form. None that is read here has anything escaped.
fn fields(text: &str) -> HashMap<&str, &str> {
    text.split('&').filter_map(|pair| pair.split_once('=')).collect()
}

/// A page that somebody gets from an address, as text.
fn visit(serving: &Serving, target: &str, from: &str, cookie: &str) -> (u16, String) {
    let mut stream = serving.connect();
    let head = [
        &format!("GET {target} HTTP/1.1"),
        &format!("Host: {NAME}"),
        "Connection: close",
        &format!("X-Forwarded-For: {from}"),
        &format!("Cookie: {cookie}"),
    ]
    .map(str::to_owned);
    stream.write_all((head.join("\r\n") + "\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

fn header<'a>(text: &'a str, name: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap().1
}

/// A login that has begun in some browser.
struct Begun {
    cookie: String,
    state: String,
    nonce: String,
}

impl Begun {
    fn at(serving: &Serving, from: &str) -> Self {
        let (status, text) = visit(serving, "/login/oidc", from, "");
        assert_eq!(status, 303, "{from}: {text}");
        let set = header(&text, "set-cookie");
        let (cookie, attributes) = set.split_once("; ").unwrap();
        assert!(cookie.starts_with("__Host-"), "{set}");
        assert_eq!(attributes, "Path=/; Max-Age=660; HttpOnly; SameSite=Lax; Secure");
        let asked = fields(header(&text, "location").split_once('?').unwrap().1);
        let [state, nonce] = ["state", "nonce"].map(|name| asked[name].to_owned());
        Self { cookie: cookie.to_owned(), state, nonce }
    }

    /// Comes back with a code and this state.
    fn back(&self, serving: &Serving, from: &str, code: &str, state: &str) -> (u16, String) {
        let target = format!("/login/oidc/callback?code={code}&state={state}");
        visit(serving, &target, from, &self.cookie)
    }

    /// Comes back and logs in.
    #[track_caller]
    fn must_come_in(&self, serving: &Serving, from: &str) {
        let (status, text) = self.back(serving, from, &self.nonce, &self.state);
        assert_eq!(status, 303, "{text}");
        let code = header(&text, "location").strip_prefix("/#").unwrap();
        let (host, origin) = (format!("Host: {NAME}"), format!("Origin: https://{NAME}"));
        let cookie = format!("Cookie: {}", self.cookie);
        let head = ["POST /v1/login HTTP/1.1", &host, &origin, &cookie, "Connection: close"];
        let head = [&head[..], &["Content-Type: application/json"]].concat();
        let answer = serving.send(&head, &json!({ "code": code }).to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

#[test]
fn strangers_who_only_begin_logins_close_them_to_nobody() {
    let provider = ProviderDouble::start();
    let (_scene, serving) = provider.team();
    let anna = Begun::at(&serving, "198.51.100.7");
    for wide in 0..15 {
        for part in 0..100 {
            Begun::at(&serving, &format!("2001:db8:{wide:x}:{part:x}::1"));
        }
    }
    // The control: each network has its limit, and has reached it.
    let (status, text) = visit(&serving, "/login/oidc", "2001:db8:1:ffff::1", "");
    assert!(status == 429 && text.contains("from your network within a minute"), "{text}");
    // Whoever began before them comes in, and so does whoever begins now.
    anna.must_come_in(&serving, "198.51.100.7");
    Begun::at(&serving, "198.51.100.8").must_come_in(&serving, "198.51.100.8");
}

#[test]
fn only_the_browser_that_began_comes_back_and_once() {
    let provider = ProviderDouble::start();
    let (scene, serving) = provider.team();
    let from = "198.51.100.7";
    let (one, other) = (Begun::at(&serving, from), Begun::at(&serving, from));
    let refused = |serving: &Serving, begun: &Begun, state: &str| {
        let (status, text) = begun.back(serving, from, &begun.nonce, state);
        assert!(status == 403 && text.contains("Begin again."), "{state}: {text}");
    };
    refused(&serving, &one, &other.state);
    refused(&serving, &one, &one.nonce);
    refused(&serving, &one, "wrong");
    let stolen =
        Begun { cookie: String::new(), state: one.state.clone(), nonce: one.nonce.clone() };
    refused(&serving, &stolen, &one.state);
    assert_eq!(provider.asked.load(Ordering::Relaxed), 0);
    // The control: whoever tried these has not ended it. Then it is spent.
    one.must_come_in(&serving, "203.0.113.9");
    refused(&serving, &one, &one.state);
    assert_eq!(provider.asked.load(Ordering::Relaxed), 1);
    // A restart ends those that have begun.
    serving.stop();
    let serving = Serving::start_with(&scene, &["--team", "--behind-proxy", NAME]);
    refused(&serving, &other, &other.state);
    Begun::at(&serving, from).must_come_in(&serving, from);
}

#[test]
fn made_up_codes_do_not_make_the_server_ask_the_provider_without_end() {
    let provider = ProviderDouble::start();
    let (_scene, serving) = provider.team();
    let stranger = Begun::at(&serving, "192.0.2.1");
    // Wherever the answers come from: the login began at one address.
    let seen: Vec<_> = (0..60)
        .map(|last| {
            stranger.back(&serving, &format!("198.51.100.{last}"), "made-up", &stranger.state).0
        })
        .collect();
    assert!(seen[..20].iter().all(|status| *status == 403), "{seen:?}");
    assert!(seen[20..].contains(&429), "{seen:?}");
    assert!(provider.asked.load(Ordering::Relaxed) < 60, "{seen:?}");
    // A login that began elsewhere comes back from there all the same.
    Begun::at(&serving, "203.0.113.1").must_come_in(&serving, "198.51.100.1");
}
