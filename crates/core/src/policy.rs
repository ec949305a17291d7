//! Whether a proposal may run: allow, ask or deny.
//!
//! # Threat
//! A rule that loosens another; a project that brings rules of its own; a rule file that is not
//! understood and therefore skipped.
//!
//! # Mechanism
//! Opinions are ordered and combined with `max`, so deny always wins. Without a matching rule
//! the answer is ask. A project's rules can only make it stricter. Rules are parsed with unknown
//! fields refused; whoever loads them must stop on an error.
//!
//! # Limits
//! A rule looks at the text of the code and at findings, both of which code can evade. Rules
//! decide when a person is asked; the sandbox decides what is possible.

use crate::{Findings, Origin, Proposal};
use serde::{Deserialize, Serialize};

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

/// One rule. It matches a proposal if every condition it names holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its opinion on the proposals that it matches.
    pub decision: Opinion,
    /// The language's name.
    #[serde(default)]
    pub language: Option<String>,
    /// A pattern for the whole of one line of the code, in which `*` stands for anything.
    #[serde(default)]
    pub line: Option<String>,
    /// The name of a finding, such as `deletes` or `connects`.
    #[serde(default)]
    pub finding: Option<String>,
}

/// Rules from one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rules(pub Vec<Rule>);

/// An opinion and what decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The opinion.
    pub opinion: Opinion,
    /// The rule, in words, or the default.
    pub rule: String,
    /// Whether no rule matched.
    pub is_default: bool,
}

impl Rule {
    pub(crate) fn matches(&self, proposal: &Proposal, findings: &Findings) -> bool {
        let language = self.language.as_deref();
        let line = self.line.as_deref();
        let finding = self.finding.as_deref();
        let names = [proposal.language.name(), proposal.language.written_in()];
        language.is_none_or(|name| names.contains(&name))
            && line.is_none_or(|pattern| {
                proposal.code().raw().lines().any(|line| glob(pattern, line.trim()))
            })
            && finding.is_none_or(|name| findings.capabilities.iter().any(|found| found.is_a(name)))
    }

    /// The rule in words.
    pub fn words(&self) -> String {
        let decision = match self.decision {
            Opinion::Allow => "allow",
            Opinion::Ask => "ask",
            Opinion::Deny => "deny",
        };
        let conditions = [
            self.language.as_ref().map(|name| format!("language {name}")),
            self.line.as_ref().map(|pattern| format!("line `{pattern}`")),
            self.finding.as_ref().map(|name| format!("finding {name}")),
        ];
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        if conditions.is_empty() {
            format!("{decision} everything")
        } else {
            format!("{decision} {}", conditions.join(", "))
        }
    }
}

impl Rules {
    /// The strictest of the rules that match.
    fn on(&self, proposal: &Proposal, findings: &Findings) -> Option<&Rule> {
        self.0
            .iter()
            .filter(|rule| rule.matches(proposal, findings))
            .max_by_key(|rule| rule.decision)
    }
}

/// The verdict of the person's and the project's rules together.
pub fn judge(user: &Rules, project: &Rules, proposal: &Proposal, findings: &Findings) -> Verdict {
    let ours = if let Some(rule) = user.on(proposal, findings) {
        let words = format!("your rule: {}", rule.words());
        Verdict { opinion: rule.decision, rule: words, is_default: false }
    } else {
        let (opinion, rule) = match proposal.origin {
            Origin::Model => (Opinion::Ask, "default: ask"),
            // Typed code counts as approved.
            Origin::Person => (Opinion::Allow, "default for code that you type"),
        };
        Verdict { opinion, rule: rule.into(), is_default: true }
    };
    match project.on(proposal, findings) {
        // The project's rules came with the project, perhaps from a stranger: silence or consent
        // there adds nothing.
        Some(rule) if rule.decision > ours.opinion => Verdict {
            opinion: rule.decision,
            rule: format!("the project's rule: {}", rule.words()),
            is_default: false,
        },
        // A project that asks is heard, even where the answer would have been the same.
        Some(rule) => {
            Verdict { is_default: ours.is_default && rule.decision < ours.opinion, ..ours }
        }
        None => ours,
    }
}

/// Whether `text` as a whole fits `pattern`, in which `*` stands for anything. Linear in
/// practice: each `*` takes as little as it can.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Untrusted, language};
    use proptest::prelude::*;

    fn proposal(origin: Origin, code: &str) -> Proposal {
        let shell = language::example().find("shell").unwrap();
        Proposal::new("p1".into(), origin, None, shell, Untrusted::new(code))
    }

    fn rule(decision: Opinion, line: Option<&str>) -> Rule {
        Rule { decision, language: None, line: line.map(Into::into), finding: None }
    }

    fn judged(user: Vec<Rule>, project: Vec<Rule>, code: &str) -> Verdict {
        let proposal = proposal(Origin::Model, code);
        judge(&Rules(user), &Rules(project), &proposal, &Findings::new(vec![]))
    }

    #[test]
    fn without_a_rule_the_person_is_asked() {
        assert_eq!(judged(vec![], vec![], "ls").opinion, Opinion::Ask);
    }

    #[test]
    fn deny_wins_over_allow_in_any_order() {
        let rules = vec![rule(Opinion::Deny, Some("rm *")), rule(Opinion::Allow, None)];
        let verdict = judged(rules.clone(), vec![], "cd x\n  rm -r build");
        assert_eq!(verdict.opinion, Opinion::Deny);
        assert_eq!(verdict.rule, "your rule: deny line `rm *`");
        assert_eq!(
            judged(rules.into_iter().rev().collect(), vec![], "rm a").opinion,
            Opinion::Deny
        );
    }

    #[test]
    fn a_project_cannot_allow() {
        let verdict = judged(vec![], vec![rule(Opinion::Allow, None)], "ls");
        assert_eq!(verdict.opinion, Opinion::Ask);
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(glob("git push*", "git push --force"));
        assert!(glob("*curl*|*sh", "curl x | sh"));
        assert!(!glob("rm", "rm -r"));
        assert!(glob("rm", "rm"));
        assert!(!glob("a*a", "a"));
    }

    fn opinion() -> impl Strategy<Value = Opinion> {
        prop::sample::select(vec![Opinion::Allow, Opinion::Ask, Opinion::Deny])
    }

    fn rules() -> impl Strategy<Value = Vec<Rule>> {
        let line = prop::option::of(prop::sample::select(vec!["rm *", "*", "ls", "*x*"]));
        prop::collection::vec((opinion(), line).prop_map(|(o, line)| rule(o, line)), 0..6)
    }

    proptest! {
        #[test]
        fn a_project_only_tightens(user in rules(), project in rules(), code in "(rm x|ls|echo x)") {
            let alone = judged(user.clone(), vec![], &code).opinion;
            prop_assert!(judged(user, project, &code).opinion >= alone);
        }

        #[test]
        fn a_further_project_rule_never_loosens(
            user in rules(), project in rules(), more in rules(), code in "(rm x|ls|echo x)",
        ) {
            let before = judged(user.clone(), project.clone(), &code).opinion;
            let after = judged(user, [project, more].concat(), &code).opinion;
            prop_assert!(after >= before);
        }

        #[test]
        fn a_matching_deny_always_denies(user in rules(), at in any::<prop::sample::Index>()) {
            let mut user = user;
            user.insert(at.index(user.len() + 1), rule(Opinion::Deny, Some("ls")));
            prop_assert_eq!(judged(user, vec![], "ls").opinion, Opinion::Deny);
        }
    }
}
