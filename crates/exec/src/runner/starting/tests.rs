//! Starts that hang for real: a stand-in for the host, or for the interpreter, never says anything.

#![expect(clippy::disallowed_methods, reason = "the stream of a stand-in for the host")]

use crate::{
    Command, ExecError, Interpreters, Runner, RunnerSetup, StandardInput,
    runner::tests::confinement,
    sandbox::{Machine, Patience},
};
use interpreter_core::{
    Backend, Choice, Confinement, Limits, Promise, Sandboxing, Workspace, session::Event,
};
use interpreter_workspace::Place;
use std::{
    fs::File,
    io::{self, Read},
    os::{fd::AsFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// A host that is none: it takes what it is sent, says nothing, and ends with its stream.
const SILENT: &str = "cat >/dev/null";

/// Long enough for a host to say that it has started something.
const SHORT: Duration = Duration::from_secs(4);

/// An interpreter that is none.
const SLEEPER: &str = "exec sleep 1000";

#[test]
#[ignore = "not a test: the others start this binary again to be the host"]
fn host() {
    let input = io::stdin().as_fd().try_clone_to_owned().unwrap();
    // Unbuffered: what follows the plan is the host's.
    let mut plan = File::from(input.try_clone().unwrap());
    let mut length = [0; 4];
    plan.read_exact(&mut length).unwrap();
    plan.read_exact(&mut vec![0; u32::from_le_bytes(length) as usize]).unwrap();
    drop(plan);
    // Not stdout, on which the test harness itself writes.
    let output = io::stderr().as_fd().try_clone_to_owned().unwrap();
    if interpreter_host::serve(input, output, None).is_err() {
        // The words of a panic would go where the frames went.
        std::panic::set_hook(Box::new(|_| {}));
        panic!("the exit code says it");
    }
}

/// The shell command by which this binary becomes the host.
fn host_again() -> String {
    let own = std::env::current_exe().unwrap();
    let name = "runner::starting::tests::host";
    format!("exec {} --ignored --exact {name} 2>&1 >/dev/null", own.display())
}

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "scratch", "changes", "bin"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that notes its process and goes on like this.
    fn program(&self, name: &str, goes_on: &str) -> PathBuf {
        let (path, noted) = (self.at(name), self.at("processes"));
        let text = format!("#!/bin/sh\necho $$ >> {}\n{goes_on}\n", noted.display());
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Prepares a shell with this host, and returns the outcome.
    async fn prepared(&self, host: &str, ready: Duration) -> (Result<Event, ExecError>, Runner) {
        let patience = Patience { ready, ..Patience::default() };
        let machine = Machine::look(self.program("host", host), self.at("scratch"), None);
        // Each is found by its name, first in our own folder.
        let interpreters = Interpreters::elsewhere([]);
        let path = format!("{}:/usr/bin:/bin", self.at("bin").display());
        let language = interpreters.languages().find("shell").unwrap();
        let (events, mut reported) = mpsc::channel(16);
        let setup = RunnerSetup {
            interpreters,
            machine: Machine { patience, ..machine },
            changes: Place::new(self.at("changes"), interpreter_core::hash::SealKey::new(&[7; 32])),
            undo_bytes: 0,
            session: "one".into(),
            upstream: None,
            broker: None,
            asks: None,
            input: StandardInput::Empty,
            redactor: std::sync::Arc::default(),
        };
        let runner = Runner::start(setup, events);
        let sandbox = Sandboxing {
            backend: Choice::Only(Backend::NONE),
            allow_missing: Promise::ALL.into(),
            image: None,
        };
        let confinement = Confinement {
            work_folder: self.at("work"),
            workspace: Workspace::Direct,
            sandbox,
            environment: [("PATH".to_owned(), path)].into(),
            ..confinement(Limits::default())
        };
        runner.tell(Command::Prepare { language, confinement: Box::new(confinement) });
        let event = reported.recv().await.unwrap();
        (event, runner)
    }

    /// Nothing is left: no process of the programs, and no folder of the sandbox.
    #[track_caller]
    fn is_clean(&self, programs: usize) {
        let noted = std::fs::read_to_string(self.at("processes")).unwrap();
        assert_eq!(noted.lines().count(), programs, "the control: they were started");
        for process in noted.lines() {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
            assert!(stat.is_err(), "{process} is left: {stat:?}");
        }
    }

    fn folders(&self) -> usize {
        std::fs::read_dir(self.at("scratch")).unwrap().count()
    }
}

#[tokio::test]
async fn a_host_that_says_nothing_is_ended_and_leaves_nothing() {
    let scene = Scene::new();
    let began = Instant::now();
    let (told, _runner) = scene.prepared(SILENT, SHORT).await;
    let error = told.unwrap_err().to_string();
    assert!(error.contains("the sandbox did not answer in time"), "{error}");
    assert!(began.elapsed() >= SHORT, "{:?}", began.elapsed());
    scene.is_clean(1);
    assert_eq!(scene.folders(), 0);
}

#[tokio::test]
async fn an_interpreter_that_is_never_ready_is_ended_and_the_host_goes_on() {
    let scene = Scene::new();
    scene.program("bin/bash", SLEEPER);
    let (told, runner) = scene.prepared(&host_again(), SHORT).await;
    let error = told.unwrap_err().to_string();
    assert!(
        error.contains("shell interpreter did not start: it was not ready after 4 s"),
        "{error}"
    );
    // The host is the first that noted itself.
    let noted = std::fs::read_to_string(scene.at("processes")).unwrap();
    let alive: Vec<_> =
        noted.lines().map(|process| Path::new("/proc").join(process).exists()).collect();
    assert_eq!(alive, [true, false]);
    assert_eq!(scene.folders(), 1);
    drop(runner);
}

/// The control: the same host, and an interpreter that is one.
#[tokio::test]
async fn an_interpreter_that_is_ready_in_time_is_not_ended() {
    let scene = Scene::new();
    let (told, runner) = scene.prepared(&host_again(), Duration::from_mins(1)).await;
    assert!(matches!(told, Ok(Event::Prepared(_))), "{told:?}");
    assert_eq!(scene.folders(), 1);
    drop(runner);
}
