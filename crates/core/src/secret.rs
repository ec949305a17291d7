//! Text that must never be shown, logged, recorded or sent anywhere but to its owner.
//!
//! There is one door out, [`Secret::reveal`], which a search finds. Neither `Display`,
//! `Serialize` nor `Clone` exists, so a secret cannot slip into a message by accident.

use std::fmt;

/// Bytes of the shortest secret that is looked for in text: too much else would match a shorter one.
pub const LEAST: usize = 8;

/// Bytes of the longest secret that is kept, and of every one that are looked for in text.
pub const LONGEST: usize = 64 << 10;

/// A key, a token, a password.
pub struct Secret(String);

impl Secret {
    /// Takes the text in. It does not come out again but through [`Secret::reveal`].
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The one door out. Its callers are the places that send a secret to its owner, and those that
    /// look for it in order to take it out.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Words in the names of variables that hold secrets.
const WORDS: [&str; 10] = [
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "SECRET",
    "TOKEN",
];

/// The secret in a variable, by the variable's name and value: the whole value, or the password in an
/// address. A path and a plain word are none.
pub fn in_variable(name: &str, value: &str) -> Option<Secret> {
    let value = value.trim();
    let secret = if is_secret_name(name) { Some(value) } else { password(value) }?;
    is_telling(secret).then(|| Secret::new(secret.to_owned()))
}

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split('_').any(|word| WORDS.contains(&word))
}

/// Whether a value is one that nobody writes by chance.
fn is_telling(value: &str) -> bool {
    let is_path = value.starts_with('/') || value.starts_with('~') || value.starts_with("./");
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.len() >= LEAST && !(is_path || is_word && value.len() < 16 || is_number)
}

/// The password in an address: `scheme://user:password@host`.
fn password(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let place = rest.split(['/', '?', '#']).next()?;
    let (user, _) = place.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_a_placeholder() {
        let secret = Secret::new("sk-canary".into());
        assert_eq!(format!("{secret:?}"), "[secret]");
    }

    #[test]
    fn variables_that_hold_secrets_are_recognised() {
        let found = |name, value| in_variable(name, value).map(|one| one.reveal().to_owned());
        let same = |value: &str| Some(value.to_owned());
        assert_eq!(found("GITHUB_TOKEN", "ghp_123456 \n"), same("ghp_123456"));
        assert_eq!(found("AWS_SECRET_ACCESS_KEY", "a/b+c123"), same("a/b+c123"));
        assert_eq!(found("db_password", "hunter2-hunter2"), same("hunter2-hunter2"));
        let address = "postgres://me:s3cret-word@db.example:5432/x";
        assert_eq!(found("DATABASE_URL", address), same("s3cret-word"));
        for (name, value) in [
            ("SSH_KEY", "/home/me/.ssh/id_ed25519"),
            ("PASSWORD", "postgres"),
            ("TOKEN", "short"),
            ("KEY", "1234567890"),
            ("KEYBOARD", "us-international-1"),
            ("HOME", "/home/me/1234"),
            ("PAGER", "https://example.org/a@b:c"),
        ] {
            assert_eq!(found(name, value), None, "{name}");
        }
    }
}
