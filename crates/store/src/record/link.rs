//! The link between two records. `record/mod.rs` says what is hashed and how to check it.

use interpreter_core::hash::hex;
use sha2::{Digest, Sha256};

/// What the first record follows.
pub(super) const BEFORE_THE_FIRST: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// The columns of one record that are hashed, as bytes: what was tampered with need not be text.
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
    use interpreter_core::hash::sha256;

    #[test]
    fn the_hash_is_that_of_the_documented_text() {
        let columns = Columns {
            prev: BEFORE_THE_FIRST.as_bytes(),
            seq: 1,
            session: b"s1",
            time: b"2026-01-01T00:00:00.000000Z",
            kind: b"note",
            body: br#"{"v":1,"kind":"note","text":"hello"}"#,
        };
        let text = [
            BEFORE_THE_FIRST,
            "1",
            "s1",
            "2026-01-01T00:00:00.000000Z",
            "note",
            r#"{"v":1,"kind":"note","text":"hello"}"#,
        ];
        assert_eq!(columns.hash(), sha256(text.join("\n").as_bytes()));
    }
}
