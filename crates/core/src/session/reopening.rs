//! A question about code that was open when its session ended is asked again in the session that goes
//! on with it.
//!
//! # Threat
//! A yes that runs code twice: once in each of two sessions that go on from the same one. And code
//! that is not the code of then, because a secret was taken out of its record. And code behind it
//! in the same reply that must not run: the end of a reply that was cut off, or a block that has run
//! and is repeated later in the reply.
//!
//! # Mechanism
//! The code is read from the records, and taken only if its hash is that of the question. It is
//! judged by the rules of now, and asked about whatever they say; if the question shows the same as
//! then, it has the same id and hash. The session that goes on has no reply of its own, so its
//! record says how the reply ended, and where in it the code stands. `interpreter-agent` makes sure that a session goes on at its
//! question only once. Pure.

use super::{
    effect::Effect,
    event::Earlier,
    resuming::answer_calls,
    state::{Phase, State, Work},
    wishes::OpenCode,
    words,
};
use crate::{
    Body, Finish, Message, Origin, Proposal, QuestionAbout, QuestionEnd, Record, RecordedQuestion,
    Reply, extract,
    record::{ReplyPlace, TurnEnd},
    session::Setup,
};

impl Earlier {
    /// The id of the question that is asked again.
    pub fn question(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.question.0.as_str())
    }

    /// Whether the session has something to do with it at once: a question to ask, or to say why it
    /// is not asked.
    pub fn begins_a_turn(&self) -> bool {
        self.open.is_some() || self.not_asked.is_some()
    }

    /// Leaves the question. The session that it is in can still be resumed with it.
    pub fn leave_question(&mut self) {
        self.not_asked = None;
        if self.open.take().is_some() {
            answer_calls(&mut self.messages);
        }
    }

    /// The question cannot be asked again, for this reason.
    pub fn refuse_question(&mut self, why: &str) {
        self.leave_question();
        self.not_asked = Some(why.to_owned());
    }
}

/// The question about code that is open at the end of these records.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else closes a question")]
fn question(records: &[Record]) -> Option<&RecordedQuestion> {
    let mut open: Option<&RecordedQuestion> = None;
    for Record { body, .. } in records {
        match body {
            Body::Question(question) if matches!(question.about, QuestionAbout::Code(_)) => {
                open = Some(question);
            }
            Body::QuestionClosed { id, why } if *why != QuestionEnd::Ended => {
                open = open.filter(|one| one.id != *id);
            }
            // Whatever else says that it was answered counts too.
            Body::Answer { proposal, .. } | Body::RunStarted { proposal, .. } => {
                open = open.filter(|one| one.about.proposal() != Some(proposal));
            }
            Body::Prompt { .. } | Body::TurnFinished { .. } => open = None,
            _ => {}
        }
    }
    open
}

/// The number of the next question.
pub(super) fn next_question(records: &[Record]) -> u32 {
    let number = |record: &Record| {
        let Body::Question(question) = &record.body else { return None };
        question.id.strip_prefix('q')?.parse::<u32>().ok()
    };
    records.iter().filter_map(number).max().unwrap_or(0).saturating_add(1)
}

/// The code whose question is open at the end of these records. `messages` is their conversation.
pub(super) fn open_code(
    setup: &Setup,
    records: &[Record],
    messages: &[Message],
) -> Option<OpenCode> {
    let asked = question(records)?;
    let QuestionAbout::Code(question) = &asked.about else { return None };
    let (origin, language, code, invocation) = records.iter().rev().find_map(|record| {
        let Body::Proposal { id, origin, language, code, invocation, again: None, .. } =
            &record.body
        else {
            return None;
        };
        (*id == question.proposal).then_some((*origin, language, code, invocation))
    })?;
    let language = setup.languages.find(language).filter(|one| one.name() == language)?;
    let id = question.proposal.clone();
    let mut current = Proposal::new(id, origin, None, language, code.clone());
    let (mut waiting, mut place) = (Vec::new(), None);
    if origin == Origin::Model {
        place = reply_place(records);
        (current.call, waiting) = in_reply(setup, place, messages, &current, question.edited);
    }
    current.invocation.clone_from(invocation);
    let edited = records.iter().rev().find_map(|record| {
        let Body::Answer { proposal, code: Some(code), .. } = &record.body else { return None };
        (*proposal == question.proposal).then_some(code)
    });
    if let Some(code) = edited.filter(|_| question.edited) {
        current = current.edited(code.clone());
    }
    if current.hash() != question.code_hash {
        return None;
    }
    let had_approvals = records.iter().any(
        |record| matches!(&record.body, Body::Approval { question, .. } if *question == asked.id),
    );
    let (asked, edited) = ((asked.id.clone(), asked.hash.clone()), question.edited);
    Some(OpenCode { question: asked, current, waiting, place, edited, had_approvals })
}

/// The place of the newest code in the newest reply, which may be on record in an earlier session
/// only. `None` if these records do not say.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else tells of a reply")]
fn reply_place(records: &[Record]) -> Option<ReplyPlace> {
    let mut place = None;
    for Record { body, .. } in records {
        match body {
            Body::Reply { finish, .. } => place = Some(ReplyPlace { finish: *finish, number: 0 }),
            // The code that is asked about again is put on record again.
            Body::Resumed { place: then, .. } => {
                place = then
                    .and_then(|one| Some(ReplyPlace { number: one.number.checked_sub(1)?, ..one }));
            }
            Body::Proposal { origin: Origin::Model, again: None, .. } => {
                if let Some(place) = &mut place {
                    place.number += 1;
                }
            }
            _ => {}
        }
    }
    place
}

/// The call that a proposal of the newest reply came in, and the proposals behind it. They are found
/// by its number: the same code may stand in a reply twice, and must not run once more.
fn in_reply(
    setup: &Setup,
    place: Option<ReplyPlace>,
    messages: &[Message],
    current: &Proposal,
    is_edited: bool,
) -> (Option<String>, Vec<Proposal>) {
    let is_reply = |one: &Message| matches!(one, Message::Assistant { .. });
    let Some(at) = messages.iter().rposition(is_reply) else { return (None, Vec::new()) };
    let Message::Assistant { text, calls } = &messages[at] else { return (None, Vec::new()) };
    let is_answered = |id: &str| {
        let answers =
            |one: &Message| matches!(one, Message::Result { call: Some(call), .. } if call == id);
        messages[at..].iter().any(answers)
    };
    // A reply whose end is not known may have been cut off.
    let finish = place.map_or(Finish::Length, |place| place.finish);
    let reply = Reply { text: text.clone(), calls: calls.clone(), finish, ..Reply::default() };
    let mut proposals =
        extract::proposals(&reply, &setup.languages, setup.syntax, 1).proposals.into_iter();
    // A resumed session has code that was edited on record as it is now.
    let is_it = |one: &Proposal| {
        one.language == current.language
            && (is_edited || one.hash() == current.hash())
            && one.call.as_deref().is_none_or(|call| !is_answered(call))
    };
    let before = place.and_then(|place| place.number.checked_sub(1));
    match before.and_then(|before| proposals.nth(before)).filter(is_it) {
        Some(found) => (found.call, proposals.collect()),
        // Its place is not known. The first call that nothing answers is its own.
        None => {
            (calls.iter().map(|call| &call.id).find(|id| !is_answered(id)).cloned(), Vec::new())
        }
    }
}

impl State {
    /// Asks again about code of an earlier session.
    pub(super) fn reopen(&mut self, open: OpenCode) {
        let OpenCode { question, current, waiting, edited, had_approvals, place: _ } = open;
        if had_approvals {
            self.note(words::APPROVALS_GONE);
        }
        self.calls = 0;
        self.retries = 0;
        self.outcome = TurnEnd::Done;
        // The model learns of it with the result, and not with the next prompt.
        self.is_resumed = false;
        self.notice(words::RESUMED.trim_matches(['[', ']']).to_owned());
        let renumbered = waiting.into_iter().map(|mut one| {
            one.id = format!("p{}", self.next_id);
            self.next_id += 1;
            one
        });
        let waiting = renumbered.collect();
        self.record(current.body());
        self.offers = 0;
        self.questions.again = Some(question);
        self.then(Effect::Judge(current.clone()));
        self.phase = Phase::Judging { work: Work::new(current, waiting), edited };
    }
}
