//! Checkpoints and rewinds, told from their first frame to their last.

use super::Script;
use interpreter_core::{
    Beside, Checkpoint, FilesCheckpoint, KernelCheckpoint, MemoryCheckpoint, MemoryRewound,
    RewindScope, Rewound,
};
use interpreter_host::{Heard, Outward};
use tokio::sync::oneshot;

/// A script with a kernel of Python, number 1, that can be copied.
fn python() -> Script {
    Script::new().prepare("python").claims(1, READY)
}

const READY: &str = r#"{"kind":"ready","version":"3","completes":true,"checkpoints":true}"#;

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
        self.copies_beside(0, kernel, number, process)
    }

    fn threaded(self, kernel: u32, number: u32, process: u32) -> Self {
        self.copies_beside(1, kernel, number, process)
    }

    fn copies_beside(self, threads: u32, kernel: u32, number: u32, process: u32) -> Self {
        let claim = format!(
            r#"{{"kind":"checkpointed","number":{number},"process":{process},"threads":{threads},"sockets":0,"files":2,"programs":0}}"#
        );
        self.claims(kernel, &claim)
    }

    fn holds(self, kernel: u32, number: u32, held: bool) -> Self {
        self.tells(Outward::Held { kernel, number, held })
    }

    /// A run of kernel 1, after which it is asked for the next copy.
    fn ran(self) -> Self {
        self.runs("python").claims(1, FINISHED)
    }

    /// A checkpoint of kernel 1 that is held, and a run after it. The copy has the same number.
    fn kept(self, number: u32) -> Self {
        let (script, _taken) = self.checkpoint(number);
        script.copies(1, number, 50 + number).holds(1, number, true).ran()
    }

    /// The result, when only the files are left.
    fn rewound(&self) -> Vec<String> {
        self.done.iter().filter(|line| line.starts_with("files")).cloned().collect()
    }
}

const FINISHED: &str = r#"{"kind":"finished","status":0}"#;

type Answer = Result<Rewound, crate::ExecError>;

const STILL: Beside = Beside { threads: 0, sockets: 0, files: 2, programs: 0 };

fn memory(taken: &mut Taken) -> MemoryCheckpoint {
    let Checkpoint { kernels, .. } = taken.try_recv().unwrap();
    let [KernelCheckpoint { memory, .. }] = &kernels[..] else { panic!("{kernels:?}") };
    memory.clone()
}

#[test]
fn a_copy_counts_once_the_host_holds_it() {
    let (script, mut taken) = python().checkpoint(1);
    let script = script.does(&["copy 1 as 1"]).copies(1, 1, 51);
    assert!(taken.try_recv().is_err());
    script.does(&["hold 1 as 1: 51"]).holds(1, 1, true).does(&[]);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: STILL });

    let (script, mut taken) = python().checkpoint(1);
    script.copies(1, 1, 51).holds(1, 1, false).does(&[]);
    assert!(matches!(memory(&mut taken), MemoryCheckpoint::NotKept { .. }));
}

/// A copy that was killed is known before anybody decides, not only when it does not wake.
#[test]
fn what_is_left_of_a_checkpoint_is_what_is_held_now() {
    let (script, mut taken) = python().checkpoint(1);
    let script = script.copies(1, 1, 51).holds(1, 1, true).ran();
    let checkpoint = taken.try_recv().unwrap();
    let kept = |script: &Script| {
        let left = script.state.left_of(checkpoint.clone());
        matches!(left.kernels[..], [KernelCheckpoint { memory: MemoryCheckpoint::Kept { .. }, .. }])
    };
    // The control.
    assert!(kept(&script));
    assert!(!kept(&script.holds(1, 1, false)));
    let other = Checkpoint { number: 9, ..checkpoint.clone() };
    let left = python().state.left_of(other);
    assert!(matches!(left.files, FilesCheckpoint::NotKept { .. }), "{left:?}");
}

#[test]
fn a_copy_that_nobody_asked_for_is_nobodys() {
    python()
        .copies(1, 1, 51)
        .does(&[])
        .kept(1)
        .copies(1, 1, 52)
        .does(&[])
        .copies(1, 3, 53)
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
    script.does(&["release 1 as 1"]);
}

#[test]
fn a_number_that_is_used_again_drops_what_was_after_it() {
    let (script, _taken) = python().kept(1).kept(2).kept(3).checkpoint(2);
    script.does(&["release 1 as 2", "release 1 as 3"]);
}

#[test]
fn a_copy_is_made_after_a_run_and_the_next_checkpoint_names_it() {
    let (script, _taken) = python().checkpoint(1);
    let script = script.copies(1, 1, 51).holds(1, 1, true).runs("python").does(&["begin 1"]);
    let script = script
        .claims(1, FINISHED)
        .does(&["finish Some(0) None ended=false limit=false", "copy 1 as 2"])
        .copies(1, 2, 52)
        .does(&["hold 1 as 2: 52"])
        .holds(1, 2, true)
        .does(&[]);
    let (script, mut taken) = script.checkpoint(2);
    let script = script.does(&[]);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: STILL });
    // Until it runs again, there is nothing to copy.
    let (script, mut taken) = script.checkpoint(3);
    let script = script.does(&[]).runs("python").does(&["begin 1"]);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: STILL });
    let (script, _rewound) = script.claims(1, FINISHED).rewind(2);
    script.does(&["rewind 1 to 2"]);
}

#[test]
fn a_cell_that_comes_first_is_behind_the_copy_in_the_kernels_queue() {
    let script =
        python().kept(1).does(&["finish Some(0) None ended=false limit=false", "copy 1 as 2"]);
    let (script, mut taken) = script.checkpoint(2);
    let script = script.does(&[]).runs("python").does(&["begin 1"]);
    assert!(taken.try_recv().is_err());
    script.copies(1, 2, 52).does(&["hold 1 as 2: 52"]).holds(1, 2, true).does(&[]);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: STILL });
}

#[test]
fn nothing_is_copied_where_nobody_keeps_checkpoints() {
    python().ran().does(&["finish Some(0) None ended=false limit=false"]);
}

#[test]
fn a_copy_that_no_checkpoint_names_is_dropped_when_its_kernel_runs() {
    let script = python().kept(1).copies(1, 2, 52).holds(1, 2, true).does(&[]);
    let script = script.runs("python").does(&["begin 1", "release 1 as 2"]);
    // One that is not made yet is dropped once it is.
    let script = script.claims(1, FINISHED).runs("python").does(&["begin 1"]);
    script.copies(1, 3, 53).does(&["hold 1 as 3: 53"]).holds(1, 3, true).does(&["release 1 as 3"]);
}

#[test]
fn a_kernel_with_threads_is_copied_at_the_checkpoint_itself() {
    let finished = "finish Some(0) None ended=false limit=false";
    let (script, _taken) = python().checkpoint(1);
    let script = script.threaded(1, 1, 51).holds(1, 1, true).ran().does(&[finished]);
    let (script, _taken) = script.checkpoint(2);
    let script = script.does(&["copy 1 as 2"]).threaded(1, 2, 52).holds(1, 2, true);
    // They go on between two checkpoints.
    let (script, _taken) = script.checkpoint(3);
    let script = script.does(&["copy 1 as 3"]).copies(1, 3, 53).holds(1, 3, true);
    script.ran().does(&[finished, "copy 1 as 4"]);
}

/// A shell may have acted on a thread of the kernel since then.
#[test]
fn a_copy_that_is_owed_is_not_shared_with_what_comes_after_another_kernels_run() {
    let script = python().prepare("shell").gets_ready(2).kept(1);
    let script = script.runs("shell").claims(2, FINISHED);
    let (script, _taken) = script.checkpoint(2);
    let script = script.does(&["copy 1 as 3"]);
    // One that is known to be of a kernel without threads is.
    let script = script.copies(1, 3, 53).holds(1, 3, true);
    let script = script.runs("shell").claims(2, FINISHED);
    let (script, _taken) = script.checkpoint(3);
    script.does(&[]);
}

#[test]
fn a_copy_that_has_died_is_made_again_for_the_next_checkpoint() {
    let script = python().kept(1).copies(1, 2, 52).holds(1, 2, true).holds(1, 2, false);
    let (script, mut taken) = script.checkpoint(2);
    script.does(&["copy 1 as 3", "release 1 as 2"]).copies(1, 3, 53).holds(1, 3, true);
    assert_eq!(memory(&mut taken), MemoryCheckpoint::Kept { beside: STILL });
}

#[test]
fn a_fresh_kernel_is_copied_as_soon_as_it_is_ready() {
    let script = python().kept(1).exits(1, Some(9)).prepare("python");
    script.claims(2, READY).does(&["ready python", "copy 2 as 3"]);
}

#[test]
fn a_kernel_that_never_answers_is_remembered_within_bounds() {
    let (mut script, _taken) = python().checkpoint(1);
    for _ in 0..100 {
        script = script.ran();
    }
    assert!(script.state.copies.known() <= 33);
    // And it may begin to.
    script.copies(1, 101, 51).does(&["hold 1 as 101: 51"]);
}

#[test]
fn a_kernel_goes_back_when_host_and_copy_have_said_so() {
    for host_first in [true, false] {
        let (script, _rewound) = python().kept(1).kept(2).rewind(1);
        let script = script.does(&["release 1 as 2", "rewind 1 to 1"]);
        let told = Outward::Rewound { kernel: 1, number: 1, process: 51 };
        let script = if host_first {
            script.tells(told).does(&[]).copies(1, 1, 61).does(&["hold 1 as 1: 61"])
        } else {
            script.copies(1, 1, 61).does(&["hold 1 as 1: 61"]).tells(told).does(&[])
        };
        let script = script.holds(1, 1, true);
        let restored = MemoryRewound::Restored { beside: STILL };
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
    let restored = MemoryRewound::Restored { beside: STILL };
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
fn a_checkpoint_that_is_not_kept_any_more_leaves_no_kernel() {
    let (script, _rewound) = python().kept(1).rewind(7);
    let script = script.does(&["stop 1"]).exits(1, Some(9));
    let [told] = &script.rewound()[..] else { panic!("{:?}", script.done) };
    assert!(told.contains("files 7 python Lost") && told.contains("not kept any more"), "{told}");
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

impl Script {
    fn counts(mut self) -> Self {
        let (reply, _) = oneshot::channel();
        let now = self.now();
        self.state.count_programs(reply, now);
        self.then()
    }

    fn is_counting(&self) -> bool {
        self.done.iter().any(|line| line.to_lowercase().contains("count"))
    }
}

/// The host takes a copy that it doesn't hold yet for a program of the code.
#[test]
fn programs_are_counted_when_no_copy_is_owed() {
    assert!(python().counts().is_counting());
    let owed = || python().checkpoint(1).0.counts();
    let script = owed();
    assert!(!script.is_counting());
    let script = script.copies(1, 1, 51);
    assert!(!script.is_counting());
    assert!(script.holds(1, 1, true).is_counting());
    // One that never comes is not waited for.
    assert!(owed().after(11.0).is_counting());
}
