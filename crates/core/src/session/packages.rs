//! The steps by which packages are asked for and installed.
//!
//! # Threat
//! A package is code from a stranger, and everything that names one is foreign: the output of a
//! run, the code of a model.
//!
//! # Mechanism
//! Nothing is installed without the person: by the answer to a question that shows every name and
//! version, those of dependencies too, by typing the command, or by their own setting. A rule that
//! asks beats that setting. Running code of a package while it is installed is a question of its
//! own, which no setting answers. The one expression that makes a
//! [`PackagePermit`](crate::packages::PackagePermit) is here.
//!
//! # Order
//! The order is on record before the index is asked what it comes to, that list before the
//! question, and the outcome before anything goes on.
//!
//! # Limits
//! The index learns the names of an order before the person's yes, since the list could not be
//! shown without it: a few times only, and never where a question could not be answered.

use super::{
    effect::{Effect, PackagesQuestion},
    event::{Event, PackagesAnswer},
    questions::Subject,
    state::{Phase, Run, State, Work},
    words,
};
use crate::{
    Body, Grantor, Message, Origin, QuestionAbout, Quorum, Ran,
    packages::{self, PackageChange, PackageLookup, PackageOrder, PackagePermit, PackagePlan},
    packages::{PackagePolicy, PackagesDone, PackagesFailed, PackagesFound},
    record::TurnEnd,
    redact::named,
};

/// How often packages are offered for one proposal. Code that misses more fails.
const MOST_OFFERS: u32 = 12;

/// How often the index is asked before a person says yes to packages again. Names reach it, and
/// code chooses them.
const MOST_LOOKUPS: u32 = 6;

/// Bytes of names with which it is asked unasked.
const MOST_ASKED: usize = 160;

/// The reason for an order.
#[derive(Debug)]
pub(super) enum Afterwards {
    /// Code failed without them, and runs again with them.
    Again(Box<(Run, Ran)>),
    /// A proposal was nothing but this order.
    Requested(Box<Work>),
    /// The person gave the order.
    Typed,
}

impl Afterwards {
    fn proposal(&self) -> Option<&str> {
        match self {
            Self::Again(failed) => Some(&failed.0.work.current.id),
            Self::Requested(work) => Some(&work.current.id),
            Self::Typed => None,
        }
    }

    /// Whether a rule asks about the code that wants them. It is heard about them too.
    fn must_ask(&self) -> bool {
        match self {
            Self::Again(failed) => failed.0.work.must_ask,
            Self::Requested(work) => work.must_ask,
            Self::Typed => false,
        }
    }

    /// Who must approve: the same people as for the code that wants them, which runs with them.
    fn quorum(&self) -> Quorum {
        match self {
            Self::Again(failed) => failed.0.work.quorum,
            Self::Requested(work) => work.quorum,
            Self::Typed => Quorum::default(),
        }
    }
}

impl State {
    /// The order that would help a run that failed, if it may be offered.
    pub(super) fn missing_packages(&self, run: &Run, ran: &Ran) -> Option<PackageOrder> {
        // The interpreter of a script ends with it, as it is meant to.
        let is_lost = ran.kernel_ended && !is_script(&run.work);
        if ran.succeeded() || is_lost || run.interrupted || self.offers >= MOST_OFFERS {
            return None;
        }
        let printed = run.excerpt.text(&ran.proposal);
        let order = packages::missing(&run.work.current.language, printed.raw())?;
        self.may_offer(&order).then_some(order)
    }

    /// Offers what a run that failed has missed. A script that cannot run again is only told of.
    pub(super) fn offer_missing(&mut self, order: PackageOrder, run: Run, ran: &Ran) {
        if is_script(&run.work) && !self.setup.packages.script_runs_again {
            self.point_to(&order);
            let why = words::not_installed(&order, "its input would be gone");
            return self.concluded(run, ran, Some(why));
        }
        self.offer(order, Afterwards::Again(Box::new((run, ran.clone()))));
    }

    /// Says how the person can give an order.
    fn point_to(&mut self, order: &PackageOrder) {
        let (words, command) = (order.words(), order.command());
        self.note(format!("not installed: {words}; `{command}` does it"));
    }

    /// The order that a proposal is, if it is nothing else.
    pub(super) fn requested_packages(&self, work: &Work) -> Option<PackageOrder> {
        let order = packages::requested(&work.current.language, work.current.code().raw())?;
        self.setup.packages.offers(order.kind).then_some(order)
    }

    /// Whether the person has not refused it before, and it did not fail before.
    fn may_offer(&self, order: &PackageOrder) -> bool {
        self.setup.packages.offers(order.kind) && self.why_not_again(order).is_none()
    }

    fn why_not_again(&self, order: &PackageOrder) -> Option<&str> {
        let known = self.not_installed.iter().find(|(one, _)| one.packages() == order.packages());
        known.map(|(_, why)| why.as_str())
    }

    /// Asks the person, unless their settings have answered. The index is asked first, so that the
    /// question can name everything.
    pub(super) fn offer(&mut self, order: PackageOrder, then: Afterwards) {
        self.offers += 1;
        if let Some(why) = self.why_not_again(&order).map(str::to_owned) {
            return self.without(&order, &why, then);
        }
        // Its index would learn the value, and nobody could see the name that they decide on.
        let masked = self.setup.redactor.masks(&order.words());
        if !masked.is_empty() {
            let why = format!("the value of {} stands in a name", named(&masked));
            return self.without(&order, &why, then);
        }
        let proposal = then.proposal().map(str::to_owned);
        self.record(Body::PackagesWanted { proposal, order: order.clone() });
        let is_allowed = self.setup.packages.policy == PackagePolicy::Allow
            && !then.must_ask()
            && then.quorum().is_plain();
        if is_allowed && !order.build {
            return self.look_up(order, Some(Grantor::Rule), then);
        }
        if self.may_look_up(&order) {
            self.lookups += 1;
            return self.look_up(order, None, then);
        }
        self.ask_for_packages(order, None, then);
    }

    /// Whether the index may be asked before the person is.
    fn may_look_up(&self, order: &PackageOrder) -> bool {
        let names = order.packages().iter().map(|one| one.text().len()).sum::<usize>();
        !order.build
            && self.setup.packages.has_person
            && self.lookups < MOST_LOOKUPS
            && names <= MOST_ASKED
    }

    /// Finds out what an order comes to. To build is to run code of packages, so that a yes to it
    /// is on record before.
    fn look_up(&mut self, order: PackageOrder, by: Option<Grantor>, then: Afterwards) {
        if let (Some(by), true) = (by, order.build) {
            self.record(Body::PackagesGranted { order: order.clone(), by });
        }
        self.then(Effect::ResolvePackages(PackageLookup::of(order.clone())));
        self.phase = Phase::Resolving { order, by, then };
    }

    fn ask_for_packages(
        &mut self,
        order: PackageOrder,
        plan: Option<Box<PackagePlan>>,
        then: Afterwards,
    ) {
        let quorum = self.asked_quorum(then.quorum());
        let runs_again = matches!(then, Afterwards::Again(_));
        let proposal = then.proposal().map(str::to_owned);
        let list = plan.as_ref().map(|plan| plan.list.clone());
        let about = QuestionAbout::Packages {
            proposal,
            order: order.clone(),
            list: list.clone(),
            runs_again,
            quorum,
        };
        let shown = PackagesQuestion { order: order.clone(), list, runs_again };
        let posed = self.pose(about, Subject::Packages, shown);
        self.then(Effect::AskPackages(posed));
        self.phase = Phase::Offering { order, plan, then };
    }

    pub(super) fn packages_answered(
        &mut self,
        (order, plan): (PackageOrder, Option<Box<PackagePlan>>),
        then: Afterwards,
        answer: PackagesAnswer,
        by: Grantor,
    ) {
        match (answer, by) {
            (PackagesAnswer::Install, Grantor::Person | Grantor::Typed) => {
                self.lookups = 0;
                match plan {
                    Some(plan) => {
                        self.record(Body::PackagesGranted { order: order.clone(), by });
                        self.install(order, *plan, by, then);
                    }
                    None => self.look_up(order, Some(by), then),
                }
            }
            // Nobody cannot say yes, and neither can anything but the person.
            (PackagesAnswer::Install | PackagesAnswer::No, Grantor::Nobody)
            | (
                PackagesAnswer::Install,
                Grantor::Flag | Grantor::Rule | Grantor::Mode | Grantor::Standing,
            ) => {
                self.point_to(&order);
                self.without(&order, "nobody was there to ask", then);
            }
            (PackagesAnswer::No, _) => self.without(&order, "the user said no", then),
        }
    }

    /// The person typed an order.
    pub(super) fn packages_ordered(&mut self, order: PackageOrder) {
        let proposal = None;
        self.record(Body::PackagesWanted { proposal, order: order.clone() });
        self.look_up(order, Some(Grantor::Typed), Afterwards::Typed);
    }

    /// The index was asked. A yes that was given without the list covers what it named, and no
    /// more.
    fn packages_resolved(
        &mut self,
        order: PackageOrder,
        by: Option<Grantor>,
        then: Afterwards,
        outcome: Result<Box<PackagesFound>, PackagesFailed>,
    ) {
        let plan = match outcome {
            Ok(found) => found.plan,
            Err(failed) => return self.packages_failed(order, &failed, then),
        };
        if plan.list.is_empty() {
            return self.nothing_comes(order, by, then);
        }
        let names_all = plan.list.goes.is_empty()
            && plan.list.comes.iter().all(|one| order.names(&one.name) && one.replaces.is_none());
        match by {
            Some(by) if names_all || matches!(by, Grantor::Rule | Grantor::Typed) => {
                // Before a build it was recorded already.
                if !order.build {
                    self.record(Body::PackagesGranted { order: order.clone(), by });
                }
                self.install(order, plan, by, then);
            }
            Some(_) | None => self.ask_for_packages(order, Some(Box::new(plan)), then),
        }
    }

    /// Everything is there already, so there is nothing to ask about.
    fn nothing_comes(&mut self, order: PackageOrder, by: Option<Grantor>, then: Afterwards) {
        if let Afterwards::Again(_) = then {
            // It would fail again.
            return self.without(&order, "it is installed already", then);
        }
        self.note(format!("nothing changed: {} is installed already", order.words()));
        let by = by.unwrap_or(Grantor::Rule);
        self.packages_changed(order, by, then, Ok(PackagesDone::default()));
    }

    /// The one expression in the program that makes a permit for packages. The yes is on record.
    fn install(&mut self, order: PackageOrder, plan: PackagePlan, by: Grantor, then: Afterwards) {
        self.then(Effect::ChangePackages(PackagePermit::grant(order.clone(), plan, by)));
        self.phase = Phase::Installing { order, by, then };
    }

    /// The person interrupts, before or while packages are installed.
    pub(super) fn packages_interrupted(&mut self, order: &PackageOrder, then: Afterwards) {
        match then {
            Afterwards::Again(failed) => {
                let (mut run, ran) = *failed;
                run.interrupted = true;
                self.concluded(run, &ran, Some(words::not_installed(order, "interrupted")));
            }
            Afterwards::Requested(work) => {
                self.drop_work(*work, words::rejected(None));
                self.end_turn(TurnEnd::Interrupted);
            }
            Afterwards::Typed => self.end_turn(TurnEnd::Interrupted),
        }
    }

    /// The order was carried out, or not.
    pub(super) fn packages_changed(
        &mut self,
        order: PackageOrder,
        by: Grantor,
        then: Afterwards,
        outcome: Result<PackagesDone, PackagesFailed>,
    ) {
        let done = match outcome {
            Ok(done) => done,
            Err(failed) => return self.packages_failed(order, &failed, then),
        };
        let told = words::installed(&order, &done);
        match then {
            Afterwards::Again(failed) => {
                let (Run { work, .. }, _) = *failed;
                self.notice(format!("{told}; this is the output with it"));
                self.prepare(work, by, 0);
            }
            Afterwards::Requested(work) => self.request_done(*work, &told),
            Afterwards::Typed => self.end_turn(TurnEnd::Done),
        }
    }

    fn packages_failed(&mut self, order: PackageOrder, failed: &PackagesFailed, then: Afterwards) {
        if failed.needs_build && !order.build {
            return self.build_wanted(order, then);
        }
        self.without(&order, &failed.reason, then);
    }

    /// There is no finished build. To make one runs code of the package, so the person is asked
    /// once more, whatever was allowed before.
    fn build_wanted(&mut self, order: PackageOrder, then: Afterwards) {
        match then {
            // Whoever types the order can type that too.
            Afterwards::Typed => {
                let command = order.with_build().command();
                self.note(format!("`{command}` runs its code, in the sandbox, to build it"));
                self.end_turn(TurnEnd::CodeFailed);
            }
            then @ (Afterwards::Again(_) | Afterwards::Requested(_)) => {
                self.offer(order.with_build(), then);
            }
        }
    }

    fn request_done(&mut self, work: Work, told: &str) {
        let Work { current, mut waiting, .. } = work;
        self.outcome = TurnEnd::Done;
        if current.origin == Origin::Person {
            return self.end_turn(TurnEnd::Done);
        }
        self.say(Message::result(current.call, words::done(told)));
        match waiting.pop_front() {
            Some(next) => self.propose(next, waiting),
            None => self.call_model(),
        }
    }

    /// The packages are not there. Whatever wanted them goes on without, and does not ask again.
    fn without(&mut self, order: &PackageOrder, why: &str, then: Afterwards) {
        if order.change == PackageChange::Install && self.why_not_again(order).is_none() {
            self.not_installed.push((order.clone(), why.to_owned()));
        }
        let told = words::not_installed(order, why);
        match then {
            Afterwards::Again(failed) => {
                let (run, ran) = *failed;
                self.concluded(run, &ran, Some(told));
            }
            Afterwards::Requested(work) => {
                let origin = work.current.origin;
                self.outcome = TurnEnd::CodeFailed;
                self.drop_work(*work, words::done(&told));
                match origin {
                    Origin::Model => self.call_model(),
                    Origin::Person => self.end_turn(TurnEnd::CodeFailed),
                }
            }
            Afterwards::Typed => self.end_turn(TurnEnd::CodeFailed),
        }
    }

    /// Events that have to do with packages.
    pub(super) fn packages(&mut self, phase: Phase, event: Event) {
        match (phase, event) {
            (Phase::Idle, Event::PackagesOrdered(order)) => self.packages_ordered(order),
            (Phase::Offering { order, then, .. }, Event::Interrupted) => {
                self.packages_interrupted(&order, then);
            }
            (Phase::Resolving { order, by, then }, Event::PackagesResolved { outcome, .. }) => {
                self.packages_resolved(order, by, then, outcome);
            }
            (Phase::Installing { order, by, then }, Event::PackagesChanged { outcome, .. }) => {
                self.packages_changed(order, by, then, outcome);
            }
            (
                Phase::Resolving { order, then, .. } | Phase::Installing { order, then, .. },
                Event::Interrupted,
            ) => {
                self.then(Effect::CancelPackages);
                self.packages_interrupted(&order, then);
            }
            (phase, _) => self.phase = phase,
        }
    }
}

/// Whether an event has to do with packages.
pub(super) fn are_packages(phase: &Phase, event: &Event) -> bool {
    let is_under_way = matches!(
        phase,
        Phase::Offering { .. } | Phase::Resolving { .. } | Phase::Installing { .. }
    );
    matches!(
        event,
        Event::PackagesOrdered(_) | Event::PackagesResolved { .. } | Event::PackagesChanged { .. }
    ) || (is_under_way && matches!(event, Event::Interrupted))
}

/// Whether code is a script of the person's, whose interpreter ends with it.
fn is_script(work: &Work) -> bool {
    work.current.invocation.as_ref().is_some_and(|invocation| invocation.file.is_some())
}
