//! Text that must never be shown, logged, recorded or sent anywhere but to its owner.
//!
//! There is one door out, [`Secret::reveal`], which a search finds. Neither `Display`,
//! `Serialize` nor `Clone` exists, so a secret cannot slip into a message by accident.

use std::fmt;

/// A key, a token, a password.
pub struct Secret(String);

impl Secret {
    /// Takes the text in. It does not come out again but through [`Secret::reveal`].
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The one door out. Its callers are the places that send a secret to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn debug_shows_a_placeholder() {
        let secret = super::Secret::new("sk-canary".into());
        assert_eq!(format!("{secret:?}"), "[secret]");
    }
}
