//! Secrets that this server makes: 256 random bits, written in base64url.
//!
//! Only hashes are compared, so the time that a comparison takes tells nothing about the secret.
//! Must not print one, nor take one from anywhere but the system's random numbers.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    hmac,
    rand::{SecureRandom, SystemRandom},
};
use std::fmt;

/// Bytes of a secret.
const BYTES: usize = 32;

/// A new secret. Exists only until its owner has it.
pub(super) struct RandomKey(String);

/// The system gave no random numbers.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the system gave no random numbers")]
pub struct NoRandomness;

impl RandomKey {
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut bytes = [0; BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Debug for RandomKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomKey")
    }
}

/// The hash of a secret: enough to recognise it.
#[derive(Clone, Copy)]
pub(super) struct KeyHash([u8; BYTES]);

impl KeyHash {
    /// The hash of what somebody sent. Whatever is not shaped like a secret is hashed as well, and
    /// fits none.
    pub(super) fn of(text: &str) -> Self {
        let mut hash = [0; BYTES];
        hash.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Self(hash)
    }

    /// Whether both are of the same secret. Takes as long for a near miss as for a far one.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |all, (one, other)| all | (one ^ other)) == 0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}

/// Whether `proof` is the HMAC-SHA-256 of `path`, in hexadecimal, by the key with this text.
pub(super) fn is_proof(key: &hmac::Key, path: &str, proof: &str) -> bool {
    decoded(proof).is_some_and(|tag| hmac::verify(key, path.as_bytes(), &tag).is_ok())
}

/// The key by which paths are signed: the text of the secret, as a page holds it.
pub(super) fn signing_key(text: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes())
}

/// 64 lower-case hexadecimal digits as bytes.
fn decoded(hex: &str) -> Option<[u8; BYTES]> {
    let digits = hex.as_bytes();
    if digits.len() != 2 * BYTES {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::hash::hex;

    #[test]
    fn keys_differ_and_only_the_same_text_fits() {
        let (one, other) = (RandomKey::new().unwrap(), RandomKey::new().unwrap());
        assert_eq!(one.text().len(), 43);
        assert_ne!(one.text(), other.text());
        assert!(one.hash().fits(&KeyHash::of(one.text())));
        let near = [&one.text()[..42], "", " ", "\0", &format!("{} ", one.text()), other.text()]
            .map(KeyHash::of);
        assert!(near.iter().all(|hash| !one.hash().fits(hash)));
        assert!(!format!("{one:?}{:?}", one.hash()).contains(&one.text()[..8]));
    }

    #[test]
    fn a_proof_is_of_one_path_by_one_key() {
        let key = signing_key("k");
        let proof = hex(hmac::sign(&key, b"/o/a").as_ref());
        assert!(is_proof(&key, "/o/a", &proof));
        assert!(!is_proof(&key, "/o/b", &proof));
        assert!(!is_proof(&signing_key("j"), "/o/a", &proof));
        for wrong in ["", "0", &proof[..63], &proof.to_uppercase(), &format!("{proof}00")] {
            assert!(!is_proof(&key, "/o/a", wrong), "{wrong}");
        }
    }
}
