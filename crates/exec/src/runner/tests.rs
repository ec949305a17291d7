//! Runs, told from their first frame to their last: commands, frames and alarms go in, actions come
//! out, in short words.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the actions that it is about")]

use super::state::{Action, State};
use interpreter_core::{
    Confinement, Continuity, Findings, Language, LanguageInfo, Languages, Limits, Message, Network,
    Permit, Policy, Prepared, Reached, Sandboxing, Typed, Workspace,
    budget::{Allowance, Budget},
    context::{ContextWindow, Counter},
    file_header::FileHeaders,
    instructions::Strength,
    session::{self, Approval, Effect, Event, ModelProfile, Setup},
};
use interpreter_host::{Heard, Inward, Outward};
use std::time::{Duration, Instant};

mod checkpoints;
mod starting;

fn languages() -> Languages {
    let info = |name: &str| LanguageInfo {
        name: name.into(),
        aliases: vec![],
        endings: vec![],
        continuity: Continuity::Kept,
    };
    Languages::new(vec![info("python"), info("shell")])
}

fn language(name: &str) -> Language {
    languages().find(name).unwrap()
}

pub(super) fn confinement(limits: Limits) -> Confinement {
    Confinement {
        work_folder: "/work".into(),
        workspace: Workspace::Stage,
        files: [].into(),
        granted: [].into(),
        shown: [].into(),
        network: Network::None,
        secrets: vec![],
        limits,
        sandbox: Sandboxing::default(),
        environment: [].into(),
    }
}

/// A permit, which only a session makes.
fn permit(name: &str, limits: Limits) -> Permit {
    permit_within(name, limits, Budget::default())
}

fn permit_within(name: &str, limits: Limits, budget: Budget) -> Permit {
    let mut session = session::State::new(Setup {
        has_model: false,
        languages: languages(),
        policy: Policy::default(),
        budget,
        confinement: confinement(limits),
        people: interpreter_core::People::One,
        approval: Approval::Yes,
        max_calls: 1,
        file_headers: FileHeaders::default(),
        asks_for_hosts: false,
        syntax: |_, _| None,
        packages: interpreter_core::packages::PackageSetup::default(),
        project_code: interpreter_core::project_code::ProjectCode::default(),
        redactor: std::sync::Arc::default(),
        profile: ModelProfile {
            opening: Vec::<Message>::new(),
            strength: Strength::Usual,
            window: ContextWindow::new(None, None, Counter::default()),
            sees_images: false,
        },
    });
    session.step(Event::Submitted {
        language: language(name),
        code: "code".into(),
        invocation: None,
    });
    session.step(Event::Judged(Findings::new(vec![])));
    let prepared = Prepared {
        language: language(name),
        backend: "native".into(),
        enforced: vec![],
        missing: vec![],
    };
    let effects = session.step(Event::Prepared(prepared));
    let permit = effects.into_iter().find_map(|effect| match effect {
        Effect::Run(permit) => Some(permit),
        _ => None,
    });
    permit.unwrap()
}

struct Script {
    state: State,
    limits: Limits,
    start: Instant,
    seconds: f64,
    done: Vec<String>,
}

impl Script {
    fn new() -> Self {
        Self::bounded(Limits::default())
    }

    fn bounded(limits: Limits) -> Self {
        let (state, start) = (State::new(), Instant::now());
        Self { state, limits, start, seconds: 0.0, done: vec![] }
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.seconds)
    }

    /// Collects the actions.
    fn then(mut self) -> Self {
        self.done =
            std::iter::from_fn(|| self.state.next_action()).map(|one| short(&one)).collect();
        self
    }

    fn prepare(mut self, name: &str) -> Self {
        self.state.prepare(language(name), confinement(self.limits));
        self.then()
    }

    fn hears(mut self, heard: Heard) -> Self {
        let now = self.now();
        self.state.heard(heard, now, || false).unwrap();
        self.then()
    }

    fn claims(self, kernel: u32, claim: &str) -> Self {
        self.hears(Heard::Claim { kernel, claim: claim.into() })
    }

    fn gets_ready(self, kernel: u32) -> Self {
        self.claims(kernel, r#"{"kind":"ready","version":"3","completes":true}"#)
    }

    fn exits(self, kernel: u32, signal: Option<i32>) -> Self {
        let status = signal.is_none().then_some(0);
        self.hears(Heard::Told(Outward::Exited { kernel, status, signal }))
    }

    fn runs(mut self, name: &str) -> Self {
        let now = self.now();
        self.state.run(permit(name, self.limits), now).unwrap();
        self.then()
    }

    /// A kernel that runs code.
    fn running(self) -> Self {
        self.prepare("python").gets_ready(1).runs("python")
    }

    fn after(mut self, seconds: f64) -> Self {
        self.seconds += seconds;
        let now = self.now();
        self.state.alarmed(now);
        self.then()
    }

    fn interrupts(mut self) -> Self {
        let now = self.now();
        self.state.interrupt(now);
        self.then()
    }

    #[track_caller]
    fn does(self, actions: &[&str]) -> Self {
        assert_eq!(self.done, actions);
        self
    }
}

fn short(action: &Action) -> String {
    match action {
        Action::Send(frame) => match frame {
            Inward::Interrupt { kernel } => format!("interrupt {kernel}"),
            Inward::Stop { kernel } => format!("stop {kernel}"),
            Inward::Measure => "measure".into(),
            Inward::Hold { kernel, number, process, .. } => {
                format!("hold {kernel} as {number}: {process}")
            }
            Inward::Release { kernel, number } => format!("release {kernel} as {number}"),
            Inward::Rewind { kernel, number } => format!("rewind {kernel} to {number}"),
            other => format!("{other:?}"),
        },
        Action::Copy { kernel, number } => format!("copy {kernel} as {number}"),
        Action::RewindFiles { rewound, .. } => {
            let kernels = rewound.kernels.iter();
            let kernels = kernels.map(|one| format!(" {} {:?}", one.language, one.memory));
            format!("files {}{}", rewound.number, kernels.collect::<String>())
        }
        Action::Build(_) => "build".into(),
        Action::End => "end".into(),
        Action::Start { kernel, language } => format!("start {kernel} {}", language.name()),
        Action::Begin { kernel, behind: false, .. } => format!("begin {kernel}"),
        Action::Begin { kernel, .. } => format!("begin {kernel} behind all"),
        Action::Answer { kernel, text } => format!("answer {kernel} {}", text.is_some()),
        Action::Ready(language) => format!("ready {}", language.name()),
        Action::Finish { cell, status, signal, kernel_ended } => {
            let limit = cell.limit_reached().is_some();
            format!("finish {status:?} {signal:?} ended={kernel_ended} limit={limit}")
        }
        Action::Report(event) => match event {
            Event::Output(output) => format!("prints {}", output.text.raw()),
            Event::KernelEnded { language, how } => format!("{} {how}", language.name()),
            Event::Restarted(all) => format!("restarted {}", all.len()),
            Event::NotBegun => "not begun".into(),
            Event::InputWanted(wanted) => format!("asks {}", wanted.prompt.raw()),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

#[test]
fn a_run_from_its_first_frame_to_its_last() {
    Script::new()
        .prepare("python")
        .does(&["build", "start 1 python"])
        .gets_ready(1)
        .does(&["ready python"])
        .runs("python")
        .does(&["begin 1"])
        .hears(Heard::Stdout { kernel: 1, bytes: b"1\n".to_vec() })
        .does(&["prints 1\n"])
        .claims(1, r#"{"kind":"finished","status":0}"#)
        .does(&["finish Some(0) None ended=false limit=false"])
        // It is warm now.
        .prepare("python")
        .does(&["ready python"]);
}

#[test]
fn nothing_runs_in_a_kernel_that_has_died_since_it_was_ready() {
    Script::new()
        .prepare("python")
        .gets_ready(1)
        .exits(1, Some(9))
        .does(&["python was ended by SIGKILL (sent by code inside, or by the system for want of \
                 memory)"])
        .runs("python")
        .does(&["not begun"])
        .prepare("python")
        .does(&["start 2 python"]);
}

#[test]
fn two_things_never_run_at_once() {
    let mut script = Script::new().running();
    let now = script.now();
    let again = permit("python", Limits::default());
    assert!(script.state.run(again, now).is_err());
    assert!(script.state.restart(None).is_err());
    script.then().does(&[]);
}

#[test]
fn code_that_heeds_no_interrupt_loses_its_kernel_and_then_its_sandbox() {
    Script::new()
        .running()
        .interrupts()
        .does(&["interrupt 1"])
        .after(1.0)
        .does(&["interrupt 1"])
        .after(2.5)
        .does(&["stop 1"])
        .after(2.5)
        .does(&["end", "finish None Some(9) ended=true limit=false"])
        .prepare("python")
        .does(&["build", "start 2 python"]);
}

#[test]
fn an_interrupt_that_came_too_late_does_not_hit_the_next_cell() {
    let finished = r#"{"kind":"finished","status":130}"#;
    let script = Script::new().running().interrupts().claims(1, finished);
    // The next cell waits until the host has done what it was sent, the one after it does not.
    let script = script.runs("python").does(&["begin 1 behind all"]).claims(1, finished);
    script.runs("python").does(&["begin 1"]);
}

#[test]
fn a_run_past_its_time_is_interrupted() {
    Script::bounded(Limits { wall_seconds: Some(5), ..Limits::default() })
        .running()
        .after(4.0)
        .does(&[])
        .after(1.5)
        .does(&["interrupt 1"])
        .exits(1, Some(2))
        .does(&["finish None Some(2) ended=true limit=true"]);
}

#[test]
fn a_permit_for_less_time_than_the_sandbox_allows_counts() {
    for wall_seconds in [None, Some(60)] {
        let limits = Limits { wall_seconds, ..Limits::default() };
        let mut script = Script::bounded(limits).prepare("python").gets_ready(1);
        let session = Allowance { seconds: Some(5), ..Allowance::default() };
        let budget = Budget { session, ..Budget::default() };
        let now = script.now();
        script.state.run(permit_within("python", limits, budget), now).unwrap();
        // The same sandbox serves it.
        let script = script.then().does(&["begin 1"]).after(4.0).does(&[]);
        script.after(1.5).does(&["interrupt 1"]);
    }
}

#[test]
fn processor_time_is_measured_in_a_run_and_after_it() {
    let used = |milliseconds| Heard::Told(Outward::Used { milliseconds });
    let script = Script::bounded(Limits { cpu_seconds: Some(1), ..Limits::default() })
        .running()
        .does(&["measure", "begin 1"])
        .hears(used(100))
        .claims(1, r#"{"kind":"finished","status":0}"#)
        .after(2.0)
        .does(&["measure"])
        .hears(used(1_200))
        .does(&["stop 1"]);
    // A host that does not answer is given up.
    script.after(60.0).does(&["measure"]).after(11.0).does(&["end"]);
}

#[test]
fn a_flood_ends_its_kernel_in_a_run_and_between_two() {
    let flood = || Heard::Stdout { kernel: 1, bytes: vec![b'x'; 2_000] };
    let limits = Limits { output_bytes: 1_000, ..Limits::default() };
    let stopped = |script: Script| assert_eq!(script.done.last().unwrap(), "stop 1");
    stopped(Script::bounded(limits).running().hears(flood()));
    stopped(Script::bounded(limits).prepare("python").gets_ready(1).hears(flood()));
}

#[test]
fn a_full_disk_ends_the_kernel_that_filled_it_or_the_sandbox() {
    let fill = |mut script: Script| {
        let now = script.now();
        script.state.disk_filled(1, Reached::Staged(9), now);
        script.then()
    };
    fill(Script::new().running())
        .does(&["stop 1"])
        .exits(1, Some(9))
        .does(&["finish None Some(9) ended=true limit=true"]);
    fill(Script::new().running().exits(1, Some(9))).does(&["end"]);
}

#[test]
fn a_lie_of_a_driver_changes_nothing() {
    let script = Script::new().running();
    // Another kernel's word, a kernel that is not there, and words that are none.
    script
        .claims(7, r#"{"kind":"finished","status":0}"#)
        .does(&[])
        .claims(1, "nonsense")
        .does(&[])
        .gets_ready(1)
        .does(&[])
        .claims(1, r#"{"kind":"completions","start":0,"end":9,"matches":["x"]}"#)
        .does(&[])
        .claims(1, r#"{"kind":"finished","status":3}"#)
        .does(&["finish Some(3) None ended=false limit=false"])
        // It cannot end twice, and asks nobody between runs.
        .claims(1, r#"{"kind":"finished","status":0}"#)
        .does(&[])
        .claims(1, r#"{"kind":"asks","prompt":"Password?","secret":true}"#)
        .does(&[]);
}

#[test]
fn code_asks_and_is_answered_while_it_runs() {
    let mut script = Script::new()
        .running()
        .claims(1, r#"{"kind":"asks","prompt":"Name?","secret":false}"#)
        .does(&["asks Name?"]);
    script.state.answer(Typed::Line("Ada".into()));
    let mut script = script.then().does(&["answer 1 true"]);
    script.state.answer(Typed::End);
    script.then().does(&["answer 1 false"]);
}

#[test]
fn kernels_are_replaced_when_the_old_ones_are_gone() {
    let mut script = Script::new().prepare("python").gets_ready(1).prepare("shell").gets_ready(2);
    script.state.restart(None).unwrap();
    script
        .then()
        .does(&["stop 1", "stop 2"])
        .exits(1, Some(15))
        .does(&["start 3 python"])
        .exits(2, Some(15))
        .does(&["start 4 shell"])
        .gets_ready(3)
        .does(&[])
        .gets_ready(4)
        .does(&["restarted 2"]);
}

#[test]
fn only_somebody_who_waits_hears_of_a_kernel_that_does_not_start() {
    let failed = |kernel| Heard::Told(Outward::Failed { kernel, message: "no such file".into() });
    let mut script = Script::new().prepare("python").prepare("shell");
    let now = script.now();
    // The person has gone on to another language meanwhile.
    assert!(script.state.heard(failed(1), now, || false).is_ok());
    assert!(script.state.heard(failed(2), now, || false).is_err());
}

#[test]
fn another_confinement_is_another_sandbox() {
    let mut script = Script::new().prepare("python").gets_ready(1);
    let other = confinement(Limits { wall_seconds: Some(1), ..Limits::default() });
    script.state.prepare(language("python"), other);
    script.then().does(&["build", "start 2 python"]);
}
