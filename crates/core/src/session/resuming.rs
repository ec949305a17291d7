//! An earlier conversation goes on in a session of its own.
//!
//! The new session has its own opening, settings and interpreters; only what was said is taken over,
//! and put on record again, so that each session tells the whole of its conversation. Pictures stay
//! behind: their bytes are not part of the conversation.
//!
//! # Threat
//! A session that asks less than the one that it comes from: because it does not know that the model
//! has read outside text, that code has read a secret, or that the person has said no for good.
//!
//! # Mechanism
//! All of that goes along, whatever part of the conversation does: what was taken in or refused later
//! counts in a fork from an earlier moment too. It is put on record again, so it goes along from one
//! session to the next. A yes stays behind.

use super::{
    cells,
    event::Earlier,
    reopening::{next_question, open_code},
    setup::Setup,
    state::State,
    words,
};
use crate::{
    Body, Message, Person, Record, Span, StandingAnswer, ToolCall,
    policy::Places,
    record::{SessionHead, TurnEnd},
    taint::{OutsideText, TaintBrought},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

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
        let taint = taint_of(records, &messages, &of_now.policy.places);
        let noes = noes(records, open.is_some());
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
            taint,
            noes,
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

/// The outside text and the secrets that a session may have, by its records and its conversation,
/// those of sessions that it resumes included.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest runs nothing and says nothing")]
fn taint_of(records: &[Record], messages: &[Message], places: &Places) -> TaintBrought {
    // Records of early versions do not say what else came in.
    let is_outside =
        |one: &Message| matches!(one, Message::Result { .. } | Message::Earlier { .. });
    let mut all =
        TaintBrought { outside_text: messages.iter().any(is_outside), ..TaintBrought::default() };
    let mut would_hold = HashMap::new();
    let mut again = HashSet::new();
    for record in records {
        match &record.body {
            // Whatever another program has let in.
            Body::SessionStarted { imported: true, .. } | Body::OutsideText { .. } => {
                all.outside_text = true;
            }
            Body::Resumed { outside_text, unseen, secret, .. } => {
                let (outside_text, unseen, secret) = (*outside_text, *unseen, *secret);
                all = all.and(TaintBrought { outside_text, unseen, secret });
            }
            Body::Proposal { id, again: Some(_), .. } => _ = again.insert(id),
            // Cells that run again are judged as one, and run one after another.
            Body::Findings { proposal, capabilities, understood, .. }
                if again.contains(proposal) =>
            {
                all = all.and(TaintBrought::by_code(*understood, capabilities, places));
            }
            Body::Findings { proposal, capabilities, understood, .. } => {
                let brought = TaintBrought::by_code(*understood, capabilities, places);
                would_hold.insert(proposal, brought);
            }
            Body::RunStarted { proposal, .. } => {
                all = all.and(would_hold.get(proposal).copied().unwrap_or_default());
            }
            _ => {}
        }
    }
    all
}

/// The standing noes that hold at the end of these records. Those for a turn count if it goes on.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else has to do with them")]
fn noes(records: &[Record], turn_goes_on: bool) -> Vec<StandingAnswer> {
    let mut noes: Vec<StandingAnswer> = Vec::new();
    for record in records {
        match &record.body {
            Body::StandingGiven(answer) if !answer.covers.is_yes() => {
                let covers = answer.covers.clone().remembered();
                noes.push(StandingAnswer { covers, ..answer.clone() });
            }
            Body::StandingRevoked { number } => noes.retain(|one| one.number != *number),
            Body::TurnFinished { .. } => noes.retain(|one| one.span != Span::Turn),
            _ => {}
        }
    }
    if !turn_goes_on {
        noes.retain(|one| one.span != Span::Turn);
    }
    noes
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
            taint,
            noes,
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
            secret: taint.secret,
            outside_text: taint.outside_text,
            unseen: taint.unseen,
        });
        if self.taint.brings(taint) {
            self.take_in(OutsideText::Earlier);
        }
        for no in noes {
            let answer = self.standing.bring(no);
            self.record(Body::StandingGiven(answer));
        }
        for author in authors {
            self.heard_from(author);
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
