//! Performs the verbs. Each right is checked here, wherever a request came in.

use super::{
    SessionHub,
    allowed::check,
    held::HeldSession,
    outcome::{begin, begun, first_after},
    reading::{elsewhere, failed},
    rewinding,
    row::Doing,
    staged,
};
use crate::{
    caller::Caller,
    protocol::{ErrorCode, PictureSent, ProtocolError, Verb, answer_rights, given_answer},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_agent::{Mode, attached_image};
use interpreter_core::{
    Language,
    egress::authority,
    proposal::unfit,
    session::{AnswerRefused, AnswerTaken, Attachment, Event, GivenAnswer},
};
use interpreter_store::PackedOutput;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Pictures that go with one prompt.
const MOST_PICTURES: usize = 8;

/// Refuses what the caller may not do.
pub(crate) fn check_rights(caller: &Caller, verb: &Verb) -> Result<(), ProtocolError> {
    check(caller, verb.rights())
}

fn malformed(text: impl Into<String>) -> ProtocolError {
    ProtocolError::new(ErrorCode::Malformed, text)
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

impl SessionHub {
    /// Performs a verb for a caller. Subscriptions belong to a connection, so they are not
    /// performed here.
    pub(crate) async fn perform_verb(
        &self,
        caller: &Caller,
        verb: Verb,
    ) -> Result<Value, ProtocolError> {
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
            Verb::Prompt { session, text, images } => {
                let held = self.running(&session).await?;
                self.prompt(&held, text, images, caller).await
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
            Verb::Restart { session, language } => {
                let held = self.running(&session).await?;
                let language = language.map(|name| find_language(&held, &name)).transpose()?;
                begin(&held, vec![Event::Restart(language)], who).await?;
                Ok(nothing())
            }
            Verb::Changes { session, path } => {
                let held = self.running(&session).await?;
                staged::changes(&held, path, caller).await
            }
            Verb::Apply { session, changes, picks } => {
                let held = self.running(&session).await?;
                staged::apply(&self.shared, &held, &changes, picks, caller).await
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
            Verb::Grant { session, revoke, close, .. } => {
                let held = self.running(&session).await?;
                self.grant(&held, revoke, close.as_deref(), who).await
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
        let held = self.running(session).await?;
        let voter = self.voter(caller, session).await?;
        let who = Some(caller.name.clone());
        let given = held.session.answer(question.clone(), hash, answer, who, voter).await;
        let given = given.map_err(|refused| refusal(&refused))?;
        if given == AnswerTaken::Decides {
            // Whoever goes on at once must not find it open.
            held.closed(&question).await;
        }
        Ok(taken(given))
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

    async fn prompt(
        &self,
        held: &HeldSession,
        text: String,
        images: Vec<PictureSent>,
        caller: &Caller,
    ) -> Result<Value, ProtocolError> {
        if held.mode == Mode::Run {
            let text = "this session runs code and talks to no model";
            return Err(
                ProtocolError::new(ErrorCode::NoModel, text).hint("open one of mode `chat`")
            );
        }
        if text.trim().is_empty() {
            return Err(malformed("prompt: `text` is empty"));
        }
        if images.len() > MOST_PICTURES {
            let text = format!("{MOST_PICTURES} pictures go with one prompt");
            return Err(ProtocolError::new(ErrorCode::TooMany, text));
        }
        let pictures = if images.is_empty() { Vec::new() } else { read_pictures(images).await? };
        let (attached, beside): (Vec<_>, Vec<_>) = pictures.into_iter().unzip();
        let mut events: Vec<_> = attached.into_iter().map(Event::Attached).collect();
        events.push(Event::Asked(text));
        let events = self.spoken_by(caller, events);
        let begins = held.session.begin_with(events, beside, Some(caller.name.clone()));
        begun(held, begins.await).await?;
        Ok(nothing())
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

    async fn grant(
        &self,
        held: &HeldSession,
        revoke: Option<u32>,
        close: Option<&str>,
        who: &str,
    ) -> Result<Value, ProtocolError> {
        let refused = |text| Err(ProtocolError::new(ErrorCode::Refused, text));
        let mut taken = None;
        let mut closed = None;
        if let Some(number) = revoke {
            if !held.standing().iter().any(|one| one.number == number) {
                return refused(format!("there is no standing answer {number}"));
            }
            taken = Some(Event::StandingRevoked(number));
        }
        if let Some(place) = close {
            let (host, port) = authority(place, Some(443))
                .map_err(|error| malformed(format!("grant: `close`: {error}")))?;
            if !held.granted_hosts().contains(&(host.clone(), port)) {
                let place = host.with_port(port);
                return refused(format!("{place} was not granted in this session"));
            }
            closed = Some((host.clone(), port));
            taken = Some(Event::HostRevoked(host, port));
        }
        if let Some(event) = taken {
            // Also while something is under way: that is when it matters.
            let mut progress = held.progress();
            held.session.send_as(who, event);
            let stands = || {
                revoke.is_some_and(|number| held.standing().iter().any(|one| one.number == number))
                    || closed.as_ref().is_some_and(|place| held.granted_hosts().contains(place))
            };
            while stands() && progress.borrow_and_update().doing != Doing::Ended {
                // The sender is held by the session that is waited for.
                _ = progress.changed().await.is_ok();
            }
        }
        let told = |one: &interpreter_core::StandingAnswer| {
            let mut told = json!(one);
            told["words"] = one.covers.words().into();
            told
        };
        let hosts = held.granted_hosts();
        let hosts = hosts.iter().map(|(host, port)| host.with_port(*port)).collect::<Vec<_>>();
        let standing = held.standing().iter().map(told).collect::<Vec<_>>();
        Ok(json!({ "standing": standing, "hosts": hosts }))
    }
}

/// The pictures of a prompt. They stay in memory until it is taken.
async fn read_pictures(
    images: Vec<PictureSent>,
) -> Result<Vec<(Attachment, PackedOutput)>, ProtocolError> {
    elsewhere(move || {
        let attached = images.iter().map(|image| {
            let bytes = STANDARD.decode(&image.data);
            let bytes = bytes.map_err(|_| malformed("prompt: `data` is not base64"))?;
            let refused = |error| ProtocolError { code: ErrorCode::Refused, ..failed(&error) };
            attached_image(&image.name, &bytes).map_err(refused)
        });
        attached.collect()
    })
    .await
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
        AnswerRefused::NotFitting { .. } => (ErrorCode::NotFitting, None),
        AnswerRefused::SessionOver => (ErrorCode::Ended, None),
    };
    ProtocolError { by, ..ProtocolError::new(code, refused.to_string()) }
}

fn no_connection() -> ProtocolError {
    let text = "a subscription needs a connection that stays";
    ProtocolError::new(ErrorCode::NotOffered, text)
}

fn no_team() -> ProtocolError {
    let hint = "`interpreter serve --team` is for several";
    ProtocolError::new(ErrorCode::NotOffered, "this server has one person").hint(hint)
}
