//! Secrets that the person keeps here: API keys and the like, in an encrypted file, with the places
//! where code may use them.
//!
//! # Threat
//! A copy of the data folder, in a backup or on a lost disk, that gives keys away; a key in a shell's
//! history or in a config file that is shared.
//!
//! # Mechanism
//! The file is encrypted and authenticated with ChaCha20-Poly1305, under a random key and a random
//! nonce for each write. The key is in the system keyring where there is one, and else in a file in the
//! config folder. Both files are private to the user, and no sandbox shows them. Values go in and come
//! out as [`Secret`]s. Grants are kept with the values, so that no project can add any; so are those
//! of secrets whose values are elsewhere.
//!
//! # Order
//! A change reads, changes and writes the file under a lock, whole or not at all.
//!
//! # Limits
//! Whoever can read both folders can read the secrets, unless the key is in the keyring.

use crate::{Environment, Folders, KeyringError, StoreError, private};
use interpreter_core::{Broker, Secret, SecretGrant, egress::Host, hash::hex};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Bytes of the file that are read at most.
const LONGEST: u64 = 8 << 20;

/// The beginning of the file: the name and version of its format.
const FORMAT: &[u8] = b"interpreter secrets 1\n";

/// Bytes of the key.
const KEY: usize = 32;

/// The beginning of the key's file if the key is in the keyring.
const IN_KEYRING: &str = "keyring ";

pub(crate) const NO_RANDOMNESS: &str = "no randomness";

/// Bytes of one value at most.
pub const LONGEST_SECRET: usize = interpreter_core::secret::LONGEST;

/// Places where code may use one secret, at most.
pub const MOST_GRANTS: usize = 50;

/// Random bytes of a placeholder.
const RANDOM: usize = 16;

/// The secrets that are kept, by their names.
#[derive(Default)]
pub struct KeptSecrets(BTreeMap<String, KeptSecret>);

#[derive(Default)]
struct KeptSecret {
    /// Its value, unless that is elsewhere.
    value: Option<Secret>,
    /// Where code may use it.
    grants: Vec<SecretGrant>,
}

/// A secret in the file.
#[derive(Serialize, Deserialize)]
#[serde(from = "EntryForm")]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    grants: Vec<SecretGrant>,
}

/// Files of before there were grants hold values alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum EntryForm {
    Value(String),
    Granted {
        #[serde(default)]
        value: Option<String>,
        grants: Vec<SecretGrant>,
    },
}

impl From<EntryForm> for Entry {
    fn from(form: EntryForm) -> Self {
        match form {
            EntryForm::Value(value) => Self { value: Some(value), grants: Vec::new() },
            EntryForm::Granted { value, grants } => Self { value, grants },
        }
    }
}

impl fmt::Debug for KeptSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptSecrets({})", self.0.len())
    }
}

impl KeptSecrets {
    /// Reads them. Makes no file.
    pub fn read(folders: &Folders) -> Result<Self, StoreError> {
        let path = folders.secrets_file();
        let Some(sealed) = content(&path)? else { return Ok(Self::default()) };
        private::check_file(&path)?;
        let damaged = || StoreError::Secrets { path: path.clone(), key: folders.secrets_key() };
        let key = find_key(folders)?.ok_or_else(damaged)?;
        let plain = opened(&key, sealed).ok_or_else(damaged)?;
        let entries: BTreeMap<String, Entry> =
            serde_json::from_slice(&plain).map_err(|_| damaged())?;
        let kept = entries.into_iter().map(|(name, entry)| {
            let Entry { value, grants } = entry;
            (name, KeptSecret { value: value.map(Secret::new), grants })
        });
        Ok(Self(kept.collect()))
    }

    /// Reads them, has them changed, and writes them, unless nothing was changed.
    pub fn change<T>(
        folders: &Folders,
        change: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        folders.make_config_folder()?;
        private::make_folder(&folders.data)?;
        let key = make_key(folders)?;
        let _lock = lock(folders)?;
        let mut secrets = Self::read(folders)?;
        let Some(done) = change(&mut secrets) else { return Ok(None) };
        secrets.write(folders, &key)?;
        Ok(Some(done))
    }

    fn write(&self, folders: &Folders, key: &LessSafeKey) -> Result<(), StoreError> {
        let path = folders.secrets_file();
        let kept = |source| StoreError::Keep { path: path.clone(), source };
        // The one place that writes values down: into what is encrypted next.
        let entry = |kept: &KeptSecret| Entry {
            value: kept.value.as_ref().map(|value| value.reveal().to_owned()),
            grants: kept.grants.clone(),
        };
        let entries: BTreeMap<_, _> =
            self.0.iter().map(|(name, kept)| (name.as_str(), entry(kept))).collect();
        let plain =
            serde_json::to_vec(&entries).map_err(|source| StoreError::Unwritable { source })?;
        let sealed = sealed(key, plain).ok_or_else(|| kept(io::Error::other(NO_RANDOMNESS)))?;
        private::write(&path, &sealed).map_err(kept)
    }

    /// The value with this name.
    pub fn get(&self, name: &str) -> Option<Secret> {
        let value = self.0.get(name)?.value.as_ref()?;
        Some(Secret::new(value.reveal().to_owned()))
    }

    /// The names of all values, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let kept = self.0.iter().filter(|(_, kept)| kept.value.is_some());
        kept.map(|(name, _)| name.as_str())
    }

    /// The names of all secrets that code may use somewhere, also of those whose values are
    /// elsewhere.
    pub fn granted(&self) -> impl Iterator<Item = &str> {
        let granted = self.0.iter().filter(|(_, kept)| !kept.grants.is_empty());
        granted.map(|(name, _)| name.as_str())
    }

    /// Keeps a value; one with the same name is replaced, and its grants stay. Whether there was
    /// one.
    pub fn set(&mut self, name: &str, value: Secret) -> bool {
        let kept = self.0.entry(name.to_owned()).or_default();
        kept.value.replace(value).is_some()
    }

    /// Forgets a value, with its grants. Whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some_and(|kept| kept.value.is_some())
    }

    /// Where code may use the secret with this name.
    pub fn grants(&self, name: &str) -> &[SecretGrant] {
        self.0.get(name).map(|kept| kept.grants.as_slice()).unwrap_or_default()
    }

    /// Lets code use a secret at a place, wherever its value is; what was allowed there before is
    /// replaced. `None` if it has too many grants.
    pub fn allow(&mut self, grant: SecretGrant) -> Option<()> {
        let kept = self.0.entry(grant.name.clone()).or_default();
        kept.grants.retain(|one| !one.is_for(&grant.host, grant.port));
        if kept.grants.len() >= MOST_GRANTS {
            return None;
        }
        kept.grants.push(grant);
        kept.grants.sort();
        Some(())
    }

    /// Takes the grants of a secret back, all or those for one place. How many there were.
    pub fn disallow(&mut self, name: &str, place: Option<&(Host, u16)>) -> usize {
        let Some(kept) = self.0.get_mut(name) else { return 0 };
        let before = kept.grants.len();
        kept.grants.retain(|one| place.is_some_and(|(host, port)| !one.is_for(host, *port)));
        let taken = before - kept.grants.len();
        self.0.retain(|_, kept| kept.value.is_some() || !kept.grants.is_empty());
        taken
    }

    /// Puts those of these secrets that are allowed somewhere into requests there. Each call gives
    /// other placeholders, for one session.
    pub fn broker<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Broker, StoreError> {
        let mut broker = Broker::default();
        for name in names {
            let Some(value) = self.get(name) else { continue };
            let mut random = [0; RANDOM];
            SystemRandom::new().fill(&mut random).map_err(|_| StoreError::NoRandomness)?;
            broker.add(name, value, self.grants(name), &hex(&random));
        }
        Ok(broker)
    }
}

impl Folders {
    /// The file with the secrets.
    pub fn secrets_file(&self) -> PathBuf {
        self.server_data().join("secrets.sealed")
    }

    /// The key that it is encrypted with.
    pub fn secrets_key(&self) -> PathBuf {
        self.config.join("secrets.key")
    }
}

/// The token that `vault login` leaves in the person's home.
pub fn read_vault_token(environment: &Environment) -> Option<Secret> {
    let home = environment.raw("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    let text = content(&home.join(".vault-token")).ok()??;
    let text = String::from_utf8(text).ok()?;
    Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Secret::new(text.to_owned()))
}

fn at(folders: &Folders, source: io::Error) -> StoreError {
    StoreError::Read { path: folders.secrets_key(), source }
}

/// The content of a file, or `None` without one.
fn content(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let read = |source| StoreError::Read { path: path.into(), source };
    let file = match File::open(path) {
        // Without a folder there is no file either; whoever needs the folder says what is wrong.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        other => other.map_err(read)?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(read)?;
    Ok(Some(bytes))
}

/// The content of a sealed file, or `None` if it was changed, or sealed with another key.
fn opened(key: &LessSafeKey, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
    let (nonce, _) = sealed.strip_prefix(FORMAT)?.split_first_chunk::<NONCE_LEN>()?;
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let from = FORMAT.len() + NONCE_LEN;
    let plain = key.open_in_place(nonce, Aad::from(FORMAT), &mut sealed[from..]).ok()?;
    Some(plain.to_vec())
}

/// A sealed file that holds this.
fn sealed(key: &LessSafeKey, mut plain: Vec<u8>) -> Option<Vec<u8>> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    // Twelve random bytes for each of a person's few changes do not come twice.
    let unique = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(unique, Aad::from(FORMAT), &mut plain).ok()?;
    Some([FORMAT, &nonce, &plain].concat())
}

/// Where the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the system keyring.
    Keyring,
    /// In a file in the config folder.
    File,
}

/// The content of the key's file.
enum KeyText {
    /// The key itself, in hexadecimal.
    Digits(Secret),
    /// The entry of the keyring that has it.
    Entry(String),
}

impl KeptSecrets {
    /// Where the key is, or `None` as long as there is none.
    pub fn key_place(folders: &Folders) -> Result<Option<KeyPlace>, StoreError> {
        Ok(key_text(folders)?.map(|text| match text {
            KeyText::Digits(_) => KeyPlace::File,
            KeyText::Entry(_) => KeyPlace::Keyring,
        }))
    }

    /// Moves the key. The secrets stay as they are.
    pub fn move_key(folders: &Folders, to: KeyPlace) -> Result<(), StoreError> {
        folders.make_config_folder()?;
        private::make_folder(&folders.data)?;
        make_key(folders)?;
        let _lock = lock(folders)?;
        let path = folders.secrets_key();
        let keep = |source| StoreError::Keep { path: path.clone(), source };
        match (key_text(folders)?, to) {
            (Some(KeyText::Digits(digits)), KeyPlace::Keyring) => {
                let entry = in_keyring(folders, &digits)?;
                private::write(&path, entry_line(&entry).as_bytes()).map_err(keep)
            }
            (Some(KeyText::Entry(entry)), KeyPlace::File) => {
                let digits = from_keyring(folders, &entry)?;
                private::write(&path, key_line(&digits).as_bytes()).map_err(keep)?;
                // It is of no more use there; it may stay if the keyring will not let go of it.
                _ = folders.keyring.as_ref().map(|keyring| keyring.forget(&entry));
                Ok(())
            }
            (Some(_), _) => Ok(()),
            (None, _) => Err(StoreError::Secrets { path: folders.secrets_file(), key: path }),
        }
    }
}

/// Held by the only one who may change the secrets or their key.
fn lock(folders: &Folders) -> Result<File, StoreError> {
    let path = folders.secrets_key();
    loop {
        let lock = File::open(&path).map_err(|source| at(folders, source))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| at(folders, error.into()))?;
        // The key may have been moved meanwhile, and with it the file.
        if private::is_at(&lock, &path).map_err(|source| at(folders, source))? {
            return Ok(lock);
        }
    }
}

/// The key, or `None` if it is missing or damaged.
pub(crate) fn find_key(folders: &Folders) -> Result<Option<LessSafeKey>, StoreError> {
    let digits = match key_text(folders)? {
        None => return Ok(None),
        Some(KeyText::Digits(digits)) => digits,
        Some(KeyText::Entry(entry)) => from_keyring(folders, &entry)?,
    };
    let bytes = bytes(digits.reveal());
    let key = bytes.and_then(|bytes| UnboundKey::new(&CHACHA20_POLY1305, &bytes).ok());
    Ok(key.map(LessSafeKey::new))
}

/// The content of the key's file, or `None` if it is missing or damaged.
fn key_text(folders: &Folders) -> Result<Option<KeyText>, StoreError> {
    let path = folders.secrets_key();
    let Some(text) = content(&path)? else { return Ok(None) };
    private::check_file(&path)?;
    let text = String::from_utf8(text).unwrap_or_default();
    Ok(match text.trim().strip_prefix(IN_KEYRING) {
        Some(entry) => bytes(entry).map(|_| KeyText::Entry(entry.to_owned())),
        None => bytes(text.trim()).map(|_| KeyText::Digits(Secret::new(text.trim().to_owned()))),
    })
}

fn entry_line(entry: &str) -> String {
    format!("{IN_KEYRING}{entry}\n")
}

fn key_line(digits: &Secret) -> String {
    format!("{}\n", digits.reveal())
}

/// The bytes of a key, or of the name of an entry, in hexadecimal.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks_exact(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|_| pair.is_ascii())?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<Vec<u8>>>().filter(|_| digits.len() == 2 * KEY)
}

fn from_keyring(folders: &Folders, entry: &str) -> Result<Secret, StoreError> {
    let keyring = folders.keyring.as_ref().ok_or(KeyringError::Absent);
    let fetched = keyring.and_then(|keyring| keyring.fetch(entry));
    fetched.map_err(|reason| StoreError::Keyring { reason })
}

/// Puts a key into the keyring, and gives the name of its entry.
fn in_keyring(folders: &Folders, digits: &Secret) -> Result<String, StoreError> {
    let keyring = folders.keyring.as_ref().ok_or(KeyringError::Absent);
    let kept = keyring.and_then(|keyring| {
        let entry = random().ok_or_else(|| KeyringError::Failed(NO_RANDOMNESS.into()))?;
        keyring.keep(&entry, digits).map(|()| entry)
    });
    kept.map_err(|reason| StoreError::Keyring { reason })
}

/// Random bytes in hexadecimal, as many as a key has.
fn random() -> Option<String> {
    let mut bytes = [0; KEY];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}

/// The key, made if need be: in the keyring, if that takes it. A damaged one is not replaced as long
/// as something is sealed with it.
pub(crate) fn make_key(folders: &Folders) -> Result<LessSafeKey, StoreError> {
    let (at, path) = (folders.secrets_key(), folders.secrets_file());
    if let Some(key) = find_key(folders)? {
        return Ok(key);
    }
    if fs::symlink_metadata(&path).is_ok() {
        return Err(StoreError::Secrets { path, key: at });
    }
    let made = |source| StoreError::Make { path: at.clone(), source };
    let digits = random().ok_or_else(|| made(io::Error::other(NO_RANDOMNESS)))?;
    let digits = Secret::new(digits);
    let entry = in_keyring(folders, &digits).ok();
    let text = entry.as_deref().map_or_else(|| key_line(&digits), entry_line);
    let written = private::write_new(&at, text.as_bytes(), private::Flush::Wait).map_err(made);
    // Somebody else may have been first.
    if let (Some(entry), Some(keyring)) = (&entry, &folders.keyring)
        && !matches!(key_text(folders), Ok(Some(KeyText::Entry(kept))) if kept == *entry)
    {
        _ = keyring.forget(entry);
    }
    written?;
    find_key(folders)?.ok_or(StoreError::Secrets { path, key: at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::broker::SecretCarrier;
    use std::os::unix::fs::PermissionsExt;

    fn granted(name: &str, place: &str) -> SecretGrant {
        SecretGrant::new(name, place, &[], SecretCarrier::default()).unwrap()
    }

    fn keep(folders: &Folders, name: &str, value: &str) -> bool {
        let set = |all: &mut KeptSecrets| Some(all.set(name, Secret::new(value.into())));
        KeptSecrets::change(folders, set).unwrap().unwrap()
    }

    #[test]
    fn secrets_come_back_and_the_files_are_private_and_tell_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        assert_eq!(KeptSecrets::read(&folders).unwrap().names().count(), 0);
        assert!(!folders.secrets_key().exists());
        assert!(!keep(&folders, "ONE", "canary-1") && !keep(&folders, "TWO", "canary-2"));
        assert!(keep(&folders, "ONE", "canary-3"));
        let kept = KeptSecrets::read(&folders).unwrap();
        assert_eq!(kept.names().collect::<Vec<_>>(), ["ONE", "TWO"]);
        assert_eq!(kept.get("ONE").unwrap().reveal(), "canary-3");
        assert_eq!(format!("{kept:?}"), "KeptSecrets(2)");
        for path in [folders.secrets_file(), folders.secrets_key()] {
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let bytes = fs_err::read(&path).unwrap();
            for word in [&b"canary"[..], b"ONE"] {
                assert!(!bytes.windows(word.len()).any(|window| window == word));
            }
        }
        let gone = KeptSecrets::change(&folders, |all| all.remove("ONE").then_some(()));
        assert_eq!(gone.unwrap(), Some(()));
        let gone = KeptSecrets::change(&folders, |all| all.remove("ONE").then_some(()));
        assert_eq!(gone.unwrap(), None);
    }

    #[test]
    fn a_wrong_key_and_a_changed_file_are_errors_and_nothing_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        keep(&folders, "ONE", "canary-1");
        let (sealed, key) =
            (fs_err::read(folders.secrets_file()), fs_err::read(folders.secrets_key()));
        let (mut sealed, key) = (sealed.unwrap(), key.unwrap());
        fs::remove_file(folders.secrets_key()).unwrap();
        assert!(matches!(KeptSecrets::read(&folders), Err(StoreError::Secrets { .. })));
        let set = |all: &mut KeptSecrets| Some(all.set("TWO", Secret::new("x".into())));
        assert!(matches!(KeptSecrets::change(&folders, set), Err(StoreError::Secrets { .. })));
        private::write(&folders.secrets_key(), &key).unwrap();
        assert!(KeptSecrets::read(&folders).is_ok());
        *sealed.last_mut().unwrap() ^= 1;
        private::write(&folders.secrets_file(), &sealed).unwrap();
        assert!(matches!(KeptSecrets::read(&folders), Err(StoreError::Secrets { .. })));
    }

    #[test]
    fn grants_are_sealed_with_their_secret_and_go_with_it() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        keep(&folders, "ONE", "canary-value-1");
        let grant = |place: &str| granted("ONE", place);
        let allow = |grant: SecretGrant| KeptSecrets::change(&folders, |all| all.allow(grant));
        for place in ["api.example.org", "h.example.org:8443", "api.example.org"] {
            assert_eq!(allow(grant(place)).unwrap(), Some(()));
        }
        let sealed = fs_err::read(folders.secrets_file()).unwrap();
        assert!(!sealed.windows(7).any(|window| window == b"example"));
        // A new value keeps the grants.
        keep(&folders, "ONE", "canary-value-2");
        let kept = KeptSecrets::read(&folders).unwrap();
        assert_eq!(kept.grants("ONE"), [grant("api.example.org"), grant("h.example.org:8443")]);
        let broker = || kept.broker(kept.granted()).unwrap();
        let (one, two) = (broker(), broker());
        let held = &one.variables()["ONE"];
        assert!(held.starts_with("placeholder-ONE-") && held.len() == 48, "{held}");
        assert_ne!(held, &two.variables()["ONE"], "each session has its own");
        let place = ("api.example.org".parse().unwrap(), 443);
        let disallow = |place: Option<&(Host, u16)>| {
            KeptSecrets::change(&folders, |all| Some(all.disallow("ONE", place))).unwrap()
        };
        assert_eq!((disallow(Some(&place)), disallow(Some(&place))), (Some(1), Some(0)));
        assert_eq!(disallow(None), Some(1));
        assert_eq!(KeptSecrets::read(&folders).unwrap().granted().count(), 0);
        allow(grant("api.example.org")).unwrap();
        KeptSecrets::change(&folders, |all| Some(all.remove("ONE"))).unwrap();
        keep(&folders, "ONE", "canary-value-3");
        assert_eq!(KeptSecrets::read(&folders).unwrap().grants("ONE"), []);
    }

    #[test]
    fn a_grant_needs_no_value_here_and_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        let allow = || KeptSecrets::change(&folders, |all| all.allow(granted("TWO", "h.org")));
        allow().unwrap();
        let kept = KeptSecrets::read(&folders).unwrap();
        assert_eq!((kept.names().count(), kept.granted().collect::<Vec<_>>()), (0, vec!["TWO"]));
        assert!(kept.get("TWO").is_none() && kept.broker(["TWO"]).unwrap().is_empty());
        // A value that comes later takes its places over.
        assert!(!keep(&folders, "TWO", "canary-value-1"));
        let kept = KeptSecrets::read(&folders).unwrap();
        assert!(kept.broker(["TWO"]).unwrap().variables().contains_key("TWO"));
        assert!(kept.broker(["ONE"]).unwrap().is_empty());
        KeptSecrets::change(&folders, |all| Some(all.remove("TWO"))).unwrap();
        allow().unwrap();
        KeptSecrets::change(&folders, |all| Some(all.disallow("TWO", None))).unwrap();
        assert!(KeptSecrets::read(&folders).unwrap().0.is_empty());
    }

    #[test]
    fn a_file_of_before_there_were_grants_is_read() {
        let entry: Entry = serde_json::from_str(r#""canary-1""#).unwrap();
        assert_eq!((entry.value.as_deref(), entry.grants.len()), (Some("canary-1"), 0));
    }

    #[test]
    fn of_several_changes_at_once_none_is_lost() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let folders = &folders;
                scope.spawn(move || keep(folders, &format!("N{number}"), "canary"));
            }
        });
        assert_eq!(KeptSecrets::read(&folders).unwrap().names().count(), 8);
    }
}
