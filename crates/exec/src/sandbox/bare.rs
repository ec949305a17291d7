//! No sandbox: the host, its session and its keeper, and nothing that confines.
//!
//! # Threat
//! None is met. It is there for machines and tasks where a person wants no sandbox and says so, and
//! to show that an attack works where nothing stops it.
//!
//! # Mechanism
//! The same host as everywhere starts kernels with the listed environment. It is away from the
//! terminal, and a keeper ends whatever it leaves. Where root has given it a user of its own, it
//! becomes that one for good: this is then the only fence between it and everybody else.
//!
//! # Order
//! The keeper is made before the host starts, and before root is given up.
//!
//! # Limits
//! Everything that the person may do, the code may do; with a user of its own, what that one may do.

use super::{
    machine::Machine,
    native::check_work_folder,
    recipe::{Furniture, Protection, Recipe, Site, Staging},
    view::View,
};
use crate::ExecError;
use interpreter_core::{Backend, Kept, Promise};
use interpreter_jail::{Plan, Step};

/// How code runs without a sandbox.
pub(super) static RECIPE: Recipe = Recipe {
    backend: Backend::NONE,
    unasked: false,
    confines: false,
    keeps,
    admits: |_, _| Ok(()),
    helper: None,
    staging: Staging::Unavailable,
    has_door: false,
    own_system: false,
    furniture: Furniture::Outside,
    bounds_all: |_| false,
    plan,
    view: |_| View::unknown(),
    describe,
};

fn keeps(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::No("the whole network is there"),
        Promise::Reading => Kept::No("everything can be read that you can read"),
        Promise::Writing => Kept::No("everything can be changed that you can change"),
        Promise::Processes => Kept::No("all processes are seen, and yours can be signalled"),
        Promise::Environment => {
            Kept::InPart("nothing is inherited, but your other processes show theirs")
        }
        Promise::Privileges => Kept::No("programs that give privileges give them"),
        Promise::Calls => Kept::No("nothing is refused"),
        Promise::Terminal => {
            Kept::InPart("what is shown is filtered, but code can open your terminal by its path")
        }
        Promise::Ending => {
            Kept::InPart("everything is ended that does not kill its keeper or hide from it")
        }
        Promise::Limits => Kept::InPart("time, processor time and output alone"),
    }
}

/// The steps that start a host without confining it.
fn plan(site: &Site<'_>) -> Result<Plan, ExecError> {
    check_work_folder(site.confinement)?;
    let mut steps = vec![Step::NewSession, Step::Keep];
    if let Some(user) = site.recipe.other_user(site.machine) {
        steps.extend([
            Step::NoNewPrivileges,
            Step::EmptyBoundingSet,
            Step::BecomeUser { user, group: user },
            Step::NoCapabilities,
        ]);
    }
    // Becoming another user would take this back.
    steps.push(Step::DieWithParent);
    steps.push(Step::Execute {
        program: site.machine.program.clone(),
        arguments: vec![interpreter_host::HOST.into()],
    });
    Ok(Plan(steps))
}

fn describe(_: &Machine, protection: &mut Protection) {
    protection.enforced.push("limits on time, processor time and output".into());
}
