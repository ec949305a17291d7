//! The outside world, as seen through a person's own proxy: every host answers, over real TLS, with
//! a certificate of an authority that only the person's machine trusts.

use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::PrivateKeyDer};
use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// The world.
pub(super) struct World {
    port: u16,
    /// The certificate of its authority.
    pub(super) pem: String,
    heard: Heard,
}

/// Places, and what was sent there.
type Heard = Arc<Mutex<Vec<(String, String)>>>;

impl World {
    pub(super) fn start() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Otherwise it has the name of what it vouches for.
        parameters.distinguished_name.push(DnType::CommonName, "The world");
        let key = KeyPair::generate().unwrap();
        let root = parameters.self_signed(&key).unwrap();
        let pem = format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            STANDARD.encode(root.der())
        );
        let issuer = Arc::new(Issuer::new(parameters, key));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Heard::default();
        let keeps = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (issuer, keeps) = (Arc::clone(&issuer), Arc::clone(&keeps));
                // A client that leaves ends nothing but its own connection.
                thread::spawn(move || _ = serve(stream, &issuer, &keeps).is_ok());
            }
        });
        Self { port, pem, heard }
    }

    /// The address of the proxy that leads to it.
    pub(super) fn proxy(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything that was sent to this place.
    pub(super) fn heard_at(&self, place: &str) -> String {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|(at, _)| at == place).map(|(_, text)| text.as_str()).collect()
    }

    /// Everything that was sent anywhere.
    pub(super) fn heard(&self) -> String {
        self.heard.lock().unwrap().iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// A connection to the proxy: a tunnel to any place, where the world answers.
fn serve(mut stream: TcpStream, issuer: &Issuer<'_, KeyPair>, heard: &Heard) -> io::Result<()> {
    let asked = read_head(&mut stream)?;
    let place = asked.split(' ').nth(1).unwrap_or_default().to_owned();
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let (host, port) = place.rsplit_once(':').unwrap_or_default();
    if port == "80" {
        return answer_all(stream, &place, heard);
    }
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec![host.to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, issuer).unwrap().der().clone();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let connection = ServerConnection::new(Arc::new(config)).map_err(io::Error::other)?;
    answer_all(StreamOwned::new(connection, stream), &place, heard)
}

fn answer_all(mut stream: impl Read + Write, place: &str, heard: &Heard) -> io::Result<()> {
    loop {
        let mut request = read_head(&mut stream)?;
        let lower = request.to_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body)?;
        request.push_str(&String::from_utf8_lossy(&body));
        heard.lock().unwrap().push((place.to_owned(), request.clone()));
        stream.write_all(&answer(&request))?;
        stream.flush()?;
    }
}

fn read_head(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// An answer that shows whatever was sent, in the form that the path names.
fn answer(request: &str) -> Vec<u8> {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let shown = format!("you sent: {request}");
    let length = shown.len();
    match path.split('?').next().unwrap_or_default() {
        "/chunked" => {
            let mut text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            for piece in shown.as_bytes().chunks(3) {
                text.extend(format!("{:x}\r\n", piece.len()).bytes());
                text.extend(piece);
                text.extend(b"\r\n");
            }
            text.extend(b"0\r\n\r\n");
            text
        }
        "/headers" => {
            let line =
                request.lines().find(|line| line.to_lowercase().starts_with("authorization"));
            let line = line.unwrap_or_default();
            format!("HTTP/1.1 200 OK\r\nX-Shown: {line}\r\nContent-Length: 2\r\n\r\nok").into()
        }
        "/packed" => format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n{shown}"
        )
        .into(),
        "/away" => "HTTP/1.1 302 Found\r\nLocation: https://other.example/echo\r\n\
                    Content-Length: 0\r\n\r\n"
            .into(),
        _ => format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{shown}").into(),
    }
}
