//! One step of a session: the table of what can happen when. See [`super`].

use super::{
    effect::Effect,
    event::{Event, Failure},
    packages::are_packages,
    state::{Phase, Run, State, Work},
    words,
};
use crate::{Body, Message, Origin, QuestionEnd, Untrusted, record::TurnEnd};
use std::mem;

impl State {
    /// Takes the session one step further, and says what to do. Reads nothing, waits for nothing,
    /// performs nothing.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        let phase = mem::replace(&mut self.phase, Phase::Idle);
        let why = QuestionEnd::by(&event);
        let stays_open = matches!(event, Event::ServerEnds);
        self.take(phase, event);
        self.record_conversation();
        if stays_open {
            self.questions.leave_code();
        }
        self.close_what_is_over(why);
        mem::take(&mut self.effects)
    }

    pub(super) fn take(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (Phase::Ended, _) => self.phase = Phase::Ended,
            (_, Event::Quit | Event::ServerEnds) => {
                self.phase = Phase::Ended;
                self.then(Effect::End);
            }
            (phase, Event::Spoke(person)) => {
                self.phase = phase;
                self.heard_from(person);
            }
            (Phase::Idle, Event::Asked(prompt)) => self.asked(prompt),
            (phase, Event::Attached(attachment)) => {
                self.phase = phase;
                self.attach(attachment.image);
            }
            (phase, Event::Piped(piped)) => {
                self.phase = phase;
                self.piped = Some(piped);
            }
            (phase, Event::FileAttached(file)) => {
                self.phase = phase;
                self.attach_file(&file);
            }
            (phase, Event::Counted(counted)) => {
                self.phase = phase;
                self.counted = counted;
            }
            (Phase::Idle, Event::Resumed(earlier)) => self.resumed(*earlier),
            (Phase::Idle, Event::HeaderGiven(header)) => self.headers.push(header),
            (Phase::Idle, Event::Retried) => self.retried(),
            (Phase::Idle, Event::Forgotten) => self.forgotten(),
            (Phase::Idle, Event::Submitted { language, code, invocation }) => {
                self.submitted(language, code, invocation);
            }
            (Phase::Thinking, Event::Replied(reply)) => self.replied(reply),
            (phase @ (Phase::Thinking | Phase::Summarising { .. }), Event::Interrupted) => {
                self.phase = phase;
                self.then(Effect::CancelModel);
            }
            (Phase::Thinking, Event::TooLong(failure)) => self.too_long(failure),
            (Phase::Summarising { until }, Event::Summarised(said)) => self.summarised(until, said),
            (Phase::Looking { looks, waiting }, Event::Looked(seen)) => {
                self.looked(looks, waiting, seen);
            }
            (Phase::Judging { work, edited }, Event::Judged(findings)) => {
                self.judged(work, edited, findings);
            }
            (phase, Event::QuestionAnswered(given)) => self.question_answered(phase, &given),
            (Phase::Asking { work, .. }, Event::Interrupted) => self.refuse(work, None),
            (phase, Event::TimeUp(seconds)) => self.time_up(phase, seconds),
            (Phase::Idle, Event::Expected(language)) => self.expect(language),
            (Phase::Preparing { work, by, lost }, Event::Prepared(prepared))
                if prepared.language == work.current.language =>
            {
                self.permit(work, by, lost, prepared);
            }
            (Phase::Preparing { work, by, lost }, Event::Interrupted) => {
                self.interrupted_before(Run::new(work, by, lost));
            }
            (
                Phase::Running(run),
                event @ (Event::Output(_)
                | Event::Line(_)
                | Event::InputWanted(_)
                | Event::RunsLong { .. }
                | Event::Interrupted
                | Event::NotBegun
                | Event::Ran(_)),
            ) => self.running(run, event),
            (phase, event) => self.take_aside(phase, event),
        }
    }

    /// The same for events beside the way from a prompt to its result.
    fn take_aside(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (phase, Event::HostWanted(wanted)) => self.host_wanted(phase, wanted),
            (phase, Event::SecretWanted(wanted)) => self.secret_wanted(phase, &wanted),
            (
                phase @ Phase::Rewinding(_),
                event @ (Event::Settled(_)
                | Event::WentBack(_)
                | Event::Restarted(_)
                | Event::Reviewed(_)
                | Event::Interrupted),
            )
            | (phase, event @ Event::RewindWanted(_)) => self.rewinding(phase, event),
            (Phase::Reviewing { end, .. }, Event::Reviewed(changes)) => self.reviewed(end, changes),
            (Phase::Reviewing { end, .. }, Event::Interrupted) => self.finish(end),
            (Phase::Reviewing { end, partly: true }, Event::Settled(_)) => {
                self.phase = Phase::Reviewing { end, partly: false };
                self.then(Effect::Review);
            }
            (Phase::Reviewing { end, partly: false }, Event::Settled(_)) => {
                self.staged = false;
                self.finish(end);
            }
            (Phase::Idle, Event::ChangesWanted(wish)) => {
                self.phase = Phase::Settling;
                self.then(Effect::ChangeSet(wish));
            }
            (Phase::Settling, Event::Settled(_)) => self.finish(TurnEnd::Done),
            (Phase::Idle, Event::StandingGiven(span, covers)) => {
                self.stand(span, covers);
                self.finish(TurnEnd::Done);
            }
            (Phase::Idle, Event::StandingRevoked(number)) => {
                self.revoke(number);
                self.finish(TurnEnd::Done);
            }
            // A yes is taken back at any time.
            (phase, Event::StandingRevoked(number)) => {
                self.phase = phase;
                self.revoke(number);
            }
            (Phase::Idle, Event::HostRevoked(host, port)) => {
                self.revoke_host(&host, port);
                self.finish(TurnEnd::Done);
            }
            (phase, Event::HostRevoked(host, port)) => {
                self.phase = phase;
                self.revoke_host(&host, port);
            }
            (phase, Event::RightLost(person)) => {
                self.phase = phase;
                self.lost_right(&person);
            }
            (Phase::Idle, Event::Restart(language)) => {
                self.phase = Phase::Restarting;
                self.then(Effect::Restart(language));
            }
            (Phase::Restarting, Event::Restarted(languages)) => self.restarted(&languages),
            (
                phase,
                event @ (Event::ReplayWanted(_) | Event::JudgedAll(_) | Event::Restarted(_)),
            )
            | (
                phase @ (Phase::Weighing(_) | Phase::Confirming(_) | Phase::Freshening { .. }),
                event @ Event::Interrupted,
            ) => self.replaying(phase, event),
            (phase, event @ (Event::ModelWanted(_) | Event::ModelFound(_))) => {
                self.switching(phase, event);
            }
            (phase, event) if are_packages(&phase, &event) => self.packages(phase, event),
            (phase, Event::KernelEnded { language, how }) => {
                self.phase = phase;
                self.notice(words::kernel_ended(language.name(), &how));
            }
            (phase, Event::Failed(failure)) => self.failed(phase, &failure),
            (phase, Event::RunnerFailed(failure)) => self.runner_failed(phase, &failure),
            // Output of something left in the background, a second Ctrl-C, a late answer: nothing
            // changes. The driver has recorded that it came.
            (phase, _) => self.phase = phase,
        }
    }

    /// Tells the model that the proposal at hand did not run, and neither did those behind it.
    pub(super) fn drop_work(&mut self, work: Work, why: Untrusted) {
        // The conversation has the result of a cell that runs again already.
        if work.current.origin == Origin::Person || work.current.again.is_some() {
            return;
        }
        self.say(Message::result(work.current.call, why));
        for skipped in work.waiting {
            if skipped.call.is_some() {
                self.say(Message::result(skipped.call, words::not_reached()));
            }
        }
    }

    /// Something outside of the code failed. Whatever was under way is over, and the model learns
    /// of it where it waits for an answer.
    pub(super) fn failed(&mut self, phase: Phase, failure: &Failure) {
        match phase {
            Phase::Judging { work, .. }
            | Phase::Asking { work, .. }
            | Phase::Preparing { work, .. }
            | Phase::Running(Run { work, .. })
                if work.current.again.is_some() =>
            {
                self.rebuilt(failure.end);
            }
            Phase::Judging { work, .. }
            | Phase::Asking { work, .. }
            | Phase::Preparing { work, .. }
            | Phase::Running(Run { work, .. }) => {
                self.drop_work(work, words::could_not_run(&failure.message));
                self.end_turn(failure.end);
            }
            Phase::Thinking | Phase::Summarising { .. } | Phase::Looking { .. } => {
                self.end_turn(failure.end);
            }
            Phase::Offering { order, then, .. }
            | Phase::Resolving { order, then, .. }
            | Phase::Installing { order, then, .. } => {
                self.packages_interrupted(&order, then);
            }
            Phase::Weighing(_) | Phase::Confirming(_) | Phase::Freshening { .. } => {
                self.rebuilt(failure.end);
            }
            Phase::Rewinding(step) => self.rewind_failed(step, failure.end),
            // The changes could not be applied: they are still staged, and the person may decide
            // again with `interpreter changes`.
            Phase::Reviewing { .. } | Phase::Settling | Phase::Restarting | Phase::Switching => {
                self.finish(failure.end);
            }
            Phase::Idle | Phase::Ended => self.phase = phase,
        }
    }

    /// The runner failed. If nobody waits for it, that is found out when it is needed.
    fn runner_failed(&mut self, phase: Phase, failure: &Failure) {
        match phase {
            Phase::Preparing { .. }
            | Phase::Running(_)
            | Phase::Reviewing { .. }
            | Phase::Settling
            | Phase::Freshening { .. }
            | Phase::Rewinding(_)
            | Phase::Restarting => {
                self.record(Body::Error {
                    message: failure.message.clone(),
                    hint: failure.hint.clone(),
                });
                self.failed(phase, failure);
            }
            Phase::Idle
            | Phase::Thinking
            | Phase::Summarising { .. }
            | Phase::Looking { .. }
            | Phase::Judging { .. }
            | Phase::Asking { .. }
            | Phase::Offering { .. }
            | Phase::Resolving { .. }
            | Phase::Installing { .. }
            | Phase::Weighing(_)
            | Phase::Confirming(_)
            | Phase::Switching
            | Phase::Ended => self.phase = phase,
        }
    }

    /// Ends the turn, after the person has decided about what is staged. If its time is over, they
    /// decide later.
    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        if !mem::take(&mut self.staged) || self.is_late {
            return self.finish(end);
        }
        self.phase = Phase::Reviewing { end, partly: false };
        self.then(Effect::Review);
    }

    /// Ends the turn.
    pub(super) fn finish(&mut self, end: TurnEnd) {
        let end = if mem::take(&mut self.is_late) { TurnEnd::TimedOut } else { end };
        self.standing.end_turn();
        self.tell_rebuilt();
        self.phase = Phase::Idle;
        self.then(Effect::FinishTurn(end));
    }
}
