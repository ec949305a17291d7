//! Packages: what is missing is one question, and no is no.

use super::*;
use crate::packages::{
    Package, PackageKind, PackageList, PackagePlan, PackagePolicy, PackageSetup, PackagesDone,
    PackagesFailed, PackagesFound, PlannedPackage,
};

const MISSING: &str = "Traceback\nModuleNotFoundError: No module named 'pandas'\n";

fn script(policy: PackagePolicy) -> Script {
    Script::new(|setup| {
        setup.packages = PackageSetup {
            policy,
            kinds: vec![PackageKind::Python, PackageKind::Npm],
            script_runs_again: true,
            has_person: true,
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

/// The index has these packages for an order.
pub(super) fn found(name: &str, comes: &[&str]) -> Event {
    let planned = |name: &&str| {
        let (hash, url) = ("sha256:00".to_owned(), "https://index.example/x.whl".to_owned());
        PlannedPackage::new(PackageKind::Python, name, "2.2.3", hash, url).unwrap()
    };
    let list = PackageList { comes: comes.iter().map(planned).collect(), goes: vec![] };
    let plan = PackagePlan { list, ..PackagePlan::default() };
    let found = PackagesFound { plan, ..PackagesFound::default() };
    Event::PackagesResolved { order: order(name), outcome: Ok(Box::new(found)) }
}

fn not_found(name: &str, reason: &str, needs_build: bool) -> Event {
    let failed = PackagesFailed { needs_build, ..PackagesFailed::new(reason) };
    Event::PackagesResolved { order: order(name), outcome: Err(failed) }
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
fn a_missing_package_is_one_question_about_all_that_comes_and_then_the_code_runs_again() {
    let script = script(PackagePolicy::Ask)
        .misses_pandas()
        .gives(&["wants pandas", "look up pandas"])
        .when(found("pandas", &["pandas", "numpy"]))
        .gives(&["ask to install pandas"]);
    let asked = serde_json::to_value(&script.asked.last().unwrap().about).unwrap();
    assert_eq!(asked["list"]["comes"][1]["name"], "numpy");
    assert_eq!(asked["list"]["comes"][1]["version"], "2.2.3");
    assert_eq!(asked["list"]["comes"][1]["hash"], "sha256:00");
    script
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
        .when(found("pandas", &["pandas"]))
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

/// A name goes out with a look into the index, and code chooses it.
#[test]
fn the_index_is_asked_unasked_only_a_few_times_and_with_short_names() {
    let mut script = script(PackagePolicy::Ask).asked();
    for number in 0..7 {
        let name = format!("some-thing-{number}");
        script = script.replied(&format!("```shell\npip install {name}\n```")).judged();
        if number == 6 {
            // Then the person is asked whether it may be, and a yes counts as one.
            let asked = format!("ask to install {name}");
            let script =
                script.gives(&["findings", "verdict Ask", &format!("wants {name}"), &asked]);
            let looked = format!("look up {name}");
            let script = script.tell(GivenAnswer::Install).gives(&[&looked]);
            let script = script.when(found(&name, &[&name]));
            let script = script.gives(&["granted by Person", &format!("install {name}")]);
            let next = script.when(installed(&name)).replied("```shell\npip install next\n```");
            next.judged().gives(&["findings", "verdict Ask", "wants next", "look up next"]);
            return;
        }
        let looked = format!("look up {name}");
        script = script.gives(&["findings", "verdict Ask", &format!("wants {name}"), &looked]);
        script = script.when(not_found(&name, "the index has no such thing", false));
        script = script.replied("Then not.").asked();
    }
}

#[test]
fn long_names_and_orders_without_a_person_are_not_looked_up_before_the_question() {
    let long = "x".repeat(100);
    script(PackagePolicy::Ask)
        .asked()
        .replied(&format!("```shell\npip install {long} {long}2\n```"))
        .judged()
        .gives(&[
            "findings",
            "verdict Ask",
            &format!("wants {long} and {long}2"),
            &format!("ask to install {long} and {long}2"),
        ]);
    Script::new(|setup| setup.packages.kinds = vec![PackageKind::Python])
        .misses_pandas()
        .gives(&["wants pandas", "ask to install pandas"]);
}

/// A yes that was given before the list was known covers what it named.
#[test]
fn more_than_was_named_is_asked_about() {
    let asked = || {
        Script::new(|setup| setup.packages.kinds = vec![PackageKind::Python])
            .misses_pandas()
            .tell(GivenAnswer::Install)
            .gives(&["look up pandas"])
    };
    asked().when(found("pandas", &["pandas"])).gives(&["granted by Person", "install pandas"]);
    asked()
        .when(found("pandas", &["pandas", "hidden-thing"]))
        .gives(&["ask to install pandas"])
        .tell(GivenAnswer::Refuse)
        .gives(&["call 1"]);
}

#[test]
fn what_is_there_already_is_no_question_and_nothing_runs_again() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .when(found("pandas", &[]))
        .gives(&["call 1"])
        .tells("it is installed already");
}

#[test]
fn nobody_cannot_say_yes() {
    for by in [Grantor::Nobody, Grantor::Flag, Grantor::Rule] {
        script(PackagePolicy::Ask)
            .misses_pandas()
            .when(found("pandas", &["pandas"]))
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
        .gives(&["wants pandas", "look up pandas"])
        .when(found("pandas", &["pandas", "numpy"]))
        .gives(&["granted by Rule", "install pandas"]);
    script(PackagePolicy::Allow)
        .misses_pandas()
        .when(not_found("pandas", "there is no finished build", true))
        .gives(&["wants pandas", "ask to build pandas"])
        .tell(GivenAnswer::Refuse)
        .gives(&["call 1"]);
}

/// The code of a build runs after a yes that is on record. Everything else that it needs is another
/// question.
#[test]
fn a_build_is_granted_before_it_runs() {
    script(PackagePolicy::Allow)
        .misses_pandas()
        .when(not_found("pandas", "there is no finished build", true))
        .tell(GivenAnswer::Install)
        .gives(&["granted by Person", "look up pandas"])
        .when(found("pandas", &["pandas", "hidden-thing"]))
        .gives(&["ask to build pandas"])
        .tell(GivenAnswer::Install)
        .gives(&["granted by Person", "install pandas"]);
}

/// A setting that allows packages is not heard where a rule asks, one's own or a project's.
#[test]
fn a_rule_that_asks_is_asked_about_packages_too() {
    let rule =
        |opinion| Rules(vec![Rule { line: Some(Patterns::one("pip *")), ..Rule::of(opinion) }]);
    let install = |change: &dyn Fn(&mut Setup)| {
        let script = Script::new(|setup| {
            setup.packages.kinds = vec![PackageKind::Python];
            setup.packages.policy = PackagePolicy::Allow;
            setup.packages.has_person = true;
            change(setup);
        });
        let script = script.asked().replied("```shell\npip install pandas\n```").judged();
        script.when(found("pandas", &["pandas"]))
    };
    let asks = ["ask to install pandas"];
    install(&|setup| setup.policy.user = rule(Opinion::Ask)).gives(&asks);
    install(&|setup| setup.policy.project = rule(Opinion::Ask)).gives(&asks);
    install(&|setup| setup.approval = Approval::AlwaysAsk).gives(&asks);
    // The controls: without a rule, and with one that allows.
    let installs = ["granted by Rule", "install pandas"];
    install(&|_| {}).gives(&installs);
    install(&|setup| setup.policy.user = rule(Opinion::Allow)).gives(&installs);
}

/// It is heard about what such code turns out to miss, too.
#[test]
fn code_that_a_rule_asks_about_brings_no_packages_unasked() {
    let rule = |opinion| {
        let python = Some(Patterns::one("import*"));
        Rules(vec![Rule { line: python, ..Rule::of(opinion) }])
    };
    for (opinion, gives) in [
        (Opinion::Ask, vec!["ask to install pandas"]),
        (Opinion::Allow, vec!["granted by Rule", "install pandas"]),
    ] {
        let script = Script::new(|setup| {
            setup.packages.kinds = vec![PackageKind::Python];
            setup.packages.policy = PackagePolicy::Allow;
            setup.packages.has_person = true;
            setup.policy.user = rule(opinion);
        });
        let script = script.asked().replied("```python\nimport pandas\n```").judged();
        let script = match opinion {
            Opinion::Ask => script.answered("p1", GivenAnswer::Run),
            Opinion::Allow | Opinion::Deny => script,
        };
        script.printed(MISSING).ran(1).when(found("pandas", &["pandas"])).gives(&gives);
    }
}

#[test]
fn a_failure_is_told_once() {
    script(PackagePolicy::Ask)
        .misses_pandas()
        .when(found("pandas", &["pandas"]))
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
        .gives(&["findings", "verdict Ask", "wants pandas", "look up pandas"])
        .when(found("pandas", &["pandas"]))
        .gives(&["ask to install pandas"])
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
        .when(Event::Interrupted)
        .gives(&["cancel packages", "finish Interrupted"]);
    script(PackagePolicy::Ask)
        .misses_pandas()
        .when(found("pandas", &["pandas"]))
        .tell(GivenAnswer::Install)
        .when(Event::Interrupted)
        .gives(&["cancel packages", "finish Interrupted"]);
}

#[test]
fn the_person_can_order_without_a_question() {
    script(PackagePolicy::Ask)
        .when(Event::PackagesOrdered(order("pandas")))
        .gives(&["wants pandas", "look up pandas"])
        .when(found("pandas", &["pandas", "numpy"]))
        .gives(&["granted by Typed", "install pandas"])
        .when(installed("pandas"))
        .gives(&["finish Done"]);
}
