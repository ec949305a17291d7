//! Who may answer in the sessions of a person: they themselves and whoever they share a session with
//! to drive, as far as the role of each goes at this moment.

use super::{kept_table::KeptTable, roles::TeamRole, share_kind::ShareKind};
use crate::{
    caller::{Caller, OPERATOR, Right, RightSet},
    hub::{approvers::Approvers, reading::failed},
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_store::KeptUsers;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Those who may answer in the sessions of one person.
pub(super) struct TeamApprovers {
    owner: String,
    users: KeptUsers,
    shares: Arc<KeptTable>,
}

impl TeamApprovers {
    /// For the sessions of this person.
    pub(super) fn of(
        owner: &str,
        users: &KeptUsers,
        shares: &Arc<KeptTable>,
    ) -> Arc<dyn Approvers> {
        let (owner, users, shares) = (owner.to_owned(), users.clone(), Arc::clone(shares));
        Arc::new(Self { owner, users, shares })
    }
}

impl Approvers for TeamApprovers {
    fn of(&self, session: &str) -> Result<BTreeSet<String>, ProtocolError> {
        let guests = self.shares.look().guests(&self.owner, session);
        let users = self.users.list().map_err(|error| failed(&error))?;
        // A role that is not known gives no right.
        let rights = |role: &str| TeamRole::of_word(role).map(TeamRole::rights).unwrap_or_default();
        let roles = users.into_iter().map(|user| (user.id, rights(&user.role)));
        let roles: BTreeMap<_, _> = roles.chain([(OPERATOR.to_owned(), RightSet::all())]).collect();
        Ok(who_may(&self.owner, guests, &roles))
    }

    fn owner(&self) -> Result<Caller, ProtocolError> {
        if self.owner == OPERATOR {
            return Ok(Caller::operator(OPERATOR, RightSet::all()));
        }
        let user = self.users.by_id(&self.owner).map_err(|error| failed(&error))?;
        let gone = || ProtocolError::new(ErrorCode::Refused, "the session's owner has left");
        let user = user.ok_or_else(gone)?;
        let rights = TeamRole::of_word(&user.role).map(TeamRole::rights).unwrap_or_default();
        Ok(Caller { name: user.name, rights, person: Some(user.id) })
    }

    fn carry_over(&self, from: &str, to: &str) -> Result<(), ProtocolError> {
        self.shares.change(|table| {
            for (guest, kind) in table.guests(&self.owner, from) {
                // Where there is no room for more, whoever is left out asks the owner.
                _ = table.give(&self.owner, to, &guest, kind).is_ok();
            }
            Ok(())
        })
    }
}

/// The people who have the right to answer, by their role and, for guests, by their share too.
fn who_may(
    owner: &str,
    guests: impl IntoIterator<Item = (String, ShareKind)>,
    roles: &BTreeMap<String, RightSet>,
) -> BTreeSet<String> {
    let guests = guests.into_iter().map(|(id, kind)| (id, kind.rights()));
    let all = guests.chain([(owner.to_owned(), RightSet::all())]);
    let may = all.filter(|(id, share)| {
        roles.get(id).is_some_and(|role| role.and(*share).has(Right::Answer))
    });
    may.map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_the_role_and_the_share() {
        let roles: BTreeMap<_, _> = [
            ("anna", TeamRole::Approver),
            ("ben", TeamRole::Author),
            ("cleo", TeamRole::Approver),
            ("dora", TeamRole::Admin),
        ]
        .map(|(id, role)| (id.to_owned(), role.rights()))
        .into();
        let guests = |kind: ShareKind| ["ben", "cleo", "gone"].map(|id| (id.to_owned(), kind));
        let may = |owner: &str, kind| who_may(owner, guests(kind), &roles);
        assert_eq!(may("anna", ShareKind::Drive), ["anna", "cleo"].map(str::to_owned).into());
        assert_eq!(may("anna", ShareKind::Suggest), ["anna".to_owned()].into());
        assert_eq!(may("ben", ShareKind::Watch), BTreeSet::new());
    }
}
