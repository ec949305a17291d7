//! A provider that answers slowly, without end, with nothing of use or otherwise each time.

use super::{Begun, NAME, fields, visit};
use crate::{scene::Scene, serving::Serving};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData, SigningKey};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// How the provider answers. By default it is right.
#[derive(Clone, Default)]
struct Manner {
    /// The status of its description.
    description: Option<&'static str>,
    /// Fields of its description that are others.
    fields: Vec<(&'static str, String)>,
    /// The status of its keys.
    keys: Option<&'static str>,
    /// Whether each token names another key.
    new_keys: bool,
    /// Lines in the head of the answer with the token.
    lines: &'static str,
}

/// Bytes in place of an answer.
#[derive(Clone, Copy)]
enum Raw {
    /// These, then nothing more until the other end goes away.
    Then(&'static str),
    /// These, then others over and over.
    Endless(&'static str, &'static str),
    /// These, then others one by one, with a pause before each.
    Slow(&'static str, &'static str),
    /// These, and the end.
    Ended(&'static str),
}

/// The provider.
struct Hostile {
    issuer: String,
    manner: Arc<Mutex<Manner>>,
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl Hostile {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = Arc::new(KeyPair::generate_for(&PKCS_ED25519).unwrap());
        let (manner, asked) = (Arc::<Mutex<Manner>>::default(), Arc::<Mutex<_>>::default());
        let one = Self { issuer, manner, asked };
        let (issuer, manner) = (one.issuer.clone(), Arc::clone(&one.manner));
        let asked = Arc::clone(&one.asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (issuer, key) = (issuer.clone(), Arc::clone(&key));
                let (manner, asked) = (manner.lock().unwrap().clone(), Arc::clone(&asked));
                thread::spawn(move || answer(&stream, &issuer, &key, &manner, &asked));
            }
        });
        one
    }

    fn team(&self) -> (Scene, Serving) {
        let settings = format!("[login]\nissuer = \"{}\"\nclient = \"us\"\n", self.issuer);
        let scene = Scene::new().home_file(".config/interpreter/config.toml", &settings);
        scene.run(&["serve", "user", "add", "anna", "--role", "author", "--subject", "7"]).exits(0);
        let serving = Serving::start_with(&scene, &["--team", "--behind-proxy", NAME]);
        (scene, serving)
    }

    fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// How often it was asked for a path.
    fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().get(path).copied().unwrap_or(0)
    }
}

/// Answers one request.
fn answer(
    stream: &TcpStream,
    issuer: &str,
    key: &KeyPair,
    manner: &Manner,
    asked: &Mutex<HashMap<String, usize>>,
) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        head += &std::mem::take(&mut line).to_ascii_lowercase();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    *asked.lock().unwrap().entry(path.clone()).or_default() += 1;
    let (status, reply, more) = match path.as_str() {
        "/.well-known/openid-configuration" => {
            let at = |path| format!("{issuer}{path}");
            let mut document = json!({
                "issuer": issuer, "authorization_endpoint": at("/auth"),
                "token_endpoint": at("/token"), "jwks_uri": at("/keys"),
            });
            for (field, value) in &manner.fields {
                document[field] = value.clone().into();
            }
            (manner.description.unwrap_or("200 OK"), document, "")
        }
        "/keys" => {
            let x = URL_SAFE_NO_PAD.encode(key.der_bytes());
            let keys = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "1", "x": x }] });
            (manner.keys.unwrap_or("200 OK"), keys, "")
        }
        _ => {
            let form = std::str::from_utf8(&body).unwrap();
            // A code is the nonce of its login, or the number of something odd.
            let code = fields(form)["code"];
            if let Some(number) = code.strip_prefix("odd-") {
                return odd(stream, ODD[number.parse::<usize>().unwrap()].1);
            }
            ("200 OK", token(issuer, key, manner, code), manner.lines)
        }
    };
    let reply = reply.to_string();
    let head = format!("HTTP/1.1 {status}\r\n{more}Connection: close\r\nContent-Length: ");
    // Whoever asked may have gone.
    _ = write!(&mut &*stream, "{head}{}\r\n\r\n{reply}", reply.len()).is_ok();
}

fn token(issuer: &str, key: &KeyPair, manner: &Manner, nonce: &str) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = json!({
        "iss": issuer, "sub": "7", "aud": "us", "nonce": nonce, "iat": now, "exp": now + 300,
    });
    let name = if manner.new_keys { nonce } else { "1" };
    let header = json!({ "alg": "EdDSA", "kid": name });
    let base64 = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let message = format!(
        "{}.{}",
        base64(header.to_string().as_bytes()),
        base64(claims.to_string().as_bytes())
    );
    let signature = base64(&key.sign(message.as_bytes()).unwrap());
    json!({ "id_token": format!("{message}.{signature}") })
}

/// Sends bytes that are no answer, until the other end goes away.
fn odd(mut stream: &TcpStream, raw: Raw) {
    let pause = Duration::from_millis(50);
    let is_there = |stream: &mut &TcpStream| {
        let read = stream.read(&mut [0]);
        read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    };
    match raw {
        Raw::Ended(text) => _ = stream.write_all(text.as_bytes()).is_ok(),
        Raw::Then(text) => {
            _ = stream.write_all(text.as_bytes()).is_ok();
            _ = stream.read(&mut [0]).is_ok();
        }
        Raw::Endless(text, more) => {
            _ = stream.write_all(text.as_bytes()).is_ok();
            while stream.write_all(more.as_bytes()).is_ok() {}
        }
        Raw::Slow(text, more) => {
            stream.set_read_timeout(Some(pause)).unwrap();
            _ = stream.write_all(text.as_bytes()).is_ok();
            while is_there(&mut stream) && stream.write_all(more.as_bytes()).is_ok() {}
        }
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\n";

const CHUNK: &str = "10\r\n{\"id_token\":\"xxx\r\n";

#[rustfmt::skip] // a table
const ODD: &[(&str, Raw)] = &[
    ("nothing", Raw::Then("")),
    ("half a head", Raw::Then("HTTP/1.1 200 OK\r\nContent-Type: appl")),
    ("half a body", Raw::Then("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"id_token\":\"x")),
    ("a body byte by byte", Raw::Slow("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n", "x")),
    ("a head byte by byte", Raw::Slow("HTTP/1.1 200 OK\r\nX-Long: ", "x")),
    ("chunks byte by byte", Raw::Slow("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")),
    ("head lines without end", Raw::Endless(OK, "X-Line: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n")),
    ("one head line without end", Raw::Endless(OK, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")),
    ("chunks without end", Raw::Endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", CHUNK)),
    ("a body without end", Raw::Endless("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")),
    ("provisional answers without end", Raw::Endless("", "HTTP/1.1 100 Continue\r\n\r\n")),
    ("early hints without end", Raw::Slow("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
    ("a chunk without measure", Raw::Then("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}")),
    ("a chunk of more than a number", Raw::Ended("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1ffffffffffffffff\r\n{}")),
    ("trailers without end", Raw::Endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Line: x\r\n")),
    ("a length without measure", Raw::Then("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n{}")),
    ("two lengths", Raw::Ended("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 900\r\n\r\n{}")),
    ("a negative length", Raw::Ended("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}")),
    ("a length that is not kept", Raw::Ended("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{}")),
    ("another protocol", Raw::Ended("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")),
    ("a part", Raw::Ended("HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\n{}")),
    ("nothing, said so", Raw::Ended("HTTP/1.1 204 No Content\r\n\r\n")),
    ("a redirect", Raw::Ended("HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")),
    ("a redirect without a place", Raw::Ended("HTTP/1.1 302 x\r\nContent-Length: 0\r\n\r\n")),
    ("no status", Raw::Ended("HTTP/1.1 99999 x\r\nContent-Length: 2\r\n\r\n{}")),
    ("no protocol", Raw::Ended("SSH-2.0-OpenSSH_9.9\r\n")),
];

#[test]
fn no_answer_of_a_provider_keeps_the_server_or_its_memory() {
    let provider = Hostile::start();
    let (_scene, serving) = provider.team();
    // The control, which has the description and the keys read.
    Begun::at(&serving, "198.51.100.1").must_come_in(&serving, "198.51.100.1");
    let (before, began) = (serving.most_memory(), Instant::now());
    thread::scope(|scope| {
        let serving = &serving;
        let come = |number: usize| {
            let from = format!("192.0.2.{}", number + 1);
            let begun = Begun::at(serving, &from);
            begun.back(serving, &from, &format!("odd-{number}"), &begun.state)
        };
        let all = 0..ODD.len();
        let all: Vec<_> = all.map(|number| (number, scope.spawn(move || come(number)))).collect();
        // Meanwhile others are served.
        Begun::at(serving, "198.51.100.2").must_come_in(serving, "198.51.100.2");
        for (number, one) in all {
            let ((status, text), name) = (one.join().unwrap(), ODD[number].0);
            assert_eq!(status, 502, "{name}: {text}");
            assert!(!text.contains("/#"), "{name}: {text}");
        }
    });
    // The patience with a provider, and room for a slow machine.
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    let grown = serving.most_memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    assert_eq!(provider.asked("/token"), ODD.len() + 2);
    // A label changes nothing: what comes is read as it is, and nothing is unpacked.
    for lines in ["Content-Encoding: gzip\r\n", "Content-Type: text/html\r\nSet-Cookie: a=b\r\n"] {
        provider.behave(Manner { lines, ..Manner::default() });
        Begun::at(&serving, "198.51.100.3").must_come_in(&serving, "198.51.100.3");
    }
}

#[test]
fn a_crowd_does_not_make_the_server_ask_a_provider_that_fails() {
    let provider = Hostile::start();
    provider.behave(Manner { description: Some("500 Oops"), ..Manner::default() });
    let (_scene, serving) = provider.team();
    let document = "/.well-known/openid-configuration";
    let began = Instant::now();
    for one in 0..300 {
        let from = format!("2001:db8:{one:x}::1");
        let (status, text) = visit(&serving, "/login/oidc", &from, "");
        assert_eq!(status, 502, "{from}: {text}");
    }
    // Once in five seconds.
    let most = usize::try_from(began.elapsed().as_secs() / 5).unwrap() + 1;
    let asked = provider.asked(document);
    assert!((1..=most).contains(&asked), "{asked} of {most}");
}

#[test]
fn new_keys_in_every_token_do_not_make_the_server_ask_for_them() {
    let provider = Hostile::start();
    let (_scene, serving) = provider.team();
    let come = |last: u32| {
        let from = format!("2001:db8:{last:x}::1");
        let begun = Begun::at(&serving, &from);
        begun.back(&serving, &from, &begun.nonce, &begun.state)
    };
    assert_eq!(come(0).0, 303);
    for keys in [None, Some("500 Oops")] {
        provider.behave(Manner { new_keys: true, keys, ..Manner::default() });
        for last in 1..40 {
            let (status, text) = come(last);
            assert!(status == 403 || status == 502, "{text}");
        }
    }
    // Once at first, and at most once more in the minute that this takes no longer than.
    let asked = provider.asked("/keys");
    assert!((1..=2).contains(&asked), "{asked}");
    provider.behave(Manner::default());
    assert_eq!(come(50).0, 303, "the keys that are known still serve");
}

#[test]
fn a_description_that_changes_moves_no_login_that_has_begun() {
    let provider = Hostile::start();
    let (_scene, serving) = provider.team();
    let elsewhere = Hostile::start();
    let begun = Begun::at(&serving, "198.51.100.1");
    let fields = ["authorization_endpoint", "token_endpoint", "jwks_uri"];
    let fields = fields.map(|field| (field, format!("{}/x", elsewhere.issuer)));
    provider.behave(Manner { fields: fields.into(), ..Manner::default() });
    begun.must_come_in(&serving, "198.51.100.1");
    let later = Begun::at(&serving, "198.51.100.1");
    later.must_come_in(&serving, "198.51.100.1");
    assert!(elsewhere.asked.lock().unwrap().is_empty());
    // The control: a server that reads it first goes there, and the issuer must still be right.
    let (_scene, serving) = provider.team();
    let (status, text) = visit(&serving, "/login/oidc", "198.51.100.1", "");
    assert_eq!(status, 303);
    assert!(text.contains(&format!("{}/x?", elsewhere.issuer)), "{text}");
    let other = vec![("issuer", elsewhere.issuer.clone())];
    provider.behave(Manner { fields: other, ..Manner::default() });
    let (_scene, serving) = provider.team();
    assert_eq!(visit(&serving, "/login/oidc", "198.51.100.1", "").0, 502);
}
