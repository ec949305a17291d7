//! Checkpoints and rewinds, told from their first frame to their last.

use super::{Script, language};
use interpreter_core::{
    Beside, Checkpoint, FilesCheckpoint, KernelCheckpoint, MemoryCheckpoint, MemoryRewound,
    RewindScope, Rewound,
};
use interpreter_host::{Heard, Outward};
use tokio::sync::oneshot;

/// A script with a kernel of Python, number 1, that can be copied.
fn python() -> Script {
    let ready = r#"{"kind":"ready","version":"3","completes":true,"checkpoints":true}"#;
    Script::new().prepare("python").claims(1, ready)
}

type Taken = oneshot::Receiver<Checkpoint>;

impl Script {
    fn checkpoint(mut self, number: u32) -> (Self, Taken) {
        let (reply, taken) = oneshot::channel();
        let now = self.now();
        self.state.checkpoint(number, FilesCheckpoint::Kept, reply, now);
        (self.then(), taken)
    }

    fn rewind(mut self, number: u32) -> (Self, oneshot::Receiver<Answer>) {
        let (reply, rewound) = oneshot::channel();
        let now = self.now();
        self.state.rewind(number, RewindScope::Everything, reply, now);
        (self.then(), rewound)
    }

    fn tells(self, told: Outward) -> Self {
        self.hears(Heard::Told(told))
    }

    fn copies(self, kernel: u32, number: u32, process: u32) -> Self {
        let claim = format!(
            r#"{{"kind":"checkpointed","number":{number},"process":{process},"threads":1,"sockets":0,"files":2,"programs":0}}"#
        );
        self.claims(kernel, &claim)
    }

    fn holds(self, kernel: u32, number: u32, held: bool) -> Self {
        self.tells(Outward::Held { kernel, number, held })
    }

    /// A checkpoint of kernel 1 that is held.
    fn kept(self, number: u32) -> Self {
        let (script, _taken) = self.checkpoint(number);
        script.copies(1, number, 50 + number).holds(1, number, true)
    }

    /// The result, when only the files are left.
    fn rewound(&self) -> Vec<String> {
        self.done.iter().filter(|line| line.starts_with("files")).cloned().collect()
    }
}

type Answer = Result<Rewound, crate::ExecError>;

const CLAIMED: Beside = Beside { threads: 1, sockets: 0, files: 2, programs: 0 };

fn memory(taken: &mut Taken) -> MemoryCheckpoint {
    let Checkpoint { kernels, .. } = taken.try_recv().unwrap();
    let [KernelCheckpoint { memory, .. }] = &kernels[..] else { panic!("{kernels:?}") };
    memory.clone()
}

#[test]
fn a_copy_counts_once_the_host_holds_it() {
    let (script, mut taken) = python().checkpoint(1);
    let script = script.does(&["checkpoint 1 as 1"]).copies(1, 1, 51);
    assert!(taken.try_recv().is_err());
    script.does(&["hold 1 as 1: 51"]).holds(1, 1, true).does(&[]);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: CLAIMED });

    let (script, mut taken) = python().checkpoint(1);
    script.copies(1, 1, 51).holds(1, 1, false).does(&[]);
    assert!(matches!(memory(&mut taken), MemoryCheckpoint::NotKept { .. }));
}

#[test]
fn a_copy_that_nobody_asked_for_is_nobodys() {
    python()
        .copies(1, 1, 51)
        .does(&[])
        .kept(1)
        .copies(1, 1, 52)
        .does(&[])
        .copies(1, 2, 53)
        .does(&[]);
    python().kept(1).tells(Outward::Rewound { kernel: 1, number: 1, process: 51 }).does(&[]);
}

#[test]
fn a_kernel_that_cannot_is_not_asked_and_says_why() {
    let (script, mut taken) = Script::new().prepare("python").gets_ready(1).checkpoint(1);
    script.does(&[]);
    assert!(matches!(memory(&mut taken), MemoryCheckpoint::NotKept { .. }));
    let (script, mut taken) = python().runs("python").checkpoint(1);
    script.does(&[]);
    let running = MemoryCheckpoint::NotKept { reason: "it is running code".into() };
    assert_eq!(memory(&mut taken), running);
}

#[test]
fn nobody_waits_for_a_kernel_that_is_silent_or_dead() {
    let (script, mut taken) = python().checkpoint(1);
    // The next run does not wait either.
    let script = script.runs("python").does(&["begin 1"]);
    script.after(11.0);
    assert!(matches!(memory(&mut taken), MemoryCheckpoint::NotKept { .. }));
    let (script, mut taken) = python().checkpoint(1);
    script.exits(1, Some(9));
    assert!(matches!(memory(&mut taken), MemoryCheckpoint::NotKept { .. }));
}

#[test]
fn a_foreign_reason_is_one_short_line() {
    let (script, mut taken) = python().checkpoint(1);
    let reason = format!("a\\n\\u001b[31m{}", "x".repeat(10_000));
    let claim = format!(r#"{{"kind":"not_checkpointed","number":1,"reason":"{reason}"}}"#);
    script.claims(1, &claim).does(&[]);
    let MemoryCheckpoint::NotKept { reason } = memory(&mut taken) else { panic!() };
    assert!(reason.len() < 1_000 && !reason.contains(['\n', '\u{1b}']), "{reason}");
}

#[test]
fn the_oldest_goes_when_there_are_too_many() {
    let mut script = python();
    for number in 1..=16 {
        script = script.kept(number);
    }
    let (script, _taken) = script.checkpoint(17);
    script.does(&["checkpoint 1 as 17", "release 1 UpTo 1"]);
}

#[test]
fn a_number_that_is_used_again_drops_what_was_after_it() {
    let (script, _taken) = python().kept(1).kept(2).kept(3).checkpoint(2);
    script.does(&["release 1 From 2", "checkpoint 1 as 2"]);
}

#[test]
fn a_kernel_goes_back_when_host_and_copy_have_said_so() {
    for host_first in [true, false] {
        let (script, _rewound) = python().kept(1).kept(2).rewind(1);
        let script = script.does(&["release 1 From 2", "rewind 1 to 1"]);
        let told = Outward::Rewound { kernel: 1, number: 1, process: 51 };
        let script = if host_first {
            script.tells(told).does(&[]).copies(1, 1, 61).does(&["hold 1 as 1: 61"])
        } else {
            script.copies(1, 1, 61).does(&["hold 1 as 1: 61"]).tells(told).does(&[])
        };
        let script = script.holds(1, 1, true);
        let restored = MemoryRewound::Restored { beside: CLAIMED };
        assert_eq!(script.rewound(), [format!("files 1 python {restored:?}")]);
        // It can go back once more.
        let (script, _rewound) = script.rewind(1);
        script.does(&["rewind 1 to 1"]);
    }
}

#[test]
fn a_kernel_goes_back_although_it_cannot_be_copied_again() {
    let (script, _rewound) = python().kept(1).rewind(1);
    let refused = r#"{"kind":"not_checkpointed","number":1,"reason":"no room"}"#;
    let script = script.claims(1, refused).does(&[]).tells(Outward::Rewound {
        kernel: 1,
        number: 1,
        process: 51,
    });
    let restored = MemoryRewound::Restored { beside: CLAIMED };
    assert_eq!(script.rewound(), [format!("files 1 python {restored:?}")]);
}

#[test]
fn a_kernel_without_a_copy_is_ended_and_told_of() {
    let (script, _rewound) = python().kept(1).rewind(1);
    let script = script
        .tells(Outward::Rewound { kernel: 1, number: 1, process: 0 })
        .does(&["stop 1"])
        .exits(1, Some(9));
    let [told] = &script.rewound()[..] else { panic!("{:?}", script.done) };
    assert!(told.contains("Lost") && told.contains("its copy is gone"), "{told}");
    // A fresh one takes its place.
    script.prepare("python").does(&["start 2 python"]);
}

#[test]
fn a_kernel_of_a_later_time_is_ended_before_another_is_woken() {
    let script = python().kept(1);
    let script = script.prepare("shell").claims(2, r#"{"kind":"ready","version":"5"}"#);
    let (script, _rewound) = script.rewind(1);
    let script = script.does(&["stop 2", "rewind 1 to 1"]).exits(2, Some(9)).does(&[]);
    let script = script
        .tells(Outward::Rewound { kernel: 1, number: 1, process: 51 })
        .copies(1, 1, 61)
        .holds(1, 1, true);
    let [told] = &script.rewound()[..] else { panic!("{:?}", script.done) };
    assert!(told.contains("shell Fresh") && told.contains("python Restored"), "{told}");
}

#[test]
fn a_copy_that_does_not_wake_is_ended() {
    let (script, _rewound) = python().kept(1).rewind(1);
    let script = script
        .tells(Outward::Rewound { kernel: 1, number: 1, process: 51 })
        .after(11.0)
        .does(&["stop 1"])
        .exits(1, Some(9));
    assert!(script.rewound()[0].contains("did not wake"), "{:?}", script.done);
    // And if the host does not answer either, there is no sandbox any more.
    let (script, _rewound) = python().kept(1).rewind(1);
    script.after(11.0).after(11.0).does(&["end"]);
}

#[test]
fn a_copy_that_dies_as_it_wakes_is_lost() {
    let (script, _rewound) = python().kept(1).rewind(1);
    let script = script.exits(1, Some(11));
    let [told] = &script.rewound()[..] else { panic!("{:?}", script.done) };
    assert!(told.contains("Lost"), "{told}");
}

#[test]
fn what_is_not_kept_any_more_changes_nothing() {
    let (script, mut rewound) = python().kept(1).rewind(7);
    script.does(&[]).runs("python").does(&["begin 1"]);
    let Rewound { kernels, .. } = rewound.try_recv().unwrap().unwrap();
    assert!(matches!(kernels[0].memory, MemoryRewound::Lost { .. }));
    assert_eq!(kernels[0].language, language("python"));
}

#[test]
fn nothing_goes_back_while_something_runs_and_nothing_runs_while_it_goes_back() {
    let (script, mut rewound) = python().kept(1).runs("python").rewind(1);
    script.does(&[]);
    assert!(rewound.try_recv().unwrap().is_err());
    let (mut script, _rewound) = python().kept(1).rewind(1);
    let now = script.now();
    assert!(script.state.run(super::permit("python", script.limits), now).is_err());
}
