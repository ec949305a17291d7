//! Code and hosts in which a known value stands: masked where they are drawn, and apart from every yes
//! to more than one thing.

use super::*;
use crate::{HostWanted, QuestionAbout, Secret, Span, redact::Redactor};
use std::sync::Arc;

const VALUE: &str = "tok-3f9a-77c1-xyzzy";

const WITH: &str = "```python\nprint('tok-3f9a-77c1-xyzzy')\n```\n";

const ASKS: &[&str] = &["findings", "verdict Ask", "ask p1"];

fn knowing(change: impl FnOnce(&mut Setup)) -> Script {
    let known = Redactor::of_shapes().knowing([("TOKEN", &Secret::new(VALUE.into()))]);
    Script::new(|setup| {
        setup.redactor = Arc::new(known);
        change(setup);
    })
}

fn rules(decision: Opinion, answers: Option<u8>) -> Rules {
    Rules(vec![Rule { language: Some(Patterns::one("python")), answers, ..Rule::of(decision) }])
}

#[test]
fn no_rule_no_flag_and_no_earlier_answer_covers_it() {
    let rules_that_allow = |setup: &mut Setup| setup.policy.user = rules(Opinion::Allow, None);
    // By a rule, by the flag, by a standing answer.
    knowing(rules_that_allow).asked().replied(WITH).judged().gives(ASKS);
    knowing(|setup| setup.approval = Approval::Yes).asked().replied(WITH).judged().gives(ASKS);
    let stand = GivenAnswer::Stand { span: Span::Session, covers: Covered::All };
    let script = knowing(|_| {}).asked().replied(PYTHON).judged().tell(stand).ran(0).replied(WITH);
    let script = script.judged().gives(&["findings", "verdict Ask", "ask p2"]);
    // Nor does an answer to it cover anything else.
    let QuestionAbout::Code(question) = &script.asked.last().unwrap().about else { panic!() };
    assert!(!question.may_stand && !question.may_last);
    assert_eq!(question.masked, ["TOKEN"]);
    assert_eq!(question.code.raw(), "print('[secret:TOKEN]')\n");
    assert_eq!(question.code_hash, crate::hash::sha256(b"print('tok-3f9a-77c1-xyzzy')\n"));
    script.tell(GivenAnswer::Run).gives(&["run p2 by Person"]);
    // The control: without the value each of them covers it.
    knowing(rules_that_allow).asked().replied(PYTHON).judged().gives(&[
        "findings",
        "verdict Allow",
        "run p1 by Rule",
    ]);
}

#[test]
fn others_cannot_approve_what_they_cannot_see() {
    let script = knowing(|setup| {
        setup.people = crate::People::Several;
        setup.policy.user = rules(Opinion::Ask, Some(2));
    });
    let anna = crate::Person { id: "id-anna".into(), name: "anna".into() };
    let script = script.when(Event::Spoke(anna)).asked().replied(WITH).judged();
    assert_eq!(script.said[..2], ["findings", "verdict Deny"]);
}

#[test]
fn a_host_whose_name_holds_it_is_refused_unasked() {
    let running = || {
        let known = Redactor::of_shapes().knowing([("TOKEN", &Secret::new("abcdefgh12".into()))]);
        let setup = |setup: &mut Setup| {
            setup.redactor = Arc::new(known);
            setup.approval = Approval::Yes;
        };
        Script::new(setup).asked().replied(PYTHON).judged()
    };
    let wanted = |host: &str| {
        Event::HostWanted(HostWanted {
            proposal: "p1".into(),
            host: host.parse().unwrap(),
            port: 1,
            listed: false,
        })
    };
    running().when(wanted("abcdefgh12.example.org")).gives(&[
        "note",
        "host_refused",
        "answer abcdefgh12.example.org:1 None",
    ]);
    // Nor does a shape keep one from being asked about by its name.
    let name = "glrtr-q1w2e3r4t5y6u7i8o9p0a1s2.evil.example";
    let script = running().when(wanted(name)).gives(&[&format!("ask for {name}:1")]);
    let QuestionAbout::Host { host, .. } = &script.asked.last().unwrap().about else { panic!() };
    assert_eq!(host.to_string(), name);
}
