//! Secrets in the field of a body: a value that goes out, and attacks.

use super::world::{Brokered, VALUE, answer, in_field, say};

const JSON: &str = "Content-Type: application/json\r\n";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// A request by POST with these lines and this body, in which `PH` is the placeholder.
fn post(on: &Brokered, lines: &str, body: &str) -> String {
    let body = body.replace("PH", &on.placeholder);
    let length = format!("Content-Length: {}\r\n", body.len());
    on.request("POST", "/login", &format!("{lines}{length}")) + &body
}

/// The body of a request that was heard, which is as long as its head says.
fn body(request: &str) -> &str {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("\r\ncontent-length: {}", body.len())), "{request}");
    assert_eq!(head.matches("content-length").count(), 1, "{request}");
    body
}

#[tokio::test]
async fn the_field_carries_the_value_and_nothing_else_changes() {
    let on = in_field(vec![answer(&format!("got {VALUE}")), answer("ok"), answer("ok")]).await;
    let json = r#"{ "a" : [1.50], "auth":{"key":"PH"}, "z":"é" }"#;
    let seen = on.say(&post(&on, JSON, json)).await;
    assert!(seen.ends_with(&format!("got {}", "*".repeat(VALUE.len()))), "{seen}");
    let form = "a=1&auth.key=PH&b=%20";
    assert!(on.say(&post(&on, FORM, form)).await.ends_with("ok"));
    // A client that waits for a word before it sends the body.
    let waiting = post(&on, &format!("Expect: 100-continue\r\n{JSON}"), json);
    let seen = on.say(&waiting).await;
    assert!(seen.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), "{seen}");
    let heard = on.heard.all();
    assert_eq!(body(&heard[0]), json.replace("PH", VALUE));
    assert_eq!(body(&heard[1]), form.replace("PH", VALUE));
    assert_eq!(body(&heard[2]), json.replace("PH", VALUE));
    let used = format!("used TOKEN for POST api.example:{}/login", on.port);
    assert_eq!(on.recorded(), [used.clone(), used.clone(), used]);
}

#[tokio::test]
async fn in_any_other_body_the_placeholder_goes_out_as_it_is() {
    let on = in_field((0..14).map(|_| answer("ok")).collect()).await;
    let good = r#"{"auth":{"key":"PH"}}"#;
    let long = format!(r#"{{"auth":{{"key":"PH"}},"pad":"{}"}}"#, "x".repeat(1 << 20));
    let ours = on.placeholder.clone();
    let chunked = good.replace("PH", &ours);
    let chunked = format!("{:x}\r\n{chunked}\r\n0\r\n\r\n", chunked.len());
    let packed = format!("{JSON}Content-Encoding: gzip\r\n");
    let put = post(&on, JSON, good).replacen("POST", "PUT", 1);
    let header = format!("{JSON}Authorization: Bearer {ours}\r\n");
    let one_way = "cannot be read in one way only";
    for (request, why) in [
        (post(&on, JSON, r#"{"key":"PH"}"#), "in the field `auth.key` only"),
        (post(&on, JSON, r#"{"note":"PH","auth":{"key":"x"}}"#), "in the field `auth.key` only"),
        (post(&on, JSON, r#"{"x":{"auth":{"key":"PH"}}}"#), "in the field `auth.key` only"),
        (post(&on, JSON, r#"{"auth":{"key":"x","key":"PH"}}"#), one_way),
        (post(&on, JSON, r#"{"auth":{"key":"PH"},"auth":{"key":"x"}}"#), one_way),
        (post(&on, JSON, r#"{"auth":{"key":"PH"},"note":"PH"}"#), "more than once"),
        (post(&on, FORM, "auth.key=PH&auth.key=x"), one_way),
        (post(&on, FORM, good), "in the field `auth.key` only"),
        (post(&on, "Content-Type: text/plain\r\n", good), "JSON or a form"),
        (post(&on, &packed, good), "without a Content-Encoding"),
        (post(&on, JSON, &long), "a Content-Length of at most 1 MiB"),
        (
            on.request("POST", "/", &format!("{JSON}Transfer-Encoding: chunked\r\n")) + &chunked,
            "a Content-Length of at most 1 MiB",
        ),
        (put, "for POST only"),
        (post(&on, &header, "{}"), "in the field `auth.key` only"),
    ] {
        let before = on.recorded().len();
        let seen = on.say(&request).await;
        assert!(seen.ends_with("ok"), "{why}: {seen}");
        let recorded = on.recorded();
        assert_eq!(recorded.len() - before, 1, "{why}: {recorded:?}");
        let last = recorded.last().unwrap();
        assert!(last.starts_with("did not use TOKEN") && last.contains(why), "{why}: {last}");
    }
    let heard = on.heard.all();
    assert_eq!(heard.len(), 14);
    let all = heard.concat();
    assert!(all.contains(&ours) && !all.contains(VALUE));
}

#[tokio::test]
async fn nothing_is_smuggled_behind_a_body_or_in_two_lengths() {
    let on = in_field(vec![answer("ok"), answer("never")]).await;
    let good = r#"{"auth":{"key":"PH"}}"#;
    // A second request behind the body, and in the same piece.
    let second = post(&on, JSON, r#"{"note":"PH"}"#);
    let first = post(&on, JSON, good).replace("Connection: close\r\n", "");
    let seen = on.say(&(first + &second)).await;
    assert!(seen.ends_with("ok"), "{seen}");
    assert_eq!(body(&on.heard.all()[0]), good.replace("PH", VALUE));
    // Two lengths, and a body that ends too early.
    let both = post(&on, &format!("{JSON}Transfer-Encoding: chunked\r\n"), good);
    assert!(on.say(&both).await.starts_with("HTTP/1.1 400 "));
    let twice = post(&on, &format!("{JSON}Content-Length: 3\r\n"), good);
    assert!(on.say(&twice).await.starts_with("HTTP/1.1 400 "));
    let mut stream = on.connect("api.example").await.unwrap();
    let whole = post(&on, JSON, good);
    tokio::io::AsyncWriteExt::write_all(&mut stream, &whole.as_bytes()[..whole.len() - 1])
        .await
        .unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut stream).await.unwrap();
    assert_eq!(say(&mut stream, "").await, "");
    assert_eq!((on.heard.all().len(), on.recorded().len()), (1, 1));
}

#[tokio::test]
async fn without_the_record_no_field_goes_out() {
    let on = in_field(vec![answer("ok")]).await;
    on.scene.uses.end_run();
    let seen = on.say(&post(&on, JSON, r#"{"auth":{"key":"PH"}}"#)).await;
    assert!(seen.starts_with("HTTP/1.1 403 no code that you approved is running"), "{seen}");
    assert!(on.heard.all().is_empty());
}
