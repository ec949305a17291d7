//! Questions about hosts.

use super::*;
use crate::{Admission, Grant, HostContact, HostWanted, session::HostAnswer};

fn wanted() -> Event {
    let host = "files.example.org".parse().unwrap();
    Event::HostWanted(HostWanted { proposal: "p1".into(), host, port: 443 })
}

fn answered(grant: Option<Grant>, by: Grantor) -> Event {
    let host = "files.example.org".parse().unwrap();
    Event::HostAnswered(HostAnswer { proposal: "p1".into(), host, port: 443, grant, by })
}

fn running() -> Script {
    Script::new(|setup| setup.approval = Approval::Yes).asked().replied(PYTHON).judged()
}

#[test]
fn a_host_is_asked_about_while_code_runs() {
    running()
        .when(wanted())
        .gives(&["ask for files.example.org:443"])
        .when(answered(Some(Grant::Session), Grantor::Person))
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
        .when(answered(Some(Grant::Always), Grantor::Nobody))
        .gives(&["answer files.example.org:443 None"]);
}

#[test]
fn a_late_answer_still_counts() {
    running()
        .when(wanted())
        .ran(1)
        .when(answered(Some(Grant::Always), Grantor::Person))
        .gives(&["answer files.example.org:443 Some(Always)"]);
}

#[test]
fn question_and_answer_are_on_record() {
    let json = |event: &Event| serde_json::to_string(&event.bodies()[0]).unwrap();
    assert_eq!(
        json(&wanted()),
        r#"{"kind":"host_wanted","proposal":"p1","host":"files.example.org","port":443}"#
    );
    assert_eq!(
        json(&answered(Some(Grant::Once), Grantor::Person)),
        r#"{"kind":"host_granted","proposal":"p1","host":"files.example.org","port":443,"for":"once","by":"person"}"#
    );
    assert_eq!(
        json(&answered(None, Grantor::Nobody)),
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
