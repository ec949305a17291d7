//! Calls of the model: which one is talked to, what it is asked, and what it says.

use super::Driver;
use crate::{
    AgentError, Live, Update,
    error::{chain, choice_failure, model_failure},
    meter::Sent,
    profile::Chosen,
    speech::Speech,
};
use interpreter_core::{
    Body, Finish, Message, Reply,
    record::TurnEnd,
    session::{Event, Failure, NewModel},
};
use interpreter_model::{ModelError, ReplyPiece, Request, Tools};
use interpreter_store::StoreError;
use std::{
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::mpsc, task::JoinHandle};

/// A call that is under way.
pub(super) struct Call {
    pieces: mpsc::Receiver<ReplyPiece>,
    pub(super) task: JoinHandle<Result<Reply, ModelError>>,
    speech: Speech,
    purpose: Purpose,
    sent: Sent,
    /// The moment when it uses up a budget of time.
    due: Option<Instant>,
}

impl Call {
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

/// The purpose of a model call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To answer the person, who reads along.
    Reply,
    /// To sum up what was said.
    Summary,
}

impl Driver {
    /// Finds a model, and keeps it until the session takes it.
    pub(super) fn find_model(&mut self, name: &str) -> Result<Box<NewModel>, Failure> {
        let chosen = self.context.chosen(Some(name)).map_err(|error| choice_failure(&error))?;
        let Chosen { model, profile, sampling, notes } = chosen;
        let name = model.name().to_owned();
        self.found = Some((model, sampling, profile.opening.clone()));
        Ok(Box::new(NewModel { name, profile, notes }))
    }

    /// Talks to the model that was found. The old one goes before the new one is loaded: there may be
    /// no room for both.
    pub(super) fn use_model(&mut self) {
        let Some((model, sampling, opening)) = self.found.take() else { return };
        self.model = None;
        model.prepare(&opening);
        (self.model, self.sampling) = (Some(Arc::new(model)), sampling);
    }

    pub(super) fn call_model(&mut self, messages: Arc<Vec<Message>>, purpose: Purpose) {
        let Some(model) = self.model.clone() else { return };
        let (sink, pieces) = mpsc::channel(64);
        let tools = match purpose {
            Purpose::Reply => model.tools(),
            // It is to write, and not to do anything.
            Purpose::Summary => Tools::None,
        };
        let sent = Sent::now(Arc::clone(&messages));
        if let Err(error) = self.meter.expect(sent.expected()) {
            return self.not_counted(&error, purpose);
        }
        let left = self.state.seconds_left().map(|left| Duration::from_secs(left.get().into()));
        let due = left.and_then(|left| Instant::now().checked_add(left));
        let request = Request {
            // A second time: whatever was said before a secret was known is sent again too.
            messages: self.redactor.messages(messages),
            tools,
            max_tokens: self.sampling.max_tokens,
            temperature: self.sampling.temperature,
        };
        let speech = Speech::new(Arc::clone(&self.redactor));
        let task = tokio::spawn(async move { model.stream(&request, &sink).await });
        self.call = Some(Call { pieces, task, speech, purpose, sent, due });
    }

    /// A call that can't be counted isn't made: a budget that can't be looked at is used up.
    fn not_counted(&mut self, error: &StoreError, purpose: Purpose) {
        let message = format!("what was spent today cannot be counted: {}", chain(error));
        let failure = Failure { message, hint: None, end: TurnEnd::OverBudget };
        self.owed.push_back(match purpose {
            Purpose::Reply => Event::Failed(failure),
            Purpose::Summary => Event::Summarised(Err(failure)),
        });
    }

    /// Ends a call whose reply is no longer needed. It still costs.
    pub(super) fn drop_call(&mut self) {
        let Some(Call { task, sent, .. }) = self.call.take() else { return };
        task.abort();
        // No one is left to hear of a failure.
        _ = self.meter.count_call(sent.spent(None)).is_ok();
    }

    pub(super) async fn hear(&mut self, piece: ReplyPiece) {
        if let ReplyPiece::Note(text) = piece {
            self.journal.note(Body::Note { text });
            return;
        }
        if let ReplyPiece::Headway(headway) = piece {
            return self.update(Update::Headway(headway)).await;
        }
        let Some(call) = &mut self.call else { return };
        call.sent.hear(&piece);
        if let Some(more) = call.sent.grown() {
            // If it cannot be written, the end of the call finds that out.
            _ = self.meter.expect(more).is_ok();
        }
        let (shown, purpose) = (call.speech.hear(piece), call.purpose);
        if purpose == Purpose::Reply {
            self.show(shown).await;
        }
    }

    /// No more pieces: the call has ended, one way or the other.
    pub(super) async fn model_done(&mut self) -> Result<(), AgentError> {
        let Some(Call { task, mut speech, purpose, sent, .. }) = self.call.take() else {
            return Ok(());
        };
        if purpose == Purpose::Reply {
            self.show(speech.end()).await;
        }
        let ended = task.await;
        let reply = ended.as_ref().ok().and_then(|said| said.as_ref().ok());
        self.count_call(sent.spent(reply.and_then(|reply| reply.usage))).await?;
        match ended {
            Ok(said) if purpose == Purpose::Summary => {
                let said = said.map_err(|error| model_failure(&error));
                self.happened(Event::Summarised(said)).await
            }
            Ok(Ok(reply)) => self.happened(Event::Replied(reply)).await,
            Ok(Err(error @ ModelError::ContextTooLong { .. })) if speech.is_silent() => {
                self.happened(Event::TooLong(model_failure(&error))).await
            }
            Ok(Err(error)) => {
                self.keep_fragment(speech);
                self.happened(Event::Failed(model_failure(&error))).await
            }
            // It was aborted, and whoever did that has said so; or it panicked, which is a bug
            // that must not pass for a reply.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// The call takes longer than a budget of time leaves, and so does not end by itself.
    pub(super) async fn call_is_due(&mut self) -> Result<(), AgentError> {
        let Some(Call { task, mut speech, purpose, sent, .. }) = self.call.take() else {
            return Ok(());
        };
        task.abort();
        if purpose == Purpose::Reply {
            self.show(speech.end()).await;
            self.keep_fragment(speech);
        }
        self.count_call(sent.spent(None)).await?;
        // A day that has just ended leaves its budget unused.
        let failure = self.state.over_budget().unwrap_or_else(|| Failure {
            message: "a budget of time left no more for this reply".into(),
            hint: None,
            end: TurnEnd::OverBudget,
        });
        self.happened(Event::Failed(failure)).await
    }

    /// Puts on record as much of a reply as came before it broke off.
    fn keep_fragment(&mut self, speech: Speech) {
        if let Some(Reply { text, reasoning, calls, finish, .. }) = speech.fragment() {
            self.journal.note(Body::Reply { text, reasoning, calls, finish });
        }
    }

    pub(super) async fn cancel_model(&mut self) {
        let Some(Call { task, mut speech, purpose, sent, .. }) = self.call.take() else { return };
        task.abort();
        let shown = speech.end();
        let fragment = speech.fragment();
        let counted = self.meter.count_call(sent.spent(None));
        // If it cannot be counted, the next call finds that out.
        self.owed.extend(counted.ok().map(Event::Counted));
        let nothing = Reply { finish: Finish::Interrupted, ..Reply::default() };
        if purpose == Purpose::Summary {
            self.owed.push_back(Event::Summarised(Ok(nothing)));
            return;
        }
        self.show(shown).await;
        self.owed.push_back(Event::Replied(fragment.unwrap_or(nothing)));
    }

    async fn show(&mut self, pieces: Vec<Live>) {
        for live in pieces {
            self.update(Update::Live(live)).await;
        }
    }
}

/// The next piece from the model; pending for ever while there is no call.
pub(super) async fn next_piece(call: Option<&mut Call>) -> Option<ReplyPiece> {
    match call {
        Some(call) => call.pieces.recv().await,
        None => pending().await,
    }
}
