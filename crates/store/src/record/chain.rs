//! The link between two records of a session. `record/mod.rs` describes the hashed text.

use interpreter_core::hash::{hex, sha256};
use sha2::{Digest, Sha256};

/// The `prev` of a session's first record. It depends on the session, so that a chain cannot be
/// renamed.
pub(super) fn before_the_first(session: &[u8]) -> String {
    sha256(session)
}

/// The hashed columns of one record, as bytes: after tampering they may not be text.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) prev: &'a [u8],
    pub(super) seq: i64,
    pub(super) session: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) kind: &'a [u8],
    pub(super) body: &'a [u8],
}

impl Columns<'_> {
    /// The record's hash, as hexadecimal text.
    pub(super) fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.prev);
        hasher.update(format!("\n{}", self.seq));
        for text in [self.session, self.time, self.kind, self.body] {
            hasher.update(b"\n");
            hasher.update(text);
        }
        hex(&hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_documented_text() {
        let prev = before_the_first(b"s1");
        let columns = Columns {
            prev: prev.as_bytes(),
            seq: 1,
            session: b"s1",
            time: b"2026-01-01T00:00:00.000000Z",
            kind: b"note",
            body: br#"{"v":1,"kind":"note","text":"hello"}"#,
        };
        let text = [
            &prev,
            "1",
            "s1",
            "2026-01-01T00:00:00.000000Z",
            "note",
            r#"{"v":1,"kind":"note","text":"hello"}"#,
        ];
        assert_eq!(columns.hash(), sha256(text.join("\n").as_bytes()));
    }
}
