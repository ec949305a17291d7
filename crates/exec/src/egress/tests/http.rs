//! Plain requests, bad heads, and the person's own proxy.

use super::{super::upstream::Upstream, Setting, echo, hears};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

#[tokio::test]
async fn a_plain_request_goes_out_as_it_was_read() {
    let (port, heard) = hears(ANSWER).await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).start().await;
    let request = format!(
        "POST http://{by_number}/path?q=1 HTTP/1.1\r\nHost: elsewhere.example\r\nX-A: b\r\n\
         Proxy-Authorization: Basic c2VjcmV0\r\nConnection: X-A\r\nContent-Length: 4\r\n\r\nbody"
    );
    assert_eq!(scene.say(request).await, ANSWER);
    assert_eq!(
        heard.await.unwrap(),
        format!(
            "POST /path?q=1 HTTP/1.1\r\nHost: {by_number}\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbody"
        )
    );
    assert_eq!(scene.tried(), [format!("127.0.0.1:{port} Allowed 1")]);
}

#[tokio::test]
async fn a_second_request_on_the_same_connection_does_not_go_out() {
    for (framing, body) in [
        ("Content-Length: 4", "body"),
        ("Transfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n"),
        ("X: y", ""),
    ] {
        let (port, heard) = hears(ANSWER).await;
        let by_number = format!("127.0.0.1:{port}");
        let scene = Setting::only(&[&by_number]).start().await;
        let request = format!(
            "POST http://{by_number}/ HTTP/1.1\r\n{framing}\r\n\r\n{body}\
             GET http://smuggled.example/ HTTP/1.1\r\nHost: smuggled.example\r\n\r\n"
        );
        assert_eq!(scene.say(request).await, ANSWER);
        let heard = heard.await.unwrap();
        assert!(!heard.contains("smuggled"), "{heard}");
        assert!(heard.ends_with(body), "{heard}");
    }
}

#[tokio::test]
async fn a_redirect_is_the_clients_to_follow_and_is_judged_again() {
    let (port, _heard) = hears(
        "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).start().await;
    let answer = scene.say(format!("GET http://{by_number}/ HTTP/1.1\r\n\r\n")).await;
    assert!(answer.contains("Location: http://169.254.169.254/"), "{answer}");
    let answer = scene.say("GET http://169.254.169.254/ HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 169.254.169.254 is a link-local address"), "{answer}");
}

#[tokio::test]
async fn what_is_no_request_is_told_so_and_reaches_nobody() {
    let port = echo().await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).start().await;
    for (bytes, status) in [
        (format!("GET http://u:p@{by_number}/ HTTP/1.1\r\n\r\n"), 400),
        (format!("GET http://{by_number}/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400),
        (format!("CONNECT {by_number} HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), 400),
        (format!("CONNECT {by_number} HTTP/1.1\nHost: a\n\n\r\n\r\n"), 400),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".into(), 400),
        ("\u{16}\u{3}\u{1}\r\n\r\n".into(), 400),
        (format!("GET http://{by_number}/ HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(20_000)), 431),
        (format!("GET http://{by_number}/{} HTTP/1.1\r\n\r\n", "a".repeat(2_000_000)), 431),
    ] {
        let answer = scene.say(&bytes).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    assert_eq!(scene.tried(), Vec::<String>::new());
}

#[tokio::test]
async fn a_chunked_body_that_lies_ends_the_request() {
    let (port, heard) = hears(ANSWER).await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).start().await;
    let request = format!(
        "POST http://{by_number}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
         4\r\nbodyGET http://smuggled.example/ HTTP/1.1\r\n\r\n"
    );
    assert_eq!(scene.say(request).await, "");
    assert!(!heard.await.unwrap().contains("smuggled"));
}

#[tokio::test]
async fn an_answer_may_come_before_the_whole_request_is_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let by_number = listener.local_addr().unwrap().to_string();
    let scene = Setting::only(&[&by_number]).start().await;
    let mut client = scene.connect().await;
    let head = format!(
        "POST http://{by_number}/ HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    );
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
    let mut go_on = [0; 25];
    client.read_exact(&mut go_on).await.unwrap();
    client.write_all(b"the-body!").await.unwrap();
    let mut received = String::new();
    while !received.ends_with("the-body!") {
        let mut piece = [0; 512];
        let length = server.read(&mut piece).await.unwrap();
        received.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
    server.write_all(ANSWER.as_bytes()).await.unwrap();
    drop(server);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, ANSWER);
}

#[tokio::test]
async fn where_the_person_has_a_proxy_connections_go_through_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let upstream = Upstream::new(&format!("http://me:pw@{at}"), "direct.example");
    let setting =
        Setting { upstream: Some(upstream), ..Setting::only(&["far.example", "10.0.0.1"]) };
    let scene = setting.bounds(8, Duration::from_secs(10)).start().await;
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nfirst words").await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8(head).unwrap()
    });
    let mut tunnel = scene.tunnel("far.example:443").await;
    let mut words = String::new();
    tunnel.read_to_string(&mut words).await.unwrap();
    assert_eq!(words, "first words");
    let head = asked.await.unwrap();
    assert!(head.starts_with("CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n"));
    assert!(head.contains("Proxy-Authorization: Basic bWU6cHc=\r\n"), "{head}");
    // An address is judged by its range all the same.
    let said = scene.ask_for("192.168.0.1:80").await;
    assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
}
