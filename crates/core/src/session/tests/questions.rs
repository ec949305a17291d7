//! Which answers count: to the question that is open, to what it shows, and once.

use super::{
    replay::{World, reply},
    replaying::past_cell,
    *,
};
use crate::{
    Capability, CodeQuestion, Deed, Extent, Grant, HostWanted, QuestionAbout, QuestionEnd, Risk,
    Span, outline::OutlineUnseen, redact::Redactor,
};
use proptest::prelude::*;

fn asking() -> Script {
    Script::new(|_| {}).asked().replied(PYTHON).judged().gives(&ASKED)
}

fn running() -> Script {
    asking().tell(GivenAnswer::Run)
}

fn host(name: &str) -> Event {
    let host = name.parse().unwrap();
    Event::HostWanted(HostWanted { proposal: "p1".into(), host, port: 443, listed: false })
}

fn input(secret: bool) -> Event {
    let prompt = Untrusted::new("Name? ");
    Event::InputWanted(InputWanted { proposal: "p1".into(), prompt, secret })
}

fn staged() -> Event {
    let files = vec![FileChange::new("out.txt", Change::Created)];
    let state = ChangesState::Staged;
    Event::Reviewed(Changes { id: "c1".into(), state, files, left_out: vec![] })
}

fn reviewing() -> Script {
    reviewed(staged()).gives(&["ask about 1"])
}

/// A session that asks about these changes.
fn reviewed(staged: Event) -> Script {
    let effects = Effects { changes: Some("c1".into()), ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    running().when(Event::Ran(ran)).replied("Done.").when(staged)
}

fn offering() -> Script {
    let setup =
        |setup: &mut Setup| setup.packages.kinds = vec![crate::packages::PackageKind::Python];
    Script::new(setup).asked().replied("```shell\npip install pandas\n```\n").judged()
}

fn confirming() -> Script {
    let cells = vec![past_cell(1, "x = 1", CellEnd::Done)];
    Script::new(|_| {})
        .when(Event::ReplayWanted(Box::new(Replay { cells })))
        .when(Event::JudgedAll(vec![Findings::new(vec![]).understood()]))
}

/// One session at each kind of question.
fn all() -> [(&'static str, Script); 6] {
    [
        ("code", asking()),
        ("input", running().when(input(false))),
        ("host", running().when(host("a.org"))),
        ("packages", offering()),
        ("replay", confirming()),
        ("changes", reviewing()),
    ]
}

/// Every answer that there is.
fn answers() -> Vec<(&'static str, GivenAnswer)> {
    [
        ("code replay", r#"{"decision":"run"}"#),
        ("code", r#"{"decision":"edit","code":"print(2)"}"#),
        ("code replay", r#"{"decision":"reject"}"#),
        ("code replay", r#"{"decision":"reject","reason":"no"}"#),
        ("code", r#"{"decision":"stand","span":"turn","covers":"all"}"#),
        ("code", r#"{"decision":"stand","span":"session","covers":"kind"}"#),
        ("", r#"{"decision":"stand","span":"always","covers":"all"}"#),
        ("input", r#"{"decision":"give","text":"Ada"}"#),
        ("input", r#"{"decision":"end"}"#),
        ("host", r#"{"decision":"allow","for":"session"}"#),
        ("host packages", r#"{"decision":"refuse"}"#),
        ("packages", r#"{"decision":"install"}"#),
        ("changes", r#"{"decision":"apply"}"#),
        ("changes", r#"{"decision":"apply","picks":[{"path":"out.txt","hunks":[1]}]}"#),
        ("", r#"{"decision":"apply","picks":[]}"#),
        ("changes", r#"{"decision":"discard"}"#),
        ("changes", r#"{"decision":"later"}"#),
    ]
    .into_iter()
    .map(|(fits, text)| (fits, serde_json::from_str(text).unwrap()))
    .collect()
}

fn given(question: &RecordedQuestion, answer: GivenAnswer) -> QuestionAnswer {
    match answer_to(question, answer, Grantor::Person) {
        Event::QuestionAnswered(given) => *given,
        other => panic!("{other:?}"),
    }
}

/// Why a question was closed, of those that a step closes.
fn closed(effects: &[Effect]) -> Vec<(String, QuestionEnd)> {
    let closed = |effect: &Effect| match effect {
        Effect::Note(Body::QuestionClosed { id, why }) => Some((id.clone(), *why)),
        _ => None,
    };
    effects.iter().filter_map(closed).collect()
}

#[test]
fn each_question_takes_its_own_answers_and_no_others() {
    for (about, script) in all() {
        let question = script.asked.last().unwrap();
        assert_eq!(question.about.word(), about);
        assert_eq!(question.hash, question.about.hash());
        for (fits, answer) in answers() {
            let words = format!("{about}: {answer:?}");
            let checked = script.state.check_answer(&given(question, answer));
            let expected = fits.split(' ').any(|one| one == about);
            assert_eq!(checked.is_ok(), expected, "{words} {checked:?}");
        }
    }
}

#[test]
fn an_answer_that_does_not_fit_changes_nothing() {
    for (about, _) in all() {
        for (at, (fits, _)) in answers().into_iter().enumerate() {
            if fits.split(' ').any(|one| one == about) {
                continue;
            }
            let (_, script) = all().into_iter().find(|(one, _)| *one == about).unwrap();
            let answer = answers().swap_remove(at).1;
            let event = answer_to(script.asked.last().unwrap(), answer, Grantor::Person);
            let before: Vec<_> = script.state.open_questions().map(str::to_owned).collect();
            assert_eq!(script.state.bodies(&event), []);
            let script = script.when(event).gives(&[]);
            assert!(script.state.open_questions().eq(before), "{about}");
        }
    }
}

#[test]
fn an_answer_to_another_question_or_to_something_else_says_why_it_does_not_count() {
    let script = asking();
    let question = script.asked.last().unwrap().clone();
    let refused = |id: &str, hash: &str| {
        let other = RecordedQuestion { id: id.into(), hash: hash.into(), ..question.clone() };
        script.state.check_answer(&given(&other, GivenAnswer::Run)).unwrap_err()
    };
    assert_eq!(refused("q7", &question.hash).to_string(), "there is no question q7; open: q1");
    let other = refused("q1", &"0".repeat(64));
    assert_eq!(other, AnswerRefused::AnotherHash { id: "q1".into() });
}

#[test]
fn a_second_answer_learns_who_gave_the_first() {
    let mut script = asking();
    let question = script.asked.last().unwrap().clone();
    let first = QuestionAnswer { who: Some("anna".into()), ..given(&question, reject()) };
    let effects = script.state.step(Event::QuestionAnswered(Box::new(first)));
    assert_eq!(closed(&effects), [("q1".to_owned(), QuestionEnd::Answered)]);
    let refused = script.state.check_answer(&given(&question, GivenAnswer::Run)).unwrap_err();
    assert_eq!(refused.to_string(), "question q1 is not open any more: it was answered, by anna");
    script.tell(GivenAnswer::Run).gives(&[]);
}

#[test]
fn whatever_ends_it_closes_a_question_and_the_record_says_why() {
    for (event, why) in
        [(0, QuestionEnd::Interrupted), (1, QuestionEnd::TimedOut), (2, QuestionEnd::Ended)]
    {
        for (about, mut script) in all() {
            // Whoever decides on changes has all the time they want.
            if about == "changes" && event == 1 {
                continue;
            }
            let question = script.asked.last().unwrap().clone();
            let effects = script.state.step(match event {
                0 => Event::Interrupted,
                1 => Event::TimeUp(5),
                _ => Event::Quit,
            });
            assert_eq!(closed(&effects), [(question.id.clone(), why)], "{about}");
            let first = effects.iter().map(short).find(|one| one != "conversation");
            assert_eq!(first.as_deref(), Some("question_closed"), "{about}");
            assert_eq!(script.state.open_questions().count(), 0);
            for (_, answer) in answers() {
                assert!(script.state.check_answer(&given(&question, answer)).is_err());
            }
        }
    }
}

#[test]
fn the_end_of_a_server_leaves_a_question_about_code_open_on_record_and_no_other() {
    for (about, mut script) in all() {
        let question = script.asked.last().unwrap().clone();
        let effects = script.state.step(Event::ServerEnds);
        let left =
            if about == "code" { vec![] } else { vec![(question.id.clone(), QuestionEnd::Ended)] };
        assert_eq!(closed(&effects), left, "{about}");
        assert!(effects.iter().any(|effect| matches!(effect, Effect::End)), "{about}");
        for (_, answer) in answers() {
            assert!(script.state.check_answer(&given(&question, answer)).is_err());
        }
    }
}

#[test]
fn a_run_that_is_over_wants_no_input() {
    let mut script = running().when(input(false));
    let ran = Ran { proposal: "p1".into(), status: Some(0), ..Ran::default() };
    let effects = script.state.step(Event::Ran(ran));
    assert_eq!(closed(&effects), [("q2".to_owned(), QuestionEnd::Over)]);
}

#[test]
fn edited_code_is_another_question() {
    let script = asking();
    let first = script.asked.last().unwrap().clone();
    let script = script.tell(GivenAnswer::Edit { code: "print(1)\n".into() }).judged();
    let second = script.asked.last().unwrap().clone();
    assert_ne!((&first.id, &first.hash), (&second.id, &second.hash));
    let QuestionAbout::Code(question) = &second.about else { panic!("{second:?}") };
    assert!(question.edited);
    // A yes to the code before the edit is late, and one to the id of now has another hash.
    let mixed = RecordedQuestion { hash: first.hash.clone(), ..second.clone() };
    for question in [first, mixed] {
        assert!(script.state.check_answer(&given(&question, GivenAnswer::Run)).is_err());
    }
    script.tell(GivenAnswer::Run).gives(&["run p1 by Person"]);
}

#[test]
fn only_the_person_says_yes_and_a_flag_settles_changes() {
    for (about, script) in all() {
        let question = script.asked.last().unwrap();
        for (fits, _) in answers().into_iter().filter(|(fits, _)| fits.contains(about)) {
            for by in [Grantor::Nobody, Grantor::Rule, Grantor::Standing, Grantor::Mode] {
                for (_, answer) in answers().into_iter().filter(|(one, _)| *one == fits) {
                    let is_no = matches!(
                        answer,
                        GivenAnswer::Reject { .. }
                            | GivenAnswer::End
                            | GivenAnswer::Refuse
                            | GivenAnswer::Later
                    );
                    let words = format!("{about} {answer:?} {by:?}");
                    let given = QuestionAnswer { by, ..given(question, answer) };
                    let counts = script.state.check_answer(&given).is_ok();
                    assert!(!counts || (is_no && by == Grantor::Nobody), "{words}");
                }
            }
        }
    }
    let apply = GivenAnswer::Apply { picks: None, seen: None };
    reviewing().tell_by(apply, Grantor::Flag).gives(&["apply all"]);
    asking().tell_by(GivenAnswer::Run, Grantor::Flag).gives(&[]);
}

/// A session that asks about sixty files in two folders, and the hash of their outline.
fn asking_about_many() -> (Script, String) {
    let paths = (0..60).map(|n| format!("{}/{n}.csv", if n < 55 { 'a' } else { 'b' }));
    let files: Vec<_> = paths.map(|path| FileChange::new(path, Change::Created)).collect();
    let state = ChangesState::Staged;
    let changes = Changes { id: "c1".into(), state, files, left_out: vec![] };
    let script = reviewed(Event::Reviewed(changes)).gives(&["ask about 60"]);
    let QuestionAbout::Changes { outline: Some(outline), .. } = &script.asked.last().unwrap().about
    else {
        panic!("{:?}", script.asked)
    };
    let hash = outline.hash.clone();
    (script, hash)
}

#[test]
fn many_changes_are_applied_only_by_an_answer_that_names_their_outline() {
    let (script, hash) = asking_about_many();
    let question = script.asked.last().unwrap().clone();
    let apply = |picks: Option<Vec<Pick>>, seen: Option<&str>| GivenAnswer::Apply {
        picks,
        seen: seen.map(str::to_owned),
    };
    let pick = |n| Pick { path: format!("a/{n}.csv"), extent: Extent::Itself };
    for by in [Grantor::Person, Grantor::Flag] {
        let judged = |answer| {
            let given = QuestionAnswer { by, ..given(&question, answer) };
            script.state.check_answer(&given)
        };
        let many: Vec<_> = (0..51).map(pick).collect();
        for picks in [None, Some(many.clone()), Some(vec![Pick::below("a")])] {
            let unseen = Err(AnswerRefused::OutlineUnseen(OutlineUnseen::NotNamed));
            assert_eq!(judged(apply(picks.clone(), None)), unseen, "{picks:?}");
            for wrong in ["", &question.hash] {
                let another = Err(AnswerRefused::OutlineUnseen(OutlineUnseen::Another));
                assert_eq!(judged(apply(picks.clone(), Some(wrong))), another, "{picks:?}");
            }
            assert_eq!(judged(apply(picks, Some(&hash))), Ok(AnswerTaken::Decides));
        }
        let few = apply(Some(many[..50].to_vec()), None);
        assert_eq!(judged(few), Ok(AnswerTaken::Decides));
        for other in [GivenAnswer::Discard, GivenAnswer::Later] {
            assert_eq!(judged(other), Ok(AnswerTaken::Decides));
        }
    }
    // A refused answer changes nothing: the question stays open, and the next answer counts.
    script.tell(apply(None, None)).gives(&[]).tell(apply(None, Some(&hash))).gives(&["apply all"]);
}

#[test]
fn several_hosts_can_be_asked_about_at_once() {
    let script = running().when(host("a.org")).when(input(false)).when(host("b.org"));
    let ids: Vec<_> = script.state.open_questions().collect();
    assert_eq!(ids, ["q2", "q3", "q4"]);
    let [_, a, _, b] = &script.asked[..] else { panic!("{:?}", script.asked) };
    let (a, b) = (a.clone(), b.clone());
    let script = script
        .when(answer_to(&b, GivenAnswer::Allow { span: Grant::Once }, Grantor::Person))
        .gives(&["answer b.org:443 Some(Once)"]);
    let script = script
        .when(answer_to(&a, GivenAnswer::Refuse, Grantor::Person))
        .gives(&["answer a.org:443 None"]);
    assert!(script.state.open_questions().eq(["q3"]));
}

#[test]
fn an_unanswered_host_is_refused_when_it_is_interrupted_or_other_code_runs() {
    running().when(host("a.org")).when(Event::Interrupted).gives(&[
        "host_refused",
        "answer a.org:443 None",
        "interrupt",
    ]);
    let script = running().when(host("a.org")).ran(0).replied(PYTHON).judged();
    let script = script.gives(&["findings", "verdict Ask", "ask p2"]);
    script.tell(GivenAnswer::Run).gives(&[
        "host_refused",
        "answer a.org:443 None",
        "run p2 by Person",
    ]);
}

#[test]
fn the_hash_is_that_of_the_record_without_secrets() {
    let secret = crate::Secret::new("tok-3f9a-77c1-xyzzy".into());
    let redactor = std::sync::Arc::new(Redactor::default().knowing([("TOKEN", &secret)]));
    let script = Script::new(|setup| setup.redactor = redactor.clone())
        .asked()
        .replied("```python\nprint('tok-3f9a-77c1-xyzzy')\n```\n")
        .judged();
    let question = script.asked.last().unwrap();
    let body = redactor.body(Body::Question(question.clone()));
    assert_eq!(body, Body::Question(question.clone()), "the journal changes nothing more");
    let text = serde_json::to_string(&body).unwrap();
    assert!(!text.contains("xyzzy"), "{text}");
    assert_eq!(question.hash, question.about.hash());
    script.tell(GivenAnswer::Run).gives(&["run p1 by Person"]);
}

#[test]
fn unknown_names_in_an_answer_are_refused() {
    for text in [
        r#"{"decision":"edit","code":"1","cod":"2"}"#,
        r#"{"decision":"allow","for":"ever"}"#,
        r#"{"decision":"stand","span":"turn","covers":{"language":"python"}}"#,
        r#"{"decision":"apply","picks":[{"path":"a","hunks":[]}]}"#,
        r#"{"decision":"apply","picks":[{"path":"a","hunks":[0]}]}"#,
        r#"{"decision":"yes"}"#,
    ] {
        assert!(serde_json::from_str::<GivenAnswer>(text).is_err(), "{text}");
    }
}

proptest! {
    /// Whoever answers whatever in any order: each question is answered at most once, and each that
    /// was put is open or closed.
    #[test]
    fn of_any_answers_at_most_one_counts_for_each_question(
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), any::<bool>()), 1..80),
    ) {
        let mut world = World::new(None, false, Approval::AsRulesSay);
        for (choice, which, stale) in steps {
            let questions = world_questions(&world.records);
            let event = if which.is_multiple_of(3) && !questions.is_empty() {
                let mut question = questions[usize::from(which / 3) % questions.len()].clone();
                if stale {
                    question.hash = "0".repeat(64);
                }
                let mut all = answers();
                let answer = all.swap_remove(usize::from(choice) % all.len()).1;
                answer_to(&question, answer, Grantor::Person)
            } else if world.open.is_empty() && which % 3 == 1 {
                reply(choice)
            } else {
                world.next(choice)
            };
            world.happens(event);
            let mut answered: Vec<_> = world.records.iter().filter_map(|body| match body {
                Body::QuestionClosed { id, why: QuestionEnd::Answered } => Some(id),
                _ => None,
            }).collect();
            let count = answered.len();
            answered.sort();
            answered.dedup();
            prop_assert_eq!(answered.len(), count);
        }
        let questions = world_questions(&world.records);
        let closed = world.records.iter().filter(|body| matches!(body, Body::QuestionClosed { .. }));
        prop_assert_eq!(closed.count() + world.state.open_questions().count(), questions.len());
    }
}

/// The questions on record.
fn world_questions(records: &[Body]) -> Vec<RecordedQuestion> {
    let question = |body: &Body| match body {
        Body::Question(question) => Some(question.clone()),
        _ => None,
    };
    records.iter().filter_map(question).collect()
}

#[test]
fn a_question_shows_all_that_an_answer_to_it_may_cover() {
    let found = |all: &[(&str, &str, Risk)]| {
        let one = |&(name, argument, risk): &(&str, &str, Risk)| {
            Capability::new(Deed::named(name).unwrap(), argument, 1, risk)
        };
        Event::Judged(Findings::new(all.iter().map(one).collect()).understood())
    };
    let asked = |all: &[_]| {
        let script = Script::new(|_| {}).asked().replied(PYTHON).when(found(all));
        let question = script.asked.last().unwrap().clone();
        let QuestionAbout::Code(code) = question.about.clone() else { panic!() };
        (script, question, *code)
    };
    let all = [("writes", "a.csv", Risk::Medium), ("starts", "ls", Risk::Medium)];
    let (script, question, code) = asked(&all);
    let kind = code.code_kind.clone().unwrap();
    assert_eq!((kind.does, kind.starts), (vec!["writes".into()], vec![Untrusted::new("ls")]));
    let rule = code.lasting_rule.clone().unwrap();
    // Both are what the answer then is.
    let mut state = script.state;
    let answer = GivenAnswer::Stand { span: Span::Always, covers: Covered::Kind };
    let effects = state.step(answer_to(&question, answer, Grantor::Person));
    let given = effects.iter().find_map(|effect| match effect {
        Effect::Note(Body::StandingGiven(given)) => Some(given.covers.words()),
        _ => None,
    });
    assert_eq!(given.as_deref(), Some(kind.words.raw()));
    let kept = effects.iter().find_map(|effect| match effect {
        Effect::KeepRule(rule) => Some(rule.words()),
        _ => None,
    });
    assert_eq!(kept.as_deref(), Some(rule.raw()));
    // Both are under the hash.
    for less in [
        CodeQuestion { code_kind: None, ..code.clone() },
        CodeQuestion { lasting_rule: None, ..code },
    ] {
        assert_ne!(QuestionAbout::Code(Box::new(less)).hash(), question.hash);
    }
    // A yes that covers nothing else, and one that cannot last, show none.
    let (_, _, code) = asked(&[("deletes", "data", Risk::High)]);
    assert_eq!((code.may_stand, code.code_kind, code.lasting_rule), (false, None, None));
    let (_, _, code) = asked(&[("starts", "", Risk::Medium)]);
    assert!(code.may_stand && !code.may_last && code.code_kind.is_some());
    assert_eq!(code.lasting_rule, None);
}
