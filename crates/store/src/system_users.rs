//! The system users of a team, each in a file that is called by its number.
//!
//! ```text
//! system-users/1879048193     the id of the person whose it is
//! ```
//!
//! # Threat
//! Somebody who gets the user of another, because that one was removed, because a file was lost half
//! written, or because two servers gave one away at the same moment.
//!
//! # Mechanism
//! A user is given under a lock, and its file stays when its person is gone. `core::system_users`
//! decides which one. A file that names nobody keeps its number from everybody.
//!
//! # Order
//! The file is on the disk before the first code runs as that user.
//!
//! # Limits
//! Whoever removes the files by hand gives the users away again. Only accounts in the files of this
//! machine are known.

use crate::{Folders, StoreError, folders::is_person, private};
use interpreter_core::system_users::{NoUser, TakenUsers, UserRange, user_for};
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::PathBuf,
};

/// Bytes of a list of accounts that are read.
const MOST_BYTES: u64 = 16 << 20;

/// Files of given users that are looked at: more than a range has people.
const MOST_FILES: usize = 1 << 20;

/// The system users that were given to people of a team.
#[derive(Clone, Debug)]
pub struct SystemUsers {
    folder: PathBuf,
    range: UserRange,
}

impl SystemUsers {
    /// Those of a server, if it can give any: only root can run code as somebody else. A range of
    /// which a number is somebody else's is refused.
    pub fn of_server(folders: &Folders, range: UserRange) -> Result<Option<Self>, StoreError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        match taken()?.first_in(range) {
            Some(user) => Err(StoreError::UsersTaken { range, user }),
            None => Ok(Some(Self::new(folders, range))),
        }
    }

    fn new(folders: &Folders, range: UserRange) -> Self {
        Self { folder: folders.server_data().join("system-users"), range }
    }

    /// The user of a person, which is theirs for good.
    pub fn of_person(&self, id: &str) -> Result<u32, StoreError> {
        self.choose(id, &taken()?)
    }

    fn choose(&self, id: &str, taken: &TakenUsers) -> Result<u32, StoreError> {
        if !is_person(id) {
            return Err(StoreError::NoPerson);
        }
        if let Some(above) = self.folder.parent() {
            private::make_folder(above)?;
        }
        private::make_folder(&self.folder)?;
        let _lock = self.locked()?;
        let given = self.given()?;
        let mut own = None;
        for user in &given {
            if self.person_of(*user)?.as_deref() == Some(id) {
                own = Some(*user);
                break;
            }
        }
        let user = user_for(own, self.range, &given, taken)?;
        if own.is_none() {
            let path = self.path(user);
            private::write(&path, id.as_bytes())
                .map_err(|source| StoreError::Keep { path, source })?;
        }
        Ok(user)
    }

    fn path(&self, user: u32) -> PathBuf {
        self.folder.join(user.to_string())
    }

    /// Every user that was given.
    fn given(&self) -> Result<Vec<u32>, StoreError> {
        let failed = |source| StoreError::Read { path: self.folder.clone(), source };
        let mut given = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)?.take(MOST_FILES) {
            let name = entry.map_err(failed)?.file_name();
            given.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(given)
    }

    /// The person whose user it is, unless the file does not say.
    fn person_of(&self, user: u32) -> Result<Option<String>, StoreError> {
        let path = self.path(user);
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(64).read_to_string(&mut text));
        match read {
            Ok(_) => Ok(is_person(&text).then_some(text)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }

    fn locked(&self) -> Result<File, StoreError> {
        let failed = |source: io::Error| StoreError::Read { path: self.folder.clone(), source };
        let folder = File::open(&self.folder).map_err(failed)?;
        flock(&folder, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(folder)
    }
}

impl From<NoUser> for StoreError {
    fn from(error: NoUser) -> Self {
        Self::NoUser(error)
    }
}

/// The users of this machine's accounts and containers.
fn taken() -> Result<TakenUsers, StoreError> {
    let list = |path: &str| {
        let mut text = Vec::new();
        match File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text)) {
            Ok(_) => Ok(String::from_utf8_lossy(&text).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(source) => Err(StoreError::Read { path: path.into(), source }),
        }
    };
    let (passwd, group) = (list("/etc/passwd")?, list("/etc/group")?);
    let (lent, lent_groups) = (list("/etc/subuid")?, list("/etc/subgid")?);
    Ok(TakenUsers::of(&[&passwd, &group], &[&lent, &lent_groups]))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test panics with the path that it names")]
mod tests {
    use super::*;

    fn person(digit: char) -> String {
        digit.to_string().repeat(32)
    }

    fn users(range: &str) -> (tempfile::TempDir, SystemUsers) {
        let folder = tempfile::tempdir().unwrap();
        let users = SystemUsers::new(&Folders::under(folder.path()), range.parse().unwrap());
        (folder, users)
    }

    fn choose(users: &SystemUsers, person: &str) -> Result<u32, String> {
        users.choose(person, &TakenUsers::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn everybody_has_one_of_their_own_for_good() {
        let (_folder, users) = users("3000-3001");
        assert_eq!(choose(&users, &person('a')), Ok(3000));
        assert_eq!(choose(&users, &person('b')), Ok(3001));
        for _ in 0..2 {
            assert_eq!(choose(&users, &person('a')), Ok(3000));
        }
        let refused = choose(&users, &person('c')).unwrap_err();
        assert!(refused.contains("3000-3001 is given"), "{refused}");
        for wrong in ["", "anna", "../../etc", &"A".repeat(32)] {
            assert!(choose(&users, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_that_names_nobody_keeps_its_number_from_everybody() {
        let (_folder, users) = users("3000-3002");
        private::make_folder(users.folder.parent().unwrap()).unwrap();
        private::make_folder(&users.folder).unwrap();
        fs::write(users.path(3000), "").unwrap();
        fs::write(users.path(3001), b"\xff\xfe").unwrap();
        assert_eq!(choose(&users, &person('a')), Ok(3002));
        // The control: without them the first one is free.
        fs::remove_file(users.path(3000)).unwrap();
        assert_eq!(choose(&users, &person('b')), Ok(3000));
    }

    #[test]
    fn two_at_a_time_never_get_the_same() {
        let (_folder, users) = users("3000-3031");
        let given: Vec<_> = std::thread::scope(|scope| {
            let (users, people) = (&users, "0123456789abcdef");
            let each =
                people.chars().map(|digit| scope.spawn(move || choose(users, &person(digit))));
            each.collect::<Vec<_>>().into_iter().map(|one| one.join().unwrap().unwrap()).collect()
        });
        let different: std::collections::BTreeSet<_> = given.iter().collect();
        assert_eq!(different.len(), 16, "{given:?}");
    }

    #[test]
    fn the_lists_of_this_machine_are_read() {
        assert_eq!(taken().unwrap().first_in("1000-65533".parse().unwrap()), {
            let list = fs::read_to_string("/etc/passwd").unwrap();
            let group = fs::read_to_string("/etc/group").unwrap();
            let numbers =
                list.lines().chain(group.lines()).filter_map(|line| line.split(':').nth(2));
            let accounts = numbers.filter_map(|number| number.parse::<u32>().ok());
            let lent = ["/etc/subuid", "/etc/subgid"]
                .map(|path| fs::read_to_string(path).unwrap_or_default());
            let lent: Vec<u32> = lent
                .iter()
                .flat_map(|text| text.lines())
                .filter_map(|line| line.split(':').nth(1)?.parse().ok())
                .collect();
            accounts.chain(lent).filter(|user| (1000..=65_533).contains(user)).min()
        });
    }
}
