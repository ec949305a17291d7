//! Whether a proposal may run: allow, ask or deny.
//!
//! # Threat
//! A rule that loosens another; a rule that allows more than it names; a project that brings
//! rules of its own; a rule file that is not understood and therefore skipped; code without findings
//! that acts nevertheless.
//!
//! # Mechanism
//! Opinions are ordered and combined with `max`, so deny always wins. Without a matching rule
//! the mode decides, which is ask unless the person chose otherwise. A rule that allows must cover
//! all of the code. A project's rules can only make it stricter. Where several people must approve,
//! all rules that match count together. Code that isn't understood never runs by the automatic mode
//! or a rule that looks at findings, and fits every rule that asks or denies by findings. Rules are
//! parsed with unknown fields refused; whoever loads them must stop on an error.
//!
//! # Limits
//! A rule that allows by language alone, or lines without `*`, allows what is not understood too: it
//! says so by naming no findings. Rules decide when a person is asked; the sandbox decides what is
//! possible.

use self::places::Fit;
use crate::{Findings, Origin, People, Proposal, Quorum, Risk};
use serde::{Deserialize, Serialize};

pub use self::{patterns::Patterns, places::Places, rule::Rule};

mod patterns;
mod places;
mod rule;

/// From loosest to strictest, so that the stricter of two opinions is their `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// Run without a question.
    Allow,
    /// Ask the person.
    Ask,
    /// Do not run.
    Deny,
}

/// Rules from one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rules(pub Vec<Rule>);

/// The fate of a model's code on which no rule has an opinion. From loosest to strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// It runs if its risk is low enough, in the sandbox and staged; otherwise the person is asked.
    Auto,
    /// The person is asked.
    #[default]
    Ask,
    /// It does not run.
    Deny,
}

/// The highest risk that [`ApprovalMode::Auto`] covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLimit {
    /// Code that computes, prints, reads the work folder, and writes files there that are staged.
    #[default]
    Low,
    /// Also code that changes files and starts programs.
    Medium,
}

impl RiskLimit {
    /// As a risk.
    pub fn risk(self) -> Risk {
        match self {
            Self::Low => Risk::Low,
            Self::Medium => Risk::Medium,
        }
    }
}

/// Everything by which a proposal is judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The person's rules.
    pub user: Rules,
    /// The project's rules, which can only tighten.
    pub project: Rules,
    /// The fate of the rest.
    pub mode: ApprovalMode,
    /// The bound of [`ApprovalMode::Auto`].
    pub up_to: RiskLimit,
    /// The folders that paths in rules are relative to.
    pub places: Places,
}

/// An opinion and what decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The opinion.
    pub opinion: Opinion,
    /// The rule, in words, or the default.
    pub rule: String,
    /// The kind of thing that decided it.
    pub ground: Ground,
    /// Who must approve, if somebody is asked.
    pub quorum: Quorum,
}

/// The kind of thing that decided a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// No rule matched.
    Default,
    /// No rule matched, and the mode is automatic.
    Automatic,
    /// An answer of the person's that holds for more than one piece of code.
    Standing,
    /// A rule.
    Rule,
    /// A rule of the person's that names what the code may do.
    Named,
}

impl Verdict {
    /// Whether no rule matched.
    pub fn is_default(&self) -> bool {
        self.ground == Ground::Default
    }

    /// The verdict in a session with these people. Where only one can answer, a demand for others
    /// is never met, so the code is refused at once.
    #[must_use]
    pub fn among(self, people: People) -> Self {
        match people {
            People::One if self.opinion == Opinion::Ask && !self.quorum.is_plain() => {
                let why = "this session has one person; a team's has several, see \
                    `interpreter serve --team`";
                Self { opinion: Opinion::Deny, rule: format!("{}: {why}", self.rule), ..self }
            }
            People::One | People::Several => self,
        }
    }
}

impl Rules {
    /// The rules that match.
    fn heard(
        &self,
        proposal: &Proposal,
        found: &Findings,
        places: &Places,
    ) -> impl Iterator<Item = Heard<'_>> {
        self.0.iter().filter_map(move |rule| {
            let fit = rule.fits(proposal, found, places);
            let (opinion, unknown) = match fit {
                Fit::Yes => (rule.decision, None),
                // Only rules that ask or deny may fit.
                Fit::Maybe => (Opinion::Ask, None),
                Fit::Unknown => (Opinion::Ask, found.why_not_understood()),
                Fit::No => return None,
            };
            // Who must approve is asked, whatever else the rule says.
            let asks = !rule.quorum().is_plain();
            let opinion = if asks { opinion.max(Opinion::Ask) } else { opinion };
            Some(Heard { rule, opinion, unknown })
        })
    }

    /// The strictest opinion of the rules that match, and the rule.
    fn on(&self, proposal: &Proposal, found: &Findings, places: &Places) -> Option<Heard<'_>> {
        self.heard(proposal, found, places).max_by_key(Heard::strictness)
    }
}

/// A rule that matched.
struct Heard<'r> {
    rule: &'r Rule,
    opinion: Opinion,
    /// Why it may apply, if that is because the code isn't understood.
    unknown: Option<String>,
}

impl Heard<'_> {
    /// Its opinion and its demand, from loosest to strictest.
    fn strictness(&self) -> (Opinion, Quorum) {
        (self.opinion, self.rule.quorum())
    }

    fn words(&self, whose: &str) -> String {
        let words = self.rule.words();
        if let Some(why) = &self.unknown {
            return format!("{whose}, which may apply: {words}; {why}");
        }
        if self.opinion < self.rule.decision {
            format!("{whose}, which may apply: {words}")
        } else {
            format!("{whose}: {words}")
        }
    }
}

impl Policy {
    /// The verdict on a proposal. `ceiling` is the highest risk that may run unseen.
    pub fn judge(&self, proposal: &Proposal, found: &Findings, ceiling: Risk) -> Verdict {
        let ours = self.user.on(proposal, found, &self.places);
        // The demand of the rule that is named. That of all rules follows below.
        let own = ours.as_ref().map_or(Quorum::default(), |heard| heard.rule.quorum());
        let ours = match ours {
            Some(heard) => Verdict {
                opinion: heard.opinion,
                rule: heard.words("your rule"),
                ground: if heard.rule.looks_at_findings() { Ground::Named } else { Ground::Rule },
                quorum: Quorum::default(),
            },
            None => self.without_rule(proposal, found, ceiling),
        };
        let verdict = match self.project.on(proposal, found, &self.places) {
            // The project's rules came with the project, perhaps from a stranger: silence or consent
            // there adds nothing.
            Some(heard) if heard.strictness() > (ours.opinion, own) => Verdict {
                opinion: heard.opinion,
                rule: heard.words("the project's rule"),
                ground: Ground::Rule,
                quorum: Quorum::default(),
            },
            // A project that asks is heard, even where the answer would have been the same.
            Some(heard) if heard.opinion == ours.opinion && ours.is_default() => {
                Verdict { ground: Ground::Rule, ..ours }
            }
            Some(_) | None => ours,
        };
        let quorum = self.quorum(proposal, found);
        let rule = match quorum.words() {
            // The rule that is named may say less than all of them together.
            Some(words) if verdict.opinion == Opinion::Ask && !verdict.rule.contains(&words) => {
                format!("{}; by all rules together to be {words}", verdict.rule)
            }
            Some(_) | None => verdict.rule,
        };
        Verdict { rule, quorum, ..verdict }
    }

    /// Who must approve, by all rules that match together.
    fn quorum(&self, proposal: &Proposal, found: &Findings) -> Quorum {
        let heard = |rules: &Rules| {
            let all = rules.heard(proposal, found, &self.places);
            all.map(|heard| heard.rule.quorum()).fold(Quorum::default(), Quorum::and)
        };
        heard(&self.user).and(heard(&self.project))
    }

    /// Every rule that has an opinion on a proposal, in words: the person's first.
    pub fn opinions(&self, proposal: &Proposal, found: &Findings) -> Vec<(Opinion, String)> {
        let of = |rules: &Rules, whose: &str| -> Vec<_> {
            let heard = rules.heard(proposal, found, &self.places);
            heard.map(|heard| (heard.opinion, heard.words(whose))).collect()
        };
        [of(&self.user, "your rule"), of(&self.project, "the project's rule")].concat()
    }

    fn without_rule(&self, proposal: &Proposal, found: &Findings, ceiling: Risk) -> Verdict {
        let most = self.up_to.risk().min(ceiling);
        let (opinion, rule, ground) = match (proposal.origin, self.mode) {
            // Typed code counts as approved.
            (Origin::Person, _) => {
                (Opinion::Allow, "default for code that you type".into(), Ground::Default)
            }
            (Origin::Model, ApprovalMode::Ask) => {
                (Opinion::Ask, "default: ask".into(), Ground::Default)
            }
            (Origin::Model, ApprovalMode::Auto) if found.risk <= most && found.is_understood() => (
                Opinion::Allow,
                format!("automatic approval up to risk {}", most.word()),
                Ground::Automatic,
            ),
            (Origin::Model, ApprovalMode::Auto) => (
                Opinion::Ask,
                match found.why_not_understood() {
                    Some(why) if found.risk <= most => why,
                    Some(_) | None => {
                        format!("risk {} is above automatic approval", found.risk.word())
                    }
                },
                Ground::Default,
            ),
            (Origin::Model, ApprovalMode::Deny) => {
                (Opinion::Deny, "the mode `deny`: no rule allows it".into(), Ground::Rule)
            }
        };
        Verdict { opinion, rule, ground, quorum: Quorum::default() }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unknown_tests;
