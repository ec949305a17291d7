//! Attacks a sandbox for real, with our own binary inside, and judges by what is seen outside.
//!
//! No code of anybody else's runs, so no permit is spent. The same attack without any sandbox shows
//! which of them work on this machine at all: one that fails there says nothing.

use self::targets::Outside;
use super::live::Live;
use crate::{
    ExecError,
    sandbox::{Machine, Protection, Refusals},
};
use interpreter_core::{Backend, Confinement, Promise};
use interpreter_host::{Heard, Inward, KernelInput, KernelSpec, Outward};
pub use interpreter_jail::attack::Attack;
use interpreter_jail::attack::{ATTACK, Said};
use std::{collections::BTreeSet, time::Duration};

mod targets;

/// How long it may take. It waits for nobody.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of what it says that are kept.
const MOST: usize = 1 << 20;

/// The number of the only kernel.
const ONLY: u32 = 1;

/// The result of attacking a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attacked {
    /// The bounds of code in it.
    pub protection: Protection,
    /// The attacks that succeeded.
    pub succeeded: BTreeSet<Attack>,
}

/// The promise that an attack is aimed at.
pub fn aim(attack: Attack) -> Promise {
    match attack {
        Attack::ConnectsToPort | Attack::ConnectsToSocket => Promise::Network,
        Attack::ReadsFile => Promise::Reading,
        Attack::WritesFile => Promise::Writing,
        Attack::EndsProcess => Promise::Processes,
        Attack::ReadsEnvironment => Promise::Environment,
        Attack::GainsPrivileges => Promise::Privileges,
        Attack::TracesProcess | Attack::MakesNamespace | Attack::Mounts => Promise::Calls,
    }
}

/// Builds a sandbox, attacks it from inside, and ends it. Nothing is written to the work folder.
///
/// # Errors
/// If it cannot be built, or the attack did not come to its end.
pub async fn attack(
    backend: Backend,
    confinement: Confinement,
    machine: &Machine,
) -> Result<Attacked, ExecError> {
    let mut outside = Outside::prepare(machine)?;
    let argument = serde_json::to_string(&outside.targets()).map_err(std::io::Error::from)?;
    let refusals = Refusals::default();
    let mut live = Live::start(backend, confinement, None, None, &refusals, machine).await?;
    let spec = live.settle(KernelSpec {
        program: "/bin/sh".into(),
        arguments: [
            "-c".to_owned(),
            "exec \"$0\" \"$1\"".into(),
            format!("/run/interpreter/{ATTACK}"),
            argument,
        ]
        .into(),
        environment: live.confinement.environment.clone(),
        folder: "/".into(),
        input: KernelInput::Empty,
    });
    let said = match tokio::time::timeout(PATIENCE, hear(&mut live, spec)).await {
        Ok(Ok(said)) => said,
        // The step of the sandbox that failed says more than a stream that ended.
        Ok(Err(ExecError::SandboxEnded { .. })) if !live.answered => {
            return Err(live.why_it_ended().await);
        }
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(ended("the attack did not come to its end")),
    };
    let protection = live.protection();
    live.stop().await;
    let tried: Vec<Said> = said
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    if let Some(missing) =
        Attack::ALL.iter().find(|one| !tried.iter().any(|said| said.attack == **one))
    {
        return Err(ended(&format!("the attack {missing:?} was not tried")));
    }
    let succeeded =
        tried.iter().filter(|said| outside.shows(said)).map(|said| said.attack).collect();
    Ok(Attacked { protection, succeeded })
}

fn ended(reason: &str) -> ExecError {
    ExecError::SandboxEnded { reason: reason.into() }
}

/// Everything that the attack says.
async fn hear(live: &mut Live, spec: KernelSpec) -> Result<Vec<u8>, ExecError> {
    live.send(&Inward::Start { kernel: ONLY, spec }).await?;
    let mut said = Vec::new();
    loop {
        while let Some(heard) = live.next_heard()? {
            if let Heard::Stdout { bytes, .. } = &heard
                && said.len() < MOST
            {
                said.extend_from_slice(bytes);
            }
            if let Heard::Told(Outward::Failed { message, .. }) = &heard {
                return Err(ended(message));
            }
            if let Heard::Told(Outward::Exited { .. }) = &heard {
                return Ok(said);
            }
        }
        if !live.read().await? {
            return Err(ended("it ended at once"));
        }
    }
}
