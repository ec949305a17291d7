//! Gives shares and takes them back, for the owner of a session.

use super::{
    share_kind::ShareKind,
    shares::{ShareRefused, ShareTable},
    team::{TeamHub, person},
};
use crate::{
    Caller, Right,
    caller::OPERATOR,
    hub::{
        allowed::check,
        reading::{elsewhere, failed},
    },
    protocol::{ErrorCode, ProtocolError, ShareWish},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

impl TeamHub {
    /// Shares a session of the caller's, or takes that back; and says with whom it is shared.
    pub(super) async fn share(
        &self,
        caller: &Caller,
        session: &str,
        share: Option<ShareWish>,
        unshare: Option<String>,
    ) -> Result<Value, ProtocolError> {
        let owner = person(caller).to_owned();
        if let Some(ShareWish { with, kind }) = share {
            check_given(caller, kind)?;
            let with = self.id_of(with).await?;
            let (by, guest, of) = (owner.clone(), with.clone(), session.to_owned());
            let give = move |shares: &mut ShareTable| shares.give(&by, &of, &guest, kind);
            self.change(move |shares| give(shares).map_err(refusal)).await?;
            self.tell(&owner, session, &with);
        }
        if let Some(with) = unshare {
            let with = self.id_of(with).await?;
            let (by, guest, of) = (owner.clone(), with.clone(), session.to_owned());
            self.change(move |shares| {
                if shares.take_back(&by, &of, &guest) {
                    Ok(())
                } else {
                    let text = "the session is not shared with that person";
                    Err(ProtocolError::new(ErrorCode::Refused, text))
                }
            })
            .await?;
            self.tell(&owner, session, &with);
        }
        Ok(json!({ "shares": self.guests(caller, session).await? }))
    }

    /// The people that a session of the caller's is shared with.
    pub(super) async fn guests(
        &self,
        caller: &Caller,
        session: &str,
    ) -> Result<Vec<Value>, ProtocolError> {
        let guests = self.team.shares().guests(person(caller), session);
        let names = self.names().await?;
        let rows = guests
            .into_iter()
            .filter_map(|(id, kind)| Some(json!({ "with": names.get(&id)?, "as": kind.word() })));
        Ok(rows.collect())
    }

    /// The names of all people, by id.
    pub(super) async fn names(&self) -> Result<BTreeMap<String, String>, ProtocolError> {
        let users = self.team.users.clone();
        elsewhere(move || {
            let all = users.list().map_err(|error| failed(&error))?;
            let operator = (OPERATOR.to_owned(), OPERATOR.to_owned());
            Ok(all.into_iter().map(|user| (user.id, user.name)).chain([operator]).collect())
        })
        .await
    }

    /// The id of the person with this name.
    async fn id_of(&self, name: String) -> Result<String, ProtocolError> {
        if name == OPERATOR {
            return Ok(name);
        }
        let users = self.team.users.clone();
        elsewhere(move || {
            let found = users.find(&name).map(|(user, _)| user.id);
            found.ok_or_else(|| {
                ProtocolError::new(ErrorCode::Refused, "there is nobody of that name")
            })
        })
        .await
    }

    /// Changes the table, on a thread where that may take its time.
    async fn change(
        &self,
        edit: impl FnOnce(&mut ShareTable) -> Result<(), ProtocolError> + Send + 'static,
    ) -> Result<(), ProtocolError> {
        let table = Arc::clone(&self.team.table);
        elsewhere(move || table.change(edit)).await
    }

    /// Wakes whoever is concerned: a subscription that no share carries any more ends, and a list
    /// shows what is new.
    fn tell(&self, owner: &str, session: &str, with: &str) {
        let Ok(owner) = self.team.hub(owner) else { return };
        if let Some(held) = owner.shared.find(session) {
            // A changed share starts anew: a yes that was given under the old one must be repeated.
            held.lost_right(with);
            held.ring();
        }
        let Ok(guest) = self.team.hub(with) else { return };
        for bell in guest.shared.bells_of_list() {
            owner.shared.wake_for_rows(&bell);
            bell.ring_for_row(session);
        }
    }
}

/// Refuses a token that would give away more than it has. A person may: whoever they share with has
/// a role of their own, and acts by it.
fn check_given(caller: &Caller, kind: ShareKind) -> Result<(), ProtocolError> {
    if caller.person.is_some() {
        return Ok(());
    }
    let lacking = Right::ALL.into_iter().filter(|right| kind.rights().has(*right));
    check(caller, &lacking.collect::<Vec<_>>())
        .map_err(|error| error.hint("a token shares no more than it may do itself"))
}

fn refusal(refused: ShareRefused) -> ProtocolError {
    let text = match refused {
        ShareRefused::Oneself => "the session is yours already",
        ShareRefused::Theirs => "the session is not yours",
        ShareRefused::TooMany => "too much is shared already",
    };
    ProtocolError::new(ErrorCode::Refused, text)
}
