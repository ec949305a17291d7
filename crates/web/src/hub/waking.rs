//! Questions that sessions ended with: they wait on record, and an answer wakes the session.
//!
//! # Threat
//! A yes that runs code twice, in two sessions that both go on. One that counts for a question which
//! shows something else by now. Somebody who has a session go on in wider bounds than its owner may,
//! or who answers in a session that goes on without them.
//!
//! # Mechanism
//! The session goes on as in `opening.rs`, as its owner and with their rights. One is woken at a
//! time, so two answers meet in one session, where the first counts; and `interpreter-agent` lets a
//! session go on at its question only once, whoever else tries. The question is judged by the rules
//! of now: if it shows the same, it has the same id and hash, and the answer counts. If not, it is
//! refused, and the new question waits in the session that goes on. Whoever answers in another
//! session than the one they named must have the right to answer there.

use super::{
    SessionHub, allowed::check, held::HeldSession, outcome::first_after, reading::elsewhere,
    reading::on_record,
};
use crate::{
    caller::{Caller, Right, RightSet},
    protocol::{ErrorCode, ProtocolError},
};
use interpreter_core::RecordedQuestion;
use interpreter_store::{Folders, Log, RunningSession, StoreError};
use serde_json::Value;
use std::sync::Arc;

/// Sessions that are followed from one to the next.
const FOLLOWED: usize = 100;

/// The question about code that a session on record ended with, and that nobody has gone on with.
pub(super) fn waiting(
    log: &Log,
    folders: &Folders,
    session: &str,
) -> Result<Option<RecordedQuestion>, StoreError> {
    let Some(open) = log.open_question(session)? else { return Ok(None) };
    // Wherever it runs, it asks its question there.
    let is_elsewhere = RunningSession::is(folders, session)? || log.is_continued(session)?;
    Ok(Some(open).filter(|_| !is_elsewhere))
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
        let _alone = self.shared.waking.lock().await;
        let newest = self.newest(session).await?;
        let running = self.shared.find(&newest).filter(|held| !held.has_ended());
        let held = match running {
            Some(held) => held,
            None => self.wake(caller, &newest, question, hash, ended.clone()).await?,
        };
        match self.voter(caller, &held.id).await? {
            Some(voter) if !voter.may_answer.contains(caller.person_id()) => Err(ended),
            Some(_) | None => Ok(held),
        }
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

    /// Goes on with a session at its question, and waits until that is put again.
    async fn wake(
        &self,
        caller: &Caller,
        session: &str,
        question: &str,
        hash: &str,
        ended: ProtocolError,
    ) -> Result<Arc<HeldSession>, ProtocolError> {
        let id = session.to_owned();
        let open = on_record(&self.shared.folders, move |log, folders| waiting(log, folders, &id));
        let Some(open) = open.await?.filter(|open| open.id == question) else { return Err(ended) };
        if open.hash != hash {
            let text = format!("question {question} shows something else");
            return Err(ProtocolError::new(ErrorCode::AnotherHash, text));
        }
        let owner = self.owner(caller).await?;
        check(&owner, &[Right::Prompt])?;
        let id = self.resume(&owner, session).await?;
        if let Some(approvers) = self.shared.approvers.clone() {
            let (from, to) = (session.to_owned(), id.clone());
            elsewhere(move || approvers.carry_over(&from, &to)).await?;
        }
        let held = self.running(&id).await?;
        let put = |record: &Value| record["kind"] == "question";
        let takes_up = |record: &Value| record["kind"] == "resumed";
        let begun = first_after(&self.shared, &held, 0, takes_up).await?;
        let is_taken_up = begun.is_some_and(|record| record["question"].is_string());
        let again = if is_taken_up {
            first_after(&self.shared, &held, 0, put).await?.filter(put)
        } else {
            None
        };
        let hint = format!("session {id} goes on from there");
        match again {
            Some(again) if again["id"] == question && again["hash"] == hash => Ok(held),
            Some(_) => {
                let text = format!("by the rules of now, question {question} shows something else");
                Err(ProtocolError::new(ErrorCode::AnotherHash, text).hint(hint))
            }
            None => {
                let text = format!("question {question} cannot be put again");
                Err(ProtocolError::new(ErrorCode::Refused, text).hint(hint))
            }
        }
    }

    /// Whose sessions these are, as somebody who may begin one.
    async fn owner(&self, caller: &Caller) -> Result<Caller, ProtocolError> {
        match self.shared.approvers.clone() {
            Some(approvers) => elsewhere(move || approvers.owner()).await,
            None => Ok(Caller::operator(caller.name.clone(), RightSet::all())),
        }
    }
}
