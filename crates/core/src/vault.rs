//! Where a secret is in HashiCorp Vault.

use crate::dotenv;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Characters of a reference at most.
const LONGEST: usize = 512;

/// A secret by the name of its variable, and its place in a key-value engine of version 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VaultSecret {
    /// The variable that it stands for.
    pub name: String,
    /// Where the engine is mounted.
    pub mount: String,
    /// The path below that, with `/` between its parts.
    pub path: String,
    /// The field of the secret there.
    pub field: String,
}

/// A text is no reference to a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected NAME=MOUNT/PATH#FIELD, such as `GITHUB_TOKEN=secret/github#token`")]
pub struct VaultSecretError;

impl FromStr for VaultSecret {
    type Err = VaultSecretError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let split = || {
            let (name, place) = text.split_once('=')?;
            let (place, field) = place.split_once('#')?;
            let (mount, path) = place.split_once('/')?;
            // No part that a server or a proxy could take for another place.
            let is_plain = |part: &str| {
                let is_fit =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
                !part.is_empty() && part != "." && part != ".." && part.chars().all(is_fit)
            };
            let is_fit = text.len() <= LONGEST
                && dotenv::is_name(name)
                && is_plain(mount)
                && path.split('/').all(is_plain)
                && is_plain(field);
            is_fit.then(|| Self {
                name: name.to_owned(),
                mount: mount.to_owned(),
                path: path.to_owned(),
                field: field.to_owned(),
            })
        };
        split().ok_or(VaultSecretError)
    }
}

impl fmt::Display for VaultSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, mount, path, field } = self;
        write!(f, "{name}={mount}/{path}#{field}")
    }
}

impl TryFrom<String> for VaultSecret {
    type Error = VaultSecretError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<VaultSecret> for String {
    fn from(secret: VaultSecret) -> Self {
        secret.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reference_is_name_mount_path_and_field() {
        let read: VaultSecret = "TOKEN=kv/team a/git-hub#api.token".parse().unwrap();
        assert_eq!((&*read.name, &*read.mount), ("TOKEN", "kv"));
        assert_eq!((&*read.path, &*read.field), ("team a/git-hub", "api.token"));
    }

    #[test]
    fn no_reference_leads_elsewhere() {
        for text in [
            "",
            "TOKEN",
            "TOKEN=secret#token",
            "TOKEN=secret/#token",
            "TOKEN=secret/a",
            "TOKEN=secret/a#",
            "TO-KEN=secret/a#b",
            "TOKEN=secret/../sys/seal#b",
            "TOKEN=secret/a/./b#c",
            "TOKEN=secret//a#b",
            "TOKEN=secret/a?version=1#b",
            "TOKEN=secret/a%2f..#b",
            "TOKEN=secret/a\n#b",
        ] {
            assert_eq!(text.parse::<VaultSecret>(), Err(VaultSecretError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_the_same(text in "[A-Z]=[a-z./ ]{1,12}#[a-z.]{1,4}") {
            if let Ok(read) = text.parse::<VaultSecret>() {
                prop_assert_eq!(read.to_string(), text);
            }
        }
    }
}
