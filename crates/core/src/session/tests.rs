//! Whole turns, told as scripts: events go in, the effects that come out are compared in short
//! words.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not named is shown as it is")]

use super::*;
use crate::{
    Access, Change, Changes, ChangesState, Confinement, Effects, FileChange, Findings, Finish,
    Grantor, InputWanted, Language, Limits, Network, Opinion, Output, Patterns, Pick, Policy,
    Prepared, Ran, RecordedQuestion, Reply, Rule, Rules, Sandboxing, Stream, ToolCall, Typed,
    Untrusted, Workspace,
    budget::{Allowance, Budget, Counted, Spent},
    context::{ContextWindow, Counter},
    egress::RunHosts,
    file_header::FileHeaders,
    instructions::Strength,
    language,
    outline::ApplyOrder,
    packages::PackageSetup,
    project_code::ProjectCode,
    record::{Body, TurnEnd},
};

mod hosts;
mod kept;
mod long_run;
mod longer;
mod masked;
mod packages;
mod pictures;
mod project_code;
mod questions;
mod reopening;
mod replay;
mod replaying;
mod rewinding;
mod secrets;
mod several;
mod small;
mod steering;
mod switching;
mod taint;
mod time;

pub(crate) fn confinement() -> Confinement {
    Confinement {
        work_folder: "/home/u/project".into(),
        workspace: Workspace::Stage,
        files: [("/home/u/.ssh".into(), Access::Deny)].into(),
        granted: [].into(),
        shown: [].into(),
        network: Network::None,
        secrets: vec![],
        limits: Limits::default(),
        sandbox: Sandboxing::default(),
        environment: [("PATH".to_owned(), "/usr/bin".to_owned())].into(),
    }
}

struct Script {
    state: State,
    said: Vec<String>,
    slow: bool,
    /// The questions so far.
    asked: Vec<RecordedQuestion>,
    /// The hosts that each run may reach.
    reach: Vec<RunHosts>,
}

impl Script {
    fn new(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup {
            has_model: true,
            languages: language::example(),
            policy: Policy::default(),
            confinement: confinement(),
            people: crate::People::One,
            approval: Approval::AsRulesSay,
            budget: Budget::default(),
            max_calls: 3,
            file_headers: FileHeaders::default(),
            asks_for_hosts: true,
            syntax: |_, _| None,
            packages: PackageSetup::default(),
            project_code: ProjectCode::default(),
            redactor: std::sync::Arc::default(),
            profile: ModelProfile {
                opening: vec![crate::Message::System { text: "be good".into() }],
                strength: Strength::Usual,
                window: ContextWindow::new(None, None, Counter::default()),
                sees_images: false,
            },
        };
        change(&mut setup);
        Self { state: State::new(setup), said: vec![], slow: false, asked: vec![], reach: vec![] }
    }

    /// Takes a step. Kernels are ready as soon as they are wanted, unless they are slow.
    fn when(mut self, event: Event) -> Self {
        let mut effects = self.state.step(event);
        self.asked.extend(effects.iter().filter_map(asked));
        let besides = ["conversation", "question", "question_closed"];
        effects.retain(|effect| !besides.contains(&&*short(effect)));
        if !self.slow {
            let wanted = effects.pop_if(|last| matches!(last, Effect::Prepare { .. }));
            if let Some(Effect::Prepare { language, .. }) = wanted {
                let more = self.state.step(prepared(language));
                let told = |one: &Effect| {
                    matches!(&*short(one), "run_started" | "conversation" | "question_closed")
                };
                effects.extend(more.into_iter().filter(|one| !told(one)));
            }
        }
        let reach = |effect: &Effect| match effect {
            Effect::Run(permit) => Some(permit.hosts().clone()),
            _ => None,
        };
        self.reach.extend(effects.iter().filter_map(reach));
        self.said = effects.iter().map(short).collect();
        self
    }

    fn slow(self) -> Self {
        Self { slow: true, ..self }
    }

    fn asked(self) -> Self {
        self.when(Event::Asked("do it".into()))
    }

    fn replied(self, text: &str) -> Self {
        self.when(Event::Replied(Reply { text: Untrusted::new(text), ..Reply::default() }))
    }

    fn judged(self) -> Self {
        self.when(Event::Judged(Findings::new(vec![]).understood()))
    }

    fn answered(self, proposal: &str, answer: GivenAnswer) -> Self {
        let is_it = |one: &&RecordedQuestion| one.about.proposal() == Some(proposal);
        match self.asked.iter().rfind(is_it).cloned() {
            Some(question) => self.when(answer_to(&question, answer, Grantor::Person)),
            None => self.when(Event::QuestionAnswered(Box::new(QuestionAnswer {
                question: "q9".into(),
                hash: String::new(),
                answer,
                by: Grantor::Person,
                who: None,
                voter: None,
            }))),
        }
    }

    /// Answers the newest question.
    fn tell(self, answer: GivenAnswer) -> Self {
        self.tell_by(answer, Grantor::Person)
    }

    fn tell_by(self, answer: GivenAnswer, by: Grantor) -> Self {
        let question = self.asked.last().unwrap().clone();
        self.when(answer_to(&question, answer, by))
    }

    fn printed(self, text: &str) -> Self {
        self.when(Event::Output(Output::text("p1", Stream::Stdout, text)))
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
        match self.state.messages().last().unwrap() {
            crate::Message::Result { text, call, .. } => {
                format!("{}{}", call.as_deref().unwrap_or("-"), text.for_terminal())
            }
            other => format!("{other:?}"),
        }
    }
}

/// The question that an effect puts on record.
fn asked(effect: &Effect) -> Option<RecordedQuestion> {
    match effect {
        Effect::Note(Body::Question(question)) => Some(question.clone()),
        _ => None,
    }
}

fn answer_to(question: &RecordedQuestion, answer: GivenAnswer, by: Grantor) -> Event {
    let (question, hash) = (question.id.clone(), question.hash.clone());
    Event::QuestionAnswered(Box::new(QuestionAnswer {
        question,
        hash,
        answer,
        by,
        who: None,
        voter: None,
    }))
}

/// The answer that nobody gives where there is nobody.
fn reject() -> GivenAnswer {
    GivenAnswer::Reject { reason: None }
}

fn prepared(language: Language) -> Event {
    let (enforced, missing) = (vec!["all".into()], vec![]);
    Event::Prepared(Prepared { language, backend: "native".into(), enforced, missing })
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
            Body::PackagesWanted { order, .. } => format!("wants {}", order.words()),
            Body::PackagesGranted { by, .. } => format!("granted by {by:?}"),
            other => serde_json::to_value(other).unwrap()["kind"].as_str().unwrap().into(),
        },
        Effect::CallModel { unseen, .. } => format!("call {unseen}"),
        Effect::Summarise { messages } => format!("summarise {}", messages.len()),
        Effect::Judge(proposal) => format!("judge {}", proposal.code().for_terminal_line(40)),
        Effect::Look(look) => format!("look {} {}-{}", look.run, look.first, look.last),
        Effect::Ask(question) => format!("ask {}", question.about.proposal.id),
        Effect::JudgeAll(cells) => format!("judge {} cells", cells.len()),
        Effect::AskReplay(question) => {
            let ids: Vec<_> = question.about.cells.iter().map(|cell| &*cell.proposal.id).collect();
            format!("ask to run {} again", ids.join(", "))
        }
        Effect::Run(permit) => format!("run {} by {:?}", permit.proposal().id, permit.granted_by()),
        Effect::Prepare { language, .. } => format!("prepare {}", language.name()),
        Effect::ShowLine(line) => format!("line {line}"),
        Effect::Review => "review".into(),
        Effect::AskChanges(changes) => format!("ask about {}", changes.about.files.len()),
        Effect::Settle(Settle::Apply(ApplyOrder { picks, .. })) => {
            let picks: Vec<_> = picks.iter().map(Pick::to_string).collect();
            format!("apply {}", if picks.is_empty() { "all".into() } else { picks.join(" ") })
        }
        Effect::Settle(decision) => format!("settle {decision:?}"),
        Effect::ChangeSet(wish) => format!("change set {wish:?}"),
        Effect::FinishTurn(end) => format!("finish {end:?}"),
        Effect::CancelModel => "cancel".into(),
        Effect::Interrupt => "interrupt".into(),
        Effect::Restart(language) => {
            format!("restart {}", language.as_ref().map_or("all", |language| language.name()))
        }
        Effect::Rewind { number, scope, .. } => format!("rewind {number} {scope:?}"),
        Effect::FindModel(name) => format!("find model {name}"),
        Effect::UseModel => "use model".into(),
        Effect::AskInput(wanted) => format!("ask for input {}", wanted.about.prompt.raw()),
        Effect::AskLongRun(run) => format!("ask about {} s", run.about.seconds),
        Effect::GiveInput(_) => "give input".into(),
        Effect::AskHost(wanted) => {
            format!("ask for {}", wanted.about.host.with_port(wanted.about.port))
        }
        Effect::AnswerHost(answer) => {
            format!("answer {} {:?}", answer.host.with_port(answer.port), answer.grant)
        }
        Effect::CloseHost(host, port) => format!("close {}", host.with_port(*port)),
        Effect::AnswerUse { number, goes_out } => format!("use {number} goes out: {goes_out}"),
        Effect::AskPackages(Posed { about: PackagesQuestion { order, .. }, .. }) => {
            let verb = if order.build { "build" } else { "install" };
            format!("ask to {verb} {}", order.words())
        }
        Effect::ResolvePackages(lookup) => format!("look up {}", lookup.order().words()),
        Effect::ChangePackages(permit) => {
            format!("{} {}", permit.order().change, permit.order().words())
        }
        Effect::CancelPackages => "cancel packages".into(),
        Effect::KeepRule(rule) => format!("keep {}", rule.words()),
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
        .answered("p1", GivenAnswer::Run)
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
    let deny = Rule { line: Some(Patterns::one("print*")), ..Rule::of(Opinion::Deny) };
    Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.policy.project = Rules(vec![deny]);
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
    let deny = Rule { line: Some(Patterns::one("evil*")), ..Rule::of(Opinion::Deny) };
    Script::new(|setup| setup.policy.user = Rules(vec![deny]))
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", GivenAnswer::Edit { code: "evil()".into() })
        .gives(&["judge evil()"])
        .judged()
        .gives(&["findings", "verdict Deny", "note", "call 1"]);
}

#[test]
fn an_edited_proposal_is_shown_again_before_it_runs() {
    let allow = Rule { line: Some(Patterns::one("print(2)")), ..Rule::of(Opinion::Allow) };
    for rules in [vec![], vec![allow]] {
        Script::new(|setup| setup.policy.user = Rules(rules))
            .asked()
            .replied(PYTHON)
            .judged()
            .answered("p1", GivenAnswer::Edit { code: "print(2)".into() })
            .judged()
            .gives(&["findings", "verdict Ask", "ask p1"])
            .answered("p1", GivenAnswer::Run)
            .gives(&["run p1 by Person"]);
    }
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
    let script = script.answered("p1", GivenAnswer::Reject { reason: Some("use awk".into()) });
    assert_eq!(script.last_message(), "-[not run: the user rejected it and says: use awk]\n");
    script.gives(&["call 1"]);
}

#[test]
fn a_rejection_without_a_reason_ends_the_turn() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p1", GivenAnswer::Reject { reason: None })
        .gives(&["finish Refused"]);
}

#[test]
fn an_answer_to_another_question_changes_nothing() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p7", GivenAnswer::Run)
        .gives(&[])
        .answered("p1", GivenAnswer::Run)
        .gives(&["run p1 by Person"]);
}

#[test]
fn nobody_cannot_say_yes() {
    Script::new(|_| {})
        .asked()
        .replied(PYTHON)
        .judged()
        .tell_by(GivenAnswer::Run, Grantor::Nobody)
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
    let script = script.answered("p1", GivenAnswer::Run).printed("1").ran(0).gives(&["call 2"]);
    assert_eq!(script.last_message(), "c21\n[status 0]\n");
}

#[test]
fn staged_changes_are_reviewed_at_the_end_of_the_turn() {
    let file = FileChange::new("out.txt", Change::Created);
    let files = vec![file.clone()];
    let changes =
        |state| Changes { id: "c1".into(), state, files: files.clone(), left_out: vec![] };
    let effects = Effects { changes: Some("c1".into()), files: vec![file], ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Ran(ran))
        .gives(&["call 1"])
        .replied("Done.")
        .gives(&["review"])
        .when(Event::Reviewed(changes(ChangesState::Staged)))
        .gives(&["ask about 1"])
        .tell(GivenAnswer::Apply { picks: None, seen: None })
        .gives(&["apply all"])
        .when(Event::Settled(changes(ChangesState::Applied)))
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
        .when(no_sandbox())
        .gives(&["error", "finish CannotConfine"]);
}

fn no_sandbox() -> Event {
    let (message, hint, end) = ("no sandbox".into(), None, TurnEnd::CannotConfine);
    Event::RunnerFailed(Failure { message, hint, end })
}

#[test]
fn code_runs_when_its_kernel_is_ready_and_the_record_says_what_bounds_it() {
    let shell = language::example().find("shell").unwrap();
    let python = language::example().find("python").unwrap();
    let script = || Script::new(|_| {}).slow().asked().replied(PYTHON).judged();
    script()
        .answered("p1", GivenAnswer::Run)
        .gives(&["prepare python"])
        // Another kernel that was started ahead is not the one that is waited for.
        .when(prepared(shell))
        .gives(&[])
        .when(prepared(python.clone()))
        .gives(&["run_started", "run p1 by Person"])
        // It cannot be started twice.
        .when(prepared(python))
        .gives(&[]);
    script()
        .answered("p1", GivenAnswer::Run)
        .when(no_sandbox())
        .gives(&["error", "finish CannotConfine"]);
}

#[test]
fn code_that_is_interrupted_before_it_began_never_runs() {
    let python = language::example().find("python").unwrap();
    Script::new(|setup| setup.approval = Approval::Yes)
        .slow()
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Interrupted)
        .gives(&["effects", "run_finished", "finish Interrupted"])
        .when(prepared(python))
        .gives(&[]);
}

#[test]
fn a_kernel_that_is_gone_before_the_code_began_is_started_again_but_not_for_ever() {
    let python = || prepared(language::example().find("python").unwrap());
    let mut script =
        Script::new(|setup| setup.approval = Approval::Yes).slow().asked().replied(PYTHON).judged();
    for _ in 0..2 {
        script = script.when(python()).when(Event::NotBegun).gives(&["prepare python"]);
    }
    script.when(python()).when(Event::NotBegun).gives(&["error", "finish CannotConfine"]);
}

#[test]
fn a_failure_of_the_runner_that_nobody_waits_for_changes_nothing() {
    Script::new(|_| {}).when(no_sandbox()).gives(&[]).asked().when(no_sandbox()).gives(&[]);
}

#[test]
fn a_snapshot_without_anything_to_apply_needs_no_decision() {
    let effects = Effects { changes: Some("c1".into()), ..Effects::default() };
    let ran = Ran { proposal: "p1".into(), status: Some(0), effects, ..Ran::default() };
    let (state, files, left_out) = (ChangesState::Staged, vec![], vec![]);
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::Ran(ran))
        .replied("Done.")
        .when(Event::Reviewed(Changes { id: "c1".into(), state, files, left_out }))
        .gives(&["finish Done"]);
}

#[test]
fn after_quit_nothing_happens() {
    Script::new(|_| {}).when(Event::Quit).gives(&["end"]).asked().gives(&[]);
}

#[test]
fn code_can_ask_the_person() {
    let wanted =
        InputWanted { proposal: "p1".into(), prompt: Untrusted::new("Name? "), secret: false };
    Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::InputWanted(wanted))
        .gives(&["ask for input Name? "])
        .tell(GivenAnswer::Give { text: crate::Secret::new("Ada".into()) })
        .gives(&["give input"])
        .ran(0)
        .gives(&["call 1"]);
}

#[test]
fn a_hidden_answer_is_not_recorded() {
    let prompt = Untrusted::new("Password: ");
    let wanted = InputWanted { proposal: "p1".into(), prompt, secret: true };
    let mut script = Script::new(|setup| setup.approval = Approval::Yes)
        .asked()
        .replied(PYTHON)
        .judged()
        .when(Event::InputWanted(wanted));
    let text = crate::Secret::new("hunter2".into());
    let answer = GivenAnswer::Give { text };
    let given = answer_to(script.asked.last().unwrap(), answer, Grantor::Person);
    assert_eq!(script.state.hidden_text(&given).unwrap().reveal(), "hunter2");
    let mut told =
        format!("{given:?}") + &serde_json::to_string(&script.state.bodies(&given)).unwrap();
    assert!(told.contains("[secret]"), "{told}");
    let effects = script.state.step(given);
    told.extend([format!("{effects:?}")]);
    assert!(!told.contains("hunter2"), "{told}");
    assert!(effects.iter().any(|effect| {
        matches!(effect, Effect::GiveInput(Typed::Hidden(text)) if text.reveal() == "hunter2")
    }));
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
        .gives(&["restarted", "finish Done"])
        .asked()
        .replied("```python\nx\n```\n")
        .judged()
        // A running cell is interrupted, not restarted.
        .when(Event::Restart(None))
        .gives(&[])
        .when(Event::KernelEnded { language: python, how: "was ended by SIGKILL".into() })
        .ran(0)
        .tells("-[Restarted python. Its variables are gone.]")
        .tells("[the python interpreter was ended by SIGKILL; its variables are lost, ");
}

#[test]
fn a_budget_that_is_used_up_ends_the_turn_before_the_next_call() {
    let spent = |tokens| {
        let session = Spent { tokens, ..Spent::default() };
        Event::Counted(Counted { session, today: session })
    };
    let limited = || {
        Script::new(|setup| {
            setup.budget.session = Allowance { tokens: Some(100), ..Allowance::default() };
        })
    };
    let script = limited().when(spent(99)).asked().gives(&["call 2"]).replied(PYTHON).judged();
    // The call that uses it up is answered; code that was approved still runs.
    let script = script.answered("p1", GivenAnswer::Run).when(spent(150)).gives(&[]).ran(0);
    let script = script.gives(&["error", "finish OverBudget"]);
    script.asked().gives(&["error", "finish OverBudget"]);
}

#[test]
fn code_gets_the_time_that_is_left_of_a_budget() {
    let spent = |milliseconds| {
        let session = Spent { milliseconds, ..Spent::default() };
        Event::Counted(Counted { session, today: session })
    };
    let limited = |wall_seconds| {
        Script::new(move |setup| {
            setup.budget.session = Allowance { seconds: Some(60), ..Allowance::default() };
            setup.confinement.limits.wall_seconds = wall_seconds;
        })
    };
    let to_the_run = |script: Script| {
        let script = script.when(spent(20_500)).asked().replied(PYTHON).judged();
        script.answered("p1", GivenAnswer::Run)
    };
    // A note says so where it is less than the limit of every run.
    to_the_run(limited(None)).gives(&["note", "run p1 by Person"]);
    to_the_run(limited(Some(50))).gives(&["note", "run p1 by Person"]);
    to_the_run(limited(Some(30))).gives(&["run p1 by Person"]);
}

#[test]
fn what_a_person_runs_is_not_kept_where_there_is_no_model() {
    let python = language::example().find("python").unwrap();
    let mut script = Script::new(|setup| setup.has_model = false);
    for _ in 0..100 {
        let (language, code) = (python.clone(), "1".into());
        script = script.when(Event::Submitted { language, code, invocation: None }).judged().ran(0);
    }
    assert_eq!(script.state.messages().len(), 1);
}
