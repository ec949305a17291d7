//! Where the server listens and how it is reached; and why it does not.
//!
//! Beyond this computer it listens only with TLS or behind a proxy that has it. There is no way to
//! serve without a login.

use super::{
    host_names::{HostNames, HostPort, Scheme},
    oidc::LoginProvider,
    random_key::NoRandomness,
};
use interpreter_store::{Folders, regular};
use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio_rustls::TlsAcceptor;

/// The largest file of certificates or of a key.
const MOST_PEM: u64 = 4 << 20;

/// The front of the server, towards browsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpFront {
    /// Nothing: this computer only.
    Direct,
    /// TLS, here.
    Tls {
        /// The certificate and those that lead to it, in PEM.
        certificate: PathBuf,
        /// Its private key, in PEM.
        key: PathBuf,
    },
    /// A proxy, which has TLS.
    Proxy {
        /// The name under which browsers reach it, with a port if that is not 443.
        name: String,
        /// The address from which it connects; without one it is on this computer.
        address: Option<IpAddr>,
    },
}

/// Where to listen.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address.
    pub address: IpAddr,
    /// The port; 0 for a free one.
    pub port: u16,
    /// Its front.
    pub front: HttpFront,
    /// Where the record and its outputs are.
    pub folders: Folders,
    /// Whether requests are reported.
    pub is_logged: bool,
    /// Through whom people of a team may log in, beside their passwords.
    pub provider: Option<Arc<LoginProvider>>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Others could reach it, and read along.
    #[error(
        "{address} can be reached from other computers, and the connection would be open to them"
    )]
    Open {
        /// The address.
        address: IpAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address} at port {port}")]
    Listen {
        /// The address.
        address: IpAddr,
        /// The port.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// The name of the proxy is none.
    #[error(
        "`{name}` is not a host name; it must be the name that browsers use, such as `code.example.org`"
    )]
    ProxyName {
        /// The text that was given.
        name: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has no certificate or key.
    #[error("{} has no {wanted} in PEM", path.display())]
    NoPem {
        /// The file.
        path: PathBuf,
        /// A certificate or a private key.
        wanted: &'static str,
    },
    /// The certificate and its key are not usable.
    #[error("the certificate cannot be used")]
    Certificate(#[source] rustls::Error),
    /// The address of the login provider cannot be used.
    #[error(
        "`login.issuer` is no address of a login provider, such as `https://login.example.org`; only \
         on this computer it may be `http://`"
    )]
    Issuer,
    /// A scope cannot be asked for.
    #[error("`{scope}` in `login.scopes` is no scope")]
    Scope {
        /// The text that was given.
        scope: String,
    },
    /// No secrets can be made.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
}

impl HttpError {
    /// The next step.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Open { .. } => Some(
                "give a certificate with --tls-cert and --tls-key, or put a proxy in front and name \
                 it with --behind-proxy; without --address only this computer can reach it",
            ),
            Self::Listen { .. } => Some("choose another --port, or leave it out for a free one"),
            Self::Certificate(_) => Some("check that --tls-key is the key of --tls-cert"),
            Self::ProxyName { .. }
            | Self::Unreadable { .. }
            | Self::NoPem { .. }
            | Self::Issuer
            | Self::Scope { .. }
            | Self::Randomness(_) => None,
        }
    }
}

/// How the server is reached, once it listens.
pub(super) struct Reached {
    pub(super) names: HostNames,
    pub(super) tls: Option<TlsAcceptor>,
    /// The address before `/`, as a browser writes it.
    pub(super) origin: String,
    /// The name of the cookie.
    pub(super) cookie: String,
    /// Whether the cookie must never go over an open connection.
    pub(super) is_secure: bool,
    /// Connections from elsewhere are closed.
    pub(super) proxy: Option<ProxyPeer>,
}

/// Whose word about the client is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyPeer {
    ThisComputer,
    At(IpAddr),
}

impl ProxyPeer {
    pub(super) fn is(self, peer: IpAddr) -> bool {
        match self {
            Self::ThisComputer => peer.to_canonical().is_loopback(),
            Self::At(address) => peer.to_canonical() == address.to_canonical(),
        }
    }
}

impl HttpOptions {
    /// Refuses an address that others reach, where nothing protects the connection.
    pub(super) fn check(&self) -> Result<(), HttpError> {
        if self.front == HttpFront::Direct && !self.address.is_loopback() {
            return Err(HttpError::Open { address: self.address });
        }
        Ok(())
    }

    /// How it is reached at this port.
    pub(super) fn reached(&self, port: u16) -> Result<Reached, HttpError> {
        let own = HostPort::address(self.address, port);
        match &self.front {
            HttpFront::Direct => {
                let mut names = vec![own.clone()];
                let usual = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                if usual.contains(&self.address) {
                    names.extend(HostPort::parse(&format!("localhost:{port}"), Scheme::Http));
                }
                Ok(Reached {
                    origin: own.origin(Scheme::Http),
                    names: HostNames::Listed(Scheme::Http, names),
                    tls: None,
                    cookie: format!("interpreter-{port}"),
                    is_secure: false,
                    proxy: None,
                })
            }
            HttpFront::Tls { certificate, key } => {
                let (first, acceptor) = acceptor(certificate, key)?;
                Ok(Reached {
                    origin: certified_name(&first, own, port),
                    names: HostNames::Certified(first, port),
                    tls: Some(acceptor),
                    cookie: format!("__Host-interpreter-{port}"),
                    is_secure: true,
                    proxy: None,
                })
            }
            HttpFront::Proxy { name, address } => {
                let name = HostPort::parse(name, Scheme::Https)
                    .ok_or_else(|| HttpError::ProxyName { name: name.clone() })?;
                Ok(Reached {
                    origin: name.origin(Scheme::Https),
                    cookie: format!("__Host-interpreter-{}", name.port()),
                    names: HostNames::Listed(Scheme::Https, vec![name]),
                    tls: None,
                    is_secure: true,
                    proxy: Some(address.map_or(ProxyPeer::ThisComputer, ProxyPeer::At)),
                })
            }
        }
    }
}

/// The origin to print: that of the certificate's first name, or of the address.
fn certified_name(certificate: &CertificateDer<'_>, own: HostPort, port: u16) -> String {
    let parsed = webpki::EndEntityCert::try_from(certificate);
    let named = parsed.ok().and_then(|parsed| {
        let mut names = parsed.valid_dns_names();
        names.find_map(|name| HostPort::parse(&format!("{name}:{port}"), Scheme::Https))
    });
    named.unwrap_or(own).origin(Scheme::Https)
}

fn acceptor(
    certificate: &Path,
    key: &Path,
) -> Result<(CertificateDer<'static>, TlsAcceptor), HttpError> {
    let no_pem = |path: &Path, wanted| HttpError::NoPem { path: path.into(), wanted };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(certificate)?).collect();
    let chain = chain.map_err(|_| no_pem(certificate, "certificate"))?;
    let first = chain.first().cloned().ok_or_else(|| no_pem(certificate, "certificate"))?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?);
    let secret = secret.map_err(|_| no_pem(key, "private key"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(HttpError::Certificate)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((first, TlsAcceptor::from(Arc::new(config))))
}

fn read(path: &Path) -> Result<Vec<u8>, HttpError> {
    let read = regular::read_named(path, MOST_PEM);
    read.map_err(|source| HttpError::Unreadable { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(address: &str, front: HttpFront) -> HttpOptions {
        let folders = Folders::under(Path::new("/nowhere"));
        let address = address.parse().unwrap();
        HttpOptions { address, port: 0, front, folders, is_logged: false, provider: None }
    }

    #[test]
    fn others_reach_it_only_over_tls_or_a_proxy() {
        for open in ["0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1"] {
            let refused = options(open, HttpFront::Direct).check().unwrap_err();
            assert!(refused.advice().unwrap().contains("--tls-cert"), "{open}");
        }
        for own in ["127.0.0.1", "127.0.0.9", "::1"] {
            options(own, HttpFront::Direct).check().unwrap();
        }
        let proxy = HttpFront::Proxy { name: "code.example".into(), address: None };
        options("0.0.0.0", proxy).check().unwrap();
    }

    #[test]
    fn the_name_of_a_proxy_is_the_only_one() {
        let proxy = |name: &str| HttpFront::Proxy { name: name.into(), address: None };
        let reached = options("127.0.0.1", proxy("Code.example")).reached(4096).unwrap();
        assert_eq!(reached.origin, "https://code.example");
        assert!(reached.names.find("code.example").is_some());
        assert!(reached.names.find("127.0.0.1:4096").is_none());
        assert!(reached.is_secure && reached.cookie.starts_with("__Host-"));
        for wrong in ["", "https://code.example", "code.example/", "a b", "code.example:0"] {
            assert!(options("127.0.0.1", proxy(wrong)).reached(1).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_the_proxy_is_believed() {
        let of = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(ProxyPeer::ThisComputer.is(of("127.0.0.1")));
        assert!(ProxyPeer::ThisComputer.is(of("::ffff:127.0.0.1")));
        assert!(!ProxyPeer::ThisComputer.is(of("192.0.2.1")));
        assert!(ProxyPeer::At(of("192.0.2.1")).is(of("::ffff:192.0.2.1")));
        assert!(!ProxyPeer::At(of("192.0.2.1")).is(of("127.0.0.1")));
    }
}
