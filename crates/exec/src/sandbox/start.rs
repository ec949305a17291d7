//! Starts a sandbox by its recipe, or says what would be done.

use super::{
    backends::recipe,
    cgroup::Group,
    container,
    counting::{Bounds, Counting},
    folder::{Layout, RunFolder},
    in_copy,
    machine::Machine,
    meeting::{Meeting, Missed},
    recipe::{Furniture, Helper, Protection, Recipe, Site, Tidying},
    running::{Remains, Sandbox, why_it_ended},
    secrets,
    watch::{self, Refusals},
};
use crate::{Cause, ExecError, egress::Doorway};
use interpreter_core::{Backend, Confinement};
use interpreter_host::Link;
use interpreter_jail::{JAIL, Plan, encode, profile, rules};
use interpreter_workspace::Set;
use std::{
    ffi::OsString,
    os::{fd::OwnedFd, unix::net::UnixStream as Socket},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{
    io::{AsyncWriteExt, Interest, unix::AsyncFd},
    net::{UnixStream, unix::OwnedWriteHalf},
    process::{Child, Command},
};

/// Starts a sandbox. `door` is where its host finds the proxy, see `crate::egress`; without one
/// there is no way out at all. Calls that it refuses are noted in `refusals`.
pub(crate) async fn start(
    backend: Backend,
    confinement: &Confinement,
    stage: Option<&Set>,
    door: Option<Doorway<'_>>,
    refusals: &Refusals,
    machine: &Machine,
) -> Result<Sandbox, ExecError> {
    let recipe = recipe(backend);
    let stage = stage.and_then(|set| set.upper().parent());
    let copy = recipe.copy(confinement, stage);
    let group = if recipe.confines {
        machine.groups.make(&confinement.limits)
    } else {
        // A group bounds, and nothing is to be bounded.
        Err("there is no sandbox".into())
    };
    let searching = recipe.confines.then(|| {
        let confinement = confinement.clone();
        let cover = if copy.is_some() { secrets::cover_granted } else { secrets::cover };
        tokio::task::spawn_blocking(move || cover(&confinement))
    });
    let covered = async {
        match searching {
            Some(searching) => searching.await.map_err(std::io::Error::from)?,
            None => Ok(confinement.clone()),
        }
    };
    let folder = run_folder(recipe, confinement, machine)?;
    let nowhere = Layout::of(&machine.scratch);
    let layout = folder.as_deref().unwrap_or(&nowhere);
    let (copied, name) = (copy.as_deref(), &container::name());
    // Until it is known better.
    let counting = Counting::WithUser;
    let site =
        Site { recipe, confinement, stage, copy: copied, door, layout, machine, name, counting };
    let (mut launched, covered) = match &recipe.helper {
        // The search goes on while the process starts and is put into its group.
        None => {
            let mut command = command(&machine.program);
            command.arg0(JAIL);
            let remains = Remains::default();
            let launched = launch(recipe, command, None, remains, group, refusals).await?;
            (launched, covered.await?)
        }
        // Its arguments depend on the hidden paths.
        Some(helper) => {
            let covered = covered.await?;
            let site = Site { confinement: &covered, ..site };
            (launch_by(helper, &site, group, refusals).await?, covered)
        }
    };
    let bounds = launched.bounds(recipe, confinement, machine);
    let counting = bounds.counting;
    let plan = match (recipe.plan)(&Site { confinement: &covered, counting, ..site }) {
        Ok(plan) => plan,
        Err(error) => {
            launched.remains.end(&mut launched.child).await;
            return Err(error);
        }
    };
    let moved = recipe.moved(confinement, copy.as_deref());
    let mut protection = recipe.protection(machine);
    protection.enforced.extend(copy.map(|_| in_copy::words(moved.as_ref())));
    let Launched { child, remains, input, link, group, .. } = launched;
    if recipe.confines {
        let by_helper = (recipe.bounds_all)(machine);
        protection.note_group(group.as_ref().map(drop), by_helper, bounds);
    }
    let (group, view) = (group.ok(), (recipe.view)(&plan));
    let sandbox =
        Sandbox { child, remains, input, link, group, recipe, folder, moved, protection, view };
    give(sandbox, &plan, machine.patience.ready).await
}

/// Gives a process the plan that it waits for.
async fn give(mut sandbox: Sandbox, plan: &Plan, patience: Duration) -> Result<Sandbox, ExecError> {
    match tokio::time::timeout(patience, sandbox.input.write_all(&encode(plan))).await {
        Ok(Ok(())) => Ok(sandbox),
        Ok(Err(_)) => Err(sandbox.why_it_ended().await),
        Err(_) => {
            let recipe = sandbox.recipe;
            sandbox.stop().await;
            let reason = format!("our program had not started after {} s", patience.as_secs());
            Err(recipe.refuses(reason, None))
        }
    }
}

/// Builds the sandbox once and ends it, to see whether it works here. Nothing runs inside.
pub(super) async fn probe(
    backend: Backend,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<Protection, ExecError> {
    let sandbox = start(backend, confinement, None, None, &Refusals::default(), machine).await?;
    sandbox.ended(machine.patience.ready).await
}

/// Everything that would be done, in words, a line each. Whether an engine enforces the limit that
/// it is given is not known before it has started something; here it is believed.
pub fn explain(
    backend: Backend,
    confinement: &Confinement,
    stage: Option<&Path>,
    door: Option<Doorway<'_>>,
    machine: &Machine,
) -> Result<Vec<String>, ExecError> {
    let (recipe, layout) = (recipe(backend), &Layout::of("RUN-FOLDER"));
    let copy = recipe.copy(confinement, stage);
    let (copied, name) = (copy.as_deref(), &container::name());
    let counting = if (recipe.bounds_all)(machine) { Counting::Apart } else { Counting::WithUser };
    let site =
        &Site { recipe, confinement, stage, copy: copied, door, layout, machine, name, counting };
    let plan = (recipe.plan)(site)?;
    let copied = copy.iter().map(|copy| {
        format!(
            "copy {} to {}, without what is covered and without pipes, sockets and devices",
            confinement.work_folder.display(),
            copy.display()
        )
    });
    let helper = match &recipe.helper {
        Some(helper) => {
            let (program, arguments) = helped(recipe, helper, site)?;
            let arguments: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
            Some(format!("start {} {}", program.display(), arguments.join(" ")))
        }
        None => None,
    };
    Ok(copied.chain(helper).chain(plan.0.iter().map(ToString::to_string)).collect())
}

/// The folder that a sandbox has its furniture in, if it needs one.
fn run_folder(
    recipe: &Recipe,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<Option<RunFolder>, ExecError> {
    let user = match recipe.furniture {
        Furniture::Planned => return Ok(None),
        Furniture::Mounted => None,
        Furniture::Outside => recipe.other_user(machine),
    };
    let Machine { scratch, program, .. } = machine;
    let made = RunFolder::make(scratch, program, user, &confinement.work_folder);
    let refused =
        |error| recipe.refuses(format!("there is no place for its drivers: {error}"), None);
    made.map(Some).map_err(refused)
}

/// The helper, and what it is started with.
fn helped(
    recipe: &Recipe,
    helper: &Helper,
    site: &Site<'_>,
) -> Result<(PathBuf, Vec<OsString>), ExecError> {
    let arguments = (helper.arguments)(site)?;
    // It was there when the backend was admitted; it may have gone since.
    let program = helper.path().ok_or_else(|| recipe.refuses("its program is not installed", None));
    Ok((program?, arguments))
}

/// A program that inherits nothing.
#[expect(clippy::disallowed_methods, reason = "the one place that starts a sandbox")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command
}

/// A process that has been started, and waits for its plan.
struct Launched {
    child: Child,
    remains: Remains,
    input: OwnedWriteHalf,
    link: AsyncFd<Link>,
    group: Result<Group, String>,
    /// Our own binary in the sandbox, as it is numbered here.
    process: Option<u32>,
}

impl Launched {
    /// The bounds of its processes together: a group of ours does, or that of an engine, as far as the
    /// kernel says so.
    fn bounds(&self, recipe: &Recipe, confinement: &Confinement, machine: &Machine) -> Bounds {
        if self.group.is_ok() {
            return Bounds::GROUP;
        }
        let asked = self.process.filter(|_| (recipe.bounds_all)(machine));
        let limits = &confinement.limits;
        let most = container::most_processes(limits);
        asked.map_or(Bounds::NONE, |process| Bounds::of(process, most, limits.memory_bytes))
    }
}

/// Starts a process by a helper.
async fn launch_by(
    helper: &'static Helper,
    site: &Site<'_>,
    group: Result<Group, String>,
    refusals: &Refusals,
) -> Result<Launched, ExecError> {
    let recipe = site.recipe;
    let (program, arguments) = helped(recipe, helper, site)?;
    let client = || {
        let mut command = command(&program);
        command.envs((helper.environment)(site));
        command
    };
    let mut command = client();
    command.args(arguments);
    let meeting = meeting(recipe, helper, site)?;
    let remains = Remains(helper.tidying.map(|tidying| {
        let mut remove = client();
        remove.args(helper.client).args(tidying.remove).arg(site.name);
        Box::new(remove)
    }));
    let launched = launch(recipe, command, meeting, remains, group, refusals).await?;
    if let Some(tidying) = helper.tidying {
        tidy(helper, tidying, client);
    }
    Ok(launched)
}

/// Starts a process and puts it into its group.
async fn launch(
    recipe: &Recipe,
    mut command: Command,
    meeting: Option<(Meeting, Duration)>,
    remains: Remains,
    group: Result<Group, String>,
    refusals: &Refusals,
) -> Result<Launched, ExecError> {
    // Sockets, so that the process can hand descriptors out by them.
    let (ours, theirs) = Socket::pair()?;
    let (link, host) = Socket::pair()?;
    let (theirs, host) = (OwnedFd::from(theirs), OwnedFd::from(host));
    command.current_dir("/").stderr(Stdio::piped()).kill_on_drop(true);
    let streams = if meeting.is_some() {
        // In a group of its own: an interrupt at the terminal is not meant for it.
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        Some([theirs, host])
    } else {
        command.stdin(Stdio::from(theirs)).stdout(Stdio::from(host));
        None
    };
    let mut child = command.spawn().map_err(|error| {
        let program = command.as_std().get_program().to_string_lossy();
        recipe.refuses(format!("{program} does not start: {error}"), None)
    })?;
    // Both ends that it has must be gone when it ends.
    drop(command);
    ours.set_nonblocking(true)?;
    let (handed_out, input) = UnixStream::from_std(ours)?.into_split();
    watch::watch(handed_out, refusals.clone());
    let link = watched(Link::new(link)?)?;
    let process = match meeting.zip(streams) {
        Some(((meeting, patience), streams)) => {
            match tokio::time::timeout(patience, meeting.hand_over(&mut child, streams)).await {
                Ok(Ok(process)) => Some(process),
                Ok(Err(Missed::Ended)) => return Err(why_it_ended(recipe, child, remains).await),
                Ok(Err(Missed::Failed(error))) => {
                    remains.end(&mut child).await;
                    return Err(recipe.refuses(error.to_string(), None));
                }
                Err(_) => {
                    remains.end(&mut child).await;
                    let waited = patience.as_secs();
                    let reason = format!("it had not started our program after {waited} s");
                    return Err(recipe.refuses(reason, Some(Cause::EngineFailed)));
                }
            }
        }
        None => child.id(),
    };
    // The process reads its plan after this, and starts nothing before.
    let group = group.and_then(|group| match process.map(|id| group.add(id)) {
        Some(Ok(())) => Ok(group),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the process has ended already".into()),
    });
    Ok(Launched { child, remains, input, link, group, process })
}

/// The place where our binary meets us and how long that may take, if it is met. The profile that it
/// runs under is then there too.
fn meeting(
    recipe: &Recipe,
    helper: &Helper,
    site: &Site<'_>,
) -> Result<Option<(Meeting, Duration)>, ExecError> {
    let Some(user) = helper.meets else { return Ok(None) };
    let profile = rules().and_then(|rules| profile(&rules));
    let profile = profile.map_err(|error| recipe.refuses(error.to_string(), None))?;
    fs_err::write(site.layout.profile(), profile)?;
    let [user, _] = user(site.machine);
    Ok(Some((Meeting::open(site.layout.meeting(), user)?, site.machine.patience.meeting)))
}

/// Removes things that the helper left when a program was killed, aside.
fn tidy(helper: &Helper, tidying: &'static Tidying, client: impl Fn() -> Command) {
    let (mut list, mut remove) = (client(), client());
    list.args(helper.client).args(tidying.list).kill_on_drop(true);
    remove.args(helper.client).args(tidying.remove).kill_on_drop(true);
    tokio::spawn(async move {
        // If it fails, the next session tries again.
        let Ok(listed) = list.output().await else { return };
        let left_over = (tidying.left_over)(&String::from_utf8_lossy(&listed.stdout));
        if !left_over.is_empty() {
            _ = remove.args(left_over).output().await.is_ok();
        }
    });
}

/// The link, as the runtime watches it.
#[expect(deprecated, reason = "the new form is `unsafe`, for things whose descriptor may change")]
fn watched(link: Link) -> std::io::Result<AsyncFd<Link>> {
    AsyncFd::with_interest(link, Interest::READABLE)
}

#[cfg(test)]
mod tests;
