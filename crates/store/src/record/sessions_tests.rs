//! The list of sessions, and finding one by the beginning of its id.

use super::*;
use crate::record::example::{Place, prompt, started};
use interpreter_core::{Body, QuestionEnd};
use std::path::Path;

#[test]
fn sessions_are_listed_newest_first() {
    let mut place = Place::with_records();
    place.log.append("s3", &prompt(&"é".repeat(10_000))).unwrap();
    let sessions = place.log.sessions(&SessionFilter::ALL).unwrap();
    let ids: Vec<_> = sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["s3", "s2", "s1"]);

    let whole = &sessions[2];
    assert_eq!(whole.records, 3);
    assert_eq!(whole.first_prompt.as_deref(), Some("sum \"1\" and 2,\nplease €"));
    assert_eq!(whole.work_folder.as_deref(), Some(Path::new("/home/u/project")));
    assert!(whole.ended.as_ref().is_some_and(|ended| *ended >= whole.started));

    let bare = &sessions[0];
    assert_eq!((bare.records, &bare.ended, &bare.work_folder), (1, &None, &None));
    assert_eq!(bare.first_prompt.as_ref().unwrap().chars().count(), 500);
}

#[test]
fn a_session_that_goes_on_has_not_ended() {
    let mut place = Place::with_records();
    place.log.append("s1", &started()).unwrap();
    assert_eq!(place.log.sessions(&SessionFilter::ALL).unwrap()[1].ended, None);
    let end = place.log.append("s1", &Body::SessionEnded {}).unwrap();
    assert_eq!(place.log.sessions(&SessionFilter::ALL).unwrap()[1].ended, Some(end.time));
}

#[test]
fn an_empty_record_has_no_sessions() {
    assert_eq!(Place::new().log.sessions(&SessionFilter::ALL).unwrap(), []);
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let mut place = Place::new();
    for session in ["0190aa", "0190ab", "0190abcd", "0191"] {
        place.log.append(session, &started()).unwrap();
        place.log.append(session, &prompt("x")).unwrap();
    }
    assert_eq!(place.log.find_session("0190aa").unwrap(), "0190aa");
    assert_eq!(place.log.find_session("0190abc").unwrap(), "0190abcd");
    assert_eq!(place.log.find_session("0190ab").unwrap(), "0190ab");
    assert_eq!(place.log.find_session("0191").unwrap(), "0191");
    let message = |prefix: &str| place.log.find_session(prefix).unwrap_err().to_string();
    assert_eq!(
        message("0190"),
        "several sessions begin or end with `0190`: 0190aa, 0190ab, 0190abcd"
    );
    assert!(message("02").starts_with("no session begins or ends with `02`"));
    assert!(message("019%").starts_with("`019%` is not a session id"));
    assert!(message("").starts_with("`` is not a session id"));
    let long = "0192aaaaaaaaaaaa12345678";
    place.log.append(long, &started()).unwrap();
    assert_eq!(place.log.find_session("12345678").unwrap(), long);
    assert_eq!(place.log.find_session("5678").unwrap(), long);
    assert!(place.log.find_session("678").is_err());
    place.log.append("0193bbbbbbbbbbbb00005678", &started()).unwrap();
    let both = "`5678`: 0193bbbbbbbbbbbb00005678, 0192aaaaaaaaaaaa12345678";
    assert!(place.log.find_session("5678").unwrap_err().to_string().ends_with(both));
}

#[test]
fn of_many_sessions_only_some_are_named() {
    let mut place = Place::new();
    for at in 0..10 {
        place.log.append(&format!("a{at}"), &started()).unwrap();
    }
    let message = place.log.find_session("a").unwrap_err().to_string();
    assert!(message.ends_with(": a0, a1, a2, a3, a4, …"), "{message}");
}

#[test]
fn ids_are_plain_and_sort_by_age() {
    let ids: Vec<_> = (0..100).map(|_| new_session_id()).collect();
    assert!(ids.is_sorted());
    assert!(ids.iter().all(|id| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit())));
}

#[test]
fn only_the_sessions_that_are_asked_for_are_looked_at() {
    let mut place = Place::new();
    // Taken in turns.
    for session in ["a1", "a2", "a1", "a3", "a2", "a4", "a1"] {
        place.log.append(session, &started()).unwrap();
    }
    let ids = |newest| {
        let which = SessionFilter { newest, work_folder: None };
        let sessions = place.log.sessions(&which).unwrap();
        sessions.into_iter().map(|session| (session.id, session.records)).collect::<Vec<_>>()
    };
    let all = [("a4", 1), ("a3", 1), ("a2", 2), ("a1", 3)].map(|(id, n)| (id.to_owned(), n));
    assert_eq!(ids(usize::MAX), all);
    assert_eq!(ids(2), all[..2]);
    assert_eq!(ids(9), all);
    assert_eq!(place.log.newest_session().unwrap().as_deref(), Some("a4"));
    // A decision on changes, after their session.
    place.log.append("a5", &Body::Note { text: "set 1 is about to be applied".into() }).unwrap();
    assert_eq!(place.log.newest_session().unwrap().as_deref(), Some("a4"));
}

#[test]
fn a_damaged_record_costs_its_part_of_the_list_alone() {
    let place = Place::with_records();
    let damage = "UPDATE record SET body = '{' WHERE session = 's1' AND seq IN (1, 2)";
    place.tamperer().execute_batch(damage).unwrap();
    let sessions = place.log.sessions(&SessionFilter::ALL).unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!((&sessions[1].first_prompt, &sessions[1].work_folder), (&None, &None));
    assert!(sessions[0].first_prompt.is_some());
}

#[test]
fn a_clock_before_1970_gives_an_id_like_any_other() {
    use std::time::Duration;
    let year = Duration::from_hours(365 * 24);
    for time in [UNIX_EPOCH - 40 * year, UNIX_EPOCH - Duration::from_nanos(1), UNIX_EPOCH] {
        let (one, other) = (session_id_at(time), session_id_at(time));
        assert_eq!(one.len(), 32, "{one}");
        assert_ne!(one, other);
    }
}

#[test]
fn a_list_reads_no_more_than_it_shows() {
    let place = Place::with_records();
    let plan = |query: &str| -> String {
        let query = format!("EXPLAIN QUERY PLAN {query}");
        place.log.connection.query_row(&query, [1, 2], |row| row.get(3)).unwrap()
    };
    let plan = plan(FIRST_PROMPT);
    assert!(plan.contains("INDEX record_prompt (place>? AND place<?)"), "{plan}");
}

fn resumed(from: &str, question: Option<&str>) -> Body {
    let (from, question) = (from.into(), question.map(Into::into));
    let (secret, outside_text, unseen) = (false, false, false);
    let (before, at, place) = (None, None, None);
    Body::Resumed { from, before, at, question, place, secret, outside_text, unseen }
}

/// A session goes on at its question only once; another one that leaves the question does not count.
#[test]
fn a_session_that_goes_on_at_its_question_is_known() {
    let mut place = Place::with_records();
    place.log.append("s3", &started()).unwrap();
    place.log.append("s3", &resumed("s1", None)).unwrap();
    place.log.append("s4", &resumed("s2", Some("q1"))).unwrap();
    assert!(!place.log.is_continued("s1").unwrap());
    assert!(place.log.is_continued("s2").unwrap());
    assert_eq!(place.log.continued_in("s2").unwrap().as_deref(), Some("s4"));
    assert_eq!(place.log.continued_in("s4").unwrap(), None);
    let continued = |oldest: &str| place.log.continued_since(oldest).unwrap();
    assert_eq!(continued("s1"), ["s2".to_owned()].into());
    assert_eq!(continued("s4"), [].into());
    place.log.append("s5", &started()).unwrap();
    place.log.append("s5", &resumed("s1", Some("q2"))).unwrap();
    assert!(place.log.is_continued("s1").unwrap());
    assert!(!place.log.is_continued("s5").unwrap());
}

/// The clock may have been set back between the two, so that the later one has the smaller id.
#[test]
fn the_session_that_goes_on_may_have_any_id() {
    let mut place = Place::with_records();
    place.log.append("s0", &started()).unwrap();
    place.log.append("s0", &resumed("s1", Some("q1"))).unwrap();
    assert!(place.log.is_continued("s1").unwrap());
    assert!(!place.log.is_continued("s2").unwrap());
}

#[test]
fn an_unreadable_record_costs_only_the_session_that_it_names() {
    let mut place = Place::with_records();
    place.log.append("s7", &resumed("s1", Some("q1"))).unwrap();
    for damaged in [
        r#"{"v":99,"kind":"resumed","from":"s1","question":"q1"}"#,
        r#"{"v":1,"kind":"resumed","from":"s1","question":"#,
    ] {
        let change = "DROP TRIGGER IF EXISTS record_no_update;
             UPDATE record SET body = '{}' WHERE kind = 'resumed'";
        place.log.connection.execute_batch(&change.replace("{}", damaged)).unwrap();
        assert!(place.log.is_continued("s1").unwrap(), "{damaged}");
        assert!(!place.log.is_continued("s2").unwrap(), "{damaged}");
    }
}

/// As on record, and no more than a question has to have.
fn question(about: &str) -> Body {
    let json = match about {
        "code" => {
            r#"{"kind":"question","id":"q1","hash":"h","about":"code","proposal":"p1",
                "language":"python","code":"1","code_hash":"c","risk":"low","capabilities":[],
                "decision":"ask","rule":"r","may_stand":true,"may_last":false,
                "confinement":[],"edited":false}"#
        }
        _ => {
            r#"{"kind":"question","id":"q1","hash":"h","about":"host","proposal":"p1",
                "host":"example.org","port":443,"grants":[]}"#
        }
    };
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_question_about_code_that_nothing_closed_is_open_after_the_end() {
    let mut place = Place::new();
    let note = Body::Note { text: "approved by anna".into() };
    let mut open = |session: &str, bodies: &[Body]| {
        for body in bodies {
            place.log.append(session, body).unwrap();
        }
        place.log.open_question(session).unwrap().map(|open| open.id)
    };
    let is_open = Some("q1".to_owned());
    assert_eq!(open("s1", &[started(), prompt("x")]), None);
    assert_eq!(open("s1", &[question("code")]), is_open);
    assert_eq!(open("s1", &[note, Body::SessionEnded {}]), is_open);
    assert_eq!(open("s2", &[started(), question("host"), Body::SessionEnded {}]), None);
    for (session, why) in [("s3", QuestionEnd::Answered), ("s4", QuestionEnd::Ended)] {
        let closed = Body::QuestionClosed { id: "q1".into(), why };
        assert_eq!(open(session, &[started(), question("code"), closed]), None);
    }
    // So far behind its question is nothing that waits for an answer.
    let many: Vec<_> = (0..LATE).map(|_| prompt("y")).collect();
    assert_eq!(open("s5", &[vec![question("code")], many].concat()), None);
    assert_eq!(open("nobody", &[]), None);
}

#[test]
fn a_question_that_cannot_be_read_is_not_open() {
    let mut place = Place::new();
    place.log.append("s1", &question("code")).unwrap();
    let change = "DROP TRIGGER IF EXISTS record_no_update; UPDATE record SET body = '{'";
    place.log.connection.execute_batch(change).unwrap();
    assert_eq!(place.log.open_question("s1").unwrap(), None);
}

/// One damaged account must not break a list; the control is one that can be read.
#[test]
fn an_account_of_removed_sessions_that_cannot_be_read_may_name_any_before_it() {
    let mut place = Place::with_records();
    let removed = r#"{"kind":"sessions_removed","why":"asked","sessions":[
        {"session":"s2","seq":3,"hash":"h"}]}"#;
    let removed: Body = serde_json::from_str(removed).unwrap();
    place.log.append("s8", &removed).unwrap();
    assert_eq!(place.log.newest_removed("s1").unwrap().as_deref(), Some("s2"));
    assert_eq!(place.log.newest_removed("s8").unwrap(), None);
    let change = "DROP TRIGGER IF EXISTS record_no_update;
         UPDATE record SET body = '{' WHERE kind = 'sessions_removed'";
    place.log.connection.execute_batch(change).unwrap();
    assert_eq!(place.log.newest_removed("s1").unwrap().as_deref(), Some("s8"));
    assert_eq!(place.log.continued_since("s1").unwrap(), [].into());
}
