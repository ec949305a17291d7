//! The keys of a login provider, and signatures by them.
//!
//! # Threat
//! A token that names the algorithm by which it wants to be believed: none, one with a shared secret,
//! or one for which a key of another kind would be misused.
//!
//! # Mechanism
//! Four algorithms are known, all with public keys; every other word is none. A key is of one kind and
//! serves only its algorithms, whatever a token says. A key that names an algorithm serves that alone,
//! and one that is for something else than signatures serves none. Without a name in the token there
//! must be exactly one key that can be meant.
//!
//! Must not read a claim.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, de::IgnoredAny};

/// Keys that are read of a provider.
const MOST_KEYS: usize = 64;

/// Bytes of the two numbers of an RSA key: `ring` takes up to 8192 bits and 33.
const LONGEST_MODULUS: usize = 1_024;
const LONGEST_EXPONENT: usize = 5;

/// A way to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureAlgorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

impl SignatureAlgorithm {
    /// The one of this exact word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            // RFC 9864 has the second word for the one curve that we know.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// The material of a public key, by its kind.
#[derive(Clone, Debug)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Material {
    const fn serves(&self, algorithm: SignatureAlgorithm) -> bool {
        matches!(
            (self, algorithm),
            (Self::Rsa { .. }, SignatureAlgorithm::Rs256 | SignatureAlgorithm::Ps256)
                | (Self::P256(_), SignatureAlgorithm::Es256)
                | (Self::Ed25519(_), SignatureAlgorithm::EdDsa)
        )
    }
}

/// A public key.
#[derive(Clone, Debug)]
pub(super) struct ProviderKey {
    name: Option<String>,
    only: Option<SignatureAlgorithm>,
    material: Material,
}

impl ProviderKey {
    /// Whether it may be used for this algorithm.
    fn serves(&self, algorithm: SignatureAlgorithm) -> bool {
        self.only.is_none_or(|only| only == algorithm) && self.material.serves(algorithm)
    }

    /// Whether it made this signature, in this way.
    pub(super) fn made(&self, by: SignatureAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.serves(by) {
            return false;
        }
        let verified = match (&self.material, by) {
            (Material::Rsa { n, e }, SignatureAlgorithm::Rs256) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
            (Material::Rsa { n, e }, SignatureAlgorithm::Ps256) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PSS_2048_8192_SHA256, message, signature),
            (Material::P256(point), SignatureAlgorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Material::Ed25519(point), SignatureAlgorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            (Material::Rsa { .. } | Material::P256(_) | Material::Ed25519(_), _) => return false,
        };
        verified.is_ok()
    }
}

/// All keys of a provider.
#[derive(Clone, Debug, Default)]
pub(super) struct KeySet(Vec<ProviderKey>);

#[derive(Deserialize)]
struct WrittenSet {
    keys: Vec<AnyKey>,
}

/// A key, or anything else in its place, which is left out. One with a name that stands twice could
/// be read in two ways, and isn't read.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnyKey {
    Key(Box<WrittenKey>),
    Other(IgnoredAny),
}

/// A key as a provider publishes it.
#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads them. Keys of other kinds, and for other purposes, are left out.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let written: WrittenSet = serde_json::from_slice(text).ok()?;
        if written.keys.len() > MOST_KEYS {
            return None;
        }
        let keys = written.keys.into_iter().filter_map(|one| match one {
            AnyKey::Key(key) => read(*key),
            AnyKey::Other(IgnoredAny) => None,
        });
        Some(Self(keys.collect()))
    }

    /// The one key that a token means.
    pub(super) fn find(&self, by: SignatureAlgorithm, name: Option<&str>) -> Option<&ProviderKey> {
        let mut fitting = self.0.iter().filter(|key| {
            key.serves(by) && name.is_none_or(|name| key.name.as_deref() == Some(name))
        });
        let found = fitting.next()?;
        fitting.next().is_none().then_some(found)
    }
}

fn read(written: WrittenKey) -> Option<ProviderKey> {
    let is_for_signatures = written.purpose.is_none_or(|purpose| purpose == "sig")
        && written.key_ops.is_none_or(|all| all.iter().any(|one| one == "verify"));
    if !is_for_signatures {
        return None;
    }
    let only = match written.alg {
        // One that names an algorithm which we do not know is not for us.
        Some(word) => Some(SignatureAlgorithm::of_word(&word)?),
        None => None,
    };
    let material = match (written.kty.as_str(), written.crv.as_deref()) {
        ("RSA", None) => {
            let (n, e) = (number(written.n)?, number(written.e)?);
            if n.len() > LONGEST_MODULUS || e.len() > LONGEST_EXPONENT {
                return None;
            }
            Material::Rsa { n, e }
        }
        ("EC", Some("P-256")) => {
            let point = [vec![4], coordinate(written.x)?, coordinate(written.y)?].concat();
            Material::P256(point)
        }
        ("OKP", Some("Ed25519")) => Material::Ed25519(coordinate(written.x)?),
        _ => return None,
    };
    Some(ProviderKey { name: written.kid, only, material })
}

/// A number without leading zeros, as `ring` wants it.
fn number(text: Option<String>) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text?).ok()?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[first..].to_vec())
}

/// A coordinate of a curve: 32 bytes.
fn coordinate(text: Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok().filter(|bytes| bytes.len() == 32)
}
