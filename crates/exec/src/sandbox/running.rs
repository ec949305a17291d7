//! A sandbox that has been started: its process, its streams, and the end of it.

use super::{
    cgroup::{Frozen, Group},
    folder::RunFolder,
    in_copy::Moved,
    recipe::{Protection, Recipe},
    view::View,
};
use crate::ExecError;
use interpreter_core::{Confinement, Untrusted};
use interpreter_host::{KernelSpec, Link};
use interpreter_jail::JailFailure;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, unix::AsyncFd},
    net::unix::OwnedWriteHalf,
    process::{Child, Command},
};

/// How long the host may take to end everything inside.
const PATIENCE: Duration = Duration::from_secs(10);

/// How to remove what a helper started, where that does not end with the helper.
#[derive(Debug, Default)]
pub(super) struct Remains(pub(super) Option<Box<Command>>);

impl Remains {
    /// Ends a helper that does not end by itself, and removes what it has started.
    pub(super) async fn end(self, child: &mut Child) {
        _ = child.kill().await.is_ok();
        if let Some(mut remove) = self.0 {
            // An engine that does not answer this either is asked again by the next session.
            remove.kill_on_drop(true);
            _ = tokio::time::timeout(PATIENCE, remove.output()).await.is_ok();
        }
    }
}

/// A host in isolation, and the stream to it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(super) child: Child,
    pub(super) remains: Remains,
    /// Ends the stream when it is dropped.
    pub(crate) input: OwnedWriteHalf,
    /// Messages from inside.
    pub(crate) link: AsyncFd<Link>,
    /// The bounds of all its processes together.
    pub(super) group: Option<Group>,
    pub(super) recipe: &'static Recipe,
    /// Its folder instead of mounts.
    pub(super) folder: Option<RunFolder>,
    /// Where code sees its work folder, if that is elsewhere.
    pub(super) moved: Option<Moved>,
    pub(crate) protection: Protection,
    /// The visible paths.
    pub(crate) view: View,
}

impl Sandbox {
    /// Why there is nothing more to read from it.
    pub(crate) async fn why_it_ended(self) -> ExecError {
        let Self { child, remains, input, link, recipe, group: _group, folder: _folder, .. } = self;
        drop((input, link));
        why_it_ended(recipe, child, remains).await
    }

    /// Ends it before anything ran in it: whether it could be built.
    pub(super) async fn ended(self, patience: Duration) -> Result<Protection, ExecError> {
        let Self { mut child, remains, input, link, recipe, group, folder, protection, .. } = self;
        let _last = (group, folder);
        // The host ends when its stream does. If a step failed, the status says so instead.
        drop((input, link));
        match tokio::time::timeout(patience, child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(protection),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(_)) => Err(why_it_ended(recipe, child, remains).await),
            Err(_) => {
                remains.end(&mut child).await;
                Err(recipe
                    .refuses(format!("it had not ended after {} s", patience.as_secs()), None))
            }
        }
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
        match &self.folder {
            Some(folder) => self.recipe.settle(folder, spec),
            None => spec,
        }
    }

    /// The folders, as code sees them, that are its own for as long as the sandbox is up; and its
    /// home in one of them.
    pub(crate) fn temporary(&self, confinement: &Confinement) -> (Vec<PathBuf>, PathBuf) {
        let outside = self.folder.as_ref().and_then(|folder| self.recipe.temporary(folder));
        if let Some((folder, home)) = outside {
            return (vec![folder], home);
        }
        let folder = Path::new(confinement.temporary());
        (vec![folder.to_owned(), "/dev/shm".into()], folder.join("home"))
    }

    /// A path as code sees it.
    pub(crate) fn inside(&self, path: &Path) -> PathBuf {
        self.moved.as_ref().map_or_else(|| path.to_owned(), |moved| moved.path(path))
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
        let Self { mut child, remains, input, link, group, folder, .. } = self;
        // The host ends with its stream. Its keeper ends when it has, which the system lets happen
        // only after all other processes of its namespace are gone.
        drop((input, link, child.stderr.take()));
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
            // With its keeper the host dies, and with that all others.
            remains.end(&mut child).await;
        }
        // Nothing is in the group any more, and nothing writes into the folder.
        drop(group);
        if let Some(folder) = folder {
            // A session waits no longer than this for a folder with millions of files. The removal
            // goes on, and at its own end the program waits until it is done.
            _ = tokio::time::timeout(PATIENCE, folder.remove()).await.is_ok();
        }
    }
}

/// The last message of the process: the step that failed, or a crash of the host.
pub(super) async fn why_it_ended(recipe: &Recipe, mut child: Child, remains: Remains) -> ExecError {
    const MOST: u64 = 64 << 10;
    let mut said = Vec::new();
    let ended = async {
        if let Some(errors) = child.stderr.take() {
            // A partial message is better than none.
            _ = errors.take(MOST).read_to_end(&mut said).await.is_ok();
        }
        child.wait().await
    };
    let status = tokio::time::timeout(PATIENCE, ended).await;
    let status = if let Ok(status) = status {
        status
    } else {
        // An engine's client waits for its engine, even when the container is long gone.
        remains.end(&mut child).await;
        child.wait().await
    };
    let failure = said
        .split(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<JailFailure>(line).ok());
    if let Some(failure) = failure {
        return recipe.failed(&failure);
    }
    let said = Untrusted::new(String::from_utf8_lossy(&said));
    recipe.complaint(&said).unwrap_or_else(|| {
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        ExecError::SandboxEnded { reason: format!("{status} {}", said.for_terminal_line(500)) }
    })
}
