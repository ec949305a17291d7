//! The proxy from inside: real sockets, and a scripted resolver.

use super::{
    gate::{AskedHost, Asks, Gate},
    opened::Opener,
    proxy::{Bounds, Proxy},
    reach::Outside,
    resolve::{Answer, Resolve},
    survey::Survey,
    upstream::Upstream,
    uses::{Uses, WaitingUse},
};
use interpreter_core::{
    HostContact, Network,
    egress::{Hosts, Interface, Vicinity},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

mod ended;
mod http;
mod near;
mod opened;
mod socks;
mod tunnel;

/// Scripted answers for names: one each time, and the last one from then on.
#[derive(Default)]
struct Table(Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>);

impl Resolve for Table {
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a> {
        Box::pin(async move {
            let mut table = self.0.lock().unwrap();
            let answers = table.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
            Ok(match answers.len() {
                1 => answers[0].clone(),
                _ => answers.pop_front().unwrap(),
            })
        })
    }

    /// This machine knows what the table says of names that end so.
    fn known<'a>(&'a self, name: &'a str) -> Answer<'a> {
        if name.ends_with(".known.example") {
            self.resolve(name)
        } else {
            Box::pin(async { Ok(vec![]) })
        }
    }
}

/// A machine with the interfaces that it is given.
#[derive(Debug, Default)]
struct Interfaces(Mutex<Vec<Interface>>);

impl Survey for Interfaces {
    fn look(&self, _: &[IpAddr]) -> io::Result<Vicinity> {
        Ok(Vicinity { interfaces: self.0.lock().unwrap().clone(), routes: vec![] })
    }
}

impl Interfaces {
    fn add(&self, address: &str, bits: u8) {
        let own = address.parse().unwrap();
        self.0.lock().unwrap().push(Interface { own, network: own, bits });
    }
}

/// A proxy, and a person who may be asked.
struct Scene {
    at: SocketAddr,
    gate: Arc<Gate>,
    questions: mpsc::UnboundedReceiver<AskedHost>,
    serving: JoinHandle<()>,
    uses: Arc<Uses>,
    recording: mpsc::UnboundedReceiver<WaitingUse>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Settings of the proxy under test.
#[derive(Default)]
struct Setting {
    network: Network,
    names: Table,
    bounds: Bounds,
    upstream: Option<Upstream>,
    opener: Option<Arc<Opener>>,
    interfaces: Arc<Interfaces>,
}

impl Setting {
    fn only(allow: &[&str]) -> Self {
        Self { network: Network::Only(hosts(allow, &[])), ..Self::default() }
    }

    /// A name and what it leads to, at each time of asking.
    fn name(self, name: &str, answers: &[&str]) -> Self {
        let parsed = |list: &str| list.split(' ').map(|one| one.parse().unwrap()).collect();
        let answers = answers.iter().map(|list| parsed(list)).collect();
        self.names.0.lock().unwrap().insert(name.into(), answers);
        self
    }

    fn bounds(self, connections: usize, head: Duration) -> Self {
        Self { bounds: Bounds { connections, head, ..Bounds::default() }, ..self }
    }

    async fn start(self) -> Scene {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (ask, questions) = mpsc::unbounded_channel();
        let gate = Arc::new(Gate::new(&self.network, Asks::Session, ask, self.interfaces));
        let outside =
            Outside { resolver: Arc::new(self.names), upstream: self.upstream.map(Arc::new) };
        let (record, recording) = mpsc::unbounded_channel();
        let uses = Arc::new(Uses::new(record));
        let (opener, bounds) = (self.opener, self.bounds);
        let proxy =
            Proxy { gate: Arc::clone(&gate), outside, bounds, opener, uses: Arc::clone(&uses) };
        let serving = tokio::spawn(proxy.serve(listener));
        Scene { at, gate, questions, serving, uses, recording }
    }
}

fn hosts(allow: &[&str], deny: &[&str]) -> Hosts {
    let parsed = |list: &[&str]| list.iter().map(|one| one.parse().unwrap()).collect();
    Hosts { allow: parsed(allow), deny: parsed(deny) }
}

impl Scene {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.unwrap()
    }

    /// Sends bytes and reads to the end.
    async fn say(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // It may answer and close before it has read all of it.
        _ = stream.write_all(bytes.as_ref()).await.is_ok();
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer).await.is_ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Asks for a tunnel; the first line of the answer.
    async fn ask_for(&self, target: &str) -> String {
        let answer = self.say(format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        answer.lines().next().unwrap_or_default().to_owned()
    }

    /// A tunnel that stands.
    async fn tunnel(&self, target: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = [0; 26];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(std::str::from_utf8(&answer).unwrap(), "HTTP/1.1 200 Connected\r\n\r\n");
        stream
    }

    /// The attempts, in short.
    fn tried(&self) -> Vec<String> {
        let short = |one: &HostContact| {
            format!("{}:{} {:?} {}", one.host, one.port, one.verdict, one.count)
        };
        self.gate.tried().iter().map(short).collect()
    }
}

/// A server that sends back whatever it is sent, on as many connections as come.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                _ = tokio::io::copy(&mut from, &mut to).await.is_ok();
                _ = to.shutdown().await.is_ok();
            });
        }
    });
    port
}

/// A server that takes one connection, answers, closes, and tells what it was sent.
async fn hears(answer: &'static str) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        // The head; a body that is chunked is read to its end.
        loop {
            let length = stream.read(&mut piece).await.unwrap();
            heard.extend(&piece[..length]);
            let text = String::from_utf8_lossy(&heard);
            let chunked = text.contains("chunked");
            let length_said = text
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
            let whole = match (body, chunked, length_said) {
                (None, _, _) => false,
                (Some(_), true, _) => text.ends_with("0\r\n\r\n"),
                (Some(body), false, said) => body >= said.unwrap_or(0),
            };
            if length == 0 || whole {
                break;
            }
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        // The bytes behind the request, if any.
        let mut rest = Vec::new();
        _ = stream.read_to_end(&mut rest).await.is_ok();
        heard.extend(rest);
        String::from_utf8(heard).unwrap()
    });
    (port, heard)
}
