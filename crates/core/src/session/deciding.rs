//! From findings to a permit: the rules, the person, the kernel that stands ready.
//!
//! Must not let anything run that was not judged as it stands. The one expression in the program
//! that makes a permit is here, and the record says before it what bounds the run.

use super::{
    effect::{Effect, Question},
    event::{Answer, Event},
    packages::Afterwards,
    setup::{Approval, Setup},
    state::{Phase, Run, State, Work},
    words,
};
use crate::{
    Body, Coverage, Findings, Grantor, Language, Opinion, Origin, Permit, Prepared, Proposal, Span,
    Untrusted, Verdict, policy::Ground, record::TurnEnd, standing,
};

/// How often a kernel may be gone between being ready and being given the code.
const MOST_LOST: u32 = 2;

impl State {
    pub(super) fn judged(&mut self, work: Work, edited: bool, findings: Findings) {
        if self.is_late {
            return self.too_late(work);
        }
        let approval = self.setup.approval;
        let mut verdict = self.verdict_on(&work.current, &findings);
        self.taint.judged(&findings);
        if verdict.opinion == Opinion::Allow {
            let rule = match approval {
                _ if edited => Some("edited code is shown before it runs"),
                Approval::AlwaysAsk => Some("you asked to be asked"),
                Approval::Yes | Approval::AsRulesSay => None,
            };
            if let Some(rule) = rule {
                let ground = Ground::Rule;
                verdict = Verdict { opinion: Opinion::Ask, rule: rule.into(), ground };
            }
        }
        let within = &self.setup.confinement;
        let may_stand = verdict.is_default() && findings.risk <= standing::ceiling(within);
        let kind = Coverage::kind_of(&work.current, &findings);
        let may_last = may_stand && kind.lasting(within).is_some();
        let proposal = work.current.id.clone();
        self.record(Body::Findings {
            proposal: proposal.clone(),
            risk: findings.risk,
            capabilities: findings.capabilities.clone(),
        });
        let (decision, rule) = (verdict.opinion, verdict.rule.clone());
        self.record(Body::Verdict { proposal: proposal.clone(), decision, rule });
        if verdict.opinion != Opinion::Deny
            && let Some(order) = self.requested_packages(&work)
        {
            // Nothing of it runs; the question is about the packages.
            return self.offer(order, Afterwards::Requested(Box::new(work)));
        }
        match (verdict.opinion, work.current.origin) {
            (Opinion::Deny, _) => self.deny(work, &verdict),
            (Opinion::Allow, Origin::Person) => self.prepare(work, Grantor::Typed, 0),
            (Opinion::Allow, Origin::Model) => {
                let by = match verdict.ground {
                    Ground::Standing => Grantor::Standing,
                    Ground::Automatic => Grantor::Mode,
                    Ground::Default | Ground::Rule | Ground::Named => Grantor::Rule,
                };
                self.prepare(work, by, 0);
            }
            (Opinion::Ask, _) if approval == Approval::Yes && !edited => {
                let (answer, by) = (Answer::Run, Grantor::Flag);
                for body in (Event::Answered { proposal, answer, by }).bodies() {
                    self.record(body);
                }
                self.prepare(work, by, 0);
            }
            (Opinion::Ask, _) => {
                self.then(Effect::Ask(Question {
                    proposal: work.current.clone(),
                    findings: findings.clone(),
                    verdict: verdict.clone(),
                    may_stand,
                    may_last,
                }));
                self.phase = Phase::Asking { work, findings, verdict };
            }
        }
    }

    /// The verdict of the rules, of standing answers, and with outside text in mind.
    pub(super) fn verdict_on(&self, proposal: &Proposal, findings: &Findings) -> Verdict {
        let Setup { policy, confinement: within, .. } = &self.setup;
        let by_rules = policy.judge(proposal, findings, standing::ceiling(within));
        let heard = self.standing.heard(by_rules, proposal, findings, within, &policy.places);
        self.taint.heard(heard, proposal, findings, within, &policy.places)
    }

    pub(super) fn answered(
        &mut self,
        work: Work,
        findings: Findings,
        verdict: Verdict,
        answer: Answer,
        by: Grantor,
    ) {
        match (answer, by) {
            // Nobody cannot say yes.
            (Answer::Run | Answer::Standing(..) | Answer::Edit(_), Grantor::Nobody) => {
                self.phase = Phase::Asking { work, findings, verdict };
            }
            (Answer::Run, _) => self.prepare(work, by, 0),
            (Answer::Standing(span, covers), _) => {
                self.stand(span, covers);
                self.prepare(work, by, 0);
            }
            // The edited code is another one, so the rules and the person look at it again.
            (Answer::Edit(code), _) => {
                let Work { current, waiting } = work;
                let current = current.edited(Untrusted::new(code));
                if let Some(why) = current.unfit() {
                    return self.unfit(Work { current, waiting }, why);
                }
                self.then(Effect::Judge(current.clone()));
                self.phase = Phase::Judging { work: Work { current, waiting }, edited: true };
            }
            (Answer::Reject { reason }, _) => self.refuse(work, reason.as_deref()),
        }
    }

    /// The person said no. With a reason the model may try again; without one the turn is over.
    pub(super) fn refuse(&mut self, work: Work, reason: Option<&str>) {
        let origin = work.current.origin;
        if reason.is_none() && !work.waiting.is_empty() {
            self.note("not run either: the code after it in this reply");
        }
        self.drop_work(work, words::rejected(reason));
        match (origin, reason) {
            (Origin::Model, Some(_)) => self.call_model(),
            (Origin::Model, None) | (Origin::Person, _) => self.end_turn(TurnEnd::Refused),
        }
    }

    /// From now on an answer holds without a question.
    pub(super) fn stand(&mut self, span: Span, covers: Coverage) {
        match self.standing.add(span, covers).cloned() {
            Some(answer) => {
                let rule = answer.covers.lasting(&self.setup.confinement);
                let keep = rule.filter(|_| answer.span == Span::Always);
                self.record(Body::StandingGiven(answer));
                if let Some(rule) = keep {
                    self.then(Effect::KeepRule(rule));
                }
            }
            None => self.note(format!(
                "there are {} standing answers already, so this one does not hold; take one back \
                 first",
                standing::MOST
            )),
        }
    }

    /// A standing answer holds no more.
    pub(super) fn revoke(&mut self, number: u32) {
        if self.standing.revoke(number) {
            self.record(Body::StandingRevoked { number });
        } else {
            self.note(format!("there is no standing answer {number}"));
        }
    }

    fn deny(&mut self, work: Work, verdict: &Verdict) {
        let origin = work.current.origin;
        self.drop_work(work, words::denied(&verdict.rule));
        self.outcome = TurnEnd::Refused;
        self.note(format!("not run: refused by {}", verdict.rule));
        match origin {
            Origin::Model => self.call_model(),
            Origin::Person => self.end_turn(TurnEnd::Refused),
        }
    }

    /// It may run. Its kernel is made ready first.
    pub(super) fn prepare(&mut self, work: Work, by: Grantor, lost: u32) {
        let language = work.current.language.clone();
        let confinement = Box::new(self.setup.confinement.clone());
        self.then(Effect::Prepare { language, confinement });
        self.phase = Phase::Preparing { work, by, lost };
    }

    /// The person is about to write code in this language.
    pub(super) fn expect(&mut self, language: Language) {
        self.record(Body::StartedAhead { language: language.name().into() });
        let confinement = Box::new(self.setup.confinement.clone());
        self.then(Effect::Prepare { language, confinement });
    }

    /// The last thing before code runs: what bounds it goes on record. The one expression in the
    /// program that makes a permit.
    pub(super) fn permit(&mut self, work: Work, by: Grantor, lost: u32, prepared: Prepared) {
        self.taint.permitted();
        let Prepared { backend, enforced, missing, .. } = prepared;
        let (proposal, hash) = (work.current.id.clone(), work.current.hash().into());
        self.record(Body::RunStarted { proposal, hash, backend, enforced, missing });
        let confinement = self.setup.confinement.clone();
        self.then(Effect::Run(Permit::grant(work.current.clone(), confinement, by)));
        self.phase = Phase::Running(Run::new(work, by, lost));
    }

    /// The kernel that stood ready was gone when the code came, so nothing of it ran.
    pub(super) fn not_begun(&mut self, run: Run) {
        let Run { work, by, lost, .. } = run;
        if lost < MOST_LOST {
            return self.prepare(work, by, lost + 1);
        }
        let message = format!("the {} interpreter keeps ending", work.current.language.name());
        self.record(Body::Error { message: message.clone(), hint: None });
        if work.current.again.is_some() {
            return self.rebuilt(TurnEnd::CannotConfine);
        }
        self.drop_work(work, words::could_not_run(&message));
        self.end_turn(TurnEnd::CannotConfine);
    }
}
