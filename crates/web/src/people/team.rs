//! The sessions of a team: a hub for each person, and the shares between them.
//!
//! # Threat
//! Somebody who knows, guesses or was once given the id of another's session, and tries it on every
//! verb; a person who was removed and goes on; one who gets the name of another later.
//!
//! # Mechanism
//! A person is known by an id that nobody chooses. Their sessions, history and grants are in a folder
//! of that id, and their hub knows no other. A request goes to the hub of its caller, unless the table
//! of shares leads to another's: so the session of somebody else is not hidden from a list, it is not
//! there. Whoever runs the server is a person like the others, in the folders that they had before.
//! Where root runs it, the code of each person is a system user of its own, see `hub/whose.rs`.
//!
//! Must not ask a hub that neither ownership nor a share leads to.

use super::{
    approving::TeamApprovers, kept_table::KeptTable, roles::TeamRole, share_kind::ShareKind,
    shares::ShareTable,
};
use crate::{
    Caller, HubSetup, SessionHub,
    caller::OPERATOR,
    hub::{MOST_SESSIONS, whose::Member},
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_store::{
    ConfigFiles, Environment, Folders, KeptShares, KeptUsers, Settings, StoreError, SystemUsers,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Why there is no team.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// The people or their shares cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The sessions of a team.
#[derive(Clone)]
pub struct TeamHub {
    pub(super) team: Arc<Team>,
}

pub(super) struct Team {
    setup: HubSetup,
    operator: SessionHub,
    pub(super) users: KeptUsers,
    hubs: Mutex<BTreeMap<String, SessionHub>>,
    /// Who the code of each person is to the system, if this process can be somebody else.
    system_users: Option<Arc<SystemUsers>>,
    pub(super) table: Arc<KeptTable>,
    /// Held by whoever looks at who is still there.
    looking: Mutex<()>,
    /// The role of each person, as it was seen last.
    roles: Mutex<BTreeMap<String, Option<TeamRole>>>,
}

/// Changes of people since the last look.
#[derive(Default)]
struct Changed {
    /// The hubs of those who are gone.
    gone: Vec<SessionHub>,
    /// The ids of those who have a lower role than before.
    lowered: Vec<String>,
}

impl TeamHub {
    /// A team without sessions.
    pub fn new(setup: HubSetup) -> Result<Self, TeamError> {
        let environment = Environment::read();
        let folders = Folders::find(&environment)?;
        let files = ConfigFiles::read(&folders, &setup.work_folder, None)?;
        let settings =
            Settings::resolve(&files, &environment, &setup.overrides).map_err(StoreError::from)?;
        let system_users =
            SystemUsers::of_server(&folders, settings.team_uids.value)?.map(Arc::new);
        let users = KeptUsers::new(&folders);
        let table = Arc::new(KeptTable::of(KeptShares::new(&folders))?);
        let approvers = TeamApprovers::of(OPERATOR, &users, &table);
        let operator = SessionHub::of_operator(setup.clone(), approvers)?;
        let team = Team {
            setup,
            operator,
            users,
            hubs: Mutex::default(),
            system_users,
            table,
            looking: Mutex::default(),
            roles: Mutex::default(),
        };
        let hub = Self { team: Arc::new(team) };
        hub.team.look_at_people()?;
        Ok(hub)
    }

    /// Whether the code of each person is a system user of its own.
    pub fn has_system_users(&self) -> bool {
        self.team.system_users.is_some()
    }

    /// People have changed: whoever is gone loses their sessions and shares, and whoever has a lower
    /// role loses what it does not give. Reads the disk on another thread.
    pub(super) fn follow_people(&self) {
        let team = Arc::clone(&self.team);
        tokio::task::spawn_blocking(move || {
            // If it cannot be read or kept, the next change or start finds the same.
            let Ok(Changed { gone, lowered }) = team.look_at_people() else { return };
            for hub in gone {
                tokio::spawn(async move { hub.shut().await });
            }
            for person in lowered {
                team.lower(&person);
            }
        });
    }

    /// The hub of a caller's own sessions, for one of them: unless it is in a folder that their role
    /// does not open any more.
    pub(super) fn own_with(
        &self,
        caller: &Caller,
        session: Option<&str>,
    ) -> Result<SessionHub, ProtocolError> {
        let own = self.own(caller)?;
        if let Some(session) = session {
            own.check_reach(caller, session)?;
        }
        Ok(own)
    }

    /// The hub of a caller's own sessions.
    pub(super) fn own(&self, caller: &Caller) -> Result<SessionHub, ProtocolError> {
        self.team.hub(person(caller))
    }
}

/// The person that a caller is.
pub(super) fn person(caller: &Caller) -> &str {
    caller.person_id()
}

impl Team {
    pub(super) fn shares(&self) -> MutexGuard<'_, ShareTable> {
        self.table.look()
    }

    fn hubs(&self) -> MutexGuard<'_, BTreeMap<String, SessionHub>> {
        self.hubs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn operator(&self) -> &SessionHub {
        &self.operator
    }

    /// The hub of a person.
    pub(super) fn hub(&self, person: &str) -> Result<SessionHub, ProtocolError> {
        if person == OPERATOR {
            return Ok(self.operator.clone());
        }
        let mut hubs = self.hubs();
        if let Some(hub) = hubs.get(person) {
            return Ok(hub.clone());
        }
        let failed = |_| ProtocolError::new(ErrorCode::Failed, "your folder cannot be used");
        // Somebody who was removed may still be on the way here.
        if self.users.by_id(person).map_err(failed)?.is_none() {
            return Err(ProtocolError::new(ErrorCode::NotAllowed, "you are not in the team"));
        }
        let member = Member {
            id: person.to_owned(),
            users: self.users.clone(),
            system_users: self.system_users.clone(),
        };
        let approvers = TeamApprovers::of(person, &self.users, &self.table);
        let hub = SessionHub::of_member(self.setup.clone(), member, approvers, &self.operator);
        let hub = hub.map_err(failed)?;
        hubs.insert(person.to_owned(), hub.clone());
        Ok(hub)
    }

    /// Every hub that was used.
    pub(super) fn all(&self) -> Vec<SessionHub> {
        let mut all: Vec<_> = self.hubs().values().cloned().collect();
        all.push(self.operator.clone());
        all
    }

    /// Refuses another session where there are too many, whoever has them.
    pub(super) fn check_room(&self) -> Result<(), ProtocolError> {
        if self.operator.shared.is_ending() {
            return Err(ProtocolError::new(ErrorCode::Ending, "the server is ending"));
        }
        let running: usize = self.all().iter().map(SessionHub::count).sum();
        if running < MOST_SESSIONS {
            return Ok(());
        }
        let text = "the server runs as many sessions as it can";
        Err(ProtocolError::new(ErrorCode::TooMany, text).hint("try again when one has ended"))
    }

    fn roles(&self) -> MutexGuard<'_, BTreeMap<String, Option<TeamRole>>> {
        self.roles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of everybody who is gone, and says who has changed. Reads the disk.
    fn look_at_people(&self) -> Result<Changed, StoreError> {
        let _alone = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.users.list()?;
        let there: BTreeMap<_, _> =
            all.into_iter().map(|user| (user.id, TeamRole::of_word(&user.role))).collect();
        let is_there = |person: &str| person == OPERATOR || there.contains_key(person);
        self.table.retain(is_there)?;
        let mut hubs = self.hubs();
        let left: Vec<_> = hubs.keys().filter(|person| !is_there(person)).cloned().collect();
        let gone = left.iter().filter_map(|person| hubs.remove(person)).collect();
        drop(hubs);
        let before = std::mem::replace(&mut *self.roles(), there.clone());
        let is_lower = |(person, role): &(String, Option<TeamRole>)| {
            before.get(person).is_some_and(|before| role < before)
        };
        let lowered = there.into_iter().filter(is_lower).map(|(person, _)| person).collect();
        Ok(Changed { gone, lowered })
    }

    /// Somebody's role is lower now: ends and takes back what it does not give, in their own sessions
    /// and in those that they drive.
    fn lower(&self, person: &str) {
        let hub = self.hubs().get(person).cloned();
        if let Some(hub) = hub {
            hub.withdraw();
            hub.lost_right(person);
        }
        let driven: Vec<_> = {
            let shares = self.shares();
            let driven = shares.reached(person).filter(|(_, way)| way.kind == ShareKind::Drive);
            driven.map(|(session, way)| (session.to_owned(), way.owner)).collect()
        };
        for (session, owner) in driven {
            let hub = self.hub(&owner).ok();
            if let Some(held) = hub.and_then(|hub| hub.shared.find(&session)) {
                held.take_back();
                held.lost_right(person);
            }
        }
    }
}
