//! One step of a session. See [`super`].

use super::{
    effect::{Effect, Question},
    event::{Answer, Event, Failure, Settle},
    hosts, look, pictures, restart,
    running::{self, Run},
    sending,
    state::{Approval, Phase, Squeeze, State, Version, Work},
    switching, words,
};
use crate::{
    Body, Findings, Finish, Grantor, Language, Message, Opinion, Origin, Permit, Proposal, Reply,
    Untrusted, Verdict,
    extract::{self, Extraction},
    policy,
    record::TurnEnd,
};
use std::{collections::VecDeque, mem};

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
        (phase, Event::Attached(attachment)) => {
            state.phase = phase;
            pictures::attach(state, attachment.image)
        }
        (Phase::Idle, Event::Submitted { language, code }) => submitted(state, language, code),
        (Phase::Thinking, Event::Replied(reply)) => replied(state, reply),
        (Phase::Thinking, Event::Interrupted) => {
            state.phase = Phase::Thinking;
            (state, vec![Effect::CancelModel])
        }
        (Phase::Thinking, Event::TooLong(failure)) => sending::too_long(state, &failure),
        (Phase::Summarising { until }, Event::Summarised(said)) => {
            sending::summarised(state, until, said)
        }
        (Phase::Summarising { until }, Event::Interrupted) => {
            state.phase = Phase::Summarising { until };
            (state, vec![Effect::CancelModel])
        }
        (Phase::Looking { looks, waiting }, Event::Looked(seen)) => {
            look::looked(state, looks, waiting, seen)
        }
        (Phase::Judging { work, version }, Event::Judged(findings)) => {
            judged(state, work, version, findings)
        }
        (Phase::Asking { work, findings, verdict }, Event::Answered { proposal, answer, by })
            if proposal == work.current.id =>
        {
            answered(state, work, findings, verdict, answer, by)
        }
        (Phase::Asking { work, .. }, Event::Interrupted) => refuse(state, work, None),
        (
            Phase::Running(run),
            event @ (Event::Output(_)
            | Event::InputWanted(_)
            | Event::InputGiven(_)
            | Event::Interrupted
            | Event::Ran(_)),
        ) => running::happened(state, run, event),
        (phase, Event::HostWanted(wanted)) => hosts::wanted(state, phase, wanted),
        (phase, Event::HostAnswered(answer)) => hosts::answered(state, phase, answer),
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
        (Phase::Idle, Event::ModelWanted(name)) => switching::begin(state, name),
        (phase, Event::ModelWanted(_)) => switching::not_now(state, phase),
        (Phase::Switching, Event::ModelFound(found)) => switching::end(state, found),
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
    let images = mem::take(&mut state.attached);
    state.say(Message::User { text: prompt, images });
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
    state.squeeze = Squeeze::NotYet;
    sending::fit_and_send(state)
}

fn replied(mut state: State, reply: Reply) -> (State, Vec<Effect>) {
    if let Some(usage) = &reply.usage {
        state.gauge.heard(&state.messages, usage.input);
    }
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
            state.say(Message::result(block.call, words::could_not_run(&block.reason)));
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
    if let Some(why) = current.unfit() {
        return unfit(state, Work { current, waiting }, why);
    }
    let note = Effect::Note(Body::Proposal {
        id: current.id.clone(),
        origin: current.origin,
        language: current.language.name().into(),
        code: current.code().clone(),
        hash: current.hash().into(),
    });
    let judge = Effect::Judge(current.clone());
    state.phase = Phase::Judging { work: Work { current, waiting }, version: Version::Proposed };
    (state, vec![note, judge])
}

/// The code cannot run, whatever anybody says. A model is told why and may try again.
fn unfit(mut state: State, work: Work, why: String) -> (State, Vec<Effect>) {
    let origin = work.current.origin;
    let language = Some(Untrusted::new(work.current.language.name()));
    drop_work(&mut state, work, words::could_not_run(&why));
    let ((state, mut effects), note) = match origin {
        Origin::Model => (call_model(state), Body::NotProposed { language, reason: why }),
        Origin::Person => {
            (end_turn(state, TurnEnd::Refused), Body::Error { message: why, hint: None })
        }
    };
    effects.insert(0, Effect::Note(note));
    (state, effects)
}

fn judged(
    mut state: State,
    work: Work,
    version: Version,
    findings: Findings,
) -> (State, Vec<Effect>) {
    let setup = &state.setup;
    let mut verdict =
        policy::judge(&setup.user_rules, &setup.project_rules, &work.current, &findings);
    if verdict.opinion == Opinion::Allow {
        let rule = match (version, setup.approval) {
            (Version::Edited, _) => Some("edited code is shown before it runs"),
            (Version::Proposed, Approval::AlwaysAsk) => Some("you asked to be asked"),
            (Version::Proposed, Approval::Yes | Approval::AsRulesSay) => None,
        };
        if let Some(rule) = rule {
            verdict = Verdict { opinion: Opinion::Ask, rule: rule.into() };
        }
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
    let (state, more) = match (verdict.opinion, version, setup.approval) {
        (Opinion::Deny, _, _) => deny(state, work, &verdict),
        (Opinion::Allow, _, _) => {
            let by = match work.current.origin {
                Origin::Person => Grantor::Typed,
                Origin::Model => Grantor::Rule,
            };
            permit(state, work, by)
        }
        (Opinion::Ask, Version::Proposed, Approval::Yes) => {
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
        (Opinion::Ask, _, _) => {
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
    state.phase = Phase::Running(Run::new(work));
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
        // The edited code is another one, so the rules and the person look at it again.
        (Answer::Edit(code), _) => {
            let Work { current, waiting } = work;
            let current = current.edited(Untrusted::new(code));
            if let Some(why) = current.unfit() {
                return unfit(state, Work { current, waiting }, why);
            }
            let judge = Effect::Judge(current.clone());
            state.phase =
                Phase::Judging { work: Work { current, waiting }, version: Version::Edited };
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
    state.say(Message::result(work.current.call, why));
    for skipped in work.waiting {
        if skipped.call.is_some() {
            state.say(Message::result(skipped.call, words::not_reached()));
        }
    }
}

/// Something outside of the code failed. Whatever was under way is over, and the model is told
/// where it waits for an answer.
pub(super) fn failed(mut state: State, phase: Phase, failure: &Failure) -> (State, Vec<Effect>) {
    match phase {
        Phase::Judging { work, .. }
        | Phase::Asking { work, .. }
        | Phase::Running(Run { work, .. }) => {
            drop_work(&mut state, work, words::could_not_run(&failure.message));
            end_turn(state, failure.end)
        }
        Phase::Thinking | Phase::Summarising { .. } | Phase::Looking { .. } => {
            end_turn(state, failure.end)
        }
        // The changes could not be applied: they are still staged, and the person may decide
        // again with `interpreter changes`.
        Phase::Reviewing { .. } | Phase::Restarting | Phase::Switching => {
            finish(state, failure.end)
        }
        Phase::Idle | Phase::Ended => {
            state.phase = phase;
            (state, vec![])
        }
    }
}

/// Ends the turn, after the person has decided about what is staged.
pub(super) fn end_turn(mut state: State, end: TurnEnd) -> (State, Vec<Effect>) {
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
