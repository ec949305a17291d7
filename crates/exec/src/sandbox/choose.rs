//! Which backend is used: one that was asked for, that lacks nothing but what it may lack, and that
//! this machine has. Whether it can really be built is found out by building it.

use super::{Machine, bubblewrap, firejail, keeps::keeps, landlock, machine::Rights, probe};
use crate::ExecError;
use interpreter_core::{Backend, Choice, Confinement, Workspace};

/// Whether a backend may be used for this confinement, as far as that can be told beforehand.
pub fn admit(
    backend: Backend,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<(), ExecError> {
    let word = backend.word();
    let lacks = confinement.sandbox.not_allowed(backend, |promise| keeps(backend, promise));
    if !lacks.is_empty() {
        return Err(ExecError::Lacking { backend: word, lacks });
    }
    shows_the_folder(backend, confinement.workspace)?;
    match backend {
        Backend::Native | Backend::None => return Ok(()),
        Backend::Bubblewrap | Backend::Firejail | Backend::Landlock => {}
    }
    serves(backend, confinement.workspace, machine)?;
    match backend {
        Backend::Bubblewrap => is_there(word, "bwrap", bubblewrap::program().is_some()),
        Backend::Firejail => is_there(word, "firejail", firejail::program().is_some())
            .and_then(|()| landlock::check(machine, backend)),
        Backend::Landlock => landlock::check(machine, backend),
        Backend::Native | Backend::None => Ok(()),
    }
}

/// Whether a backend is for somebody with these rights. Root's code must become somebody else, and
/// without mounts that one is shown root's files as they are.
fn serves(backend: Backend, workspace: Workspace, machine: &Machine) -> Result<(), ExecError> {
    let (reason, hint) = match (machine.rights, backend, workspace) {
        (Rights::Ordinary, ..)
        | (Rights::Root | Rights::RootWithoutMounts, Backend::Landlock, Workspace::ReadOnly) => {
            return Ok(());
        }
        (Rights::Root | Rights::RootWithoutMounts, Backend::Landlock, _) => (
            "root's code runs as another user, who cannot change your folder",
            "say `--workspace read-only`, or run it as an ordinary user",
        ),
        (Rights::Root | Rights::RootWithoutMounts | Rights::RootInName, ..) => (
            "it is not for root, whose files it could not keep from code",
            "run it as an ordinary user",
        ),
    };
    let (reason, hint) = (reason.into(), Some(hint.into()));
    Err(ExecError::CannotConfine { backend: backend.word(), reason, hint })
}

fn is_there(backend: &'static str, program: &str, is_there: bool) -> Result<(), ExecError> {
    if is_there {
        return Ok(());
    }
    Err(ExecError::CannotConfine {
        backend,
        reason: format!("`{program}` is not installed"),
        hint: Some(format!("install the package `{backend}`")),
    })
}

/// Whether a backend can show the work folder in this way.
fn shows_the_folder(backend: Backend, workspace: Workspace) -> Result<(), ExecError> {
    let (how, hint) = match (backend, workspace) {
        (Backend::Native | Backend::Bubblewrap | Backend::Firejail | Backend::Landlock, _)
        | (_, Workspace::Direct) => return Ok(()),
        (Backend::None, Workspace::Stage) => {
            ("apart", "`--workspace direct` lets code change your files at once")
        }
        (Backend::None, Workspace::ReadOnly) => {
            ("away", "`--workspace direct` lets code change your files at once")
        }
    };
    Err(ExecError::CannotStage { backend: backend.word(), how, hint })
}

/// What was tried in vain, and what is tried next.
#[derive(Debug, Default)]
pub(crate) struct Search {
    refusals: Vec<(Backend, ExecError)>,
}

impl Search {
    /// The next backend that may be used.
    pub(crate) fn next(
        &mut self,
        confinement: &Confinement,
        machine: &Machine,
    ) -> Result<Backend, ExecError> {
        let choice = confinement.sandbox.backend;
        for backend in choice.candidates() {
            if self.refusals.iter().any(|(refused, _)| *refused == backend) {
                continue;
            }
            match (admit(backend, confinement, machine), choice) {
                (Ok(()), _) => return Ok(backend),
                (Err(error), Choice::Auto) => self.refusals.push((backend, error)),
                (Err(error), Choice::Only(_)) => return Err(error),
            }
        }
        Err(self.verdict())
    }

    /// Notes that a backend could not be built. Whether there is any sense in asking for another.
    pub(crate) fn refused(
        &mut self,
        backend: Backend,
        error: ExecError,
        choice: Choice,
    ) -> Result<(), ExecError> {
        match (&error, choice) {
            (ExecError::CannotConfine { .. }, Choice::Auto) => {
                self.refusals.push((backend, error));
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn verdict(&mut self) -> ExecError {
        let refusals = std::mem::take(&mut self.refusals);
        // What helps the strongest helps best.
        let hint = refusals.iter().find_map(|(_, error)| {
            if let ExecError::CannotConfine { hint, .. } = error { hint.clone() } else { None }
        });
        let refusals =
            refusals.into_iter().map(|(backend, error)| (backend.word(), error.to_string()));
        ExecError::NoBackend { refusals: refusals.collect(), hint }
    }
}

/// The backend that is used, found out by building what could be it.
pub async fn find(confinement: &Confinement, machine: &Machine) -> Result<Backend, ExecError> {
    let mut search = Search::default();
    loop {
        let backend = search.next(confinement, machine)?;
        if let Choice::Only(_) = confinement.sandbox.backend {
            return Ok(backend);
        }
        match probe(backend, confinement, machine).await {
            Ok(_) => return Ok(backend),
            Err(error) => search.refused(backend, error, confinement.sandbox.backend)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{cgroup::Groups, machine::Inotify};
    use interpreter_core::{Limits, Network, Promise, Sandboxing};

    fn machine(rights: Rights) -> Machine {
        Machine {
            program: "/usr/bin/interpreter".into(),
            user: if rights == Rights::Ordinary { 1000 } else { 0 },
            group: 1000,
            rights,
            system: vec![],
            landlock: Some(7),
            groups: Groups::default(),
            scratch: "/home/u/.local/share/interpreter/sandboxes".into(),
            inotify: Inotify { instances: 128, watches: 65_536 },
        }
    }

    fn wanted(backend: Choice, workspace: Workspace, allowed: &[Promise]) -> Confinement {
        Confinement {
            work_folder: "/home/u/project".into(),
            workspace,
            files: [].into(),
            granted: [].into(),
            shown: [].into(),
            network: Network::None,
            limits: Limits::default(),
            sandbox: Sandboxing { backend, allow_missing: allowed.iter().copied().collect() },
            environment: [].into(),
        }
    }

    fn broken(backend: Backend) -> ExecError {
        let reason = "user namespaces are refused".into();
        ExecError::CannotConfine { backend: backend.word(), reason, hint: Some("mend it".into()) }
    }

    #[test]
    fn native_comes_first_and_nothing_weaker_comes_unasked() {
        let machine = machine(Rights::Ordinary);
        let confinement = wanted(Choice::Auto, Workspace::ReadOnly, &[]);
        let mut search = Search::default();
        assert_eq!(search.next(&confinement, &machine).unwrap(), Backend::Native);
        search.refused(Backend::Native, broken(Backend::Native), Choice::Auto).unwrap();
        let error = search.next(&confinement, &machine).unwrap_err();
        let ExecError::NoBackend { refusals, hint } = error else { panic!("{error}") };
        let tried: Vec<_> = refusals.iter().map(|(backend, _)| *backend).collect();
        assert_eq!(tried, ["native", "bubblewrap", "landlock"]);
        assert_eq!(hint.as_deref(), Some("mend it"));
    }

    #[test]
    fn a_weaker_one_serves_when_its_lacks_are_allowed() {
        let machine = machine(Rights::RootWithoutMounts);
        let confinement = wanted(Choice::Auto, Workspace::ReadOnly, &Promise::ALL);
        let mut search = Search::default();
        search.refused(Backend::Native, broken(Backend::Native), Choice::Auto).unwrap();
        // bubblewrap is not for root.
        assert_eq!(search.next(&confinement, &machine).unwrap(), Backend::Landlock);
        search.refused(Backend::Landlock, broken(Backend::Landlock), Choice::Auto).unwrap();
        assert!(matches!(search.next(&confinement, &machine), Err(ExecError::NoBackend { .. })));
    }

    #[test]
    fn what_was_named_is_not_replaced_by_another() {
        let native = Choice::Only(Backend::Native);
        let mut search = Search::default();
        let refused = search.refused(Backend::Native, broken(Backend::Native), native);
        assert!(matches!(refused, Err(ExecError::CannotConfine { .. })));
        // Neither is one that could be built and failed later.
        let ended = ExecError::SandboxEnded { reason: "it ended".into() };
        assert!(search.refused(Backend::Native, ended, Choice::Auto).is_err());
    }

    #[test]
    fn every_sandbox_stages_but_none() {
        let machine = machine(Rights::Ordinary);
        for backend in Backend::ALL {
            let choice = Choice::Only(backend);
            let admitted = |workspace| {
                let confinement = wanted(choice, workspace, &Promise::ALL);
                !matches!(
                    admit(backend, &confinement, &machine),
                    Err(ExecError::CannotStage { .. })
                )
            };
            assert_eq!(admitted(Workspace::Stage), backend != Backend::None, "{backend}");
            assert_eq!(admitted(Workspace::ReadOnly), backend != Backend::None, "{backend}");
            assert!(admitted(Workspace::Direct), "{backend}");
        }
    }

    #[test]
    fn a_kernel_without_landlock_has_no_landlock_sandbox() {
        for landlock in [None, Some(2)] {
            let machine = Machine { landlock, ..machine(Rights::Ordinary) };
            let choice = Choice::Only(Backend::Landlock);
            let confinement = wanted(choice, Workspace::ReadOnly, &Promise::ALL);
            let refused = admit(Backend::Landlock, &confinement, &machine);
            assert!(matches!(refused, Err(ExecError::CannotConfine { .. })), "{landlock:?}");
        }
    }
}
