//! What protects on this machine, found out by trying.

use crate::{
    AgentError, Scene,
    error::{chain, exec_failure},
};
use interpreter_core::{Continuity, Workspace};
use interpreter_exec::{DeclaredBy, sandbox::probe};
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
    let mut findings = vec![sandbox(scene).await, record(scene)];
    findings.extend(languages(scene));
    findings.push(model(scene));
    findings
}

async fn sandbox(scene: &Scene) -> Finding {
    let name = "sandbox".to_owned();
    let mut confinement = scene.confinement();
    confinement.workspace = Workspace::ReadOnly;
    match probe(&confinement, scene.machine()).await {
        Ok(protection) => Finding {
            name,
            state: State::Good,
            detail: format!(
                "{} sandbox was built and ended. Enforced: {}. Not enforced: {}",
                protection.backend,
                protection.enforced.join("; "),
                protection.missing.join("; "),
            ),
            fix: None,
        },
        Err(error) => {
            let fix = exec_failure(&error).hint;
            Finding { name, state: State::Broken, detail: chain(&error), fix }
        }
    }
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
