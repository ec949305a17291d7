//! What protects on this machine, found out by trying: every sandbox that is there is built, attacked
//! from inside and ended. [`Report`] is what `interpreter doctor --json` prints.

use crate::{ChooseError, Scene, error::chain};
use interpreter_core::{
    Continuity, Promise,
    surroundings::{Obstacle, Weight, obstacles},
};
use interpreter_exec::{DeclaredBy, attack::Attack, sandbox::surroundings};
use serde::Serialize;

mod rows;
mod sandboxes;

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The sandbox that code would run in; none if nothing would run.
    pub chosen: Option<&'static str>,
    /// Why that one, or why none.
    pub why: String,
    /// What to do, where nothing would run.
    pub fix: Option<String>,
    /// Whether code would run, and all that is promised would be kept.
    pub keeps_everything: bool,
    /// What the kernel calls itself.
    pub kernel: String,
    /// The version of Landlock, if the kernel has it.
    pub landlock: Option<u32>,
    /// Whether this is root.
    pub root: bool,
    /// What stands in the way.
    pub obstacles: Vec<Obstacle>,
    /// Every sandbox, the strongest first.
    pub sandboxes: Vec<Sandbox>,
    /// What else a session depends on.
    pub findings: Vec<Finding>,
}

/// A sandbox that was built and attacked, or could not be.
#[derive(Clone, Debug, Serialize)]
pub struct Sandbox {
    /// Its name.
    pub name: &'static str,
    /// Whether it could be built.
    pub built: bool,
    /// Why it could not be.
    pub reason: Option<String>,
    /// What to do about that.
    pub fix: Option<String>,
    /// What it enforces.
    pub enforced: Vec<String>,
    /// What it does not.
    pub missing: Vec<String>,
    /// The promises that it does not keep in full.
    pub lacks: Vec<Lacking>,
    /// What came of the attacks.
    pub attacks: Vec<Tried>,
}

/// A promise that is not kept in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// The promise.
    pub promise: Promise,
    /// What is missing.
    pub why: &'static str,
}

/// An attack, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// What was tried.
    pub attack: Attack,
    /// The promise that it is aimed at.
    pub promise: Promise,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It failed, and would have succeeded without the sandbox.
    Stopped,
    /// It failed, as it does without the sandbox: that says nothing.
    Unproven,
    /// It succeeded.
    GotThrough,
}

impl Sandbox {
    /// The attacks that succeeded although the sandbox says that it keeps the promise.
    pub fn broken(&self) -> impl Iterator<Item = &Tried> {
        let is_kept = |promise| !self.lacks.iter().any(|lack| lack.promise == promise);
        self.attacks
            .iter()
            .filter(move |tried| tried.outcome == Outcome::GotThrough && is_kept(tried.promise))
    }
}

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

/// Looks at everything that a session depends on. Builds every sandbox that is there, attacks it from
/// inside with our own program, and ends it again. Nobody's code runs.
pub async fn examine(scene: &Scene) -> Report {
    let machine = scene.machine();
    let seen = surroundings(machine);
    let sandboxes = sandboxes::all(scene).await;
    let (chosen, why, fix) = sandboxes::chosen(scene, &sandboxes).await;
    let used = sandboxes.iter().find(|sandbox| Some(sandbox.name) == chosen);
    let keeps_everything = used
        .is_some_and(|used| used.lacks.is_empty() && used.built && used.broken().next().is_none());
    let can_be_built = sandboxes.first().is_some_and(|native| native.built);
    let mut obstacles = obstacles(&seen);
    // What would be in the way and is not, is not.
    obstacles.retain(|one| one.weight == Weight::Weakens || !can_be_built);
    obstacles.extend(used.and_then(sandboxes::no_group));
    let findings = [record(scene)].into_iter().chain(languages(scene)).chain([model(scene)]);
    Report {
        chosen,
        why,
        fix,
        keeps_everything,
        kernel: seen.release.trim().into(),
        landlock: seen.landlock,
        root: seen.root,
        obstacles,
        findings: findings.collect(),
        sandboxes,
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
    match scene.choice().and_then(|choice| choice.chosen(None)) {
        Ok(model) => Finding { name, state: State::Good, detail: model.name().into(), fix: None },
        Err(error) => {
            let choose = "choose one with `--model` or with `model = …` in your config file";
            let of_model = matches!(error, ChooseError::Model(_));
            let fix = if of_model { error.hint() } else { Some(choose.into()) };
            Finding { name, state: State::Lacking, detail: chain(&error), fix }
        }
    }
}
