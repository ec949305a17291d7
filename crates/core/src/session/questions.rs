//! Which questions are open, and which answers count.
//!
//! # Threat
//! Several clients answer the same question, or one answers a question that has changed meanwhile:
//! a yes must never run code that its giver has not seen, and never run anything twice.
//!
//! # Mechanism
//! A question is on record before it is put, with an id and a hash over all that it shows. There is
//! one way to answer it, for terminal, page and programs alike: [`Event::QuestionAnswered`](super::Event::QuestionAnswered), which
//! names both. It counts only while that very question is open here, and closes it, unless the rules
//! want the yes of others too: those are counted in `ballot.rs`. Whatever else ends what a question is about closes it too; the record says why. Nobody cannot say yes.
//!
//! Pure. Several questions about hosts may be open at once, besides the one that code waits for. The
//! steps are in `answering.rs`.

use super::{
    answers::{AnswerRefused, AnswerTaken, Covered, GivenAnswer, QuestionAnswer},
    ballot::{Ballot, Tally},
    event::{self, Answer, HostAnswer, PackagesAnswer, Settle},
};
use crate::{
    Body, Coverage, FileChange, Grant, Grantor, HostWanted, LongRun, Person, QuestionEnd, Secret,
    Span, Typed,
    outline::{ApplyOrder, SeenOutline},
};
use std::collections::VecDeque;

/// Closed questions whose ends are remembered, for whoever comes too late.
const REMEMBERED: usize = 64;

/// The questions of a session.
#[derive(Debug)]
pub(super) struct Questions {
    pub(super) open: Vec<OpenQuestion>,
    closed: VecDeque<ClosedQuestion>,
    /// The number of the next one.
    pub(super) next: u32,
    /// A question of an earlier session that is asked again. It keeps its id if it shows the same.
    pub(super) again: Option<(String, String)>,
}

impl Default for Questions {
    fn default() -> Self {
        Self { open: Vec::new(), closed: VecDeque::new(), next: 1, again: None }
    }
}

#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) id: String,
    pub(super) hash: String,
    pub(super) subject: Subject,
    /// The yeses so far, if it takes more than one or not everybody's.
    pub(super) ballot: Option<Ballot>,
}

/// The part of a question that decides which answers fit it.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    Code {
        /// Code like this.
        kind: Coverage,
        may_stand: bool,
        may_last: bool,
    },
    Input {
        secret: bool,
    },
    LongRun(LongRun),
    Host(HostWanted),
    Packages,
    Replay,
    /// The changes that it lists.
    Changes(Vec<FileChange>),
}

#[derive(Debug)]
struct ClosedQuestion {
    id: String,
    why: QuestionEnd,
    by: Option<String>,
}

/// An answer that counts.
#[derive(Debug)]
pub(super) struct CountedAnswer {
    pub(super) fitting: Fitting,
    /// The yeses with it, if it takes several.
    pub(super) tally: Option<Tally>,
}

impl CountedAnswer {
    /// Its outcome.
    pub(super) fn taken(&self) -> AnswerTaken {
        match &self.tally {
            Some(Tally { missing, .. }) if *missing > 0 => AnswerTaken::Waits { missing: *missing },
            Some(_) | None => AnswerTaken::Decides,
        }
    }
}

/// The answer to the question whether code may continue.
#[derive(Debug)]
pub(super) struct LongRunAnswer {
    pub(super) run: LongRun,
    pub(super) may_continue: bool,
}

/// An answer that fits the question which it names.
#[derive(Debug)]
pub(super) enum Fitting {
    Code(Answer),
    Input(Typed),
    LongRun(LongRunAnswer),
    Host(HostAnswer),
    Packages(PackagesAnswer),
    Replay(bool),
    Changes(Settle),
}

impl Questions {
    pub(super) fn find(&self, id: &str, hash: &str) -> Result<&OpenQuestion, AnswerRefused> {
        let id = id.to_owned();
        if let Some(open) = self.open.iter().find(|one| one.id == id) {
            return if open.hash == hash {
                Ok(open)
            } else {
                Err(AnswerRefused::AnotherHash { id })
            };
        }
        if let Some(closed) = self.closed.iter().rev().find(|one| one.id == id) {
            let (why, by) = (closed.why, closed.by.clone());
            return Err(AnswerRefused::Closed { id, why, by });
        }
        let open = self.open.iter().map(|one| one.id.clone()).collect();
        Err(AnswerRefused::Unknown { id, open })
    }

    /// Whether an answer counts, and as what.
    pub(super) fn fit(&self, given: &QuestionAnswer) -> Result<CountedAnswer, AnswerRefused> {
        let QuestionAnswer { question, hash, voter, .. } = given;
        let open = self.find(question, hash)?;
        let fitting = open.fit(given)?;
        let ballot = open.ballot.as_ref().filter(|_| fitting.is_approval());
        let tally = ballot.map(|ballot| ballot.with(question, voter.as_ref())).transpose()?;
        Ok(CountedAnswer { fitting, tally })
    }

    pub(super) fn add(&mut self, question: OpenQuestion) {
        self.open.push(question);
    }

    /// One of several yeses is given.
    pub(super) fn approve(&mut self, id: &str, tally: Tally) {
        let ballot = self.open.iter_mut().find(|one| one.id == id);
        if let Some(ballot) = ballot.and_then(|one| one.ballot.as_mut()) {
            ballot.take(tally);
        }
    }

    /// Takes back the yeses of a person. Returns the questions that had one, with the person.
    pub(super) fn withdraw(&mut self, id: &str) -> Vec<(String, Person)> {
        let withdrawn = self
            .open
            .iter_mut()
            .filter_map(|one| Some((one.id.clone(), one.ballot.as_mut()?.withdraw(id)?)));
        withdrawn.collect()
    }

    /// Leaves a question about code open on record: it may be answered in a session that goes on.
    pub(super) fn leave_code(&mut self) {
        self.open.retain(|one| !matches!(one.subject, Subject::Code { .. }));
    }

    /// Closes the questions that `is_over` names.
    pub(super) fn close(
        &mut self,
        why: QuestionEnd,
        by: Option<&str>,
        is_over: impl Fn(&OpenQuestion) -> bool,
    ) -> Vec<OpenQuestion> {
        let closed: Vec<_> = self.open.extract_if(.., |one| is_over(one)).collect();
        for one in &closed {
            let (id, by) = (one.id.clone(), by.map(str::to_owned));
            self.closed.push_back(ClosedQuestion { id, why, by });
        }
        while self.closed.len() > REMEMBERED {
            self.closed.pop_front();
        }
        closed
    }
}

impl OpenQuestion {
    /// Whether an answer is one to such a question, and which.
    fn fit(&self, given: &QuestionAnswer) -> Result<Fitting, AnswerRefused> {
        let QuestionAnswer { answer, by, .. } = given;
        let not = |reason| Err(AnswerRefused::NotFitting { reason });
        let subject = &self.subject;
        match by {
            Grantor::Person => {}
            Grantor::Flag if matches!(subject, Subject::Changes(_)) => {}
            Grantor::Nobody if !answer.is_yes() => {}
            Grantor::Nobody => return not("nobody cannot say yes"),
            Grantor::Typed | Grantor::Flag | Grantor::Rule | Grantor::Standing | Grantor::Mode => {
                return not("only the person answers a question");
            }
        }
        match (subject, answer) {
            (Subject::Code { .. }, GivenAnswer::Run) => Ok(Fitting::Code(Answer::Run)),
            (Subject::Code { .. }, GivenAnswer::Edit { code }) => {
                Ok(Fitting::Code(Answer::Edit(code.clone())))
            }
            (Subject::Code { .. }, GivenAnswer::Reject { reason }) => {
                Ok(Fitting::Code(Answer::Reject { reason: reason.clone() }))
            }
            (Subject::Code { kind, may_stand, may_last }, GivenAnswer::Stand { span, covers }) => {
                let lasts = *span != Span::Always || (*may_last && *covers == Covered::Kind);
                if !*may_stand {
                    return not("an answer to this code holds for nothing else");
                }
                if !lasts {
                    return not("this answer cannot hold for good");
                }
                let covers = match covers {
                    Covered::All => Coverage::All,
                    Covered::Kind => kind.clone(),
                };
                Ok(Fitting::Code(Answer::Standing(*span, covers)))
            }
            (Subject::Input { secret: true }, GivenAnswer::Give { text }) => {
                Ok(Fitting::Input(Typed::Hidden(Secret::new(text.reveal().to_owned()))))
            }
            (Subject::Input { secret: false }, GivenAnswer::Give { text }) => {
                Ok(Fitting::Input(Typed::Line(text.reveal().to_owned())))
            }
            (Subject::Input { .. }, GivenAnswer::End) => Ok(Fitting::Input(Typed::End)),
            (Subject::LongRun(run), GivenAnswer::Run) => {
                Ok(Fitting::LongRun(LongRunAnswer { run: run.clone(), may_continue: true }))
            }
            (Subject::LongRun(run), GivenAnswer::Reject { .. }) => {
                Ok(Fitting::LongRun(LongRunAnswer { run: run.clone(), may_continue: false }))
            }
            (
                Subject::Host(HostWanted { listed: true, .. }),
                GivenAnswer::Allow { span: Grant::Always },
            ) => not("the host is listed already, so this answer cannot hold for good"),
            (Subject::Host(wanted), GivenAnswer::Allow { span }) => {
                Ok(Fitting::Host(host_answer(wanted, Some(*span), *by)))
            }
            (Subject::Host(wanted), GivenAnswer::Refuse) => {
                Ok(Fitting::Host(host_answer(wanted, None, *by)))
            }
            (Subject::Packages, GivenAnswer::Install) => {
                Ok(Fitting::Packages(PackagesAnswer::Install))
            }
            (Subject::Packages, GivenAnswer::Refuse) => Ok(Fitting::Packages(PackagesAnswer::No)),
            (Subject::Replay, GivenAnswer::Run) => Ok(Fitting::Replay(true)),
            (Subject::Replay, GivenAnswer::Reject { .. }) => Ok(Fitting::Replay(false)),
            // No picks would mean all of them.
            (Subject::Changes(_), GivenAnswer::Apply { picks: Some(picks), .. })
                if picks.is_empty() =>
            {
                not("nothing is picked")
            }
            (Subject::Changes(listed), GivenAnswer::Apply { picks, seen }) => {
                let picks = picks.clone().unwrap_or_default();
                let order = ApplyOrder { picks, seen: seen.clone().map(SeenOutline::of_all) };
                order.check(&order.changes(listed), listed)?;
                Ok(Fitting::Changes(Settle::Apply(order)))
            }
            (Subject::Changes(_), GivenAnswer::Discard) => Ok(Fitting::Changes(Settle::Discard)),
            (Subject::Changes(_), GivenAnswer::Later) => Ok(Fitting::Changes(Settle::Later)),
            (subject, _) => not(subject.expected()),
        }
    }
}

impl Subject {
    /// The answers that fit it, in words.
    fn expected(&self) -> &'static str {
        match self {
            Self::Code { .. } => "a question about code takes run, edit, reject or stand",
            Self::Input { .. } => "a question for input takes give or end",
            Self::LongRun(_) => "a question about code that is running takes run or reject",
            Self::Host(_) => "a question about a host takes allow or refuse",
            Self::Packages => "a question about packages takes install or refuse",
            Self::Replay => "a question about cells takes run or reject",
            Self::Changes(_) => "a question about changes takes apply, discard or later",
        }
    }
}

pub(super) fn host_answer(wanted: &HostWanted, grant: Option<Grant>, by: Grantor) -> HostAnswer {
    let HostWanted { proposal, host, port, .. } = wanted.clone();
    HostAnswer { proposal, host, port, grant, by }
}

impl Fitting {
    /// Whether it is a yes by which code runs or packages are installed. An edit is none: the new
    /// code is asked about.
    fn is_approval(&self) -> bool {
        match self {
            Self::Code(Answer::Run | Answer::Standing(..))
            | Self::Packages(PackagesAnswer::Install)
            | Self::Replay(true) => true,
            Self::Code(Answer::Edit(_) | Answer::Reject { .. })
            | Self::Packages(PackagesAnswer::No)
            | Self::Replay(false)
            | Self::Input(_)
            | Self::LongRun(_)
            | Self::Host(_)
            | Self::Changes(_) => false,
        }
    }

    /// Whether it has words of its giver in it, for the model or as code.
    pub(super) fn speaks(&self) -> bool {
        match self {
            Self::Code(Answer::Edit(_) | Answer::Reject { reason: Some(_) })
            | Self::Input(Typed::Line(_) | Typed::Hidden(_)) => true,
            Self::Code(Answer::Run | Answer::Standing(..) | Answer::Reject { reason: None })
            | Self::Packages(_)
            | Self::Replay(_)
            | Self::Input(Typed::End)
            | Self::LongRun(_)
            | Self::Host(_)
            | Self::Changes(_) => false,
        }
    }

    /// The record of it. A question about code is about `proposal`.
    pub(super) fn bodies(&self, proposal: &str, by: Grantor) -> Vec<Body> {
        match self {
            Self::Code(answer) => vec![answer.body(proposal, by)],
            Self::Input(typed) => vec![event::given(typed)],
            Self::LongRun(LongRunAnswer { run, may_continue }) => {
                let (proposal, seconds) = (run.proposal.clone(), run.seconds);
                vec![Body::LongRun { proposal, seconds, may_continue: *may_continue, by }]
            }
            Self::Host(answer) => vec![answer.body()],
            Self::Packages(PackagesAnswer::No) => vec![Body::PackagesRefused { by }],
            // The step that follows records these in full.
            Self::Packages(PackagesAnswer::Install) | Self::Replay(_) | Self::Changes(_) => vec![],
        }
    }
}
