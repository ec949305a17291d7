//! Tunnels: who gets one, where it leads, and what goes through it.

use super::{
    super::{gate::AskedHost, ledger::Traffic},
    Setting, echo, hosts,
};
use interpreter_core::{Grant, Network, egress::RunHosts};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn a_listed_host_is_reached_and_others_are_refused_by_name() {
    let port = echo().await;
    let listed = [format!("good.example:{port}"), format!("127.0.0.1:{port}")];
    let listed: Vec<_> = listed.iter().map(String::as_str).collect();
    let scene = Setting::only(&listed)
        .name("good.example", &["127.0.0.1"])
        .name("bad.example", &["127.0.0.1"])
        .start()
        .await;
    let mut tunnel = scene.tunnel(&format!("GOOD.example.:{port}")).await;
    tunnel.write_all(b"hello").await.unwrap();
    let mut back = [0; 5];
    tunnel.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"hello");
    let refused = scene.ask_for(&format!("bad.example:{port}")).await;
    assert_eq!(
        refused,
        format!(
            "HTTP/1.1 403 bad.example:{port} is not allowed here; `--allow-host bad.example:{port}` allows it"
        )
    );
    drop(tunnel);
    assert_eq!(
        scene.tried(),
        [format!("bad.example:{port} Refused 1"), format!("good.example:{port} Allowed 1")]
    );
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_let_through() {
    let port = echo().await;
    // Everything public is open, and nothing else.
    let scene = Setting { network: Network::Open(hosts(&[], &[])), ..Setting::default() }
        .name("private.example", &["10.0.0.1"])
        .name("here.example", &["127.0.0.1"])
        .name("six.example", &["::1"])
        .name("mapped.example", &["::ffff:127.0.0.1"])
        .name("metadata.example", &["169.254.169.254 fd00:ec2::254"])
        .name("translated.example", &["64:ff9b::7f00:1"])
        .start()
        .await;
    for target in [
        "127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "private.example",
        "here.example",
        "six.example",
        "mapped.example",
        "metadata.example",
        "translated.example",
    ] {
        let said = scene.ask_for(&format!("{target}:{port}")).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{target}: {said}");
    }
    for target in [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.1",
        "[::1%lo]",
        "127.0.0.1.",
        "①②⑦.0.0.1",
    ] {
        let said = scene.ask_for(&format!("{target}:{port}")).await;
        assert!(
            said.starts_with("HTTP/1.1 400 ") || said.starts_with("HTTP/1.1 403 "),
            "{target}: {said}"
        );
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_and_the_address_that_was_judged_is_used() {
    let port = echo().await;
    let by_name = format!("turncoat.example:{port}");
    let by_number = format!("127.0.0.1:{port}");
    // Judged as 127.0.0.1, which is listed by its number; a second answer would be 127.0.0.2.
    let scene = Setting::only(&[&by_name, &by_number])
        .name("turncoat.example", &["127.0.0.1", "127.0.0.2"])
        .start()
        .await;
    let tunnel = scene.tunnel(&by_name).await;
    drop(tunnel);
    // The second time it leads elsewhere, and is refused.
    let said = scene.ask_for(&by_name).await;
    assert!(
        said.contains(
            "403 turncoat.example resolves to a refused address: 127.0.0.2 is a \
                       loopback address"
        ),
        "{said}"
    );
}

#[tokio::test]
async fn of_several_addresses_only_those_that_pass_are_used() {
    let port = echo().await;
    let (by_name, by_number) = (format!("two.example:{port}"), format!("127.0.0.1:{port}"));
    let scene = Setting::only(&[&by_name, &by_number])
        .name("two.example", &["10.255.255.1 127.0.0.1"])
        .start()
        .await;
    let mut tunnel = scene.tunnel(&by_name).await;
    tunnel.write_all(b"x").await.unwrap();
    assert_eq!(tunnel.read_u8().await.unwrap(), b'x');
}

#[tokio::test]
async fn deny_wins_by_name_and_by_number() {
    let port = echo().await;
    let allow = [format!("a.example:{port}"), format!("b.example:{port}"), "127.0.0.1:*".into()];
    let allow: Vec<_> = allow.iter().map(String::as_str).collect();
    let network = Network::Only(hosts(&allow, &["a.example", "127.0.0.3"]));
    let scene = Setting { network, ..Setting::default() }
        .name("a.example", &["127.0.0.1"])
        .name("b.example", &["127.0.0.3"])
        .start()
        .await;
    let said = scene.ask_for(&format!("a.example:{port}")).await;
    assert!(said.ends_with("is denied by the rule `a.example`"), "{said}");
    let said = scene.ask_for(&format!("b.example:{port}")).await;
    assert!(said.ends_with("127.0.0.3 is denied by the rule `127.0.0.3`"), "{said}");
}

#[tokio::test]
async fn a_connection_waits_for_the_persons_answer() {
    let port = echo().await;
    let by_number = format!("127.0.0.1:{port}");
    let mut scene =
        Setting::only(&[&by_number]).name("asked.example", &["127.0.0.1"]).start().await;
    scene.gate.begin_run(RunHosts::Listed);
    let target = format!("asked.example:{port}");
    let (gate, at) = (std::sync::Arc::clone(&scene.gate), scene.at);
    let waiting = tokio::spawn(async move {
        let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
        let head = format!("CONNECT {target} HTTP/1.1\r\n\r\nearly");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 26 + 5];
        stream.read_exact(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    });
    let AskedHost { host, port: asked_port, .. } = scene.questions.recv().await.unwrap();
    assert_eq!((host.to_string().as_str(), asked_port), ("asked.example", port));
    gate.answer(&host, port, Some(Grant::Session));
    // Early data is not lost.
    assert!(waiting.await.unwrap().ends_with("\r\n\r\nearly"));
}

#[tokio::test]
async fn a_hundred_megabytes_go_through_exactly() {
    const PIECE: usize = 1 << 20;
    const PIECES: usize = 100;
    let port = echo().await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).start().await;
    let tunnel = scene.tunnel(&by_number).await;
    let (mut from, mut to) = tunnel.into_split();
    // Each piece is another part of the same row, so none can stand for another.
    let row: Vec<u8> = (0..PIECE + PIECES).map(|at| (at * at % 251).to_le_bytes()[0]).collect();
    let expected = row.clone();
    let sent = tokio::spawn(async move {
        for number in 0..PIECES {
            to.write_all(&row[number..number + PIECE]).await.unwrap();
        }
        // A half that is closed lets the other half go on.
        to.shutdown().await.unwrap();
    });
    let mut piece = vec![0; PIECE];
    for number in 0..PIECES {
        from.read_exact(&mut piece).await.unwrap();
        assert!(piece == expected[number..number + PIECE], "piece {number} is another");
    }
    assert_eq!(from.read(&mut piece).await.unwrap(), 0);
    sent.await.unwrap();
    drop(from);
    let told = scene.gate.tried();
    assert_eq!(told[0].sent, (PIECE * PIECES) as u64);
    assert_eq!(told[0].received, (PIECE * PIECES) as u64);
}

#[tokio::test]
async fn many_connections_at_once_are_served_and_more_wait_their_turn() {
    let port = echo().await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).bounds(8, Duration::from_secs(10)).start().await;
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..200_u16 {
        let (at, target) = (scene.at, by_number.clone());
        clients.spawn(async move {
            let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
            let head = format!("CONNECT {target} HTTP/1.1\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut answer = [0; 26];
            stream.read_exact(&mut answer).await.unwrap();
            stream.write_u16(number).await.unwrap();
            let back = stream.read_u16().await.unwrap();
            assert_eq!(back, number);
        });
    }
    let mut done = 0;
    while let Some(one) = clients.join_next().await {
        one.unwrap();
        done += 1;
    }
    assert_eq!(done, 200);
    assert_eq!(scene.tried(), [format!("127.0.0.1:{port} Allowed 200")]);
}

#[tokio::test]
async fn whoever_stalls_is_let_go() {
    let port = echo().await;
    let by_number = format!("127.0.0.1:{port}");
    let scene = Setting::only(&[&by_number]).bounds(2, Duration::from_millis(50)).start().await;
    // More of them than there is room for, each with half a head or none.
    let mut slow = Vec::new();
    for number in 0..6 {
        let mut stream = scene.connect().await;
        if number % 2 == 0 {
            stream.write_all(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nX:").await.unwrap();
        }
        slow.push(stream);
    }
    let mut tunnel = scene.tunnel(&by_number).await;
    tunnel.write_all(b"x").await.unwrap();
    assert_eq!(tunnel.read_u8().await.unwrap(), b'x');
    for (number, mut stream) in slow.into_iter().enumerate() {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer.starts_with("HTTP/1.1 408 "), number % 2 == 0, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_on_which_nothing_moves_is_closed() {
    let (mut client, mut inside) = tokio::io::duplex(64);
    let (mut server, mut outside) = tokio::io::duplex(64);
    let traffic = Traffic::default();
    let patience = Duration::from_millis(20);
    super::super::pump::tunnel(&mut inside, &mut outside, &traffic, patience).await;
    drop((inside, outside));
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_told_so() {
    let gone = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let by_number = format!("127.0.0.1:{gone}");
    let scene = Setting::only(&[&by_number, "nowhere.example"]).start().await;
    let said = scene.ask_for(&by_number).await;
    assert!(said.starts_with("HTTP/1.1 502 127.0.0.1 could not be reached"), "{said}");
    let said = scene.ask_for("nowhere.example:443").await;
    assert!(said.starts_with("HTTP/1.1 502 nowhere.example does not resolve"), "{said}");
}
