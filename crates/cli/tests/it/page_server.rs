//! The server of `interpreter serve`, attacked as web servers are. Each attack has a control: the
//! same request succeeds if nothing is wrong with it.

use crate::{
    scene::Scene,
    serving::{Answer, HANDSHAKE, Login, Serving, WebSocket, must_end},
};
use interpreter_core::hash::sha256;
use std::{io::Write, path::Path};

/// A request that is answered with an error of the protocol, whoever performs it.
const NO_VERB: &str = r#"{"id":1,"do":"fly"}"#;

const OPEN: [&str; 3] = ["/", "/healthz", "/page.js"];

fn borrowed(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn do_nothing(serving: &Serving, more: &[&str]) -> Answer {
    serving.post("/v1/do", more, NO_VERB)
}

#[test]
fn nothing_is_answered_without_a_login_but_the_shell_of_the_page() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    for path in OPEN {
        assert_eq!(serving.get(path, &[]).status, 200, "{path}");
    }
    assert_eq!(serving.get("/healthz", &[]).body, "ok\n");
    let login = serving.log_in();
    let lines = login.lines();
    let [cookie, key] = [lines[0].as_str(), lines[1].as_str()];
    let result = format!("/o/{}?session=s&seq=1&form=text/html", "0".repeat(64));
    for path in ["/metrics", "/v1/socket", &result] {
        for part in [&[][..], &[cookie], &[key]] {
            let lines = [&HANDSHAKE[..], part].concat();
            assert_eq!(serving.get(path, &lines).status, 401, "{path} {part:?}");
        }
    }
    for path in ["/v1/do", "/v1/logout"] {
        for part in [&[][..], &[cookie], &[key]] {
            assert_eq!(serving.post(path, part, "{}").status, 401, "{path} {part:?}");
        }
    }
    // The controls.
    assert_eq!(serving.get("/metrics", &[cookie, key]).status, 200);
    assert_eq!(serving.get(&result, &[cookie, key]).status, 404);
    let done = do_nothing(&serving, &[cookie, key]);
    assert!(done.status == 200 && done.body.contains("\"error\""), "{done:?}");
    assert!(WebSocket::open(&serving, &[cookie, key]).is_ok());
    // Nothing else exists, whoever asks.
    for path in
        ["/v1", "/v1/", "/v1/do", "/admin", "/index.html", "/../etc/passwd", "/%2e%2e/", "//"]
    {
        assert_eq!(serving.get(path, &[cookie, key]).status, 404, "{path}");
    }
}

#[test]
fn others_do_not_reach_it_without_tls_or_a_proxy() {
    let scene = Scene::new();
    for address in ["0.0.0.0", "::", "192.0.2.1"] {
        let seen = scene.run(&["serve", "--no-open", "--address", address]).exits(2);
        seen.mentions("other computers").mentions("--tls-cert").mentions("--behind-proxy");
    }
    // The control: this computer does.
    let serving = Serving::start_with(&scene, &["--address", "127.0.0.1"]);
    assert_eq!(serving.get("/healthz", &[]).status, 200);
}

#[test]
fn no_other_page_opens_a_socket_or_sends_a_request() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let login = serving.log_in();
    let (ours, port) = (format!("Origin: {}", serving.origin()), serving.port);
    let (socket, lines) = (login.socket_lines(), login.lines());
    let opens = |origin: &str| {
        WebSocket::open(&serving, &[&borrowed(&socket)[..], &[origin]].concat()).map(drop)
    };
    let posts = |origin: &str| do_nothing(&serving, &[&borrowed(&lines)[..], &[origin]].concat());
    opens(&ours).unwrap();
    assert_eq!(posts(&ours).status, 200);
    for origin in [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        "http://127.0.0.1".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}0"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.evil.example:{port}"),
        format!("http://127.0.0.1:{port}@evil.example"),
    ] {
        let line = format!("Origin: {origin}");
        assert_eq!(opens(&line).unwrap_err().status, 403, "{origin}");
        assert_eq!(posts(&line).status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "none"] {
        let site = format!("Sec-Fetch-Site: {site}");
        assert_eq!(opens(&site).unwrap_err().status, 403, "{site}");
        assert_eq!(posts(&site).status, 403, "{site}");
    }
    assert_eq!(posts("Sec-Fetch-Site: same-origin").status, 200);
}

#[test]
fn no_other_name_leads_to_it() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let (port, bearer) = (serving.port, serving.bearer());
    let asks = |host: &str| {
        let host = format!("Host: {host}");
        serving.send(&["GET /metrics HTTP/1.1", &host, "Connection: close", &bearer], "")
    };
    for host in
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("LOCALHOST:{port}")]
    {
        assert_eq!(asks(&host).status, 200, "{host}");
    }
    for host in [
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost.:{port}"),
        format!("user@127.0.0.1:{port}"),
        format!("127.1:{port}"),
        format!("[::1]:{port}"),
        String::new(),
    ] {
        let seen = asks(&host);
        assert!([421, 400].contains(&seen.status), "{host}: {seen:?}");
    }
}

#[test]
fn forms_pictures_and_plain_text_change_nothing() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let (lines, host) = (serving.log_in().lines(), serving.host());
    let sends = |kind: &str| {
        let kind = format!("Content-Type: {kind}");
        let head = ["POST /v1/do HTTP/1.1", &host, "Connection: close", &kind];
        serving.send(&[&head[..], &borrowed(&lines)].concat(), NO_VERB).status
    };
    assert_eq!(sends("application/json"), 200);
    for kind in [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-7",
        "text/json",
    ] {
        assert_eq!(sends(kind), 415, "{kind}");
    }
    // A page of another origin asks first, and learns nothing.
    let asks = [
        "OPTIONS /v1/do HTTP/1.1",
        &host,
        "Connection: close",
        "Origin: http://evil.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization",
    ];
    assert_eq!(serving.send(&asks, "").status, 404);
    // A picture of somebody else's page.
    let picture =
        ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"];
    assert_eq!(serving.get("/page.js", &picture).status, 403);
}

#[test]
fn no_secret_is_ever_written_down() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let login = serving.log_in();
    let lines = login.lines();
    assert_eq!(do_nothing(&serving, &borrowed(&lines)).status, 200);
    let wrong = "a-code-that-was-wrong-0123456789";
    let body = serde_json::json!({ "code": wrong }).to_string();
    assert_eq!(serving.post("/v1/login", &[], &body).status, 401);
    let query = "/nothing?token=canary-in-a-query";
    assert_eq!(serving.get(query, &["Referer: http://x/?canary-in-a-referrer"]).status, 404);
    let (code, token) = (serving.code.clone(), serving.token.clone());
    let errors = serving.errors.clone();
    // Every request is in the log by then, in order.
    errors.wait_for("\"status\":404");
    assert!(serving.stop().success());
    let cookie = login.cookie.split_once('=').unwrap().1;
    let secrets = [
        code.as_str(),
        &token,
        cookie,
        &login.key,
        wrong,
        "canary-in-a-query",
        "canary-in-a-referrer",
    ];
    let log = errors.text();
    assert!(
        log.contains("\"route\":\"/v1/do\"") && log.contains("A wrong, used or old link"),
        "{log}"
    );
    for secret in secrets {
        assert!(!log.contains(secret), "{log}");
        assert_eq!(found_in(&scene.home(), secret), None);
    }
    // The control: whatever is written there is found.
    scene.put(&scene.home().join("deep/er"), b"..canary..");
    assert!(found_in(&scene.home(), "canary").is_some());
}

/// A file below a folder that contains these words.
fn found_in(folder: &Path, words: &str) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            if let Some(found) = found_in(&path, words) {
                return Some(found);
            }
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(words.len()).any(|part| part == words.as_bytes()) {
                return Some(path);
            }
        }
    }
    None
}

#[test]
fn a_link_works_once_and_nothing_like_it_works() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let code = serving.code.clone();
    let tries = |code: &str| {
        let body = serde_json::json!({ "code": code }).to_string();
        serving.post("/v1/login", &[], &body).status
    };
    for wrong in ["", " ", &code[..42], &format!("{code} "), &code.to_lowercase(), "null"] {
        assert!([401, 429].contains(&tries(wrong)), "{wrong}");
    }
    for body in
        ["", "{}", "null", r#"{"code":null}"#, r#"{"code":["x"]}"#, r#"{"code":"x","as":"admin"}"#]
    {
        assert!(serving.post("/v1/login", &[], body).is_refused(), "{body}");
    }
    // The control.
    assert_eq!(tries(&code), 200);
    assert!([401, 429].contains(&tries(&code)));
}

#[test]
fn a_logout_ends_the_login_and_every_socket_of_it() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let login = serving.log_in();
    let (lines, socket_lines) = (login.lines(), login.socket_lines());
    let mut sockets: Vec<_> = (0..3)
        .map(|_| {
            WebSocket::open(&serving, &borrowed(&socket_lines))
                .unwrap_or_else(|seen| panic!("{seen:?}"))
        })
        .collect();
    for socket in &mut sockets {
        socket.say(NO_VERB);
        assert!(socket.hear().unwrap().contains("\"error\""));
    }
    let out = serving.post("/v1/logout", &borrowed(&lines), "{}");
    assert_eq!(out.status, 200);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"), "{}", out.head);
    sockets.into_iter().for_each(WebSocket::must_end);
    assert_eq!(do_nothing(&serving, &borrowed(&lines)).status, 401);
    assert!(WebSocket::open(&serving, &borrowed(&socket_lines)).is_err());
    // Another login goes on.
    assert_eq!(do_nothing(&serving, &[&serving.bearer()]).status, 200);
}

#[test]
fn a_secret_is_worth_the_same_wherever_it_stands_and_nothing_elsewhere() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let login = serving.log_in();
    let (token, key) = (&serving.token, &login.key);
    let cookie = login.cookie.split_once('=').unwrap();
    for lines in [
        vec![format!("Authorization: Key {token}")],
        vec![format!("Authorization: Bearer {key}")],
        vec![format!("Authorization: Bearer {}", cookie.1)],
        vec![format!("Authorization: bearer {token}")],
        vec![format!("Authorization: {token}")],
        vec![format!("X-Api-Key: {token}")],
        vec![format!("Cookie: {}={token}", cookie.0), format!("Authorization: Key {token}")],
        vec![format!("Authorization: Bearer {token}"), format!("Authorization: Key {key}")],
        vec!["X-Rights: admin".into(), "X-Forwarded-User: admin".into()],
    ] {
        assert!(do_nothing(&serving, &borrowed(&lines)).is_refused(), "{lines:?}");
    }
    assert!(serving.get(&format!("/metrics?token={token}&k={key}"), &[]).is_refused());
    assert_eq!(do_nothing(&serving, &[&serving.bearer()]).status, 200);
}

#[test]
fn a_cookie_is_of_one_port_and_one_put_beside_it_changes_nothing() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let body = serde_json::json!({ "code": serving.code }).to_string();
    let answer = serving.post("/v1/login", &[], &body);
    let set = answer.header("set-cookie").unwrap().to_owned();
    for part in
        [&format!("interpreter-{}=", serving.port), "HttpOnly", "SameSite=Strict", "Path=/;"]
    {
        assert!(set.contains(part), "{part} is not in {set}");
    }
    assert!(!set.contains("Domain"), "{set}");
    // Another server on this computer puts its own in front, with longer paths.
    let login = Login::of(&answer);
    let [cookie, key] = login.lines();
    let name = login.cookie.split_once('=').unwrap().0;
    let tossed = format!("{name}=tossed; ").repeat(200);
    let with = |line: &str| do_nothing(&serving, &[line, &key]).status;
    assert_eq!(with(&cookie), 200);
    assert_eq!(with(&format!("Cookie: {tossed}{}", login.cookie)), 200);
    assert_eq!(with(&format!("Cookie: {}; {tossed}", login.cookie)), 200);
    assert_eq!(with(&format!("Cookie: {tossed}")), 401);
}

#[test]
fn whoever_tries_links_is_noticed_and_locks_nobody_out() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let seen: Vec<_> = (0..15)
        .map(|count| {
            let body = serde_json::json!({ "code": format!("guess {count}") }).to_string();
            serving.post("/v1/login", &[], &body).status
        })
        .collect();
    assert!(seen.starts_with(&[401]) && seen.ends_with(&[429]), "{seen:?}");
    serving.errors.wait_for("is trying links");
    serving.log_in();
    let figures = serving.get("/metrics", &[&serving.bearer()]).body;
    assert!(figures.contains("interpreter_wrong_codes_total 15\n"), "{figures}");
    assert_eq!(serving.errors.text().matches("is trying links").count(), 1);
}

#[test]
fn heads_bodies_and_messages_are_bounded() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let filler = format!("X-Filler: {}", "x".repeat(1_000));
    let fits: Vec<_> = std::iter::repeat_n(filler.as_str(), 10).collect();
    assert_eq!(serving.get("/healthz", &fits).status, 200);
    let long: Vec<_> = std::iter::repeat_n(filler.as_str(), 40).collect();
    assert!(serving.get("/healthz", &long).is_refused());
    let many: Vec<_> = std::iter::repeat_n("X-Field: x", 200).collect();
    assert!(serving.get("/healthz", &many).is_refused());
    assert!(serving.get(&format!("/{}", "x".repeat(70_000)), &[]).is_refused());
    // Nothing of a body that is too long is read: none was sent.
    let host = serving.host();
    let claims = |length: &str| {
        let length = format!("Content-Length: {length}");
        let json = "Content-Type: application/json";
        serving
            .send(&["POST /v1/do HTTP/1.1", &host, json, &bearer, &length, "Connection: close"], "")
    };
    for length in ["8388609", "99999999999", "18446744073709551616", "-1"] {
        assert!(claims(length).is_refused(), "{length}");
    }
    // A message of a socket, too, by its length alone.
    let mut socket =
        WebSocket::open(&serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
    socket.say(NO_VERB);
    assert!(socket.hear().is_some());
    _ = socket.0.write_all(&[0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    socket.must_end();
    // Nor is anything but text.
    let mut socket =
        WebSocket::open(&serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
    socket.send(2, b"\0\x01");
    socket.must_end();
}

#[test]
fn strangers_who_hold_connections_keep_nobody_out() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let mut socket =
        WebSocket::open(&serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
    // More than there are places, each with a head that never ends.
    let mut crowd: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = serving.connect();
            _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
            stream
        })
        .collect();
    assert_eq!(serving.get("/metrics", &[&bearer]).status, 200);
    assert_eq!(serving.get("/healthz", &[]).status, 200);
    // Whoever came first had to go, and a socket never has to.
    assert_eq!(must_end(&mut crowd[0]), b"");
    socket.say(NO_VERB);
    assert!(socket.hear().is_some());
    // The others have to go as soon as their heads took too long.
    must_end(crowd.last_mut().unwrap());
}

#[test]
fn a_message_of_a_million_lines_is_held_once() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let mut socket =
        WebSocket::open(&serving, &[&serving.bearer()]).unwrap_or_else(|seen| panic!("{seen:?}"));
    let before = serving.most_memory();
    socket.say(&"a\n".repeat(4_000_000));
    assert!(socket.hear().unwrap().contains("\"error\""));
    // As lines of their own they would take 200 MB and more.
    let grown = serving.most_memory() - before;
    assert!(grown < 100 << 20, "{grown} bytes");
}

#[test]
fn a_request_that_can_be_read_in_two_ways_is_not_read() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let (port, bearer) = (serving.port, serving.bearer());
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let json = "Content-Type: application/json\r\n";
    let smuggled = format!("GET /metrics HTTP/1.1\r\n{host}{bearer}\r\n\r\n");
    let perform = format!("POST /v1/do HTTP/1.1\r\n{host}{json}{bearer}\r\n");
    for request in [
        format!("GET /healthz HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n"),
        format!("GET /healthz HTTP/1.1\r\n{host}{host}\r\n"),
        "GET /healthz HTTP/1.1\r\n\r\n".to_owned(),
        format!("GET http://evil.example/healthz HTTP/1.1\r\n{host}\r\n"),
        format!("GET http://127.0.0.1:{port}/healthz HTTP/1.1\r\n{host}\r\n"),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{host}\r\n"),
        format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"),
        format!("{perform}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}{smuggled}"),
        format!(
            "{perform}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"
        ),
        format!(
            "{perform}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n{smuggled}"
        ),
        format!("{perform}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{smuggled}"),
        format!("{perform}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{smuggled}"),
        format!("{perform}Content-Length: +2\r\n\r\n{{}}{smuggled}"),
        format!("{perform}Content-Length: 2\r\n folded: x\r\n\r\n{{}}{smuggled}"),
    ] {
        let seen = serving.send_raw(request.as_bytes());
        assert!(seen.is_refused(), "{request}\n{seen:?}");
        // And nothing behind it is taken for a request.
        assert!(!seen.body.contains("interpreter_up_seconds"), "{request}\n{seen:?}");
    }
    // The control: two plain requests on one connection are two answers.
    let first = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
    let second = smuggled.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let seen = serving.send_raw((first + &second).as_bytes());
    assert!(seen.body.contains("interpreter_up_seconds"), "{seen:?}");
    // Nobody's word about who they are is believed.
    let told = [
        "X-Forwarded-For: 192.0.2.77",
        "Forwarded: for=192.0.2.77",
        "X-Forwarded-Host: evil.example",
    ];
    assert_eq!(serving.get("/healthz", &told).status, 200);
    assert_eq!(serving.get("/nothing", &[]).status, 404);
    serving.errors.wait_for("\"status\":404");
    assert!(!serving.errors.text().contains("192.0.2.77"));
}

#[test]
fn no_other_page_shows_it_in_a_frame() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    for (path, lines) in [
        ("/", vec![]),
        ("/page.js", vec![]),
        ("/nothing", vec![]),
        ("/metrics", vec![bearer.as_str()]),
    ] {
        let seen = serving.get(path, &lines);
        assert_eq!(seen.header("x-frame-options"), Some("DENY"), "{path}");
        let policy = seen.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(seen.header(name), Some(value), "{path}");
        }
    }
    let policy = serving.get("/", &[]).header("content-security-policy").unwrap().to_owned();
    assert!(
        policy.contains("require-trusted-types-for 'script'") && !policy.contains("unsafe"),
        "{policy}"
    );
    // A file is not sent twice.
    let first = serving.get("/page.js", &[]);
    let known = format!("If-None-Match: {}", first.header("etag").unwrap());
    let second = serving.get("/page.js", &[&known]);
    assert!(second.status == 304 && second.body.is_empty(), "{second:?}");
}

#[test]
fn a_result_is_shown_without_an_origin_and_only_to_whoever_may_see_it() {
    let scene = Scene::new();
    let hostile = "<script>parent.document.title='taken'</script><b>a table</b>\
                   <link rel=preconnect href=//evil.example><a href=//evil.example>x</a>";
    let safe = "<!doctype html> <b>a table</b> <span href=//evil.example>x</span>";
    let shows = |html: &str| format!("class R:\n    def _repr_html_(self): return {html}\nR()");
    let seen = scene
        .run(&["run", "--json", "-l", "python", "-c", &shows(&format!("{hostile:?}"))])
        .exits(0);
    let large =
        scene.run(&["run", "--json", "-l", "python", "-c", &shows("'<i>' + 'x' * 40000")]).exits(0);
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let of = |seen: &crate::scene::Seen| {
        let rich = |record: &serde_json::Value| record["stream"] == "result";
        seen.of_kind("output").into_iter().find(rich).unwrap()
    };
    let (record, kept) = (of(&seen), of(&large));
    let session = record["session"].as_str().unwrap();
    let address = |hash: &str, seq: &serde_json::Value, form: &str| {
        format!("/o/{hash}?session={session}&seq={seq}&form={form}")
    };
    let hash = sha256(hostile.as_bytes());
    let ours = address(&hash, &record["seq"], "text%2Fhtml");
    let answer = serving.get(&ours, &[&bearer]);
    assert_eq!((answer.status, answer.body.as_str()), (200, safe));
    let policy = answer.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'none'",
        "sandbox",
        "img-src data:",
        "frame-ancestors 'self'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("allow-"), "{policy}");
    assert_eq!(answer.header("x-dns-prefetch-control"), Some("off"));
    // Nobody can ask for its scripts.
    let scripted = serving.get(&format!("{ours}&scripts=1"), &[&bearer]);
    assert_eq!(scripted.body, safe);
    assert_eq!(scripted.header("content-security-policy"), Some(policy));
    // Only by its own hash, record and form; and not to strangers.
    assert_eq!(serving.get(&ours, &[]).status, 401);
    let other = "0".repeat(64);
    for wrong in [
        address(&other, &record["seq"], "text/html"),
        address(&hash, &1.into(), "text/html"),
        address(&hash, &9_999.into(), "text/html"),
        address(&hash, &record["seq"], "text/plain"),
        address(&hash, &record["seq"], "../../etc/passwd"),
        ours.replace(session, "../../etc"),
        ours.replace(session, "00000000-0000-7000-8000-000000000000"),
    ] {
        assert_eq!(serving.get(&wrong, &[&bearer]).status, 404, "{wrong}");
    }
    // A result with a file of its own is found by the hash of that.
    let session = kept["session"].as_str().unwrap();
    let hash = kept["kept"]["hash"].as_str().unwrap();
    let target = format!("/o/{hash}?session={session}&seq={}&form=text/html", kept["seq"]);
    let answer = serving.get(&target, &[&bearer]);
    assert_eq!((answer.status, answer.body.len()), (200, 15 + 40_003));
}

#[test]
fn a_drawing_is_shown_as_a_picture_and_nowhere_else() {
    let scene = Scene::new();
    let hostile = "<svg xmlns='http://www.w3.org/2000/svg'><script>x()</script></svg>";
    let code = format!("class R:\n    def _repr_svg_(self): return {hostile:?}\nR()");
    let seen = scene.run(&["run", "--json", "-l", "python", "-c", &code]).exits(0);
    let record =
        seen.of_kind("output").into_iter().find(|record| record["stream"] == "result").unwrap();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let (session, hash) = (record["session"].as_str().unwrap(), sha256(hostile.as_bytes()));
    let form = "image%2Fsvg%2Bxml";
    let target = format!("/o/{hash}?session={session}&seq={}&form={form}", record["seq"]);
    let asks = |place: &str| {
        let place = format!("Sec-Fetch-Dest: {place}");
        serving.get(&target, &[&bearer, "Sec-Fetch-Site: same-origin", &place])
    };
    let picture = asks("image");
    assert_eq!((picture.status, picture.body.as_str()), (200, hostile));
    assert!(picture.header("content-disposition").unwrap().starts_with("attachment"));
    for place in ["document", "iframe", "object", "embed"] {
        assert_eq!(asks(place).status, 403, "{place}");
    }
}

#[test]
fn no_token_is_looked_up_for_a_stranger_and_nobody_waits_for_the_disk() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let (ours, bearer) = (serving.host(), serving.bearer());
    let made = scene.run(&["serve", "token", "new", "eye"]).exits(0).stdout().trim().to_owned();
    let kept = format!("Authorization: Bearer {made}");
    let passes = || {
        let figures = serving.get("/metrics", &[&bearer]).body;
        let line = figures.lines().find_map(|line| line.strip_prefix("interpreter_passes "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = passes();
    let asks = |lines: &[&str]| serving.send(&[lines, &[&kept]].concat(), "").status;
    let (get, close) = ("GET /metrics HTTP/1.1", "Connection: close");
    let other = format!("Host: evil.example:{}", serving.port);
    assert_eq!(asks(&[get, &other, close]), 421);
    assert_eq!(asks(&[get, &ours, close, "Origin: http://evil.example"]), 403);
    assert_eq!(asks(&["GET /nothing HTTP/1.1", &ours, close]), 404);
    assert_eq!(asks(&["GET /healthz HTTP/1.1", &ours, close]), 200);
    assert_eq!(passes(), before);
    // The control.
    assert_eq!(asks(&[get, &ours, close]), 200);
    assert_eq!(passes(), before + 1);
    // A disk that does not answer: whoever opens a pipe waits for somebody at its other end.
    let slow = "a-token-whose-file-cannot-be-read";
    let beside = found_in(&scene.home(), "\"eye\"").unwrap();
    let pipe = beside.with_file_name(format!("{}.json", sha256(slow.as_bytes())));
    let (kind, readable) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, readable, 0).unwrap();
    let mut waiting = serving.connect();
    let request = format!("{get}\r\n{ours}\r\nAuthorization: Bearer {slow}\r\n\r\n");
    _ = waiting.write_all(request.as_bytes());
    assert_eq!(serving.get("/metrics", &[&bearer]).status, 200);
    assert_eq!(serving.get("/metrics", &[&kept]).status, 200);
}

#[test]
fn a_token_has_its_rights_until_it_is_revoked() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let new = |name: &str, right: &str| {
        scene
            .run(&["serve", "token", "new", name, "--right", right])
            .exits(0)
            .stdout()
            .trim()
            .to_owned()
    };
    let (watch, prompt) = (new("eye", "watch"), new("hand", "prompt"));
    scene.run(&["serve", "token", "new", "eye"]).exits(2).mentions("of that name");
    scene.run(&["serve", "token", "new", "x", "--right", "all"]).exits(2).mentions("rights watch");
    let list = scene.run(&["serve", "token", "list"]).exits(0).mentions("eye").mentions("hand");
    list.lacks(&watch);
    assert_eq!(found_in(&scene.home(), &watch), None);
    let line = |token: &str| format!("Authorization: Bearer {token}");
    assert_eq!(serving.get("/metrics", &[&line(&watch)]).status, 200);
    assert_eq!(serving.get("/metrics", &[&line(&prompt)]).status, 403);
    assert_eq!(serving.get("/metrics", &[&line(&watch[..42])]).status, 401);
    let shut = r#"{"id":1,"do":"shut"}"#;
    let refused = serving.post("/v1/do", &[&line(&watch)], shut);
    assert!(refused.body.contains("\"error\""), "{refused:?}");
    let open = |token: &str| {
        WebSocket::open(&serving, &[&line(token)]).unwrap_or_else(|seen| panic!("{seen:?}"))
    };
    let (mut eye, mut hand) = (open(&watch), open(&prompt));
    for socket in [&mut eye, &mut hand] {
        socket.say(NO_VERB);
        assert!(socket.hear().is_some());
    }
    scene.run(&["serve", "token", "revoke", "eye"]).exits(0);
    scene.run(&["serve", "token", "revoke", "eye"]).exits(1);
    // Not one more message is answered, and the other token goes on.
    eye.say(NO_VERB);
    eye.must_end();
    assert_eq!(serving.get("/metrics", &[&line(&watch)]).status, 401);
    hand.say(NO_VERB);
    assert!(hand.hear().is_some());
}

#[test]
fn a_signal_ends_it_in_order_with_every_connection() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let bearer = serving.bearer();
    let socket = WebSocket::open(&serving, &[&bearer]).unwrap_or_else(|seen| panic!("{seen:?}"));
    assert!(serving.stop().success());
    socket.must_end();
}

#[test]
fn a_link_is_shown_with_how_to_stop_and_another_on_a_signal() {
    let scene = Scene::new();
    let mut child = scene
        .command(&["serve", "--no-open"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut next_link = || loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(link) = line.trim().strip_prefix("http://127.0.0.1:") {
            return link.to_owned();
        }
    };
    let first = next_link();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::USR1).unwrap();
    let second = next_link();
    assert_ne!(first, second);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(child.wait().unwrap().success());
}
