//! Every event has the attributes that its class requires, by the published schema.

use super::*;
use crate::{About, Untrusted, egress::Host};

const SOURCE: OcsfSource<'_> = OcsfSource {
    version: "0.1.0",
    device: "desk",
    user: "1000",
    time: 1_763_000_000_123,
    prev: "aa",
    hash: "bb",
};

fn of(body: Body) -> Vec<Value> {
    let time = "2026-11-17T15:04:05.000000Z".into();
    events(&Record { v: 1, seq: 7, time, session: "s1".into(), who: None, body }, &SOURCE)
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
fn bodies() -> Vec<(u32, u32, Body)> {
    let host = || "example.com".parse::<Host>().unwrap();
    let contact = |name: &str, verdict| HostContact {
        host: name.into(),
        port: 443,
        verdict,
        why: None,
        count: 2,
        sent: 10,
        received: 20,
    };
    let later = FileChange {
        about: About { runs_later: Some("runs at login".into()), ..About::default() },
        ..FileChange::new(".bashrc", Change::Changed)
    };
    let changes = |state| {
        let files = vec![later.clone(), FileChange::new("out/", Change::Created)];
        Body::Changes(Changes { id: "c1".into(), state, files, left_out: vec![] })
    };
    let answer = |decision| Body::Answer {
        proposal: "p1".into(),
        decision,
        by: Grantor::Person,
        hash: None,
        code: None,
        sealed: None,
        reason: None,
    };
    let effects = Body::Effects {
        proposal: "p1".into(),
        files: vec![],
        network: vec![
            contact("example.com", Admission::Allowed),
            contact("1.2.3.4", Admission::Refused),
        ],
        denials: vec![],
        secrets: vec![],
    };
    let late = Body::TriedLate {
        after: Some("p1".into()),
        network: vec![contact("example.com", Admission::Allowed)],
        denials: vec![],
        secrets: vec![],
    };
    let started = Body::RunStarted {
        proposal: "p1".into(),
        hash: "cc".into(),
        backend: "native".into(),
        enforced: vec![],
        missing: vec![],
    };
    let finished = Body::RunFinished {
        proposal: "p1".into(),
        status: Some(1),
        signal: None,
        limit: None,
        kernel_ended: false,
        ms: 1,
    };
    let (granted, by) = (crate::Grant::Once, Grantor::Person);
    vec![
        (1007, 1, started),
        (1007, 2, finished),
        (1001, 3, changes(ChangesState::Applied)),
        (1001, 3, changes(ChangesState::Undone)),
        (0, 99, changes(ChangesState::Staged)),
        (4001, 6, effects),
        (4001, 6, late),
        (3003, 1, answer(Decision::Run)),
        (3003, 99, answer(Decision::Reject)),
        (
            3003,
            1,
            Body::HostGranted { proposal: "p1".into(), host: host(), port: 443, granted, by },
        ),
        (3003, 99, Body::HostRefused { proposal: "p1".into(), host: host(), port: 443, by }),
        (
            2004,
            1,
            Body::Findings {
                proposal: "p1".into(),
                risk: Risk::High,
                capabilities: vec![],
                understood: false,
            },
        ),
        (6002, 4, Body::SessionEnded {}),
        (0, 99, Body::Prompt { text: "\u{1b}[2J".into() }),
        (0, 99, Body::Note { text: "x".into() }),
        (0, 99, Body::Summary { text: Untrusted::new("x") }),
    ]
}

/// The attributes that a class requires, beyond those of every event.
fn required(class: u64) -> &'static [&'static str] {
    match class {
        1001 => &["actor", "device", "file"],
        1007 => &["actor", "device", "process"],
        2004 => &["finding_info"],
        3003 => &["user", "privileges"],
        4001 => &["dst_endpoint"],
        6002 => &["app"],
        6003 => &["actor", "api", "src_endpoint"],
        _ => &[],
    }
}

#[test]
fn every_event_has_what_its_class_requires() {
    for (class, activity, body) in bodies() {
        let events = of(body);
        assert_eq!(events[0]["class_uid"], class, "{}", events[0]);
        assert_eq!(events[0]["activity_id"], activity, "{}", events[0]);
        for event in events {
            let number =
                |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name} {event}"));
            let class = number("class_uid");
            assert_eq!(number("type_uid"), class * 100 + number("activity_id"));
            assert_eq!(number("category_uid"), class / 1000);
            assert!(number("severity_id") <= 6 && number("time") == 1_763_000_000_123);
            assert_eq!(event["metadata"]["version"], OCSF_VERSION);
            assert_eq!(event["metadata"]["product"]["name"], "interpreter");
            assert!(event["metadata"]["product"]["vendor_name"].is_string());
            for name in required(class) {
                assert!(!event[name].is_null(), "{name} is missing: {event}");
            }
            if class == 1001 {
                assert!(event["file"]["name"].is_string() && event["file"]["type_id"].is_u64());
            }
            if class == 1001 || class == 1007 {
                assert!(event["device"]["type_id"].is_u64() && event["device"]["name"].is_string());
            }
            assert_eq!(event["unmapped"]["hash"], "bb");
        }
    }
}

#[test]
fn each_file_and_each_host_is_an_event_with_a_number_of_its_own() {
    let all = bodies();
    let files = of(all[2].2.clone());
    let seen: Vec<_> =
        files.iter().map(|one| (&one["file"]["name"], &one["file"]["type_id"])).collect();
    assert_eq!(seen, [(&json!(".bashrc"), &json!(1)), (&json!("out"), &json!(2))]);
    assert_eq!((&files[0]["severity_id"], &files[1]["severity_id"]), (&json!(4), &json!(1)));
    // A new file whose creation was undone is deleted.
    assert_eq!(of(all[3].2.clone())[1]["activity_id"], 4);
    let hosts = of(all[5].2.clone());
    assert_eq!(hosts[0]["dst_endpoint"]["hostname"], "example.com");
    assert_eq!(
        (&hosts[1]["dst_endpoint"]["ip"], &hosts[1]["activity_id"]),
        (&json!("1.2.3.4"), &json!(5))
    );
    let uids: Vec<_> = hosts.iter().map(|one| one["metadata"]["uid"].clone()).collect();
    assert_eq!(uids, ["bb/1", "bb/2"]);
}
