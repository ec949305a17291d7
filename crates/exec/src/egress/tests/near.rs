//! Addresses of this machine and of its neighbours, which nothing but a number opens.

use super::{super::upstream::Upstream, Scene, Setting, echo, hosts};
use interpreter_core::Network;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn open(allow: &[&str]) -> Setting {
    Setting { network: Network::Open(hosts(allow, &[])), ..Setting::default() }
}

/// The result of each way of asking for a place.
async fn asked_for(scene: &Scene, host: &str) -> Vec<String> {
    let plain = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut socks = scene.connect().await;
    socks.write_all(b"\x05\x01\x00").await.unwrap();
    let mut chosen = [0; 2];
    socks.read_exact(&mut chosen).await.unwrap();
    let length = u8::try_from(host.len()).unwrap();
    let request = [&[5, 1, 0, 3, length], host.as_bytes(), &[0, 80]].concat();
    socks.write_all(&request).await.unwrap();
    let mut answer = [0; 2];
    socks.read_exact(&mut answer).await.unwrap();
    vec![
        scene.ask_for(&format!("{host}:80")).await,
        scene.say(plain).await.lines().next().unwrap_or_default().to_owned(),
        format!("SOCKS {}", answer[1]),
    ]
}

#[tokio::test]
async fn no_way_of_asking_reaches_this_machine_or_a_neighbour() {
    let setting = open(&[])
        .name("me.example", &["11.22.33.44"])
        .name("neighbour.example", &["11.22.33.45"])
        .name("six.example", &["2a00:1::7"])
        .name("translated.example", &["64:ff9b::11.22.33.44"]);
    setting.interfaces.add("11.22.33.44", 24);
    setting.interfaces.add("2a00:1::5", 64);
    let scene = setting.start().await;
    for host in
        ["me.example", "neighbour.example", "six.example", "translated.example", "11.22.33.44"]
    {
        let said = asked_for(&scene, host).await;
        assert!(said[0].starts_with("HTTP/1.1 403 "), "{said:?}");
        assert!(said[1].starts_with("HTTP/1.1 403 "), "{said:?}");
        // Not allowed by the rules.
        assert_eq!(said[2], "SOCKS 2", "{said:?}");
    }
    let said = scene.ask_for("me.example:80").await;
    let expected = "HTTP/1.1 403 me.example resolves to a refused address: 11.22.33.44 is an \
                    address of this machine";
    assert_eq!(said, expected);
    for target in ["[2a00:1::5]:80", "[2002:b16:212c::1]:80", "[::ffff:11.22.33.44]:80"] {
        let said = scene.ask_for(target).await;
        assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("only `--allow-host"), "{said}");
    }
}

#[tokio::test]
async fn what_is_near_is_looked_up_for_each_connection() {
    let port = echo().await;
    // The echo is on loopback; a name that leads there stands for one that leads elsewhere.
    let setting = open(&[&format!("127.0.0.1:{port}")]).name("far.example", &["127.0.0.1"]);
    let interfaces = Arc::clone(&setting.interfaces);
    let setting = setting.name("later.example", &["11.22.33.44"]);
    let scene = setting.start().await;
    drop(scene.tunnel(&format!("far.example:{port}")).await);
    // Nothing is asked of the address before an interface has it: the gate lets it through.
    let open = |scene: &Scene| scene.gate.refuses_address("11.22.33.44".parse().unwrap(), 80);
    assert_eq!(open(&scene), None);
    interfaces.add("11.22.33.44", 32);
    assert!(open(&scene).is_some());
    let said = scene.ask_for("later.example:80").await;
    assert!(
        said.starts_with(
            "HTTP/1.1 403 later.example resolves to a refused address: \
                              11.22.33.44 is an"
        ),
        "{said}"
    );
}

#[tokio::test]
async fn a_proxy_of_the_person_is_not_asked_for_what_this_machine_knows_to_be_near() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let setting = open(&["11.22.33.46"])
        .name("me.known.example", &["11.22.33.44"])
        .name("listed.known.example", &["11.22.33.46"]);
    setting.interfaces.add("11.22.33.44", 24);
    let upstream = Some(Upstream::new(&format!("http://{at}"), ""));
    let scene = Setting { upstream, ..setting }.start().await;
    for target in ["me.known.example:80", "11.22.33.45:80"] {
        let said = scene.ask_for(target).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
    }
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 37];
        stream.read_exact(&mut head).await.unwrap();
        String::from_utf8_lossy(&head).into_owned()
    });
    // An address listed by number is requested, and is the first that the proxy hears of.
    _ = scene.ask_for("listed.known.example:80").await;
    assert_eq!(asked.await.unwrap(), "CONNECT listed.known.example:80 HTTP/");
}
