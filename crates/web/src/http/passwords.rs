//! Logins of people by name and password.
//!
//! # Threat
//! Somebody who learns from an answer, or from its time, which names there are; who tries passwords;
//! or who makes the server use up its memory for hashes.
//!
//! # Mechanism
//! The same is computed for a name that nobody has, and the same is answered. Attempts are counted
//! before anything is computed. At most two hashes are computed at once, each with 19 MiB; whoever
//! comes then waits, in a connection that is bounded in number and time.
//!
//! Must not keep a password, or give one to anything but the hash.

use super::{guesses::Guesses, logins::KeptPass, refusal::HttpRefusal};
use crate::{Caller, TeamRole};
use interpreter_core::Secret;
use interpreter_store::{KeptUsers, LONGEST_PASSWORD, PasswordHash};
use std::{
    net::IpAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use tokio::sync::Semaphore;

/// Hashes that are computed at once.
const AT_ONCE: usize = 2;

/// The door for people with a name and a password.
#[derive(Debug)]
pub(super) struct PasswordDoor {
    users: KeptUsers,
    guesses: Mutex<Guesses>,
    room: Arc<Semaphore>,
}

/// Whoever wants to come in.
#[derive(Debug)]
pub(super) struct NamedVisitor {
    pub(super) name: String,
    pub(super) password: Secret,
    pub(super) address: IpAddr,
}

impl PasswordDoor {
    pub(super) fn new(users: KeptUsers, now: Instant) -> Self {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        Self { users, guesses: Mutex::new(Guesses::new(now)), room }
    }

    /// The folder whose changes are changes of people, made if need be.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.users.make_folder().ok()
    }

    /// Looks at a name and a password.
    pub(super) async fn look(
        &self,
        visitor: NamedVisitor,
        now: Instant,
    ) -> Result<KeptPass, HttpRefusal> {
        let NamedVisitor { name, password, address } = visitor;
        // Nobody has one like that, so it is no attempt at all.
        if password.reveal().len() > LONGEST_PASSWORD {
            return Err(HttpRefusal::WrongPassword);
        }
        if !self.guesses().may_try(&name, address, now) {
            return Err(HttpRefusal::TooManyGuesses);
        }
        let permit = Arc::clone(&self.room).acquire_owned().await;
        let permit = permit.map_err(|_| HttpRefusal::Failed)?;
        let (users, wanted) = (self.users.clone(), name.clone());
        let looked = tokio::task::spawn_blocking(move || {
            // Held until it is computed, even if nobody waits for it any more.
            let _permit = permit;
            check(&users, &wanted, &password)
        });
        let found = looked.await.map_err(|_| HttpRefusal::Failed)?;
        let found = found.ok_or(HttpRefusal::WrongPassword)?;
        self.guesses().forgive(&name, address);
        Ok(found)
    }

    fn guesses(&self) -> std::sync::MutexGuard<'_, Guesses> {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The person of this name, if that is their password. Slow, and as slow for nobody.
fn check(users: &KeptUsers, name: &str, password: &Secret) -> Option<KeptPass> {
    let found = users.find(name);
    let hash = found.as_ref().map(|(user, _)| user.password.clone());
    let fits = hash.unwrap_or_else(PasswordHash::of_nobody).fits(password);
    let (user, file) = found.filter(|_| fits)?;
    // A role that this version does not know has no rights.
    let rights = TeamRole::of_word(&user.role).map(TeamRole::rights).unwrap_or_default();
    let caller = Caller { name: user.name, rights, person: Some(user.id) };
    Some(KeptPass { caller, ends: None, file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Right;
    use interpreter_store::{Folders, UserLogin};
    use std::net::Ipv4Addr;

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    fn door() -> (tempfile::TempDir, KeptUsers, PasswordDoor) {
        let folder = tempfile::tempdir().unwrap();
        let users = KeptUsers::new(&Folders::under(folder.path()));
        let hash = PasswordHash::new(&secret("correct horse")).unwrap();
        users.add("anna", "author", 1, UserLogin::Password(hash), &[]).unwrap();
        let door = PasswordDoor::new(users.clone(), Instant::now());
        (folder, users, door)
    }

    async fn look(door: &PasswordDoor, name: &str, password: &str) -> Result<Caller, HttpRefusal> {
        let address = Ipv4Addr::LOCALHOST.into();
        let visitor = NamedVisitor { name: name.into(), password: secret(password), address };
        door.look(visitor, Instant::now()).await.map(|pass| pass.caller)
    }

    #[tokio::test]
    async fn a_person_is_let_in_by_their_password_with_the_rights_of_their_role() {
        let (_folder, users, door) = door();
        let anna = look(&door, "anna", "correct horse").await.unwrap();
        assert_eq!((anna.name.as_str(), anna.rights), ("anna", TeamRole::Author.rights()));
        assert_eq!(anna.person, users.find("anna").map(|(user, _)| user.id));
        for (name, password) in
            [("anna", ""), ("anna", "correct hors"), ("Anna", "correct horse"), ("ben", "")]
        {
            let refused = look(&door, name, password).await.unwrap_err();
            assert_eq!(refused, HttpRefusal::WrongPassword, "{name}");
        }
        users.set_role("anna", "wizard").unwrap();
        let anna = look(&door, "anna", "correct horse").await.unwrap();
        assert!(!Right::ALL.into_iter().any(|right| anna.rights.has(right)));
    }

    #[tokio::test]
    async fn guesses_end_alike_for_names_that_are_there_and_for_others() {
        for name in ["anna", "nobody"] {
            let (_folder, _users, door) = door();
            for _ in 0..5 {
                let refused = look(&door, name, "a guess").await.unwrap_err();
                assert_eq!(refused, HttpRefusal::WrongPassword);
            }
            // The right one, too: a guess must not show by its answer that it was right.
            let refused = look(&door, name, "correct horse").await.unwrap_err();
            assert_eq!(refused, HttpRefusal::TooManyGuesses);
        }
    }
}
