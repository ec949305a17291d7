//! Answers a request in the form of `OpenAI`, whole or as it comes.
//!
//! Nothing is queued for a client that reads slowly: the next piece is made when the one before was
//! taken. The answer ends with the login or token, and with the server.

use super::{
    asked::{Chain, OpenAiAsked, after_answer},
    chat_form::{AnswerHead, ChatForm},
    conversations::Conversations,
    described::OpenAiCall,
    following::TurnEnd,
    refusal::OpenAiRefusal,
    response_form::{ResponseEnd, ResponseForm},
    turn::{Turn, TurnNews},
};
use crate::{
    Right, Service,
    http::{
        answers::{self, Answered},
        logins::Known,
        refusal::HttpRefusal,
    },
    protocol::ErrorCode,
};
use bytes::Bytes;
use futures_util::stream::unfold;
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};

/// How often a quiet stream shows that it is there.
const BEAT: Duration = Duration::from_secs(15);

/// A request, with its body.
pub(in crate::http) struct OpenAiHttp<'a> {
    pub(in crate::http) call: OpenAiCall,
    pub(in crate::http) body: Bytes,
    /// Where the page is.
    pub(in crate::http) origin: &'a str,
    pub(in crate::http) conversations: &'a Arc<Conversations>,
    /// Fails to wait for more when the server ends.
    pub(in crate::http) stopped: watch::Receiver<()>,
}

/// The form that the client wants.
enum AnswerForm {
    Chat(ChatForm),
    Response(Box<ResponseForm>),
}

/// An answer that is being made.
struct OpenAiAnswer<S: Service> {
    turn: Turn<S>,
    form: AnswerForm,
    id: String,
    link: String,
    /// The conversation before this answer.
    chain: Option<Chain>,
    tells_usage: bool,
    known: Known,
    stopped: watch::Receiver<()>,
}

/// The next piece of a stream.
struct AnswerPiece {
    events: String,
    /// All of the answer, or why there is none, at its end.
    end: Option<Result<Value, OpenAiRefusal>>,
}

/// Answers it, unless the login or token ends before.
pub(in crate::http) async fn answer<S: Service>(
    service: &Arc<S>,
    known: Known,
    request: OpenAiHttp<'_>,
) -> Result<Answered, HttpRefusal> {
    let mut watched = known.clone();
    let made = async {
        match begin(service, known, request).await {
            Ok((answer, true)) => Ok(stream(answer)),
            Ok((mut answer, false)) => answer.whole().await,
            Err(refusal) => Err(refusal),
        }
    };
    let made = tokio::select! {
        biased;
        () = watched.ended() => return Err(HttpRefusal::NotLoggedIn),
        made = made => made,
    };
    Ok(made.unwrap_or_else(|refusal| answers::openai_refused(refusal.status, &refusal.body())))
}

/// Begins an answer, and says whether the client asked for a stream.
async fn begin<S: Service>(
    service: &Arc<S>,
    known: Known,
    request: OpenAiHttp<'_>,
) -> Result<(OpenAiAnswer<S>, bool), OpenAiRefusal> {
    let OpenAiHttp { call, body, origin, conversations, stopped } = request;
    let asked = OpenAiAsked::read(call, &body)?;
    // Before a session begins whose records the caller could not read.
    if !known.caller.rights.has(Right::Watch) {
        return Err(OpenAiRefusal::of(ErrorCode::NotAllowed, "this takes the right `watch` too"));
    }
    let turn = Turn::begin(service, &known.caller, conversations, &asked).await?;
    let (session, position) = (turn.session().to_owned(), turn.position());
    let id = match call {
        OpenAiCall::Chat => format!("chatcmpl-{session}-{position}"),
        OpenAiCall::Responses => format!("resp_{session}_{position}"),
    };
    let link = format!("{origin}/#/s/{session}");
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (model, link_of) = (asked.model.clone(), link.clone());
    let head = AnswerHead { id: id.clone(), created, model, link: link_of };
    let (form, chain) = match call {
        OpenAiCall::Chat => (AnswerForm::Chat(ChatForm::new(head)), asked.chains().pop()),
        OpenAiCall::Responses => {
            let form = ResponseForm::new(head, &session, asked.previous.as_deref());
            (AnswerForm::Response(Box::new(form)), None)
        }
    };
    let tells_usage = asked.tells_usage;
    let answer = OpenAiAnswer { turn, form, id, link, chain, tells_usage, known, stopped };
    Ok((answer, asked.streams))
}

fn stream<S: Service>(mut answer: OpenAiAnswer<S>) -> Answered {
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = Some(answer.begun());
    let frames = unfold((answer, beat, begun, false), async |state| {
        let (mut answer, mut beat, begun, is_over) = state;
        if is_over {
            return None;
        }
        if let Some(begun) = begun {
            return Some((Bytes::from(begun), (answer, beat, None, false)));
        }
        let (events, is_over) = answer.next(&mut beat).await?;
        Some((Bytes::from(events), (answer, beat, None, is_over)))
    });
    answers::events(frames)
}

impl<S: Service> OpenAiAnswer<S> {
    /// All of it at once.
    async fn whole(&mut self) -> Result<Answered, OpenAiRefusal> {
        loop {
            let news = tokio::select! {
                biased;
                _ = self.stopped.changed() => {
                    return Err(OpenAiRefusal::of(ErrorCode::Ending, "the server is ending"));
                }
                news = self.turn.next() => news,
            };
            if let Some(end) = self.hear(news).end {
                return end.map(|whole| answers::json(whole.to_string()));
            }
        }
    }

    /// The first events.
    fn begun(&mut self) -> String {
        match &mut self.form {
            AnswerForm::Chat(form) => form.begin(),
            AnswerForm::Response(form) => {
                form.begin();
                form.due()
            }
        }
    }

    /// The next events, and whether they are the last. Nothing if it ends without any.
    async fn next(&mut self, beat: &mut Interval) -> Option<(String, bool)> {
        loop {
            let news = tokio::select! {
                biased;
                () = self.known.ended() => return None,
                _ = self.stopped.changed() => return None,
                news = self.turn.next() => news,
                _ = beat.tick() => return Some((": beat\n\n".into(), false)),
            };
            if self.known.is_gone() {
                return None;
            }
            let AnswerPiece { events, end } = self.hear(news);
            if end.is_some() || !events.is_empty() {
                return Some((events, end.is_some()));
            }
        }
    }

    fn hear(&mut self, news: TurnNews) -> AnswerPiece {
        let usage = self.turn.usage();
        let piece = match &mut self.form {
            AnswerForm::Chat(form) => hear_chat(form, news, &self.link, |form, finish| {
                (form.end(finish, usage, self.tells_usage), form.whole(finish, usage))
            }),
            AnswerForm::Response(form) => hear_response(form, news, &self.link, usage),
        };
        if let Some(Ok(_)) = &piece.end {
            let chain = match (&self.form, &self.chain) {
                (AnswerForm::Chat(form), Some(chain)) => Some(after_answer(chain, form.text())),
                (AnswerForm::Chat(_) | AnswerForm::Response(_), _) => None,
            };
            self.turn.reach(chain, &self.id);
        } else if piece.end.is_some() {
            self.turn.reach(None, &self.id);
        }
        piece
    }
}

fn hear_chat(
    form: &mut ChatForm,
    news: TurnNews,
    link: &str,
    end: impl Fn(&ChatForm, &str) -> (String, Value),
) -> AnswerPiece {
    let from = form.text().len();
    let (finish, refusal) = match news {
        TurnNews::Parts(parts) => {
            for part in &parts {
                form.take(part);
            }
            (None, None)
        }
        TurnNews::Asks { question, is_unsent } => {
            form.paragraph(&question.shown(link, is_unsent));
            (Some("stop"), None)
        }
        TurnNews::Ended(TurnEnd::Done) => (Some("stop"), None),
        TurnNews::Ended(TurnEnd::CutShort(why)) => {
            form.paragraph(&why);
            (Some("length"), None)
        }
        TurnNews::Ended(TurnEnd::Failed(why)) => {
            (None, Some(OpenAiRefusal::of(ErrorCode::Failed, &why)))
        }
        TurnNews::Refused(refusal) => (None, Some(refusal)),
    };
    let more = form.more(form.text().get(from..).unwrap_or_default());
    match (finish, refusal) {
        (_, Some(refusal)) => {
            let events = format!("{more}data: {}\n\ndata: [DONE]\n\n", refusal.body());
            AnswerPiece { events, end: Some(Err(refusal)) }
        }
        (Some(finish), None) => {
            let (events, whole) = end(form, finish);
            AnswerPiece { events: more + &events, end: Some(Ok(whole)) }
        }
        (None, None) => AnswerPiece { events: more, end: None },
    }
}

fn hear_response(
    form: &mut ResponseForm,
    news: TurnNews,
    link: &str,
    usage: Option<super::following::TokenSum>,
) -> AnswerPiece {
    let end = match news {
        TurnNews::Parts(parts) => {
            for part in &parts {
                form.take(part);
            }
            None
        }
        TurnNews::Asks { question, is_unsent } => {
            let words = question.shown(link, is_unsent);
            let end = ResponseEnd::Asks { question: &question, words: &words };
            Some(Ok(form.end(&end, usage)))
        }
        TurnNews::Ended(TurnEnd::Done) => Some(Ok(form.end(&ResponseEnd::Completed, usage))),
        TurnNews::Ended(TurnEnd::CutShort(why)) => {
            form.paragraph(&why);
            Some(Ok(form.end(&ResponseEnd::CutShort, usage)))
        }
        TurnNews::Ended(TurnEnd::Failed(why)) => {
            form.end(&ResponseEnd::Failed(&why), usage);
            Some(Err(OpenAiRefusal::of(ErrorCode::Failed, &why)))
        }
        TurnNews::Refused(refusal) => {
            form.end(&ResponseEnd::Failed(&refusal.message), usage);
            Some(Err(refusal))
        }
    };
    AnswerPiece { events: form.due(), end }
}
