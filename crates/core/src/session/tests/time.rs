//! The time of a turn is over.

use super::*;
use crate::packages::PackageKind;

const UP: Event = Event::TimeUp(60);
const TWO: &str = "```python\nprint(1)\n```\n```python\nprint(2)\n```\n";

#[test]
fn code_that_runs_is_interrupted_and_nothing_follows() {
    Script::new(|_| {})
        .asked()
        .replied(TWO)
        .judged()
        .answered("p1", GivenAnswer::Run)
        .when(UP)
        .gives(&["time_up", "interrupt"])
        .ran(130)
        .gives(&["finish TimedOut"])
        .tells("the turn has used up its time")
        // The next turn has its own time.
        .asked()
        .replied("Done.")
        .gives(&["finish Done"]);
}

#[test]
fn a_model_that_is_slow_is_cancelled_and_its_code_does_not_run() {
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .when(UP)
        .gives(&["time_up", "cancel"])
        // It had written code already.
        .replied(PYTHON)
        .gives(&["finish TimedOut"]);
}

#[test]
fn a_question_is_withdrawn_and_a_late_answer_runs_nothing() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .when(UP)
        .gives(&["time_up", "finish TimedOut"])
        .answered("p1", GivenAnswer::Run)
        .gives(&[]);
}

#[test]
fn code_that_is_being_analysed_does_not_run() {
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .when(UP)
        .gives(&["time_up"])
        .judged()
        .gives(&["finish TimedOut"]);
}

#[test]
fn an_installation_is_stopped() {
    let script = Script::new(|setup| setup.packages.kinds = vec![PackageKind::Python]);
    let script = script.asked().replied("```shell\npip install pandas\n```\n").judged();
    script.tell(GivenAnswer::Install).when(UP).gives(&[
        "time_up",
        "cancel packages",
        "finish TimedOut",
    ]);
}

#[test]
fn between_turns_and_during_a_review_it_means_nothing() {
    let script = Script::new(|_| {}).when(UP).gives(&[]).asked().replied("Done.");
    script.gives(&["finish Done"]).when(UP).gives(&[]);
}

#[test]
fn changes_stay_staged_and_nobody_is_asked_about_them() {
    let staged = Ran {
        proposal: "p1".into(),
        status: Some(130),
        effects: Effects { changes: Some("c1".into()), ..Effects::default() },
        ..Ran::default()
    };
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", GivenAnswer::Run)
        .when(UP)
        .when(Event::Ran(staged))
        .gives(&["finish TimedOut"]);
}
