//! Starts that come to nothing, told from their first frame to their last.

use super::{Script, confinement, language};
use interpreter_core::Limits;
use interpreter_host::{Heard, Outward};
use std::time::Duration;

impl Script {
    /// A kernel has been asked for, and may take a minute.
    fn starts(mut self, kernel: u32) -> Self {
        let now = self.now();
        self.state.starts(kernel, Duration::from_mins(1), now);
        self
    }

    fn begun(self, kernel: u32) -> Self {
        self.hears(Heard::Told(Outward::Started { kernel, process: 4_711, input: false }))
    }

    /// The error that the end of a kernel is for whoever waits for it.
    fn fails_with(&mut self, kernel: u32) -> Option<String> {
        let exited = Outward::Exited { kernel, status: None, signal: Some(9) };
        let now = self.now();
        let heard = self.state.heard(Heard::Told(exited), now, || false);
        heard.err().map(|error| error.to_string())
    }
}

#[test]
fn a_kernel_that_is_not_ready_in_time_is_ended_and_told_of() {
    let mut script = Script::new()
        .prepare("python")
        .starts(1)
        .begun(1)
        .after(59.0)
        .does(&[])
        .after(2.0)
        .does(&["stop 1"])
        // It comes too late.
        .gets_ready(1)
        .does(&[]);
    let error = script.fails_with(1).unwrap();
    assert!(error.contains("python interpreter did not start: it was not ready after 60 s"));
    assert_eq!(script.state.alarm(), None);
    // Somebody may try again, in the same sandbox.
    script.prepare("python").does(&["start 2 python"]);
}

#[test]
fn a_host_that_says_nothing_is_ended() {
    let silent = Script::new().prepare("python").starts(1).after(61.0);
    assert_eq!(silent.done.len(), 2, "{:?}", silent.done);
    assert_eq!(silent.done[0], "end");
    assert!(silent.done[1].contains("the sandbox did not answer in time"), "{:?}", silent.done);
    silent.prepare("python").does(&["build", "start 2 python"]);
    // So is one that does not end what it should.
    let stuck = Script::new().prepare("python").starts(1).begun(1).after(61.0).after(11.0);
    assert_eq!(stuck.done[0], "end");
}

#[test]
fn whoever_waits_hears_that_the_sandbox_was_given_up() {
    let used = Heard::Told(Outward::Used { milliseconds: 1 });
    let limits = Limits { cpu_seconds: Some(60), ..Limits::default() };
    // The host was asked how much time the last run has used, and does not answer any more.
    let mut script = Script::bounded(limits).running().hears(used);
    script = script.claims(1, r#"{"kind":"finished","status":0}"#);
    script.state.prepare(language("shell"), confinement(limits));
    script = script.then().does(&["start 2 shell"]).after(60.0).does(&["measure"]).after(11.0);
    assert_eq!(script.done[0], "end");
    assert!(script.done[1].contains("the sandbox did not answer in time"), "{:?}", script.done);
}

#[test]
fn a_kernel_that_floods_before_it_is_ready_is_told_of_too() {
    let flood = Heard::Stdout { kernel: 1, bytes: vec![b'x'; 2_000] };
    let limits = Limits { output_bytes: 1_000, ..Limits::default() };
    let mut script = Script::bounded(limits).prepare("python").starts(1).begun(1).hears(flood);
    assert_eq!(script.done.last().unwrap(), "stop 1");
    let error = script.fails_with(1).unwrap();
    assert!(error.contains("it printed past the limit"), "{error}");
}

#[test]
fn a_kernel_that_is_ready_has_all_the_time_there_is() {
    let script = Script::new().prepare("python").starts(1).begun(1).after(59.0).gets_ready(1);
    script.does(&["ready python"]).after(3_600.0).does(&[]).runs("python").does(&["begin 1"]);
}
