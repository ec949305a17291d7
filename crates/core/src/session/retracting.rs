//! The person takes the last prompt back, or has it answered again.
//!
//! Only the conversation changes. Code that ran has run: its variables and staged files stay.

use super::state::State;
use crate::{Body, Message, record::TurnEnd};
use std::sync::Arc;

impl State {
    /// Has the model answer the last prompt again.
    pub(super) fn retried(&mut self) {
        let Some(at) = self.last_prompt() else { return self.nothing_asked() };
        self.keep_first(at + 1);
        self.begin_turn();
    }

    /// Removes the last prompt and everything after it.
    pub(super) fn forgotten(&mut self) {
        let Some(at) = self.last_prompt() else { return self.nothing_asked() };
        self.keep_first(at);
        self.note("your last prompt and everything after it are removed from the conversation");
        self.finish(TurnEnd::Done);
    }

    fn nothing_asked(&mut self) {
        self.note("the conversation has no prompt that could be taken back");
        self.finish(TurnEnd::Done);
    }

    /// Where the last prompt of the person is. Examples in the opening are none.
    fn last_prompt(&self) -> Option<usize> {
        let opening = self.setup.profile.opening.len();
        let is_prompt = |message: &Message| matches!(message, Message::User { .. });
        self.messages.iter().rposition(is_prompt).filter(|at| *at >= opening)
    }

    fn keep_first(&mut self, count: usize) {
        if count == self.messages.len() {
            return;
        }
        Arc::make_mut(&mut self.messages).truncate(count);
        self.window.forget();
        self.changed_after(count);
        self.record(Body::Conversation { after: count, messages: Vec::new() });
    }
}
