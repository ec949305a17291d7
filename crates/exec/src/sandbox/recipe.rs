//! A backend as a value: everything in which one sandbox differs from another.
//!
//! Each backend's own file has one [`Recipe`], and `backends.rs` lists them. Starting, choosing and
//! explaining a sandbox read the recipe and never ask which backend it is.

use super::{
    counting::{Bounds, Counting},
    folder::Layout,
    in_copy::{self, Moved},
    machine::{Machine, Rights},
    view::View,
};
use crate::{Cause, ExecError, egress::Doorway};
use interpreter_core::{Backend, Confinement, Kept, Promise, Untrusted, sandbox::lacks};
use interpreter_host::KernelSpec;
use interpreter_jail::{JailFailure, Plan};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// How one backend confines code.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a backend")]
pub(crate) struct Recipe {
    pub(super) backend: Backend,
    /// Whether it may be used when no backend is named. Its lacks must be allowed all the same.
    pub(super) unasked: bool,
    /// Whether it confines at all: there are secrets to cover and a control group to be in.
    pub(crate) confines: bool,
    /// How it keeps each promise of `SECURITY.md`, whose table is compared with this.
    pub(super) keeps: fn(Promise) -> Kept,
    /// Whether it is for this person, folder and kernel, as far as that can be seen beforehand.
    pub(super) admits: fn(&Confinement, &Machine) -> Result<(), ExecError>,
    /// The program of others that starts our own binary, if there is one.
    pub(super) helper: Option<Helper>,
    /// How changes to the work folder are kept apart.
    pub(super) staging: Staging,
    /// Whether its host can hand out a socket by which code reaches allowed hosts.
    pub(crate) has_door: bool,
    /// Whether code sees a system other than this machine's, with interpreters of its own.
    pub(super) own_system: bool,
    /// Where drivers and temporary files are.
    pub(super) furniture: Furniture,
    /// Whether the helper is asked to bound memory and processes of all together, where we cannot.
    /// Whether it does is seen once it has started.
    pub(super) bounds_all: fn(&Machine) -> bool,
    /// The steps of our own binary.
    pub(super) plan: fn(&Site<'_>) -> Result<Plan, ExecError>,
    /// Which refused paths can be explained once the plan has been applied.
    pub(super) view: fn(&Plan) -> View,
    /// Says what is enforced; promises that it lacks are noted already.
    pub(super) describe: fn(&Machine, &mut Protection),
}

/// A program of others that a sandbox is made by.
#[derive(Debug)]
pub(super) struct Helper {
    pub(super) program: &'static str,
    /// The package that it comes in.
    pub(super) package: &'static str,
    /// Arguments that come before any command of it.
    pub(super) client: &'static [&'static str],
    /// All arguments that start our own binary.
    pub(super) arguments: fn(&Site<'_>) -> Result<Vec<OsString>, ExecError>,
    pub(super) environment: fn(&Site<'_>) -> Vec<(&'static str, OsString)>,
    /// How its complaints begin.
    pub(super) complaints: &'static [&'static str],
    /// The cause that a complaint stands for.
    pub(super) cause: fn(&str) -> Cause,
    /// The user and group of our binary, where no sockets are passed on and it must meet us.
    pub(super) meets: Option<fn(&Machine) -> [u32; 2]>,
    pub(super) tidying: Option<&'static Tidying>,
}

/// How to remove things that a helper left when a program was killed.
#[derive(Debug)]
pub(super) struct Tidying {
    pub(super) list: &'static [&'static str],
    pub(super) remove: &'static [&'static str],
    /// Which of those in the list are left over.
    pub(super) left_over: fn(&str) -> Vec<String>,
}

/// How changes to the work folder are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Staging {
    /// By an overlay over the folder.
    Overlay,
    /// Code works in a copy that it sees at the folder's own path.
    CopyInPlace,
    /// Code works in a copy that it sees where the copy is.
    CopyElsewhere,
    /// Not at all.
    Unavailable,
}

/// Where a sandbox has its drivers and temporary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Furniture {
    /// The plan makes them.
    Planned,
    /// In a folder outside that the helper mounts at the usual places.
    Mounted,
    /// In a folder outside; kernels are started with its paths.
    Outside,
}

/// The purpose and the parts of a sandbox.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) recipe: &'static Recipe,
    pub(super) confinement: &'a Confinement,
    /// The folder of the change set.
    pub(super) stage: Option<&'a Path>,
    /// The copy of the work folder in it, if code works in one.
    pub(super) copy: Option<&'a Path>,
    /// Where the host meets the proxy.
    pub(super) door: Option<Doorway<'a>>,
    /// The sandbox's own folder.
    pub(super) layout: &'a Layout,
    pub(super) machine: &'a Machine,
    /// The name of the container, if the sandbox is one.
    pub(super) name: &'a str,
    /// How its processes are counted. Known for certain once it has started; only plans are made
    /// by it.
    pub(super) counting: Counting,
}

impl Site<'_> {
    /// The confinement with the copy as its work folder, for sandboxes that show it where it is.
    pub(super) fn elsewhere(&self) -> Confinement {
        in_copy::as_work_folder(self.confinement, self.copy)
    }
}

impl Recipe {
    /// The copy of the work folder that code works in, if it does.
    pub(super) fn copy(&self, confinement: &Confinement, stage: Option<&Path>) -> Option<PathBuf> {
        match self.staging {
            Staging::CopyInPlace | Staging::CopyElsewhere => in_copy::copy_of(confinement, stage),
            Staging::Overlay | Staging::Unavailable => None,
        }
    }

    /// Whether changes that are kept apart are kept in a copy of the work folder.
    pub(crate) fn stages_in_copy(&self) -> bool {
        matches!(self.staging, Staging::CopyInPlace | Staging::CopyElsewhere)
    }

    /// Whether code sees that copy at another path than the folder's own.
    pub(crate) fn moves_the_folder(&self) -> bool {
        self.staging == Staging::CopyElsewhere
    }

    /// The user that the copy belongs to, if code works in it as another.
    pub(crate) fn copy_owner(&self, machine: &Machine) -> Option<u32> {
        let other = self.own_system && machine.user == 0;
        other.then(|| machine.code_user())
    }

    /// The user that root's code becomes. Without a sandbox it stays root, unless it has a user of
    /// its own.
    pub(super) fn other_user(&self, machine: &Machine) -> Option<u32> {
        let other = machine.user == 0 && (self.confines || machine.own_user.is_some());
        other.then(|| machine.code_user())
    }

    /// Where code sees its work folder, if that is elsewhere.
    pub(super) fn moved(&self, confinement: &Confinement, copy: Option<&Path>) -> Option<Moved> {
        let to = copy.filter(|_| self.moves_the_folder())?.to_owned();
        Some(Moved { from: confinement.work_folder.clone(), to })
    }

    /// A kernel as it is started where the furniture is.
    pub(super) fn settle(&self, layout: &Layout, spec: KernelSpec) -> KernelSpec {
        match self.furniture {
            Furniture::Planned | Furniture::Mounted => spec,
            Furniture::Outside => layout.settle(spec),
        }
    }

    /// The temporary folder and the home in it, where they are outside.
    pub(super) fn temporary(&self, layout: &Layout) -> Option<(PathBuf, PathBuf)> {
        match self.furniture {
            Furniture::Planned | Furniture::Mounted => None,
            Furniture::Outside => Some((layout.temporary(), layout.home())),
        }
    }

    /// Enforced and missing protection.
    pub(super) fn protection(&self, machine: &Machine) -> Protection {
        let missing = lacks(self.keeps)
            .map(|lack| format!("{} in full, because {}", lack.promise, lack.why))
            .collect();
        let (backend, enforced) = (self.backend.word(), Vec::new());
        let mut protection = Protection { backend, enforced, missing };
        (self.describe)(machine, &mut protection);
        let own = machine.own_user.filter(|_| machine.user == 0);
        protection
            .enforced
            .extend(own.map(|user| format!("a user of the system of its own ({user})")));
        protection
    }

    /// That it cannot be built here.
    pub(crate) fn refuses(&self, reason: impl Into<String>, cause: Option<Cause>) -> ExecError {
        ExecError::CannotConfine { backend: self.backend.word(), reason: reason.into(), cause }
    }

    /// Refuses root, whose files it could not keep from code.
    pub(super) fn not_for_root(&self, machine: &Machine) -> Result<(), ExecError> {
        match machine.rights {
            Rights::Ordinary => Ok(()),
            Rights::Root | Rights::RootWithoutMounts | Rights::RootInName => Err(self.refuses(
                "it is not for root, whose files it could not keep from code",
                Some(Cause::Root),
            )),
        }
    }

    /// That it cannot be built here, because the helper complained before our own binary ran.
    pub(super) fn complaint(&self, said: &Untrusted) -> Option<ExecError> {
        let Helper { program, complaints, cause, .. } = self.helper.as_ref()?;
        let text = said.for_terminal();
        let begins = |line: &&str| complaints.iter().any(|mark| line.starts_with(mark));
        let line: String = text.lines().find(begins)?.chars().take(300).collect();
        let named = line.starts_with(program);
        let reason = if named { line } else { format!("{program}: {line}") };
        let cause = cause(&reason);
        Some(self.refuses(reason, Some(cause)))
    }

    /// Why the plan could not be applied.
    pub(super) fn failed(&self, failure: &JailFailure) -> ExecError {
        const EPERM: i32 = 1;
        const EACCES: i32 = 13;
        const ENOSPC: i32 = 28;
        let about_users = failure.step.contains("namespaces") || failure.step.contains("show user");
        let cause = match failure.errno {
            Some(EPERM | EACCES) if about_users => Some(Cause::UserNamespacesRefused),
            Some(ENOSPC) if about_users => Some(Cause::UserNamespacesUsedUp),
            Some(EPERM) if failure.step.contains("own processes") => Some(Cause::ProcRefused),
            _ if failure.step.contains("changes kept apart") => Some(Cause::NoOverlay),
            _ if failure.step.contains("without its sockets") => Some(Cause::NotCutOff),
            _ => None,
        };
        self.refuses(failure.to_string(), cause)
    }

    /// That something stands where the host's first frame should: a helper that starts nothing says
    /// why, and may say so there.
    pub(crate) fn said_instead(&self, said: &[u8]) -> ExecError {
        let said = Untrusted::new(String::from_utf8_lossy(said)).for_terminal_line(300);
        match &self.helper {
            Some(Helper { program, cause, .. }) => {
                let reason = format!("{program} did not start our program, and wrote: {said}");
                let cause = cause(&reason);
                self.refuses(reason, Some(cause))
            }
            None => self.refuses(format!("something wrote on its stream: {said}"), None),
        }
    }
}

impl Helper {
    /// Where it is, if it is installed. Only where the system itself puts programs: the person's own
    /// `PATH` may begin in a folder that code can write.
    pub(super) fn path(&self) -> Option<PathBuf> {
        ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .map(|folder| Path::new(folder).join(self.program))
            .find(|path| path.is_file())
    }
}

/// The bounds of a run, in words: for the record, the screen and `doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The backend's name.
    pub backend: &'static str,
    /// Enforced protection.
    pub enforced: Vec<String>,
    /// Missing protection, with the reason.
    pub missing: Vec<String>,
}

impl Protection {
    /// Notes whether a control group bounds all processes together: ours, or that of a helper.
    pub(super) fn note_group(
        &mut self,
        group: Result<(), &String>,
        helper_bounds: bool,
        bounds: Bounds,
    ) {
        match group {
            Err(_) if helper_bounds => {
                let apart = bounds.counting == Counting::Apart;
                let held = match (bounds.memory, apart) {
                    (true, true) => Some("limits on memory and on processes"),
                    (true, false) => Some("limit on memory"),
                    (false, true) => Some("limit on processes"),
                    (false, false) => None,
                };
                let all = |held| format!("the engine's {held} for all of them together");
                self.enforced.extend(held.map(all));
                let discarded = "the engine does not enforce the one that it was given";
                if !bounds.memory {
                    self.missing.push(format!(
                        "a limit on the memory of all processes together, because {discarded}"
                    ));
                }
                if !apart {
                    self.missing.push(format!(
                        "a limit on processes that counts those of the sandbox alone, because \
                         {discarded}"
                    ));
                }
            }
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

/// How namespaces of a helper keep each promise if code works in a copy of the folder.
pub(super) fn keeps_around_a_copy(promise: Promise) -> Kept {
    match promise {
        Promise::Network => {
            Kept::InPart("sockets and pipes in folders that are shown and not staged lead outside")
        }
        Promise::Limits => Kept::InPart(
            "temporary files are bounded by their size and not by their number; watchers of files \
             (inotify) are counted together with yours, and pseudo-terminals with those of everybody; \
             in folders that are shown and not staged watchers see others, and locks hold outside",
        ),
        Promise::Reading
        | Promise::Writing
        | Promise::Processes
        | Promise::Environment
        | Promise::Privileges
        | Promise::Calls
        | Promise::Terminal
        | Promise::Ending => Kept::Yes,
    }
}
