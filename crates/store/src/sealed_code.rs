//! Code in which a known secret stands, kept whole beside its masked record.
//!
//! # Threat
//! A record that cannot say what ran, because a value was taken out of it; and a copy of the record
//! that gives that value away.
//!
//! # Mechanism
//! The code is encrypted and authenticated with ChaCha20-Poly1305 under the key of the kept secrets,
//! which is not in the data folder, and bound to the SHA-256 of the code.
//!
//! # Order
//! It is sealed before its record is written. If it cannot be, the record is not written, and nothing
//! runs.
//!
//! # Limits
//! Whoever can read the config folder and the record can read the code.

use crate::{
    Folders, StoreError,
    secrets::{NO_RANDOMNESS, find_key, make_key},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{Body, Untrusted, hash::sha256};
use ring::{
    aead::{Aad, NONCE_LEN, Nonce},
    rand::{SecureRandom, SystemRandom},
};
use std::io;

/// The beginning of what a seal is bound to; the hash of the code follows.
const PURPOSE: &str = "interpreter code 1\n";

/// Code that is to be sealed before its record is written.
#[derive(Debug)]
pub struct UnsealedCode(Untrusted);

impl UnsealedCode {
    /// The code of a record, if it has any.
    pub fn of(body: &Body) -> Option<Self> {
        code(body).cloned().map(Self)
    }

    /// Whether this record has the code as it is.
    pub fn is_in(&self, body: &Body) -> bool {
        code(body) == Some(&self.0)
    }

    /// Seals it into its record. The key is made if need be.
    pub fn seal(self, folders: &Folders, body: &mut Body) -> Result<(), StoreError> {
        let (Body::Proposal { sealed, .. } | Body::Answer { sealed, .. }) = body else {
            return Ok(());
        };
        folders.make_config_folder()?;
        let (key, text) = (make_key(folders)?, self.0.raw());
        let mut nonce = [0; NONCE_LEN];
        let failed = || StoreError::Keep {
            path: folders.secrets_key(),
            source: io::Error::other(NO_RANDOMNESS),
        };
        SystemRandom::new().fill(&mut nonce).map_err(|_| failed())?;
        let mut bytes = text.as_bytes().to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        let bound = Aad::from(purpose(&sha256(text.as_bytes())));
        key.seal_in_place_append_tag(unique, bound, &mut bytes).map_err(|_| failed())?;
        *sealed = Some(STANDARD.encode([&nonce, bytes.as_slice()].concat()));
        Ok(())
    }
}

/// The code that a record has, as it is shown.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other record has code that may run")]
fn code(body: &Body) -> Option<&Untrusted> {
    match body {
        Body::Proposal { code, .. } | Body::Answer { code: Some(code), .. } => Some(code),
        _ => None,
    }
}

fn purpose(hash: &str) -> Vec<u8> {
    format!("{PURPOSE}{hash}").into_bytes()
}

/// The code that was sealed into a record. `None` if the key is missing or another, or the record
/// was changed.
pub fn unsealed(folders: &Folders, body: &Body) -> Result<Option<Untrusted>, StoreError> {
    let (Body::Proposal { hash, sealed: Some(sealed), .. }
    | Body::Answer { hash: Some(hash), sealed: Some(sealed), .. }) = body
    else {
        return Ok(None);
    };
    let Some(key) = find_key(folders)? else { return Ok(None) };
    let Ok(mut bytes) = STANDARD.decode(sealed) else { return Ok(None) };
    let Some((nonce, _)) = bytes.split_first_chunk::<NONCE_LEN>() else { return Ok(None) };
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key.open_in_place(nonce, Aad::from(purpose(hash)), &mut bytes[NONCE_LEN..]);
    let Ok(plain) = opened else { return Ok(None) };
    let is_it = sha256(plain) == *hash;
    Ok(std::str::from_utf8(plain).ok().filter(|_| is_it).map(Untrusted::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{Origin, Redactor, Secret};

    fn record(code: &str) -> Body {
        Body::Proposal {
            id: "p1".into(),
            origin: Origin::Person,
            language: "shell".into(),
            code: Untrusted::new(code),
            hash: sha256(code.as_bytes()),
            invocation: None,
            again: None,
            sealed: None,
        }
    }

    #[test]
    fn sealed_code_comes_back_and_only_with_its_key_and_hash() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let value = "tok-Zq8-Wx3-Lm5";
        let redactor = Redactor::default().knowing([("T", &Secret::new(value.into()))]);
        let body = record(&format!("echo {value}"));
        let code = UnsealedCode::of(&body).unwrap();
        let mut masked = redactor.body(body);
        assert!(!code.is_in(&masked));
        code.seal(&folders, &mut masked).unwrap();
        assert!(!serde_json::to_string(&masked).unwrap().contains(value));
        let opened = unsealed(&folders, &masked).unwrap().unwrap();
        assert_eq!(opened.raw(), format!("echo {value}"));
        // A seal that is moved to another record opens nothing.
        let Body::Proposal { sealed, .. } = masked.clone() else { panic!() };
        let mut other = record("echo 1");
        if let Body::Proposal { sealed: into, .. } = &mut other {
            *into = sealed;
        }
        assert_eq!(unsealed(&folders, &other).unwrap(), None);
        std::fs::remove_file(folders.secrets_key()).unwrap();
        assert_eq!(unsealed(&folders, &masked).unwrap(), None);
    }
}
