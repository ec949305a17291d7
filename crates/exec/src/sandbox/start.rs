//! How each backend is started: which program, with which arguments, and the plan that our own
//! binary applies to itself.

use super::{
    Machine, Protection, Sandbox, bare, bubblewrap,
    cgroup::Group,
    firejail,
    folder::{Layout, RunFolder},
    in_copy::{self, Moved},
    landlock::{self, Around},
    native::{self, SANDBOX_USER},
    view::View,
    watch::{self, Refusals},
};
use crate::ExecError;
use interpreter_core::{Backend, Confinement, Untrusted};
use interpreter_host::Link;
use interpreter_jail::{JAIL, Plan, encode};
use std::{
    ffi::OsString,
    os::{fd::OwnedFd, unix::net::UnixStream as Socket},
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{
    io::{AsyncWriteExt, Interest, unix::AsyncFd},
    net::UnixStream,
};

/// What starts a sandbox.
pub(super) struct Launch {
    backend: Backend,
    /// What our binary is started by, with its arguments; none if by ourselves.
    helper: Option<(PathBuf, Vec<OsString>)>,
    protection: Protection,
    /// Where code sees its work folder, if that is elsewhere.
    moved: Option<Moved>,
}

/// What starts a sandbox, what our binary then does, and the folder that it needs.
pub(super) struct Prepared {
    pub(super) launch: Launch,
    pub(super) plan: Plan,
    pub(super) folder: Option<RunFolder>,
}

/// Gets everything ready.
pub(super) fn prepare(
    backend: Backend,
    confinement: &Confinement,
    stage: Option<&Path>,
    door: Option<&Path>,
    machine: &Machine,
) -> Result<Prepared, ExecError> {
    let folder = match backend {
        Backend::Native => None,
        Backend::Bubblewrap | Backend::Firejail | Backend::Landlock | Backend::None => {
            let user = (machine.user == 0 && backend == Backend::Landlock).then_some(SANDBOX_USER);
            let Machine { scratch, program, .. } = machine;
            Some(RunFolder::make(scratch, program, backend, user, &confinement.work_folder)?)
        }
    };
    let nowhere = Layout::of(&machine.scratch);
    let layout = folder.as_deref().unwrap_or(&nowhere);
    let (launch, plan) = launch(backend, confinement, [stage, door], layout, machine)?;
    Ok(Prepared { launch, plan, folder })
}

fn launch(
    backend: Backend,
    confinement: &Confinement,
    [stage, door]: [Option<&Path>; 2],
    layout: &Layout,
    machine: &Machine,
) -> Result<(Launch, Plan), ExecError> {
    let helper = |program: Option<PathBuf>, arguments| {
        // That it is there was looked at before; it may have gone since.
        program.map(|program| (program, arguments)).ok_or_else(|| ExecError::CannotConfine {
            backend: backend.word(),
            reason: "its program is not installed".into(),
            hint: None,
        })
    };
    native::check_work_folder(confinement)?;
    let copy = in_copy::copy_of(confinement, stage);
    let copy = copy.as_deref().filter(|_| backend != Backend::Native);
    let elsewhere = in_copy::as_work_folder(confinement, copy);
    let (helper, plan, mut protection) = match backend {
        Backend::Native => {
            let plan = native::plan(confinement, stage, door, machine)?;
            (None, plan, native::protection(machine))
        }
        Backend::Bubblewrap => {
            let arguments = bubblewrap::arguments(confinement, copy, layout, door, machine)?;
            let helper = helper(bubblewrap::program(), arguments)?;
            let plan = bubblewrap::plan(confinement, machine)?;
            (Some(helper), plan, bubblewrap::protection(machine))
        }
        Backend::Firejail => {
            let helper = helper(firejail::program(), firejail::arguments())?;
            let plan = landlock::plan(&elsewhere, layout, machine, Around::Firejail)?;
            (Some(helper), plan, landlock::protection(machine, Around::Firejail))
        }
        Backend::Landlock => {
            let plan = landlock::plan(&elsewhere, layout, machine, Around::Nothing)?;
            (None, plan, landlock::protection(machine, Around::Nothing))
        }
        Backend::None => {
            let plan = bare::plan(confinement, &machine.program)?;
            (None, plan, bare_protection())
        }
    };
    let moved = match (backend, copy) {
        (Backend::Landlock | Backend::Firejail, Some(copy)) => {
            Some(Moved { from: confinement.work_folder.clone(), to: copy.to_owned() })
        }
        (_, Some(_) | None) => None,
    };
    protection.enforced.extend(copy.map(|_| in_copy::words(moved.as_ref())));
    Ok((Launch { backend, helper, protection, moved }, plan))
}

fn bare_protection() -> Protection {
    let backend = Backend::None;
    let enforced = vec!["limits on time, processor time and output".into()];
    Protection { backend: backend.word(), enforced, missing: landlock::missing(backend) }
}

impl Launch {
    /// What starts our own sandbox, which needs nothing else.
    pub(super) fn native(machine: &Machine) -> Self {
        let (backend, protection) = (Backend::Native, native::protection(machine));
        Self { backend, helper: None, protection, moved: None }
    }

    /// Starts it, puts it into its group and hands it its plan as soon as there is one.
    pub(super) async fn start(
        self,
        plan: impl Future<Output = Result<Plan, ExecError>>,
        machine: &Machine,
        folder: Option<RunFolder>,
        group: Result<Group, String>,
        refusals: &Refusals,
    ) -> Result<Sandbox, ExecError> {
        let Self { backend, helper, mut protection, moved } = self;
        let (program, arguments) = match &helper {
            Some((program, arguments)) => (program, arguments.as_slice()),
            None => (&machine.program, &[][..]),
        };
        // Sockets, so that the process can hand descriptors out by them.
        let (ours, theirs) = Socket::pair()?;
        let (link, host) = Socket::pair()?;
        let spawned = {
            #[expect(clippy::disallowed_methods, reason = "the one place that starts a sandbox")]
            let mut command = tokio::process::Command::new(program);
            if helper.is_none() {
                command.arg0(JAIL);
            }
            command.args(arguments).env_clear();
            if let (Backend::Firejail, Some(folder)) = (backend, &folder) {
                // Where the jail is found by its name.
                command.env("PATH", folder.drivers());
                // Versions that start programs through a shell take this one before the login shell.
                command.env("SHELL", "/bin/sh");
            }
            command
                .current_dir("/")
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::from(OwnedFd::from(host)))
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
        };
        let mut child = spawned.map_err(|error| ExecError::CannotConfine {
            backend: backend.word(),
            reason: format!("{} does not start: {error}", program.display()),
            hint: None,
        })?;
        ours.set_nonblocking(true)?;
        let (handed_out, input) = UnixStream::from_std(ours)?.into_split();
        watch::watch(handed_out, refusals.clone());
        let link = watched(Link::new(link)?)?;
        let errors = child.stderr.take().expect("it was asked for");
        // The process reads its plan after this, and starts nothing before.
        let group = group.and_then(|group| match child.id().map(|id| group.add(id)) {
            Some(Ok(())) => Ok(group),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("the process has ended already".into()),
        });
        if backend != Backend::None {
            protection.note_group(group.as_ref().map(drop));
        }
        let group = group.ok();
        let plan = plan.await?;
        let view = match backend {
            Backend::Native => View::of(&plan),
            Backend::Bubblewrap | Backend::Firejail | Backend::Landlock | Backend::None => {
                View::unknown()
            }
        };
        let mut sandbox =
            Sandbox { child, input, link, errors, group, backend, folder, moved, protection, view };
        match sandbox.input.write_all(&encode(&plan)).await {
            Ok(()) => Ok(sandbox),
            Err(_) => Err(sandbox.why_it_ended().await),
        }
    }
}

/// The link, as the runtime watches it.
#[expect(deprecated, reason = "the new form is `unsafe`, for things whose descriptor may change")]
fn watched(link: Link) -> std::io::Result<AsyncFd<Link>> {
    AsyncFd::with_interest(link, Interest::READABLE)
}

/// Everything that would be done, in words, a line each.
pub fn explain(
    backend: Backend,
    confinement: &Confinement,
    stage: Option<&Path>,
    door: Option<&Path>,
    machine: &Machine,
) -> Result<Vec<String>, ExecError> {
    let layout = Layout::of("RUN-FOLDER");
    let (launch, plan) = launch(backend, confinement, [stage, door], &layout, machine)?;
    let copy = in_copy::copy_of(confinement, stage).filter(|_| backend != Backend::Native);
    let copied = copy.map(|copy| {
        format!(
            "copy {} to {}, without what is covered and without pipes, sockets and devices",
            confinement.work_folder.display(),
            copy.display()
        )
    });
    let helper = launch.helper.map(|(program, arguments)| {
        let arguments: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        format!("start {} {}", program.display(), arguments.join(" "))
    });
    Ok(copied.into_iter().chain(helper).chain(plan.0.iter().map(ToString::to_string)).collect())
}

/// What a helper complained of before our own binary ran.
pub(super) fn helper_said(backend: Backend, said: &Untrusted) -> Option<String> {
    let marks: &[&str] = match backend {
        Backend::Bubblewrap => &["bwrap: "],
        Backend::Firejail => &["Error: ", "Error "],
        Backend::Native | Backend::Landlock | Backend::None => return None,
    };
    let text = said.for_terminal();
    let line = text.lines().find(|line| marks.iter().any(|mark| line.starts_with(mark)))?;
    let line: String = line.chars().take(300).collect();
    let helper = helper_name(backend)?;
    Some(if line.starts_with(helper) { line } else { format!("{helper}: {line}") })
}

/// What a sandbox's stream begins with instead of the host's first frame: a helper that starts
/// nothing says why, and may say so there.
pub(crate) fn said_instead(backend: Backend, said: &[u8]) -> ExecError {
    let said = Untrusted::new(String::from_utf8_lossy(said)).for_terminal_line(300);
    let reason = match helper_name(backend) {
        Some(helper) => format!("{helper} did not start our program, and wrote: {said}"),
        None => format!("something wrote on its stream: {said}"),
    };
    let hint = helper_hint(backend).map(str::to_owned);
    ExecError::CannotConfine { backend: backend.word(), reason, hint }
}

/// The program of others that a sandbox is made by.
fn helper_name(backend: Backend) -> Option<&'static str> {
    match backend {
        Backend::Bubblewrap => Some("bwrap"),
        Backend::Firejail => Some("firejail"),
        Backend::Native | Backend::Landlock | Backend::None => None,
    }
}

/// What is known to help where a helper complains.
pub(super) fn helper_hint(backend: Backend) -> Option<&'static str> {
    match backend {
        Backend::Bubblewrap => {
            Some("`bwrap --unshare-all --ro-bind / / true` shows whether it works by itself")
        }
        Backend::Firejail => {
            Some("it serves users whom the system knows by name; `man firejail-users` has more")
        }
        Backend::Native | Backend::Landlock | Backend::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_that_writes_on_the_stream_is_named_with_its_words() {
        let said = b"This account is currently not available.\n\x1b[2J";
        let error = said_instead(Backend::Firejail, said).to_string();
        assert!(error.contains("firejail did not start our program, and wrote: This account is"));
        assert!(!error.contains('\u{1b}'), "{error}");
        let error = said_instead(Backend::Native, b"hello").to_string();
        assert!(error.contains("something wrote on its stream: hello"), "{error}");
    }

    #[test]
    fn a_helper_that_complains_is_named() {
        let said = |backend, text: &str| helper_said(backend, &Untrusted::new(text));
        let firejail = said(Backend::Firejail, "noise\nError: no account\n").unwrap();
        assert_eq!(firejail, "firejail: Error: no account");
        let bwrap = said(Backend::Bubblewrap, "bwrap: No permissions\n").unwrap();
        assert_eq!(bwrap, "bwrap: No permissions");
        assert_eq!(said(Backend::Native, "bwrap: x"), None);
    }
}
