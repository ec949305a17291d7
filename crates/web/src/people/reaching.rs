//! The sessions that each caller reaches in a team: those of their own hub, and by a share another's.

use super::{
    guests::{needed, session_of},
    roles::TeamRole,
    share_kind::ShareKind,
    shares::Way,
    team::{TeamHub, person},
};
use crate::{
    Caller, Lines, Right, Service, SessionHub,
    client::{AtEnd, serve},
    files::{FilesDownload, FilesWish, LastingRight},
    hub::files::FileUpload,
    protocol::{ErrorCode, LookAt, LookWish, ProtocolError, Verb, error_line, ok_line, read},
    reach::Reach,
    service::SessionCount,
};
use futures_util::future::join_all;
use interpreter_store::Folders;
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

impl TeamHub {
    /// How a caller reaches a session that is not their own.
    pub(super) fn way(&self, caller: &Caller, session: &str) -> Option<Way> {
        self.team.shares().way(person(caller), session)
    }

    /// Performs a verb on the session of another.
    async fn perform_as_guest(
        &self,
        caller: &Caller,
        way: Way,
        verb: Verb,
    ) -> Result<Value, ProtocolError> {
        let (hub, guest) = self.as_guest(caller, &way, needed(&verb))?;
        self.check_room_to_wake(&hub, &verb)?;
        hub.perform_verb(&guest, verb).await.map_err(without_details)
    }

    /// Refuses an answer that would wake a session where there are too many.
    fn check_room_to_wake(&self, hub: &SessionHub, verb: &Verb) -> Result<(), ProtocolError> {
        let Verb::Answer { session, .. } = verb else { return Ok(()) };
        match hub.shared.find(session).filter(|held| !held.has_ended()) {
            Some(_) => Ok(()),
            None => self.team.check_room(),
        }
    }

    /// The hub of another, and the caller as a guest there, if a share of this kind is enough.
    fn as_guest(
        &self,
        caller: &Caller,
        way: &Way,
        needed: Option<ShareKind>,
    ) -> Result<(SessionHub, Caller), ProtocolError> {
        if needed.is_none_or(|kind| way.kind < kind) {
            let text = format!("the session is shared with you to {}", way.kind.word());
            return Err(ProtocolError::new(ErrorCode::NotAllowed, text));
        }
        let rights = caller.rights.and(way.kind.rights());
        Ok((self.team.hub(&way.owner)?, Caller { rights, ..caller.clone() }))
    }

    /// The hub that has the files of a session, and the caller as they are there.
    fn at_files(
        &self,
        caller: &Caller,
        session: &str,
        needed: ShareKind,
    ) -> Result<(SessionHub, Caller), ProtocolError> {
        match self.way(caller, session) {
            Some(way) => self.as_guest(caller, &way, Some(needed)),
            None => Ok((self.own_with(caller, Some(session))?, caller.clone())),
        }
    }
}

impl TeamHub {
    /// A caller's right to the files of a session: that of a guest ends with the share.
    fn lasting(&self, caller: &Caller, session: &str, needed: ShareKind) -> LastingRight {
        if self.way(caller, session).is_none() {
            return LastingRight::of_owner();
        }
        let (hub, caller, session) = (self.clone(), caller.clone(), session.to_owned());
        LastingRight::while_holds(move || {
            hub.way(&caller, &session).is_some_and(|way| way.kind >= needed)
        })
    }
}

/// Keeps the details of a failure for the owner: they may name their folder.
pub(crate) fn without_details(error: ProtocolError) -> ProtocolError {
    if error.code == ErrorCode::Failed {
        ProtocolError::new(ErrorCode::Failed, "that did not work in the session of its owner")
    } else {
        error
    }
}

impl Reach for TeamHub {
    async fn perform_verb(&self, caller: &Caller, verb: Verb) -> Result<Value, ProtocolError> {
        if let Some(session) = session_of(&verb)
            && let Some(way) = self.way(caller, session)
        {
            return self.perform_as_guest(caller, way, verb).await;
        }
        let own = self.own_with(caller, session_of(&verb))?;
        self.check_room_to_wake(&own, &verb)?;
        match verb {
            Verb::Shut {} => {
                // Its rights are checked there, and everybody waits for this one.
                self.team.operator().perform_verb(caller, verb).await
            }
            Verb::List { session: None, search: None, before: None, limit } => {
                let mut listed = own.perform_verb(caller, verb).await?;
                self.add_shared(caller, limit, &mut listed).await?;
                listed["you"] = json!(caller.as_person());
                Ok(listed)
            }
            Verb::Grant { ref session, ref share, ref unshare, .. }
                if share.is_some() || unshare.is_some() =>
            {
                crate::hub::performing::check_rights(caller, &verb)?;
                // Only of one's own: for whoever does not have it there is no such session.
                own.summary(session).await?;
                self.share(caller, session, share.clone(), unshare.clone()).await
            }
            Verb::Grant { ref session, list: true, .. } => {
                let session = session.clone();
                let mut listed = own.perform_verb(caller, verb).await?;
                listed["shares"] = json!(self.guests(caller, &session).await?);
                Ok(listed)
            }
            Verb::Look(LookWish { at: LookAt::Me, .. }) => {
                let mut looked = own.perform_verb(caller, verb).await?;
                looked["me"]["team"] = true.into();
                if caller.person.is_some() {
                    let role = TeamRole::of_rights(caller.rights).map(TeamRole::word);
                    looked["me"]["role"] = role.into();
                }
                Ok(looked)
            }
            Verb::Open { .. } | Verb::Resume { .. } | Verb::Fork { .. } => {
                crate::hub::performing::check_rights(caller, &verb)?;
                self.team.check_room()?;
                own.perform_verb(caller, verb).await
            }
            Verb::List { .. }
            | Verb::Subscribe { .. }
            | Verb::Close { .. }
            | Verb::Prompt { .. }
            | Verb::Run { .. }
            | Verb::Answer { .. }
            | Verb::Interrupt { .. }
            | Verb::Restart { .. }
            | Verb::Changes { .. }
            | Verb::Apply { .. }
            | Verb::Discard { .. }
            | Verb::Undo { .. }
            | Verb::Rewind { .. }
            | Verb::Put { .. }
            | Verb::Grant { .. }
            | Verb::Look(_) => own.perform_verb(caller, verb).await,
        }
    }

    fn hub_of(&self, caller: &Caller, session: &str) -> Option<SessionHub> {
        match self.way(caller, session) {
            // Every share is one to watch, at least.
            Some(way) => self.team.hub(&way.owner).ok(),
            None => self.own(caller).ok(),
        }
    }

    fn hubs(&self, caller: &Caller) -> Vec<SessionHub> {
        let owners: BTreeSet<String> =
            self.team.shares().reached(person(caller)).map(|(_, way)| way.owner).collect();
        let others = owners.iter().filter_map(|owner| self.team.hub(owner).ok());
        self.own(caller).into_iter().chain(others).collect()
    }

    async fn wanted_to_end(&self) {
        self.team.operator().wanted_to_end().await;
    }

    async fn shut(&self) {
        // The operator's own comes first: without it nothing begins in any other.
        self.team.operator().shared.end();
        let all = self.team.all();
        for hub in &all {
            hub.shared.end();
        }
        // At once, so that one which takes its time costs the others nothing.
        join_all(all.iter().map(SessionHub::shut)).await;
    }

    async fn quiet(&self) {
        for hub in self.team.all() {
            hub.quiet().await;
        }
    }
}

impl Service for TeamHub {
    type Upload = FileUpload;

    async fn begin_upload(
        &self,
        caller: &Caller,
        session: &str,
        path: &str,
        bytes: u64,
    ) -> Result<FileUpload, ProtocolError> {
        let right = self.lasting(caller, session, ShareKind::Drive);
        let (hub, caller) = self.at_files(caller, session, ShareKind::Drive)?;
        let begun = hub.receive_file(&caller, session, path, bytes).await;
        let is_guest = self.way(&caller, session).is_some();
        let begun =
            begun.map_err(
                |error| {
                    if is_guest { without_details(error) } else { hub.shared.told(error) }
                },
            );
        Ok(begun?.while_allowed(right))
    }

    async fn open_files(
        &self,
        caller: &Caller,
        session: &str,
        wish: FilesWish,
    ) -> Result<FilesDownload, ProtocolError> {
        let right = self.lasting(caller, session, ShareKind::Watch);
        let way = self.way(caller, session);
        let (hub, caller) = self.at_files(caller, session, ShareKind::Watch)?;
        let files = match (way, wish) {
            (None, wish) => {
                let sent = hub.send_files(&caller, session, wish).await;
                sent.map_err(|error| hub.shared.told(error))
            }
            (Some(way), FilesWish::One(path)) if way.kind < ShareKind::Drive => {
                hub.send_changed_file(&caller, session, path).await.map_err(without_details)
            }
            (Some(_), wish) => {
                hub.send_files(&caller, session, wish).await.map_err(without_details)
            }
        };
        Ok(files?.while_allowed(right))
    }

    async fn serve<L: Lines + 'static>(&self, caller: Caller, lines: L) {
        // Whether it left or was cut off is all the same: it takes up its place when it is back.
        _ = serve(self, caller, lines, AtEnd::Leave).await.is_ok();
    }

    async fn perform(&self, caller: Caller, request: String) -> String {
        let request = match read(&request) {
            Ok(request) => request,
            Err((id, error)) => return error_line(id.as_ref(), &error),
        };
        match Reach::perform_verb(self, &caller, request.verb).await {
            Ok(ok) => ok_line(&request.id, &ok),
            Err(error) => error_line(Some(&request.id), &error),
        }
    }

    fn folders_of(&self, caller: &Caller, session: &str) -> Option<Arc<Folders>> {
        let hub = caller.rights.has(Right::Watch).then(|| self.hub_of(caller, session))??;
        Some(Arc::clone(&hub.shared.folders))
    }

    fn people_changed(&self) {
        self.follow_people();
    }

    fn session_count(&self) -> SessionCount {
        let counts: Vec<_> = self.team.all().iter().map(SessionHub::count).collect();
        let of_one = counts.iter().copied().max().unwrap_or_default();
        SessionCount { running: counts.iter().sum(), of_one }
    }

    fn is_team(&self) -> bool {
        true
    }

    async fn wanted_to_end(&self) {
        Reach::wanted_to_end(self).await;
    }

    async fn shut(&self) {
        Reach::shut(self).await;
    }
}
