//! Passwords as they are kept: a hash by Argon2id, which is slow and takes memory on purpose.
//!
//! # Threat
//! Whoever has a copy of the files tries passwords by the million.
//!
//! # Mechanism
//! The parameters are those that OWASP names first for Argon2id: 19 MiB, two passes, one lane, with
//! a salt of 16 random bytes. They stand beside each hash, so that later ones can be other. A hash
//! whose parameters are beyond what we ever wrote is none: a file must not make the server take any
//! amount of memory.
//!
//! Must not keep, print or compare a password itself.

use crate::StoreError;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use interpreter_core::Secret;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

/// Characters of a password at least.
pub const SHORTEST_PASSWORD: usize = 10;

/// Bytes of a password at most.
pub const LONGEST_PASSWORD: usize = 1 << 10;

/// KiB, passes and lanes.
const MEMORY: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// The most of each that is ever computed.
const MOST_MEMORY: u32 = 64 * 1024;
const MOST_PASSES: u32 = 8;
const MOST_LANES: u32 = 4;

/// Bytes.
const SALT: usize = 16;
const HASH: usize = 32;

/// The hash of a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordHash {
    memory: u32,
    passes: u32,
    lanes: u32,
    salt: String,
    hash: String,
}

impl PasswordHash {
    /// Hashes a password. Slow.
    pub fn new(password: &Secret) -> Result<Self, StoreError> {
        let mut salt = [0; SALT];
        SystemRandom::new().fill(&mut salt).map_err(|_| StoreError::NoRandomness)?;
        let mut made = Self::of_nobody();
        made.salt = STANDARD_NO_PAD.encode(salt);
        let hash = made.computed(password).ok_or(StoreError::NoRandomness)?;
        made.hash = STANDARD_NO_PAD.encode(hash);
        Ok(made)
    }

    /// A hash that no password has, and that takes as long as another to find that out: for names
    /// that nobody has.
    pub fn of_nobody() -> Self {
        let (salt, hash) = (STANDARD_NO_PAD.encode([0; SALT]), STANDARD_NO_PAD.encode([0; HASH]));
        Self { memory: MEMORY, passes: PASSES, lanes: LANES, salt, hash }
    }

    /// Whether it is the hash of this password. Slow, and as slow for a near miss as for a far one.
    pub fn fits(&self, password: &Secret) -> bool {
        let kept = STANDARD_NO_PAD.decode(&self.hash).unwrap_or_default();
        let Some(given) = self.computed(password) else { return false };
        let differs = kept.iter().zip(&given).fold(0, |all, (one, other)| all | (one ^ other));
        kept.len() == HASH && differs == 0
    }

    fn computed(&self, password: &Secret) -> Option<[u8; HASH]> {
        let &Self { memory, passes, lanes, .. } = self;
        if memory > MOST_MEMORY || passes > MOST_PASSES || lanes > MOST_LANES {
            return None;
        }
        let params = Params::new(memory, passes, lanes, Some(HASH)).ok()?;
        let salt = STANDARD_NO_PAD.decode(&self.salt).ok()?;
        let mut hash = [0; HASH];
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(password.reveal().as_bytes(), &salt, &mut hash).ok()?;
        Some(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_hash_fits_its_password_and_no_other() {
        let hash = PasswordHash::new(&secret("correct horse")).unwrap();
        assert!(hash.fits(&secret("correct horse")));
        for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
            assert!(!hash.fits(&secret(wrong)), "{wrong}");
        }
        assert_ne!(hash, PasswordHash::new(&secret("correct horse")).unwrap(), "the salt differs");
        assert!(!format!("{hash:?}").contains("horse"));
    }

    #[test]
    fn nobody_has_a_password() {
        for text in ["", "password", &"x".repeat(LONGEST_PASSWORD)] {
            assert!(!PasswordHash::of_nobody().fits(&secret(text)));
        }
    }

    #[test]
    fn a_file_cannot_make_it_take_any_amount_of_memory() {
        let hash = PasswordHash::new(&secret("correct horse")).unwrap();
        for wrong in [
            PasswordHash { memory: u32::MAX, ..hash.clone() },
            PasswordHash { passes: u32::MAX, ..hash.clone() },
            PasswordHash { lanes: u32::MAX, ..hash.clone() },
            PasswordHash { memory: 0, ..hash.clone() },
            PasswordHash { salt: String::new(), ..hash.clone() },
            PasswordHash { hash: String::new(), ..hash.clone() },
            PasswordHash { hash: "!".into(), ..hash },
        ] {
            assert!(!wrong.fits(&secret("correct horse")), "{wrong:?}");
        }
    }
}
