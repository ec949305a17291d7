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
//! # Limits
//! Data sent to a listed host is not inspected. No TLS is opened, so a host that serves several
//! names behind one address can be asked for another of them.

use self::{
    gate::{Gate, Place, Refusal},
    handover::Door,
    proxy::{Bounds, Proxy},
    reach::{MOST_ADDRESSES, Outside, Unreached},
    resolve::{Resolve, System},
    survey::Kernel,
};
use interpreter_core::{
    Grant, HostContact, Network,
    egress::{Host, HostRule},
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

pub(crate) use self::handover::receive;
pub use self::{gate::Asks, upstream::Upstream};

mod body;
mod gate;
mod handover;
mod head;
mod ledger;
mod proxy;
mod pump;
mod reach;
mod resolve;
mod socks;
mod survey;
mod upstream;

#[cfg(test)]
mod tests;

/// How long a host may take to answer before it counts as out of reach.
const PATIENCE: Duration = Duration::from_secs(8);

/// The way out of one sandbox. With it all connections end.
#[derive(Debug)]
pub(crate) struct Egress {
    gate: Arc<Gate>,
    door: PathBuf,
    serving: JoinHandle<()>,
    questions: mpsc::UnboundedReceiver<Place>,
}

impl Egress {
    /// Opens a way out that leads where `network` says, for a sandbox that is about to start.
    /// `folder` is a private one of ours.
    pub(crate) fn open(
        network: &Network,
        asks: Asks,
        folder: &Path,
        upstream: Option<Arc<Upstream>>,
    ) -> io::Result<Self> {
        let (ask, questions) = mpsc::unbounded_channel();
        let gate = Arc::new(Gate::new(network, asks, ask, Arc::new(Kernel)));
        let door = Door::open(folder)?;
        let path = door.path().to_owned();
        let outside = Outside { resolver: Arc::new(System), upstream };
        let proxy = Proxy { gate: Arc::clone(&gate), outside, bounds: Bounds::default() };
        let serving = tokio::spawn(async move {
            // If the host never comes, nothing ever goes out.
            if let Ok(listener) = door.receive().await {
                proxy.serve(listener).await;
            }
        });
        Ok(Self { gate, door: path, serving, questions })
    }

    /// The Unix socket that the sandbox binds in.
    pub(crate) fn door(&self) -> &Path {
        &self.door
    }

    /// Waits until code wants to reach a host that somebody must be asked about. May be dropped at
    /// any time without losing a question.
    pub(crate) async fn question(&mut self) -> Place {
        match self.questions.recv().await {
            Some(place) => place,
            // The gate, which asks, is ours.
            None => std::future::pending().await,
        }
    }

    /// Takes the answer to a question.
    pub(crate) fn answer(&self, host: &Host, port: u16, grant: Option<Grant>) {
        self.gate.answer(host, port, grant);
    }

    /// Carries over what was granted for the session in an earlier sandbox.
    pub(crate) fn grant(&self, granted: &[Place]) {
        for (host, port) in granted {
            self.gate.answer(host, *port, Some(Grant::Session));
        }
    }

    /// A run begins.
    pub(crate) fn begin_run(&self) {
        self.gate.begin_run();
    }

    /// Ends a run and returns its attempts.
    pub(crate) fn end_run(&self) -> Vec<HostContact> {
        self.gate.end_run()
    }
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
