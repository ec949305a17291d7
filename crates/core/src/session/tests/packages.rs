//! Packages: what is missing is one question, and no is no.

use super::*;
use crate::packages::{
    Package, PackageKind, PackagePolicy, PackageSetup, PackagesDone, PackagesFailed,
};

const MISSING: &str = "Traceback\nModuleNotFoundError: No module named 'pandas'\n";

fn script(policy: PackagePolicy) -> Script {
    Script::new(|setup| {
        setup.packages = PackageSetup {
            policy,
            kinds: vec![PackageKind::Python, PackageKind::Npm],
            script_runs_again: true,
        };
    })
}

fn order(name: &str) -> crate::packages::PackageOrder {
    let read = crate::packages::Requirement::parse(PackageKind::Python, name).unwrap();
    let change = crate::packages::PackageChange::Install;
    crate::packages::PackageOrder::new(change, vec![read]).unwrap()
}

fn installed(name: &str) -> Event {
    let package = Package {
        kind: PackageKind::Python,
        name: name.into(),
        version: "2.2.3".into(),
        hash: "00".into(),
    };
    let done = PackagesDone { installed: vec![package], ..PackagesDone::default() };
    Event::PackagesChanged { order: order(name), outcome: Ok(done) }
}

fn failed(name: &str, reason: &str, needs_build: bool) -> Event {
    let failed = PackagesFailed { needs_build, ..PackagesFailed::new(reason) };
    Event::PackagesChanged { order: order(name), outcome: Err(failed) }
}

impl Script {
    /// The model's code runs and fails without pandas.
    fn misses_pandas(self) -> Self {
        self.asked()
            .replied("```python\nimport pandas\n```")
            .judged()
            .answered("p1", GivenAnswer::Run)
            .printed(MISSING)
            .ran(1)
    }
}

#[test]
fn a_missing_package_is_one_question_and_then_the_code_runs_again() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .gives(&["wants pandas", "ask to install pandas"])
        .tell(GivenAnswer::Install)
        .gives(&["granted by Person", "install pandas"])
        .when(installed("pandas"))
        .gives(&["run p1 by Person"])
        .printed("it works\n")
        .ran(0)
        .tells("the user has installed pandas 2.2.3")
        .tells("it works");
}

#[test]
fn no_is_no_for_the_session_and_the_model_is_told() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .tell(GivenAnswer::Refuse)
        .gives(&["call 1"])
        .tells("the user said no. Do not try to install it again")
        // The same once more is not asked again.
        .replied("```python\nimport pandas\n```")
        .judged()
        .answered("p2", GivenAnswer::Run)
        .printed(MISSING)
        .ran(1)
        .gives(&["call 1"])
        .replied("```shell\npip install pandas\n```")
        .judged()
        .tells("the user said no");
}

#[test]
fn nobody_cannot_say_yes() {
    for by in [Grantor::Nobody, Grantor::Flag, Grantor::Rule] {
        script(PackagePolicy::Ask)
            .misses_pandas()
            .tell_by(GivenAnswer::Install, by)
            .gives(&[])
            .tell_by(GivenAnswer::Refuse, Grantor::Nobody)
            .gives(&["note", "call 1"])
            .tells("nobody was there to ask");
    }
}

#[test]
fn a_setting_can_answer_but_not_for_code_of_the_package() {
    script(PackagePolicy::Allow)
        .misses_pandas()
        .gives(&["wants pandas", "granted by Rule", "install pandas"])
        .when(failed("pandas", "there is no finished build", true))
        .gives(&["wants pandas", "ask to build pandas"])
        .tell(GivenAnswer::Refuse)
        .gives(&["call 1"]);
}

#[test]
fn a_failure_is_told_once() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .tell(GivenAnswer::Install)
        .when(failed("pandas", "the index cannot be reached", false))
        .gives(&["call 1"])
        .tells("pandas could not be installed: the index cannot be reached. Do not try");
}

#[test]
fn never_means_never() {
    script(PackagePolicy::Never).misses_pandas().gives(&["call 1"]).tells("No module named");
    // Without a place to install to, as in an image, neither.
    Script::new(|_| {}).misses_pandas().gives(&["call 1"]);
}

#[test]
fn code_that_only_installs_is_an_order_and_does_not_run() {
    script(PackagePolicy::Ask)
        .asked()
        .replied("```shell\npip install pandas\n```")
        .judged()
        .gives(&["findings", "verdict Ask", "wants pandas", "ask to install pandas"])
        .tell(GivenAnswer::Install)
        .when(installed("pandas"))
        .gives(&["call 1"])
        .tells("the user has installed pandas 2.2.3");
}

#[test]
fn a_rule_against_it_comes_first() {
    Script::new(|setup| {
        setup.packages.kinds = vec![PackageKind::Python];
        setup.policy.user =
            Rules(vec![Rule { line: Some(Patterns::one("pip *")), ..Rule::of(Opinion::Deny) }]);
    })
    .asked()
    .replied("```shell\npip install pandas\n```")
    .judged()
    .tells("refused by");
}

#[test]
fn an_interrupt_ends_it() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .tell(GivenAnswer::Install)
        .when(Event::Interrupted)
        .gives(&["cancel packages", "finish Interrupted"]);
}

#[test]
fn the_person_can_order_without_a_question() {
    script(PackagePolicy::Ask)
        .when(Event::PackagesOrdered(order("pandas")))
        .gives(&["wants pandas", "granted by Typed", "install pandas"])
        .when(installed("pandas"))
        .gives(&["finish Done"]);
}
