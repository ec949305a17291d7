//! From records back to the conversation that they tell of.
//!
//! Each step puts on record how it changed the conversation: a request has the messages that the
//! model had not seen, a reply is the model's own message, and `conversation` has the rest. So after
//! every step the records, folded in order, give the conversation as the model is sent it.
//!
//! Pictures come back without their bytes, which are stored beside the record, and results without
//! their parts that could be shortened. Must not read the record itself: `interpreter-store` does.

use super::{effect::Effect, setup::Setup, state::State};
use crate::{Body, Message};
use std::sync::Arc;

impl State {
    /// The conversation is another one after its first `kept` messages: the model has not seen that,
    /// and neither has the record.
    pub(super) fn changed_after(&mut self, kept: usize) {
        self.sent = self.sent.min(kept);
        self.recorded = self.recorded.min(kept);
        self.reply_at = None;
    }

    /// Puts on record the part of the conversation that no request and no reply has put there.
    pub(super) fn record_conversation(&mut self) {
        if self.recorded == self.messages.len() {
            return;
        }
        let after = self.reply_at.take().map_or(self.recorded, |at| at + 1);
        let messages = self.messages[after..].to_vec();
        self.effects.insert(0, Effect::Note(Body::Conversation { after, messages }));
        self.recorded = self.messages.len();
    }

    /// The session that these records tell of, between two turns. `setup` is that of its last model.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest does not change the conversation")]
    pub fn replay(setup: Setup, records: impl IntoIterator<Item = Body>) -> Self {
        let mut state = Self::new(setup);
        let mut reply = None;
        for body in records {
            match body {
                Body::Request { messages, newest, summary: false, .. } => {
                    state.go_on_after(messages.saturating_sub(newest.len()), newest, &mut reply);
                    state.sent = state.messages.len();
                }
                Body::Conversation { after, messages } => {
                    state.go_on_after(after, messages, &mut reply);
                }
                Body::Reply { text, calls, .. } => reply = Some(Message::Assistant { text, calls }),
                Body::Proposal { id, .. } => {
                    let number = id.strip_prefix('p').and_then(|number| number.parse().ok());
                    state.next_id = state.next_id.max(number.unwrap_or(0) + 1);
                }
                _ => {}
            }
        }
        state.recorded = state.messages.len();
        state
    }

    /// Keeps the first `after` messages, the newest reply among them if there is one more than that,
    /// and adds the others.
    fn go_on_after(&mut self, after: usize, more: Vec<Message>, reply: &mut Option<Message>) {
        if let Some(reply) = reply.take_if(|_| after == self.messages.len() + 1) {
            self.say(reply);
            self.sent = self.messages.len();
        }
        Arc::make_mut(&mut self.messages).truncate(after);
        self.sent = self.sent.min(after);
        for message in more {
            self.say(message);
        }
    }

    /// Whether these records tell of this very conversation, as the model is sent it.
    pub fn is_told_by(&self, records: impl IntoIterator<Item = Body>) -> bool {
        let view = |messages: &Arc<Vec<Message>>| {
            let mut messages = Arc::clone(messages);
            if !self.setup.profile.sees_images {
                Message::hide_images(&mut messages);
            }
            serde_json::to_value(&*messages).ok()
        };
        let replayed = Self::replay(self.setup.clone(), records);
        view(&replayed.messages) == view(&self.messages)
    }
}
