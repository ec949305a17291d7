//! Performs the verbs. Each right is checked here, wherever a request came in.

use super::{
    SessionHub,
    allowed::check,
    granting::{GrantWish, grant},
    held::HeldSession,
    outcome::{begin, busy, first_after},
    prompting::PromptWish,
    reading::failed,
    rewinding,
    row::Doing,
    staged,
};
use crate::{
    caller::Caller,
    protocol::{ErrorCode, ProtocolError, Verb, answer_rights, given_answer},
};
use interpreter_agent::Advise;
use interpreter_core::{
    Language,
    proposal::unfit,
    session::{AnswerRefused, AnswerTaken, Event, GivenAnswer, Replay},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Refuses what the caller may not do.
pub(crate) fn check_rights(caller: &Caller, verb: &Verb) -> Result<(), ProtocolError> {
    check(caller, verb.rights())
}

pub(super) fn malformed(text: impl Into<String>) -> ProtocolError {
    ProtocolError::new(ErrorCode::Malformed, text)
}

pub(super) fn nothing() -> Value {
    Value::Object(Map::new())
}

impl SessionHub {
    /// Performs a verb for a caller. Subscriptions belong to a connection, so they are not
    /// performed here. A refusal holds no secret.
    pub(crate) async fn perform_verb(
        &self,
        caller: &Caller,
        verb: Verb,
    ) -> Result<Value, ProtocolError> {
        self.performed(caller, verb).await.map_err(|error| self.shared.told(error))
    }

    async fn performed(&self, caller: &Caller, verb: Verb) -> Result<Value, ProtocolError> {
        check_rights(caller, &verb)?;
        let who = caller.name.as_str();
        match verb {
            Verb::Open { folder, model, profile, mode } => {
                Ok(json!({ "session": self.open(caller, folder, model, profile, mode).await? }))
            }
            Verb::Resume { session } => {
                Ok(json!({ "session": self.resume(caller, &session).await? }))
            }
            Verb::Fork { session, before } => {
                Ok(json!({ "session": self.fork(caller, &session, before).await? }))
            }
            Verb::List { session: Some(session), .. } => self.list_one(&session).await,
            Verb::List { search, limit, before, .. } => self.list(search, limit, before).await,
            Verb::Subscribe { .. } => Err(no_connection()),
            Verb::Look(wish) => self.look(caller, wish).await,
            Verb::Shut {} => {
                self.shared.end_by(who);
                Ok(nothing())
            }
            Verb::Close { session } => self.close(&session, who).await,
            Verb::Prompt { session, text, images, files, again, forget, model } => {
                let wish = PromptWish::of(text, images, files, model, again && !forget);
                self.prompt(&*self.running(&session).await?, wish, caller).await
            }
            Verb::Run { session, language, code } => {
                let held = self.running(&session).await?;
                self.run(&held, &language, code, caller).await
            }
            Verb::Answer { session, question, hash, answer } => {
                let answer = given_answer(answer)?;
                self.answer(caller, &session, question, hash, answer).await
            }
            Verb::Interrupt { session } => {
                self.running(&session).await?.session.send_as(who, Event::Interrupted);
                Ok(nothing())
            }
            Verb::Restart { session, language, replay } => {
                let held = self.running(&session).await?;
                restart(&held, language, replay, who).await
            }
            Verb::Changes { session, sets, path, from } => {
                let held = self.running(&session).await?;
                match (path, from) {
                    (Some(path), Some(from)) => held.read_part(path, from).await,
                    _ if sets => staged::sets(&held).await,
                    (path, _) => staged::changes(&held, path, caller).await,
                }
            }
            Verb::Apply { session, changes, picks, seen } => {
                let held = self.running(&session).await?;
                let wanted = staged::WantedPart { changes, picks, seen };
                staged::apply(&self.shared, &held, wanted, caller).await
            }
            Verb::Discard { session, changes, paths } => {
                let held = self.running(&session).await?;
                staged::discard(&self.shared, &held, changes.as_deref(), paths, who).await
            }
            Verb::Undo { session, newest, redo } => {
                let held = self.running(&session).await?;
                staged::turn(&self.shared, &held, redo, newest, caller).await
            }
            Verb::Rewind { session, before, hash, undo } => {
                let held = self.running(&session).await?;
                rewinding::rewind(&held, before, hash, undo, who).await
            }
            Verb::Put { session, path, base64 } => {
                self.put_small(caller, &session, &path, base64).await
            }
            Verb::Grant { share: Some(_), .. } | Verb::Grant { unshare: Some(_), .. } => {
                Err(no_team())
            }
            Verb::Grant { session, allow, deny, revoke, close, .. } => {
                let held = self.running(&session).await?;
                let wish = GrantWish::of(&held, allow, deny, revoke, close)?;
                grant(&self.shared, &held, wish, who).await
            }
        }
    }

    async fn answer(
        &self,
        caller: &Caller,
        session: &str,
        question: String,
        hash: String,
        answer: GivenAnswer,
    ) -> Result<Value, ProtocolError> {
        check(caller, answer_rights(&answer))?;
        let held = self.answering(caller, session, &question, &hash).await?;
        let goes_on = (held.id != session).then(|| held.id.clone());
        let voter = self.voter(caller, &held.id).await?;
        let who = Some(caller.name.clone());
        let given = held.session.answer(question.clone(), hash, answer, who, voter).await;
        let given = given.map_err(|refused| match &goes_on {
            Some(id) => refusal(&refused).hint(format!("session {id} goes on from there")),
            None => refusal(&refused),
        })?;
        if given == AnswerTaken::Decides {
            // Whoever goes on at once must not find it open.
            held.closed(&question).await;
        }
        let mut taken = taken(given);
        if let Some(id) = goes_on {
            taken["session"] = id.into();
        }
        Ok(taken)
    }

    /// Ends a session in order, and waits until it is over.
    async fn close(&self, session: &str, who: &str) -> Result<Value, ProtocolError> {
        let held = self.running(session).await?;
        held.session.send_as(who, Event::Quit);
        held.ended().await;
        Ok(nothing())
    }

    /// A session that runs here; or whether it has ended or never was.
    pub(crate) async fn running(&self, id: &str) -> Result<Arc<HeldSession>, ProtocolError> {
        // Without waiting where it runs: requests of a client begin in their order.
        if let Some(held) = self.shared.find(id)
            && !held.has_ended()
        {
            return Ok(held);
        }
        self.summary(id).await?;
        let text = format!("session {id} does not run here");
        Err(ProtocolError::new(ErrorCode::Ended, text).hint("`resume` goes on with it"))
    }

    async fn run(
        &self,
        held: &HeldSession,
        language: &str,
        code: String,
        caller: &Caller,
    ) -> Result<Value, ProtocolError> {
        let language = find_language(held, language)?;
        if let Some(why) = unfit(&code) {
            return Err(malformed(format!("run: {why}")));
        }
        let event = Event::Submitted { language, code, invocation: None };
        let events = self.spoken_by(caller, vec![event]);
        let after = begin(held, events, &caller.name).await?;
        let is_proposal = |record: &Value| record["kind"] == "proposal";
        match first_after(&self.shared, held, after, is_proposal).await? {
            Some(record) if is_proposal(&record) => Ok(json!({ "proposal": record["id"] })),
            Some(_) | None => Ok(nothing()),
        }
    }
}

/// Starts interpreters afresh, and perhaps asks whether to run what they had run before.
async fn restart(
    held: &HeldSession,
    language: Option<String>,
    replay: bool,
    who: &str,
) -> Result<Value, ProtocolError> {
    let language = language.map(|name| find_language(held, &name)).transpose()?;
    let event = if replay { replayed(held, language).await? } else { Event::Restart(language) };
    begin(held, vec![event], who).await?;
    Ok(nothing())
}

/// The cells of a session, to be run again. Reads the whole record.
async fn replayed(held: &HeldSession, language: Option<Language>) -> Result<Event, ProtocolError> {
    if held.doing() != Doing::Idle {
        return Err(busy());
    }
    held.session.written().await;
    let cells = rewinding::worked_out(held, |context, id| {
        context.cells(id).map_err(|error| failed(&error))
    });
    let cells = cells.await?;
    Ok(Event::ReplayWanted(Box::new(Replay::of(cells, language.as_ref()))))
}

fn find_language(held: &HeldSession, name: &str) -> Result<Language, ProtocolError> {
    let table = held.context.interpreters().languages();
    table.find(name).ok_or_else(|| {
        let known = table.names().collect::<Vec<_>>().join(", ");
        let short: String = name.chars().take(40).collect();
        ProtocolError::new(ErrorCode::Refused, format!("no interpreter for `{short}` is known"))
            .hint(format!("known: {known}"))
    })
}

/// The outcome of an answer that counts. One that decides is answered like any verb.
fn taken(taken: AnswerTaken) -> Value {
    match taken {
        AnswerTaken::Decides => nothing(),
        AnswerTaken::Waits { missing } => json!({ "state": "waiting", "missing": missing }),
    }
}

/// Why an answer does not count.
fn refusal(refused: &AnswerRefused) -> ProtocolError {
    let (code, by) = match refused {
        AnswerRefused::Closed { by, .. } => (ErrorCode::Closed, by.clone()),
        AnswerRefused::Unknown { .. } => (ErrorCode::Closed, None),
        AnswerRefused::AnotherHash { .. } => (ErrorCode::AnotherHash, None),
        AnswerRefused::ByAuthor { .. } => (ErrorCode::YouWroteIt, None),
        AnswerRefused::Twice { .. } => (ErrorCode::AlreadyApproved, None),
        AnswerRefused::OutlineUnseen(_) => (ErrorCode::OutlineUnseen, None),
        AnswerRefused::NotFitting { .. } => (ErrorCode::NotFitting, None),
        AnswerRefused::SessionOver => (ErrorCode::Ended, None),
    };
    let hint = match refused {
        AnswerRefused::OutlineUnseen(unseen) => unseen.advice(),
        AnswerRefused::Closed { .. }
        | AnswerRefused::Unknown { .. }
        | AnswerRefused::AnotherHash { .. }
        | AnswerRefused::ByAuthor { .. }
        | AnswerRefused::Twice { .. }
        | AnswerRefused::NotFitting { .. }
        | AnswerRefused::SessionOver => None,
    };
    ProtocolError { hint, by, ..ProtocolError::new(code, refused.to_string()) }
}

fn no_connection() -> ProtocolError {
    let text = "a subscription needs a connection that stays";
    ProtocolError::new(ErrorCode::NotOffered, text)
}

fn no_team() -> ProtocolError {
    let hint = "`interpreter serve --team` is for several";
    ProtocolError::new(ErrorCode::NotOffered, "this server has one person").hint(hint)
}
