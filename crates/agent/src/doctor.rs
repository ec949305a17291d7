//! Finds out by trying how well this machine protects: every available sandbox is built, attacked
//! from inside and removed. `interpreter doctor --json` prints the [`Report`].

use crate::{Advise, ChooseError, Context, error::chain};
use interpreter_core::{
    Continuity, Promise, Scanner, Untrusted,
    surroundings::{Obstacle, SecurityModule, Weight, obstacles, security_modules},
};
use interpreter_exec::{DeclaredBy, attack::Attack, sandbox::surroundings};
use serde::Serialize;

mod rows;
mod sandboxes;

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The sandbox that code would run in, or `None` if nothing would run.
    pub chosen: Option<&'static str>,
    /// Why that one, or why none.
    pub why: String,
    /// The fix, if nothing would run.
    pub fix: Option<String>,
    /// Whether code would run, and all that is promised would be kept.
    pub keeps_everything: bool,
    /// The kernel's release.
    pub kernel: String,
    /// The version of Landlock, if the kernel has it.
    pub landlock: Option<u32>,
    /// Whether this is root.
    pub root: bool,
    /// Obstacles to a sandbox.
    pub obstacles: Vec<Obstacle>,
    /// The state of AppArmor and SELinux.
    pub security_modules: [SecurityModule; 2],
    /// Every sandbox, the strongest first.
    pub sandboxes: Vec<Sandbox>,
    /// Other requirements of a session.
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
    /// The fix.
    pub fix: Option<String>,
    /// Enforced protection.
    pub enforced: Vec<String>,
    /// Missing protection.
    pub missing: Vec<String>,
    /// The promises that it does not keep in full.
    pub lacks: Vec<Lacking>,
    /// The results of the attacks.
    pub attacks: Vec<Tried>,
}

/// A promise that is not kept in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// The promise.
    pub promise: Promise,
    /// The gap.
    pub why: &'static str,
}

/// An attack, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The attack.
    pub attack: Attack,
    /// The promise that it is aimed at.
    pub promise: Promise,
    /// Its result.
    pub outcome: Outcome,
}

/// The result of an attack.
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
    pub state: Health,
    /// The observation.
    pub detail: String,
    /// The fix, if one is needed.
    pub fix: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Good,
    /// Something is missing that can be done without.
    Lacking,
    /// Nothing will run.
    Broken,
}

/// Looks at everything that a session depends on. Builds every sandbox that is there, attacks it from
/// inside with our own program, and ends it again. Nobody's code runs.
pub async fn examine(context: &Context) -> Report {
    let machine = context.machine();
    let seen = surroundings(machine);
    let sandboxes = sandboxes::all(context).await;
    let (chosen, why, fix) = sandboxes::chosen(context, &sandboxes).await;
    let used = sandboxes.iter().find(|sandbox| Some(sandbox.name) == chosen);
    let keeps_everything = used
        .is_some_and(|used| used.lacks.is_empty() && used.built && used.broken().next().is_none());
    let can_be_built = sandboxes.first().is_some_and(|native| native.built);
    let mut obstacles = obstacles(&seen);
    // A possible obstacle that prevents nothing is none.
    obstacles.retain(|one| one.weight == Weight::Weakens || !can_be_built);
    obstacles.extend(used.and_then(sandboxes::no_group));
    let findings = [record(context)].into_iter().chain(retention(context)).chain(packages(context));
    let findings = findings.chain(languages(context));
    let findings = findings.chain([model(context), scanners(context)]);
    Report {
        chosen,
        why,
        fix,
        keeps_everything,
        kernel: seen.release.trim().into(),
        landlock: seen.landlock,
        root: seen.root,
        obstacles,
        security_modules: security_modules(&seen, can_be_built),
        findings: findings.collect(),
        sandboxes,
    }
}

fn record(context: &Context) -> Finding {
    let name = "record".to_owned();
    match context.log().and_then(|log| Ok((log.path().display().to_string(), log.verify()?))) {
        Ok((path, found)) => match found.first_fault() {
            None => Finding {
                name,
                state: Health::Good,
                detail: format!("{path}: {} records, all linked", found.records),
                fix: None,
            },
            Some(fault) => Finding {
                name,
                state: Health::Broken,
                detail: format!("{path}: {fault}"),
                fix: Some("`interpreter audit verify` says more; keep a copy of the file".into()),
            },
        },
        Err(error) => {
            let (detail, fix) = (chain(&error), error.advice());
            Finding { name, state: Health::Broken, detail, fix }
        }
    }
}

/// Old sessions that are still there.
fn retention(context: &Context) -> Option<Finding> {
    context.unremoved().map(|detail| Finding {
        name: "retention".into(),
        state: Health::Lacking,
        detail,
        fix: Some("remove the cause; the end of the next session tries again".into()),
    })
}

/// Files among the packages of the folder that belong to none of them.
fn packages(context: &Context) -> Option<Finding> {
    let odd = context.damaged_packages();
    let (_, first) = odd.first()?;
    let more = if odd.len() > 1 { format!(" and {} more", odd.len() - 1) } else { String::new() };
    let first = Untrusted::new(first.display().to_string()).for_terminal_line(200);
    Some(Finding {
        name: "packages".into(),
        state: Health::Lacking,
        detail: format!("files that belong to no package: {first}{more}"),
        fix: Some("add or remove a package: all of them are installed afresh with it".into()),
    })
}

fn languages(context: &Context) -> impl Iterator<Item = Finding> {
    // A missing interpreter is no finding; `interpreter languages` lists them.
    let all = context.interpreters().all();
    let wanted = all.filter(|one| {
        one.interpreter.is_ok()
            || one.by == DeclaredBy::Person
            || one.info.continuity == Continuity::Kept
    });
    wanted.map(|one| match &one.interpreter {
        Ok(found) => Finding {
            name: one.info.name.clone(),
            state: Health::Good,
            detail: match &found.program {
                Some(program) => program.display().to_string(),
                None => "needs no interpreter".into(),
            },
            fix: None,
        },
        Err(hint) => Finding {
            name: one.info.name.clone(),
            state: Health::Lacking,
            detail: "no interpreter was found".into(),
            fix: Some(hint.clone()),
        },
    })
}

/// Scanners that are set, and those that could be.
fn scanners(context: &Context) -> Finding {
    let name = "scanners".to_owned();
    if let Some(missing) = context.missing_scanners() {
        let fix = "install it, or take it out of `analysis.scanners`".to_owned();
        return Finding { name, state: Health::Lacking, detail: missing, fix: Some(fix) };
    }
    let set: Vec<_> = context.scanners().iter().map(|(scanner, _)| scanner.name()).collect();
    let others = Scanner::ALL.into_iter().filter(|one| !set.contains(&one.name()));
    let others = others.filter(|one| context.installed(*one).is_some());
    let others: Vec<_> = others.map(Scanner::name).collect();
    let look = if set.len() == 1 { "looks" } else { "look" };
    let detail = match (set.is_empty(), others.is_empty()) {
        (true, true) => "none installed; the analysis needs none".into(),
        (true, false) => format!("{} installed; `analysis.scanners` uses them", others.join(", ")),
        (false, true) => format!("{} {look} at code too", set.join(", ")),
        (false, false) => {
            format!("{} {look} at code too; also installed: {}", set.join(", "), others.join(", "))
        }
    };
    Finding { name, state: Health::Good, detail, fix: None }
}

fn model(context: &Context) -> Finding {
    let name = "model".to_owned();
    match context.choice().and_then(|choice| choice.chosen(None)) {
        Ok(model) => {
            let parts = std::iter::once(model.name().to_owned()).chain(model.in_the_clear());
            let detail = parts.collect::<Vec<_>>().join("; ");
            Finding { name, state: Health::Good, detail, fix: None }
        }
        Err(error) => {
            let choose = "choose one with `--model` or with `model = …` in your config file";
            let of_model = matches!(error, ChooseError::Model(_));
            let fix = if of_model { error.advice() } else { Some(choose.into()) };
            Finding { name, state: Health::Lacking, detail: chain(&error), fix }
        }
    }
}
