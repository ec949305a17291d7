//! The steps by which a conversation is made to fit, and sent.

use super::{
    effect::Effect,
    event::Failure,
    state::{Phase, Pictures, Sight, Squeeze, State},
    step::{end_turn, failed},
};
use crate::{
    Body, Finish, Message, Reply,
    context::{self, Fit},
    record::TurnEnd,
};
use std::{mem, sync::Arc};

/// Sends the conversation, once it fits. At most one part of it is summed up on the way.
pub(super) fn fit_and_send(mut state: State) -> (State, Vec<Effect>) {
    let fit = fit(&mut state);
    send_fitted(state, &fit)
}

fn fit(state: &mut State) -> Fit {
    let messages = Arc::make_mut(&mut state.messages);
    let opening = state.setup.audience.opening.len();
    let hidden = match state.pictures {
        Pictures::None => 0,
        Pictures::Some => context::hide_pictures(messages, opening, &mut state.gauge),
    };
    context::fit(messages, opening, &mut state.gauge).after(hidden)
}

fn send_fitted(mut state: State, fit: &Fit) -> (State, Vec<Effect>) {
    let opening = state.setup.audience.opening.len();
    let (shortened, until) = match *fit {
        Fit::Send { shortened } => (shortened, None),
        Fit::Summarise { shortened, until } => (shortened, Some(until)),
    };
    let mut effects = vec![];
    if shortened > 0 {
        effects.push(note(format!(
            "the conversation is nearly as much as the model takes: {shortened} of its messages are \
             told in short from now on"
        )));
    }
    let Some(until) = until else {
        let (state, more) = send(state);
        effects.extend(more);
        return (state, effects);
    };
    let request = context::request(&state.messages, opening, until);
    let fits = state.gauge.room().is_none_or(|room| state.gauge.tokens(&request) <= room);
    if fits {
        state.phase = Phase::Summarising { until };
        let messages = visible(&state, Arc::new(request));
        effects.push(Effect::Summarise { messages });
        return (state, effects);
    }
    effects.push(note(leave_out(&mut state, until)));
    let (state, more) = send(state);
    effects.extend(more);
    (state, effects)
}

/// Sends the conversation as it stands.
fn send(mut state: State) -> (State, Vec<Effect>) {
    let unseen = state.messages.len().saturating_sub(state.sent);
    state.sent = state.messages.len();
    state.phase = Phase::Thinking;
    let messages = visible(&state, Arc::clone(&state.messages));
    (state, vec![Effect::CallModel { messages, unseen }])
}

/// Messages as the model is sent them: with words for pictures if it does not see. The conversation
/// keeps them, for the next model may.
fn visible(state: &State, mut messages: Arc<Vec<Message>>) -> Arc<Vec<Message>> {
    if state.pictures == Pictures::Some && state.setup.audience.sight == Sight::Blind {
        Message::hide_images(&mut messages);
    }
    messages
}

/// The model has summed up the oldest part, or could not.
pub(super) fn summarised(
    mut state: State,
    until: usize,
    said: Result<Reply, Failure>,
) -> (State, Vec<Effect>) {
    let text = match said {
        Ok(Reply { finish: Finish::Interrupted, .. }) => {
            return end_turn(state, TurnEnd::Interrupted);
        }
        Ok(reply) if !reply.text.raw().trim().is_empty() => reply.text,
        Ok(_) | Err(_) => {
            let text = leave_out(&mut state, until);
            let (state, more) = send(state);
            return (state, [note(text)].into_iter().chain(more).collect());
        }
    };
    let count = put(&mut state, until, text);
    let text = format!("{count} older messages were summed up; the model is told the summary");
    let (state, more) = send(state);
    (state, [note(text)].into_iter().chain(more).collect())
}

/// Leaves the oldest part out, and says so to the model. What the person is told.
fn leave_out(state: &mut State, until: usize) -> String {
    let count = until - state.setup.audience.opening.len();
    put(state, until, context::left_out(count));
    format!(
        "{count} older messages could not be summed up and are left out of what the model is sent; \
         they are on record"
    )
}

/// Puts a text in the place of the oldest part. How many messages that had.
fn put(state: &mut State, until: usize, text: crate::Untrusted) -> usize {
    let opening = state.setup.audience.opening.len();
    context::replace(Arc::make_mut(&mut state.messages), opening, until, text);
    state.gauge.forget();
    // From here on it is another conversation, and the record has it so.
    state.sent = state.sent.min(opening);
    until - opening
}

/// The provider says that the conversation is too long. Less is sent, once.
pub(super) fn too_long(mut state: State, failure: &Failure) -> (State, Vec<Effect>) {
    let before = mem::replace(&mut state.squeeze, Squeeze::Done);
    state.gauge.too_long(&state.messages);
    let fit = fit(&mut state);
    // The same once more would be answered in the same way.
    if before == Squeeze::Done || fit == (Fit::Send { shortened: 0 }) {
        let (message, hint) = (failure.message.clone(), failure.hint.clone());
        let (state, more) = failed(state, Phase::Thinking, failure);
        let error = Effect::Note(Body::Error { message, hint });
        return (state, [error].into_iter().chain(more).collect());
    }
    let (state, more) = send_fitted(state, &fit);
    let text = "the model does not take a conversation as long as this one; it is sent less".into();
    (state, [note(text)].into_iter().chain(more).collect())
}

fn note(text: String) -> Effect {
    Effect::Note(Body::Note { text })
}
