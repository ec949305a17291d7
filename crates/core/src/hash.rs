//! SHA-256, plain and keyed, as lower-case hexadecimal text.
//!
//! Everything that is hashed for a person or a record goes through here, so that it can be
//! checked with `sha256sum`, or with `openssl dgst -hmac` where a key is needed.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, as 64 lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of bytes that come one after another.
#[derive(Clone, Debug, Default)]
pub struct RunningHash(Sha256);

impl RunningHash {
    /// Takes more bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them, as 64 lower-case hexadecimal digits.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The SHA-256 of a value of ours as JSON without spaces, the names of each object in alphabetical
/// order.
pub(crate) fn canonical_sha256(value: &impl Serialize) -> String {
    // A value of ours always becomes JSON.
    let value = serde_json::to_value(value).unwrap_or_default();
    let mut text = String::new();
    write_canonically(&value, &mut text);
    sha256(text.as_bytes())
}

fn write_canonically(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (number, (name, value)) in fields.into_iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonically(value, text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (number, value) in values.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                write_canonically(value, text);
            }
            text.push(']');
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            text.push_str(&plain.to_string());
        }
    }
}

/// `bytes` as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// A key for HMAC-SHA-256 ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)), prepared once.
#[derive(Clone)]
pub struct SealKey {
    inner: Sha256,
    outer: Sha256,
}

impl SealKey {
    /// Prepares a key.
    pub fn new(key: &[u8; 32]) -> Self {
        let padded = |pad: u8| {
            let mut block = [pad; 64];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            Sha256::new_with_prefix(block)
        };
        Self { inner: padded(0x36), outer: padded(0x5c) }
    }

    /// The seal of these parts, one after another, which only a holder of the key can make.
    pub fn seal(&self, parts: &[&[u8]]) -> String {
        let inner = parts.iter().fold(self.inner.clone(), Digest::chain_update);
        hex(&self.outer.clone().chain_update(inner.finalize()).finalize())
    }

    /// Whether `seal` is that of these parts. Takes as long for a near miss as for a far one.
    pub fn fits(&self, parts: &[&[u8]], seal: &[u8]) -> bool {
        let expected = self.seal(parts);
        let differing = expected.bytes().zip(seal).fold(0, |all, (one, other)| all | (one ^ other));
        expected.len() == seal.len() && differing == 0
    }
}

/// Keys are never printed.
impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SealKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::SealKey;

    #[test]
    fn a_seal_agrees_with_openssl() {
        // printf %s abc | openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…01
        let key = SealKey::new(&[1; 32]);
        let seal = key.seal(&[b"a", b"bc"]);
        assert_eq!(seal, "73860612aa6aadf68985b6e9c4233357cedd5f24a221eba740b2aa8350276cfc");
        assert!(key.fits(&[b"abc"], seal.as_bytes()));
        assert!(!key.fits(&[b"abd"], seal.as_bytes()));
        assert!(!key.fits(&[b"abc"], &seal.as_bytes()[1..]));
        assert!(!SealKey::new(&[2; 32]).fits(&[b"abc"], seal.as_bytes()));
        assert_eq!(format!("{key:?}"), "SealKey { .. }");
    }

    #[test]
    fn agrees_with_sha256sum() {
        assert_eq!(
            super::sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
