//! An earlier conversation goes on in a session of its own.
//!
//! The new session has its own opening, settings and interpreters; only what was said is taken over,
//! and put on record again, so that each session tells the whole of its conversation. Pictures stay
//! behind: their bytes are not part of the conversation.

use super::{
    cells,
    event::Earlier,
    reopening::{next_question, open_code},
    setup::Setup,
    state::State,
    words,
};
use crate::{
    Body, Message, Person, Record, ToolCall,
    policy::Places,
    record::{SessionHead, TurnEnd},
    taint::{self, OutsideText},
};
use std::{collections::HashMap, sync::Arc};

impl Earlier {
    /// The conversation that these records of a session tell of, or the part of it before a cell.
    /// `setup` may be that of another session. `None` if there is no such cell.
    pub fn of(
        session: &str,
        setup: Setup,
        records: &[Record],
        before: Option<&str>,
    ) -> Option<Self> {
        let end = match before {
            Some(cell) => cells::before(records, cell)?,
            None => records.len(),
        };
        let at = records[..end].last().map(|last| {
            let (session, hash) = (session.to_owned(), String::new());
            SessionHead { session, seq: last.seq, hash }
        });
        let of_now = setup.clone();
        let (mut messages, next_id) = conversation(setup, &records[..end]);
        for message in &mut messages {
            message.hide();
        }
        let open = match before {
            Some(_) => None,
            None => open_code(&of_now, records, &messages),
        };
        if before.is_some() {
            answer_calls(&mut messages);
        }
        let (session, before) = (session.to_owned(), before.map(str::to_owned));
        let next_question = next_question(records);
        let not_asked = None;
        let authors = authors(records);
        let holds_secret = may_hold_a_secret(&records[..end], &of_now.policy.places);
        Some(Self {
            session,
            messages,
            before,
            at,
            next_id,
            next_question,
            open,
            not_asked,
            authors,
            holds_secret,
        })
    }

    /// Whether its record says whose words it has.
    pub fn names_authors(&self) -> bool {
        !self.authors.is_empty()
    }

    /// This person brings it along, so they answer for its words too.
    pub fn brought_by(&mut self, person: Person) {
        self.authors.push(person);
    }

    /// The newest prompt.
    pub fn last_prompt(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            Message::System { .. }
            | Message::Earlier { .. }
            | Message::Assistant { .. }
            | Message::Result { .. } => None,
        })
    }
}

/// The people whose words these records have.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else says so")]
fn authors(records: &[Record]) -> Vec<Person> {
    let author = |record: &Record| match &record.body {
        Body::Author { person } => Some(person.clone()),
        _ => None,
    };
    records.iter().filter_map(author).collect()
}

/// Whether code that ran according to these records may have read a secret, in the session itself or
/// in one that it resumes.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest runs nothing")]
fn may_hold_a_secret(records: &[Record], places: &Places) -> bool {
    let mut reads = HashMap::new();
    for record in records {
        match &record.body {
            Body::Resumed { secret: true, .. } => return true,
            Body::Findings { proposal, capabilities, .. } => {
                let secret = capabilities.iter().any(|one| taint::reads_a_secret(one, places));
                reads.insert(proposal, secret);
            }
            Body::RunStarted { proposal, .. } if reads.get(proposal) == Some(&true) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// The conversation that these records tell of, without the opening, and the number of the next run.
pub(super) fn conversation(mut setup: Setup, records: &[Record]) -> (Vec<Message>, u32) {
    // How many messages are ours: at first, and in the end.
    let (mut first, mut opening) = (None, None);
    for Record { body, .. } in records {
        if let Body::SessionStarted { opening: ours, .. } = body {
            (first, opening) = (*ours, *ours);
        } else if let Body::ModelChanged { opening: ours, .. } = body {
            opening = *ours;
        }
    }
    setup.profile.opening = vec![Message::user(""); first.unwrap_or(0)];
    let mut replayed = State::replay(setup, records.iter().map(|record| record.body.clone()));
    let next_id = replayed.next_id;
    let mut messages = std::mem::take(Arc::make_mut(&mut replayed.messages));
    // A record of an early version does not say; there nobody but us speaks as the system.
    let ours = |message: &&Message| matches!(message, Message::System { .. });
    let opening = opening.unwrap_or_else(|| messages.iter().take_while(ours).count());
    messages.drain(..opening.min(messages.len()));
    (messages, next_id)
}

/// Answers the calls that nothing answers any more: providers insist on it.
pub(super) fn answer_calls(messages: &mut Vec<Message>) {
    let is_reply = |one: &Message| matches!(one, Message::Assistant { .. });
    let Some(last) = messages.iter().rposition(is_reply) else { return };
    let Message::Assistant { calls, .. } = &messages[last] else { return };
    let is_answered = |id: &str| {
        messages[last..]
            .iter()
            .any(|one| matches!(one, Message::Result { call: Some(call), .. } if call == id))
    };
    let open: Vec<_> = calls.iter().filter(|call| !is_answered(&call.id)).collect();
    let answer = |call: &&ToolCall| Message::result(Some(call.id.clone()), words::went_back());
    let answers: Vec<_> = open.iter().map(answer).collect();
    messages.extend(answers);
}

impl State {
    /// Takes over what was said earlier, if nothing has been said yet.
    pub(super) fn resumed(&mut self, earlier: Earlier) {
        let question = earlier.question().map(str::to_owned);
        let Earlier {
            session,
            messages,
            before,
            at,
            next_id,
            next_question,
            open,
            not_asked,
            authors,
            holds_secret,
        } = earlier;
        if self.messages.len() > self.setup.profile.opening.len() {
            self.note(words::NOT_RESUMED);
            if open.is_some() || not_asked.is_some() {
                self.finish(TurnEnd::Refused);
            }
            return;
        }
        let place = open.as_ref().and_then(|open| open.place);
        self.record(Body::Resumed {
            from: session,
            before,
            at,
            question,
            place,
            secret: holds_secret,
        });
        self.taint.brings(holds_secret);
        for author in authors {
            self.heard_from(author);
        }
        let is_outside = |one: &Message| matches!(one, Message::Result { .. });
        if messages.iter().any(is_outside) {
            self.take_in(OutsideText::Earlier);
        }
        for message in messages {
            self.say(message);
        }
        self.next_id = self.next_id.max(next_id);
        self.questions.next = self.questions.next.max(next_question);
        self.is_resumed = true;
        if let Some(open) = open {
            self.reopen(open);
        } else if let Some(why) = not_asked {
            self.note(why);
            self.finish(TurnEnd::Done);
        }
    }
}
