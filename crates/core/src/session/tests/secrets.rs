//! Uses of secrets by running code.

use super::*;
use crate::{Admission, SecretUse, WantedUse};

fn used(verdict: Admission) -> SecretUse {
    SecretUse {
        name: "TOKEN".into(),
        method: "GET".into(),
        host: "api.example.org".parse().unwrap(),
        port: 443,
        path: "/user".into(),
        verdict,
        why: (verdict == Admission::Refused).then(|| "an address carries no secrets".into()),
        count: 1,
    }
}

fn wanted() -> Event {
    let of = used(Admission::Allowed);
    Event::SecretWanted(WantedUse { proposal: "p1".into(), number: 7, of })
}

fn running() -> Script {
    Script::new(|setup| setup.approval = Approval::Yes).asked().replied(PYTHON).judged()
}

#[test]
fn a_use_is_recorded_and_goes_out_while_code_runs() {
    let bodies = wanted().bodies();
    let json = serde_json::to_value(&bodies[0]).unwrap();
    assert_eq!((&json["kind"], &json["name"]), (&"secret_used".into(), &"TOKEN".into()));
    assert_eq!(json.get("number"), None);
    assert_eq!(serde_json::from_value::<Body>(json).unwrap().clone(), {
        let of = used(Admission::Allowed);
        Body::SecretUsed(WantedUse { proposal: "p1".into(), number: 0, of })
    });
    running().when(wanted()).gives(&["use 7 goes out: true"]).ran(0).gives(&["call 1"]);
}

#[test]
fn between_runs_and_after_an_interrupt_nothing_goes_out() {
    Script::new(|_| {}).when(wanted()).gives(&["use 7 goes out: false"]);
    running().when(Event::Interrupted).when(wanted()).gives(&["use 7 goes out: false"]);
}

#[test]
fn the_model_learns_what_was_refused_and_why() {
    let secrets = vec![used(Admission::Allowed), used(Admission::Refused)];
    let effects = Effects { secrets, ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    let said = running().when(Event::Ran(ran)).last_message();
    assert_eq!(
        said,
        "-[no output]\n[status 0]\n[did not use TOKEN for GET api.example.org/user: an address \
         carries no secrets]\n"
    );
}
