//! One request of a client, as requests of the protocol: finds or begins its session, tells what the
//! client missed, sends the prompt, and follows until the turn ends or a question is open.
//!
//! A client that leaves before interrupts the turn that its own prompt began, and nothing else: a
//! turn that goes on by somebody's answer does so without it.

use super::{
    asked::OpenAiAsked,
    conversations::{ConversationPlace, Conversations, NoPlace, NoRoom, UsedConversation},
    described::OpenAiCall,
    following::{TokenSum, TurnEnd, TurnFold, TurnPart},
    refusal::OpenAiRefusal,
};
use crate::{
    Caller, Service,
    http::{
        api::{Piece, Subscription},
        open_question::OpenQuestion,
    },
    protocol::ErrorCode,
};
use serde_json::{Value, json};
use std::{collections::VecDeque, sync::Arc};

/// The next thing that happens in an answer.
#[derive(Debug)]
pub(super) enum TurnNews {
    Parts(Vec<TurnPart>),
    /// A question is open, and the answer ends with it.
    Asks {
        question: OpenQuestion,
        is_unsent: bool,
    },
    Ended(TurnEnd),
    Refused(OpenAiRefusal),
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client gets what it missed, up to this record.
    CatchesUp {
        until: u64,
        is_under_way: bool,
    },
    /// A turn goes on that somebody's answer set off.
    Waits,
    /// The prompt was sent.
    Follows,
    Over,
}

/// One request that is being answered.
pub(super) struct Turn<S: Service> {
    service: Arc<S>,
    caller: Caller,
    used: UsedConversation,
    session: String,
    subscription: Subscription,
    lines: VecDeque<String>,
    fold: TurnFold,
    /// The number of the last record that was taken in.
    at: u64,
    phase: Phase,
    /// The session was resumed, and may still be asking what it asked before.
    is_resumed: bool,
    prompt: Value,
    due: Option<TurnNews>,
}

/// A session that is there, and how far its client is.
struct FoundSession {
    used: UsedConversation,
    /// Messages that it knows.
    known: usize,
    is_resumed: bool,
}

/// Has the service perform a verb.
async fn perform<S: Service>(
    service: &S,
    caller: &Caller,
    request: Value,
) -> Result<Value, OpenAiRefusal> {
    let mut request = request;
    request["id"] = 1.into();
    let reply = service.perform(caller.clone(), request.to_string()).await;
    let mut reply: Value = serde_json::from_str(&reply).unwrap_or_default();
    if reply["error"].is_object() {
        return Err(OpenAiRefusal::of_error(&reply["error"]));
    }
    Ok(reply["ok"].take())
}

fn session_of(ok: &Value) -> String {
    ok["session"].as_str().unwrap_or_default().to_owned()
}

/// The session that the id of an answer names.
fn named_session(answer: &str) -> Option<&str> {
    let (session, position) = answer.strip_prefix("resp_")?.rsplit_once('_')?;
    position.bytes().all(|byte| byte.is_ascii_digit()).then_some(session)
}

fn not_found(answer: &str) -> OpenAiRefusal {
    let short: String = answer.chars().take(100).collect();
    let message = format!("Previous response with id '{short}' not found.");
    let refusal = OpenAiRefusal::parameter("previous_response_id", message);
    refusal.with_code("previous_response_not_found")
}

impl<S: Service> Turn<S> {
    /// Finds or begins the session, and sends the prompt unless the client missed something.
    pub(super) async fn begin(
        service: &Arc<S>,
        caller: &Caller,
        conversations: &Arc<Conversations>,
        asked: &OpenAiAsked,
    ) -> Result<Self, OpenAiRefusal> {
        let found = find(service, caller, conversations, asked).await?;
        let FoundSession { used, known, is_resumed } = found;
        let ConversationPlace { session, seen, pending, .. } = used.place();
        let list = json!({ "do": "list", "session": session });
        let listed = perform(service.as_ref(), caller, list).await?;
        let row = &listed["sessions"][0];
        let until = row["seq"].as_u64().unwrap_or_default();
        let is_under_way = matches!(row["state"].as_str(), Some("thinking" | "running"));
        let (text, pictures) = asked.prompt(known);
        let images: Vec<_> = pictures
            .iter()
            .zip(1..)
            .map(|(one, number)| {
                json!({ "name": format!("picture-{number}.{}", one.kind), "data": one.base64 })
            })
            .collect();
        let prompt = json!({ "do": "prompt", "session": session, "text": text, "images": images });
        // A session that has just begun has nothing that the client lacks.
        let seen = if seen == 0 && !is_resumed { until } else { seen };
        let mut turn = Self {
            service: Arc::clone(service),
            caller: caller.clone(),
            subscription: Subscription::begin(service, caller.clone(), &session, seen),
            fold: TurnFold::new(pending, &listed["questions"]),
            lines: VecDeque::new(),
            at: seen,
            phase: Phase::CatchesUp { until, is_under_way },
            used,
            session,
            is_resumed,
            prompt,
            due: None,
        };
        match turn.settle().await {
            Some(TurnNews::Refused(refusal)) => Err(refusal),
            due => {
                turn.due = due;
                Ok(turn)
            }
        }
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// The number of the last record that was taken in.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    pub(super) fn usage(&self) -> Option<TokenSum> {
        self.fold.usage()
    }

    /// The client has this answer, which ends here.
    pub(super) fn reach(&self, chain: Option<super::asked::Chain>, answer: &str) {
        self.used.reach(ConversationPlace {
            session: self.session.clone(),
            seen: self.at,
            pending: self.fold.pending(),
            chain,
            answer: answer.into(),
        });
    }

    /// Waits for what happens next. May be dropped at any time without losing anything.
    pub(super) async fn next(&mut self) -> TurnNews {
        if let Some(due) = self.due.take() {
            return due;
        }
        let mut parts = Vec::new();
        loop {
            if self.is_settled() && parts.is_empty() {
                if let Some(news) = self.settle().await {
                    return news;
                }
                continue;
            }
            if !parts.is_empty() && (self.is_settled() || self.lines.is_empty()) {
                return TurnNews::Parts(parts);
            }
            let Some(line) = self.lines.pop_front() else {
                match self.subscription.next().await {
                    Some(lines) => self.lines.extend(lines),
                    None => return self.over(TurnNews::Ended(gone())),
                }
                continue;
            };
            match Piece::of(&line) {
                Piece::Reply(reply) if reply["error"].is_object() => {
                    let refusal = OpenAiRefusal::of_error(&reply["error"]);
                    return self.over(TurnNews::Refused(refusal));
                }
                Piece::Reply(_) => {}
                Piece::Broken => return self.over(TurnNews::Ended(gone())),
                Piece::Live => {
                    parts.extend(self.fold.live(&serde_json::from_str(&line).unwrap_or_default()));
                }
                Piece::Record { is_last: true, .. } => {
                    return self.over(TurnNews::Ended(gone()));
                }
                Piece::Record { seq, .. } => {
                    self.at = seq;
                    let record = serde_json::from_str(&line).unwrap_or_default();
                    parts.extend(self.fold.record(&record));
                }
            }
        }
    }

    fn over(&mut self, news: TurnNews) -> TurnNews {
        self.phase = Phase::Over;
        news
    }

    /// Whether something is to be decided before the next line.
    fn is_settled(&self) -> bool {
        let has_news = self.fold.question().is_some() || self.fold.has_ended();
        match self.phase {
            Phase::CatchesUp { until, .. } => self.at >= until,
            Phase::Waits | Phase::Follows => has_news,
            Phase::Over => true,
        }
    }

    /// Goes on to the next phase where this one is done.
    async fn settle(&mut self) -> Option<TurnNews> {
        if !self.is_settled() {
            return None;
        }
        let has_prompt = self.phase == Phase::Follows;
        if let Some(question) = self.fold.question().cloned() {
            let is_unsent = !has_prompt;
            return Some(self.over(TurnNews::Asks { question, is_unsent }));
        }
        let end = self.fold.take_end();
        match self.phase {
            Phase::Over => return Some(TurnNews::Ended(gone())),
            Phase::Follows => {
                return end.map(|end| self.over(TurnNews::Ended(end)));
            }
            Phase::CatchesUp { is_under_way: true, .. } => {
                self.phase = Phase::Waits;
                return missed(end);
            }
            Phase::CatchesUp { .. } | Phase::Waits => {}
        }
        let missed = missed(end);
        let sent = self.send().await;
        sent.err().map(|refusal| self.over(TurnNews::Refused(refusal))).or(missed)
    }

    async fn send(&mut self) -> Result<(), OpenAiRefusal> {
        // From here on, whoever leaves interrupts it.
        self.phase = Phase::Follows;
        let sent = perform(self.service.as_ref(), &self.caller, self.prompt.clone()).await;
        match sent {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.code == "busy" && self.is_resumed => {
                // It is about to ask what it asked before.
                (self.phase, self.is_resumed) = (Phase::Waits, false);
                Ok(())
            }
            Err(refusal) => Err(refusal),
        }
    }
}

/// The end of a turn that the client missed, where it must know it.
fn missed(end: Option<TurnEnd>) -> Option<TurnNews> {
    match end {
        Some(TurnEnd::Failed(why) | TurnEnd::CutShort(why)) => {
            Some(TurnNews::Parts(vec![TurnPart::Remark(why)]))
        }
        Some(TurnEnd::Done) | None => None,
    }
}

fn gone() -> TurnEnd {
    TurnEnd::Failed("the session has ended".into())
}

impl<S: Service> Drop for Turn<S> {
    fn drop(&mut self) {
        if self.phase != Phase::Follows {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (service, caller) = (Arc::clone(&self.service), self.caller.clone());
        let request = json!({ "do": "interrupt", "session": self.session });
        runtime.spawn(async move {
            // A session that has ended needs none.
            _ = perform(service.as_ref(), &caller, request).await.is_ok();
        });
    }
}

/// The session in which a conversation goes on, or another one.
async fn find<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    conversations: &Arc<Conversations>,
    asked: &OpenAiAsked,
) -> Result<FoundSession, OpenAiRefusal> {
    let found = match (asked.call, &asked.previous) {
        (OpenAiCall::Responses, Some(previous)) => {
            let session = named_session(previous).ok_or_else(|| not_found(previous))?;
            match conversations.by_answer(&caller.key(), session, previous) {
                Ok(used) => Some((used, 0)),
                Err(NoPlace::Unknown) => {
                    return go_back(service, caller, conversations, previous, session).await;
                }
                Err(NoPlace::Passed) => {
                    let message = "the conversation has gone on since that response; name its \
                        newest one";
                    let refusal = OpenAiRefusal::parameter("previous_response_id", message);
                    return Err(refusal.with_code("not_newest"));
                }
                Err(NoPlace::Used) => {
                    let message = "a response is being made in this conversation";
                    return Err(OpenAiRefusal::of(ErrorCode::Busy, message));
                }
            }
        }
        (OpenAiCall::Responses, None) => None,
        (OpenAiCall::Chat, _) => {
            // Its last message is new in any case, and what is new is the user's.
            let chains = asked.chains();
            let known = &chains[..chains.len() - 1];
            let found = conversations.by_chain(&caller.key(), known);
            found.filter(|(_, known)| asked.has_only_new_wishes(*known))
        }
    };
    let Some((used, known)) = found else {
        let used = room(service, caller, conversations).await?;
        let mut open = json!({ "do": "open" });
        if let Some(model) = asked.named_model() {
            open["model"] = model.into();
        }
        let used = in_session(service, caller, used, open).await?;
        return Ok(FoundSession { used, known: 0, is_resumed: false });
    };
    let session = used.place().session;
    let list = json!({ "do": "list", "session": session });
    let listed = perform(service.as_ref(), caller, list).await?;
    if listed["sessions"][0]["state"] != "ended" {
        return Ok(FoundSession { used, known, is_resumed: false });
    }
    let used = resumed(service, caller, used, &session).await?;
    Ok(FoundSession { used, known, is_resumed: true })
}

/// Goes on with a conversation that is not held any more, as its session has ended.
async fn go_back<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    conversations: &Arc<Conversations>,
    previous: &str,
    session: &str,
) -> Result<FoundSession, OpenAiRefusal> {
    let list = json!({ "do": "list", "session": session });
    let listed = perform(service.as_ref(), caller, list).await;
    let has_ended = listed.is_ok_and(|listed| listed["sessions"][0]["state"] == "ended");
    if !has_ended {
        return Err(not_found(previous));
    }
    let used = room(service, caller, conversations).await?;
    let used = resumed(service, caller, used, session).await?;
    Ok(FoundSession { used, known: 0, is_resumed: true })
}

async fn resumed<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    used: UsedConversation,
    session: &str,
) -> Result<UsedConversation, OpenAiRefusal> {
    let resume = json!({ "do": "resume", "session": session });
    let used = in_session(service, caller, used, resume).await?;
    let place = used.place();
    used.reach(ConversationPlace { seen: 0, ..place });
    Ok(used)
}

/// Begins the session of a conversation. Goes on if the client leaves, so that none is forgotten.
async fn in_session<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    used: UsedConversation,
    request: Value,
) -> Result<UsedConversation, OpenAiRefusal> {
    let (service, caller) = (Arc::clone(service), caller.clone());
    let begun = tokio::spawn(async move {
        let begun = perform(service.as_ref(), &caller, request).await?;
        used.set_session(&session_of(&begun));
        Ok(used)
    });
    let broke = |_| OpenAiRefusal::of(ErrorCode::Failed, "the session could not begin");
    begun.await.map_err(broke)?
}

/// A place for another conversation, if need be that of the least recently used one that is idle.
async fn room<S: Service>(
    service: &Arc<S>,
    caller: &Caller,
    conversations: &Arc<Conversations>,
) -> Result<UsedConversation, OpenAiRefusal> {
    loop {
        let NoRoom(unused) = match conversations.reserve(&caller.key()) {
            Ok(used) => return Ok(used),
            Err(no_room) => no_room,
        };
        let list = json!({ "do": "list", "limit": 1 });
        let listed = perform(service.as_ref(), caller, list).await?;
        let rows = listed["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let state = |session: &str| {
            let row = rows.iter().find(|row| row["session"] == session);
            row.and_then(|row| row["state"].as_str()).unwrap_or("ended")
        };
        let idle = unused.iter().find(|session| matches!(state(session), "idle" | "ended"));
        let Some(session) = idle else {
            let message = "all conversations of this token wait for an answer or are under way";
            return Err(OpenAiRefusal::of(ErrorCode::TooMany, message));
        };
        if conversations.forget(&caller.key(), session) && state(session) == "idle" {
            let close = json!({ "do": "close", "session": session });
            // It may have ended meanwhile.
            _ = perform(service.as_ref(), caller, close).await.is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::named_session;

    #[test]
    fn an_answer_names_its_session() {
        assert_eq!(named_session("resp_0193-ab_17"), Some("0193-ab"));
        assert_eq!(named_session("resp_a_b_17"), Some("a_b"));
        for wrong in ["", "resp_", "resp_x", "resp_x_y", "chatcmpl-x-1", "0193_1"] {
            assert_eq!(named_session(wrong), None, "{wrong}");
        }
    }
}
