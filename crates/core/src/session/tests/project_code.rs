//! A project that brings an environment: nothing approves in advance what would run its code.

use super::{replaying::past_cell, *};
use crate::{ApprovalMode, QuestionAbout, Span, project_code::Brought, session::event::Earlier};

const WORDS: &str = "starts the project's own environment (.venv), whose code runs with it";

const SHELL: &str = "Here.\n```shell\nls\n```\n";

fn bring(setup: &mut Setup) {
    setup.max_calls = 99;
    setup.project_code.add("python", Brought::Environment(".venv".into()));
    setup.project_code.add("shell", Brought::Programs(".venv".into()));
}

fn automatic() -> Script {
    Script::new(|setup| {
        setup.policy.mode = ApprovalMode::Auto;
        bring(setup);
    })
}

fn allowing(rule: Rule) -> Script {
    Script::new(|setup| {
        setup.policy.user = Rules(vec![rule]);
        bring(setup);
    })
}

/// The newest question names the environment.
fn names_it(script: &Script) {
    let question = script.asked.last().unwrap();
    let QuestionAbout::Code(code) = &question.about else { panic!("{question:?}") };
    let named = Findings::new(code.capabilities.clone());
    assert_eq!(named.by_severity()[0].words(), WORDS);
}

fn stand(covers: Covered) -> GivenAnswer {
    GivenAnswer::Stand { span: Span::Session, covers }
}

#[test]
fn no_mode_and_no_rule_starts_it_and_a_yes_that_saw_it_does() {
    let python = Rule { language: Some(Patterns::one("python")), ..Rule::of(Opinion::Allow) };
    let harmless = Rule { risk: Some(crate::Risk::Medium), ..Rule::of(Opinion::Allow) };
    for script in [automatic(), allowing(python), allowing(harmless)] {
        let script = script.asked().replied(PYTHON).judged().gives(&ASKED);
        names_it(&script);
        let script = script.answered("p1", GivenAnswer::Run).gives(&["run p1 by Person"]).ran(0);
        // Control: now it is as it is without an environment.
        let script = script.replied(PYTHON).judged();
        assert_eq!(script.said[..2], ["findings", "verdict Allow"]);
    }
}

#[test]
fn a_no_is_no_approval() {
    let no = GivenAnswer::Reject { reason: Some("not yet".into()) };
    let script = automatic().asked().replied(PYTHON).judged().answered("p1", no);
    script.replied(PYTHON).judged().gives(&["findings", "verdict Ask", "ask p2"]);
}

#[test]
fn a_standing_yes_to_other_code_does_not_start_it() {
    let javascript = "Here.\n```javascript\n1\n```\n";
    for covers in [Covered::All, Covered::Kind] {
        let script = Script::new(bring).asked().replied(javascript).judged();
        let script = script.tell(stand(covers)).ran(0).replied(PYTHON).judged();
        let script = script.gives(&["findings", "verdict Ask", "ask p2"]);
        names_it(&script);
        // One that was given to a question which names it covers what follows.
        let script = script.tell(stand(Covered::Kind));
        assert!(script.said.contains(&"run p2 by Person".to_owned()), "{:?}", script.said);
        let ran = Ran { proposal: "p2".into(), status: Some(0), ..Ran::default() };
        let script = script.when(Event::Ran(ran)).replied(PYTHON).judged();
        script.gives(&["findings", "verdict Allow", "run p3 by Standing"]);
    }
}

#[test]
fn an_approval_covers_the_shell_and_a_language_without_it_needs_none() {
    let script = automatic().asked().replied("```javascript\n1\n```\n").judged();
    let script = script.gives(&["findings", "verdict Allow", "run p1 by Mode"]).ran(0);
    let script = script.replied(SHELL).judged().gives(&["findings", "verdict Ask", "ask p2"]);
    let script = script.tell(GivenAnswer::Run);
    let ran = Ran { proposal: "p2".into(), status: Some(0), ..Ran::default() };
    let script = script.when(Event::Ran(ran)).replied(PYTHON).judged();
    script.gives(&["findings", "verdict Allow", "run p3 by Mode"]);
}

#[test]
fn typed_code_runs_and_approves_nothing() {
    let python = language::example().find("python").unwrap();
    let typed = Event::Submitted { language: python, code: "1".into(), invocation: None };
    let script = automatic().when(typed).judged();
    let script = script.gives(&["findings", "verdict Allow", "run p1 by Typed"]).ran(0);
    script.asked().replied(PYTHON).judged().gives(&["findings", "verdict Ask", "ask p2"]);
}

#[test]
fn a_session_that_goes_on_asks_again() {
    let earlier = Earlier {
        session: "s".into(),
        messages: vec![],
        before: None,
        at: None,
        next_id: 2,
        next_question: 2,
        open: None,
        not_asked: None,
        authors: vec![],
        taint: crate::taint::TaintBrought::default(),
        noes: vec![],
    };
    let script = automatic().when(Event::Resumed(Box::new(earlier))).asked().replied(PYTHON);
    let script = script.judged().gives(&["findings", "verdict Ask", "ask p2"]);
    names_it(&script);
}

#[test]
fn cells_that_run_again_name_it_and_the_yes_to_them_counts() {
    let cells = vec![past_cell(1, "x = 1", CellEnd::Done)];
    let script = automatic().when(Event::ReplayWanted(Box::new(Replay { cells })));
    let script = script.when(Event::JudgedAll(vec![Findings::new(vec![]).understood()]));
    let QuestionAbout::Replay { cells, .. } = &script.asked.last().unwrap().about else {
        panic!("{:?}", script.asked)
    };
    let named = Findings::new(cells[0].capabilities.clone());
    assert_eq!(named.by_severity()[0].words(), WORDS);
    let script = script.tell(GivenAnswer::Run).when(Event::Restarted(vec![])).ran(0);
    script.asked().replied(PYTHON).judged().gives(&["findings", "verdict Allow", "run p2 by Mode"]);
}
