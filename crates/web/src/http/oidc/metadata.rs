//! The description that a login provider publishes of itself: where to ask, and how.
//!
//! # Threat
//! A document of another provider; one that sends the browser, the code or the client's secret to
//! somebody else's server, in the clear, or into this computer.
//!
//! # Mechanism
//! The issuer in it must be the configured one, byte by byte. Each address in it must be https; only
//! where the issuer itself is this machine may it be this machine's, and then also without TLS. A
//! number that leads into somebody's own network, as that of a cloud's metadata service does, is
//! refused unless the issuer is at that very number.
//!
//! # Limits
//! A provider can name any server that has a certificate, one inside a company's network among them.
//! It is asked, and its answer must still be signed by a key of the provider.

use interpreter_agent::DocumentAddress;
use interpreter_core::egress::refused;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};

/// Where and how to ask.
#[derive(Clone, Debug)]
pub(super) struct ProviderMetadata {
    /// Where the browser goes.
    pub(super) authorization: DocumentAddress,
    /// Where a code is exchanged.
    pub(super) token: DocumentAddress,
    /// Where the keys are.
    pub(super) keys: DocumentAddress,
    /// How the secret of the client is shown.
    pub(super) shows_secret: ShowsSecret,
    /// Whether it names itself when it sends the browser back.
    pub(super) names_itself: bool,
}

/// How the secret of a client is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShowsSecret {
    InHeader,
    InForm,
    /// The provider takes neither.
    Never,
}

#[derive(Deserialize)]
struct Written {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl ProviderMetadata {
    /// The address of the document of an issuer.
    pub(super) fn address(issuer: &str) -> Option<DocumentAddress> {
        let issuer =
            DocumentAddress::parse(issuer).filter(|one| !one.has_query()).map(|_| issuer)?;
        let text = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        DocumentAddress::parse(&text)
    }

    /// Reads the document of an issuer.
    pub(super) fn parse(text: &[u8], issuer: &str) -> Option<Self> {
        let written: Written = serde_json::from_slice(text).ok()?;
        if written.issuer != issuer {
            return None;
        }
        let issuer = DocumentAddress::parse(issuer)?;
        let address =
            |text: &str| DocumentAddress::parse(text).filter(|one| may_name(&issuer, one));
        let methods = written.token_endpoint_auth_methods_supported;
        let takes =
            |method: &str| methods.as_ref().is_some_and(|all| all.iter().any(|one| one == method));
        let shows_secret = if methods.is_none() || takes("client_secret_basic") {
            ShowsSecret::InHeader
        } else if takes("client_secret_post") {
            ShowsSecret::InForm
        } else {
            ShowsSecret::Never
        };
        Some(Self {
            authorization: address(&written.authorization_endpoint)?,
            token: address(&written.token_endpoint)?,
            keys: address(&written.jwks_uri)?,
            shows_secret,
            names_itself: written.authorization_response_iss_parameter_supported,
        })
    }
}

/// Whether an issuer may have us, or a browser of ours, ask there.
fn may_name(issuer: &DocumentAddress, address: &DocumentAddress) -> bool {
    if issuer.is_local() {
        return true;
    }
    let host = address.host();
    let name = host.split(':').next().unwrap_or_default();
    let inside = number(&host).filter(|number| refused(*number).is_some());
    let is_here = address.is_local() || name.ends_with("localhost.");
    !is_here && inside.is_none_or(|inside| number(&issuer.host()) == Some(inside))
}

/// The number of a host that has no name, with or without a port.
fn number(host: &str) -> Option<IpAddr> {
    let with_port = || host.parse().ok().map(|address: SocketAddr| address.ip());
    host.trim_matches(['[', ']']).parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn document(issuer: &str) -> Value {
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/auth"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
        })
    }

    fn parsed(document: &Value, issuer: &str) -> Option<ProviderMetadata> {
        ProviderMetadata::parse(document.to_string().as_bytes(), issuer)
    }

    #[test]
    fn the_issuer_must_be_the_configured_one_byte_by_byte() {
        let ours = "https://id.example";
        assert!(parsed(&document(ours), ours).is_some());
        for other in [
            "https://id.example/",
            "https://ID.example",
            "https://id.example:443",
            "http://id.example",
            "https://other.example",
            "",
        ] {
            let mut document = document(ours);
            document["issuer"] = other.into();
            assert!(parsed(&document, ours).is_none(), "{other}");
        }
    }

    #[test]
    fn a_document_that_can_be_read_in_two_ways_is_none() {
        let ours = "https://id.example";
        let text = document(ours).to_string();
        let with = |more: &str| {
            let text = text.replacen('{', &format!("{{{more},"), 1);
            ProviderMetadata::parse(text.as_bytes(), ours)
        };
        let nested = format!("\"claims_supported\":{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(with(&nested).is_some() && with("\"x\":1,\"x\":2").is_some());
        for twice in [
            r#""issuer":"https://evil.example""#,
            r#""token_endpoint":"https://evil.example/token""#,
            r#""jwks_uri":"https://evil.example/keys""#,
            r#""authorization_endpoint":"https://evil.example/auth""#,
            r#""jwks\u005furi":"https://id.example/keys""#,
            r#""token_endpoint_auth_methods_supported":[],"token_endpoint_auth_methods_supported":[]"#,
        ] {
            assert!(with(twice).is_none(), "{twice}");
        }
        for wrong in [
            r#""token_endpoint_auth_methods_supported":"client_secret_basic""#,
            r#""token_endpoint_auth_methods_supported":[7]"#,
            r#""authorization_response_iss_parameter_supported":"true""#,
            r#""authorization_response_iss_parameter_supported":1"#,
            r#""authorization_response_iss_parameter_supported":null"#,
        ] {
            assert!(with(wrong).is_none(), "{wrong}");
        }
        for not_an_object in ["", "null", "[]", "\"\"", "7", "{}", "\u{feff}{}"] {
            assert!(ProviderMetadata::parse(not_an_object.as_bytes(), ours).is_none());
        }
    }

    #[test]
    fn no_document_leads_to_this_computer_or_into_the_clear() {
        let ours = "https://id.example";
        for field in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            for wrong in [
                "http://id.example/x",
                "http://127.0.0.1:8080/x",
                "https://127.0.0.1/x",
                "https://localhost/x",
                "https://a.localhost/x",
                "https://[::1]/x",
                "http://169.254.169.254/x",
                "https://me@id.example/x",
                "javascript:alert(1)",
                "file:///etc/passwd",
                "/x",
                "",
            ] {
                let mut document = document(ours);
                document[field] = wrong.into();
                assert!(parsed(&document, ours).is_none(), "{field}: {wrong}");
            }
            let mut elsewhere = document(ours);
            elsewhere[field] = "https://login.example.com/x".into();
            assert!(parsed(&elsewhere, ours).is_some(), "{field}");
        }
        let here = "http://127.0.0.1:4000";
        assert!(parsed(&document(here), here).is_some());
    }

    #[test]
    fn no_document_leads_into_somebodys_own_network_by_a_number() {
        let ours = "https://id.example";
        for field in ["authorization_endpoint", "token_endpoint", "jwks_uri"] {
            for wrong in [
                "https://169.254.169.254/latest/meta-data",
                "https://169.254.169.254:8443/x",
                "https://10.0.0.1/x",
                "https://172.16.0.1/x",
                "https://192.168.1.1:8443/x",
                "https://0.0.0.0/x",
                "https://100.64.0.1/x",
                "https://2852039166/x",
                "https://0xa9.0xfe.0xa9.0xfe/x",
                "https://0177.0.0.1/x",
                "https://127.0.0.1./x",
                "https://localhost./x",
                "https://a.localhost.:8443/x",
                "https://[::]/x",
                "https://[::ffff:127.0.0.1]/x",
                "https://[::ffff:10.0.0.1]:8443/x",
                "https://[64:ff9b::a9fe:a9fe]/x",
                "https://[fd00:ec2::254]/x",
                "https://[fe80::1]/x",
            ] {
                let mut document = document(ours);
                document[field] = wrong.into();
                assert!(parsed(&document, ours).is_none(), "{field}: {wrong}");
            }
            // The controls: a public number, and the number that a person has configured.
            let mut public = document(ours);
            public[field] = "https://8.8.8.8:8443/x".into();
            assert!(parsed(&public, ours).is_some(), "{field}");
            for own in ["https://10.0.0.1", "https://10.0.0.1:8443", "https://[fd00::1]:8443"] {
                assert!(parsed(&document(own), own).is_some(), "{own}");
                let mut another = document(own);
                another[field] = "https://10.0.0.2/x".into();
                assert!(parsed(&another, own).is_none(), "{field}: {own}");
            }
            let own = "https://10.0.0.1:8443";
            let mut another_port = document(own);
            another_port[field] = "https://10.0.0.1/x".into();
            assert!(parsed(&another_port, own).is_some(), "{field}");
        }
    }

    #[test]
    fn the_secret_is_shown_as_the_provider_takes_it() {
        for (methods, shown) in [
            (Value::Null, ShowsSecret::InHeader),
            (json!(["client_secret_post", "client_secret_basic"]), ShowsSecret::InHeader),
            (json!(["none", "client_secret_post"]), ShowsSecret::InForm),
            (json!(["private_key_jwt"]), ShowsSecret::Never),
        ] {
            let mut document = document("https://id.example");
            document["token_endpoint_auth_methods_supported"] = methods;
            let parsed = parsed(&document, "https://id.example").unwrap();
            assert_eq!(parsed.shows_secret, shown);
        }
    }

    #[test]
    fn an_issuer_has_one_address() {
        let address = |issuer: &str| {
            ProviderMetadata::address(issuer).map(|address| address.with_fields(&[]))
        };
        for issuer in ["https://id.example/realms/a", "https://id.example/realms/a/"] {
            let found = address(issuer).unwrap();
            let wanted = "https://id.example/realms/a/.well-known/openid-configuration";
            assert_eq!(found.trim_end_matches('?'), wanted);
        }
        for wrong in ["", "http://id.example", "https://id.example?x=1", "https://id.example#x"] {
            assert_eq!(address(wrong), None, "{wrong}");
        }
    }
}
