//! From a host that was let through to a connection.
//!
//! # Threat
//! A name that leads into the person's own network: because somebody outside says so, or because
//! it says one thing when it is checked and another when it is used.
//!
//! # Mechanism
//! A name is resolved once. Each address is judged by its range, by the list and by where the kernel
//! would send to it now, and the connection is made to an address that passed, never to a name. Where
//! the person's own settings name a proxy for the outside, connections go through that one, and names
//! are judged by the addresses that this machine itself gives them.
//!
//! # Limits
//! Through a proxy of the person's own it is that proxy which resolves names. Nobody else is asked
//! about them, because a person who uses a proxy may want nobody else to learn them; so the address
//! behind a name that only the proxy knows is not judged.

use super::{gate::Gate, resolve::Resolve, upstream::Upstream};
use interpreter_core::egress::Host;
use std::{io, net::IpAddr, sync::Arc, time::Duration};
use tokio::net::TcpStream;

/// How long a name may take to resolve, and an address to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Addresses of one name that are tried.
pub(super) const MOST_ADDRESSES: usize = 6;

#[derive(Clone)]
pub(super) struct Outside {
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) upstream: Option<Arc<Upstream>>,
}

/// Why there is no connection to a host that was let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreached {
    /// The address behind it is refused.
    Refused(String),
    /// It is not there, or does not answer.
    Failed(String),
}

impl Outside {
    /// Connects to a host that was let through by its name.
    pub(super) async fn connect(
        &self,
        gate: &Gate,
        host: &Host,
        port: u16,
    ) -> Result<TcpStream, Unreached> {
        if let Host::Address(address) = host
            && let Some(why) = gate.refuses_address(*address, port)
        {
            return Err(Unreached::Refused(why));
        }
        if let Some(upstream) = self.upstream.as_ref().filter(|one| one.is_for(host)) {
            self.judge_known(gate, host, port).await?;
            let connected = within(upstream.connect(host, port)).await;
            return connected.map_err(|error| failed(host, "your proxy", &error));
        }
        let addresses = self.addresses(host).await?;
        let mut last = None;
        for address in addresses.into_iter().take(MOST_ADDRESSES) {
            if let Some(why) = gate.refuses_address(address, port) {
                // The error names the address behind a name.
                let why = format!("{host} resolves to a refused address: {why}");
                last.get_or_insert(Unreached::Refused(why));
                continue;
            }
            match within(TcpStream::connect((address, port))).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(failed(host, &address.to_string(), &error)),
            }
        }
        Err(last.unwrap_or_else(|| Unreached::Failed(format!("{host} has no address"))))
    }

    /// Refuses a name to which this machine itself gives addresses that are all refused.
    async fn judge_known(&self, gate: &Gate, host: &Host, port: u16) -> Result<(), Unreached> {
        let Host::Name(name) = host else { return Ok(()) };
        // A machine without a list of hosts knows none.
        let known = self.resolver.known(name).await.unwrap_or_default();
        let mut refusals = Vec::new();
        for address in known {
            match gate.refuses_address(address, port) {
                Some(why) => refusals.push(why),
                None => return Ok(()),
            }
        }
        match refusals.first() {
            Some(why) => Err(Unreached::Refused(format!(
                "{host} resolves to a refused address: \
                                                         {why}"
            ))),
            None => Ok(()),
        }
    }

    async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Unreached> {
        match host {
            Host::Address(address) => Ok(vec![*address]),
            Host::Name(name) => match within(self.resolver.resolve(name)).await {
                Ok(addresses) => Ok(addresses),
                Err(error) => Err(Unreached::Failed(format!("{host} does not resolve: {error}"))),
            },
        }
    }
}

fn failed(host: &Host, at: &str, error: &io::Error) -> Unreached {
    Unreached::Failed(format!("{host} could not be reached at {at}: {error}"))
}

/// Waits, but not for ever.
async fn within<T>(doing: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match tokio::time::timeout(PATIENCE, doing).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}
