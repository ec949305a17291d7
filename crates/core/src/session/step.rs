//! One step of a session. See [`super`].

use super::{
    effect::{Effect, Question},
    event::{Answer, Event, Failure, Ran, Settle},
    hosts, look, restart,
    state::{Approval, Approved, Interruption, Phase, State, Work},
    words,
};
use crate::{
    Body, Excerpt, Findings, Finish, Grantor, Language, Message, Opinion, Origin, Permit, Proposal,
    Reply, Untrusted, Verdict,
    extract::{self, Extraction},
    instructions::Strength,
    policy,
    record::TurnEnd,
};
use std::{collections::VecDeque, mem, sync::Arc};

/// Takes the session one step further. Reads nothing, waits for nothing, performs nothing.
pub fn step(mut state: State, event: Event) -> (State, Vec<Effect>) {
    let phase = mem::replace(&mut state.phase, Phase::Idle);
    match (phase, event) {
        (Phase::Ended, _) => {
            state.phase = Phase::Ended;
            (state, vec![])
        }
        (_, Event::Quit) => {
            state.phase = Phase::Ended;
            (state, vec![Effect::End])
        }
        (Phase::Idle, Event::Asked(prompt)) => asked(state, prompt),
        (Phase::Idle, Event::Submitted { language, code }) => submitted(state, language, code),
        (Phase::Thinking, Event::Replied(reply)) => replied(state, reply),
        (Phase::Thinking, Event::Interrupted) => {
            state.phase = Phase::Thinking;
            (state, vec![Effect::CancelModel])
        }
        (Phase::Looking { looks, waiting }, Event::Looked(seen)) => {
            look::looked(state, looks, waiting, seen)
        }
        (Phase::Judging { work, approved }, Event::Judged(findings)) => {
            judged(state, work, approved, findings)
        }
        (Phase::Asking { work, findings, verdict }, Event::Answered { proposal, answer, by })
            if proposal == work.current.id =>
        {
            answered(state, work, findings, verdict, answer, by)
        }
        (Phase::Asking { work, .. }, Event::Interrupted) => refuse(state, work, None),
        (Phase::Running { work, mut excerpt, interrupted }, Event::Output(chunk)) => {
            excerpt.push(chunk.text.raw());
            state.phase = Phase::Running { work, excerpt, interrupted };
            (state, vec![])
        }
        (Phase::Running { work, excerpt, interrupted }, Event::InputWanted(wanted)) => {
            state.phase = Phase::Running { work, excerpt, interrupted };
            (state, vec![Effect::AskInput(wanted)])
        }
        (Phase::Running { work, excerpt, interrupted }, Event::InputGiven(typed)) => {
            state.phase = Phase::Running { work, excerpt, interrupted };
            (state, vec![Effect::GiveInput(typed)])
        }
        (phase, Event::HostWanted(wanted)) => hosts::wanted(state, phase, wanted),
        (phase, Event::HostAnswered(answer)) => hosts::answered(state, phase, answer),
        (Phase::Running { work, excerpt, .. }, Event::Interrupted) => {
            state.phase = Phase::Running { work, excerpt, interrupted: Interruption::Asked };
            (state, vec![Effect::Interrupt])
        }
        (Phase::Running { work, excerpt, interrupted }, Event::Ran(ran)) => {
            finished(state, work, &excerpt, interrupted, &ran)
        }
        (Phase::Reviewing { id, end }, Event::Decided(decision)) => match decision {
            Settle::Later => finish(state, end),
            Settle::Apply | Settle::Discard => {
                state.phase = Phase::Reviewing { id: id.clone(), end };
                (state, vec![Effect::Settle { id, decision }])
            }
        },
        (Phase::Reviewing { end, .. }, Event::Settled { .. }) => {
            state.staged = None;
            finish(state, end)
        }
        (Phase::Reviewing { end, .. }, Event::Interrupted) => finish(state, end),
        (Phase::Idle, Event::Restart(language)) => restart::begin(state, language),
        (Phase::Restarting, Event::Restarted(languages)) => restart::end(state, &languages),
        (phase, Event::KernelEnded { language, how }) => {
            restart::lost(state, phase, &language, &how)
        }
        (phase, Event::Failed(failure)) => failed(state, phase, &failure),
        // Output of something left in the background, a second Ctrl-C, a late answer: nothing
        // changes. The driver has recorded that it came.
        (phase, _) => {
            state.phase = phase;
            (state, vec![])
        }
    }
}

/// The person's own code.
fn submitted(mut state: State, language: Language, code: String) -> (State, Vec<Effect>) {
    let id = format!("p{}", state.next_id);
    let proposal = Proposal::new(id, Origin::Person, None, language, Untrusted::new(code));
    state.next_id += 1;
    propose(state, proposal, VecDeque::new())
}

fn asked(mut state: State, prompt: String) -> (State, Vec<Effect>) {
    state.say(Message::User { text: prompt });
    state.calls = 0;
    state.retries = 0;
    state.outcome = TurnEnd::Done;
    call_model(state)
}

pub(super) fn call_model(mut state: State) -> (State, Vec<Effect>) {
    if state.calls >= state.setup.max_calls {
        let text = format!(
            "the model was called {} times in this turn, which is the limit; say `continue` to go on",
            state.calls
        );
        let (state, mut effects) = end_turn(state, TurnEnd::TooManyCalls);
        effects.insert(0, Effect::Note(Body::Note { text }));
        return (state, effects);
    }
    state.calls += 1;
    let unseen = state.messages.len() - state.sent;
    state.sent = state.messages.len();
    state.phase = Phase::Thinking;
    let messages = Arc::clone(&state.messages);
    (state, vec![Effect::CallModel { messages, unseen }])
}

fn replied(mut state: State, reply: Reply) -> (State, Vec<Effect>) {
    let setup = &state.setup;
    let Extraction { proposals, looks, rejected, notes } =
        extract::proposals(&reply, &setup.languages, setup.syntax, state.next_id);
    state.say(Message::Assistant { text: reply.text, calls: reply.calls });
    // The model wrote it, so it need not be sent as news.
    state.sent = state.messages.len();
    let mut effects: Vec<_> =
        notes.into_iter().map(|text| Effect::Note(Body::Note { text })).collect();
    let mut answers_due = false;
    for block in rejected {
        effects.push(Effect::Note(Body::NotProposed {
            language: block.language,
            reason: block.reason.clone(),
        }));
        if block.call.is_some() {
            // Providers insist that every call is answered.
            answers_due = true;
            state.say(Message::Result {
                call: block.call,
                text: words::could_not_run(&block.reason),
            });
        }
    }
    let mut waiting = VecDeque::from(proposals);
    state.next_id += u32::try_from(waiting.len()).expect("a reply has fewer blocks than that");
    if !looks.is_empty() {
        let (state, more) = look::next(state, looks.into(), waiting);
        effects.extend(more);
        return (state, effects);
    }
    let (state, more) = match (reply.finish, waiting.pop_front()) {
        (_, Some(first)) => propose(state, first, waiting),
        (Finish::Interrupted, None) => end_turn(state, TurnEnd::Interrupted),
        (Finish::Stop, None) if answers_due => call_model(state),
        (Finish::Stop, None) => {
            let outcome = state.outcome;
            end_turn(state, outcome)
        }
        (Finish::Length | Finish::Filtered, None) => end_turn(state, TurnEnd::ModelFailed),
    };
    effects.extend(more);
    (state, effects)
}

pub(super) fn propose(
    mut state: State,
    current: Proposal,
    waiting: VecDeque<Proposal>,
) -> (State, Vec<Effect>) {
    let note = Effect::Note(Body::Proposal {
        id: current.id.clone(),
        origin: current.origin,
        language: current.language.name().into(),
        code: current.code().clone(),
        hash: current.hash().into(),
    });
    let judge = Effect::Judge(current.clone());
    state.phase = Phase::Judging { work: Work { current, waiting }, approved: Approved::NotYet };
    (state, vec![note, judge])
}

fn judged(
    mut state: State,
    work: Work,
    approved: Approved,
    findings: Findings,
) -> (State, Vec<Effect>) {
    let setup = &state.setup;
    let mut verdict =
        policy::judge(&setup.user_rules, &setup.project_rules, &work.current, &findings);
    if setup.approval == Approval::AlwaysAsk && verdict.opinion == Opinion::Allow {
        verdict = Verdict { opinion: Opinion::Ask, rule: "you asked to be asked".into() };
    }
    let mut effects = vec![
        Effect::Note(Body::Findings {
            proposal: work.current.id.clone(),
            risk: findings.risk,
            capabilities: findings.capabilities.clone(),
        }),
        Effect::Note(Body::Verdict {
            proposal: work.current.id.clone(),
            decision: verdict.opinion,
            rule: verdict.rule.clone(),
        }),
    ];
    let (state, more) = match (verdict.opinion, approved, setup.approval) {
        (Opinion::Deny, _, _) => deny(state, work, &verdict),
        (Opinion::Allow, _, _) => {
            let by = match work.current.origin {
                Origin::Person => Grantor::Typed,
                Origin::Model => Grantor::Rule,
            };
            permit(state, work, by)
        }
        (Opinion::Ask, Approved::ByEditing, _) => permit(state, work, Grantor::Person),
        (Opinion::Ask, Approved::NotYet, Approval::Yes) => {
            let answer = Answer::Run;
            let by = Grantor::Flag;
            effects.extend(
                Event::Answered { proposal: work.current.id.clone(), answer, by }
                    .bodies()
                    .into_iter()
                    .map(Effect::Note),
            );
            permit(state, work, by)
        }
        (Opinion::Ask, Approved::NotYet, Approval::AsRulesSay | Approval::AlwaysAsk) => {
            let question = Question {
                proposal: work.current.clone(),
                findings: findings.clone(),
                verdict: verdict.clone(),
            };
            state.phase = Phase::Asking { work, findings, verdict };
            (state, vec![Effect::Ask(question)])
        }
    };
    effects.extend(more);
    (state, effects)
}

/// The one expression in the program that makes a permit.
fn permit(mut state: State, work: Work, by: Grantor) -> (State, Vec<Effect>) {
    let permit = Permit::grant(work.current.clone(), state.setup.confinement.clone(), by);
    state.phase =
        Phase::Running { work, excerpt: Excerpt::default(), interrupted: Interruption::None };
    (state, vec![Effect::Run(permit)])
}

fn answered(
    mut state: State,
    work: Work,
    findings: Findings,
    verdict: Verdict,
    answer: Answer,
    by: Grantor,
) -> (State, Vec<Effect>) {
    match (answer, by) {
        // Nobody cannot say yes.
        (Answer::Run | Answer::Edit(_), Grantor::Nobody) => {
            state.phase = Phase::Asking { work, findings, verdict };
            (state, vec![])
        }
        (Answer::Run, _) => permit(state, work, by),
        // The edited code is another one, so the rules look at it again.
        (Answer::Edit(code), _) => {
            let Work { current, waiting } = work;
            let current = current.edited(Untrusted::new(code));
            let judge = Effect::Judge(current.clone());
            state.phase =
                Phase::Judging { work: Work { current, waiting }, approved: Approved::ByEditing };
            (state, vec![judge])
        }
        (Answer::Reject { reason }, _) => refuse(state, work, reason.as_deref()),
    }
}

/// The person said no. With a reason the model may try again; without one the turn is over.
fn refuse(mut state: State, work: Work, reason: Option<&str>) -> (State, Vec<Effect>) {
    let origin = work.current.origin;
    drop_work(&mut state, work, words::rejected(reason));
    match (origin, reason) {
        (Origin::Model, Some(_)) => call_model(state),
        (Origin::Model, None) | (Origin::Person, _) => end_turn(state, TurnEnd::Refused),
    }
}

fn deny(mut state: State, work: Work, verdict: &Verdict) -> (State, Vec<Effect>) {
    let origin = work.current.origin;
    drop_work(&mut state, work, words::denied(&verdict.rule));
    state.outcome = TurnEnd::Refused;
    let (state, mut effects) = match origin {
        Origin::Model => call_model(state),
        Origin::Person => end_turn(state, TurnEnd::Refused),
    };
    let text = format!("refused by {}", verdict.rule);
    effects.insert(0, Effect::Note(Body::Note { text }));
    (state, effects)
}

/// Tells the model that the proposal at hand did not run, and neither did those behind it.
fn drop_work(state: &mut State, work: Work, why: Untrusted) {
    if work.current.origin == Origin::Person {
        return;
    }
    state.say(Message::Result { call: work.current.call, text: why });
    for skipped in work.waiting {
        if skipped.call.is_some() {
            state.say(Message::Result { call: skipped.call, text: words::not_reached() });
        }
    }
}

fn finished(
    mut state: State,
    work: Work,
    excerpt: &Excerpt,
    interrupted: Interruption,
    ran: &Ran,
) -> (State, Vec<Effect>) {
    let stopped = interrupted == Interruption::Asked;
    let notices = mem::take(&mut state.notices);
    // What a person ran is no answer to a model that did not propose it.
    if work.current.origin == Origin::Model {
        state.say(Message::Result {
            call: work.current.call.clone(),
            text: words::ran(ran, excerpt, stopped, &notices),
        });
    }
    state.outcome = if ran.succeeded() { TurnEnd::Done } else { TurnEnd::CodeFailed };
    state.staged = ran.effects.changes.clone().map(|id| (id, ran.effects.files.clone()));
    let Work { current, mut waiting } = work;
    if ran.succeeded() && !stopped {
        if let Some(next) = waiting.pop_front() {
            return propose(state, next, waiting);
        }
    } else {
        for skipped in waiting.into_iter().filter(|skipped| skipped.call.is_some()) {
            state.say(Message::Result { call: skipped.call, text: words::not_reached() });
        }
    }
    match (current.origin, interrupted) {
        (_, Interruption::Asked) => end_turn(state, TurnEnd::Interrupted),
        (Origin::Model, Interruption::None) => go_on(state, excerpt, ran),
        (Origin::Person, Interruption::None) => {
            let outcome = state.outcome;
            end_turn(state, outcome)
        }
    }
}

/// How often a small model is given a result in one turn, so that it tries again.
const RETRIES: u32 = 2;

/// After a run of a model's code: the model says what it means, or does more.
///
/// A small model is not asked what it means: it would make something up. What the code printed is
/// the answer; where it failed, or nothing came of it, the model may try again, but not for ever.
fn go_on(mut state: State, excerpt: &Excerpt, ran: &Ran) -> (State, Vec<Effect>) {
    let came = !excerpt.is_empty() || !ran.effects.files.is_empty();
    match state.setup.strength {
        Strength::Usual => call_model(state),
        Strength::Small if (ran.succeeded() && came) || state.retries == RETRIES => {
            let outcome = state.outcome;
            end_turn(state, outcome)
        }
        Strength::Small => {
            state.retries += 1;
            call_model(state)
        }
    }
}

/// Something outside of the code failed. Whatever was under way is over, and the model is told
/// where it waits for an answer.
fn failed(mut state: State, phase: Phase, failure: &Failure) -> (State, Vec<Effect>) {
    match phase {
        Phase::Judging { work, .. } | Phase::Asking { work, .. } | Phase::Running { work, .. } => {
            drop_work(&mut state, work, words::could_not_run(&failure.message));
            end_turn(state, failure.end)
        }
        Phase::Thinking | Phase::Looking { .. } => end_turn(state, failure.end),
        // The changes could not be applied: they are still staged, and the person may decide
        // again with `interpreter changes`.
        Phase::Reviewing { .. } | Phase::Restarting => finish(state, failure.end),
        Phase::Idle | Phase::Ended => {
            state.phase = phase;
            (state, vec![])
        }
    }
}

/// Ends the turn, after the person has decided about what is staged.
fn end_turn(mut state: State, end: TurnEnd) -> (State, Vec<Effect>) {
    match state.staged.take() {
        Some((id, files)) => {
            state.phase = Phase::Reviewing { id: id.clone(), end };
            (state, vec![Effect::Review { id, files }])
        }
        None => finish(state, end),
    }
}

pub(super) fn finish(mut state: State, end: TurnEnd) -> (State, Vec<Effect>) {
    state.phase = Phase::Idle;
    (state, vec![Effect::FinishTurn(end)])
}
