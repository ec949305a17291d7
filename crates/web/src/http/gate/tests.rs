//! The gate, with every attack for which a head is enough. Each has a control that passes.

use super::*;
use crate::{Caller, Right, RightSet, http::host_names::Scheme};
use hyper::header::HeaderValue;
use interpreter_core::hash::hex;
use proptest::prelude::*;

const COOKIE_NAME: &str = "interpreter-4096";
const PROGRAM_COOKIE_NAME: &str = "interpreter-4096-programs";
const OURS: &str = "127.0.0.1:4096";
const ORIGIN_OF_OURS: &str = "http://127.0.0.1:4096";

/// A server with one login and one token.
struct World {
    names: HostNames,
    logins: Logins,
    cookie: String,
    key: String,
    token: String,
    now: Instant,
}

fn world() -> World {
    let now = Instant::now();
    let mut logins = Logins::default();
    let code = logins.new_code(now).unwrap();
    let secrets = logins.log_in(code.text(), now).unwrap().unwrap();
    let caller = Caller::operator("ci", [Right::Prompt].into_iter().collect());
    let token = logins.new_token(caller, now).unwrap().into_text();
    let names = [OURS, "localhost:4096"].map(|name| HostPort::parse(name, Scheme::Http).unwrap());
    World {
        names: HostNames::Listed(Scheme::Http, names.into()),
        logins,
        cookie: secrets.cookie.into_text(),
        key: secrets.key.into_text(),
        token,
        now,
    }
}

impl World {
    /// The gate's word on a request with these headers, beside a `Host`.
    fn asks(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<Admitted, HttpRefusal> {
        let all: Vec<_> = [("host", OURS)].into_iter().chain(headers.iter().copied()).collect();
        self.asks_with(method, target, &all)
    }

    fn asks_with(
        &self,
        method: &str,
        target: &str,
        all: &[(&str, &str)],
    ) -> Result<Admitted, HttpRefusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        let (method, uri) = (method.parse().unwrap(), target.parse().unwrap());
        let version = Version::HTTP_11;
        let gate = GateKeeper {
            names: &self.names,
            cookie: COOKIE_NAME,
            program_cookie: PROGRAM_COOKIE_NAME,
            is_page_file: |name: &str| name == "page.js",
        };
        let head = HttpHead { method: &method, uri: &uri, version, headers: &headers };
        gate.decide(head, &self.logins, self.now)
    }

    fn cookie_line(&self) -> String {
        format!("other=1; {COOKIE_NAME}={}", self.cookie)
    }

    fn key_line(&self) -> String {
        format!("Key {}", self.key)
    }

    /// A request that the page sends: `POST /v1/do`, with more headers.
    fn posts(&self, more: &[(&str, &str)]) -> Result<Admitted, HttpRefusal> {
        let (cookie, key) = (self.cookie_line(), self.key_line());
        let usual = [
            ("cookie", cookie.as_str()),
            ("authorization", &key),
            ("content-length", "2"),
            ("content-type", "application/json"),
        ];
        let kept = usual.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
        let all: Vec<_> = kept.chain(more).copied().filter(|(_, value)| *value != "-").collect();
        self.asks("POST", "/v1/do", &all)
    }

    fn opens_socket(&self, more: &[(&str, &str)]) -> Result<Admitted, HttpRefusal> {
        let (cookie, offered) = (self.cookie_line(), self.offered());
        let usual = [("cookie", cookie.as_str()), ("sec-websocket-protocol", &offered)];
        let kept = usual.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
        let all: Vec<_> = kept.chain(more).copied().filter(|(_, value)| *value != "-").collect();
        self.asks("GET", "/v1/socket", &all)
    }

    fn offered(&self) -> String {
        format!("interpreter.v1, key.{}", URL_SAFE_NO_PAD.encode(&self.key))
    }
}

fn refusal(seen: Result<Admitted, HttpRefusal>) -> Option<HttpRefusal> {
    seen.err()
}

/// A path for every row of the table.
fn example(rule: &RouteRule) -> String {
    match rule.path {
        routes::PathPattern::Exactly(path) => path.to_owned(),
        routes::PathPattern::PageFile => "/page.js".to_owned(),
        routes::PathPattern::Sha256 => format!("/o/{}", "0".repeat(64)),
        routes::PathPattern::Template(template) | routes::PathPattern::Below(template) => {
            template.replace(['{', '}'], "")
        }
    }
}

#[test]
fn every_route_but_the_open_ones_needs_a_login() {
    let world = world();
    let bearer = format!("Bearer {}", world.token);
    let (cookie, key) = (world.cookie_line(), world.key_line());
    for rule in routes::ROUTES {
        let kind = match rule.body_form {
            BodyForm::Fields => "application/x-www-form-urlencoded",
            BodyForm::Json | BodyForm::JsonOrNothing | BodyForm::Bytes => "application/json",
        };
        let described = [("content-length", "2"), ("content-type", kind)];
        let asks = |more: &[(&str, &str)]| {
            let body: &[_] = if rule.body > 0 { &described } else { &[] };
            world.asks(rule.method, &example(rule), &[body, more].concat())
        };
        match rule.needs {
            Needs::Nothing => assert!(asks(&[]).is_ok(), "{rule:?}"),
            Needs::Login | Needs::Right(_) => {
                for nothing in [
                    &[][..],
                    &[("cookie", cookie.as_str())],
                    &[("authorization", key.as_str())],
                    &[("authorization", "")],
                    &[("authorization", "Bearer ")],
                    &[("authorization", "Bearer")],
                    &[("authorization", "Basic Og==")],
                    &[("authorization", "Key "), ("cookie", cookie.as_str())],
                    &[("authorization", "Bearer undefined")],
                ] {
                    let seen = refusal(asks(nothing));
                    assert_eq!(seen, Some(HttpRefusal::NotLoggedIn), "{rule:?} {nothing:?}");
                }
                let seen = asks(&[("cookie", &cookie), ("authorization", &key)]);
                if rule.key_in == KeyIn::ProgramCookie {
                    // The login of a page opens nothing that is for programs.
                    assert_eq!(refusal(seen), Some(HttpRefusal::NotLoggedIn), "{rule:?}");
                } else {
                    let known = seen.unwrap().known;
                    assert_eq!(known.unwrap().caller.rights, RightSet::all());
                }
            }
        }
        // The token has the right to prompt, whatever it says of itself.
        let seen = refusal(asks(&[("authorization", &bearer), ("x-rights", "watch,admin")]));
        let lacks = matches!(rule.needs, Needs::Right(right) if right != Right::Prompt);
        assert_eq!(seen, lacks.then_some(HttpRefusal::NoRight), "{rule:?}");
    }
}

#[test]
fn a_key_opens_only_where_its_route_takes_it() {
    let world = world();
    let path = format!("/o/{}", "0".repeat(64));
    let proof =
        hex(ring::hmac::sign(&crate::http::random_key::signing_key(&world.key), path.as_bytes())
            .as_ref());
    let cookie = world.cookie_line();
    let signed = format!("{path}?k={proof}&session=s");
    assert!(world.asks("GET", &signed, &[("cookie", &cookie)]).is_ok());
    let unsigned = [
        format!("{path}?k="),
        format!("{path}?k={}", "0".repeat(64)),
        format!("{path}?k={}", world.key),
        format!("/o/{}?k={proof}", "1".repeat(64)),
    ];
    for target in unsigned {
        let seen = refusal(world.asks("GET", &target, &[("cookie", &cookie)]));
        assert_eq!(seen, Some(HttpRefusal::NotLoggedIn), "{target}");
    }
    assert_eq!(refusal(world.asks("GET", &signed, &[])), Some(HttpRefusal::NotLoggedIn));
    let twice = format!("{path}?k={proof}&k={proof}");
    assert_eq!(
        refusal(world.asks("GET", &twice, &[("cookie", &cookie)])),
        Some(HttpRefusal::Ambiguous)
    );
    // Of files, a signature opens those of its own path, to be read and from our page.
    let files = "/v1/sessions/s1/files/a%20b.csv";
    let sign = |path: &str| {
        let key = crate::http::random_key::signing_key(&world.key);
        format!("{path}?k={}", hex(ring::hmac::sign(&key, path.as_bytes()).as_ref()))
    };
    let ours = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    let proof_of_files = sign(files).split_once('?').unwrap().1.to_owned();
    assert!(world.asks("GET", &sign(files), &ours).is_ok());
    for other in ["/v1/sessions/s1/files", "/v1/sessions/s2/files/a%20b.csv", "/v1/sessions/s1"] {
        let seen = refusal(world.asks("GET", &format!("{other}?{proof_of_files}"), &ours));
        assert_eq!(seen, Some(HttpRefusal::NotLoggedIn), "{other}");
    }
    for site in ["none", "same-site", "cross-site"] {
        let theirs = [("cookie", cookie.as_str()), ("sec-fetch-site", site)];
        let seen = refusal(world.asks("GET", &sign(files), &theirs));
        assert_eq!(seen, Some(HttpRefusal::OtherOrigin), "{site}");
    }
    assert_eq!(refusal(world.asks("GET", &sign(files), &[])), Some(HttpRefusal::NotLoggedIn));
    let put = [("cookie", cookie.as_str()), ("content-length", "1")];
    assert_eq!(refusal(world.asks("PUT", &sign(files), &put)), Some(HttpRefusal::NotLoggedIn));
    // Neither a signature nor a subprotocol opens anything else.
    let (offered, target) = (world.offered(), format!("/metrics?k={proof}"));
    let more = [("cookie", cookie.as_str()), ("sec-websocket-protocol", &offered)];
    assert_eq!(refusal(world.asks("GET", &target, &more)), Some(HttpRefusal::NotLoggedIn));
}

#[test]
fn a_socket_needs_the_key_among_its_subprotocols() {
    let world = world();
    assert!(world.opens_socket(&[]).is_ok());
    let encoded = URL_SAFE_NO_PAD.encode(&world.key);
    let wrong = [
        "-".to_owned(),
        "interpreter.v1".to_owned(),
        "interpreter.v1, key.".to_owned(),
        format!("key.{encoded}"),
        format!("interpreter.v1, key.{}", &encoded[..40]),
        format!("interpreter.v1, key.{encoded}=="),
        format!("interpreter.v2, key.{encoded}"),
    ];
    for offered in wrong {
        let seen = refusal(world.opens_socket(&[("sec-websocket-protocol", &offered)]));
        assert_eq!(seen, Some(HttpRefusal::NotLoggedIn), "{offered}");
    }
    assert_eq!(refusal(world.opens_socket(&[("cookie", "-")])), Some(HttpRefusal::NotLoggedIn));
}

#[test]
fn no_other_origin_is_answered() {
    let world = world();
    for asks in [World::posts, World::opens_socket] {
        assert!(asks(&world, &[("origin", ORIGIN_OF_OURS)]).is_ok());
        assert!(asks(&world, &[]).is_ok());
        for origin in [
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:4097",
            "http://127.0.0.1:40960",
            "https://127.0.0.1:4096",
            "http://localhost:4096",
            "http://127.0.0.1:4096/",
            "http://127.0.0.1:4096.evil.example",
            "http://127.0.0.1:4096@evil.example",
            "http://user@127.0.0.1:4096",
            "http://evil.example/http://127.0.0.1:4096",
            "http://127.evil.example:4096",
            "HTTP://127.0.0.1:4096",
            "http://127.0.0.1:4096 ",
            "http://evil.example http://127.0.0.1:4096",
            "file://",
            "127.0.0.1:4096",
        ] {
            let seen = refusal(asks(&world, &[("origin", origin)]));
            // Spaces around a value are none of it.
            if origin.trim() != ORIGIN_OF_OURS {
                assert_eq!(seen, Some(HttpRefusal::OtherOrigin), "{origin:?}");
            }
        }
        let two = [("origin", ORIGIN_OF_OURS), ("origin", "http://evil.example")];
        assert_eq!(refusal(asks(&world, &two)), Some(HttpRefusal::Ambiguous));
    }
}

#[test]
fn no_other_host_is_answered_whatever_is_asked() {
    let world = world();
    for host in ["evil.example:4096", "127.0.0.1", "127.0.0.1:4097", "127.0.0.1.evil.example:4096"]
    {
        for path in ["/", "/page.js", "/healthz", "/v1/do", "/nothing"] {
            let seen = refusal(world.asks_with("GET", path, &[("host", host)]));
            assert_eq!(seen, Some(HttpRefusal::OtherHost), "{host} {path}");
        }
    }
    let forwarded = [
        ("host", "evil.example"),
        ("x-forwarded-host", OURS),
        ("forwarded", "host=127.0.0.1:4096"),
    ];
    assert_eq!(refusal(world.asks_with("GET", "/", &forwarded)), Some(HttpRefusal::OtherHost));
    for ambiguous in
        [&[][..], &[("host", OURS), ("host", OURS)], &[("host", OURS), ("host", "evil.example")]]
    {
        let seen = refusal(world.asks_with("GET", "/", ambiguous));
        assert_eq!(seen, Some(HttpRefusal::Ambiguous), "{ambiguous:?}");
    }
    let absolute = world.asks("GET", "http://evil.example/", &[]);
    assert_eq!(refusal(absolute), Some(HttpRefusal::Ambiguous));
    assert!(world.asks("GET", "/", &[]).is_ok());
}

#[test]
fn a_browser_may_ask_only_for_our_own_page() {
    let world = world();
    assert!(world.posts(&[("sec-fetch-site", "same-origin")]).is_ok());
    for site in ["cross-site", "same-site", "none", "", "Same-Origin", "same-origin, cross-site"] {
        let mode = [("sec-fetch-site", site), ("sec-fetch-mode", "no-cors")];
        assert_eq!(refusal(world.posts(&mode)), Some(HttpRefusal::OtherOrigin), "{site}");
        assert_eq!(refusal(world.opens_socket(&mode)), Some(HttpRefusal::OtherOrigin), "{site}");
    }
    let asks = |path: &str, mode: &str, dest: &str| {
        let more =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
        world.asks("GET", path, &more).is_ok()
    };
    // A link leads to the page, and to nothing else; and no frame, picture or script does.
    assert!(asks("/", "navigate", "document"));
    assert!(!asks("/", "navigate", "iframe") && !asks("/", "no-cors", "image"));
    assert!(!asks("/page.js", "no-cors", "script") && !asks("/healthz", "navigate", "document"));
}

#[test]
fn only_json_of_a_known_length_is_read() {
    let world = world();
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        assert!(world.posts(&[("content-type", kind)]).is_ok(), "{kind}");
    }
    for kind in [
        "-",
        "",
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "application/json-patch+json",
        "application/json, text/plain",
        "application/json; charset=utf-7",
    ] {
        let seen = refusal(world.posts(&[("content-type", kind)]));
        assert_eq!(seen, Some(HttpRefusal::NotJson), "{kind}");
    }
    assert_eq!(refusal(world.posts(&[("content-length", "-")])), Some(HttpRefusal::NoLength));
    let chunked = [("transfer-encoding", "chunked")];
    assert_eq!(refusal(world.posts(&chunked)), Some(HttpRefusal::NoLength));
    assert_eq!(refusal(world.asks("GET", "/", &chunked)), Some(HttpRefusal::NoLength));
    let two = [("content-length", "2"), ("content-length", "3")];
    assert_eq!(refusal(world.posts(&two)), Some(HttpRefusal::Ambiguous));
    for (length, seen) in [
        ("8388608", None),
        ("8388609", Some(HttpRefusal::TooLarge)),
        ("99999999999999999999", Some(HttpRefusal::Ambiguous)),
        ("-1", Some(HttpRefusal::Ambiguous)),
        ("0x2", Some(HttpRefusal::Ambiguous)),
    ] {
        assert_eq!(refusal(world.posts(&[("content-length", length)])), seen, "{length}");
    }
    let body = [("content-length", "1")];
    assert_eq!(refusal(world.asks("GET", "/", &body)), Some(HttpRefusal::TooLarge));
}

#[test]
fn a_cookie_of_somebody_else_changes_nothing() {
    let world = world();
    let with = |line: String| world.posts(&[("cookie", &line)]).is_ok();
    let ours = format!("{COOKIE_NAME}={}", world.cookie);
    assert!(with(ours.clone()));
    assert!(with(format!("{COOKIE_NAME}=tossed; {ours}")));
    assert!(with(format!("{ours}; {COOKIE_NAME}=tossed")));
    for name in
        ["interpreter-4097", "Interpreter-4096", "__Host-interpreter-4096", "interpreter-4096 "]
    {
        assert!(!with(format!("{name}={}", world.cookie)), "{name}");
    }
    // However many there are, and whatever is in them.
    let many = format!("{COOKIE_NAME}=x; ").repeat(500);
    assert!(with(format!("{many}{ours}")) && with(format!("{ours}; {many}")));
    assert!(!with(many));
}

#[test]
fn two_secrets_of_one_kind_are_refused() {
    let world = world();
    let (bearer, key) = (format!("Bearer {}", world.token), world.key_line());
    let two = [("authorization", bearer.as_str()), ("authorization", &key)];
    assert_eq!(refusal(world.posts(&two)), Some(HttpRefusal::Ambiguous));
    // A wrong header is not made good by a right one elsewhere.
    let both = [("authorization", "Key wrong")];
    assert_eq!(refusal(world.opens_socket(&both)), Some(HttpRefusal::NotLoggedIn));
}

proptest! {
    /// Whatever a stranger sends, nothing that needs a login is answered.
    #[test]
    fn no_stranger_passes(
        route in 0..routes::ROUTES.len(),
        values in proptest::collection::vec("[ -~]{0,40}", 8),
    ) {
        let (world, rule) = (world(), &routes::ROUTES[route]);
        let names = [
            "authorization", "cookie", "sec-websocket-protocol", "origin", "sec-fetch-site",
            "x-forwarded-for", "x-forwarded-user", "content-type",
        ];
        let headers: Vec<_> = names.into_iter().zip(values.iter().map(|value| value.trim())).collect();
        if let Ok(admitted) = world.asks(rule.method, &example(rule), &headers) {
            prop_assert_eq!(admitted.rule.needs, Needs::Nothing);
            prop_assert!(admitted.known.is_none());
        }
    }

    /// No target makes it panic, and none but the open ones is answered without a login.
    #[test]
    fn any_target_is_decided(target in "/[!-~]{0,40}") {
        if target.parse::<Uri>().is_ok()
            && let Ok(admitted) = world().asks("GET", &target, &[])
        {
            prop_assert_eq!(admitted.rule.needs, Needs::Nothing);
        }
    }
}

/// Every row for programs that are made for Jupyter, with a path.
fn for_programs() -> impl Iterator<Item = (&'static RouteRule, String)> {
    let all = routes::ROUTES.iter().filter(|rule| rule.key_in == KeyIn::ProgramCookie);
    all.map(|rule| (rule, example(rule)))
}

/// The lines of its body.
fn body_of(rule: &RouteRule) -> &'static [(&'static str, &'static str)] {
    match rule.body_form {
        BodyForm::Fields => {
            &[("content-length", "2"), ("content-type", "application/x-www-form-urlencoded")]
        }
        BodyForm::Json | BodyForm::JsonOrNothing | BodyForm::Bytes => &[],
    }
}

#[test]
fn a_token_in_an_address_opens_nothing_and_is_named_as_the_reason() {
    let world = world();
    let bearer = format!("Bearer {}", world.token);
    let mut tried = 0;
    for (rule, path) in for_programs() {
        let body = body_of(rule);
        let asks = |query: &str, more: &[(&str, &str)]| {
            let target = format!("{path}{query}");
            refusal(world.asks(rule.method, &target, &[body, more].concat()))
        };
        let header = [("authorization", bearer.as_str())];
        for query in [&format!("?token={}", world.token), "?token=", "?token", "?a=1&token=x"] {
            // Nor does it spoil a good one silently: whoever sends it learns that it must not.
            for more in [&[][..], &header] {
                let seen = asks(query, more);
                assert_eq!(seen, Some(HttpRefusal::TokenInUrl), "{rule:?} {query}");
            }
        }
        assert_eq!(asks("", &header), None, "{rule:?}");
        tried += 1;
    }
    assert_eq!(tried, 5);
    // Elsewhere it is a parameter like any other, and opens nothing either.
    for rule in routes::ROUTES.iter().filter(|rule| rule.key_in != KeyIn::ProgramCookie) {
        if rule.needs != Needs::Nothing && rule.body == 0 {
            let target = format!("{}?token={}", example(rule), world.token);
            let seen = refusal(world.asks(rule.method, &target, &[]));
            assert_eq!(seen, Some(HttpRefusal::NotLoggedIn), "{rule:?}");
        }
    }
}

#[test]
fn a_cookie_of_a_program_opens_its_own_routes_with_its_header_alone() {
    let mut world = world();
    let made = world.logins.new_program_cookie(&world.token, world.now).unwrap();
    let cookie = made.unwrap().into_text();
    let line = format!("_xsrf=abc; {PROGRAM_COOKIE_NAME}={cookie}");
    let good = [("cookie", line.as_str()), ("x-xsrftoken", "abc")];
    for rule in routes::ROUTES.iter().filter(|rule| rule.needs != Needs::Nothing) {
        let json = [("content-length", "2"), ("content-type", "application/json")];
        let body: &[_] = if rule.body > 0 { &json } else { &[] };
        let asks = |more: &[(&str, &str)]| {
            refusal(world.asks(rule.method, &example(rule), &[body, more].concat()))
        };
        let is_for_programs = rule.key_in == KeyIn::ProgramCookie;
        let expected = (!is_for_programs).then_some(HttpRefusal::NotLoggedIn);
        assert_eq!(asks(&good), expected, "{rule:?}");
        let under_our_name = format!("_xsrf=abc; {COOKIE_NAME}={cookie}");
        for wrong in [
            &[("cookie", line.as_str())][..],
            &[("cookie", &line), ("x-xsrftoken", "abd")],
            &[("cookie", &line), ("x-xsrftoken", "")],
            &[("cookie", &under_our_name), ("x-xsrftoken", "abc")],
            &[("cookie", "_xsrf=abc"), ("x-xsrftoken", "abc")],
        ] {
            assert_eq!(asks(wrong), Some(HttpRefusal::NotLoggedIn), "{rule:?} {wrong:?}");
        }
    }
    // It ends with its token, and by itself.
    let seen = |world: &World| refusal(world.asks("POST", "/api/kernels", &good));
    assert_eq!(seen(&world), None);
    let later = World { now: world.now + crate::http::logins::PROGRAM_COOKIE_LIFE, ..world };
    assert_eq!(seen(&later), Some(HttpRefusal::NotLoggedIn));
    let mut ended = World { now: Instant::now(), ..later };
    assert_eq!(seen(&ended), None);
    let pass = ended.logins.by_token(&ended.token, ended.now).unwrap().pass;
    ended.logins.end(pass);
    assert_eq!(seen(&ended), Some(HttpRefusal::NotLoggedIn));
}

#[test]
fn no_browser_uses_what_is_for_programs() {
    let world = world();
    let token = format!("token {}", world.token);
    for (rule, path) in for_programs() {
        let body = body_of(rule);
        let asks = |more: &[(&str, &str)]| {
            let header = [("authorization", token.as_str())];
            refusal(world.asks(rule.method, &path, &[body, &header, more].concat()))
        };
        assert_eq!(asks(&[]), None, "{rule:?}");
        for site in ["same-origin", "same-site", "cross-site", "none"] {
            let seen = asks(&[("sec-fetch-site", site)]);
            assert_eq!(seen, Some(HttpRefusal::OtherOrigin), "{rule:?} {site}");
        }
        for origin in ["null", "http://evil.example", "http://127.0.0.1:4097"] {
            let seen = asks(&[("origin", origin)]);
            assert_eq!(seen, Some(HttpRefusal::OtherOrigin), "{rule:?} {origin}");
        }
    }
    // The word of Jupyter's clients is none elsewhere.
    let elsewhere = [
        ("authorization", token.as_str()),
        ("content-length", "2"),
        ("content-type", "application/json"),
    ];
    assert_eq!(refusal(world.asks("POST", "/v1/do", &elsewhere)), Some(HttpRefusal::NotLoggedIn));
}
