//! The people of a team, each in a file of their own.
//!
//! ```text
//! users/anna.73.json    {"id":"0a…","name":"anna","role":"author","made":1763470000,"password":{…}}
//! ```
//!
//! The first number of a person is drawn by lot, so no path ever comes back, whoever gets the name.
//! Every change of a person is a new file with a higher number, and the old one goes. So a login
//! lives as long as the file that it was made by: whoever changes a role or a password, or removes
//! somebody, ends what they hold open, for every server at once.
//!
//! A person is known by their id. Another one who gets the same name later is somebody else. Whoever
//! logs in through a provider is found by its address and their subject there, and by nothing else.
//!
//! Must not interpret a role: it is a word here.

use crate::{Folders, PasswordHash, StoreError, folders::is_person, private, tokens::is_reserved};
use interpreter_core::hash::hex;
use ring::rand::{SecureRandom, SystemRandom};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// People at once.
const MOST: usize = 500;

/// Bytes of a file that are read.
const MOST_BYTES: u64 = 4 << 10;

/// The longest name.
const LONGEST_NAME: usize = 40;

/// The longest subject.
const LONGEST_SUBJECT: usize = 255;

/// Bytes of an id.
const ID: usize = 16;

/// A person of the team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptUser {
    /// By which they are known, whatever they are called.
    pub id: String,
    /// The name that they log in by; it stands in the record.
    pub name: String,
    /// Their role, as a word.
    pub role: String,
    /// When they were added, in seconds since 1970.
    pub made: u64,
    /// Limits of their own, as settings and their words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, String>,
    /// The hash of their password.
    pub password: PasswordHash,
    /// Who they are at a login provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<ProviderSubject>,
}

/// Somebody at a login provider. Both texts are compared as they are, byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSubject {
    /// The address of the provider.
    pub issuer: String,
    /// The text by which the provider knows them for ever.
    pub subject: String,
}

impl ProviderSubject {
    /// Nothing if the provider can have nobody of that name: the standard has at most 255
    /// characters of ASCII, and we take none that cannot be seen.
    pub fn new(issuer: &str, subject: &str) -> Option<Self> {
        let is_seen = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        let fits = (1..=LONGEST_SUBJECT).contains(&subject.len())
            && subject.bytes().all(is_seen)
            && subject.trim() == subject;
        fits.then(|| Self { issuer: issuer.to_owned(), subject: subject.to_owned() })
    }
}

/// How a new person logs in.
#[derive(Debug)]
pub enum UserLogin {
    /// By a password.
    Password(PasswordHash),
    /// Through a login provider, and by no password.
    Provider(ProviderSubject),
}

impl KeptUser {
    /// Whether this is a person of that name.
    fn is_called(&self, name: &str) -> bool {
        self.name == name && is_person(&self.id)
    }
}

/// The outcome of keeping a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserKept {
    /// It is done.
    Done,
    /// There is one of that name, or a token is called so.
    NameTaken,
    /// The name is none.
    NotAName,
    /// The record calls somebody else by that name.
    Reserved,
    /// There are too many.
    TooMany,
    /// There is nobody of that name.
    Nobody,
    /// Somebody else is that subject.
    SubjectTaken,
}

/// The people of a server.
#[derive(Clone, Debug)]
pub struct KeptUsers {
    folder: PathBuf,
}

/// The file of a person, with its number.
struct Found {
    number: u64,
    path: PathBuf,
    user: KeptUser,
}

impl KeptUsers {
    /// Those in these folders. Touches no disk.
    pub fn new(folders: &Folders) -> Self {
        Self { folder: folders.server_data().join("users") }
    }

    /// The folder of their files, made if need be.
    pub fn make_folder(&self) -> Result<&Path, StoreError> {
        private::make_folder(&self.folder)?;
        Ok(&self.folder)
    }

    /// Adds a person. The name must be nobody's, nor that of one of these tokens.
    pub fn add(
        &self,
        name: &str,
        role: &str,
        made: u64,
        login: UserLogin,
        tokens: &[String],
    ) -> Result<UserKept, StoreError> {
        if !is_name(name) {
            return Ok(UserKept::NotAName);
        }
        if is_reserved(name) {
            return Ok(UserKept::Reserved);
        }
        self.make_folder()?;
        let _lock = self.locked()?;
        let all = self.all()?;
        if all.contains_key(name) || tokens.iter().any(|token| token.eq_ignore_ascii_case(name)) {
            return Ok(UserKept::NameTaken);
        }
        if all.len() >= MOST {
            return Ok(UserKept::TooMany);
        }
        let (password, subject) = match login {
            UserLogin::Password(hash) => (hash, None),
            UserLogin::Provider(subject) => (PasswordHash::of_nobody(), Some(subject)),
        };
        if subject.as_ref().is_some_and(|subject| is_taken(&all, subject, name)) {
            return Ok(UserKept::SubjectTaken);
        }
        let mut id = [0; ID];
        SystemRandom::new().fill(&mut id).map_err(|_| StoreError::NoRandomness)?;
        let first = first_number(id);
        let (id, name, role) = (hex(&id), name.to_owned(), role.to_owned());
        let limits = BTreeMap::new();
        self.write(first, &KeptUser { id, name, role, made, limits, password, subject })?;
        Ok(UserKept::Done)
    }

    /// Gives a person another role.
    pub fn set_role(&self, name: &str, role: &str) -> Result<UserKept, StoreError> {
        self.change(name, |user, _| {
            role.clone_into(&mut user.role);
            UserKept::Done
        })
    }

    /// Gives a person another password.
    pub fn set_password(&self, name: &str, password: PasswordHash) -> Result<UserKept, StoreError> {
        self.change(name, |user, _| {
            user.password = password;
            UserKept::Done
        })
    }

    /// Lets a person log in through a provider, as this subject.
    pub fn set_subject(
        &self,
        name: &str,
        subject: ProviderSubject,
    ) -> Result<UserKept, StoreError> {
        self.change(name, |user, all| {
            if is_taken(all, &subject, name) {
                return UserKept::SubjectTaken;
            }
            user.subject = Some(subject);
            UserKept::Done
        })
    }

    /// Gives a person limits of their own, by setting. One without words is taken back.
    pub fn set_limits(
        &self,
        name: &str,
        limits: &[(String, Option<String>)],
    ) -> Result<UserKept, StoreError> {
        self.change(name, |user, _| {
            for (setting, words) in limits {
                match words {
                    Some(words) => _ = user.limits.insert(setting.clone(), words.clone()),
                    None => _ = user.limits.remove(setting),
                }
            }
            UserKept::Done
        })
    }

    /// Removes a person. Whether there was one of that name. Their sessions stay on the disk.
    pub fn remove(&self, name: &str) -> Result<bool, StoreError> {
        if !private::check_folder(&self.folder)? {
            return Ok(false);
        }
        let _lock = self.locked()?;
        Ok(self.remove_below(name, u64::MAX)? > 0)
    }

    /// The person of this name, and the file that a login of theirs lives by.
    pub fn find(&self, name: &str) -> Option<(KeptUser, PathBuf)> {
        if !is_name(name) {
            return None;
        }
        let mut all = self.all().ok()?;
        all.remove(name).map(|found| (found.user, found.path))
    }

    /// The person who is this subject, and the file that a login of theirs lives by. Nobody if more
    /// than one would be.
    pub fn find_subject(&self, subject: &ProviderSubject) -> Option<(KeptUser, PathBuf)> {
        let all = self.all().ok()?;
        let mut found = all.into_values().filter(|one| one.user.subject.as_ref() == Some(subject));
        let first = found.next()?;
        found.next().is_none().then_some((first.user, first.path))
    }

    /// The person of this id.
    pub fn by_id(&self, id: &str) -> Result<Option<KeptUser>, StoreError> {
        Ok(self.all()?.into_values().map(|found| found.user).find(|user| user.id == id))
    }

    /// All of them, by name.
    pub fn list(&self) -> Result<Vec<KeptUser>, StoreError> {
        Ok(self.all()?.into_values().map(|found| found.user).collect())
    }

    /// The names of all of them.
    pub fn names(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.all()?.into_keys().collect())
    }

    fn change(
        &self,
        name: &str,
        edit: impl FnOnce(&mut KeptUser, &BTreeMap<String, Found>) -> UserKept,
    ) -> Result<UserKept, StoreError> {
        if !private::check_folder(&self.folder)? {
            return Ok(UserKept::Nobody);
        }
        let _lock = self.locked()?;
        let mut all = self.all()?;
        let Some(Found { number, mut user, .. }) = all.remove(name) else {
            return Ok(UserKept::Nobody);
        };
        let edited = edit(&mut user, &all);
        if edited != UserKept::Done {
            return Ok(edited);
        }
        // The higher number counts from here on, even if we are killed before the old one goes.
        let number = number.saturating_add(1);
        self.write(number, &user)?;
        self.remove_below(name, number)?;
        Ok(UserKept::Done)
    }

    fn write(&self, number: u64, user: &KeptUser) -> Result<(), StoreError> {
        let path = self.folder.join(format!("{}.{number}.json", user.name));
        let text = serde_json::to_vec(user).map_err(|source| StoreError::Unwritable { source })?;
        private::write(&path, &text).map_err(|source| StoreError::Keep { path, source })
    }

    /// Removes the files of a person with lower numbers. Returns how many there were.
    fn remove_below(&self, name: &str, below: u64) -> Result<usize, StoreError> {
        let mut removed = 0;
        for (found, number, path) in self.files()? {
            if found == name && number < below {
                match fs::remove_file(&path) {
                    Ok(()) => removed += 1,
                    // A reader has finished what an earlier change left.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(source) => return Err(StoreError::Keep { path, source }),
                }
            }
        }
        Ok(removed)
    }

    /// The newest file of each person. Files that are none are left out. An older one is that of a
    /// change that was cut short: it goes, and with it whatever lives by it.
    fn all(&self) -> Result<BTreeMap<String, Found>, StoreError> {
        let mut all = BTreeMap::<String, Found>::new();
        let mut files = self.files()?;
        files.sort_unstable_by_key(|(_, number, _)| Reverse(*number));
        for (name, number, path) in files {
            match all.entry(name) {
                // If it cannot be removed now, the next reader tries.
                Entry::Occupied(_) => _ = fs::remove_file(&path).is_ok(),
                Entry::Vacant(place) => {
                    if let Some(user) = read(&path).filter(|user| user.is_called(place.key())) {
                        place.insert(Found { number, path, user });
                    }
                }
            }
        }
        Ok(all)
    }

    /// Every file, with the name and the number that it is called by.
    fn files(&self) -> Result<Vec<(String, u64, PathBuf)>, StoreError> {
        if !private::check_folder(&self.folder)? {
            return Ok(Vec::new());
        }
        let failed = |source| StoreError::Read { path: self.folder.clone(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let parts = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
                let (name, number) = name.strip_suffix(".json")?.rsplit_once('.')?;
                Some((name.to_owned(), number.parse().ok()?))
            });
            if let Some((name, number)) = parts {
                files.push((name, number, path));
            }
        }
        Ok(files)
    }

    fn locked(&self) -> Result<File, StoreError> {
        let failed = |source: io::Error| StoreError::Read { path: self.folder.clone(), source };
        let folder = File::open(&self.folder).map_err(failed)?;
        flock(&folder, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(folder)
    }
}

/// Whether a text is a name: small letters, digits and a few signs, of which none comes first. Names
/// that look alike are the same one.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= LONGEST_NAME
        && name.bytes().next().is_some_and(is_plain)
        && name.bytes().all(|byte| is_plain(byte) || b"-_.@".contains(&byte))
}

/// Where the numbers of a person begin, with room for every change.
const fn first_number(id: [u8; ID]) -> u64 {
    let [first @ .., _, _, _, _, _, _, _, _] = id;
    u64::from_be_bytes(first) >> 16
}

/// Whether somebody of another name is this subject.
fn is_taken(all: &BTreeMap<String, Found>, subject: &ProviderSubject, name: &str) -> bool {
    all.values().any(|one| one.user.name != name && one.user.subject.as_ref() == Some(subject))
}

fn read(path: &Path) -> Option<KeptUser> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users() -> (tempfile::TempDir, KeptUsers) {
        let folder = tempfile::tempdir().unwrap();
        let users = KeptUsers::new(&Folders::under(folder.path()));
        (folder, users)
    }

    fn add(users: &KeptUsers, name: &str) -> UserKept {
        let login = UserLogin::Password(PasswordHash::of_nobody());
        users.add(name, "author", 1, login, &["ci".into()]).unwrap()
    }

    fn subject(issuer: &str, subject: &str) -> ProviderSubject {
        ProviderSubject::new(issuer, subject).unwrap()
    }

    #[test]
    fn a_subject_is_one_person_at_one_provider_byte_by_byte() {
        let (_folder, users) = users();
        let login = |text| UserLogin::Provider(subject("https://id.example", text));
        assert_eq!(users.add("anna", "author", 1, login("7"), &[]).unwrap(), UserKept::Done);
        let (anna, at) = users.find_subject(&subject("https://id.example", "7")).unwrap();
        assert_eq!(anna.name, "anna");
        assert!(!anna.password.fits(&interpreter_core::Secret::new(String::new())));
        for (issuer, text) in [
            ("https://id.example", "8"),
            ("https://id.example", "07"),
            ("https://id.example", "anna"),
            ("https://id.example/", "7"),
            ("https://ID.example", "7"),
            ("https://other.example", "7"),
        ] {
            assert_eq!(users.find_subject(&subject(issuer, text)), None, "{issuer} {text}");
        }
        // Nobody else gets it, and their own is changed at once.
        let again = users.add("ben", "author", 1, login("7"), &[]).unwrap();
        assert_eq!((again, users.find("ben")), (UserKept::SubjectTaken, None));
        add(&users, "ben");
        let taken = users.set_subject("ben", subject("https://id.example", "7")).unwrap();
        assert_eq!(taken, UserKept::SubjectTaken);
        let changed = users.set_subject("anna", subject("https://id.example", "9")).unwrap();
        assert_eq!(changed, UserKept::Done);
        assert!(!at.exists() && users.find_subject(&subject("https://id.example", "7")).is_none());
        let nobody = users.set_subject("eve", subject("https://id.example", "1")).unwrap();
        assert_eq!(nobody, UserKept::Nobody);
        // Two files that somebody made by hand let in neither.
        users
            .write(u64::MAX - 1, &KeptUser { name: "eve".into(), ..users.find("anna").unwrap().0 })
            .unwrap();
        assert_eq!(users.find_subject(&subject("https://id.example", "9")), None);
    }

    #[test]
    fn a_subject_has_nothing_that_cannot_be_seen() {
        for wrong in ["", " ", " a", "a ", "a\nb", "a\0", "ä", "a\u{202e}b", &"x".repeat(256)] {
            assert_eq!(ProviderSubject::new("https://id.example", wrong), None, "{wrong:?}");
        }
        for fine in ["7", "auth0|5f7c", "a b", "<b>'\"&", &"x".repeat(255)] {
            assert!(ProviderSubject::new("https://id.example", fine).is_some(), "{fine}");
        }
    }

    #[test]
    fn every_change_ends_what_lives_by_the_file_before() {
        let (_folder, users) = users();
        assert_eq!(users.find("anna"), None);
        assert_eq!(add(&users, "anna"), UserKept::Done);
        assert_eq!(add(&users, "anna"), UserKept::NameTaken);
        let (first, at) = users.find("anna").unwrap();
        assert_eq!(users.set_role("anna", "viewer").unwrap(), UserKept::Done);
        assert!(!at.exists());
        let (second, at) = users.find("anna").unwrap();
        assert_eq!((second.role.as_str(), &second.id), ("viewer", &first.id));
        assert_eq!(users.set_password("anna", PasswordHash::of_nobody()).unwrap(), UserKept::Done);
        assert!(!at.exists());
        let (_, at) = users.find("anna").unwrap();
        assert!(users.remove("anna").unwrap() && !users.remove("anna").unwrap());
        assert!(!at.exists() && users.find("anna").is_none());
        assert_eq!(users.set_role("anna", "admin").unwrap(), UserKept::Nobody);
        // Whoever gets the name is somebody else.
        assert_eq!(add(&users, "anna"), UserKept::Done);
        assert_ne!(users.find("anna").unwrap().0.id, first.id);
    }

    #[test]
    fn of_a_change_that_was_cut_short_the_newer_file_counts() {
        let (_folder, users) = users();
        add(&users, "anna");
        let (user, old) = users.find("anna").unwrap();
        users.write(u64::MAX - 1, &KeptUser { role: "viewer".into(), ..user }).unwrap();
        assert!(old.exists());
        assert_eq!(users.find("anna").unwrap().0.role, "viewer");
        assert!(!old.exists(), "a login as author would live on");
        users.set_role("anna", "author").unwrap();
        assert_eq!(users.find("anna").unwrap().0.role, "author");
        assert_eq!(users.files().unwrap().len(), 1);
    }

    #[test]
    fn whoever_gets_the_name_of_another_gets_another_file() {
        let (_folder, users) = users();
        let mut seen = BTreeSet::new();
        for _ in 0..20 {
            add(&users, "anna");
            assert!(seen.insert(users.find("anna").unwrap().1), "a login would live on");
            users.remove("anna").unwrap();
        }
    }

    #[test]
    fn hostile_names_are_none() {
        let (_folder, users) = users();
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/b",
            "a b",
            "Anna",
            "änna",
            "а",
            "a\n",
            "a\0",
            "-rf",
            "a\u{202e}b",
            &"x".repeat(41),
        ] {
            assert_eq!(add(&users, wrong), UserKept::NotAName, "{wrong:?}");
            assert_eq!(users.find(wrong), None);
            assert!(!users.remove(wrong).unwrap());
        }
        for taken in ["page", "script", "socket-1", "you", "operator"] {
            assert_eq!(add(&users, taken), UserKept::Reserved, "{taken}");
        }
        assert_eq!(add(&users, "ci"), UserKept::NameTaken);
        for fine in ["a", "anna.b", "anna@example.org", "7", "a..b", "x.1"] {
            assert_eq!(add(&users, fine), UserKept::Done, "{fine}");
            assert_eq!(users.find(fine).unwrap().0.name, fine);
        }
        assert_eq!(users.names().unwrap().len(), 6);
    }

    #[test]
    fn no_token_has_the_name_of_a_person() {
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        add(&KeptUsers::new(&folders), "anna");
        let token = |name: &str| crate::KeptToken {
            name: name.into(),
            rights: Vec::new(),
            made: 1,
            ends: None,
        };
        let tokens = crate::KeptTokens::new(&folders);
        for name in ["anna", "Anna"] {
            let kept = tokens.add(&"0a".repeat(32), &token(name)).unwrap();
            assert_eq!(kept, crate::TokenKept::Reserved, "{name}");
        }
        let kept = tokens.add(&"0a".repeat(32), &token("anna-ci")).unwrap();
        assert_eq!(kept, crate::TokenKept::Done);
    }
}
