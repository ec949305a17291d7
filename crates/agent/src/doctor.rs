//! What protects on this machine, found out by trying.

use crate::{
    AgentError, Scene,
    error::{chain, exec_failure},
};
use interpreter_core::{Backend, Continuity, Promise, Workspace};
use interpreter_exec::{
    DeclaredBy,
    sandbox::{Protection, admit, find, probe},
};
use serde::Serialize;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was seen.
    pub detail: String,
    /// What to do about it, if something is to be done.
    pub fix: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Good,
    /// Something is missing that can be done without.
    Lacking,
    /// Nothing will run.
    Broken,
}

/// Looks at everything that a session depends on. Builds a real sandbox and ends it again.
pub async fn examine(scene: &Scene) -> Vec<Finding> {
    let mut findings = vec![sandbox(scene).await];
    findings.extend(other_sandboxes(scene).await);
    findings.push(record(scene));
    findings.extend(languages(scene));
    findings.push(model(scene));
    findings
}

async fn sandbox(scene: &Scene) -> Finding {
    let name = "sandbox".to_owned();
    let mut confinement = scene.confinement();
    if confinement.sandbox.is_none() {
        return Finding {
            name,
            state: State::Lacking,
            detail: "there is none: code runs with all your rights".into(),
            fix: Some("take `backend = \"none\"` out of your config file".into()),
        };
    }
    confinement.workspace = Workspace::ReadOnly;
    let found = match find(&confinement, scene.machine()).await {
        Ok(backend) => probe(backend, &confinement, scene.machine()).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(protection) => {
            Finding { name, state: State::Good, detail: built(&protection), fix: None }
        }
        Err(error) => {
            let fix = exec_failure(&error).hint;
            Finding { name, state: State::Broken, detail: chain(&error), fix }
        }
    }
}

fn built(protection: &Protection) -> String {
    format!(
        "{} sandbox was built and ended. Enforced: {}. Not enforced: {}",
        protection.backend,
        protection.enforced.join("; "),
        protection.missing.join("; "),
    )
}

/// The sandboxes that `--sandbox` can name besides, built and ended too.
async fn other_sandboxes(scene: &Scene) -> Vec<Finding> {
    let mut findings = Vec::new();
    for backend in [Backend::Bubblewrap, Backend::Firejail, Backend::Landlock] {
        let mut confinement = scene.confinement();
        confinement.workspace = Workspace::ReadOnly;
        // Whether it could be built is asked here, and not whether it may be used.
        confinement.sandbox.allow_missing = Promise::ALL.into();
        let machine = scene.machine();
        let found = match admit(backend, &confinement, machine) {
            Ok(()) => probe(backend, &confinement, machine).await,
            Err(error) => Err(error),
        };
        let name = backend.word().to_owned();
        findings.push(match found {
            Ok(protection) => {
                Finding { name, state: State::Good, detail: built(&protection), fix: None }
            }
            Err(error) => {
                let fix = exec_failure(&error).hint;
                Finding { name, state: State::Lacking, detail: chain(&error), fix }
            }
        });
    }
    findings
}

fn record(scene: &Scene) -> Finding {
    let name = "record".to_owned();
    match scene.log().and_then(|log| Ok((log.path().display().to_string(), log.verify()?))) {
        Ok((path, verification)) => match verification.first_break {
            None => Finding {
                name,
                state: State::Good,
                detail: format!("{path}: {} records, all linked", verification.records),
                fix: None,
            },
            Some(found) => Finding {
                name,
                state: State::Broken,
                detail: format!(
                    "{path}: record {} does not follow from the one before it",
                    found.seq
                ),
                fix: Some("`interpreter audit verify` says more; keep a copy of the file".into()),
            },
        },
        Err(error) => Finding { name, state: State::Broken, detail: chain(&error), fix: None },
    }
}

fn languages(scene: &Scene) -> impl Iterator<Item = Finding> {
    // What a machine lacks of the many others is no finding; `interpreter languages` lists them.
    let all = scene.interpreters().all();
    let wanted = all.filter(|one| {
        one.interpreter.is_ok()
            || one.by == DeclaredBy::Person
            || one.info.continuity == Continuity::Kept
    });
    wanted.map(|one| match &one.interpreter {
        Ok(found) => Finding {
            name: one.info.name.clone(),
            state: State::Good,
            detail: match &found.program {
                Some(program) => program.display().to_string(),
                None => "needs no interpreter".into(),
            },
            fix: None,
        },
        Err(hint) => Finding {
            name: one.info.name.clone(),
            state: State::Lacking,
            detail: "no interpreter was found".into(),
            fix: Some(hint.clone()),
        },
    })
}

fn model(scene: &Scene) -> Finding {
    let name = "model".to_owned();
    match scene.model() {
        Ok(model) => Finding { name, state: State::Good, detail: model.name().into(), fix: None },
        Err(AgentError::Choose(error)) => Finding {
            name,
            state: State::Lacking,
            detail: chain(&error),
            fix: Some("choose one with `--model` or with `model = …` in your config file".into()),
        },
        Err(error) => Finding { name, state: State::Lacking, detail: chain(&error), fix: None },
    }
}
