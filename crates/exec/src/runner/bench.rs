//! A sandbox for programs of our own choosing, one after another, such as an installer or a scanner.
//!
//! No kernel and no cell: each program runs to its end, and what it printed is kept in part.

use super::{live::Live, staging::DiskWatch};
use crate::{
    ExecError,
    egress::{Asks, Egress, Upstream},
    sandbox::{Machine, Refusals, find, recipe},
};
use interpreter_core::{Confinement, HostContact, Limits, Reached, egress::RunHosts};
use interpreter_host::{Heard, Inward, KernelInput, KernelSpec, Outward};
use std::{
    collections::BTreeMap,
    future::pending,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Bytes of a program's last words that are kept.
const SAID: usize = 64 << 10;

/// The longest that a program may take.
const PATIENCE: Duration = Duration::from_mins(30);

/// A sandbox that is up.
pub(crate) struct Bench {
    live: Live,
    egress: Option<Egress>,
    last: u32,
    disk: DiskWatch,
}

/// A program that runs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Beside those of the sandbox.
    pub(crate) environment: BTreeMap<String, String>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramEnd {
    pub(crate) status: Option<i32>,
    /// Its last words, on both streams.
    pub(crate) said: String,
    /// The standard output, from its beginning.
    pub(crate) output: Vec<u8>,
    /// Whether there was more of it.
    pub(crate) is_cut: bool,
    /// The limit on disk space that it has reached, and was left for. It may run until the sandbox
    /// is closed.
    pub(crate) reached: Option<Reached>,
}

impl ProgramEnd {
    fn unfinished(said: String, output: Vec<u8>) -> Self {
        Self { status: None, said, output, is_cut: false, reached: None }
    }
}

impl Bench {
    /// Starts a sandbox. `doors` is a private folder of ours.
    pub(crate) async fn open(
        confinement: &Confinement,
        machine: &Machine,
        doors: &Path,
        upstream: Option<Arc<Upstream>>,
    ) -> Result<Self, ExecError> {
        let backend = find(confinement, machine).await?;
        let mut confinement = confinement.clone();
        let recipe = recipe(backend);
        if recipe.confines && !recipe.has_door {
            let reason = "no host can be reached from it, so nothing can be installed";
            return Err(recipe.refuses(reason, None));
        }
        if !recipe.has_door {
            // There is no proxy where there is no sandbox.
            let is_proxy = |name: &str| name.to_ascii_lowercase().ends_with("_proxy");
            confinement.environment.retain(|name, _| !is_proxy(name));
        }
        let open = || Egress::open(&confinement.network, Asks::Nobody, doors, upstream, None);
        let egress = recipe.has_door.then(open).transpose()?;
        let door = egress.as_ref().map(Egress::doorway);
        let refusals = Refusals::default();
        let live = Live::start(backend, confinement, None, door, &refusals, machine);
        let live = live.await?;
        if let Some(egress) = &egress {
            egress.begin_run(RunHosts::Listed);
        }
        Ok(Self { live, egress, last: 0, disk: DiskWatch::default() })
    }

    /// Starts a sandbox that nothing leads out of. Where nothing confines, there is none.
    pub(crate) async fn open_closed(
        confinement: &Confinement,
        machine: &Machine,
    ) -> Result<Self, ExecError> {
        let backend = find(confinement, machine).await?;
        let recipe = recipe(backend);
        if !recipe.confines {
            return Err(recipe.refuses("nothing would confine the program", None));
        }
        let refusals = Refusals::default();
        let live = Live::start(backend, confinement.clone(), None, None, &refusals, machine);
        Ok(Self { live: live.await?, egress: None, last: 0, disk: DiskWatch::default() })
    }

    /// The same, bounding the disk space of a folder that only this sandbox writes.
    pub(crate) fn watching(mut self, folder: &Path, limits: &Limits) -> Self {
        self.disk = DiskWatch::over(folder, limits);
        self
    }

    /// Runs a program to its end.
    pub(crate) async fn run(&mut self, command: ToolCommand) -> Result<ProgramEnd, ExecError> {
        self.run_within(command, PATIENCE, 0).await
    }

    /// The same within a time, keeping up to `most` bytes of its standard output.
    pub(crate) async fn run_within(
        &mut self,
        command: ToolCommand,
        time: Duration,
        most: usize,
    ) -> Result<ProgramEnd, ExecError> {
        self.last += 1;
        let kernel = self.last;
        let Confinement { environment, work_folder, .. } = &self.live.confinement;
        let ToolCommand { program, arguments, environment: more } = command;
        let environment = environment.clone().into_iter().chain(more).collect();
        let folder = work_folder.clone();
        let input = KernelInput::Empty;
        let spec = KernelSpec { program, arguments, environment, folder, input };
        let spec = self.live.settle(spec);
        self.live.send(&Inward::Start { kernel, spec }).await?;
        match tokio::time::timeout(time, self.end_of(kernel, most)).await {
            Ok(ended) => ended,
            Err(_) => Err(ExecError::SandboxEnded { reason: "it took too long".into() }),
        }
    }

    async fn end_of(&mut self, own: u32, most: usize) -> Result<ProgramEnd, ExecError> {
        let (mut said, mut output, mut is_cut) = (Vec::new(), Vec::new(), false);
        loop {
            while let Some(heard) = self.live.next_heard()? {
                if let Heard::Stdout { kernel, bytes } = &heard
                    && *kernel == own
                {
                    let room = most.saturating_sub(output.len()).min(bytes.len());
                    output.extend_from_slice(&bytes[..room]);
                    is_cut = most > 0 && room < bytes.len();
                    if is_cut {
                        let end = ProgramEnd::unfinished(String::new(), output);
                        return Ok(ProgramEnd { is_cut, ..end });
                    }
                }
                match heard {
                    Heard::Stdout { kernel, bytes } | Heard::Stderr { kernel, bytes }
                        if kernel == own =>
                    {
                        said.extend_from_slice(&bytes);
                        let more = said.len().saturating_sub(SAID);
                        said.drain(..more);
                    }
                    Heard::Told(Outward::Exited { kernel, status, .. }) if kernel == own => {
                        let said = String::from_utf8_lossy(&said).into_owned();
                        return Ok(ProgramEnd {
                            status,
                            is_cut,
                            ..ProgramEnd::unfinished(said, output)
                        });
                    }
                    Heard::Told(Outward::Failed { kernel, message }) if kernel == own => {
                        return Ok(ProgramEnd {
                            is_cut,
                            ..ProgramEnd::unfinished(message, output)
                        });
                    }
                    Heard::Stdout { .. }
                    | Heard::Stderr { .. }
                    | Heard::Claim { .. }
                    | Heard::Lost { .. }
                    | Heard::Told(_) => {}
                }
            }
            if let Some(reached) = self.wait().await? {
                let end = ProgramEnd::unfinished(String::new(), output);
                return Ok(ProgramEnd { reached: Some(reached), ..end });
            }
        }
    }

    /// Waits until something comes from inside, or looks at the disk if it is time to.
    async fn wait(&mut self) -> Result<Option<Reached>, ExecError> {
        let alarm = self.disk.alarm();
        let until = async {
            match alarm {
                Some(alarm) => tokio::time::sleep_until(alarm.into()).await,
                None => pending().await,
            }
        };
        let blamed = tokio::select! {
            came = self.live.read() => {
                if !came? {
                    return Err(ExecError::SandboxEnded { reason: "it ended at once".into() });
                }
                None
            }
            () = until => self.disk.alarmed(Instant::now()),
            found = self.disk.counted() => self.disk.take_count(found, Instant::now()),
        };
        Ok(blamed.map(|(_, reached)| reached))
    }

    /// The hosts that were tried.
    pub(crate) fn contacts(&self) -> Vec<HostContact> {
        self.egress.as_ref().map(Egress::tried).unwrap_or_default()
    }

    /// The name of the sandbox.
    pub(crate) fn sandbox(&self) -> &'static str {
        self.live.backend.word()
    }

    /// Ends everything inside.
    pub(crate) async fn close(self) {
        self.live.stop().await;
    }
}
