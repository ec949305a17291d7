//! The steps by which a conversation is made to fit, and sent.

use super::{
    effect::Effect,
    event::Failure,
    state::{Phase, State},
};
use crate::{
    Body, Finish, Message, Reply, Untrusted,
    context::{self, Fit},
    record::TurnEnd,
};
use std::{mem, sync::Arc};

impl State {
    /// Sends the conversation, once it fits. At most one part of it is summed up on the way.
    pub(super) fn fit_and_send(&mut self) {
        let fit = self.fit();
        self.send_fitted(&fit);
    }

    fn fit(&mut self) -> Fit {
        let messages = Arc::make_mut(&mut self.messages);
        let opening = self.setup.profile.opening.len();
        let hidden = if self.has_pictures {
            context::hide_pictures(messages, opening, &mut self.window)
        } else {
            0
        };
        let fit = context::fit(messages, opening, &mut self.window).after(hidden);
        let (Fit::Send { shortened } | Fit::Summarise { shortened, .. }) = fit;
        if shortened > 0 {
            self.changed_after(opening);
        }
        fit
    }

    fn send_fitted(&mut self, fit: &Fit) {
        let (shortened, until) = match *fit {
            Fit::Send { shortened } => (shortened, None),
            Fit::Summarise { shortened, until } => (shortened, Some(until)),
        };
        if shortened > 0 {
            self.note(format!(
                "the conversation is nearly as long as the model takes: {shortened} of its messages \
                 are shortened from now on"
            ));
        }
        let Some(until) = until else { return self.send() };
        let request = context::request(&self.messages, self.setup.profile.opening.len(), until);
        if self.window.room().is_none_or(|room| self.window.tokens(&request) <= room) {
            self.phase = Phase::Summarising { until };
            let messages = self.visible(Arc::new(request));
            return self.then(Effect::Summarise { messages });
        }
        self.leave_out(until);
        self.send();
    }

    /// Sends the conversation as it stands.
    fn send(&mut self) {
        let unseen = self.messages.len().saturating_sub(self.sent);
        (self.sent, self.recorded) = (self.messages.len(), self.messages.len());
        self.reply_at = None;
        self.phase = Phase::Thinking;
        let messages = self.visible(Arc::clone(&self.messages));
        self.then(Effect::CallModel { messages, unseen });
    }

    /// Messages as the model is sent them: with words for pictures if it does not see. The
    /// conversation keeps them, for the next model may.
    fn visible(&self, mut messages: Arc<Vec<Message>>) -> Arc<Vec<Message>> {
        if self.has_pictures && !self.setup.profile.sees_images {
            Message::hide_images(&mut messages);
        }
        messages
    }

    /// The model has summed up the oldest part, or could not.
    pub(super) fn summarised(&mut self, until: usize, said: Result<Reply, Failure>) {
        match said {
            Ok(Reply { finish: Finish::Interrupted, .. }) => {
                return self.end_turn(TurnEnd::Interrupted);
            }
            Ok(reply) if !reply.text.raw().trim().is_empty() => {
                let count = self.replace_oldest(until, reply.text);
                self.note(format!("{count} older messages were summed up for the model"));
            }
            Ok(_) | Err(_) => self.leave_out(until),
        }
        self.send();
    }

    /// Leaves the oldest part out, and says so to the model and to the person.
    fn leave_out(&mut self, until: usize) {
        let count = until - self.setup.profile.opening.len();
        self.replace_oldest(until, context::left_out(count));
        self.note(format!(
            "{count} older messages could not be summed up and are left out of what the model is \
             sent; they are on record"
        ));
    }

    /// Puts a text in the place of the oldest part. Returns how many messages that had.
    fn replace_oldest(&mut self, until: usize, text: Untrusted) -> usize {
        let opening = self.setup.profile.opening.len();
        context::replace(Arc::make_mut(&mut self.messages), opening, until, text);
        self.window.forget();
        self.changed_after(opening);
        until - opening
    }

    /// The provider says that the conversation is too long. Less is sent, once.
    pub(super) fn too_long(&mut self, failure: Failure) {
        let before = mem::replace(&mut self.squeezed, true);
        self.window.too_long(&self.messages);
        let fit = self.fit();
        // The same once more would be answered in the same way.
        if before || fit == (Fit::Send { shortened: 0 }) {
            let Failure { message, hint, end } = failure;
            self.record(Body::Error { message, hint });
            return self.end_turn(end);
        }
        self.note("the model does not take a conversation as long as this one; it is sent less");
        self.send_fitted(&fit);
    }
}
