//! The steps by which questions are put, answered and closed.
//!
//! The only way from an answer to what it allows is here, behind the check of `questions.rs`. Must
//! not decide whether an answer counts.

use super::{
    answers::{AnswerRefused, AnswerTaken, GivenAnswer, Posed, QuestionAnswer},
    ballot::Ballot,
    effect::Effect,
    event::{Answer, Event, Settle},
    questions::{CountedAnswer, Fitting, OpenQuestion, Subject, host_answer},
    state::{Phase, Run, State},
};
use crate::{
    Body, Grant, Grantor, HostWanted, InputWanted, LongRun, Person, QuestionAbout, QuestionEnd,
    RecordedQuestion, Secret,
};

impl QuestionEnd {
    /// Why a question closes whose subject ends with this event.
    pub(super) fn by(event: &Event) -> Self {
        if matches!(event, Event::Interrupted) {
            Self::Interrupted
        } else if matches!(event, Event::TimeUp(_)) {
            Self::TimedOut
        } else if matches!(event, Event::Quit | Event::ServerEnds) {
            Self::Ended
        } else {
            Self::Over
        }
    }
}

impl Subject {
    /// Whether what it is about goes on in this phase. A host may be granted as long as nothing
    /// else runs.
    fn lives_in(&self, phase: &Phase) -> bool {
        match self {
            Self::Code { .. } => matches!(phase, Phase::Asking { .. }),
            Self::Input { .. } => matches!(phase, Phase::Running(_)),
            Self::LongRun(long) => {
                matches!(phase, Phase::Running(run) if run.work.current.id == long.proposal)
            }
            Self::Host(wanted) => match phase {
                Phase::Running(Run { work, .. }) => work.current.id == wanted.proposal,
                Phase::Ended => false,
                Phase::Idle
                | Phase::Thinking
                | Phase::Summarising { .. }
                | Phase::Looking { .. }
                | Phase::Judging { .. }
                | Phase::Asking { .. }
                | Phase::Preparing { .. }
                | Phase::Offering { .. }
                | Phase::Resolving { .. }
                | Phase::Installing { .. }
                | Phase::Reviewing { .. }
                | Phase::Settling
                | Phase::Restarting
                | Phase::Weighing(_)
                | Phase::Confirming(_)
                | Phase::Freshening { .. }
                | Phase::Rewinding(_)
                | Phase::Switching => true,
            },
            Self::Packages => matches!(phase, Phase::Offering { .. }),
            Self::Replay => matches!(phase, Phase::Confirming(_)),
            Self::Changes(_) => matches!(phase, Phase::Reviewing { .. }),
        }
    }

    /// Whether an interrupt ends it although the phase goes on.
    fn ends_by_interrupt(&self) -> bool {
        matches!(self, Self::Input { .. } | Self::LongRun(_) | Self::Host(_))
    }
}

impl State {
    /// Whether an answer counts now, and what it comes to; if not, why.
    pub fn check_answer(&self, given: &QuestionAnswer) -> Result<AnswerTaken, AnswerRefused> {
        if self.has_ended() {
            return Err(AnswerRefused::SessionOver);
        }
        self.questions.fit(given).map(|counted| counted.taken())
    }

    /// The ids of the questions that are open, the oldest first.
    pub fn open_questions(&self) -> impl Iterator<Item = &str> {
        self.questions.open.iter().map(|one| one.id.as_str())
    }

    /// The record of an event, before the step is taken.
    pub fn bodies(&self, event: &Event) -> Vec<Body> {
        let Event::QuestionAnswered(given) = event else { return event.bodies() };
        match self.questions.fit(given) {
            Ok(counted) => {
                let approvals = counted.tally.iter().flat_map(|one| one.bodies(&given.question));
                let mut bodies: Vec<_> = approvals.collect();
                if counted.taken() == AnswerTaken::Decides {
                    bodies.extend(counted.fitting.bodies(self.proposal_at_hand(), given.by));
                }
                bodies
            }
            Err(_) => Vec::new(),
        }
    }

    /// The text that an event gives to code and that nobody else may see.
    pub fn hidden_text<'a>(&self, event: &'a Event) -> Option<&'a Secret> {
        let Event::QuestionAnswered(given) = event else { return None };
        let GivenAnswer::Give { text } = &given.answer else { return None };
        let open = self.questions.find(&given.question, &given.hash).ok()?;
        matches!(open.subject, Subject::Input { secret: true }).then_some(text)
    }

    fn proposal_at_hand(&self) -> &str {
        match &self.phase {
            Phase::Asking { work, .. } => &work.current.id,
            Phase::Idle
            | Phase::Thinking
            | Phase::Summarising { .. }
            | Phase::Looking { .. }
            | Phase::Judging { .. }
            | Phase::Preparing { .. }
            | Phase::Running(_)
            | Phase::Offering { .. }
            | Phase::Resolving { .. }
            | Phase::Installing { .. }
            | Phase::Reviewing { .. }
            | Phase::Settling
            | Phase::Restarting
            | Phase::Weighing(_)
            | Phase::Confirming(_)
            | Phase::Freshening { .. }
            | Phase::Rewinding(_)
            | Phase::Switching
            | Phase::Ended => "",
        }
    }

    /// Opens a question and puts it on record, as it is shown: without secrets.
    pub(super) fn pose<T>(&mut self, about: QuestionAbout, subject: Subject, shown: T) -> Posed<T> {
        let unnamed = RecordedQuestion { id: String::new(), hash: String::new(), about };
        // If it cannot be shown without a secret, its record will be withheld.
        let clean = self.setup.redactor.body(Body::Question(unnamed.clone()));
        let about = if let Body::Question(clean) = clean { clean.about } else { unnamed.about };
        let ballot = about.quorum().cloned().map(Ballot::new);
        let hash = about.hash();
        let again = self.questions.again.take().filter(|(_, then)| *then == hash);
        let id = if let Some((id, _)) = again {
            id
        } else {
            let id = format!("q{}", self.questions.next);
            self.questions.next += 1;
            id
        };
        self.record(Body::Question(RecordedQuestion { id: id.clone(), hash: hash.clone(), about }));
        self.questions.add(OpenQuestion { id: id.clone(), hash: hash.clone(), subject, ballot });
        Posed { id, hash, about: shown }
    }

    /// The code wants a line. It waits for one at a time.
    pub(super) fn ask_input(&mut self, wanted: InputWanted) {
        self.close_questions(QuestionEnd::Over, |one| matches!(one.subject, Subject::Input { .. }));
        let subject = Subject::Input { secret: wanted.secret };
        let posed = self.pose(QuestionAbout::Input(wanted.clone()), subject, wanted);
        self.then(Effect::AskInput(posed));
    }

    /// The code has been running for `seconds`, and ends in as many as `ends_in` unless somebody
    /// answers.
    pub(super) fn ask_long_run(&mut self, proposal: &str, seconds: u64, ends_in: u64) {
        self.close_questions(QuestionEnd::Over, |one| matches!(one.subject, Subject::LongRun(_)));
        let run = LongRun { proposal: proposal.to_owned(), seconds, ends_in };
        let about = QuestionAbout::LongRun(run.clone());
        let posed = self.pose(about, Subject::LongRun(run.clone()), run);
        self.then(Effect::AskLongRun(posed));
    }

    /// The code wants to reach a host.
    pub(super) fn ask_host(&mut self, wanted: HostWanted) {
        let HostWanted { proposal, host, port, listed } = wanted.clone();
        let mut grants = vec![Grant::Once, Grant::Session];
        if !listed {
            grants.push(Grant::Always);
        }
        let about = QuestionAbout::Host { proposal, host, port, listed, grants };
        let posed = self.pose(about, Subject::Host(wanted.clone()), wanted);
        self.then(Effect::AskHost(posed));
    }

    /// Takes an answer in, if it is one to a question that is open.
    pub(super) fn question_answered(&mut self, phase: Phase, given: &QuestionAnswer) {
        let Ok(CountedAnswer { fitting, tally }) = self.questions.fit(given) else {
            self.phase = phase;
            return;
        };
        let QuestionAnswer { question, by, who, voter, .. } = given;
        if let (Some(voter), true) = (voter, fitting.speaks()) {
            self.heard_from(voter.person.clone());
        }
        if let Some(tally) = tally.filter(|tally| tally.missing > 0)
            && !self.reaches_more(&phase)
        {
            self.questions.approve(question, tally);
            self.phase = phase;
            return;
        }
        let closed =
            self.questions.close(QuestionEnd::Answered, who.as_deref(), |one| one.id == *question);
        for one in closed {
            self.record(Body::QuestionClosed { id: one.id, why: QuestionEnd::Answered });
        }
        self.decided(phase, fitting, *by);
    }

    /// A person may no longer answer, so the approvals that they gave no longer count.
    pub(super) fn lost_right(&mut self, person: &str) {
        for (question, person) in self.questions.withdraw(person) {
            self.record(Body::ApprovalWithdrawn { question, person });
        }
    }

    /// Whether code would reach more than the question about it says.
    fn reaches_more(&self, phase: &Phase) -> bool {
        matches!(phase, Phase::Asking { hosts, .. } if *hosts != self.hosts.given())
    }

    /// From here on words of this person are in what the session has.
    pub(super) fn heard_from(&mut self, person: Person) {
        if !self.authors.iter().any(|one| one.id == person.id) {
            self.record(Body::Author { person: person.clone() });
            self.authors.push(person);
        }
    }

    fn decided(&mut self, phase: Phase, fitting: Fitting, by: Grantor) {
        let reaches_more = self.reaches_more(&phase);
        match (phase, fitting) {
            (
                Phase::Asking { work, edited, .. },
                Fitting::Code(Answer::Run | Answer::Standing(..)),
            ) if reaches_more => self.ask_anew(work, edited),
            (Phase::Asking { work, .. }, Fitting::Code(answer)) => self.answered(work, answer, by),
            (phase @ Phase::Running(_), Fitting::Input(typed)) => {
                self.phase = phase;
                self.then(Effect::GiveInput(typed));
            }
            (Phase::Running(run), Fitting::LongRun(answer)) => {
                self.long_run_answered(run, &answer, by);
            }
            (phase, Fitting::Host(answer)) => {
                self.phase = phase;
                self.hosts.note(&answer.host, answer.port, answer.grant);
                self.then(Effect::AnswerHost(answer));
            }
            (Phase::Offering { order, plan, then }, Fitting::Packages(answer)) => {
                self.packages_answered((order, plan), then, answer, by);
            }
            (Phase::Confirming(wanted), Fitting::Replay(run)) => {
                self.replay_answered(wanted, run, by);
            }
            (Phase::Reviewing { end, .. }, Fitting::Changes(Settle::Later)) => self.finish(end),
            (Phase::Reviewing { end, .. }, Fitting::Changes(decision)) => {
                let partly = matches!(&decision, Settle::Apply(order) if !order.picks.is_empty());
                self.phase = Phase::Reviewing { end, partly };
                self.then(Effect::Settle(decision));
            }
            (phase, _) => self.phase = phase,
        }
    }

    /// Closes the questions whose subject is gone, at the end of a step.
    pub(super) fn close_what_is_over(&mut self, why: QuestionEnd) {
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        let is_stopped = matches!(why, QuestionEnd::Interrupted | QuestionEnd::TimedOut);
        let made = std::mem::take(&mut self.effects);
        self.close_questions(why, |one| {
            !one.subject.lives_in(&phase) || (is_stopped && one.subject.ends_by_interrupt())
        });
        // A question is closed before whatever follows.
        self.effects.extend(made);
        self.phase = phase;
    }

    fn close_questions(&mut self, why: QuestionEnd, is_over: impl Fn(&OpenQuestion) -> bool) {
        for one in self.questions.close(why, None, is_over) {
            self.record(Body::QuestionClosed { id: one.id, why });
            // Its connection waits for an answer.
            if let Subject::Host(wanted) = &one.subject {
                let refusal = host_answer(wanted, None, Grantor::Nobody);
                self.record(refusal.body());
                self.then(Effect::AnswerHost(refusal));
            }
        }
    }
}
