//! Starts interpreters to hear which version each is, and runs nothing.

use super::live::Live;
use crate::{
    ExecError, Interpreters,
    sandbox::{Machine, Refusals, find},
};
use interpreter_core::{Confinement, Language, Untrusted};
use interpreter_host::{Claim, Heard, Inward, Outward};
use std::time::Duration;

/// Bytes of what it complains that are kept.
const SAID: usize = 4096;

/// How long an interpreter may take to say something.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts the interpreter of each language in a sandbox of its own making, one after another, and
/// takes down what it says: a version, or why there is none. No code is given to any.
///
/// # Errors
/// If there is no sandbox.
pub async fn check(
    languages: &[Language],
    interpreters: &Interpreters,
    confinement: Confinement,
    machine: &Machine,
) -> Result<Vec<Result<Untrusted, Untrusted>>, ExecError> {
    let backend = find(&confinement, machine).await?;
    let refusals = Refusals::default();
    let mut live = Live::start(backend, confinement, None, None, &refusals, machine).await?;
    let mut answers = Vec::new();
    for (language, kernel) in languages.iter().zip(1..) {
        let Some(interpreter) = interpreters.get(language) else {
            answers.push(Err(Untrusted::new("there is no interpreter")));
            continue;
        };
        let spec = live.settle(interpreter.check_spec(&live.confinement.environment));
        live.send(&Inward::Start { kernel, spec }).await?;
        let answer = tokio::time::timeout(PATIENCE, answer(&mut live, kernel)).await;
        answers.push(match answer {
            Ok(answer) => answer?,
            Err(_) => Err(Untrusted::new("it does not answer")),
        });
        live.send(&Inward::Stop { kernel }).await?;
    }
    live.stop().await;
    Ok(answers)
}

/// The first message that shows the state of a kernel. Late messages of earlier kernels are
/// skipped.
async fn answer(live: &mut Live, own: u32) -> Result<Result<Untrusted, Untrusted>, ExecError> {
    let mut said = Vec::new();
    loop {
        while let Some(heard) = live.next_heard()? {
            if let Heard::Stderr { kernel, bytes } = &heard
                && *kernel == own
                && said.len() < SAID
            {
                said.extend_from_slice(bytes);
            }
            if let Some(answer) = told(&heard, own, &said) {
                return Ok(answer);
            }
        }
        if !live.read().await? {
            return Err(ExecError::SandboxEnded { reason: "it ended at once".into() });
        }
    }
}

/// The state of a kernel that has printed this.
fn told(heard: &Heard, own: u32, said: &[u8]) -> Option<Result<Untrusted, Untrusted>> {
    if let Heard::Claim { kernel, claim } = heard
        && *kernel == own
        && let Ok(Claim::Ready { version, .. }) = Claim::parse(claim)
    {
        return Some(Ok(Untrusted::new(version)));
    }
    if let Heard::Told(Outward::Failed { kernel, message }) = heard
        && *kernel == own
    {
        return Some(Err(Untrusted::new(message.as_str())));
    }
    if let Heard::Told(Outward::Exited { kernel, .. }) = heard
        && *kernel == own
    {
        let said = String::from_utf8_lossy(said).into_owned();
        return Some(Err(Untrusted::new(if said.is_empty() { "it ended".into() } else { said })));
    }
    None
}
