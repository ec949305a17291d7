//! Several people: who must say yes, whose yes counts, and what never takes their place.

use super::{replaying::past_cell, *};
use crate::{
    HostWanted, InputWanted, People, Person, QuestionEnd, Secret, Span, session::AnswerTaken,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn person(name: &str) -> Person {
    Person { id: format!("id-{name}"), name: name.into() }
}

fn rule(answers: u8, not_author: bool) -> Rule {
    Rule { answers: Some(answers), not_author, ..Rule::of(Opinion::Ask) }
}

fn setup(answers: u8, not_author: bool) -> impl FnOnce(&mut Setup) {
    move |setup| {
        setup.people = People::Several;
        setup.policy.user = Rules(vec![rule(answers, not_author)]);
    }
}

/// Anna's prompt has led to code that is asked about.
fn asking(answers: u8, not_author: bool) -> Script {
    Script::new(setup(answers, not_author))
        .when(Event::Spoke(person("anna")))
        .gives(&["author"])
        .asked()
        .replied(PYTHON)
        .judged()
        .gives(&ASKED)
}

/// An answer of somebody while these may answer.
fn of(script: &Script, name: &str, answer: GivenAnswer, may: &[&str]) -> QuestionAnswer {
    let question = script.asked.last().unwrap();
    let may_answer = may.iter().map(|name| person(name).id).collect::<BTreeSet<_>>();
    QuestionAnswer {
        question: question.id.clone(),
        hash: question.hash.clone(),
        answer,
        by: Grantor::Person,
        who: Some(name.into()),
        voter: Some(Voter { person: person(name), may_answer }),
    }
}

const ALL: [&str; 4] = ["anna", "ben", "cleo", "dora"];

impl Script {
    fn said_by(self, name: &str, answer: GivenAnswer) -> Self {
        let given = of(&self, name, answer, &ALL);
        self.when(Event::QuestionAnswered(Box::new(given)))
    }

    fn checks(&self, name: &str) -> Result<AnswerTaken, AnswerRefused> {
        self.state.check_answer(&of(self, name, GivenAnswer::Run, &ALL))
    }
}

#[test]
fn two_others_say_yes_before_it_runs() {
    let script = asking(2, true);
    let by_author = AnswerRefused::ByAuthor { id: "q1".into() };
    assert_eq!(script.checks("anna"), Err(by_author));
    assert_eq!(script.checks("ben"), Ok(AnswerTaken::Waits { missing: 1 }));
    let script = script.said_by("anna", GivenAnswer::Run).gives(&[]);
    let script = script.said_by("ben", GivenAnswer::Run).gives(&[]);
    assert_eq!(script.checks("ben"), Err(AnswerRefused::Twice { id: "q1".into() }));
    assert_eq!(script.checks("cleo"), Ok(AnswerTaken::Decides));
    script
        .said_by("ben", GivenAnswer::Run)
        .gives(&[])
        .said_by("cleo", GivenAnswer::Run)
        .gives(&["run p1 by Person"]);
}

#[test]
fn the_record_of_each_yes_names_its_giver() {
    let mut script = asking(2, false);
    let mut bodies = |name: &str, may: &[&str]| {
        let given = Box::new(of(&script, name, GivenAnswer::Run, may));
        let event = Event::QuestionAnswered(given);
        let bodies = script.state.bodies(&event);
        script.state.step(event);
        bodies
    };
    let approval = |name: &str, missing| Body::Approval {
        question: "q1".into(),
        person: person(name),
        missing,
    };
    assert_eq!(bodies("ben", &ALL), [approval("ben", 1)]);
    // Ben may not any more.
    let gone = Body::ApprovalWithdrawn { question: "q1".into(), person: person("ben") };
    assert_eq!(bodies("cleo", &["anna", "cleo"]), [gone, approval("cleo", 1)]);
    assert_eq!(bodies("ben", &["anna", "cleo"]), []);
    let last = bodies("dora", &ALL);
    assert_eq!(last[0], approval("dora", 0));
    assert!(matches!(last[1], Body::Answer { .. }), "{last:?}");
}

#[test]
fn any_no_rejects_it() {
    asking(3, true)
        .said_by("ben", GivenAnswer::Run)
        .said_by("anna", reject())
        .gives(&["finish Refused"]);
}

#[test]
fn an_edit_and_a_reason_make_their_givers_authors() {
    let edited = asking(1, true)
        .said_by("ben", GivenAnswer::Edit { code: "print(2)".into() })
        .gives(&["author", "judge print(2)"])
        .judged();
    let by_author = |script: &Script, name: &str| {
        matches!(script.checks(name), Err(AnswerRefused::ByAuthor { .. }))
    };
    assert!(by_author(&edited, "anna") && by_author(&edited, "ben"));
    assert_eq!(edited.checks("cleo"), Ok(AnswerTaken::Decides));
    let reason = GivenAnswer::Reject { reason: Some("print 3".into()) };
    let told = asking(1, true).said_by("ben", reason).replied(PYTHON).judged();
    assert!(by_author(&told, "ben"));
    assert_eq!(told.checks("cleo"), Ok(AnswerTaken::Decides));
}

#[test]
fn earlier_yeses_do_not_count_for_edited_code() {
    let script = asking(2, false)
        .said_by("ben", GivenAnswer::Run)
        .said_by("cleo", GivenAnswer::Edit { code: "print(2)".into() })
        .judged();
    assert_eq!(script.checks("ben"), Ok(AnswerTaken::Waits { missing: 1 }));
    script.said_by("dora", GivenAnswer::Run).gives(&[]);
}

#[test]
fn nothing_else_takes_the_place_of_people() {
    // Neither an answer in advance, nor the automatic mode, nor an answer that stands.
    for answers in [1, 2] {
        let change = |setup: &mut Setup| {
            super::several::setup(answers, true)(setup);
            setup.approval = Approval::Yes;
            setup.policy.mode = crate::ApprovalMode::Auto;
        };
        let script = Script::new(change)
            .when(Event::Spoke(person("anna")))
            .when(Event::StandingGiven(Span::Session, crate::Coverage::All))
            .asked()
            .replied(PYTHON)
            .judged()
            .gives(&ASKED);
        for by in [Grantor::Flag, Grantor::Rule, Grantor::Standing, Grantor::Mode, Grantor::Typed] {
            let given = QuestionAnswer { by, ..of(&script, "ben", GivenAnswer::Run, &ALL) };
            assert!(script.state.check_answer(&given).is_err(), "{by:?}");
        }
        // Nor somebody who is not known, or who may not answer.
        let unknown = QuestionAnswer { voter: None, ..of(&script, "ben", GivenAnswer::Run, &ALL) };
        assert!(script.state.check_answer(&unknown).is_err());
        let guest = of(&script, "ben", GivenAnswer::Run, &["anna"]);
        assert!(script.state.check_answer(&guest).is_err());
        for span in [Span::Turn, Span::Session, Span::Always] {
            let stand = GivenAnswer::Stand { span, covers: Covered::All };
            assert!(script.state.check_answer(&of(&script, "ben", stand, &ALL)).is_err());
        }
    }
}

#[test]
fn one_person_is_refused_at_once() {
    for approval in [Approval::AsRulesSay, Approval::Yes, Approval::AlwaysAsk] {
        Script::new(|setup| {
            super::several::setup(2, false)(setup);
            setup.people = People::One;
            setup.approval = approval;
        })
        .asked()
        .replied(PYTHON)
        .judged()
        .gives(&["findings", "verdict Deny", "note", "call 1"])
        .tells("several");
    }
}

#[test]
fn where_no_author_is_known_nobody_is_another() {
    Script::new(setup(1, true)).asked().replied(PYTHON).judged().gives(&[
        "findings",
        "verdict Deny",
        "note",
        "call 1",
    ]);
}

#[test]
fn packages_that_code_asks_for_take_the_same_people() {
    let change = |setup: &mut Setup| {
        super::several::setup(2, true)(setup);
        setup.packages.kinds = vec![crate::packages::PackageKind::Python];
        setup.packages.policy = crate::packages::PackagePolicy::Allow;
    };
    let offering = Script::new(change)
        .when(Event::Spoke(person("anna")))
        .asked()
        .replied("```shell\npip install pandas\n```\n")
        .judged();
    assert_eq!(offering.asked.last().unwrap().about.word(), "packages");
    offering
        .said_by("anna", GivenAnswer::Install)
        .gives(&[])
        .said_by("ben", GivenAnswer::Install)
        .gives(&[])
        .said_by("ben", GivenAnswer::Install)
        .gives(&[])
        .said_by("cleo", GivenAnswer::Install)
        .gives(&["look up pandas"])
        .when(super::packages::found("pandas", &["pandas"]))
        .gives(&["granted by Person", "install pandas"]);
}

#[test]
fn packages_that_approved_code_misses_take_the_same_people() {
    use crate::packages::{PackageKind, PackagePolicy};
    for policy in [PackagePolicy::Ask, PackagePolicy::Allow] {
        let change = |setup: &mut Setup| {
            super::several::setup(2, true)(setup);
            setup.packages.kinds = vec![PackageKind::Python];
            setup.packages.policy = policy;
        };
        let offering = Script::new(change)
            .when(Event::Spoke(person("anna")))
            .asked()
            .replied("```python\nimport pandas\n```\n")
            .judged()
            .said_by("ben", GivenAnswer::Run)
            .said_by("cleo", GivenAnswer::Run)
            .printed("ModuleNotFoundError: No module named 'pandas'\n")
            .ran(1);
        assert_eq!(offering.asked.last().unwrap().about.word(), "packages", "{policy:?}");
        offering
            .said_by("anna", GivenAnswer::Install)
            .gives(&[])
            .said_by("ben", GivenAnswer::Install)
            .gives(&[])
            .said_by("cleo", GivenAnswer::Install)
            .gives(&["look up pandas"])
            // They said yes to pandas, and to nothing else.
            .when(super::packages::found("pandas", &["pandas", "hidden-thing"]))
            .gives(&["ask to install pandas"])
            .said_by("ben", GivenAnswer::Install)
            .gives(&[])
            .said_by("cleo", GivenAnswer::Install)
            .gives(&["granted by Person", "install pandas"]);
    }
}

#[test]
fn whoever_gives_code_its_input_is_an_author() {
    let running = asking(2, true)
        .said_by("ben", GivenAnswer::Run)
        .said_by("cleo", GivenAnswer::Run)
        .when(Event::InputWanted(InputWanted {
            proposal: "p1".into(),
            prompt: Untrusted::new("name?"),
            secret: false,
        }));
    let line = GivenAnswer::Give { text: Secret::new("now write this".to_owned()) };
    let asked = running.said_by("ben", line).ran(0).replied(PYTHON).judged();
    assert!(matches!(asked.checks("ben"), Err(AnswerRefused::ByAuthor { .. })));
    // The control: whoever has only approved is none.
    assert_eq!(asked.checks("cleo"), Ok(AnswerTaken::Waits { missing: 1 }));
}

#[test]
fn a_yes_goes_with_the_right_and_does_not_come_back_with_it() {
    let script = asking(2, true).said_by("ben", GivenAnswer::Run);
    assert_eq!(script.checks("cleo"), Ok(AnswerTaken::Decides));
    let script = script.when(Event::RightLost(person("ben").id)).gives(&["approval_withdrawn"]);
    assert_eq!(script.checks("cleo"), Ok(AnswerTaken::Waits { missing: 1 }));
    // Whoever has said nothing loses nothing.
    let script = script.when(Event::RightLost(person("dora").id)).gives(&[]);
    script
        .said_by("cleo", GivenAnswer::Run)
        .gives(&[])
        .said_by("ben", GivenAnswer::Run)
        .gives(&["run p1 by Person"]);
}

#[test]
fn cells_that_take_several_people_do_not_run_again_by_one_yes() {
    let cells = vec![past_cell(1, "x = 1", CellEnd::Done)];
    let script = Script::new(setup(2, false))
        .when(Event::ReplayWanted(Box::new(Replay { cells })))
        .when(Event::JudgedAll(vec![Findings::new(vec![])]));
    assert!(script.asked.is_empty() && script.state.is_idle(), "{:?}", script.said);
}

#[test]
fn a_host_that_is_granted_meanwhile_has_everybody_asked_again() {
    let mut script = asking(2, false);
    let host = HostWanted {
        proposal: "p0".into(),
        host: "a.org".parse().unwrap(),
        port: 443,
        listed: false,
    };
    let answer = HostAnswer {
        proposal: host.proposal.clone(),
        host: host.host.clone(),
        port: host.port,
        grant: Some(crate::Grant::Session),
        by: Grantor::Person,
    };
    script.state.hosts.note(&answer.host, answer.port, answer.grant);
    let given = of(&script, "ben", GivenAnswer::Run, &ALL);
    let effects = script.state.step(Event::QuestionAnswered(Box::new(given)));
    let is_closed = |effect: &Effect| {
        matches!(effect, Effect::Note(Body::QuestionClosed { why: QuestionEnd::Answered, .. }))
    };
    assert!(effects.iter().any(is_closed));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Judge(_))));
    let script = script.judged();
    assert_eq!(script.checks("ben"), Ok(AnswerTaken::Waits { missing: 1 }));
}

proptest! {
    /// In any order of answers, code runs only after the required number of different people have
    /// approved it, none of them its author where the rule excludes authors.
    #[test]
    fn code_runs_only_by_the_yes_of_so_many(
        answers in 1..=4_u8, not_author: bool,
        said in prop::collection::vec((0..ALL.len(), 0..4_usize), 0..12),
    ) {
        prop_assume!(answers > 1 || not_author);
        let mut script = asking(answers, not_author);
        let (mut yes, mut authors) = (BTreeSet::new(), BTreeSet::from(["anna"]));
        for (who, what) in said {
            let name = ALL[who];
            let answer = match what {
                0..=2 => GivenAnswer::Run,
                _ => GivenAnswer::Edit { code: format!("print({who})") },
            };
            let is_edit = matches!(answer, GivenAnswer::Edit { .. });
            script = script.said_by(name, answer);
            if is_edit {
                yes.clear();
                authors.insert(name);
                script = script.judged();
            } else if !(not_author && authors.contains(name)) {
                yes.insert(name);
            }
            let runs = script.said.iter().any(|one| one.starts_with("run "));
            prop_assert_eq!(runs, yes.len() >= usize::from(answers));
            if runs {
                break;
            }
        }
    }
}
