//! Sandboxes: each starts a host in isolation and hands back the stream to it.
//!
//! # Threat
//! See `SECURITY.md`: code that a hostile model wrote.
//!
//! # Mechanism
//! A backend turns a [`Confinement`] into the list of steps that `interpreter-jail`
//! applies to a process of its own. That process is our own binary, started under another name;
//! it confines itself and becomes the host. [`native`] needs nothing else; `bubblewrap` and
//! `firejail` start that process within something of theirs; `landlock` does without namespaces,
//! and `bare` without anything. [`keeps`] says what each of them is worth, and `choose` which of
//! them may be used.
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
use interpreter_core::{Backend, Confinement};
use interpreter_host::{KernelSpec, Link};
use interpreter_jail::Failure;
use std::{path::Path, time::Duration};
use tokio::{
    io::{AsyncReadExt, unix::AsyncFd},
    net::unix::OwnedWriteHalf,
    process::{Child, ChildStderr},
};

pub(crate) use self::{
    cgroup::Frozen, choose::Search, in_copy::covered, start::said_instead, view::View,
    watch::Refusals,
};
use self::{
    cgroup::Group,
    folder::RunFolder,
    in_copy::Moved,
    start::{Launch, Prepared},
};
pub use self::{
    choose::{admit, find},
    keeps::keeps,
    machine::{Machine, surroundings},
    start::explain,
};

mod bare;
mod bubblewrap;
mod cgroup;
mod choose;
mod firejail;
mod folder;
mod in_copy;
mod keeps;
mod landlock;
mod machine;
pub mod native;
pub mod secrets;
mod start;
mod view;
mod watch;

/// How long the host may take to end everything inside.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host in isolation, and the stream to it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) child: Child,
    /// Ends the stream when it is dropped.
    pub(crate) input: OwnedWriteHalf,
    /// What comes from inside.
    pub(crate) link: AsyncFd<Link>,
    errors: ChildStderr,
    /// What bounds all of its processes together.
    group: Option<Group>,
    backend: Backend,
    /// What it has instead of mounts.
    folder: Option<RunFolder>,
    /// Where code sees its work folder, if that is elsewhere.
    moved: Option<Moved>,
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

impl Protection {
    /// Notes whether there is a control group.
    fn note_group(&mut self, group: Result<(), &String>) {
        match group {
            Ok(()) => self.enforced.push(
                "a control group: a limit on memory and on processes for all of them together"
                    .into(),
            ),
            Err(why) => self
                .missing
                .push(format!("a limit on the memory of all processes together, because {why}")),
        }
    }
}

/// Where a program of the system's is. Only where the system itself puts programs.
fn installed(name: &str) -> Option<std::path::PathBuf> {
    ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
}

/// Starts a sandbox. `door` is where its host finds the proxy, see `crate::egress`; without one
/// there is no way out at all. Calls that it refuses are noted in `refusals`.
pub(crate) async fn start(
    backend: Backend,
    confinement: &Confinement,
    stage: Option<&Set>,
    door: Option<&Path>,
    refusals: &Refusals,
    machine: &Machine,
) -> Result<Sandbox, ExecError> {
    let stage = stage.and_then(|set| set.upper().parent());
    let group = match backend {
        // A group bounds, and nothing is to be bounded.
        Backend::None => Err("there is no sandbox".into()),
        Backend::Native | Backend::Bubblewrap | Backend::Firejail | Backend::Landlock => {
            machine.groups.make(&confinement.limits)
        }
    };
    let searching = (backend != Backend::None).then(|| {
        let confinement = confinement.clone();
        let cover = match (backend, in_copy::copy_of(&confinement, stage)) {
            (Backend::Native, _) | (_, None) => secrets::cover,
            (_, Some(_)) => secrets::cover_granted,
        };
        tokio::task::spawn_blocking(move || cover(&confinement))
    });
    let covered = async {
        match searching {
            Some(searching) => searching.await.map_err(std::io::Error::from)?,
            None => Ok(confinement.clone()),
        }
    };
    if backend == Backend::Native {
        // The search goes on while the process starts and is put into its group.
        let plan = async { native::plan(&covered.await?, stage, door, machine) };
        return Launch::native(machine).start(plan, machine, None, group, refusals).await;
    }
    let covered = covered.await?;
    let Prepared { launch, plan, folder } =
        start::prepare(backend, &covered, stage, door, machine)?;
    launch.start(async { Ok(plan) }, machine, folder, group, refusals).await
}

impl Sandbox {
    /// Why there is nothing more to read from it.
    pub(crate) async fn why_it_ended(self) -> ExecError {
        let Self { child, input, link, errors, backend, group: _group, folder: _folder, .. } = self;
        drop((input, link));
        why_it_ended(backend, child, errors).await
    }

    /// Waits for what comes from inside, and takes it in. `false` means that nothing will come any
    /// more. May be dropped at any time without losing anything.
    pub(crate) async fn take_in(&mut self) -> std::io::Result<bool> {
        if self.link.get_ref().has_heard() {
            return Ok(true);
        }
        loop {
            let mut ready = self.link.readable_mut().await?;
            if let Ok(taken) = ready.try_io(|link| link.get_mut().take_in()) {
                return taken;
            }
        }
    }

    /// Whether more processes can be started, as far as that is known out here.
    pub(crate) fn has_room(&self) -> bool {
        self.group.as_ref().is_some_and(Group::has_room)
    }

    /// A kernel as it is started in this sandbox.
    pub(crate) fn settle(&self, spec: KernelSpec) -> KernelSpec {
        let spec = match &self.moved {
            Some(moved) => moved.settle(spec),
            None => spec,
        };
        match (self.backend, &self.folder) {
            (Backend::Landlock | Backend::Firejail | Backend::None, Some(folder)) => {
                folder.settle(spec)
            }
            (Backend::Native | Backend::Bubblewrap, _) | (_, None) => spec,
        }
    }

    /// How many of its processes the kernel has killed because all of them together used up their
    /// memory.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        self.group.as_ref().map_or(0, Group::killed_for_memory)
    }

    /// Stops everything inside, until what is returned is dropped. None where that is not possible.
    pub(crate) fn freeze(&self) -> Option<Frozen> {
        self.group.as_ref().and_then(Group::freeze)
    }

    /// Kills everything inside and waits until it is dead.
    pub(crate) async fn stop(self) {
        // The group goes at the end of this, when nothing is in it any more.
        let Self { mut child, input, link, errors, group: _group, folder: _folder, .. } = self;
        // The host ends with its stream. Its keeper ends when it has, which the system lets happen
        // only after all other processes of its namespace are gone.
        drop((input, link, errors));
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
            // With its keeper the host dies, and with that all others.
            _ = child.kill().await.is_ok();
        }
    }
}

/// Builds the sandbox once and ends it, to see whether it can be had. Nothing runs inside.
pub async fn probe(
    backend: Backend,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<Protection, ExecError> {
    let sandbox = start(backend, confinement, None, None, &Refusals::default(), machine).await?;
    let Sandbox {
        mut child, input, link, errors, group: _group, folder: _folder, protection, ..
    } = sandbox;
    // The host ends when its stream does. If a step failed, the status says so instead.
    drop((input, link));
    if child.wait().await?.success() {
        return Ok(protection);
    }
    Err(why_it_ended(backend, child, errors).await)
}

/// What the process said before it ended: the step that failed, or a crash of the host.
async fn why_it_ended(backend: Backend, mut child: Child, errors: ChildStderr) -> ExecError {
    const MOST: u64 = 64 << 10;
    let mut said = Vec::new();
    // What can be read is all there is to say.
    _ = errors.take(MOST).read_to_end(&mut said).await.is_ok();
    let status = child.wait().await;
    let failure = said
        .split(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<Failure>(line).ok());
    if let Some(failure) = failure {
        return native::refusal(backend.word(), &failure);
    }
    let said = interpreter_core::Untrusted::new(String::from_utf8_lossy(&said));
    if let Some(reason) = start::helper_said(backend, &said) {
        let hint = start::helper_hint(backend).map(str::to_owned);
        return ExecError::CannotConfine { backend: backend.word(), reason, hint };
    }
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    ExecError::SandboxEnded { reason: format!("{status} {}", said.for_terminal_line(500)) }
}
