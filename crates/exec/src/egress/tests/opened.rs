//! Secrets in opened connections: a real TLS server, a real TLS client inside, and attacks.

use self::world::{Heard, VALUE, World, answer, brokered, connected, say, start};
use super::hears;
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::broker::GrantedMethod;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

mod fields;
mod world;

#[tokio::test]
async fn the_value_goes_to_its_host_and_does_not_come_back() {
    let on = brokered(vec![answer(&format!("you sent Bearer {VALUE}, thanks"))]).await;
    let authorization = format!("Authorization: Bearer {}\r\n", on.placeholder);
    let seen = on.say(&on.request("GET", "/user?q=1", &authorization)).await;
    let heard = on.heard.all();
    assert!(heard[0].contains(&format!("authorization: Bearer {VALUE}\r\n")), "{heard:?}");
    assert!(heard[0].contains("accept-encoding: identity\r\n"), "{heard:?}");
    let stars = "*".repeat(VALUE.len());
    assert!(seen.ends_with(&format!("you sent Bearer {stars}, thanks")), "{seen}");
    let port = on.port;
    assert_eq!(on.recorded(), [format!("used TOKEN for GET api.example:{port}/user")]);
}

#[tokio::test]
async fn a_user_and_a_password_work_too_and_each_request_is_judged_anew() {
    let on = brokered(vec![answer("one"), answer("two"), answer("three")]).await;
    let basic = STANDARD.encode(format!("me:{}", on.placeholder));
    let mut stream = on.connect("api.example").await.unwrap();
    let kept = on.request("GET", "/1", &format!("Authorization: Basic {basic}\r\n"));
    let kept = kept.replace("Connection: close\r\n", "");
    let other = on.request("DELETE", "/2", &format!("Authorization: Basic {basic}\r\n"));
    let seen = say(&mut stream, &format!("{kept}{other}")).await;
    assert!(seen.contains("one") && seen.contains("two"), "{seen}");
    let heard = on.heard.all();
    assert!(heard[0].contains(&STANDARD.encode(format!("me:{VALUE}"))), "{heard:?}");
    assert!(heard[1].contains(&basic) && heard.len() == 2, "{heard:?}");
    assert!(on.recorded()[1].contains("for DELETE") && on.recorded()[1].contains("GET only"));
}

#[tokio::test]
async fn in_any_other_place_the_placeholder_goes_out_as_it_is() {
    let on = brokered((0..9).map(|_| answer("ok")).collect()).await;
    let ours = on.placeholder.clone();
    let bearer = format!("Authorization: Bearer {ours}\r\n");
    let long = format!("{}{ours}{}", "x".repeat(40_000), "y".repeat(40_000));
    let body = format!("content-length: {}\r\n", long.len());
    let chunked = {
        let (one, two) = ours.split_at(9);
        format!("9\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n", two.len())
    };
    for (request, why) in [
        (on.request("POST", "/", &bearer), "for GET only"),
        (on.request("GET", "/", &format!("X-Token: {ours}\r\n")), "in the header `authorization`"),
        (on.request("GET", "/", &format!("Cookie: a={ours}\r\n")), "in the header `authorization`"),
        (on.request("GET", &format!("/?t={ours}"), ""), "an address carries no secrets"),
        (on.request("GET", "/", &format!("Authorization: {ours}{ours}\r\n")), "more than once"),
        (on.request("GET", "/", &format!("{bearer}Authorization: x\r\n")), "more than one header"),
        (on.request("POST", "/", &body) + &long, "a body carries no secrets"),
        (
            on.request("POST", "/", "Transfer-Encoding: chunked\r\n") + &chunked,
            "a body carries no secrets",
        ),
        (on.request("GET", "/", "Authorization: Bearer placeholder-TOKEN-000000000000\r\n"), ""),
    ] {
        let before = on.recorded().len();
        let seen = on.say(&request).await;
        assert!(seen.ends_with("ok"), "{why}: {seen}");
        let recorded = on.recorded();
        // Another session's placeholder is only text.
        assert_eq!(recorded.len() - before, usize::from(!why.is_empty()), "{why}: {recorded:?}");
        let last = recorded.last().unwrap();
        assert!(last.starts_with("did not use TOKEN") && last.contains(why), "{why}: {last}");
    }
    let heard = on.heard.all();
    assert_eq!(heard.len(), 9);
    assert!(!heard.concat().contains(VALUE), "{heard:?}");
}

#[tokio::test]
async fn another_host_gets_the_connection_unopened_and_only_a_placeholder() {
    let world = World::new();
    let (port, heard) = world.server("other.example", vec![answer("ok")]).await;
    let on = start(&world, port, heard, &[GrantedMethod::Get]).await;
    // By the session's own authority nobody speaks as that host.
    assert!(on.connect("other.example").await.is_err());
    let tunnel = on.scene.tunnel(&format!("other.example:{port}")).await;
    let mut stream = connected(tunnel, "other.example", &world.root, &[]).await.unwrap();
    let request =
        format!("GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: {}\r\n\r\n", on.placeholder);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 15];
    stream.read_exact(&mut start).await.unwrap();
    let heard = on.heard.all();
    assert!(heard[0].contains(&on.placeholder) && !heard[0].contains(VALUE), "{heard:?}");
    assert!(on.recorded().is_empty());
}

#[tokio::test]
async fn a_tunnel_cannot_be_used_for_another_host() {
    let on = brokered(vec![answer("ok")]).await;
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    let wrong = on.request("GET", "/", &bearer).replace("Host: api", "Host: evil");
    assert!(on.say(&wrong).await.starts_with("HTTP/1.1 400 the Host is not the one"));
    // Nor by the name in the handshake.
    let tunnel = on.scene.tunnel(&format!("api.example:{}", on.port)).await;
    let stream = connected(tunnel, "other.example", &on.trusted, &[]).await;
    assert!(stream.is_err());
    assert!(on.heard.all().is_empty() && on.recorded().is_empty());
}

#[tokio::test]
async fn requests_that_can_be_read_in_two_ways_do_not_go_out() {
    let on = brokered(vec![answer("ok")]).await;
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Content-Length: 0\r\n\tX: y\r\n",
        "X: a\nHost: evil.example\r\n",
        "Content-Length : 5\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\n",
    ] {
        let seen = on.say(&on.request("GET", "/", &format!("{bearer}{lines}"))).await;
        assert!(seen.starts_with("HTTP/1.1 400 "), "{lines:?}: {seen}");
    }
    for method in ["TRACE", "CONNECT"] {
        let seen = on.say(&on.request(method, "/", &bearer)).await;
        assert!(seen.starts_with("HTTP/1.1 400 "), "{method}: {seen}");
    }
    assert!(on.heard.all().is_empty() && on.recorded().is_empty());
}

#[tokio::test]
async fn nothing_follows_a_body_and_a_body_follows_no_get() {
    let on = brokered(vec![answer("one"), answer("two")]).await;
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    let hidden = on.request("GET", "/hidden", &bearer);
    let outer = |method| {
        on.request(method, "/", "Content-Length: 4\r\n").replace("Connection: close\r\n", "")
    };
    let seen = on.say(&format!("{}abcd{hidden}", outer("GET"))).await;
    assert!(seen.starts_with("HTTP/1.1 400 a GET or HEAD has no body"), "{seen}");
    assert!(on.heard.all().is_empty());
    // A server that takes no body for this method would take it for the beginning of the next
    // request, with the secret in it: so there is none on this connection.
    let seen = on.say(&format!("{}abcd{hidden}", outer("POST"))).await;
    assert!(seen.contains("one") && !seen.contains("two"), "{seen}");
    let heard = on.heard.all();
    assert!(heard.len() == 1 && heard[0].ends_with("abcd"), "{heard:?}");
    assert!(!heard.concat().contains(VALUE), "{heard:?}");
}

#[tokio::test]
async fn reflections_are_masked_in_every_framing() {
    let (one, two) = VALUE.split_at(6);
    let encoded = STANDARD.encode(format!("me:{VALUE}"));
    let answers = vec![
        format!("HTTP/1.1 200 {VALUE}\r\nx-echo: {VALUE}\r\ncontent-length: 0\r\n\r\n"),
        format!(
            "HTTP/1.1 302 Found\r\nlocation: https://evil.example/?{VALUE}\r\ncontent-length: 0\r\n\r\n"
        ),
        format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{one}\r\n{:x}\r\n{two}\r\n\
             0\r\nx: {VALUE}\r\n\r\n",
            two.len()
        ),
        format!("HTTP/1.1 200 OK\r\n\r\nuntil the end {VALUE}"),
        format!("HTTP/1.1 200 OK\r\n\r\nBasic {encoded}"),
        format!(
            "HTTP/1.1 200 OK\r\n\r\n{}",
            VALUE.bytes().fold(String::new(), |mut hex, byte| {
                use std::fmt::Write;
                write!(hex, "{byte:02x}").unwrap();
                hex
            })
        ),
    ];
    let on = brokered(answers.iter().map(|text| text.clone().into_bytes()).collect()).await;
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    for sent in &answers {
        let seen = on.say(&on.request("GET", "/", &bearer)).await;
        assert!(seen.starts_with("HTTP/1.1 ") && seen.contains("********"), "{sent}: {seen}");
        for hidden in ["canary", &encoded[..16], "63616e6172792d"] {
            assert!(!seen.contains(hidden), "{sent}: {seen}");
        }
    }
    assert_eq!(on.heard.all().concat().matches(VALUE).count(), answers.len());
}

#[tokio::test]
async fn answers_in_which_a_secret_cannot_be_seen_are_withheld() {
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nxx",
        "HTTP/1.1 206 Partial Content\r\ncontent-length: 4\r\n\r\ncana",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: a\r\n b\r\n\r\n",
    ];
    let on = brokered(answers.iter().map(|text| text.as_bytes().to_vec()).collect()).await;
    let bearer = format!("Authorization: Bearer {}\r\nRange: bytes=0-3\r\n", on.placeholder);
    for sent in answers {
        let seen = on.say(&on.request("GET", "/", &bearer)).await;
        assert!(seen.starts_with("HTTP/1.1 502 ") && !seen.contains("cana"), "{sent}: {seen}");
    }
    assert!(!on.heard.all().concat().to_lowercase().contains("range:"));
}

#[tokio::test]
async fn a_client_with_another_protocol_or_another_trust_does_not_get_in() {
    let on = brokered(vec![answer("ok")]).await;
    let place = format!("api.example:{}", on.port);
    let tunnel = on.scene.tunnel(&place).await;
    assert!(connected(tunnel, "api.example", &on.trusted, &[b"h2"]).await.is_err());
    // Outside of the sandbox nobody trusts the session's authority.
    let tunnel = on.scene.tunnel(&place).await;
    let stranger = World::new().root;
    assert!(connected(tunnel, "api.example", &stranger, &[]).await.is_err());
    // Not TLS at all.
    let mut tunnel = on.scene.tunnel(&place).await;
    tunnel.write_all(b"GET / HTTP/1.1\r\nHost: api.example\r\n\r\n").await.unwrap();
    let mut rest = Vec::new();
    _ = tunnel.read_to_end(&mut rest).await.is_ok();
    assert!(!rest.starts_with(b"HTTP"));
    assert!(on.heard.all().is_empty() && on.recorded().is_empty());
}

#[tokio::test]
async fn a_host_must_show_a_certificate_that_this_machine_trusts() {
    let (trusted, stranger) = (World::new(), World::new());
    for (world, name) in [(&stranger, "api.example"), (&trusted, "evil.example")] {
        let (port, heard) = world.server(name, vec![answer("ok")]).await;
        let on = start(&trusted, port, heard, &[GrantedMethod::Get]).await;
        let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
        let seen = on.say(&on.request("GET", "/", &bearer)).await;
        assert!(seen.starts_with("HTTP/1.1 502 TLS failed: "), "{seen}");
        assert!(on.heard.all().is_empty() && on.recorded().is_empty());
    }
}

#[tokio::test]
async fn plain_http_to_the_same_host_carries_the_placeholder() {
    let (port, heard) = hears("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let on = start(&World::new(), port, Heard::default(), &[GrantedMethod::Get]).await;
    let request = format!(
        "GET http://api.example:{port}/x HTTP/1.1\r\nAuthorization: {}\r\n\r\n",
        on.placeholder
    );
    assert!(on.scene.say(request).await.ends_with("ok"));
    let heard = heard.await.unwrap();
    assert!(heard.contains(&on.placeholder) && !heard.contains(VALUE), "{heard}");
    assert!(on.recorded()[0].contains("plain HTTP carries no secrets"), "{:?}", on.recorded());
}

#[tokio::test]
async fn without_the_record_nothing_goes_out() {
    let on = brokered(vec![answer("ok")]).await;
    on.scene.uses.end_run();
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    let seen = on.say(&on.request("GET", "/", &bearer)).await;
    assert!(seen.starts_with("HTTP/1.1 403 no code that you approved is running"), "{seen}");
    assert!(on.heard.all().is_empty());
}

#[tokio::test]
async fn a_host_that_leaves_ends_the_connection() {
    let on = brokered(vec![b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec()]).await;
    let kept = on.request("GET", "/", "").replace("Connection: close\r\n", "");
    // It reads to the end, which comes.
    assert!(on.say(&kept).await.ends_with("ok"));
}

#[tokio::test]
async fn by_socks_it_is_the_same() {
    let on = brokered(vec![answer("ok")]).await;
    let mut tunnel = on.scene.connect().await;
    tunnel.write_all(&[5, 1, 0]).await.unwrap();
    let name = b"api.example";
    let mut wanted = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    wanted.extend(name);
    wanted.extend(on.port.to_be_bytes());
    tunnel.write_all(&wanted).await.unwrap();
    let mut said = [0; 12];
    tunnel.read_exact(&mut said).await.unwrap();
    assert_eq!(said[3], 0);
    let mut stream = connected(tunnel, "api.example", &on.trusted, &[]).await.unwrap();
    let bearer = format!("Authorization: Bearer {}\r\n", on.placeholder);
    assert!(say(&mut stream, &on.request("GET", "/", &bearer)).await.ends_with("ok"));
    assert!(on.heard.all()[0].contains(VALUE));
}
