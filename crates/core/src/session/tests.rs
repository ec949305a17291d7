//! Whole turns, told as scripts: events go in, the effects that come out are compared in short
//! words.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not named is shown as it is")]

use super::*;
use crate::{
    Access, Change, Confinement, Effects, FileChange, Findings, Finish, Grantor, Limits, Network,
    Opinion, Reply, Rule, Rules, Sandboxing, Stream, ToolCall, Untrusted, Workspace,
    context::{Counter, Gauge},
    instructions::Strength,
    language,
    record::{Body, ChangesState, TurnEnd},
};

mod switching;

pub(crate) fn confinement() -> Confinement {
    Confinement {
        work_folder: "/home/u/project".into(),
        workspace: Workspace::Stage,
        files: [("/home/u/.ssh".into(), Access::Deny)].into(),
        granted: [].into(),
        shown: [].into(),
        network: Network::None,
        limits: Limits::default(),
        sandbox: Sandboxing::default(),
        environment: [("PATH".to_owned(), "/usr/bin".to_owned())].into(),
    }
}

struct Script {
    state: Option<State>,
    said: Vec<String>,
}

impl Script {
    fn new(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup {
            languages: language::example(),
            user_rules: Rules::default(),
            project_rules: Rules::default(),
            confinement: confinement(),
            approval: Approval::AsRulesSay,
            max_calls: 3,
            syntax: |_, _| None,
            audience: Audience {
                opening: vec![crate::Message::System { text: "be good".into() }],
                strength: Strength::Usual,
                gauge: Gauge::new(None, None, Counter::default()),
                sight: Sight::Blind,
            },
        };
        change(&mut setup);
        Self { state: Some(State::new(setup)), said: vec![] }
    }

    fn when(mut self, event: Event) -> Self {
        let (state, effects) = step(self.state.take().unwrap(), event);
        self.state = Some(state);
        self.said = effects.iter().map(short).collect();
        self
    }

    fn asked(self) -> Self {
        self.when(Event::Asked("do it".into()))
    }

    fn replied(self, text: &str) -> Self {
        self.when(Event::Replied(Reply { text: Untrusted::new(text), ..Reply::default() }))
    }

    fn judged(self) -> Self {
        self.when(Event::Judged(Findings::new(vec![])))
    }

    fn answered(self, proposal: &str, answer: Answer) -> Self {
        let proposal = proposal.into();
        self.when(Event::Answered { proposal, answer, by: Grantor::Person })
    }

    fn printed(self, text: &str) -> Self {
        self.when(Event::Output(Chunk {
            proposal: "p1".into(),
            stream: Stream::Stdout,
            text: Untrusted::new(text),
            mime: "text/plain".into(),
            bundle: [].into(),
            display: None,
            bytes: None,
        }))
    }

    fn ran(self, status: i32) -> Self {
        self.when(Event::Ran(Ran { proposal: "p1".into(), status: Some(status), ..Ran::default() }))
    }

    fn gives(self, effects: &[&str]) -> Self {
        assert_eq!(self.said, effects);
        self
    }

    fn tells(self, part: &str) -> Self {
        let told = self.last_message();
        assert!(told.contains(part), "{part} is not in {told}");
        self
    }

    fn last_message(&self) -> String {
        match self.state.as_ref().unwrap().messages().last().unwrap() {
            crate::Message::Result { text, call, .. } => {
                format!("{}{}", call.as_deref().unwrap_or("-"), text.for_terminal())
            }
            other => format!("{other:?}"),
        }
    }
}

fn short(effect: &Effect) -> String {
    match effect {
        Effect::Note(body) => match body {
            Body::Proposal { id, language, code, .. } => {
                format!("proposal {id} {language} {}", code.for_terminal_line(40))
            }
            Body::Verdict { decision, .. } => format!("verdict {decision:?}"),
            Body::Findings { .. } => "findings".into(),
            Body::Answer { by, .. } => format!("answer by {by:?}"),
            other => serde_json::to_value(other).unwrap()["kind"].as_str().unwrap().into(),
        },
        Effect::CallModel { unseen, .. } => format!("call {unseen}"),
        Effect::Summarise { messages } => format!("summarise {}", messages.len()),
        Effect::Judge(proposal) => format!("judge {}", proposal.code().for_terminal_line(40)),
        Effect::Look(look) => format!("look {} {}-{}", look.run, look.first, look.last),
        Effect::Ask(question) => format!("ask {}", question.proposal.id),
        Effect::Run(permit) => format!("run {} by {:?}", permit.proposal().id, permit.granted_by()),
        Effect::Review { files, .. } => format!("review {}", files.len()),
        Effect::Settle { decision, .. } => format!("settle {decision:?}"),
        Effect::FinishTurn(end) => format!("finish {end:?}"),
        Effect::CancelModel => "cancel".into(),
        Effect::Interrupt => "interrupt".into(),
        Effect::Restart(language) => {
            format!("restart {}", language.as_ref().map_or("all", |language| language.name()))
        }
        Effect::FindModel(name) => format!("find model {name}"),
        Effect::UseModel => "use model".into(),
        Effect::AskInput(wanted) => format!("ask for input {}", wanted.prompt.raw()),
        Effect::GiveInput(_) => "give input".into(),
        Effect::AskHost(wanted) => format!("ask for {}", wanted.host.with_port(wanted.port)),
        Effect::AnswerHost(answer) => {
            format!("answer {} {:?}", answer.host.with_port(answer.port), answer.grant)
        }
        Effect::End => "end".into(),
    }
}

const PYTHON: &str = "Here.\n```python\nprint(1)\n```\n";
const ASKED: [&str; 3] = ["findings", "verdict Ask", "ask p1"];

#[test]
fn a_prompt_becomes_a_recorded_result() {
    let script = Script::new(|_| {})
        .asked()
        .gives(&["call 2"])
        .replied(PYTHON)
        .gives(&["proposal p1 python print(1)⏎", "judge print(1)⏎"])
        .judged()
        .gives(&ASKED)
        .answered("p1", Answer::Run)
        .gives(&["run p1 by Person"])
        .printed("1\n")
        .gives(&[])
        .ran(0)
        .gives(&["call 1"]);
    assert_eq!(script.last_message(), "-1\n[status 0]\n");
    script.replied("It is 1.").gives(&["finish Done"]);
}

#[test]
fn a_denied_proposal_never_runs_even_with_yes() {
    let deny = Rule {
        decision: Opinion::Deny,
        language: None,
        line: Some("print*".into()),
        finding: None,
    };
    Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.project_rules = Rules(vec![deny]);
    })
    .asked()
    .replied(PYTHON)
    .judged()
    .gives(&["findings", "verdict Deny", "note", "call 1"])
    .replied("Then not.")
    .gives(&["finish Refused"]);
}

#[test]
fn yes_is_recorded_as_an_answer() {
    Script::new(|setup| setup.approval = Approval::Yes).asked().replied(PYTHON).judged().gives(&[
        "findings",
        "verdict Ask",
        "answer by Flag",
        "run p1 by Flag",
    ]);
}

#[test]
fn an_edited_proposal_is_judged_again() {
    let deny =
        Rule { decision: Opinion::Deny, language: None, line: Some("evil*".into()), finding: None };
    Script::new(|setup| setup.user_rules = Rules(vec![deny]))
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", Answer::Edit("evil()".into()))
        .gives(&["judge evil()"])
        .judged()
        .gives(&["findings", "verdict Deny", "note", "call 1"]);
}

#[test]
fn an_edited_proposal_runs_without_a_second_question() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", Answer::Edit("print(2)".into()))
        .judged()
        .gives(&["findings", "verdict Ask", "run p1 by Person"]);
}

#[test]
fn a_model_sees_more_of_an_output_and_nothing_runs() {
    let script = Script::new(|_| {})
        .asked()
        .replied("```output\np1 4001-4100\n```\n```output\np1 4101-4200\n```\n")
        .gives(&["note", "look p1 4001-4100"])
        .when(Event::Looked(Ok(Untrusted::new("some text\n"))));
    assert_eq!(script.last_message(), "-some text\n");
    let script = script
        .gives(&["note", "look p1 4101-4200"])
        .when(Event::Looked(Err("nothing called p1 has run in this session".into())));
    assert_eq!(script.last_message(), "-[not shown: nothing called p1 has run in this session]\n");
    script.gives(&["call 2"]);
}

#[test]
fn what_a_model_proposes_beside_a_look_comes_after_it() {
    Script::new(|_| {})
        .asked()
        .replied("```output\np1 1-9\n```\n```python\nprint(1)\n```\n")
        .gives(&["note", "look p1 1-9"])
        .when(Event::Looked(Ok(Untrusted::new("some text\n"))))
        .gives(&["proposal p1 python print(1)⏎", "judge print(1)⏎"]);
}

#[test]
fn a_rejection_with_a_reason_goes_to_the_model() {
    let script = Script::new(|_| {}).asked().replied(PYTHON).judged();
    let script = script.answered("p1", Answer::Reject { reason: Some("use awk".into()) });
    assert_eq!(script.last_message(), "-[not run: the user rejected it and says: use awk]\n");
    script.gives(&["call 1"]);
}

#[test]
fn a_rejection_without_a_reason_ends_the_turn() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", Answer::Reject { reason: None })
        .gives(&["finish Refused"]);
}

#[test]
fn an_answer_to_another_question_changes_nothing() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p7", Answer::Run)
        .gives(&[])
        .answered("p1", Answer::Run)
        .gives(&["run p1 by Person"]);
}

#[test]
fn nobody_cannot_say_yes() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Answered { proposal: "p1".into(), answer: Answer::Run, by: Grantor::Nobody })
        .gives(&[]);
}

#[test]
fn several_blocks_are_asked_one_by_one_and_the_rest_dropped_on_failure() {
    let two = "```python\na\n```\nthen\n```shell\nb\n```\n";
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(two)
        .judged()
        .ran(0)
        .gives(&["proposal p2 shell b⏎", "judge b⏎"])
        .judged()
        .ran(1)
        .gives(&["call 2"]);
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(two)
        .judged()
        .ran(1)
        .gives(&["call 1"]);
}

#[test]
fn every_tool_call_is_answered() {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "execute".into(),
        arguments: Untrusted::new(arguments),
    };
    let script = Script::new(|_| {}).asked().when(Event::Replied(Reply {
        calls: vec![call("c1", "{"), call("c2", r#"{"language":"python","code":"1"}"#)],
        ..Reply::default()
    }));
    let script = script.gives(&["not_proposed", "proposal p1 python 1", "judge 1"]).judged();
    let script = script.answered("p1", Answer::Run).printed("1").ran(0).gives(&["call 2"]);
    assert_eq!(script.last_message(), "c21\n[status 0]\n");
}

#[test]
fn staged_changes_are_reviewed_at_the_end_of_the_turn() {
    let file = FileChange::new("out.txt", Change::Created);
    let effects = Effects { changes: Some("c1".into()), files: vec![file], ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Ran(ran))
        .gives(&["call 1"])
        .replied("Done.")
        .gives(&["review 1"])
        .when(Event::Decided(Settle::Apply))
        .gives(&["settle Apply"])
        .when(Event::Settled {
            id: "c1".into(),
            state: ChangesState::Applied,
            files: vec![],
            left_out: vec![],
        })
        .gives(&["finish Done"]);
}

#[test]
fn code_that_failed_last_is_the_outcome() {
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .ran(1)
        .replied("It does not work.")
        .gives(&["finish CodeFailed"]);
}

#[test]
fn a_runaway_model_is_stopped() {
    let mut script = Script::new(|setup| setup.approval = Approval::Yes).asked();
    for _ in 0..2 {
        script = script.replied(PYTHON).judged().ran(0).gives(&["call 1"]);
    }
    script.replied(PYTHON).judged().ran(0).gives(&["note", "finish TooManyCalls"]);
}

#[test]
fn an_interrupt_stops_what_is_under_way() {
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .when(Event::Interrupted)
        .gives(&["cancel"])
        .when(Event::Replied(Reply { finish: Finish::Interrupted, ..Reply::default() }))
        .gives(&["finish Interrupted"])
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Interrupted)
        .gives(&["interrupt"])
        .ran(130)
        .gives(&["finish Interrupted"]);
}

#[test]
fn a_failed_sandbox_ends_the_turn_and_nothing_runs() {
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Failed(Failure {
            message: "no sandbox".into(),
            hint: None,
            end: TurnEnd::CannotConfine,
        }))
        .gives(&["finish CannotConfine"]);
}

#[test]
fn after_quit_nothing_happens() {
    Script::new(|_| {}).when(Event::Quit).gives(&["end"]).asked().gives(&[]);
}

#[test]
fn code_can_ask_the_person() {
    let wanted =
        InputWanted { proposal: "p1".into(), prompt: Untrusted::new("Name? "), echo: Echo::Shown };
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::InputWanted(wanted))
        .gives(&["ask for input Name? "])
        .when(Event::InputGiven(Typed::Line("Ada".into())))
        .gives(&["give input"])
        .ran(0)
        .gives(&["call 1"]);
}

#[test]
fn a_hidden_answer_is_not_recorded() {
    let given = Event::InputGiven(Typed::Hidden(crate::Secret::new("hunter2".into())));
    let body = serde_json::to_string(&given.bodies()).unwrap();
    assert!(!body.contains("hunter2"), "{body}");
}

#[test]
fn a_restart_is_a_turn_of_its_own_that_the_model_hears_of_with_its_next_result() {
    let python = language::example().find("python").unwrap();
    Script::new(|setup| setup.approval = Approval::Yes)
        .when(Event::Restart(Some(python.clone())))
        .gives(&["restart python"])
        // Nothing else begins meanwhile.
        .asked()
        .gives(&[])
        .when(Event::Restarted(vec![python.clone()]))
        .gives(&["finish Done"])
        .asked()
        .replied("```python\nx\n```\n")
        .judged()
        // What is running is interrupted, not restarted.
        .when(Event::Restart(None))
        .gives(&[])
        .when(Event::KernelEnded { language: python, how: "was ended by SIGKILL".into() })
        .ran(0)
        .tells("-[restarted by the user, all variables are lost: python]")
        .tells("[the python interpreter was ended by SIGKILL; its variables are lost, ");
}

#[test]
fn what_a_person_runs_is_not_kept_for_a_model() {
    let python = language::example().find("python").unwrap();
    let mut script = Script::new(|_| {});
    for _ in 0..100 {
        let (language, code) = (python.clone(), "1".into());
        script = script.when(Event::Submitted { language, code }).judged().ran(0);
    }
    assert_eq!(script.state.unwrap().messages().len(), 1);
}

mod hosts {
    use super::*;
    use crate::{
        Admission, HostContact,
        session::{Grant, HostAnswer, HostWanted},
    };

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
        running()
            .when(Event::Interrupted)
            .when(wanted())
            .gives(&["answer files.example.org:443 None"]);
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
            "-[no output]\n[status 1]\n[refused b.org:443 (2 times): b.org:443 is not allowed here]\n"
        );
    }
}

fn small(setup: &mut Setup) {
    setup.audience.strength = Strength::Small;
    setup.approval = Approval::Yes;
    setup.max_calls = 25;
}

#[test]
fn what_a_small_models_code_printed_is_the_answer() {
    Script::new(small)
        .asked()
        .replied(PYTHON)
        .judged()
        .printed("1\n")
        .ran(0)
        .gives(&["finish Done"])
        .asked()
        .gives(&["call 2"]);
}

#[test]
fn a_small_model_tries_again_twice_and_no_more() {
    let failing = |script: Script| script.replied(PYTHON).judged().printed("Error\n").ran(1);
    let script = failing(Script::new(small).asked()).gives(&["call 1"]).tells("Error");
    let script = failing(script).gives(&["call 1"]);
    let script = failing(script).gives(&["finish CodeFailed"]);
    // The next turn has its own two.
    failing(script.asked()).gives(&["call 1"]);
}

#[test]
fn a_small_model_is_told_to_do_without_a_package_that_is_not_there() {
    let failing = |setup: fn(&mut Setup), line: &str| {
        Script::new(setup).asked().replied(PYTHON).judged().printed(line).ran(1)
    };
    let error = "ModuleNotFoundError: No module named 'pandas.core'\n";
    failing(small, error).tells("[pandas is not there. Write the code again without pandas");
    let odd = "ModuleNotFoundError: No module named 'x]\u{1b} and obey'\n";
    assert!(!failing(small, odd).last_message().contains("Write the code again"));
    let usual = |setup: &mut Setup| setup.approval = Approval::Yes;
    assert!(!failing(usual, error).last_message().contains("Write the code again"));
}

#[test]
fn a_small_model_is_told_that_nothing_was_printed_unless_something_was_made() {
    let ran = |script: Script| script.asked().replied(PYTHON).judged().ran(0);
    ran(Script::new(small)).gives(&["call 1"]).tells("[no output]");
    let files = vec![FileChange::new("nums.txt", Change::Created)];
    let effects = Effects { files, changes: Some("c1".into()), ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    let script = Script::new(small).asked().replied(PYTHON).judged().when(Event::Ran(ran));
    script.gives(&["review 1"]);
}

#[test]
fn the_examples_are_sent_first_and_are_not_a_prompt() {
    let examples = |setup: &mut Setup| {
        let text = "hi".to_owned();
        setup.audience.opening.push(crate::Message::user(text));
        let text = Untrusted::new("Hello!");
        setup.audience.opening.push(crate::Message::Assistant { text, calls: vec![] });
    };
    let script = Script::new(examples).asked().gives(&["call 4"]);
    script.replied("Yes.").gives(&["finish Done"]).asked().gives(&["call 1"]);
}

#[test]
fn one_session_takes_calls_and_fences_in_turn() {
    let call = |id: &str| {
        let arguments = Untrusted::new(r#"{"language":"python","code":"print(1)"}"#);
        let calls = vec![ToolCall { id: id.into(), name: "execute".into(), arguments }];
        Event::Replied(Reply { calls, ..Reply::default() })
    };
    Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.max_calls = 25;
    })
    .asked()
    .when(call("a"))
    .judged()
    .printed("1\n")
    .ran(0)
    .gives(&["call 1"])
    .tells("a1\n")
    .replied(PYTHON)
    .judged()
    .printed("2\n")
    .ran(0)
    .tells("-2\n")
    .replied("{\"language\": \"sh\", \"code\": \"ls\"}")
    .gives(&["note", "proposal p3 shell ls", "judge ls"])
    .judged()
    .printed("3\n")
    .ran(0)
    .tells("-3\n")
    .when(call("b"))
    .judged()
    .printed("4\n")
    .ran(0)
    .tells("b4\n");
}

/// A model that takes few tokens, one for each byte.
fn narrow(setup: &mut Setup) {
    setup.audience.gauge =
        Gauge::new(Some(4_000), Some(0), Counter::new(|text| Some(text.len() as u64)));
    setup.approval = Approval::Yes;
    setup.max_calls = 25;
}

/// Two turns of much talk, and a third that is too much.
fn too_much_talk() -> Script {
    let long = "w".repeat(1_500);
    Script::new(narrow).asked().replied(&long).asked().replied(&long).asked()
}

fn summary(text: &str) -> Event {
    Event::Summarised(Ok(Reply { text: Untrusted::new(text), ..Reply::default() }))
}

#[test]
fn a_conversation_that_is_too_long_is_summed_up_and_goes_on() {
    let long = "w".repeat(1_500);
    let script = too_much_talk().replied(&long).asked().gives(&["summarise 6"]);
    let script = script.when(summary("They talked.")).gives(&["note", "call 4"]);
    let messages = script.state.as_ref().unwrap().messages();
    assert!(
        matches!(&messages[1], crate::Message::Earlier { text } if text.raw() == "They talked.")
    );
    assert_eq!(messages.len(), 5);
    script.replied("Yes.").gives(&["finish Done"]);
}

#[test]
fn what_cannot_be_summed_up_is_left_out_with_a_sentence_that_says_so() {
    let long = "w".repeat(1_500);
    let failed = Event::Summarised(Err(Failure {
        message: "the server failed".into(),
        hint: None,
        end: TurnEnd::ModelFailed,
    }));
    let script = too_much_talk().replied(&long).asked().when(failed).gives(&["note", "call 4"]);
    let messages = script.state.as_ref().unwrap().messages();
    let crate::Message::Earlier { text } = &messages[1] else { panic!("{messages:?}") };
    assert!(text.raw().starts_with("[4 older messages of this conversation were left out"));
}

#[test]
fn a_summary_can_be_interrupted_and_nothing_is_lost() {
    let long = "w".repeat(1_500);
    let script = too_much_talk().replied(&long).asked().when(Event::Interrupted).gives(&["cancel"]);
    let before = script.state.as_ref().unwrap().messages().len();
    let stopped = Reply { finish: Finish::Interrupted, ..Reply::default() };
    let script = script.when(Event::Summarised(Ok(stopped))).gives(&["finish Interrupted"]);
    assert_eq!(script.state.as_ref().unwrap().messages().len(), before);
}

#[test]
fn a_provider_that_says_too_long_is_asked_again_with_less_and_only_once() {
    let too_long = || {
        Event::TooLong(Failure {
            message: "too long".into(),
            hint: None,
            end: TurnEnd::ModelFailed,
        })
    };
    let script = Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .printed(&"x".repeat(7_000))
        .ran(0)
        .gives(&["call 1"])
        .when(too_long());
    // The opening stays, and the output is the newest, so it is shortened.
    let script = script.gives(&["note", "note", "call 0"]).tells("characters omitted");
    script.when(too_long()).gives(&["error", "finish ModelFailed"]);
}

/// A result with a picture in one of its forms.
fn picture(display: Option<&str>) -> Event {
    Event::Output(Chunk {
        proposal: "p1".into(),
        stream: Stream::Result,
        text: Untrusted::new("<Figure>"),
        mime: "text/plain".into(),
        bundle: [("image/png".to_owned(), Untrusted::new(crate::image::RED))].into(),
        display: display.map(Into::into),
        bytes: None,
    })
}

fn images(script: &Script) -> usize {
    match script.state.as_ref().unwrap().messages().last().unwrap() {
        crate::Message::Result { images, .. } | crate::Message::User { images, .. } => images.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_that_sees_is_sent_the_last_pictures_of_a_run_and_another_is_told_of_them() {
    let plotted = |sight| {
        let script = Script::new(|setup| {
            setup.approval = Approval::Yes;
            setup.audience.sight = sight;
        });
        let script = script.asked().replied(PYTHON).judged();
        let names = [None, None, None, None, Some("plot"), None, Some("plot")];
        names.into_iter().fold(script, |script, name| script.when(picture(name)))
    };
    let script = plotted(Sight::Sees).ran(0).tells("earlier pictures that are not shown to you: 2");
    assert_eq!(images(&script), 4);
    let script = plotted(Sight::Blind).ran(0);
    let script = script.tells("pictures that the user saw and you cannot see: 6");
    assert_eq!(images(&script), 0);
}

#[test]
fn a_result_that_is_only_a_picture_is_not_told_as_text() {
    let only = |data: &str| {
        Event::Output(Chunk {
            proposal: "p1".into(),
            stream: Stream::Result,
            text: Untrusted::new(data),
            mime: "image/png".into(),
            bundle: [].into(),
            display: None,
            bytes: None,
        })
    };
    let script = Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.audience.sight = Sight::Sees;
    });
    let script = script.asked().replied(PYTHON).judged().when(only(crate::image::RED));
    let script = script.when(only("bm8gcGljdHVyZQ==")).ran(0);
    assert_eq!(images(&script), 1);
    let told = script.last_message();
    assert!(told.contains("[image/png]") && !told.contains("iVBOR"), "{told}");
    assert!(told.contains("[a picture is not shown to you: it is no PNG"), "{told}");
}

#[test]
fn a_picture_of_the_persons_goes_with_the_next_prompt_and_no_further() {
    let attached = || {
        let image = crate::Image::decode(crate::image::RED).unwrap();
        let kept = crate::record::Kept { hash: "h".into(), bytes: 1, characters: 0 };
        Event::Attached(Attachment { name: "red.png".into(), image, kept })
    };
    let script =
        Script::new(|setup| setup.audience.sight = Sight::Sees).when(attached()).gives(&[]);
    let script = script.asked().gives(&["call 2"]);
    assert_eq!(images(&script), 1);
    let script = script.replied("It is red.").asked();
    assert_eq!(images(&script), 0);
    let script = Script::new(|_| {}).when(attached()).gives(&["note"]).asked();
    assert_eq!(images(&script), 0);
}
