//! Which backend is used: one that was asked for, that lacks nothing but what it may lack, and that
//! this machine has. Whether it can really be built is found out by building it.

use super::{
    backends::{recipe, unasked},
    machine::Machine,
    recipe::{Recipe, Staging},
    start::probe,
};
use crate::{Cause, ExecError};
use interpreter_core::{Backend, Choice, Confinement, Workspace};

/// Whether a backend may be used for this confinement, as far as that can be told beforehand.
pub fn admit(
    backend: Backend,
    confinement: &Confinement,
    machine: &Machine,
) -> Result<(), ExecError> {
    let recipe = recipe(backend);
    let lacks = confinement.sandbox.not_allowed(backend, recipe.keeps);
    if !lacks.is_empty() {
        return Err(ExecError::Lacking { backend: backend.word(), lacks });
    }
    shows_the_folder(recipe, confinement.workspace)?;
    (recipe.admits)(confinement, machine)?;
    match recipe.helper.as_ref().filter(|helper| helper.path().is_none()) {
        Some(helper) => {
            let reason = format!("`{}` is not installed", helper.program);
            Err(recipe.refuses(reason, Some(Cause::NotInstalled(helper.package))))
        }
        None => Ok(()),
    }
}

/// Whether a backend can show the work folder in this way.
fn shows_the_folder(recipe: &Recipe, workspace: Workspace) -> Result<(), ExecError> {
    let how = match (recipe.staging, workspace) {
        (Staging::Unavailable, Workspace::Stage) => "apart",
        (Staging::Unavailable, Workspace::ReadOnly) => "away",
        (_, Workspace::Direct)
        | (Staging::Overlay | Staging::CopyInPlace | Staging::CopyElsewhere, _) => return Ok(()),
    };
    Err(ExecError::CannotStage { backend: recipe.backend.word(), how })
}

/// The backends to try for a choice, in order.
fn candidates(choice: Choice) -> Vec<Backend> {
    match choice {
        Choice::Auto => unasked().collect(),
        Choice::Only(backend) => vec![backend],
    }
}

/// The first that is tried for a choice.
pub fn first(choice: Choice) -> Backend {
    candidates(choice)[0]
}

/// Failed attempts, and the next one.
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
        for backend in candidates(choice) {
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
        // The fix for the strongest is the best one.
        let cause = refusals.iter().find_map(|(_, error)| {
            if let ExecError::CannotConfine { cause, .. } = error { *cause } else { None }
        });
        let refusals =
            refusals.into_iter().map(|(backend, error)| (backend.word(), in_short(&error)));
        ExecError::NoBackend { refusals: refusals.collect(), cause }
    }
}

/// Why a backend is not used, where its name stands beside it and others follow.
fn in_short(error: &ExecError) -> String {
    if let ExecError::CannotConfine { reason, .. } = error {
        return reason.clone();
    }
    if let ExecError::Lacking { lacks, .. } = error {
        let names: Vec<_> = lacks.iter().map(|lack| lack.promise.word()).collect();
        return format!("does not fully keep {}", names.join(", "));
    }
    error.to_string()
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
    use crate::sandbox::{
        cgroup::Groups,
        machine::{Inotify, Patience, Rights},
    };
    use interpreter_core::{Limits, Network, Promise, Sandboxing};

    const NATIVE: Backend = Backend::named("native");
    const LANDLOCK: Backend = Backend::named("landlock");

    #[test]
    fn none_is_never_tried_unasked() {
        assert!(!candidates(Choice::Auto).contains(&Backend::NONE));
    }

    fn machine(rights: Rights) -> Machine {
        Machine {
            program: "/usr/bin/interpreter".into(),
            home: None,
            user: if rights == Rights::Ordinary { 1000 } else { 0 },
            group: 1000,
            own_user: None,
            rights,
            system: vec![],
            mounted: vec![],
            landlock: Some(7),
            groups: Groups::default(),
            scratch: "/home/u/.local/share/interpreter/sandboxes".into(),
            inotify: Inotify { instances: 128, watches: 65_536 },
            patience: Patience::default(),
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
            secrets: vec![],
            limits: Limits::default(),
            sandbox: Sandboxing {
                backend,
                allow_missing: allowed.iter().copied().collect(),
                image: None,
            },
            environment: [].into(),
        }
    }

    fn broken(backend: Backend) -> ExecError {
        let reason = "user namespaces are refused".into();
        ExecError::CannotConfine { backend: backend.word(), reason, cause: Some(Cause::Root) }
    }

    #[test]
    fn native_comes_first_and_nothing_weaker_comes_unasked() {
        let machine = machine(Rights::Ordinary);
        let confinement = wanted(Choice::Auto, Workspace::ReadOnly, &[]);
        let mut search = Search::default();
        assert_eq!(search.next(&confinement, &machine).unwrap(), NATIVE);
        search.refused(NATIVE, broken(NATIVE), Choice::Auto).unwrap();
        let error = search.next(&confinement, &machine).unwrap_err();
        // Each obstacle has a line of its own.
        let words = "no sandbox that keeps every promise can be built here:\n  \
                     native: user namespaces are refused\n  \
                     bubblewrap: does not fully keep network, limits\n  \
                     landlock: does not fully keep ";
        assert!(error.to_string().starts_with(words), "{error}");
        let ExecError::NoBackend { refusals, cause } = error else { panic!("{error}") };
        let tried: Vec<_> = refusals.iter().map(|(backend, _)| *backend).collect();
        assert_eq!(tried, ["native", "bubblewrap", "landlock"]);
        assert_eq!(cause, Some(Cause::Root));
    }

    #[test]
    fn a_weaker_one_serves_when_its_lacks_are_allowed() {
        let machine = machine(Rights::RootWithoutMounts);
        let confinement = wanted(Choice::Auto, Workspace::ReadOnly, &Promise::ALL);
        let mut search = Search::default();
        search.refused(NATIVE, broken(NATIVE), Choice::Auto).unwrap();
        // bubblewrap is not for root.
        assert_eq!(search.next(&confinement, &machine).unwrap(), LANDLOCK);
        search.refused(LANDLOCK, broken(LANDLOCK), Choice::Auto).unwrap();
        assert!(matches!(search.next(&confinement, &machine), Err(ExecError::NoBackend { .. })));
    }

    #[test]
    fn what_was_named_is_not_replaced_by_another() {
        let native = Choice::Only(NATIVE);
        let mut search = Search::default();
        let refused = search.refused(NATIVE, broken(NATIVE), native);
        assert!(matches!(refused, Err(ExecError::CannotConfine { .. })));
        // Neither is one that could be built and failed later.
        let ended = ExecError::SandboxEnded { reason: "it ended".into() };
        assert!(search.refused(NATIVE, ended, Choice::Auto).is_err());
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
            assert_eq!(admitted(Workspace::Stage), backend != Backend::NONE, "{backend}");
            assert_eq!(admitted(Workspace::ReadOnly), backend != Backend::NONE, "{backend}");
            assert!(admitted(Workspace::Direct), "{backend}");
        }
    }

    #[test]
    fn a_kernel_without_landlock_has_no_landlock_sandbox() {
        for landlock in [None, Some(2)] {
            let machine = Machine { landlock, ..machine(Rights::Ordinary) };
            let choice = Choice::Only(LANDLOCK);
            let confinement = wanted(choice, Workspace::ReadOnly, &Promise::ALL);
            let refused = admit(LANDLOCK, &confinement, &machine);
            assert!(matches!(refused, Err(ExecError::CannotConfine { .. })), "{landlock:?}");
        }
    }
}
