//! The word of a login provider about who has logged in: a signed token, read and checked.
//!
//! # Threat
//! A token without a signature, or signed by somebody else, with another key or in another way; one
//! of another provider, for another program, for another login, or of another time; and bytes of any
//! kind in its place.
//!
//! # Mechanism
//! The signature is checked first, over the very bytes that came, and no claim is read before. Then
//! every claim must be there and be right. A name that stands twice makes the token none. Of a person
//! only the subject is read: neither an address nor a name can make somebody somebody else.
//!
//! Pure: keys, expectations and the time are given.

use super::key_set::{KeySet, SignatureAlgorithm};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use interpreter_store::ProviderSubject;
use serde::Deserialize;

/// The longest token.
const LONGEST: usize = 16 << 10;

/// Seconds by which clocks may differ.
const LEEWAY: f64 = 60.0;

/// Why a token is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum IdTokenFault {
    /// It is no token.
    Malformed,
    /// It is signed in a way that is not accepted, or not at all.
    Algorithm,
    /// No key of the provider can be meant.
    NoKey,
    Signature,
    /// Its claims are none.
    Claims,
    Issuer,
    Audience,
    Time,
    Nonce,
    Subject,
}

impl IdTokenFault {
    /// A word for the log.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Malformed => "token_malformed",
            Self::Algorithm => "token_algorithm",
            Self::NoKey => "token_key",
            Self::Signature => "token_signature",
            Self::Claims => "token_claims",
            Self::Issuer => "token_issuer",
            Self::Audience => "token_audience",
            Self::Time => "token_time",
            Self::Nonce => "token_nonce",
            Self::Subject => "token_subject",
        }
    }
}

/// A token in its parts. Nothing in it is believed yet.
#[derive(Debug)]
pub(super) struct SignedToken<'a> {
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) key_name: Option<String>,
    message: &'a [u8],
    claims: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Whatever stands there must be understood, and nothing is: `null` and the empty list too.
    #[serde(default, deserialize_with = "is_there")]
    crit: bool,
}

/// That a value is there, whatever it is.
fn is_there<'de, D: serde::Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(value).map(|_| true)
}

/// The condition that a token must meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedToken<'a> {
    pub(super) issuer: &'a str,
    pub(super) client: &'a str,
    pub(super) nonce: &'a str,
    /// The time, in seconds since 1970.
    pub(super) now: u64,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl<'a> SignedToken<'a> {
    /// Takes a token apart.
    pub(super) fn parse(text: &'a str) -> Result<Self, IdTokenFault> {
        if text.len() > LONGEST {
            return Err(IdTokenFault::Malformed);
        }
        let (message, signature) = text.rsplit_once('.').ok_or(IdTokenFault::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(IdTokenFault::Malformed)?;
        // A fourth part makes the claims no base64, and so the token none.
        let decoded =
            |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| IdTokenFault::Malformed);
        let header: Header =
            serde_json::from_slice(&decoded(header)?).map_err(|_| IdTokenFault::Malformed)?;
        let is_plain = header.typ.is_none_or(|kind| kind.eq_ignore_ascii_case("JWT"));
        if !is_plain || header.crit {
            return Err(IdTokenFault::Malformed);
        }
        Ok(Self {
            algorithm: SignatureAlgorithm::of_word(&header.alg).ok_or(IdTokenFault::Algorithm)?,
            key_name: header.kid,
            message: message.as_bytes(),
            claims: decoded(claims)?,
            signature: decoded(signature)?,
        })
    }

    /// Whether there is a key that it can mean.
    pub(super) fn is_known(&self, keys: &KeySet) -> bool {
        keys.find(self.algorithm, self.key_name.as_deref()).is_some()
    }

    /// Checks everything. Returns who has logged in.
    pub(super) fn verify(
        &self,
        keys: &KeySet,
        expected: ExpectedToken<'_>,
    ) -> Result<ProviderSubject, IdTokenFault> {
        let key = keys.find(self.algorithm, self.key_name.as_deref());
        let key = key.ok_or(IdTokenFault::NoKey)?;
        if !key.made(self.algorithm, self.message, &self.signature) {
            return Err(IdTokenFault::Signature);
        }
        let claims: Claims =
            serde_json::from_slice(&self.claims).map_err(|_| IdTokenFault::Claims)?;
        claims.check(expected)?;
        ProviderSubject::new(&claims.iss, &claims.sub).ok_or(IdTokenFault::Subject)
    }
}

impl Claims {
    fn check(&self, expected: ExpectedToken<'_>) -> Result<(), IdTokenFault> {
        if self.iss != expected.issuer {
            return Err(IdTokenFault::Issuer);
        }
        if !self.is_for(expected.client) {
            return Err(IdTokenFault::Audience);
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds are exact for 285 million years")]
        let now = expected.now as f64;
        let is_now = self.exp > now - LEEWAY
            && self.iat <= now + LEEWAY
            && self.nbf.is_none_or(|from| from <= now + LEEWAY);
        if !is_now {
            return Err(IdTokenFault::Time);
        }
        if self.nonce != expected.nonce {
            return Err(IdTokenFault::Nonce);
        }
        Ok(())
    }

    /// Whether it is for this client: alone, or beside others where it says that we asked for it.
    fn is_for(&self, client: &str) -> bool {
        let (is_among, is_alone) = match &self.aud {
            Audience::One(one) => (one == client, true),
            Audience::Several(all) => (all.iter().any(|one| one == client), all.len() == 1),
        };
        let is_asker = self.azp.as_ref().map(|asker| asker == client);
        is_among && is_asker.unwrap_or(is_alone)
    }
}

#[cfg(test)]
mod tests;
