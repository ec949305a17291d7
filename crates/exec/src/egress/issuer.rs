//! The certificate authority of one session, by which the proxy opens TLS.
//!
//! # Threat
//! A certificate that is good for more than the hosts that a person allowed a secret for, or that
//! somebody else can make use of.
//!
//! # Mechanism
//! The key is made in memory, for one sandbox, and never leaves this process. The authority is
//! constrained to the hosts with a grant, and expires soon. Only programs inside trust it.

use interpreter_core::egress::Host;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, KeyPair, KeyUsagePurpose, NameConstraints, SanType,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::NoServerSessionStorage,
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio_rustls::TlsAcceptor;

/// The one protocol that is spoken in an opened connection.
pub(super) const PROTOCOL: &[u8] = b"http/1.1";

/// How long the authority is good for.
const LASTS: Duration = Duration::from_hours(7 * 24);

/// Clocks differ.
const BEFORE: Duration = Duration::from_hours(1);

/// The authority.
pub(super) struct Authority {
    issuer: rcgen::Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Authority {
    /// Makes one that is good for these hosts.
    pub(super) fn new<'a>(hosts: impl Iterator<Item = &'a Host>) -> io::Result<Self> {
        let mut parameters = lasting()?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        parameters.distinguished_name.push(DnType::CommonName, "Open Interpreter, this session");
        parameters.name_constraints = Some(constraints(hosts));
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = parameters.self_signed(&key).map_err(io::Error::other)?.der().clone();
        Ok(Self { issuer: rcgen::Issuer::new(parameters, key), certificate })
    }

    /// Its own certificate.
    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Speaks TLS as this host.
    pub(super) fn speak_as(&self, host: &Host) -> io::Result<TlsAcceptor> {
        let mut parameters = lasting()?;
        parameters.distinguished_name.push(DnType::CommonName, "opened by Open Interpreter");
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        parameters.subject_alt_names.push(match host {
            Host::Name(name) => {
                SanType::DnsName(name.clone().try_into().map_err(io::Error::other)?)
            }
            Host::Address(address) => SanType::IpAddress(*address),
        });
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let signed = parameters.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let chain = vec![signed.der().clone(), self.certificate.clone()];
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// A certificate that lasts from now on, and not for long.
fn lasting() -> io::Result<CertificateParams> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    parameters.not_before = epoch + now.saturating_sub(BEFORE);
    parameters.not_after = epoch + (now + LASTS);
    Ok(parameters)
}

/// These hosts and no others. Addresses are left out altogether unless one of them is granted.
fn constraints<'a>(hosts: impl Iterator<Item = &'a Host>) -> NameConstraints {
    let permitted: Vec<_> = hosts
        .map(|host| match host {
            Host::Name(name) => GeneralSubtree::DnsName(name.clone()),
            Host::Address(address) => {
                let bits = if address.is_ipv4() { 32 } else { 128 };
                GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, bits))
            }
        })
        .collect();
    let has_address = permitted.iter().any(|one| matches!(one, GeneralSubtree::IpAddress(_)));
    let every = [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
    let every = every.map(|all| GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(all, 0)));
    let mut excluded = if has_address { vec![] } else { every.to_vec() };
    if !permitted.iter().any(|one| matches!(one, GeneralSubtree::DnsName(_))) {
        excluded.push(GeneralSubtree::DnsName(String::new()));
    }
    NameConstraints { permitted_subtrees: permitted, excluded_subtrees: excluded }
}
