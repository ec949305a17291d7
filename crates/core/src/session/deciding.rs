//! From findings to a permit: the rules, the person, the kernel that stands ready.
//!
//! Must not let anything run that was not judged as it stands. The one expression in the program
//! that makes a permit is here, and the record says before it what bounds the run.

use super::{
    approval::Approval,
    effect::{Effect, Question},
    event::Answer,
    packages::Afterwards,
    questions::Subject,
    setup::Setup,
    state::{Phase, Run, State, Work},
    words,
};
use crate::{
    AskedQuorum, Body, CodeKind, CodeQuestion, Coverage, Findings, Grantor, Language, Opinion,
    Origin, Permit, Prepared, Proposal, QuestionAbout, Quorum, Span, Untrusted, Verdict,
    egress::{Host, RunHosts},
    landing,
    policy::Ground,
    record::TurnEnd,
    redact::{Drawn, named},
    standing,
    taint::Taint,
};
use std::{num::NonZeroU32, sync::Arc};

/// How often a kernel may be gone between being ready and being given the code.
const MOST_LOST: u32 = 2;

impl State {
    pub(super) fn judged(&mut self, mut work: Work, edited: bool, findings: Findings) {
        if self.is_late {
            return self.too_late(work);
        }
        let findings = landing::weighed(findings, &self.setup.confinement);
        let approval = self.setup.approval;
        let again = self.questions.again.take();
        let drawn = work.current.drawn(&self.setup.redactor);
        let mut verdict = self.verdict_on(&work.current, &findings, &self.taint);
        let kind = Coverage::kind_of(&work.current, &findings);
        let findings = self.with_project_code(&work.current, findings);
        (work.quorum, work.findings) = (verdict.quorum, findings.clone());
        let by_rule = matches!(verdict.ground, Ground::Rule | Ground::Named);
        work.must_ask =
            approval == Approval::AlwaysAsk || (verdict.opinion == Opinion::Ask && by_rule);
        self.taint.judged(&findings, &self.setup.policy.places);
        if verdict.opinion == Opinion::Allow {
            let rule = match approval {
                _ if edited => Some("edited code is shown before it runs"),
                _ if again.is_some() => Some("it was asked about before"),
                Approval::AlwaysAsk => Some("you asked to be asked"),
                Approval::Yes | Approval::AsRulesSay => None,
            };
            if let Some(rule) = rule {
                let (opinion, ground) = (Opinion::Ask, Ground::Rule);
                verdict = Verdict { opinion, rule: rule.into(), ground, ..verdict };
            }
        }
        let verdict = unless_masked(verdict, &drawn, &work.current, edited);
        let within = &self.setup.confinement;
        let takes_several = !verdict.quorum.is_plain();
        let may_stand = verdict.is_default()
            && !takes_several
            && drawn.is_whole()
            && findings.risk <= standing::ceiling(within);
        let may_last = may_stand && kind.lasting(within).is_some();
        let proposal = work.current.id.clone();
        self.record_judged(&proposal, &findings, &verdict);
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
            (Opinion::Ask, _)
                if approval == Approval::Yes && !edited && !takes_several && drawn.is_whole() =>
            {
                self.record(Answer::Run.body(&proposal, Grantor::Flag));
                self.prepare(work, Grantor::Flag, 0);
            }
            (Opinion::Ask, _) => {
                let proposal = work.current.clone();
                let findings = self.setup.redactor.findings(findings);
                let hosts = self.hosts.line();
                let question =
                    Question { proposal, drawn, findings, verdict, may_stand, may_last, hosts };
                let about = QuestionAbout::Code(Box::new(self.recorded(&question, &kind, edited)));
                let subject = Subject::Code { kind, may_stand, may_last };
                self.questions.again = again;
                let posed = self.pose(about, subject, question);
                self.then(Effect::Ask(posed));
                let hosts = self.hosts.given();
                self.phase = Phase::Asking { work, edited, hosts };
            }
        }
    }

    /// Puts on record what was found in a proposal, and the verdict on it.
    pub(super) fn record_judged(&mut self, id: &str, findings: &Findings, verdict: &Verdict) {
        self.record(Body::Findings {
            proposal: id.to_owned(),
            risk: findings.risk,
            capabilities: findings.capabilities.clone(),
            understood: findings.is_understood(),
        });
        let (decision, rule) = (verdict.opinion, verdict.rule.clone());
        self.record(Body::Verdict { proposal: id.to_owned(), decision, rule });
    }

    /// A question about code as the record has it.
    fn recorded(&self, question: &Question, kind: &Coverage, edited: bool) -> CodeQuestion {
        let Question { proposal, drawn, findings, verdict, may_stand, may_last, hosts } = question;
        let Setup { confinement, asks_for_hosts, .. } = &self.setup;
        let rule = kind.lasting(confinement);
        let mut confinement = confinement.lines(*asks_for_hosts);
        confinement.extend(hosts.clone());
        CodeQuestion {
            proposal: proposal.id.clone(),
            language: proposal.language.name().into(),
            code: drawn.text().clone(),
            masked: drawn.masked().to_vec(),
            code_hash: proposal.hash().into(),
            invocation: proposal.invocation.clone(),
            risk: findings.risk,
            capabilities: findings.capabilities.clone(),
            decision: verdict.opinion,
            rule: verdict.rule.clone(),
            may_stand: *may_stand,
            may_last: *may_last,
            code_kind: CodeKind::of(kind).filter(|_| *may_stand),
            lasting_rule: rule.filter(|_| *may_last).map(|rule| Untrusted::new(rule.words())),
            confinement,
            edited,
            quorum: self.asked_quorum(verdict.quorum),
        }
    }

    /// The demand on the answers to a question, if it takes more than any yes.
    pub(super) fn asked_quorum(&self, quorum: Quorum) -> Option<AskedQuorum> {
        (!quorum.is_plain()).then(|| AskedQuorum { quorum, authors: self.authors.clone() })
    }

    /// The verdict of the rules, of standing answers, and with outside text in mind.
    pub(super) fn verdict_by(
        &self,
        proposal: &Proposal,
        findings: &Findings,
        taint: &Taint,
    ) -> Verdict {
        let Setup { policy, confinement: within, .. } = &self.setup;
        let by_rules = policy.judge(proposal, findings, standing::ceiling(within));
        let heard = self.standing.heard(by_rules, proposal, findings, within, &policy.places);
        let verdict = taint.heard(heard, proposal, findings, within, &policy.places);
        let verdict = verdict.among(self.setup.people);
        if verdict.opinion == Opinion::Ask && verdict.quorum.not_author && self.authors.is_empty() {
            // Nobody could be told from the author.
            let rule = format!("{}: it is not known who wrote it", verdict.rule);
            return Verdict { opinion: Opinion::Deny, rule, ..verdict };
        }
        verdict
    }

    /// A host was granted after the question about this code was put, so the yes was to less than
    /// would run. The code is judged and asked about once more.
    pub(super) fn ask_anew(&mut self, work: Work, edited: bool) {
        self.note("asked again: a host was allowed for this session after the question was put");
        // Also where a rule allows it by now.
        self.questions.again = Some((String::new(), String::new()));
        self.then(Effect::Judge(work.current.clone()));
        self.phase = Phase::Judging { work, edited };
    }

    /// The answer to the question whether code may run. `questions.rs` has checked that it is one
    /// to this very code, and that nobody says no more than no.
    pub(super) fn answered(&mut self, work: Work, answer: Answer, by: Grantor) {
        match answer {
            Answer::Run => {
                self.approve_project_code(&work.current, by);
                self.prepare(work, by, 0);
            }
            Answer::Standing(span, covers) => {
                self.approve_project_code(&work.current, by);
                self.stand(span, covers);
                self.prepare(work, by, 0);
            }
            // The edited code is another one, so the rules and the person look at it again.
            Answer::Edit(code) => {
                let Work { current, waiting, .. } = work;
                let current = current.edited(Untrusted::new(code));
                if let Some(why) = current.unfit() {
                    return self.unfit(Work::new(current, waiting), why);
                }
                self.then(Effect::Judge(current.clone()));
                self.phase = Phase::Judging { work: Work::new(current, waiting), edited: true };
            }
            Answer::Reject { reason } => self.refuse(work, reason.as_deref()),
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

    /// A host that was granted for more than one run may be reached no more. Whoever takes it back may
    /// know it from the record alone, where a secret in its name is not.
    pub(super) fn revoke_host(&mut self, host: &Host, port: u16) {
        let revoked = |host: &Host, port| Body::HostRevoked { host: host.clone(), port };
        let redactor = Arc::clone(&self.setup.redactor);
        let meant = revoked(host, port);
        let taken = self.hosts.take_back(|one, of| {
            let one = revoked(one, of);
            one == meant || redactor.body(one) == meant
        });
        if taken.is_empty() {
            let place = host.with_port(port);
            self.note(format!("{place} was not granted in this session"));
        }
        for (host, port) in taken {
            self.record(revoked(&host, port));
            self.then(Effect::CloseHost(host, port));
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
        let left = self.seconds_left();
        let most = confinement.limits.wall_seconds;
        let is_less = |left: &NonZeroU32| most.is_none_or(|most| u64::from(left.get()) < most);
        if let Some(left) = left.filter(is_less) {
            self.note(format!("the budget of time leaves {left} s for this code"));
        }
        let hosts = RunHosts::of(&work.findings, by);
        let permit = Permit::grant(work.current.clone(), confinement, by, hosts).for_seconds(left);
        self.then(Effect::Run(permit));
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

/// Code in which a known value is masked takes an answer to itself, by somebody who sees the rest of
/// it: no rule and no earlier answer covers it, and nobody can approve it together with others. Only
/// the user's own code still runs as it was typed.
fn unless_masked(verdict: Verdict, drawn: &Drawn, proposal: &Proposal, edited: bool) -> Verdict {
    if drawn.is_whole() || verdict.opinion == Opinion::Deny {
        return verdict;
    }
    let named = named(drawn.masked());
    if !verdict.quorum.is_plain() {
        let rule = format!("{}: others would not see the value of {named} in it", verdict.rule);
        return Verdict { opinion: Opinion::Deny, rule, ..verdict };
    }
    let is_typed = proposal.origin == Origin::Person && !edited;
    if verdict.opinion == Opinion::Ask || is_typed {
        return verdict;
    }
    let rule = format!("the value of {named} stands in it");
    Verdict { opinion: Opinion::Ask, rule, ground: Ground::Rule, ..verdict }
}
