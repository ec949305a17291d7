//! Questions about hosts.

use super::*;
use crate::{
    Admission, ApprovalMode, Capability, Coverage, Deed, Grant, HostContact, HostWanted,
    QuestionAbout, Risk, Secret, Span, redact::Redactor,
};
use std::sync::Arc;

fn wanted() -> Event {
    let host = "files.example.org".parse().unwrap();
    Event::HostWanted(HostWanted { proposal: "p1".into(), host, port: 443, listed: false })
}

fn allow(span: Grant) -> GivenAnswer {
    GivenAnswer::Allow { span }
}

fn running() -> Script {
    Script::new(|setup| setup.approval = Approval::Yes).asked().replied(PYTHON).judged()
}

#[test]
fn a_host_is_asked_about_while_code_runs() {
    running()
        .when(wanted())
        .gives(&["ask for files.example.org:443"])
        .tell(allow(Grant::Session))
        .gives(&["answer files.example.org:443 Some(Session)"])
        .ran(0)
        .gives(&["call 1"]);
}

#[test]
fn between_runs_and_after_an_interrupt_it_is_refused() {
    Script::new(|_| {})
        .when(wanted())
        .gives(&["answer files.example.org:443 None"])
        .asked()
        .when(wanted())
        .gives(&["answer files.example.org:443 None"]);
    running().when(Event::Interrupted).when(wanted()).gives(&["answer files.example.org:443 None"]);
}

#[test]
fn nobody_cannot_grant() {
    running()
        .when(wanted())
        .tell_by(allow(Grant::Always), Grantor::Nobody)
        .gives(&[])
        .tell_by(GivenAnswer::Refuse, Grantor::Nobody)
        .gives(&["answer files.example.org:443 None"]);
}

#[test]
fn a_late_answer_still_counts() {
    running()
        .when(wanted())
        .ran(1)
        .tell(allow(Grant::Always))
        .gives(&["answer files.example.org:443 Some(Always)"]);
}

#[test]
fn question_and_answer_are_on_record() {
    let running = running().when(wanted());
    let json = |event: &Event| serde_json::to_string(&running.state.bodies(event)[0]).unwrap();
    let answered = |answer, by| answer_to(running.asked.last().unwrap(), answer, by);
    assert_eq!(
        json(&wanted()),
        r#"{"kind":"host_wanted","proposal":"p1","host":"files.example.org","port":443}"#
    );
    assert_eq!(
        json(&answered(allow(Grant::Once), Grantor::Person)),
        r#"{"kind":"host_granted","proposal":"p1","host":"files.example.org","port":443,"for":"once","by":"person"}"#
    );
    assert_eq!(
        json(&answered(GivenAnswer::Refuse, Grantor::Nobody)),
        r#"{"kind":"host_refused","proposal":"p1","host":"files.example.org","port":443,"by":"nobody"}"#
    );
}

#[test]
fn the_model_is_told_which_hosts_were_refused() {
    let contact = |host: &str, verdict, why: Option<&str>| HostContact {
        host: host.into(),
        port: 443,
        verdict,
        why: why.map(Into::into),
        count: 2,
        sent: 0,
        received: 0,
    };
    let effects = Effects {
        network: vec![
            contact("a.org", Admission::Allowed, None),
            contact("b.org", Admission::Refused, Some("b.org:443 is not allowed here")),
        ],
        ..Effects::default()
    };
    let ran = Ran { proposal: "p1".into(), status: Some(1), effects, ..Ran::default() };
    let script = running().when(Event::Ran(ran));
    assert_eq!(
        script.last_message(),
        "-[no output]\n[status 1]\n[refused b.org:443 (2 times): it is not allowed here]\n"
    );
}

/// The bounds that the newest question about code shows.
fn bounds(script: &Script) -> Vec<String> {
    let codes = script.asked.iter().rev().find_map(|question| match &question.about {
        QuestionAbout::Code(code) => Some(code.confinement.clone()),
        _ => None,
    });
    codes.unwrap()
}

#[test]
fn later_questions_show_the_hosts_that_were_granted() {
    const NONE: &str =
        "in a sandbox: no network until you allow a host (each one is asked about), files staged";
    for (grant, shown) in [
        (Grant::Once, &[NONE][..]),
        (Grant::Session, &[NONE, "hosts granted in this session: files.example.org:443"]),
        (Grant::Always, &[NONE, "hosts granted in this session: files.example.org:443"]),
    ] {
        let script = Script::new(|_| {}).asked().replied(PYTHON).judged();
        assert_eq!(bounds(&script), [NONE]);
        let before = script.asked.last().unwrap().clone();
        let script = script.tell(GivenAnswer::Run).when(wanted());
        let script = script.tell(allow(grant)).ran(0).replied(PYTHON).judged();
        assert_eq!(bounds(&script), shown);
        // So the hash is another as well.
        let mut after = script.asked.last().unwrap().clone();
        let (QuestionAbout::Code(now), QuestionAbout::Code(then)) =
            (&mut after.about, before.about)
        else {
            panic!()
        };
        now.proposal = then.proposal;
        assert_eq!(after.about.hash() == before.hash, shown.len() == 1, "{grant:?}");
    }
}

fn taken_back() -> Event {
    Event::HostRevoked("files.example.org".parse().unwrap(), 443)
}

#[test]
fn a_grant_is_taken_back_at_any_time_and_only_once() {
    const CLOSED: [&str; 2] = ["host_revoked", "close files.example.org:443"];
    for span in [Grant::Session, Grant::Always] {
        let granted = || running().when(wanted()).tell(allow(span));
        // While the code runs, too.
        granted().when(taken_back()).gives(&CLOSED).ran(0).gives(&["call 1"]);
        let script = granted().ran(0).replied("Done.").when(taken_back());
        script
            .gives(&[&CLOSED[..], &["finish Done"]].concat())
            .when(taken_back())
            .gives(&["note", "finish Done"]);
    }
    // One for a single run ends with that.
    running().when(wanted()).tell(allow(Grant::Once)).when(taken_back()).gives(&["note"]);
}

/// Others know it from the record, where a secret in a name is not.
#[test]
fn a_host_whose_name_holds_a_secret_is_taken_back_by_its_name_on_record() {
    let host = "abcdefgh12.example.org".parse().unwrap();
    let wanted = HostWanted { proposal: "p1".into(), host, port: 443, listed: false };
    let secret = Secret::new("abcdefgh12".into());
    let redactor = Arc::new(Redactor::default().knowing([("N", &secret)]));
    for name in ["redacted.example.org", "abcdefgh12.example.org"] {
        let mut script =
            running().when(Event::HostWanted(wanted.clone())).tell(allow(Grant::Session));
        script.state.redact_with(Arc::clone(&redactor));
        let named = |port| Event::HostRevoked(name.parse().unwrap(), port);
        script = script.when(named(444)).gives(&["note"]);
        script.when(named(443)).gives(&["host_revoked", "close abcdefgh12.example.org:443"]);
    }
}

#[test]
fn a_question_from_before_it_was_taken_back_can_be_answered_and_a_later_grant_asks_anew() {
    let script = Script::new(|_| {}).asked().replied(PYTHON).judged();
    let script = script.tell(GivenAnswer::Run).when(wanted()).tell(allow(Grant::Session));
    let script = script.ran(0).replied(PYTHON).judged();
    assert_eq!(bounds(&script).len(), 2);
    let code = script.asked.last().unwrap().clone();
    let run = answer_to(&code, GivenAnswer::Run, Grantor::Person);
    // It reaches less than the question says.
    let script = script.when(taken_back()).when(run).gives(&["run p2 by Person"]);
    let script = script.ran(0).replied(PYTHON).judged();
    assert_eq!(bounds(&script).len(), 1, "it is not shown any more");
    // As many as then, and yet one that the question does not name.
    let script = Script::new(|_| {}).asked().replied(PYTHON).judged().tell(GivenAnswer::Run);
    let script = script.when(wanted()).tell(allow(Grant::Session)).when(wanted());
    let host = script.asked.last().unwrap().clone();
    let script = script.ran(0).replied(PYTHON).judged();
    let run = answer_to(script.asked.last().unwrap(), GivenAnswer::Run, Grantor::Person);
    let script = script.when(taken_back());
    let script = script.when(answer_to(&host, allow(Grant::Session), Grantor::Person));
    script.when(run).gives(&["note", "judge print(1)⏎"]);
}

#[test]
fn a_yes_to_a_question_from_before_a_grant_runs_nothing() {
    let script = Script::new(|_| {}).asked().replied(PYTHON).judged();
    let script = script.tell(GivenAnswer::Run).when(wanted());
    let host = script.asked.last().unwrap().clone();
    let script = script.ran(0).replied(PYTHON).judged();
    let code = script.asked.last().unwrap().clone();
    let script = script
        .when(answer_to(&host, allow(Grant::Session), Grantor::Person))
        .when(answer_to(&code, GivenAnswer::Run, Grantor::Person))
        .gives(&["note", "judge print(1)⏎"])
        .judged();
    assert_eq!(bounds(&script).len(), 2);
    let again = script.asked.last().unwrap().clone();
    assert_ne!((&again.id, &again.hash), (&code.id, &code.hash));
    script.tell(GivenAnswer::Run).gives(&["run p2 by Person"]);
}

/// Findings on code that is understood, and connects to this host.
fn connects(host: &str) -> Event {
    let found = Capability::new(Deed::Connects, host, 1, Risk::Low);
    Event::Judged(Findings::new(vec![found]).understood())
}

#[test]
fn code_that_nobody_was_asked_about_may_reach_what_its_findings_name() {
    let named = |name: &str| RunHosts::Named([name.parse().unwrap()].into());
    let automatic = |setup: &mut Setup| setup.policy.mode = ApprovalMode::Auto;
    let script = Script::new(automatic).asked().replied(PYTHON).when(connects("a.org"));
    assert_eq!(script.reach, [named("a.org")]);
    let script = Script::new(automatic).asked().replied(PYTHON).judged();
    assert_eq!(script.reach, [RunHosts::Named([].into())]);
    // A standing answer covers it, which was given to other code.
    let everything = Event::StandingGiven(Span::Session, Coverage::All);
    let script = Script::new(|_| {}).when(everything).asked().replied(PYTHON);
    assert_eq!(script.when(connects("a.org")).reach, [named("a.org")]);
    // The controls: somebody has seen it, or has said yes to all code.
    let script = Script::new(|_| {}).asked().replied(PYTHON).when(connects("a.org"));
    assert_eq!(script.tell(GivenAnswer::Run).reach, [RunHosts::Listed]);
    let yes = |setup: &mut Setup| setup.approval = Approval::Yes;
    let script = Script::new(yes).asked().replied(PYTHON).when(connects("a.org"));
    assert_eq!(script.reach, [RunHosts::Listed]);
}

#[test]
fn a_listed_host_is_not_written_into_the_settings_once_more() {
    let listed = |listed| {
        let host = "files.example.org".parse().unwrap();
        Event::HostWanted(HostWanted { proposal: "p1".into(), host, port: 443, listed })
    };
    let script = running().when(listed(true)).tell(allow(Grant::Always)).gives(&[]);
    script.tell(allow(Grant::Session)).gives(&["answer files.example.org:443 Some(Session)"]);
    running()
        .when(listed(false))
        .tell(allow(Grant::Always))
        .gives(&["answer files.example.org:443 Some(Always)"]);
}
