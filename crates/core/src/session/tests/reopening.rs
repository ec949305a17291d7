//! A question that was open when its session ended is asked again, once its code is known to be that.

use super::{replay::numbered, *};
use crate::{Capability, Deed, QuestionAbout, Record, Risk};

/// A session and its record, as the driver would have it.
struct Told {
    state: State,
    records: Vec<Body>,
}

impl Told {
    fn new(state: State) -> Self {
        let started = Body::SessionStarted {
            version: String::new(),
            model: None,
            confinement: Box::new(confinement()),
            opening: Some(state.setup.profile.opening.len()),
            imported: false,
            asks: None,
        };
        Self { state, records: vec![started] }
    }

    fn when(mut self, event: Event) -> Self {
        self.records.extend(self.state.bodies(&event));
        let effects = self.state.step(event);
        self.records.extend(effects.iter().filter_map(|effect| effect.body("place/model")));
        self
    }

    fn question(&self) -> RecordedQuestion {
        let question = |body: &Body| match body {
            Body::Question(question) => Some(question.clone()),
            _ => None,
        };
        self.records.iter().rev().find_map(question).unwrap()
    }

    fn answered(self, answer: GivenAnswer) -> Self {
        let event = answer_to(&self.question(), answer, Grantor::Person);
        self.when(event)
    }

    fn earlier(&self) -> Earlier {
        let records: Vec<Record> = numbered(self.records.iter().cloned());
        Earlier::of("s1", self.state.setup.clone(), &records, None).unwrap()
    }

    fn resumed(&self) -> Self {
        Self::new(State::new(self.state.setup.clone()))
            .when(Event::Resumed(Box::new(self.earlier())))
    }

    fn judged(self) -> Self {
        self.when(Event::Judged(Findings::new(vec![]).understood()))
    }
}

fn call(id: &str, code: &str) -> ToolCall {
    let arguments = serde_json::json!({ "language": "python", "code": code }).to_string();
    ToolCall { id: id.into(), name: "execute".into(), arguments: Untrusted::new(arguments) }
}

fn asked(calls: Vec<ToolCall>) -> Told {
    Told::new(Script::new(|_| {}).state)
        .when(Event::Asked("do it".into()))
        .when(Event::Replied(Reply { calls, ..Reply::default() }))
        .judged()
}

#[test]
fn the_same_question_is_open_again_and_its_yes_runs_that_code() {
    for quit in [false, true] {
        let mut before = asked(vec![call("c1", "print(1)"), call("c2", "print(2)")]);
        if quit {
            before = before.when(Event::Quit);
        }
        let after = before.resumed().judged();
        let (then, now) = (before.question(), after.question());
        assert_eq!((&then.id, &then.hash), (&now.id, &now.hash));
        assert!(after.records.iter().any(|body| {
            matches!(body, Body::Resumed { question: Some(id), .. } if *id == then.id)
        }));
        let mut after = after.answered(GivenAnswer::Run);
        let python = language::example().find("python").unwrap();
        let effects = after.state.step(prepared(python));
        let Some(Effect::Run(permit)) = effects.last() else { panic!("{effects:?}") };
        assert_eq!(permit.proposal().code().raw(), "print(1)");
        // The result goes to its call, and the code behind it comes next.
        let ran = Ran { proposal: "p1".into(), status: Some(0), ..Ran::default() };
        let effects = after.state.step(Event::Ran(ran));
        assert_eq!(
            effects.iter().map(short).filter(|one| one != "conversation").collect::<Vec<_>>(),
            ["proposal p2 python print(2)", "judge print(2)"]
        );
        let told = after.state.messages().last().unwrap();
        let crate::Message::Result { call, text, .. } = told else { panic!("{told:?}") };
        assert_eq!(call.as_deref(), Some("c1"));
        assert!(text.raw().contains("the interpreters are new"), "{text:?}");
    }
}

/// Code of a session, with these findings, which ran or was refused.
fn having(all: &[(&str, &str)], runs: bool) -> Told {
    let one = |(name, argument): &(&str, &str)| {
        Capability::new(Deed::named(name).unwrap(), *argument, 1, Risk::High)
    };
    let told = Told::new(Script::new(|_| {}).state)
        .when(Event::Asked("do it".into()))
        .when(Event::Replied(Reply { calls: vec![call("c1", "print(1)")], ..Reply::default() }))
        .when(Event::Judged(Findings::new(all.iter().map(one).collect()).understood()));
    if !runs {
        return told.answered(GivenAnswer::Reject { reason: Some("no".into()) });
    }
    let python = language::example().find("python").unwrap();
    let ran = Ran { proposal: "p1".into(), status: Some(0), ..Ran::default() };
    told.answered(GivenAnswer::Run).when(prepared(python)).when(Event::Ran(ran))
}

#[test]
fn what_earlier_code_may_have_read_is_not_sent_after_resuming_either() {
    const SECRET: (&str, &str) = ("reads", "/home/ann/.ssh/id_ed25519");
    const SENDS: (&str, &str) = ("connects", "example.org");
    let sends = |mut told: Told| {
        let call = call("c2", "print(2)");
        told = told
            .when(Event::Asked("go on".into()))
            .when(Event::Replied(Reply { calls: vec![call], ..Reply::default() }));
        let one = Capability::new(Deed::named(SENDS.0).unwrap(), SENDS.1, 1, Risk::Medium);
        told = told.when(Event::Judged(Findings::new(vec![one]).understood()));
        let verdict = |body: &Body| match body {
            Body::Verdict { decision, .. } => Some(*decision),
            _ => None,
        };
        told.records.iter().rev().find_map(verdict).unwrap()
    };
    let held = having(&[SECRET], true);
    assert_eq!(sends(held.resumed()), Opinion::Deny);
    assert_eq!(sends(held.resumed().resumed().resumed()), Opinion::Deny, "however often");
    assert_eq!(sends(having(&[SECRET], false).resumed()), Opinion::Ask, "it never ran");
    assert_eq!(sends(having(&[("reads", "a.csv")], true).resumed()), Opinion::Ask);
}

#[test]
fn it_can_be_resumed_again_and_again() {
    let first = asked(vec![call("c1", "print(1)"), call("c2", "print(2)")]);
    let first = first.answered(GivenAnswer::Edit { code: "print(3)".into() }).judged();
    let mut told = first.resumed().judged();
    for _ in 0..3 {
        assert_eq!(told.question().hash, first.question().hash);
        assert_eq!(told.question().id, first.question().id);
        let QuestionAbout::Code(question) = told.question().about else { panic!() };
        assert_eq!((question.code.raw(), question.edited), ("print(3)", true));
        told = told.resumed().judged();
    }
}

#[test]
fn another_judgement_is_another_question() {
    let before = asked(vec![call("c1", "print(1)")]);
    let mut again = before.resumed();
    again.state.setup.confinement.workspace = Workspace::Direct;
    let again = again.judged();
    assert_ne!(again.question().hash, before.question().hash);
    assert_eq!((before.question().id, again.question().id), ("q1".into(), "q2".into()));
    // A rule that allows it now does not answer what the person was asked.
    let mut allowed = before.resumed();
    allowed.state.setup.policy.user = Rules(vec![Rule::of(Opinion::Allow)]);
    let allowed = allowed.judged();
    let QuestionAbout::Code(question) = allowed.question().about else { panic!() };
    assert_eq!(question.rule, "it was asked about before");
    // One that denies it does.
    let mut denied = before.resumed();
    denied.state.setup.policy.user = Rules(vec![Rule::of(Opinion::Deny)]);
    let denied = denied.judged();
    assert!(!denied.records.iter().any(|body| matches!(body, Body::Question(_))));
}

#[test]
fn an_answered_question_is_not_asked_again() {
    let asked = || asked(vec![call("c1", "print(1)")]);
    for answer in [GivenAnswer::Run, reject(), GivenAnswer::Edit { code: "2".into() }] {
        assert_eq!(asked().answered(answer).earlier().question(), None);
    }
    assert_eq!(asked().when(Event::Interrupted).earlier().question(), None);
    assert_eq!(asked().when(Event::TimeUp(5)).earlier().question(), None);
    // Not even if the record breaks off right behind the answer.
    let mut told = asked().answered(GivenAnswer::Run);
    let at = told.records.iter().position(|body| matches!(body, Body::Answer { .. })).unwrap();
    told.records.truncate(at + 1);
    assert_eq!(told.earlier().question(), None);
}

#[test]
fn code_that_is_not_on_record_as_it_was_is_not_asked_about_again() {
    let mut told = asked(vec![call("c1", "print(1)")]);
    for body in &mut told.records {
        if let Body::Proposal { code, .. } = body {
            *code = Untrusted::new("print([secret])");
        }
    }
    assert_eq!(told.earlier().question(), None);
}

#[test]
fn a_question_that_is_refused_or_left_answers_its_call_and_ends_the_turn() {
    let before = asked(vec![call("c1", "print(1)")]);
    let mut earlier = before.earlier();
    earlier.refuse_question("it is asked elsewhere");
    assert!(earlier.begins_a_turn());
    let mut state = State::new(before.state.setup.clone());
    let effects = state.step(Event::Resumed(Box::new(earlier)));
    assert_eq!(short(effects.last().unwrap()), "finish Done");
    let mut earlier = before.earlier();
    earlier.leave_question();
    assert!(!earlier.begins_a_turn());
    let last = earlier.messages.last().unwrap();
    assert!(matches!(last, crate::Message::Result { call: Some(call), .. } if call == "c1"));
}

/// A session that was asked about the first code of this reply.
fn asked_in(text: &str, finish: Finish) -> Told {
    let text = Untrusted::new(text);
    Told::new(Script::new(|_| {}).state)
        .when(Event::Asked("do it".into()))
        .when(Event::Replied(Reply { text, finish, ..Reply::default() }))
        .judged()
}

/// The code that waits behind the question, if that is asked again.
fn waiting(told: &Told) -> Vec<String> {
    let open = told.earlier().open.unwrap();
    open.waiting.iter().map(|one| one.code().raw().to_owned()).collect()
}

#[test]
fn code_that_was_cut_off_is_none_however_often_it_is_resumed() {
    let reply = "```python\nprint(1)\n```\n```python\nprint(2)\n```\n```python\nrm(";
    let mut told = asked_in(reply, Finish::Length);
    for _ in 0..3 {
        assert_eq!(waiting(&told), ["print(2)\n"]);
        told = told.resumed().judged();
    }
    // Nor if a record does not say how the reply ended.
    for body in &mut told.records {
        if let Body::Resumed { place, .. } = body {
            *place = None;
        }
    }
    assert!(!waiting(&told).iter().any(|code| code.starts_with("rm")));
    // The end of one that was not cut off is code.
    let mut told = asked_in(reply, Finish::Stop);
    for _ in 0..3 {
        assert_eq!(waiting(&told), ["print(2)\n", "rm("]);
        told = told.resumed().judged();
    }
}

/// Runs the code that is asked about, and has the next one judged.
fn run(told: Told) -> Told {
    let QuestionAbout::Code(question) = told.question().about else { panic!() };
    let python = language::example().find("python").unwrap();
    let ran = Ran { proposal: question.proposal, status: Some(0), ..Ran::default() };
    told.answered(GivenAnswer::Run).when(prepared(python)).when(Event::Ran(ran)).judged()
}

#[test]
fn code_that_has_run_does_not_run_again_where_a_reply_repeats_it() {
    let block = |code: &str| format!("```python\n{code}\n```\n");
    let reply = [block("X"), block("Y"), block("X"), block("Z")].concat();
    // Resumed never, once and twice before each of them is answered.
    for resumes in 0..3 {
        let mut told = asked_in(&reply, Finish::Stop);
        for left in [&["Y\n", "X\n", "Z\n"][..], &["X\n", "Z\n"], &["Z\n"], &[]] {
            for _ in 0..resumes {
                assert_eq!(waiting(&told), left);
                told = told.resumed().judged();
            }
            assert_eq!(waiting(&told), left);
            if !left.is_empty() {
                told = run(told);
            }
        }
    }
}

#[test]
fn calls_that_have_run_do_not_run_again_and_an_edit_keeps_its_place() {
    let calls = ["X", "Y", "X", "Z"].iter().enumerate();
    let calls = calls.map(|(at, code)| call(&format!("c{at}"), code)).collect();
    let mut told = run(run(asked(calls))).resumed().judged();
    told = told.answered(GivenAnswer::Edit { code: "W".into() }).judged();
    for _ in 0..3 {
        let open = told.earlier().open.unwrap();
        assert_eq!((open.current.code().raw(), open.current.call.as_deref()), ("W", Some("c2")));
        assert_eq!(waiting(&told), ["Z"]);
        told = told.resumed().judged();
    }
}
