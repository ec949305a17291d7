//! The steps while code runs, and when it has run.

use super::{
    effect::Effect,
    event::{Event, HostAnswer},
    questions::{LongRunAnswer, Subject},
    state::{Phase, Run, State, Work},
    words,
};
use crate::{
    Admission, Body, Changes, Excerpt, Grantor, HostWanted, Language, Message, Origin,
    QuestionAbout, Ran, WantedUse, egress::HostMask, instructions::Strength, outline::Outline,
    output, record::TurnEnd, redact::named, taint::OutsideText,
};
use std::mem;

/// The status of code that was interrupted before it began, as shells have it.
const INTERRUPTED: i32 = 130;

/// How often a small model is given a result in one turn, so that it tries again.
const RETRIES: u32 = 2;

/// Withheld changes that are named where nothing else is staged.
const NAMED: usize = 20;

/// Notices that the model gets at once; of more than these the newest say enough.
const NOTICES: usize = 8;

impl State {
    /// Something happened that has to do with the code that runs.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes on no other")]
    pub(super) fn running(&mut self, mut run: Run, event: Event) {
        match event {
            Event::Output(output) => {
                run.excerpt.push(&output::words(&output.mime, &output.text));
                run.pictures.take(output);
            }
            Event::Line(line) => self.then(Effect::ShowLine(line)),
            Event::InputWanted(wanted) => self.ask_input(wanted),
            Event::RunsLong { seconds, ends_in } if !run.interrupted => {
                self.ask_long_run(&run.work.current.id, seconds, ends_in);
            }
            Event::Interrupted => {
                run.interrupted = true;
                self.then(Effect::Interrupt);
            }
            Event::NotBegun if run.interrupted => return self.interrupted_before(run),
            Event::NotBegun => return self.not_begun(run),
            Event::Ran(ran) => return self.finished(run, &ran),
            _ => {}
        }
        self.phase = Phase::Running(run);
    }

    /// The person has said whether the code may continue, or no one was there to say so.
    pub(super) fn long_run_answered(&mut self, mut run: Run, answer: &LongRunAnswer, by: Grantor) {
        if !answer.may_continue && !run.interrupted {
            run.interrupted = true;
            run.unanswered = by != Grantor::Person;
            self.then(Effect::Interrupt);
        }
        self.phase = Phase::Running(run);
    }

    /// It has not begun, so there is nothing to interrupt.
    pub(super) fn interrupted_before(&mut self, mut run: Run) {
        run.interrupted = true;
        let proposal = run.work.current.id.clone();
        let ran = Ran { proposal, status: Some(INTERRUPTED), ..Ran::default() };
        for body in ran.bodies() {
            self.record(body);
        }
        self.finished(run, &ran);
    }

    /// The run is over; unless a package was missing that can be installed.
    fn finished(&mut self, run: Run, ran: &Ran) {
        if run.work.current.again.is_some() {
            return self.ran_again(run, ran);
        }
        match self.missing_packages(&run, ran) {
            Some(order) => self.offer_missing(order, run, ran),
            None => self.concluded(run, ran, None),
        }
    }

    /// The run is over. `remark` goes to the model with the result.
    pub(super) fn concluded(&mut self, run: Run, ran: &Ran, remark: Option<String>) {
        let Run { work, interrupted, unanswered, excerpt, pictures, .. } = run;
        let mut notices = mem::take(&mut self.notices);
        notices.extend(remark);
        let has_reached =
            ran.effects.network.iter().any(|contact| contact.verdict == Admission::Allowed);
        if !excerpt.is_empty() || pictures.has_any() || words::names_things(&ran.effects) {
            if has_reached {
                self.take_in(OutsideText::Network);
            } else if self.taint.may_hold() {
                self.take_in(OutsideText::Output);
            }
        }
        // A run of the person's is part of the conversation, if there is one.
        if work.current.origin == Origin::Model || self.setup.has_model {
            let call = work.current.call.clone();
            let stopped = interrupted.then_some(if self.is_late {
                "the turn has used up its time"
            } else if unanswered {
                "it had been running for long, and no one said that it may continue"
            } else {
                "interrupted by the user"
            });
            let mut told = words::ran(call, ran, &excerpt, stopped, &notices);
            if work.current.origin == Origin::Person {
                words::typed(&mut told, &work.current);
            }
            pictures.add_to(&mut told, self.setup.profile.sees_images);
            let is_small = self.setup.profile.strength == Strength::Small;
            if is_small && !ran.succeeded() && work.current.origin == Origin::Model {
                words::advise(&mut told);
            }
            self.say(told);
        }
        self.outcome = if ran.succeeded() { TurnEnd::Done } else { TurnEnd::CodeFailed };
        self.staged = ran.effects.changes.is_some();
        let Work { current, mut waiting, .. } = work;
        if ran.succeeded() && !interrupted {
            if let Some(next) = waiting.pop_front() {
                return self.propose(next, waiting);
            }
        } else {
            for skipped in waiting.into_iter().filter(|skipped| skipped.call.is_some()) {
                self.say(Message::result(skipped.call, words::not_reached()));
            }
        }
        match current.origin {
            _ if interrupted => self.end_turn(TurnEnd::Interrupted),
            Origin::Model => self.go_on(&excerpt, ran),
            Origin::Person => self.end_turn(self.outcome),
        }
    }

    /// After a run of a model's code: the model says what it means, or does more.
    ///
    /// A small model is not asked what it means: it would make something up. The output of the code
    /// is the answer; where it failed, or printed nothing, the model may try again, but not for ever.
    fn go_on(&mut self, excerpt: &Excerpt, ran: &Ran) {
        let came = !excerpt.is_empty() || !ran.effects.files.is_empty();
        match self.setup.profile.strength {
            Strength::Usual => self.call_model(),
            Strength::Small if (ran.succeeded() && came) || self.retries == RETRIES => {
                self.end_turn(self.outcome);
            }
            Strength::Small => {
                self.retries += 1;
                self.call_model();
            }
        }
    }

    /// Code wants to reach a host that is not listed. The person decides; where nothing runs, or
    /// the run is being stopped, nobody is asked. A name that cannot be shown is refused.
    pub(super) fn host_wanted(&mut self, phase: Phase, wanted: HostWanted) {
        let ask = matches!(phase, Phase::Running(Run { interrupted: false, .. }));
        self.phase = phase;
        let masked = HostMask::of(&self.setup.redactor).masks(&wanted.host);
        if ask && masked.is_empty() {
            return self.ask_host(wanted);
        }
        let HostWanted { proposal, host, port, .. } = wanted;
        let mut refusal = HostAnswer { proposal, host, port, grant: None, by: Grantor::Nobody };
        if !masked.is_empty() {
            let named = named(&masked);
            self.note(format!("a host was refused: the value of {named} stands in its name"));
            refusal.by = Grantor::Rule;
            self.record(refusal.body());
        }
        self.then(Effect::AnswerHost(refusal));
    }

    /// A request of the code is to use a secret, which is on record by now. It goes out only while
    /// the code that was approved runs.
    pub(super) fn secret_wanted(&mut self, phase: Phase, wanted: &WantedUse) {
        let goes_out = matches!(phase, Phase::Running(Run { interrupted: false, .. }));
        self.phase = phase;
        self.then(Effect::AnswerUse { number: wanted.number, goes_out });
    }

    /// A snapshot of what is staged. If all of it is withheld, or was taken back meanwhile, there
    /// is nothing to decide.
    pub(super) fn reviewed(&mut self, end: TurnEnd, changes: Changes) {
        if !changes.files.is_empty() {
            self.phase = Phase::Reviewing { end, partly: false };
            let Changes { id, files, left_out, .. } = changes.clone();
            let outline = Outline::of(&files);
            let subject = Subject::Changes(files.clone());
            let about = QuestionAbout::Changes { changes: id, files, left_out, outline };
            let posed = self.pose(about, subject, changes);
            return self.then(Effect::AskChanges(posed));
        }
        for one in changes.left_out.iter().take(NAMED) {
            self.note(one.line());
        }
        if changes.left_out.len() > NAMED {
            self.note(format!("left out {} more", changes.left_out.len() - NAMED));
        }
        self.finish(end);
    }

    /// The person wanted fresh kernels, and has them.
    pub(super) fn restarted(&mut self, languages: &[Language]) {
        let names: Vec<_> = languages.iter().map(|one| one.name().to_owned()).collect();
        let words = words::restarted(&names);
        if names.is_empty() {
            self.note(words);
        } else {
            self.record(Body::Restarted { languages: names });
            self.notice(words);
        }
        self.finish(TurnEnd::Done);
    }

    /// Keeps news for the model's next result: what it believes to be in a variable is gone.
    pub(super) fn notice(&mut self, text: String) {
        self.notices.push(text);
        if self.notices.len() > NOTICES {
            self.notices.remove(0);
        }
    }
}
