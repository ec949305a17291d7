//! Code that has been running for long: the person is asked whether it may continue.

use super::*;

const LONG: Event = Event::RunsLong { seconds: 600, ends_in: 600 };

/// Code that is running.
fn running() -> Script {
    Script::new(|_| {}).asked().replied(PYTHON).judged().answered("p1", GivenAnswer::Run)
}

#[test]
fn it_continues_if_the_person_says_so_and_is_asked_about_again() {
    let script = running().when(LONG).gives(&["ask about 600 s"]);
    let script = script.tell(GivenAnswer::Run).gives(&[]);
    let script = script.when(Event::RunsLong { seconds: 1200, ends_in: 600 });
    script.gives(&["ask about 1200 s"]).tell(GivenAnswer::Run).ran(0).gives(&["call 1"]);
}

#[test]
fn it_is_interrupted_if_the_person_says_so() {
    let script = running().when(LONG).tell(reject()).gives(&["interrupt"]);
    script.ran(130).gives(&["finish Interrupted"]).tells("interrupted by the user");
}

#[test]
fn it_is_interrupted_if_no_one_answers_and_the_model_learns_why() {
    let script = running().when(LONG).tell_by(reject(), Grantor::Nobody).gives(&["interrupt"]);
    script.ran(130).gives(&["finish Interrupted"]).tells("no one said that it may continue");
}

#[test]
fn no_one_cannot_say_that_it_may_continue_and_no_rule_can() {
    for by in [Grantor::Nobody, Grantor::Rule, Grantor::Flag, Grantor::Standing, Grantor::Mode] {
        let script = running().when(LONG).tell_by(GivenAnswer::Run, by);
        assert_eq!(script.state.open_questions().count(), 1);
        // The control.
        let script = script.tell(GivenAnswer::Run);
        assert_eq!(script.state.open_questions().count(), 0);
    }
}

#[test]
fn its_end_closes_the_question_and_a_late_answer_changes_nothing() {
    let script = running().when(LONG).ran(0).gives(&["call 1"]);
    assert_eq!(script.state.open_questions().count(), 0);
    script.tell(reject()).gives(&[]);
}

#[test]
fn nothing_is_asked_where_nothing_runs_or_the_run_is_being_stopped() {
    Script::new(|_| {}).when(LONG).gives(&[]);
    Script::new(|_| {}).asked().replied(PYTHON).judged().when(LONG).gives(&[]);
    running().when(Event::Interrupted).gives(&["interrupt"]).when(LONG).gives(&[]);
}

#[test]
fn an_interrupt_closes_the_question() {
    let script = running().when(LONG).when(Event::Interrupted).gives(&["interrupt"]);
    assert_eq!(script.state.open_questions().count(), 0);
}

#[test]
fn what_became_of_it_is_on_record() {
    for (answer, by, may_continue) in [
        (GivenAnswer::Run, Grantor::Person, true),
        (reject(), Grantor::Person, false),
        (reject(), Grantor::Nobody, false),
    ] {
        let script = running().when(LONG);
        let event = answer_to(script.asked.last().unwrap(), answer, by);
        let expected = Body::LongRun { proposal: "p1".into(), seconds: 600, may_continue, by };
        assert_eq!(script.state.bodies(&event), [expected]);
    }
}
