//! A sandbox that is up, and its stream.

use crate::{
    ExecError, Interpreter,
    egress::Doorway,
    sandbox::{Frozen, Machine, Protection, Refusals, Sandbox, View, recipe, start},
};
use interpreter_core::{Backend, Confinement, Invocation};
use interpreter_host::{FrameError, Heard, Inward, KernelInput, KernelSpec, Link, encode};
use interpreter_workspace::Set;
use std::{os::fd::OwnedFd, path::Path, time::Duration};
use tokio::io::AsyncWriteExt;

/// How long the host may take to read what it is sent. It does little else.
const PATIENCE: Duration = Duration::from_secs(10);

/// A sandbox that is up.
#[derive(Debug)]
pub(super) struct Live {
    sandbox: Sandbox,
    pub(super) confinement: Confinement,
    pub(super) backend: Backend,
    /// Whether anything has come from inside: then it could be built.
    pub(super) answered: bool,
    /// Processes that the kernel has killed for want of memory, when we last looked.
    killed: u64,
}

impl Live {
    pub(super) async fn start(
        backend: Backend,
        confinement: Confinement,
        set: Option<&Set>,
        door: Option<Doorway<'_>>,
        refusals: &Refusals,
        machine: &Machine,
    ) -> Result<Self, ExecError> {
        Ok(Self {
            sandbox: start(backend, &confinement, set, door, refusals, machine).await?,
            confinement,
            backend,
            answered: false,
            killed: 0,
        })
    }

    /// Starts a kernel.
    pub(super) async fn start_kernel(
        &mut self,
        kernel: u32,
        interpreter: &Interpreter,
        input: KernelInput,
    ) -> Result<(), ExecError> {
        let Confinement { environment, work_folder, .. } = &self.confinement;
        let spec = KernelSpec { input, ..interpreter.spec(environment, work_folder) };
        let spec = self.settle(spec);
        self.send(&Inward::Start { kernel, spec }).await
    }

    /// A kernel as it is started in this sandbox.
    pub(super) fn settle(&self, spec: KernelSpec) -> KernelSpec {
        self.sandbox.settle(spec)
    }

    /// Sends a frame. A host that does not take it in time is no use any more.
    pub(super) async fn send(&mut self, frame: &Inward) -> Result<(), ExecError> {
        let mut bytes = Vec::new();
        encode(frame, &mut bytes).map_err(broken)?;
        match tokio::time::timeout(PATIENCE, self.sandbox.input.write_all(&bytes)).await {
            Ok(written) => Ok(written?),
            Err(_) => Err(ExecError::SandboxEnded { reason: "it does not listen any more".into() }),
        }
    }

    /// The request that empties the temporary folders.
    pub(super) fn emptying(&self) -> Inward {
        let (folders, home) = self.sandbox.temporary(&self.confinement);
        Inward::Empty { folders, home }
    }

    /// Gives a kernel the next cell. If earlier code may have left too many processes, or if the
    /// cell must come behind all that the host was sent, the host looks first.
    pub(super) async fn execute(
        &mut self,
        kernel: u32,
        code: Vec<u8>,
        invocation: Option<Invocation>,
        behind: bool,
    ) -> Result<(), ExecError> {
        let called = invocation.map_or_else(Vec::new, |invocation| self.called(invocation));
        if self.sandbox.has_room() && !behind {
            self.link().execute(kernel, &code, &called);
            return Ok(());
        }
        self.link().execute_when_tidied(kernel, code, called);
        self.send(&Inward::Tidy { kernel }).await
    }

    /// The words that tell a driver how code was called, with paths as code sees them.
    fn called(&self, invocation: Invocation) -> Vec<String> {
        let Invocation { name, file, arguments } = invocation;
        let inside = |path: &Path| self.sandbox.inside(path).to_string_lossy().into_owned();
        let name = if file.is_some() { inside(Path::new(&name)) } else { name };
        let file = file.map(|file| inside(&file)).unwrap_or_default();
        [name, file].into_iter().chain(arguments).collect()
    }

    /// The end of a kernel's standard input, to be written to; once, and only if it is a pipe.
    pub(super) fn take_input(&mut self, kernel: u32) -> Option<OwnedFd> {
        self.link().take_input(kernel)
    }

    /// Hands a kernel's code what the person typed; without a text, that nothing more comes.
    pub(super) fn answer(&mut self, kernel: u32, text: Option<&[u8]>) {
        self.link().answer(kernel, text);
    }

    /// Asks a kernel how code could go on.
    pub(super) fn complete(&mut self, kernel: u32, code: &[u8], cursor: u32) {
        self.link().complete(kernel, code, cursor);
    }

    /// Asks a kernel for a copy of its memory.
    pub(super) fn copy(&mut self, kernel: u32, number: u32) {
        self.link().checkpoint(kernel, number);
    }

    fn link(&mut self) -> &mut Link {
        self.sandbox.link.get_mut()
    }

    /// Waits until something comes and takes it in. `false` means that the stream has ended. May be
    /// dropped at any time without losing anything.
    pub(super) async fn read(&mut self) -> Result<bool, ExecError> {
        let came = self.sandbox.take_in().await?;
        self.answered |= came;
        Ok(came)
    }

    /// The next thing that has come in whole.
    pub(super) fn next_heard(&mut self) -> Result<Option<Heard>, ExecError> {
        let backend = self.backend;
        self.link().next().transpose().map_err(|error| match error {
            FrameError::Foreign { said, .. } => recipe(backend).said_instead(&said),
            error @ (FrameError::TooShort { .. }
            | FrameError::TooLong { .. }
            | FrameError::Unknown { .. }
            | FrameError::NoWires
            | FrameError::Payload { .. }) => broken(error),
        })
    }

    /// The visible paths.
    pub(super) fn view(&self) -> &View {
        &self.sandbox.view
    }

    /// The bounds of the run.
    pub(super) fn protection(&self) -> Protection {
        self.sandbox.protection.clone()
    }

    /// Whether the kernel has killed for want of memory since this was last asked.
    pub(super) fn memory_ran_out(&mut self) -> bool {
        let before = std::mem::replace(&mut self.killed, self.sandbox.killed_for_memory());
        self.killed > before
    }

    /// Stops everything inside, until what is returned is dropped. None where that is not possible.
    pub(super) fn freeze(&self) -> Option<Frozen> {
        self.sandbox.freeze()
    }

    pub(super) async fn why_it_ended(self) -> ExecError {
        self.sandbox.why_it_ended().await
    }

    pub(super) async fn stop(self) {
        self.sandbox.stop().await;
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
fn broken(error: FrameError) -> ExecError {
    ExecError::SandboxEnded { reason: error.to_string() }
}
