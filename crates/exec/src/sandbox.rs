//! Sandboxes: each starts a host in isolation and hands back one duplex byte stream.
//!
//! # Threat
//! See `SECURITY.md`: code that a hostile model wrote.
//!
//! # Mechanism
//! [`native::plan`] turns a [`Confinement`] into the list of steps that `interpreter-jail`
//! applies to a process of its own. That process is our own binary, started under another name;
//! it confines itself, becomes the host, and is the first process inside.
//!
//! # Order
//! The plan is complete before the process starts. If any step fails the process ends and says
//! which; nothing runs half confined.
//!
//! # Limits
//! Where no control group can be had, memory is bounded for each process and not for all together.
//! Groups of the person's that give
//! access to files under `/etc` or `/opt` still do inside.

use crate::{ExecError, workspace::Set};
use interpreter_core::Confinement;
use interpreter_jail::{Failure, JAIL, Plan, encode};
use std::{
    os::{fd::OwnedFd, unix::net::UnixStream as Socket},
    path::Path,
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixStream, unix::OwnedWriteHalf},
    process::{Child, ChildStderr, ChildStdout},
};

use self::cgroup::Group;
pub use self::machine::Machine;
pub(crate) use self::{view::View, watch::Refusals};

mod cgroup;
mod machine;
pub mod native;
mod view;
mod watch;

/// Bytes that the pipe from the host is to hold.
const ROOM: usize = 1 << 20;

/// How long the host may take to end everything inside.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host in isolation, and the stream to it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) child: Child,
    /// Ends the stream when it is dropped.
    pub(crate) input: OwnedWriteHalf,
    pub(crate) output: ChildStdout,
    errors: ChildStderr,
    /// What bounds all of its processes together.
    group: Option<Group>,
    pub(crate) protection: Protection,
    /// What it shows.
    pub(crate) view: View,
}

/// What bounds a run, in words: for the record, the screen and `doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The backend's name.
    pub backend: &'static str,
    /// What is enforced.
    pub enforced: Vec<String>,
    /// What is not, with the reason.
    pub missing: Vec<String>,
}

/// Starts a sandbox. `door` is where its host finds the proxy, see `crate::egress`; without one
/// there is no way out at all. Calls that it refuses are noted in `refusals`.
pub(crate) async fn start(
    confinement: &Confinement,
    stage: Option<&Set>,
    door: Option<&Path>,
    refusals: &Refusals,
    machine: &Machine,
) -> Result<Sandbox, ExecError> {
    let stage = stage.and_then(|set| set.upper().parent());
    let plan = native::plan(confinement, stage, door, machine)?;
    let group = machine.groups.make(&confinement.limits);
    launch(&plan, machine, group, refusals).await
}

async fn launch(
    plan: &Plan,
    machine: &Machine,
    group: Result<Group, String>,
    refusals: &Refusals,
) -> Result<Sandbox, ExecError> {
    // A socket, so that the process can hand a descriptor out by it.
    let (ours, theirs) = Socket::pair()?;
    let spawned = {
        #[expect(clippy::disallowed_methods, reason = "the one place that starts a sandbox")]
        let mut command = tokio::process::Command::new(&machine.program);
        command
            .arg0(JAIL)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    };
    let mut child = spawned.map_err(|error| ExecError::CannotConfine {
        backend: native::NAME,
        reason: format!("{} does not start: {error}", machine.program.display()),
        hint: None,
    })?;
    ours.set_nonblocking(true)?;
    let (handed_out, input) = UnixStream::from_std(ours)?.into_split();
    watch::watch(handed_out, refusals.clone());
    let output = child.stdout.take().expect("it was asked for");
    let errors = child.stderr.take().expect("it was asked for");
    // Fewer and larger pieces; where it is refused the usual size does.
    rustix::pipe::fcntl_setpipe_size(&output, ROOM).unwrap_or_default();
    // The process reads its plan after this, and starts nothing before.
    let group = group.and_then(|group| match child.id().map(|id| group.add(id)) {
        Some(Ok(())) => Ok(group),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the process has ended already".into()),
    });
    let protection = native::protection(machine, group.as_ref().map(drop));
    let group = group.ok();
    let view = View::of(plan);
    let mut sandbox = Sandbox { child, input, output, errors, group, protection, view };
    match sandbox.input.write_all(&encode(plan)).await {
        Ok(()) => Ok(sandbox),
        Err(_) => Err(sandbox.why_it_ended().await),
    }
}

impl Sandbox {
    /// Why there is nothing more to read from it.
    pub(crate) async fn why_it_ended(self) -> ExecError {
        let Self { child, input, output, errors, group: _group, .. } = self;
        drop((input, output));
        why_it_ended(child, errors).await
    }

    /// How many of its processes the kernel has killed because all of them together used up their
    /// memory.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        self.group.as_ref().map_or(0, Group::killed_for_memory)
    }

    /// Kills everything inside and waits until it is dead.
    pub(crate) async fn stop(self) {
        // The group goes at the end of this, when nothing is in it any more.
        let Self { mut child, input, output, errors, group: _group, .. } = self;
        // The host ends with its stream. Its keeper ends when it has, which the system lets happen
        // only after all other processes of its namespace are gone.
        drop((input, output, errors));
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
            // With its keeper the host dies, and with that all others.
            _ = child.kill().await.is_ok();
        }
    }
}

/// Builds the sandbox once and ends it, to see whether it can be had. Nothing runs inside.
pub async fn probe(confinement: &Confinement, machine: &Machine) -> Result<Protection, ExecError> {
    let sandbox = start(confinement, None, None, &Refusals::default(), machine).await?;
    let Sandbox { mut child, input, mut output, errors, group: _group, protection, .. } = sandbox;
    // The host ends when its stream does. If a step failed, the status says so instead.
    drop(input);
    let mut nothing = Vec::new();
    output.read_to_end(&mut nothing).await?;
    if child.wait().await?.success() {
        return Ok(protection);
    }
    Err(why_it_ended(child, errors).await)
}

/// What the process said before it ended: the step that failed, or a crash of the host.
async fn why_it_ended(mut child: Child, errors: ChildStderr) -> ExecError {
    const MOST: u64 = 64 << 10;
    let mut said = Vec::new();
    // What can be read is all there is to say.
    _ = errors.take(MOST).read_to_end(&mut said).await.is_ok();
    let status = child.wait().await;
    let failure = said
        .split(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<Failure>(line).ok());
    if let Some(failure) = failure {
        return native::refusal(&failure);
    }
    let said = interpreter_core::Untrusted::new(String::from_utf8_lossy(&said));
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    ExecError::SandboxEnded { reason: format!("{status} {}", said.for_terminal_line(500)) }
}
