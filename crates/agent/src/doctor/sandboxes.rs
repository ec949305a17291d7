//! Every sandbox, built and attacked; and the one that would be used.

use super::{Lacking, Outcome, Sandbox, Tried};
use crate::{Advise, Context, error::chain};
use interpreter_core::{
    Backend, Choice, Promise, Workspace,
    sandbox::lacks,
    surroundings::{Obstacle, Weight},
};
use interpreter_exec::{
    ExecError,
    attack::{Attack, Attacked, aim, attack},
    sandbox::{admit, find, keeps},
};
use std::collections::BTreeSet;

/// Every sandbox that confines something.
pub(super) async fn all(context: &Context) -> Vec<Sandbox> {
    // A sandbox can only stop attacks that succeed without one. Only our own program runs there.
    let control = match attacked(context, Backend::NONE).await {
        Ok(control) => control.succeeded,
        Err(_) => BTreeSet::new(),
    };
    let mut sandboxes = Vec::new();
    for backend in Backend::ALL.into_iter().filter(|&backend| backend != Backend::NONE) {
        let attacked = attacked(context, backend).await;
        sandboxes.push(sandbox(backend, attacked, &control));
    }
    sandboxes
}

async fn attacked(context: &Context, backend: Backend) -> Result<Attacked, ExecError> {
    let mut confinement = context.confinement();
    // Whether it could be built is asked here, and not whether it may be used.
    confinement.sandbox.backend = Choice::Only(backend);
    confinement.sandbox.allow_missing = Promise::ALL.into();
    confinement.workspace =
        if backend == Backend::NONE { Workspace::Direct } else { Workspace::ReadOnly };
    admit(backend, &confinement, context.machine())?;
    attack(backend, confinement, context.machine()).await
}

fn sandbox(
    backend: Backend,
    attacked: Result<Attacked, ExecError>,
    control: &BTreeSet<Attack>,
) -> Sandbox {
    let lacks = lacks(|promise| keeps(backend, promise))
        .map(|lack| Lacking { promise: lack.promise, why: lack.why });
    let mut sandbox = Sandbox {
        name: backend.word(),
        built: attacked.is_ok(),
        reason: None,
        fix: None,
        enforced: vec![],
        missing: vec![],
        lacks: lacks.collect(),
        attacks: vec![],
    };
    match attacked {
        Ok(Attacked { protection, succeeded }) => {
            sandbox.enforced = protection.enforced;
            sandbox.missing = protection.missing;
            sandbox.attacks = tried(&succeeded, control);
        }
        Err(error) => {
            sandbox.reason = Some(chain(&error));
            sandbox.fix = fix(&error);
        }
    }
    sandbox
}

/// The next step, except to run this very command.
fn fix(error: &ExecError) -> Option<String> {
    let is_unknown = matches!(
        error,
        ExecError::CannotConfine { cause: None, .. } | ExecError::NoBackend { cause: None, .. }
    );
    if is_unknown { None } else { error.advice() }
}

fn tried(succeeded: &BTreeSet<Attack>, control: &BTreeSet<Attack>) -> Vec<Tried> {
    let outcome = |attack| match (succeeded.contains(&attack), control.contains(&attack)) {
        (true, _) => Outcome::GotThrough,
        (false, true) => Outcome::Stopped,
        (false, false) => Outcome::Unproven,
    };
    Attack::ALL
        .map(|attack| Tried { attack, promise: aim(attack), outcome: outcome(attack) })
        .into()
}

/// The one that code would run in, why, and what to do where there is none.
pub(super) async fn chosen(
    context: &Context,
    sandboxes: &[Sandbox],
) -> (Option<&'static str>, String, Option<String>) {
    let confinement = context.confinement();
    let asked = confinement.sandbox.backend;
    if confinement.sandbox.is_none() {
        let fix = "take `backend = \"none\"` out of your config file".to_owned();
        return (Some("none"), "your config file asks for no sandbox at all".into(), Some(fix));
    }
    match find(&confinement, context.machine()).await {
        Ok(backend) => {
            let why = match asked {
                Choice::Auto => {
                    "the first that can be built here and lacks nothing that you did not allow"
                }
                Choice::Only(_) => "your config file asks for it",
            };
            (Some(backend.word()), why.into(), None)
        }
        Err(error) => {
            let native = sandboxes.first().and_then(|native| native.fix.clone());
            (None, why_none(&error), fix(&error).or(native))
        }
    }
}

/// Every sandbox has its reason in a row of its own: the strongest one's will do.
fn why_none(error: &ExecError) -> String {
    if let ExecError::NoBackend { refusals, .. } = error
        && let Some((name, reason)) = refusals.first()
    {
        return format!("no sandbox that keeps every promise can be built; {name}: {reason}");
    }
    chain(error)
}

/// That memory is bounded for each process alone.
pub(super) fn no_group(sandbox: &Sandbox) -> Option<Obstacle> {
    let missing =
        sandbox.missing.iter().find(|one| one.starts_with("a limit on the memory of all"))?;
    Some(Obstacle {
        name: "no_control_group",
        weight: Weight::Weakens,
        seen: format!("there is not {missing}"),
        fix: "with systemd: `systemd-run --user --scope -p Delegate=yes interpreter`",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_exec::{Cause, sandbox::Protection};

    fn attacked(succeeded: &[Attack]) -> Attacked {
        let protection = Protection { backend: "x", enforced: vec![], missing: vec![] };
        Attacked { protection, succeeded: succeeded.iter().copied().collect() }
    }

    #[test]
    fn what_fails_without_a_sandbox_too_says_nothing() {
        let control = BTreeSet::from([Attack::ReadsFile, Attack::WritesFile]);
        let native =
            sandbox(Backend::named("native"), Ok(attacked(&[Attack::WritesFile])), &control);
        let outcome =
            |attack| native.attacks.iter().find(|one| one.attack == attack).unwrap().outcome;
        assert_eq!(outcome(Attack::ReadsFile), Outcome::Stopped);
        assert_eq!(outcome(Attack::WritesFile), Outcome::GotThrough);
        assert_eq!(outcome(Attack::Mounts), Outcome::Unproven);
    }

    #[test]
    fn what_gets_through_breaks_a_promise_unless_it_is_lacking() {
        let through = [Attack::EndsProcess, Attack::ReadsEnvironment];
        let broken = |backend| {
            let sandbox = sandbox(backend, Ok(attacked(&through)), &BTreeSet::new());
            sandbox.broken().map(|tried| tried.attack).collect::<Vec<_>>()
        };
        assert_eq!(
            broken(Backend::named("native")),
            [Attack::ReadsEnvironment, Attack::EndsProcess]
        );
        assert_eq!(broken(Backend::named("landlock")), [Attack::ReadsEnvironment]);
    }

    #[test]
    fn a_sandbox_that_cannot_be_built_says_why() {
        let error = ExecError::CannotConfine {
            backend: "firejail",
            reason: "`firejail` is not installed".into(),
            cause: Some(Cause::NotInstalled("firejail")),
        };
        let firejail = sandbox(Backend::named("firejail"), Err(error), &BTreeSet::new());
        assert!(!firejail.built && firejail.reason.unwrap().contains("is not installed"));
        assert_eq!(firejail.fix.as_deref(), Some("install the package `firejail`"));
    }
}
