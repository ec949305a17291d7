//! Tokens by which scripts use the server, each in a file of its own, named by its hash.
//!
//! ```text
//! tokens/abcdef….json     {"name":"ci","rights":["watch"],"made":1763470000,"ends":1766062000}
//! ```
//!
//! Only the hash of a token is kept. A token exists as long as its file does, so a revoked one is
//! gone for every server at once. Must not interpret the rights: they are words here.

use crate::{Folders, KeptUsers, StoreError, private};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Tokens at once.
const MOST: usize = 100;

/// Bytes of a file that are read.
const MOST_BYTES: u64 = 4 << 10;

/// The longest name.
const LONGEST_NAME: usize = 40;

/// A token, without itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptToken {
    /// The name that a person gave it; it stands in the record.
    pub name: String,
    /// Its rights, as words.
    pub rights: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    /// When it ends, if it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ends: Option<u64>,
}

/// The outcome of keeping a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKept {
    /// It is kept.
    Done,
    /// There is one of that name.
    NameTaken,
    /// The name is none.
    NotAName,
    /// The record calls somebody else by that name.
    Reserved,
    /// There are too many.
    TooMany,
}

/// The tokens of this person.
#[derive(Clone, Debug)]
pub struct KeptTokens {
    folder: PathBuf,
    /// Whose names a token cannot have: the record would not tell them apart.
    users: KeptUsers,
}

impl KeptTokens {
    /// Those in these folders. Touches no disk.
    pub fn new(folders: &Folders) -> Self {
        Self { folder: folders.data.join("tokens"), users: KeptUsers::new(folders) }
    }

    /// The folder of their files, made if need be.
    pub fn make_folder(&self) -> Result<&Path, StoreError> {
        private::make_folder(&self.folder)?;
        Ok(&self.folder)
    }

    /// The file of the token with this SHA-256, in hexadecimal. The token exists as long as it does.
    pub fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.json"))
    }

    /// Keeps a token by its hash, under a name that no other one has.
    pub fn add(&self, hash: &str, token: &KeptToken) -> Result<TokenKept, StoreError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        let name = &token.name;
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(plain) {
            return Ok(TokenKept::NotAName);
        }
        if is_reserved(name) {
            return Ok(TokenKept::Reserved);
        }
        self.make_folder()?;
        let _lock = self.locked()?;
        let others = self.list()?;
        if others.iter().any(|(_, other)| other.name == *name) {
            return Ok(TokenKept::NameTaken);
        }
        if self.users.names()?.contains(&name.to_ascii_lowercase()) {
            return Ok(TokenKept::Reserved);
        }
        if others.len() >= MOST {
            return Ok(TokenKept::TooMany);
        }
        let path = self.path(hash);
        let text = serde_json::to_vec(token).map_err(|source| StoreError::Unwritable { source })?;
        private::write(&path, &text).map_err(|source| StoreError::Keep { path, source })?;
        Ok(TokenKept::Done)
    }

    /// The token with this hash, if there is one.
    pub fn find(&self, hash: &str) -> Option<KeptToken> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { read(&self.path(hash)) } else { None }
    }

    /// All of them with their hashes, by name. Files that are none are left out.
    pub fn list(&self) -> Result<Vec<(String, KeptToken)>, StoreError> {
        if !private::check_folder(&self.folder)? {
            return Ok(Vec::new());
        }
        let failed = |source| StoreError::Read { path: self.folder.clone(), source };
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let hash = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
            if let (Some(hash), Some(token)) = (hash, read(&path)) {
                all.push((hash, token));
            }
        }
        all.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
        Ok(all)
    }

    /// Ends a token. Whether there was one of that name.
    pub fn revoke(&self, name: &str) -> Result<bool, StoreError> {
        let mut was_there = false;
        for (hash, _) in self.list()?.into_iter().filter(|(_, token)| token.name == name) {
            let path = self.path(&hash);
            match fs::remove_file(&path) {
                Ok(()) => was_there = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Keep { path, source }),
            }
        }
        Ok(was_there)
    }

    fn locked(&self) -> Result<File, StoreError> {
        let failed = |source| StoreError::Read { path: self.folder.clone(), source };
        let folder = File::open(&self.folder).map_err(failed)?;
        flock(&folder, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(folder)
    }
}

/// Whether the record calls clients without a token so: the page, whoever holds the standard streams
/// or a script's first token, and those of the socket, `socket-1` and so on. A person who reads the
/// record must not take one for the other, so capitals do not make another name.
pub(crate) fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_numbered = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    ["page", "stdio", "script", "socket", "terminal", "you", "operator"].contains(&name.as_str())
        || name.strip_prefix("socket-").is_some_and(is_numbered)
}

fn read(path: &Path) -> Option<KeptToken> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> KeptToken {
        KeptToken { name: name.into(), rights: vec!["watch".into()], made: 1, ends: None }
    }

    #[test]
    fn a_token_is_there_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(folder.path()));
        let (one, other) = ("0a".repeat(32), "0b".repeat(32));
        assert_eq!(tokens.list().unwrap(), []);
        assert_eq!(tokens.add(&one, &token("ci")).unwrap(), TokenKept::Done);
        assert_eq!(tokens.add(&other, &token("ci")).unwrap(), TokenKept::NameTaken);
        for wrong in ["", "a b", "../x", "é", &"x".repeat(41)] {
            assert_eq!(tokens.add(&other, &token(wrong)).unwrap(), TokenKept::NotAName, "{wrong}");
        }
        assert_eq!(tokens.find(&one), Some(token("ci")));
        assert_eq!(tokens.find(&other), None);
        assert_eq!(tokens.find("../../etc/passwd"), None);
        assert_eq!(tokens.list().unwrap(), [(one.clone(), token("ci"))]);
        assert!(tokens.revoke("ci").unwrap() && !tokens.revoke("ci").unwrap());
        assert_eq!(tokens.find(&one), None);
        assert!(!tokens.path(&one).exists());
    }

    #[test]
    fn no_token_is_called_like_a_client_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(folder.path()));
        let hash = "0a".repeat(32);
        for name in
            ["page", "stdio", "script", "socket", "socket-", "socket-1", "Socket-27", "PAGE", "you"]
        {
            assert_eq!(tokens.add(&hash, &token(name)).unwrap(), TokenKept::Reserved, "{name}");
        }
        assert_eq!(tokens.list().unwrap(), []);
        for (number, name) in ["pages", "socket-x", "my-script", "socket-1a"].iter().enumerate() {
            let kept = tokens.add(&format!("{number:064x}"), &token(name)).unwrap();
            assert_eq!(kept, TokenKept::Done, "{name}");
        }
    }

    #[test]
    fn their_number_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(folder.path()));
        for count in 0..MOST {
            let kept = tokens.add(&format!("{count:064x}"), &token(&format!("t{count}")));
            assert_eq!(kept.unwrap(), TokenKept::Done);
        }
        let more = tokens.add(&"f".repeat(64), &token("more")).unwrap();
        assert_eq!(more, TokenKept::TooMany);
    }
}
