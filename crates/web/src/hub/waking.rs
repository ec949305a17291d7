//! Questions that sessions ended with: they wait on record, and an answer wakes the session.
//!
//! # Threat
//! A yes that runs code twice, in two sessions that both go on. One that counts for a question which
//! shows something else by now. Somebody who has a session go on in wider bounds than its owner may,
//! or who answers in a session that goes on without them.
//!
//! # Mechanism
//! The session goes on as in `opening.rs`, as its owner and with their rights; whoever answers is on
//! record as the one who had it begin. One is woken at a time, so two answers meet in one session,
//! where the first counts; and `interpreter-agent` lets a session go on at its question only once,
//! whoever else tries. Nothing begins for a question that cannot be put again, nor for somebody who
//! may not answer in the session that it would go on from. The question is judged by the rules of
//! now: if it shows the same, it has the same id and hash, and the answer counts. If not, it is
//! refused, and the new question waits in the session that goes on.
//!
//! # Limits
//! A session that is killed while its question is judged again counts as the one that goes on, and
//! asks nothing: `resume` then asks nothing either. Where a session was removed that may have gone
//! on from this one, its question is not offered; `resume` asks it.

use super::{
    SessionHub,
    allowed::check,
    held::HeldSession,
    outcome::first_after,
    reading::{elsewhere, on_record},
};
use crate::{
    caller::{Caller, Right, RightSet},
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_core::{QuestionAbout, RecordedQuestion, hash::sha256};
use interpreter_store::{Folders, Log, RunningSession, SessionSummary, StoreError};
use serde_json::Value;
use std::sync::Arc;

/// Sessions that are followed from one to the next.
const FOLLOWED: usize = 100;

/// The question about code that a session on record ended with, that nobody has gone on with, and
/// that can be put again.
pub(super) fn waiting(
    log: &Log,
    folders: &Folders,
    session: &str,
) -> Result<Option<RecordedQuestion>, StoreError> {
    let Some(open) = log.open_question(session)?.filter(is_whole) else { return Ok(None) };
    // Wherever it runs, it asks its question there.
    let is_elsewhere = RunningSession::is(folders, session)?
        || log.is_continued(session)?
        || may_have_been_continued(session, log.newest_removed(session)?.as_deref());
    Ok(Some(open).filter(|_| !is_elsewhere))
}

/// The same of the sessions of a list. Looks at other sessions once, if at all.
pub(super) fn waiting_of(
    log: &Log,
    folders: &Folders,
    sessions: &[SessionSummary],
) -> Result<Vec<Option<RecordedQuestion>>, StoreError> {
    let open = sessions.iter().map(|one| log.open_question(&one.id));
    let mut open: Vec<_> =
        open.map(|open| open.map(|open| open.filter(is_whole))).collect::<Result<_, _>>()?;
    let asking = sessions.iter().zip(&open).filter(|(_, open)| open.is_some());
    let Some(oldest) = asking.map(|(one, _)| one.id.as_str()).min() else { return Ok(open) };
    let (continued, removed) = (log.continued_since(oldest)?, log.newest_removed(oldest)?);
    for (one, open) in sessions.iter().zip(&mut open) {
        if open.is_some()
            && (continued.contains(&one.id)
                || may_have_been_continued(&one.id, removed.as_deref())
                || RunningSession::is(folders, &one.id)?)
        {
            *open = None;
        }
    }
    Ok(open)
}

/// Whether its code is on record as it would run: without a secret that was taken out.
fn is_whole(open: &RecordedQuestion) -> bool {
    let QuestionAbout::Code(asked) = &open.about else { return false };
    sha256(asked.code.raw().as_bytes()) == asked.code_hash
}

/// Whether a session that went on from this one may have been removed since: then its code may have
/// run, and only `resume` asks again.
fn may_have_been_continued(session: &str, removed: Option<&str>) -> bool {
    removed.is_some_and(|removed| removed > session)
}

impl SessionHub {
    /// The session in which a question is answered: the one that is named, the one that goes on from
    /// it, or one that is begun for that.
    pub(super) async fn answering(
        &self,
        caller: &Caller,
        session: &str,
        question: &str,
        hash: &str,
    ) -> Result<Arc<HeldSession>, ProtocolError> {
        let ended = match self.running(session).await {
            Ok(held) => return Ok(held),
            Err(error) if error.code == ErrorCode::Ended => error,
            Err(error) => return Err(error),
        };
        let wish = Waking {
            hub: self.clone(),
            caller: caller.clone(),
            session: session.to_owned(),
            question: question.to_owned(),
            hash: hash.to_owned(),
            ended,
        };
        // Goes on if the client leaves: a session that is woken half-way would be shared with nobody.
        let woken = tokio::spawn(async move { wish.woken().await });
        let broke = |_| ProtocolError::new(ErrorCode::Failed, "the session could not go on");
        woken.await.map_err(broke)?
    }

    /// Whether a caller may answer in a session, as far as people are known.
    async fn may_answer(&self, caller: &Caller, session: &str) -> Result<bool, ProtocolError> {
        let voter = self.voter(caller, session).await?;
        Ok(voter.is_none_or(|voter| voter.may_answer.contains(caller.person_id())))
    }

    /// The last of the sessions that go on from each other at a question.
    async fn newest(&self, session: &str) -> Result<String, ProtocolError> {
        let mut newest = session.to_owned();
        on_record(&self.shared.folders, move |log, _| {
            for _ in 0..FOLLOWED {
                let Some(next) = log.continued_in(&newest)? else { break };
                newest = next;
            }
            Ok(newest)
        })
        .await
    }

    /// Whose sessions these are, as somebody who may begin one.
    async fn owner(&self, caller: &Caller) -> Result<Caller, ProtocolError> {
        match self.shared.approvers.clone() {
            Some(approvers) => elsewhere(move || approvers.owner()).await,
            None => Ok(Caller::operator(caller.name.clone(), RightSet::all())),
        }
    }
}

/// An answer to a question whose session has ended.
struct Waking {
    hub: SessionHub,
    caller: Caller,
    session: String,
    question: String,
    hash: String,
    /// The refusal, where there is no such question.
    ended: ProtocolError,
}

impl Waking {
    /// The session that goes on, once it has put the question again.
    async fn woken(self) -> Result<Arc<HeldSession>, ProtocolError> {
        let hub = &self.hub;
        let alone = hub.shared.waking.lock().await;
        let newest = hub.newest(&self.session).await?;
        // Before anything begins, and before anybody learns of it.
        if !hub.may_answer(&self.caller, &newest).await? {
            return Err(self.ended);
        }
        let held = match hub.shared.find(&newest).filter(|held| !held.has_ended()) {
            Some(held) => held,
            None => self.wake(&newest).await?,
        };
        let takes_up = |record: &Value| record["kind"] == "resumed";
        first_after(&hub.shared, &held, 0, takes_up).await?;
        // It is on record that this one goes on, so whoever comes next finds it.
        drop(alone);
        self.put_again(held).await
    }

    /// Goes on with a session at its question.
    async fn wake(&self, session: &str) -> Result<Arc<HeldSession>, ProtocolError> {
        let (hub, id) = (&self.hub, session.to_owned());
        let open =
            on_record(&hub.shared.folders, move |log, folders| waiting(log, folders, &id)).await?;
        let Some(open) = open.filter(|open| open.id == self.question) else {
            return Err(self.ended.clone());
        };
        if open.hash != self.hash {
            return Err(self.another("it shows something else"));
        }
        let owner = hub.owner(&self.caller).await?;
        check(&owner, &[Right::Prompt])?;
        let begun = hub.resume_at(&owner, session, &self.question, &self.caller.name).await;
        let id = begun.map_err(|error| {
            if self.caller.person_id() == owner.person_id() {
                return error;
            }
            // The rest may name the owner's folders and settings.
            ProtocolError::new(error.code, "the session cannot go on")
                .hint("whoever it belongs to can `resume` it, and learns why")
        })?;
        if let Some(approvers) = hub.shared.approvers.clone() {
            let (from, to) = (session.to_owned(), id.clone());
            elsewhere(move || approvers.carry_over(&from, &to)).await?;
        }
        hub.running(&id).await
    }

    /// Waits until the session has put the question, and makes sure that it is the same.
    async fn put_again(self, held: Arc<HeldSession>) -> Result<Arc<HeldSession>, ProtocolError> {
        let put = |record: &Value| record["kind"] == "question";
        let denied = |record: &Value| record["kind"] == "verdict" && record["decision"] == "deny";
        let shared = &self.hub.shared;
        let next = first_after(shared, &held, 0, |record| put(record) || denied(record)).await?;
        let hint = format!("session {} goes on from there", held.id);
        match next.filter(put) {
            Some(again) if again["id"] == self.question && again["hash"] == self.hash => Ok(held),
            Some(_) => Err(self.another("by the rules of now it shows something else").hint(hint)),
            None => {
                let text =
                    format!("question {} is not put again, by the rules of now", self.question);
                Err(ProtocolError::new(ErrorCode::Refused, text).hint(hint))
            }
        }
    }

    fn another(&self, why: &str) -> ProtocolError {
        let text = format!("question {} is another one: {why}", self.question);
        ProtocolError::new(ErrorCode::AnotherHash, text)
    }
}
