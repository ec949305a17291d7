//! Signs messages and checks signatures: HMAC-SHA256 over their parts, as hexadecimal.
//!
//! The key is in the connection file, which the kernel's own code can read: a signature shows
//! that both ends mean the same connection, and nothing more.

use sha2::{Digest, Sha256};
use std::{
    fmt::Write,
    fs::File,
    io::{self, Read},
};

/// The block of SHA-256.
const BLOCK: usize = 64;

/// A key, and what it signs.
#[derive(Debug)]
pub(crate) struct Seal {
    key: String,
}

impl Seal {
    /// A seal with a key that nobody else has.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { key: random_hex()? })
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The signature of the parts.
    pub(crate) fn sign(&self, parts: &[&[u8]]) -> String {
        hex(&hmac(self.key.as_bytes(), parts))
    }

    /// Whether this is the signature of the parts.
    pub(crate) fn is_of(&self, signature: &[u8], parts: &[&[u8]]) -> bool {
        let right = self.sign(parts);
        // Takes as long for a near miss as for any other.
        let differences = right.bytes().zip(signature).fold(0, |all, (a, b)| all | (a ^ b));
        right.len() == signature.len() && differences == 0
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// 128 random bits, as text.
pub(crate) fn random_hex() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn signatures_are_as_the_standard_has_them() {
        for (key, text, expected) in [
            (
                vec![0x0b; 20],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac(&key, &[text.as_bytes()])), expected);
            let (start, rest) = text.as_bytes().split_at(5);
            assert_eq!(hex(&hmac(&key, &[start, rest])), expected);
        }
    }

    #[test]
    fn only_the_right_signature_is_right() {
        let seal = Seal::new().unwrap();
        let signature = seal.sign(&[b"a", b"b"]);
        assert!(seal.is_of(signature.as_bytes(), &[b"a", b"b"]));
        assert!(!seal.is_of(signature.as_bytes(), &[b"a", b"c"]));
        for other in [b"".as_slice(), &signature.as_bytes()[..63], b"x"] {
            assert!(!seal.is_of(other, &[b"a", b"b"]));
        }
    }
}
