//! A report as rows for a person: what, how it is, what was seen, what to do.

use super::{Finding, Health, Outcome, Report, Sandbox, Tried};
use interpreter_core::surroundings::Weight;

impl Report {
    /// Whether code would run, and every promise would be kept.
    pub fn is_ready(&self) -> bool {
        self.keeps_everything && self.findings.iter().all(|one| one.state != Health::Broken)
    }

    /// The same in one sentence, with the reason.
    pub fn verdict(&self) -> String {
        match (self.is_ready(), self.chosen) {
            (true, Some(name)) => format!("Ready: code runs in the {name} sandbox."),
            (false, Some(_)) if self.keeps_everything => {
                let broken = self.findings.iter().filter(|one| one.state == Health::Broken);
                let names: Vec<_> = broken.map(|one| one.name.as_str()).collect();
                format!("Not ready: the {} cannot be used.", names.join(" and the "))
            }
            (false, Some("none")) => "Not ready: code would run without a sandbox.".into(),
            (false, Some(name)) => {
                format!("Not ready: the {name} sandbox does not keep everything.")
            }
            (_, None) => "Not ready: code would not run.".into(),
        }
    }

    /// Only what is not ready, the sandbox first. Sandboxes that are not used do not count.
    pub fn problems(&self) -> Vec<Finding> {
        let rows = [self.used()].into_iter().chain(self.obstacles());
        let rows = rows.chain(self.findings.iter().cloned());
        rows.filter(|row| row.state != Health::Good).collect()
    }

    /// Everything, the sandbox first.
    pub fn rows(&self) -> Vec<Finding> {
        let mut rows = vec![self.used()];
        rows.extend(self.obstacles());
        rows.extend(self.sandboxes.iter().map(|sandbox| self.row(sandbox)));
        rows.push(self.machine());
        rows.extend(self.modules());
        rows.extend(self.findings.iter().cloned());
        rows
    }

    fn obstacles(&self) -> impl Iterator<Item = Finding> {
        self.obstacles.iter().map(|one| Finding {
            name: one.name.into(),
            state: match one.weight {
                Weight::Prevents => Health::Broken,
                Weight::Weakens => Health::Lacking,
            },
            detail: one.seen.clone(),
            fix: Some(one.fix.into()),
        })
    }

    fn used(&self) -> Finding {
        let used = self.sandboxes.iter().find(|sandbox| Some(sandbox.name) == self.chosen);
        let is_broken = used.is_some_and(|used| used.broken().next().is_some());
        let (state, detail) = match self.chosen {
            None => (Health::Broken, format!("nothing would run: {}", self.why)),
            Some("none") => (Health::Lacking, format!("none: {}", self.why)),
            Some(name) if is_broken => {
                (Health::Broken, format!("{name} would be used, and an attack got through"))
            }
            Some(name) if self.keeps_everything => {
                (Health::Good, format!("{name} is used and keeps everything: {}", self.why))
            }
            Some(name) => {
                let lacks = used.iter().flat_map(|used| &used.lacks);
                let lacks: Vec<_> = lacks.map(|lack| lack.promise.word()).collect();
                let lacks = lacks.join(", ");
                (Health::Lacking, format!("{name} does not fully keep {lacks}; {}", self.why))
            }
        };
        Finding { name: "sandbox".into(), state, detail, fix: self.fix.clone() }
    }

    fn row(&self, sandbox: &Sandbox) -> Finding {
        let name = sandbox.name.to_owned();
        if let Some(reason) = &sandbox.reason {
            let recognised = self.obstacles.iter().any(|one| one.weight == Weight::Prevents);
            // A recognised obstacle has the better fix.
            let fix = sandbox.fix.clone().filter(|_| !recognised);
            return Finding { name, state: Health::Lacking, detail: reason.clone(), fix };
        }
        let is_broken = sandbox.broken().next().is_some();
        let state = match (is_broken, sandbox.lacks.is_empty()) {
            (true, _) => Health::Broken,
            (false, true) => Health::Good,
            (false, false) => Health::Lacking,
        };
        Finding { name, state, detail: told(sandbox), fix: None }
    }

    /// The fix is that of the obstacle.
    fn modules(&self) -> impl Iterator<Item = Finding> {
        self.security_modules.iter().map(|one| {
            let (state, verdict) = if one.in_the_way {
                (Health::Lacking, "in the way")
            } else {
                (Health::Good, "not in the way")
            };
            let detail = format!("{}: {verdict}", one.state);
            Finding { name: one.name.into(), state, detail, fix: None }
        })
    }

    fn machine(&self) -> Finding {
        let who = if self.root { "root" } else { "an ordinary user" };
        let landlock = self.landlock.map_or("no Landlock".into(), |one| format!("Landlock {one}"));
        let detail = format!("Linux {}, {landlock}, run by {who}", self.kernel);
        Finding { name: "machine".into(), state: Health::Good, detail, fix: None }
    }
}

fn told(sandbox: &Sandbox) -> String {
    let of = |outcome| sandbox.attacks.iter().filter(move |tried| tried.outcome == outcome);
    let names = |tried: Vec<&Tried>| {
        tried.into_iter().map(|tried| tried.attack.words()).collect::<Vec<_>>().join(", ")
    };
    let (through, unproven): (Vec<_>, Vec<_>) =
        (of(Outcome::GotThrough).collect(), of(Outcome::Unproven).collect());
    let stopped = sandbox.attacks.len() - through.len();
    let mut parts = vec![format!(
        "built, attacked from inside and ended: {stopped} of {} attacks were stopped",
        sandbox.attacks.len()
    )];
    if !through.is_empty() {
        parts.push(format!("got through: {}", names(through)));
    }
    if !unproven.is_empty() {
        parts.push(format!("fail here without a sandbox too: {}", names(unproven)));
    }
    let enforced = [("Enforced", &sandbox.enforced), ("Not enforced", &sandbox.missing)];
    let enforced = enforced.into_iter().filter(|(_, list)| !list.is_empty());
    let enforced = enforced.map(|(word, list)| format!(". {word}: {}", list.join("; ")));
    parts.join("; ") + &enforced.collect::<String>()
}
