//! A world with a TLS server and its own authority, and a proxy with one secret for it.

use super::super::{Scene, Setting};
use crate::egress::opened::Opener;
use interpreter_core::{
    Broker, Secret, SecretGrant, SecretUse,
    broker::{GrantedMethod, SecretCarrier},
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
};
use std::{
    io,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

pub(super) const VALUE: &str = "canary-value-0123456789";

/// An authority of the outside world.
pub(super) struct World {
    issuer: Issuer<'static, KeyPair>,
    pub(super) root: CertificateDer<'static>,
}

impl World {
    pub(super) fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = parameters.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(parameters, key), root }
    }

    fn acceptor(&self, name: &str) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().der().clone();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }

    /// A server with a certificate for `name`, which gives each request the next of these answers
    /// and keeps what it was sent.
    pub(super) async fn server(&self, name: &str, answers: Vec<Vec<u8>>) -> (u16, Heard) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (acceptor, heard) = (self.acceptor(name), Heard::default());
        let keeps = heard.clone();
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            while let Ok((stream, _)) = listener.accept().await {
                // A client that does not trust us leaves at once.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                while let Ok(request) = read_request(&mut stream).await {
                    keeps.0.lock().unwrap().push(request);
                    let Some(answer) = answers.next() else { return };
                    let is_last = !answer.windows(10).any(|window| window == b"keep-alive");
                    // In pieces, so that nothing comes whole by chance.
                    for piece in answer.chunks(5) {
                        stream.write_all(piece).await.unwrap();
                        stream.flush().await.unwrap();
                    }
                    if is_last {
                        _ = stream.shutdown().await.is_ok();
                        break;
                    }
                }
            }
        });
        (port, heard)
    }
}

/// The requests that came, as text.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A head, and a body as long as it says.
async fn read_request(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&request).to_lowercase();
    let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await?;
    request.extend(body);
    if text.contains("transfer-encoding: chunked") {
        while !request.ends_with(b"0\r\n\r\n") {
            request.push(stream.read_u8().await?);
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

/// A proxy with one secret, allowed at `api.example`.
pub(super) struct Brokered {
    pub(super) scene: Scene,
    /// The certificate that a program inside trusts.
    pub(super) trusted: CertificateDer<'static>,
    pub(super) placeholder: String,
    pub(super) port: u16,
    pub(super) heard: Heard,
    /// The uses that were put on record.
    recorded: Arc<Mutex<Vec<String>>>,
}

pub(super) fn answer(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx: keep-alive\r\n\r\n{body}", body.len())
        .into_bytes()
}

pub(super) async fn brokered(answers: Vec<Vec<u8>>) -> Brokered {
    let world = World::new();
    let (port, heard) = world.server("api.example", answers).await;
    start(&world, port, heard, &[GrantedMethod::Get]).await
}

/// The same, with the secret allowed by POST in the field `auth.key`.
pub(super) async fn in_field(answers: Vec<Vec<u8>>) -> Brokered {
    let world = World::new();
    let (port, heard) = world.server("api.example", answers).await;
    carried(&world, port, heard, &[], SecretCarrier::field("auth.key").unwrap()).await
}

/// With the secret allowed by these methods in `Authorization`.
pub(super) async fn start(
    world: &World,
    port: u16,
    heard: Heard,
    methods: &[GrantedMethod],
) -> Brokered {
    carried(world, port, heard, methods, SecretCarrier::default()).await
}

async fn carried(
    world: &World,
    port: u16,
    heard: Heard,
    methods: &[GrantedMethod],
    carrier: SecretCarrier,
) -> Brokered {
    let mut broker = Broker::default();
    let place = format!("api.example:{port}");
    let grant = SecretGrant::new("TOKEN", &place, methods, carrier).unwrap();
    broker.add("TOKEN", Secret::new(VALUE.into()), &[grant], "5f0e1d2c3b4a");
    let placeholder = broker.variables()["TOKEN"].clone();
    let opener = Opener::new(Arc::new(broker), std::slice::from_ref(&world.root)).unwrap();
    let trusted = opener.certificate().clone();
    let hosts = ["api.example", "other.example", "127.0.0.1"];
    let listed = hosts.map(|host| format!("{host}:{port}"));
    let listed: Vec<_> = listed.iter().map(String::as_str).collect();
    let mut setting = Setting::only(&listed)
        .name("api.example", &["127.0.0.1"])
        .name("other.example", &["127.0.0.1"]);
    setting.opener = Some(Arc::new(opener));
    let mut scene = setting.start().await;
    scene.uses.begin_run();
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let (_, nobody) = tokio::sync::mpsc::unbounded_channel();
    let mut recording = std::mem::replace(&mut scene.recording, nobody);
    let keeps = Arc::clone(&recorded);
    tokio::spawn(async move {
        while let Some(one) = recording.recv().await {
            keeps.lock().unwrap().push(SecretUse::line(&one.of));
            _ = one.answer.send(true).is_ok();
        }
    });
    Brokered { scene, trusted, placeholder, port, heard, recorded }
}

impl Brokered {
    /// A program inside, which trusts that certificate.
    pub(super) async fn connect(&self, host: &str) -> io::Result<TlsStream<TcpStream>> {
        let tunnel = self.scene.tunnel(&format!("{host}:{}", self.port)).await;
        connected(tunnel, host, &self.trusted, &[b"http/1.1"]).await
    }

    /// Sends a request and reads to the end.
    pub(super) async fn say(&self, request: &str) -> String {
        let mut stream = self.connect("api.example").await.unwrap();
        say(&mut stream, request).await
    }

    /// A request by this method, with these lines, to this path.
    pub(super) fn request(&self, method: &str, path: &str, lines: &str) -> String {
        let port = self.port;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: api.example:{port}\r\nConnection: close\r\n{lines}\r\n"
        )
    }

    pub(super) fn recorded(&self) -> Vec<String> {
        self.recorded.lock().unwrap().clone()
    }
}

pub(super) async fn connected(
    tunnel: TcpStream,
    host: &str,
    root: &CertificateDer<'static>,
    protocols: &[&[u8]],
) -> io::Result<TlsStream<TcpStream>> {
    let mut store = RootCertStore::empty();
    store.add(root.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, tunnel).await
}

pub(super) async fn say(stream: &mut TlsStream<TcpStream>, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer).await.is_ok();
    String::from_utf8_lossy(&answer).into_owned()
}
