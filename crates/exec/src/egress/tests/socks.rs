//! SOCKS: supported and unsupported parts.

use super::{Scene, Setting, echo};
use proptest::prelude::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

async fn greeted(scene: &Scene) -> TcpStream {
    let mut stream = scene.connect().await;
    stream.write_all(&[5, 1, 0]).await.unwrap();
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, [5, 0]);
    stream
}

/// Asks for a connection, and returns the reply.
async fn asked(scene: &Scene, kind: u8, host: &[u8], port: u16) -> (u8, TcpStream) {
    let mut stream = greeted(scene).await;
    let mut request = vec![5, 1, 0, kind];
    request.extend(host);
    request.extend(port.to_be_bytes());
    stream.write_all(&request).await.unwrap();
    let mut answer = [0; 10];
    stream.read_exact(&mut answer).await.unwrap();
    (answer[1], stream)
}

fn named(name: &str) -> Vec<u8> {
    [&[u8::try_from(name.len()).unwrap()], name.as_bytes()].concat()
}

#[tokio::test]
async fn names_and_addresses_are_judged_as_elsewhere() {
    let port = echo().await;
    let (by_name, by_number) = (format!("good.example:{port}"), format!("127.0.0.1:{port}"));
    let scene =
        Setting::only(&[&by_name, &by_number]).name("good.example", &["127.0.0.1"]).start().await;
    for (kind, host) in [
        (3, named("Good.example")),
        (1, vec![127, 0, 0, 1]),
        (4, vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]),
    ] {
        let (reply, mut stream) = asked(&scene, kind, &host, port).await;
        assert_eq!(reply, 0);
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    }
    assert_eq!(asked(&scene, 3, &named("bad.example"), port).await.0, 2);
    assert_eq!(asked(&scene, 1, &[169, 254, 169, 254], 80).await.0, 2);
    assert_eq!(asked(&scene, 3, &named("127.1"), port).await.0, 8);
    assert_eq!(asked(&scene, 3, &named("a\0b"), port).await.0, 8);
    assert_eq!(asked(&scene, 9, &[], port).await.0, 8);
}

#[tokio::test]
async fn listening_and_datagrams_are_not_spoken() {
    let scene = Setting::only(&[]).start().await;
    for command in [2, 3, 0, 255] {
        let mut stream = greeted(&scene).await;
        stream.write_all(&[5, command, 0, 1, 127, 0, 0, 1, 0, 80]).await.unwrap();
        let mut answer = [0; 10];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[1], 7);
    }
    assert_eq!(scene.say([5, 1, 2]).await.as_bytes()[0], 5);
    assert_eq!(scene.tried(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn garbage_ends_and_reaches_nobody(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let scene = Setting::only(&[]).start().await;
            let mut stream = scene.connect().await;
            _ = stream.write_all(&[&[5], &bytes[..]].concat()).await.is_ok();
            _ = stream.shutdown().await.is_ok();
            let mut answer = Vec::new();
            _ = stream.read_to_end(&mut answer).await.is_ok();
            assert!(scene.tried().iter().all(|line| line.contains("Refused")));
        });
    }
}
