//! Where a value is put in, and where never.

use super::*;
use crate::Untrusted;
use proptest::prelude::*;

const VALUE: &str = "canary-value-0123456789";
const RANDOM: &str = "5f0e1d2c";

fn grant(name: &str, place: &str) -> SecretGrant {
    SecretGrant::new(name, place, &[], SecretCarrier::default()).unwrap()
}

fn broker() -> Broker {
    let mut broker = Broker::default();
    broker.add("TOKEN", Secret::new(VALUE.into()), &[grant("TOKEN", "api.example.org")], RANDOM);
    let other = Secret::new("another-canary-value".into());
    broker.add("OTHER", other, &[grant("OTHER", "h.org:8443")], RANDOM);
    broker
}

fn placeholder() -> String {
    broker().variables()["TOKEN"].clone()
}

fn asked(
    method: &str,
    place: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> (String, Vec<String>) {
    let (host, port) = crate::egress::authority(place, Some(443)).unwrap();
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
        .collect();
    let request =
        RequestHead { host: &host, port, method, target, headers: &headers, body: Some(0) };
    let filled = broker().fill(&request, None);
    let sent: Vec<_> =
        filled.headers.iter().map(|(_, value)| String::from_utf8_lossy(value)).collect();
    (sent.join("\n"), filled.uses.iter().map(SecretUse::line).collect())
}

#[test]
fn the_value_goes_where_the_person_allowed_it() {
    let bearer = format!("Bearer {}", placeholder());
    let (sent, uses) = asked("GET", "api.example.org", "/user?q=1", &[("authorization", &bearer)]);
    assert_eq!(sent, format!("Bearer {VALUE}"));
    assert_eq!(uses, ["used TOKEN for GET api.example.org/user"]);
    let basic = format!("Basic {}", STANDARD.encode(format!("me:{}", placeholder())));
    let (sent, uses) = asked("GET", "api.example.org", "/", &[("authorization", &basic)]);
    assert_eq!(sent, format!("Basic {}", STANDARD.encode(format!("me:{VALUE}"))));
    assert_eq!(uses.len(), 1);
}

#[test]
fn anywhere_else_the_placeholder_stays_and_the_attempt_is_noted() {
    let (ours, bearer) = (placeholder(), format!("Bearer {}", placeholder()));
    let twice = format!("{ours} {ours}");
    let authorization = [("authorization", bearer.as_str())];
    for (method, place, target, headers, why) in [
        ("GET", "evil.example.org", "/", &authorization[..], "you did not allow it there"),
        ("GET", "api.example.org:444", "/", &authorization, "you did not allow it there"),
        ("GET", "h.org:8443", "/", &authorization, "you did not allow it there"),
        ("POST", "api.example.org", "/", &authorization, "for GET and HEAD only"),
        ("get", "api.example.org", "/", &authorization, "for GET and HEAD only"),
        (
            "GET",
            "api.example.org",
            "/",
            &[("x-other", &bearer)],
            "in the header `authorization` only",
        ),
        ("GET", "api.example.org", "/", &[("authorization", &twice)], "more than once"),
        ("GET", "api.example.org", &format!("/?a={ours}"), &[], "an address carries no secrets"),
        (
            "GET",
            "api.example.org",
            "/",
            &[("authorization", &bearer), ("authorization", "x")],
            "more than one header `authorization`",
        ),
    ] {
        let (sent, uses) = asked(method, place, target, headers);
        assert!(!sent.contains("canary"), "{method} {place}: {sent}");
        assert_eq!(uses.len(), 1, "{method} {place}: {uses:?}");
        assert!(uses[0].starts_with("did not use TOKEN") && uses[0].contains(why), "{uses:?}");
    }
}

#[test]
fn another_sessions_placeholder_is_only_text() {
    let stale = "Bearer placeholder-TOKEN-00000000";
    let (sent, uses) = asked("GET", "api.example.org", "/", &[("authorization", stale)]);
    assert_eq!((sent.as_str(), uses.len()), (stale, 0));
}

#[test]
fn plain_http_and_bodies_carry_nothing() {
    let (broker, host) = (broker(), "api.example.org".parse().unwrap());
    let head = format!("GET /a HTTP/1.1\r\nAuthorization: {}\r\n\r\n", placeholder());
    let refused = broker.refused_in_plain(&host, 80, head.as_bytes());
    assert!(refused[0].line().starts_with("did not use TOKEN for GET api.example.org:80/a: "));
    let (method, target) = ("GET", "/");
    let request = RequestHead { host: &host, port: 443, method, target, headers: &[], body: None };
    assert!(broker.refused_in_body(&request, b"nothing").is_empty());
    assert_eq!(broker.refused_in_body(&request, placeholder().as_bytes()).len(), 1);
}

/// A body on its way to `login.example.org`, and its uses. The secret is allowed
/// there in the field `auth.key`, by POST.
fn posted(method: &str, media: &str, body: &str) -> (bool, String, String) {
    let mut broker = Broker::default();
    let field = SecretCarrier::field("auth.key").unwrap();
    let grant = SecretGrant::new("TOKEN", "login.example.org", &[], field).unwrap();
    broker.add("TOKEN", Secret::new("two words & \"more\"".into()), &[grant], RANDOM);
    let (host, port, target) = (&"login.example.org".parse().unwrap(), 443, "/");
    let headers = [("content-type".to_owned(), media.as_bytes().to_vec())];
    let body = body.replace("PH", &placeholder());
    let length = Some(body.len() as u64);
    let request = RequestHead { host, port, method, target, headers: &headers, body: length };
    let read = broker.reads_body(&request);
    let filled = broker.fill(&request, read.then(|| body.clone().into_bytes()));
    let streamed = if read { vec![] } else { broker.refused_in_body(&request, body.as_bytes()) };
    let uses: Vec<_> = filled.uses.iter().chain(&streamed).map(SecretUse::line).collect();
    let sent = filled.body.map_or(body, |body| String::from_utf8(body).unwrap());
    (read, sent.replace(&placeholder(), "PH"), uses.join("\n"))
}

#[test]
fn a_field_carries_it_where_the_person_allowed_that() {
    let used = "used TOKEN for POST login.example.org/".to_owned();
    let sent = r#"{"auth":{"key":"two words & \"more\""},"n":1}"#.to_owned();
    let json = r#"{"auth":{"key":"PH"},"n":1}"#;
    assert_eq!(posted("POST", "application/json", json), (true, sent, used.clone()));
    let sent = "n=1&auth.key=two%20words%20%26%20%22more%22".to_owned();
    let media = "application/x-www-form-urlencoded";
    assert_eq!(posted("POST", media, "n=1&auth.key=PH"), (true, sent, used));
}

#[test]
fn in_any_other_body_the_placeholder_stays_and_the_attempt_is_noted() {
    let (json, good) = ("application/json", r#"{"auth":{"key":"PH"}}"#);
    let long = format!(r#"{{"auth":{{"key":"PH"}},"pad":"{}"}}"#, "x".repeat(1 << 20));
    for (method, media, body, why) in [
        ("PUT", json, good, "you allowed it for POST only"),
        ("POST", "text/plain", good, "a field needs a body of JSON or a form"),
        ("POST", json, &long, "a Content-Length of at most 1 MiB"),
        ("POST", json, r#"{"key":"PH"}"#, "in the field `auth.key` only"),
        ("POST", json, r#"{"auth":{"key":"PH"},"note":"PH"}"#, "more than once"),
        ("POST", json, r#"{"auth":{"key":"PH"},"auth":{}}"#, "read in one way only"),
    ] {
        let (_, sent, said) = posted(method, media, body);
        assert_eq!(sent, body, "{said}");
        assert!(said.starts_with("did not use TOKEN") && said.contains(why), "{why}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
    // Nothing is read without need.
    assert!(!posted("GET", json, good).0 && !posted("POST", json, "").0);
}

/// The attack: a method that is judged, and another that the server takes. The control is above.
#[test]
fn nothing_is_put_in_beside_another_method() {
    let (json, form) = ("application/json", "application/x-www-form-urlencoded");
    for (media, body) in [
        (form, "_method=DELETE&auth.key=PH"),
        (form, "auth.key=PH&%5FMethod=DELETE"),
        (form, "auth.key=PH&_METHOD"),
        (form, "auth.key=PH&.method=DELETE"),
        (form, "auth.key=PH&+[_method]=DELETE"),
        (form, "auth.key=PH&_method%00x=DELETE"),
        (json, r#"{"auth":{"key":"PH"},"_method":"DELETE"}"#),
        (json, r#"{"auth":{"key":"PH","\u005fmethod":"DELETE"}}"#),
    ] {
        let (_, sent, said) = posted("POST", media, body);
        assert_eq!(sent, body, "{said}");
        assert!(said.starts_with("did not use TOKEN") && said.contains("`_method`"), "{said}");
    }
    let (_, sent, said) = posted("POST", form, "method=_method&the_method=1&auth.key=PH");
    assert!(sent.contains("two%20words") && said.starts_with("used TOKEN"), "{said}");
    let bearer = [("authorization", placeholder())];
    let bearer = [(bearer[0].0, bearer[0].1.as_str())];
    for (target, put_in) in [
        ("/?_method=DELETE", false),
        ("/a?b=c&_Method", false),
        ("/a?b=c;%5fmethod=PUT", false),
        ("/_method?a=_method&my_method=1", true),
    ] {
        let (sent, uses) = asked("GET", "api.example.org", target, &bearer);
        assert_eq!(sent.contains(VALUE), put_in, "{target}");
        assert_eq!(uses.len(), 1, "{target}: {uses:?}");
        assert_eq!(uses[0].contains("`_method`"), !put_in, "{uses:?}");
    }
}

#[test]
fn a_field_is_no_header() {
    let field = SecretCarrier::field("key").unwrap();
    let grant = SecretGrant::new("TOKEN", "h.org", &[], field).unwrap();
    let mut broker = Broker::default();
    broker.add("TOKEN", Secret::new(VALUE.into()), &[grant], RANDOM);
    let headers = [("authorization".to_owned(), placeholder().into_bytes())];
    let (host, method, target) = (&"h.org".parse().unwrap(), "POST", "/");
    let request = RequestHead { host, port: 443, method, target, headers: &headers, body: Some(0) };
    let filled = broker.fill(&request, None);
    assert_eq!(filled.headers, headers);
    assert!(filled.uses[0].line().ends_with("you allowed it in the field `key` only"));
}

#[test]
fn what_has_no_grant_or_no_usable_value_is_left_out() {
    let mut broker = Broker::default();
    broker.add("A", Secret::new(VALUE.into()), &[grant("B", "h.org")], RANDOM);
    broker.add("C", Secret::new("short".into()), &[grant("C", "h.org")], RANDOM);
    assert!(broker.is_empty() && broker.variables().is_empty());
    assert!(!broker.opens(&"h.org".parse().unwrap(), 443));
    assert_eq!(format!("{broker:?}"), "Broker(0 secrets)");
}

#[test]
fn a_path_is_shown_without_what_moves_the_cursor() {
    let (_, uses) = asked("GET", "evil.org", "/\u{1b}[2J", &[("authorization", &placeholder())]);
    assert_eq!(Untrusted::new(&*uses[0]).for_terminal_line(500), uses[0]);
}

proptest! {
    /// Whatever a body is given is masked if a server shows that body.
    #[test]
    fn a_value_is_masked_as_it_was_written(value in "[!-~][ -~]{6,60}[!-~]") {
        let mut broker = Broker::default();
        let grant = SecretGrant::new("T", "h.org", &[], SecretCarrier::field("k").unwrap());
        broker.add("T", Secret::new(value.clone()), &[grant.unwrap()], RANDOM);
        let values = broker.values(&"h.org".parse().unwrap(), 443);
        for form in [BodyForm::Json, BodyForm::Pairs] {
            let written = form.written(&value);
            let masked = values.masked(format!("k={written}|").as_bytes());
            prop_assert_eq!(masked, format!("k={}|", "*".repeat(written.len())).into_bytes());
        }
    }

    #[test]
    fn no_value_leaves_but_by_its_grant(
        method in prop::sample::select(vec!["GET", "HEAD", "POST", "PUT", "DELETE", "TRACE"]),
        place in prop::sample::select(vec!["api.example.org", "api.example.org:80", "h.org:8443", "x.org"]),
        names in prop::collection::vec(prop::sample::select(vec!["authorization", "cookie", "x"]), 0..4),
        holds in prop::collection::vec(any::<bool>(), 4),
    ) {
        let bearer = format!("Bearer {}", placeholder());
        let text = |held: bool| if held { bearer.as_str() } else { "plain" };
        let headers: Vec<_> = names.iter().zip(&holds).map(|(name, held)| (*name, text(*held))).collect();
        let (sent, uses) = asked(method, place, "/", &headers);
        let carrying = headers.iter().filter(|(name, _)| *name == "authorization").count();
        let is_allowed = place == "api.example.org"
            && matches!(method, "GET" | "HEAD")
            && carrying == 1
            && headers.contains(&("authorization", bearer.as_str()));
        prop_assert_eq!(sent.matches(VALUE).count(), usize::from(is_allowed));
        prop_assert_eq!(uses.iter().any(|line| line.starts_with("used ")), is_allowed);
        // Nothing is put in, or left out, without a word.
        let held = headers.iter().any(|(_, value)| *value == bearer);
        prop_assert_eq!(!uses.is_empty(), held);
    }
}
