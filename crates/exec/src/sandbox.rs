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
//! Memory is bounded for each process, not for all together. Groups of the person's that give
//! access to files under `/etc` or `/opt` still do inside.

use crate::{ExecError, workspace::Set};
use interpreter_core::Confinement;
use interpreter_jail::{Failure, JAIL, Plan, encode};
use std::process::Stdio;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
};

pub use self::machine::Machine;

mod machine;
pub mod native;

/// A host in isolation, and the stream to it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) child: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    errors: ChildStderr,
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

/// Starts a sandbox.
pub(crate) async fn start(
    confinement: &Confinement,
    stage: Option<&Set>,
    machine: &Machine,
) -> Result<Sandbox, ExecError> {
    let plan = native::plan(confinement, stage.and_then(|set| set.upper().parent()), machine)?;
    launch(&plan, machine).await
}

async fn launch(plan: &Plan, machine: &Machine) -> Result<Sandbox, ExecError> {
    let spawned = {
        #[expect(clippy::disallowed_methods, reason = "the one place that starts a sandbox")]
        let mut command = tokio::process::Command::new(&machine.program);
        command
            .arg0(JAIL)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
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
    let stdin = child.stdin.take().expect("it was asked for");
    let output = child.stdout.take().expect("it was asked for");
    let errors = child.stderr.take().expect("it was asked for");
    let mut sandbox = Sandbox { child, input: stdin, output, errors };
    match sandbox.input.write_all(&encode(plan)).await {
        Ok(()) => Ok(sandbox),
        Err(_) => Err(sandbox.why_it_ended().await),
    }
}

impl Sandbox {
    /// Why there is nothing more to read from it.
    pub(crate) async fn why_it_ended(self) -> ExecError {
        drop((self.input, self.output));
        why_it_ended(self.child, self.errors).await
    }

    /// Kills everything inside and waits until it is dead.
    pub(crate) async fn stop(mut self) {
        // The host ends with its stream; killing its keeper kills it too, and with the first
        // process of its namespace all others.
        drop(self.input);
        _ = self.child.start_kill().is_ok();
        _ = self.child.wait().await.is_ok();
    }
}

/// Builds the sandbox once and ends it, to see whether it can be had. Nothing runs inside.
pub async fn probe(confinement: &Confinement, machine: &Machine) -> Result<Protection, ExecError> {
    let Sandbox { child, input, mut output, errors } = start(confinement, None, machine).await?;
    // The host ends when its stream does. If a step failed, the status says so instead.
    drop(input);
    let mut nothing = Vec::new();
    output.read_to_end(&mut nothing).await?;
    ended(child, errors).await
}

async fn ended(mut child: Child, errors: ChildStderr) -> Result<Protection, ExecError> {
    if child.wait().await?.success() {
        return Ok(native::protection());
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
