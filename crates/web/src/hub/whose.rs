//! The person whose sessions a hub has: their folders, their limits, their system user.
//!
//! # Threat
//! Code of one person of a team that is the same user to the kernel as that of another, or as the
//! server; a person who goes on with limits that were taken back.
//!
//! # Mechanism
//! Whatever begins for a person begins in a context of theirs, which is made here and nowhere else:
//! their folders, their limits over the settings of the server, and, where root runs it, the system
//! user that is theirs for good. Without one nothing begins.
//!
//! # Limits
//! Where the server is not root, all code is the server's user, and only the sandbox is between two
//! people.

use super::setup::{HubSetup, MOST_SESSIONS};
use crate::{
    caller::Right,
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_agent::{AgentError, Context};
use interpreter_store::{Environment, KeptUsers, Overrides, StoreError, SystemUsers};
use std::{path::Path, sync::Arc};

/// The most sessions of one person of a team, whatever the settings say: others find room.
pub(super) const MOST_OF_A_PERSON: usize = MOST_SESSIONS / 2;

/// The person whose sessions these are.
#[derive(Clone, Debug)]
pub(super) enum Whose {
    /// Whoever runs the server.
    Operator,
    /// One of a team.
    Person(Box<Member>),
}

/// A person of a team.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// By which they are known.
    pub(crate) id: String,
    /// All people of the team.
    pub(crate) users: KeptUsers,
    /// Who their code is to the system, if that is somebody of its own.
    pub(crate) system_users: Option<Arc<SystemUsers>>,
}

impl Member {
    /// The settings of the command line, with the limits of this person over them.
    fn limited(&self, overrides: &Overrides) -> Result<Overrides, StoreError> {
        // Whoever is gone has nothing that could begin.
        let user = self.users.by_id(&self.id)?.ok_or(StoreError::NoPerson)?;
        let set = |overrides: Overrides, (setting, words): (String, String)| {
            overrides.set(&setting, [words])
        };
        Ok(user.limits.into_iter().fold(overrides.clone(), set))
    }
}

impl Whose {
    /// The environment of their sessions.
    pub(super) fn environment(&self) -> Environment {
        match self {
            Self::Operator => Environment::read(),
            Self::Person(member) => Environment::read().of_person(&member.id),
        }
    }

    /// The settings of the command line, as they are for this person. Reads the disk.
    pub(super) fn overrides(&self, overrides: &Overrides) -> Result<Overrides, StoreError> {
        match self {
            Self::Operator => Ok(overrides.clone()),
            Self::Person(member) => member.limited(overrides),
        }
    }

    /// The context of a folder for this person. Slow: it looks at the machine.
    pub(super) fn context(
        &self,
        setup: &HubSetup,
        folder: &Path,
        overrides: &Overrides,
    ) -> Result<Context, AgentError> {
        let overrides = self.overrides(overrides)?;
        let program = setup.program.clone();
        let mut context = Context::open(self.environment(), folder, program, &overrides)?;
        if let Some(steps) = &setup.steps {
            context.step_on(steps.clone());
        }
        // Whoever opened the session may have left.
        context.bound_unattended();
        match self {
            Self::Operator => {}
            Self::Person(member) => {
                if let Some(users) = &member.system_users {
                    context.use_system_user(users.of_person(&member.id)?);
                }
            }
        }
        Ok(context)
    }

    /// The right that it takes to open another folder than the server's. In a team, the work of
    /// others may be there.
    pub(super) const fn folder_right(&self) -> Right {
        match self {
            Self::Operator => Right::Answer,
            Self::Person(_) => Right::Admin,
        }
    }

    /// That there are as many sessions as may be.
    pub(super) fn too_many(&self, most: usize) -> ProtocolError {
        let text = match self {
            Self::Operator => format!("{most} sessions run already"),
            Self::Person(_) => {
                format!(
                    "you have {most} sessions already, as many as `team.sessions` lets a person have"
                )
            }
        };
        let hint = match self {
            Self::Operator => "close one of them",
            Self::Person(_) => "close one of them; whoever keeps the server can raise the limit",
        };
        ProtocolError::new(ErrorCode::TooMany, text).hint(hint)
    }
}
