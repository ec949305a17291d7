//! The only way out of a sandbox: a proxy outside, which lets through what is listed or granted.
//!
//! # Threat
//! Code that sends away what it has read, or reaches into the person's own network.
//!
//! # Mechanism
//! A sandbox has a network of its own with nothing in it but loopback. On that loopback listens a
//! socket that the host inside has handed out to us ([`handover`]); we accept what connects to it,
//! outside, in our own process. The proxy speaks HTTP, with CONNECT, and SOCKS 5. A [`gate`] judges
//! each connection by its name; [`reach`] judges the address that the name leads to, with what
//! [`survey`] says of this machine's own network at that moment, and connects to that very address. Every attempt is noted, for the effects of the run.
//!
//! # Order
//! The door for the host is open before the sandbox starts. The host comes before any code does.
//!
//! # Secrets
//! Where the person allowed a secret for a host, connections to that host are [`opened`], and a
//! [`Broker`], which alone knows the value, puts it into the requests that it is allowed for.
//!
//! # Limits
//! Data sent to a listed host is not inspected. No other TLS is opened, so a host that serves
//! several names behind one address can be asked for another of them.

use self::{
    bundle::Bundle,
    gate::{Gate, Place, Refusal},
    handover::Door,
    opened::Opener,
    proxy::{Bounds, Proxy},
    reach::{MOST_ADDRESSES, Outside, Unreached},
    resolve::{Resolve, System},
    survey::Kernel,
    uses::Uses,
};
use interpreter_core::{
    Broker, Grant, HostContact, Network, Redactor, SecretUse,
    egress::{Host, HostRule, RunHosts},
};
use interpreter_host::egress::ADDRESS;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{sync::mpsc, task::JoinHandle};

pub(crate) use self::{
    bundle::INSIDE as TRUSTED, gate::AskedHost, handover::receive, uses::WaitingUse,
};
pub use self::{bundle::trust_variables, gate::Asks, upstream::Upstream};

mod body;
mod bundle;
mod gate;
mod handover;
mod head;
mod inner;
mod issuer;
mod ledger;
mod opened;
mod proxy;
mod pump;
mod reach;
mod resolve;
mod response;
mod socks;
mod survey;
mod upstream;
mod uses;

#[cfg(test)]
mod tests;

/// How long a host may take to answer before it counts as out of reach.
const PATIENCE: Duration = Duration::from_secs(8);

/// The way out of one sandbox. With it all connections end.
#[derive(Debug)]
pub(crate) struct Egress {
    gate: Arc<Gate>,
    uses: Arc<Uses>,
    door: PathBuf,
    /// The certificates that programs inside trust, if connections are opened.
    trusted: Option<Bundle>,
    serving: JoinHandle<()>,
    questions: mpsc::UnboundedReceiver<AskedHost>,
    /// Uses of secrets that are to be recorded.
    recording: mpsc::UnboundedReceiver<WaitingUse>,
}

/// The files by which the inside of a sandbox finds the proxy and trusts it.
#[derive(Clone, Copy, Debug)]
pub struct Doorway<'a> {
    /// The socket at which the host meets the proxy.
    pub socket: &'a Path,
    /// The certificates that programs inside trust, if the proxy opens connections.
    pub trusted: Option<&'a Path>,
}

/// Something that the session must hear of before it goes on.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// Somebody must be asked about this host.
    Host(AskedHost),
    /// This use of a secret must be on record.
    Use(WaitingUse),
}

impl Egress {
    /// Opens a way out that leads where `network` says, for a sandbox that is about to start.
    /// `folder` is a private one of ours.
    pub(crate) fn open(
        network: &Network,
        asks: Asks,
        folder: &Path,
        upstream: Option<Arc<Upstream>>,
        broker: Option<Arc<Broker>>,
    ) -> io::Result<Self> {
        let (ask, questions) = mpsc::unbounded_channel();
        let gate = Arc::new(Gate::new(network, asks, ask, Arc::new(Kernel)));
        let door = Door::open(folder)?;
        let path = door.path().to_owned();
        let outside = Outside { resolver: Arc::new(System), upstream };
        let (record, recording) = mpsc::unbounded_channel();
        let uses = Arc::new(Uses::new(record));
        let (opener, trusted) = match broker {
            Some(broker) => {
                let (opener, trusted) = opening(broker, folder)?;
                (Some(Arc::new(opener)), Some(trusted))
            }
            None => (None, None),
        };
        let proxy = Proxy {
            gate: Arc::clone(&gate),
            outside,
            bounds: Bounds::default(),
            opener,
            uses: Arc::clone(&uses),
        };
        let serving = tokio::spawn(async move {
            // If the host never comes, nothing ever goes out.
            if let Ok(listener) = door.receive().await {
                proxy.serve(listener).await;
            }
        });
        Ok(Self { gate, uses, door: path, trusted, serving, questions, recording })
    }

    /// The files that the sandbox binds in.
    pub(crate) fn doorway(&self) -> Doorway<'_> {
        let trusted = self.trusted.as_ref().map(Bundle::path);
        Doorway { socket: &self.door, trusted }
    }

    /// Waits until code wants something that the session must hear of first. May be dropped at any
    /// time without losing anything.
    pub(crate) async fn waiting(&mut self) -> Waiting {
        loop {
            return tokio::select! {
                Some(asked) = self.questions.recv() => Waiting::Host(asked),
                // One of an earlier run is not for the record of this one.
                Some(of) = self.recording.recv() => if self.uses.is_under_way(of.run) {
                    Waiting::Use(of)
                } else {
                    continue;
                },
                // Gate and uses, which ask, are ours.
                else => std::future::pending().await,
            };
        }
    }

    /// Knows these secrets from now on: no name of a host may hold one.
    pub(crate) fn mask_with(&self, redactor: &Redactor) {
        self.gate.mask_with(redactor);
    }

    /// Takes the answer to a question.
    pub(crate) fn answer(&self, host: &Host, port: u16, grant: Option<Grant>) {
        self.gate.answer(host, port, grant);
    }

    /// Takes back what was granted.
    pub(crate) fn close(&self, host: &Host, port: u16) {
        self.gate.close(host, port);
    }

    /// Carries over what was granted for the session in an earlier sandbox.
    pub(crate) fn grant(&self, granted: &[Place]) {
        for (host, port) in granted {
            self.gate.answer(host, *port, Some(Grant::Session));
        }
    }

    /// A run begins, which may reach these of the listed hosts.
    pub(crate) fn begin_run(&self, hosts: RunHosts) {
        self.gate.begin_run(hosts);
        self.uses.begin_run();
    }

    /// Ends the run, if one goes on. Uses of secrets that nobody has heard of yet go nowhere.
    pub(crate) fn end_run(&mut self) {
        self.gate.end_run();
        self.uses.end_run();
        while self.recording.try_recv().is_ok() {}
    }

    /// The attempts since the last call.
    pub(crate) fn tried(&self) -> Vec<HostContact> {
        self.gate.tried()
    }

    /// The uses of secrets since the last call.
    pub(crate) fn used(&self) -> Vec<SecretUse> {
        self.uses.take()
    }
}

/// The folder, beside that of the doors, with the certificates that programs inside trust.
const TRUST_FOLDER: &str = "trust";

/// An opener, and its file for the inside. Hosts must show a certificate that this machine trusts.
fn opening(broker: Arc<Broker>, folder: &Path) -> io::Result<(Opener, Bundle)> {
    let roots = rustls_native_certs::load_native_certs().certs;
    let opener = Opener::new(broker, &roots)?;
    let trusted = roots.iter().chain([opener.certificate()]);
    let bundle = Bundle::write(&folder.with_file_name(TRUST_FOLDER), trusted)?;
    Ok((opener, bundle))
}

/// Whether a host can be reached from outside a sandbox with this network, as one inside would
/// reach it; or why not. Nobody is asked.
pub(crate) async fn reach(
    network: &Network,
    upstream: Option<Arc<Upstream>>,
    host: &Host,
    port: u16,
) -> Result<(), String> {
    let (ask, _questions) = mpsc::unbounded_channel();
    let gate = Gate::new(network, Asks::Nobody, ask, Arc::new(Kernel));
    gate.admit(host, port).await.map_err(|Refusal(why)| why)?;
    let outside = Outside { resolver: Arc::new(System), upstream };
    let connected = tokio::time::timeout(PATIENCE, outside.connect(&gate, host, port)).await;
    match connected {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(Unreached::Refused(why) | Unreached::Failed(why))) => Err(why),
        Err(_) => Err(format!("{host} does not answer")),
    }
}

/// The same network, in which the addresses of its exact names are listed too. For programs of the
/// person's own that reach their own hosts, which may well be in their own network.
pub(crate) async fn with_addresses(network: &Network, upstream: Option<&Upstream>) -> Network {
    let Network::Only(hosts) = network else { return network.clone() };
    let mut hosts = hosts.clone();
    for rule in hosts.allow.clone() {
        let Some((host @ Host::Name(name), port)) = rule.only() else { continue };
        // Behind a proxy nobody else is asked about names.
        if upstream.is_some_and(|upstream| upstream.is_for(host)) {
            continue;
        }
        let found = tokio::time::timeout(PATIENCE, System.resolve(name)).await;
        // A name without an address fails when it is reached for.
        let addresses = found.ok().and_then(Result::ok).unwrap_or_default();
        let addresses = addresses.into_iter().take(MOST_ADDRESSES).map(Host::Address);
        hosts.allow.extend(addresses.map(|address| HostRule::exactly(address, port)));
    }
    Network::Only(hosts)
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The variables by which programs inside find the proxy.
///
/// `ALL_PROXY` names it as an HTTP proxy too, although it speaks SOCKS: clients without SOCKS do
/// not start at all with a SOCKS proxy.
pub fn variables() -> BTreeMap<String, String> {
    let proxy = format!("http://{ADDRESS}");
    // Loopback inside is the code's own.
    let direct = "localhost,127.0.0.1,::1,127.0.0.0/8";
    let mut variables = BTreeMap::new();
    for (name, value) in [
        ("http_proxy", proxy.as_str()),
        ("https_proxy", proxy.as_str()),
        ("all_proxy", proxy.as_str()),
        ("no_proxy", direct),
    ] {
        variables.insert(name.to_owned(), value.to_owned());
        variables.insert(name.to_uppercase(), value.to_owned());
    }
    // Node.js reads the variables above only with this one.
    variables.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
    variables
}
