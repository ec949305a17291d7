//! A container of a local engine, with our own fences inside: the part that docker and podman share.
//!
//! # Threat
//! That of the native sandbox; and an image that others made, which brings its own programs, its own
//! settings for the engine, or its own files at the places where ours stand.
//!
//! # Mechanism
//! The engine's client starts one container a session. Its system is the image, read-only; it has no
//! network, no capabilities, no new privileges, an unprivileged user, the engine's limits and our
//! rules as its system-call profile. It runs our own binary, bound in, as a jail: it meets us
//! at a socket that is bound in, sets limits, adds Landlock and the filter, verifies, and becomes the
//! host. Of the image's own settings none is obeyed: entry point, user, folder, health check and, as
//! far as the engine lets us, volumes. An image is never fetched. The engine's socket is not inside.
//!
//! # Order
//! The socket and the profile are there before the client starts. The plan is made and sent after
//! the meeting, when it is known whether a control group bounds the processes.
//! A host ends when its stream does and the container with it, also if this program is killed.
//!
//! # Limits
//! Whoever may use an engine that runs as root is as good as root: a hole in the engine is one in the
//! machine. Our binary needs a C library in the image that is at least as new as the one that it was
//! made with. Other mounts below a folder that is shown are not shown. Paths with a comma or a quote
//! cannot be bound. As root, code is another user, who cannot change a folder that is not staged.

use super::{
    counting::Counting,
    in_copy::uncovered,
    landlock::beside_others,
    machine::{Machine, Rights},
    native::{DOOR, HOST_PROGRAM, become_host, check_work_folder, limits, pinned},
    recipe::{Protection, Recipe, Site, Tidying},
};
use crate::{Cause, ExecError, Interpreters, egress::TRUSTED};
use interpreter_core::{Access, Confinement, Limits, Workspace};
use interpreter_jail::{JAIL, Plan, Step, attack::ATTACK};
use interpreter_jupyter::JUPYTER;
use rustix::process::{Resource, getrlimit};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The image, unless another one is named. `scripts/make-image` makes it.
const DEFAULT_IMAGE: &str = "interpreter:default";

/// Where the jail meets us.
const MEETING: &str = "/run/interpreter/meeting";

/// How names of our containers begin.
const NAME: &str = "interpreter-";

/// A name for a container of ours, which no other has.
pub(super) fn name() -> String {
    format!("{NAME}{}-{}-{}", numbering(), std::process::id(), uuid::Uuid::new_v4().simple())
}

/// The namespace in which our process has its number. Programs that see different processes can
/// share an engine, and the same number means another process to each.
fn numbering() -> String {
    let link = fs_err::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

/// The label of our containers.
const LABEL: &str = "interpreter.sandbox";

/// Where an engine's client finds the programs that it needs.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Removes containers of programs that were killed. They end by themselves, and the engine removes
/// them; this is for those that an engine left which was itself ended.
pub(super) static TIDYING: Tidying = Tidying {
    list: &["ps", "--all", "--filter", "label=interpreter.sandbox", "--format", "{{.Names}}"],
    remove: &["rm", "--force"],
    left_over,
};

fn left_over(names: &str) -> Vec<String> {
    let ours = format!("{NAME}{}-", numbering());
    let is_gone = |name: &&str| {
        let process = name.strip_prefix(&ours).and_then(|rest| rest.split('-').next());
        process.is_some_and(|process| !Path::new("/proc").join(process).exists())
    };
    names.lines().map(str::trim).filter(is_gone).map(str::to_owned).collect()
}

/// Processes of one user that the engine lets be. podman's own monitor can have no more.
const MOST_PROCESSES: u64 = 32_768;

/// Processes beside those of code: the host, and threads of its own that the engine has inside.
const OURS: u64 = 16;

/// All processes of a container together.
pub(super) fn most_processes(limits: &Limits) -> u64 {
    limits.processes.saturating_add(OURS)
}

pub(super) fn admits(
    recipe: &Recipe,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<(), ExecError> {
    match (machine.rights, confinement.workspace) {
        (Rights::Ordinary, _) | (_, Workspace::Stage | Workspace::ReadOnly) => {}
        (Rights::Root | Rights::RootWithoutMounts | Rights::RootInName, Workspace::Direct) => {
            return Err(recipe.refuses(
                "root's code runs as another user, who cannot change your folder",
                Some(Cause::RootCannotWrite),
            ));
        }
    }
    let shown = confinement.files.keys().chain([&confinement.work_folder, &machine.scratch]);
    match shown.into_iter().find(|path| !can_be_bound(path)) {
        Some(path) => {
            let reason = format!("an engine cannot bind {}, for its name", path.display());
            Err(recipe.refuses(reason, Some(Cause::NotBindable)))
        }
        None => Ok(()),
    }
}

/// Engines read a mount as a list with commas.
fn can_be_bound(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains([',', '"', '\n', '\r']))
}

/// The user that code is, inside and outside.
pub(super) fn user(machine: &Machine) -> [u32; 2] {
    if machine.user == 0 { [machine.code_user(); 2] } else { [machine.user, machine.group] }
}

/// Arguments of the engine's client.
#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<I: Into<OsString>>(&mut self, words: impl IntoIterator<Item = I>) {
        self.0.extend(words.into_iter().map(Into::into));
    }

    fn bind(&mut self, from: &Path, to: &Path, how: &str) {
        let (from, to) = (from.display(), to.display());
        let mount = format!("type=bind,source={from},target={to},bind-nonrecursive=true{how}");
        self.add(["--mount", &mount]);
    }

    fn show(&mut self, from: &Path, to: &Path) {
        self.bind(from, to, ",readonly");
    }
}

/// The arguments of the engine's client: `client` are options of one engine's client, `own` those
/// of its command that runs a container.
pub(super) fn arguments(
    site: &Site<'_>,
    client: &[&str],
    own: Vec<OsString>,
) -> Result<Vec<OsString>, ExecError> {
    let Site { confinement, layout, machine, name, .. } = *site;
    check_work_folder(confinement)?;
    let mut all = Arguments::default();
    all.add(client);
    all.add(["run", "--rm", "--pull=never", "--sig-proxy=false", "--log-driver=none"]);
    all.add(own);
    all.add(["--name", name, "--label", LABEL]);
    all.add(["--read-only", "--network=none", "--cap-drop=ALL", "--ipc=private"]);
    all.add(["--cgroupns=private", "--hostname=sandbox", "--workdir=/", "--no-healthcheck"]);
    let profile = format!("seccomp={}", layout.profile().display());
    all.add(["--security-opt", "no-new-privileges", "--security-opt", &profile]);
    // Otherwise SELinux keeps the container from everything that is bound in.
    all.add(["--security-opt", "label=disable"]);
    let [user, group] = user(machine);
    all.add(["--user", &format!("{user}:{group}")]);
    bounds(&mut all, site);
    furniture(&mut all, site);
    for (path, access) in &confinement.files {
        match access {
            Access::Read => all.show(path, path),
            Access::Write => all.bind(path, path, ""),
            Access::Deny => {}
        }
    }
    pins(&mut all, confinement);
    work_folder(&mut all, site);
    // The jail is found by its name; what it becomes has an empty environment.
    all.add(["--entrypoint", JAIL, "--env", "PATH=/run/interpreter"]);
    all.add([image(confinement), MEETING]);
    Ok(all.0)
}

fn image(confinement: &Confinement) -> &str {
    confinement.sandbox.image.as_deref().unwrap_or(DEFAULT_IMAGE)
}

/// The engine's own limits. Where the container can be put into a control group of ours, that one's
/// hold instead; they are the same.
fn bounds(all: &mut Arguments, site: &Site<'_>) {
    let limits = &site.confinement.limits;
    // The host has more than its code, as everywhere.
    let open = at_most(Resource::Nofile, limits.open_files.saturating_mul(2));
    let memory = limits.memory_bytes;
    // The jail sets the one that is meant; an engine without rights cannot raise ours.
    let processes = at_most(Resource::Nproc, MOST_PROCESSES);
    all.add(["--ulimit", &format!("nproc={processes}:{processes}")]);
    if (site.recipe.bounds_all)(site.machine) {
        all.add(["--memory", &memory.to_string(), "--memory-swap", &memory.to_string()]);
        all.add(["--pids-limit", &most_processes(limits).to_string()]);
    }
    let core = at_most(Resource::Core, 1);
    all.add(["--ulimit", &format!("nofile={open}:{open}")]);
    all.add(["--ulimit", &format!("core={core}:{core}")]);
    all.add(["--shm-size", &limits.temporary_bytes.to_string()]);
}

/// A limit, or our own where that is lower.
fn at_most(resource: Resource, most: u64) -> u64 {
    getrlimit(resource).maximum.map_or(most, |own| own.min(most))
}

/// The mounts that every program expects, beside the image.
fn furniture(all: &mut Arguments, site: &Site<'_>) {
    let Site { confinement, layout, machine, door, .. } = *site;
    let bytes = confinement.limits.temporary_bytes;
    let at = confinement.temporary();
    let options = format!("{at}:rw,exec,nosuid,nodev,mode=1777,size={bytes}");
    all.add(["--tmpfs", &options]);
    let inside = Path::new("/run/interpreter");
    for name in [JAIL, JUPYTER, ATTACK] {
        all.show(&machine.program, &inside.join(name));
    }
    all.show(&machine.program, Path::new(HOST_PROGRAM));
    for (at, _) in Interpreters::drivers() {
        let name = at.file_name().unwrap_or_default();
        all.show(&layout.drivers().join(name), &at);
    }
    all.show(&layout.meeting(), Path::new(MEETING));
    if let Some(door) = door {
        all.show(door.socket, Path::new(DOOR));
        if let Some(trusted) = door.trusted {
            all.show(trusted, Path::new(TRUSTED));
        }
    }
}

/// The work folder, or the copy of it. Denied files in a folder that is shown as it is are hidden.
fn work_folder(all: &mut Arguments, site: &Site<'_>) {
    let Site { confinement, copy, layout, .. } = *site;
    let work = &confinement.work_folder;
    let covered = match (confinement.workspace, copy) {
        (Workspace::Stage, Some(copy)) => {
            all.bind(copy, work, "");
            uncovered(confinement)
        }
        (Workspace::ReadOnly | Workspace::Stage, _) => {
            all.show(work, work);
            confinement.clone()
        }
        (Workspace::Direct, _) => {
            all.bind(work, work, "");
            confinement.clone()
        }
    };
    let denied = covered.files.iter().filter(|(_, access)| **access == Access::Deny);
    for (path, _) in denied {
        match fs_err::symlink_metadata(path).ok().map(|data| data.file_type()) {
            Some(kind) if kind.is_dir() => all.show(&layout.hollow(), path),
            // A link holds no secret; what it points to is not there, or is covered itself.
            Some(kind) if kind.is_symlink() => {}
            Some(_) => all.show(&layout.empty(), path),
            None => {}
        }
    }
}

/// Keeps folders above what is covered from being renamed where writes are real.
fn pins(all: &mut Arguments, confinement: &Confinement) {
    let is_folder = |path: &Path| fs_err::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    for folder in pinned(confinement).into_iter().filter(|pin| is_folder(pin)) {
        all.bind(folder, folder, "");
    }
}

/// The steps of our own binary inside, before it is the host.
pub(super) fn plan(site: &Site<'_>) -> Result<Plan, ExecError> {
    let Site { confinement, machine, counting, .. } = *site;
    check_work_folder(confinement)?;
    let [user, _] = user(machine);
    let bounded = |step| match counting {
        Counting::Apart => unshared(step),
        Counting::WithUser => beside_others(step, user),
    };
    let mut steps: Vec<_> = limits(confinement).map(bounded).into();
    let home = PathBuf::from(confinement.temporary()).join("home");
    steps.push(Step::Folder { at: home, mode: 0o700 });
    become_host(steps, Step::NoCapabilities, site)
}

/// Raises the limit on processes, where a control group enforces the real one. The kernel counts
/// this one for the user as a whole: other containers of the same user would use it up, and Node
/// waits for ever for threads that it cannot start.
fn unshared(step: Step) -> Step {
    use interpreter_jail::Resource::Processes;
    if let Step::Limit { resource: Processes, .. } = step {
        Step::Limit { resource: Processes, most: at_most(Resource::Nproc, MOST_PROCESSES) }
    } else {
        step
    }
}

pub(super) fn describe(machine: &Machine, protection: &mut Protection) {
    let backend = protection.backend;
    protection.enforced.extend([
        format!("a container of {backend}: mount, process, network, ipc and hostname namespaces"),
        "the system is an image, read-only; nothing of yours but what is listed".into(),
        "no network but loopback; the only way out is a proxy that lets through what is allowed"
            .into(),
        "no capabilities, no new privileges, an unprivileged user".into(),
        "system-call filter, as the engine's profile and our own".into(),
        "limits on each process, on processes, file size and temporary files".into(),
    ]);
    protection.enforced.extend(machine.landlock.map(|version| {
        format!("Landlock (version {version}): writes to the listed folders alone")
    }));
}

/// The obstacle, by the complaint of an engine's client.
pub(super) fn cause(complaint: &str) -> Cause {
    let has = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
    if has(&["No such image", "image not known", "Unable to find image"]) {
        Cause::NoImage
    } else if has(&["GLIBC", "interpreter-jail"]) {
        Cause::ImageMisfit
    } else if has(&["docker.sock: connect: permission denied", "permission denied while trying"]) {
        Cause::EngineForbidden
    } else if has(&["Cannot connect"]) {
        Cause::EngineDown
    } else {
        Cause::EngineFailed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_programs_that_are_gone_are_left_over() {
        let own = name();
        let left = format!("interpreter-{}-999999999-abc", numbering());
        // Its process may be among those that another program sees.
        let unseen = "interpreter-1-999999999-abc";
        let names = format!("{own}\n{left}\n{unseen}\nsomebody-999999999\n\n");
        assert_eq!(left_over(&names), [left]);
    }

    #[test]
    fn names_that_would_end_a_mount_cannot_be_bound() {
        for path in ["/home/u/a,readonly=false", "/home/u/\"a\"", "/home/u/a\nb"] {
            assert!(!can_be_bound(Path::new(path)), "{path}");
        }
        assert!(can_be_bound(Path::new("/home/u/my project (2)=ü:x")));
    }

    /// A fork bomb is bounded by the group, or by the limit for the user: never by neither.
    #[test]
    fn the_limit_for_the_user_is_raised_only_where_a_group_counts_apart() {
        use crate::sandbox::{docker, folder::Layout};
        let scratch = PathBuf::from("/nowhere");
        let machine = Machine::look("/bin/true".into(), scratch.clone(), None);
        let confinement = Confinement {
            work_folder: "/home/u/project".into(),
            workspace: Workspace::Stage,
            files: [].into(),
            granted: [].into(),
            shown: [].into(),
            network: interpreter_core::Network::None,
            secrets: vec![],
            limits: Limits { processes: 7, ..Limits::default() },
            sandbox: interpreter_core::Sandboxing::default(),
            environment: [].into(),
        };
        let [apart, with_user] = [Counting::Apart, Counting::WithUser].map(|counting| {
            let planned = plan(&Site {
                recipe: &docker::RECIPE,
                confinement: &confinement,
                stage: None,
                copy: None,
                door: None,
                layout: &Layout::of(&scratch),
                machine: &machine,
                name: "one",
                counting,
            });
            let limits = planned.unwrap().0.into_iter().filter_map(|step| {
                use interpreter_jail::Resource::Processes;
                let Step::Limit { resource: Processes, most } = step else { return None };
                Some(most)
            });
            limits.collect::<Vec<_>>()
        });
        assert_eq!(apart, [at_most(Resource::Nproc, MOST_PROCESSES)]);
        assert!(matches!(with_user[..], [most] if most >= 7), "{with_user:?}");
        assert!(with_user < apart, "{with_user:?}");
    }

    #[test]
    fn complaints_stand_for_causes() {
        assert_eq!(cause("docker: Error: No such image: x"), Cause::NoImage);
        assert_eq!(cause("Error: x: image not known"), Cause::NoImage);
        assert_eq!(cause("Cannot connect to the Docker daemon"), Cause::EngineDown);
        let denied = "dial unix /var/run/docker.sock: connect: permission denied";
        assert_eq!(cause(denied), Cause::EngineForbidden);
        let old = "interpreter-jail: /lib/libc.so.6: version `GLIBC_2.36' not found";
        assert_eq!(cause(old), Cause::ImageMisfit);
    }
}
