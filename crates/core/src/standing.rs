//! Standing answers: a yes or a no of the person's that holds for more than one piece of code.
//!
//! # Threat
//! A model that gets a yes with harmless code and then writes something else, or something that does
//! more than is found in it.
//!
//! # Mechanism
//! A yes counts only where no rule has an opinion, so every rule that asks or denies outranks it.
//! It never covers code that is riskier than [`ceiling`], or that isn't understood; edited
//! code is shown whatever it says. A no denies like a rule of the settings. Each has a number, is on
//! record, and can be taken back. A yes ends with its session. A no goes along into every session that
//! comes from it, where whoever may revoke it can take it back.
//!
//! A record of a no may hold masked secrets. Such a place stands for anything once it's read back,
//! so that a no which goes along never covers less than it did.
//!
//! # Limits
//! Those of the lists by which code is understood. The sandbox bounds what it can do.

use crate::{
    Capability, Confinement, Deed, Findings, Languages, Opinion, Origin, Patterns, Proposal, Risk,
    Rule, Verdict, Workspace,
    findings::{self, CUT, MOST_ARGUMENT},
    policy::{Ground, Places},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Standing answers at one time; more are refused.
pub const MOST: usize = 100;

/// The longest pattern of a line, in bytes.
const LONGEST_PATTERN: usize = 1_000;

/// The name of the finding that is compared with its argument: starting one program says nothing
/// about another.
const STARTS: &str = "starts";

/// How long a standing answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Until the turn is over.
    Turn,
    /// Until the session is over.
    Session,
    /// From now on, as a rule of the person's config file.
    Always,
}

/// The code that a standing answer is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Run all code.
    All,
    /// Run code in this language.
    Language(String),
    /// Run code like a piece that was approved: in its language, doing nothing that it did not do.
    Kind {
        /// The language.
        language: String,
        /// The names of its findings.
        does: BTreeSet<String>,
        /// The programs that it starts.
        starts: BTreeSet<String>,
    },
    /// Deny the code that a rule matches.
    Denied(Rule),
}

/// A standing answer, under the number by which it can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingAnswer {
    /// From 1.
    pub number: u32,
    /// How long it holds.
    pub span: Span,
    /// The code that it is about.
    pub covers: Coverage,
}

/// The gravest findings that a standing yes covers. Where code writes to the person's files at once,
/// or without a sandbox, that is nothing but reading and computing.
pub fn ceiling(confinement: &Confinement) -> Risk {
    if confinement.sandbox.is_none() || confinement.workspace == Workspace::Direct {
        Risk::Low
    } else {
        Risk::Medium
    }
}

impl Coverage {
    /// A yes to code in a language, or to `all` code. `None` if there is no such language.
    pub fn yes_to(what: &str, languages: &Languages) -> Option<Self> {
        match what {
            "all" => Some(Self::All),
            name => languages.find(name).map(|language| Self::Language(language.name().into())),
        }
    }

    /// A no to code in a language. `None` if there is no such language.
    pub fn no_to_language(name: &str, languages: &Languages) -> Option<Self> {
        let language = languages.find(name)?;
        let language = Some(Patterns::one(language.name()));
        Some(Self::Denied(Rule { language, ..Rule::of(Opinion::Deny) }))
    }

    /// A no to code with this finding. `None` if no finding has that name.
    pub fn no_to_finding(name: &str) -> Option<Self> {
        let finding = findings::NAMES.contains(&name).then(|| Patterns::one(name))?;
        Some(Self::Denied(Rule { finding: Some(finding), ..Rule::of(Opinion::Deny) }))
    }

    /// A no to code with a line of this pattern. `None` if it is empty, or too long to be held against
    /// every line of code.
    pub fn no_to_line(pattern: &str) -> Option<Self> {
        let pattern = pattern.trim();
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
            return None;
        }
        let line = Some(Patterns::one(pattern));
        Some(Self::Denied(Rule { line, ..Rule::of(Opinion::Deny) }))
    }

    /// Code of the same kind as this proposal.
    pub fn kind_of(proposal: &Proposal, findings: &Findings) -> Self {
        let all = findings.capabilities.iter();
        let (starts, rest): (Vec<_>, Vec<_>) = all.partition(|one| one.name == STARTS);
        Self::Kind {
            language: proposal.language.name().into(),
            does: rest.into_iter().map(|one| one.name.clone()).collect(),
            starts: starts.into_iter().map(|one| one.argument.raw().to_owned()).collect(),
        }
    }

    fn matches(&self, proposal: &Proposal, findings: &Findings, places: &Places) -> bool {
        match self {
            Self::All => true,
            Self::Language(name) => proposal.language.name() == name,
            Self::Kind { language, does, starts } => {
                let is_known = |one: &Capability| match one.name.as_str() {
                    // A computed name could be any program's, and so could one that was cut.
                    STARTS => is_whole(one.argument.raw()) && starts.contains(one.argument.raw()),
                    name => does.contains(name),
                };
                proposal.language.name() == language && findings.capabilities.iter().all(is_known)
            }
            Self::Denied(rule) => rule.fit(proposal, findings, places),
        }
    }

    /// It in words. They may name programs that a model chose.
    pub fn words(&self) -> String {
        match self {
            Self::All => "run all code".into(),
            Self::Language(name) => format!("run {name} code"),
            Self::Kind { language, does, starts } => {
                let phrase = |name: &String| match Deed::named(name) {
                    Some(deed) => deed.phrase().to_owned(),
                    None => name.clone(),
                };
                let mut parts: Vec<_> = does.iter().map(phrase).collect();
                if !starts.is_empty() {
                    let names: Vec<_> = starts.iter().map(|name| format!("`{name}`")).collect();
                    parts.push(format!("{STARTS} {}", names.join(", ")));
                }
                if parts.is_empty() {
                    return format!("run {language} code without findings");
                }
                format!("run {language} code that only {}", parts.join(", "))
            }
            Self::Denied(rule) => rule.words(),
        }
    }

    /// The rule by which it holds in later sessions, if it names exactly what it covers.
    pub fn lasting(&self, within: &Confinement) -> Option<Rule> {
        let Self::Kind { language, does, starts } = self else { return None };
        let is_plain = |name: &String| is_whole(name) && !name.contains('*');
        if !starts.iter().all(is_plain) {
            return None;
        }
        let names = does.iter().cloned().chain((!starts.is_empty()).then(|| STARTS.to_owned()));
        Some(Rule {
            language: Some(Patterns::one(language)),
            finding: Some(Patterns::new(names.collect()).ok()?),
            program: Patterns::new(starts.iter().cloned().collect()).ok(),
            risk: Some(ceiling(within)),
            ..Rule::of(Opinion::Allow)
        })
    }

    /// It as it is taken from a record. Where a secret was masked in a pattern of a no, nobody
    /// knows any more what stood there: it then denies whatever could have.
    #[must_use]
    pub(crate) fn remembered(self) -> Self {
        match self {
            Self::Denied(rule) => Self::Denied(rule.with_masks_open()),
            yes @ (Self::All | Self::Language(_) | Self::Kind { .. }) => yes,
        }
    }

    /// Whether it lets code run.
    pub fn is_yes(&self) -> bool {
        !matches!(self, Self::Denied(_))
    }
}

/// Whether an argument of a finding is known, and all of it.
fn is_whole(argument: &str) -> bool {
    let is_cut = argument.ends_with(CUT) || argument.chars().nth(MOST_ARGUMENT - 1).is_some();
    !argument.is_empty() && !is_cut
}

impl StandingAnswer {
    /// It in words, with how long it holds.
    pub fn words(&self) -> String {
        let span = match self.span {
            Span::Turn => "for this turn",
            Span::Session => "for this session",
            Span::Always => "for good",
        };
        format!("{}, {span}", self.covers.words())
    }
}

/// The standing answers of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandingAnswers {
    given: u32,
    all: Vec<StandingAnswer>,
}

impl StandingAnswers {
    /// Whether one of them covers just this.
    #[cfg(test)]
    pub(crate) fn says(&self, covers: &Coverage) -> bool {
        self.all.iter().any(|one| one.covers == *covers)
    }

    /// Adds one, unless there are too many.
    pub fn add(&mut self, span: Span, covers: Coverage) -> Option<&StandingAnswer> {
        if self.all.len() >= MOST {
            return None;
        }
        self.given += 1;
        self.all.push(StandingAnswer { number: self.given, span, covers });
        self.all.last()
    }

    /// Adds a no of an earlier session, under a number of its own. There is room for all of them: that
    /// session had no more than [`MOST`].
    pub fn bring(&mut self, no: StandingAnswer) -> StandingAnswer {
        self.given += 1;
        let no = StandingAnswer { number: self.given, ..no };
        self.all.push(no.clone());
        no
    }

    /// Takes one back. Whether there was one of this number.
    pub fn revoke(&mut self, number: u32) -> bool {
        let before = self.all.len();
        self.all.retain(|one| one.number != number);
        self.all.len() < before
    }

    /// Those that were for the turn are over.
    pub fn end_turn(&mut self) {
        self.all.retain(|one| one.span != Span::Turn);
    }

    /// The verdict once these are heard.
    pub fn heard(
        &self,
        verdict: Verdict,
        proposal: &Proposal,
        findings: &Findings,
        confinement: &Confinement,
        places: &Places,
    ) -> Verdict {
        let matches = |one: &&StandingAnswer| one.covers.matches(proposal, findings, places);
        let mut matching = self.all.iter().filter(matches);
        if let Some(no) = matching.clone().find(|one| !one.covers.is_yes()) {
            if verdict.opinion == Opinion::Deny {
                return verdict;
            }
            let rule = format!("your standing answer {}: {}", no.number, no.words());
            return Verdict { opinion: Opinion::Deny, rule, ground: Ground::Standing, ..verdict };
        }
        let may_be_denied = |one: &&StandingAnswer| match &one.covers {
            Coverage::Denied(rule) => rule.may_fit(proposal, findings, places),
            Coverage::All | Coverage::Language(_) | Coverage::Kind { .. } => false,
        };
        if verdict.opinion == Opinion::Allow
            && let Some(no) = self.all.iter().find(may_be_denied)
            && let Some(why) = findings.why_not_understood()
        {
            let (number, words) = (no.number, no.words());
            let rule = format!("your standing answer {number}, which may apply: {words}; {why}");
            return Verdict { opinion: Opinion::Ask, rule, ground: Ground::Standing, ..verdict };
        }
        let may = verdict.is_default()
            && verdict.opinion == Opinion::Ask
            && verdict.quorum.is_plain()
            && proposal.origin == Origin::Model
            && findings.risk <= ceiling(confinement);
        let Some(yes) = matching.next().filter(|_| may) else { return verdict };
        if let Some(why) = findings.why_not_understood() {
            let rule = format!("your standing answer {} does not cover it: {why}", yes.number);
            return Verdict { rule, ..verdict };
        }
        let rule = format!("your standing answer {}: {}", yes.number, yes.words());
        Verdict { opinion: Opinion::Allow, rule, ground: Ground::Standing, ..verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Rules, Untrusted, language, session::tests::confinement};
    use proptest::prelude::*;

    fn proposal(language: &str, code: &str) -> Proposal {
        let language = language::example().find(language).unwrap();
        Proposal::new("p1".into(), Origin::Model, None, language, Untrusted::new(code))
    }

    fn findings(all: &[(&str, &str, Risk)]) -> Findings {
        let one = |&(name, argument, severity): &(&str, &str, Risk)| {
            Capability::new(Deed::named(name).unwrap(), argument, 1, severity)
        };
        Findings::new(all.iter().map(one).collect()).understood()
    }

    fn verdict(
        answers: &StandingAnswers,
        rules: &[Rule],
        language: &str,
        found: &[(&str, &str, Risk)],
    ) -> Opinion {
        let (proposal, findings) = (proposal(language, "x"), findings(found));
        let policy = Policy { user: Rules(rules.to_vec()), ..Policy::default() };
        let judged = policy.judge(&proposal, &findings, Risk::Medium);
        let places = Places::default();
        answers.heard(judged, &proposal, &findings, &confinement(), &places).opinion
    }

    fn with(covers: Coverage) -> StandingAnswers {
        let mut answers = StandingAnswers::default();
        answers.add(Span::Session, covers).unwrap();
        answers
    }

    fn rule(decision: Opinion) -> Rule {
        Rule::of(decision)
    }

    const READS: (&str, &str, Risk) = ("reads", "a.csv", Risk::Low);
    const LISTS: (&str, &str, Risk) = ("starts", "ls", Risk::Medium);
    const CURLS: (&str, &str, Risk) = ("starts", "curl", Risk::Medium);
    const DELETES: (&str, &str, Risk) = ("deletes", "a.csv", Risk::High);
    const OPAQUE: (&str, &str, Risk) = ("unreadable", "", Risk::Unknown);

    #[test]
    fn a_yes_to_everything_does_not_cover_grave_or_unreadable_code() {
        let all = with(Coverage::All);
        assert_eq!(verdict(&all, &[], "python", &[READS, LISTS]), Opinion::Allow);
        assert_eq!(verdict(&all, &[], "python", &[READS, DELETES]), Opinion::Ask);
        assert_eq!(verdict(&all, &[], "python", &[OPAQUE]), Opinion::Ask);
    }

    #[test]
    fn no_yes_covers_code_that_is_not_understood() {
        let (approved, none) = (proposal("python", "x"), findings(&[]));
        let yeses = [
            Coverage::All,
            Coverage::Language("python".into()),
            Coverage::kind_of(&approved, &none),
        ];
        let policy = Policy::default();
        let on = |answers: &StandingAnswers, policy: &Policy, found: &Findings| {
            let judged = policy.judge(&approved, found, Risk::Medium);
            answers.heard(judged, &approved, found, &confinement(), &Places::default())
        };
        let unknown = Findings::new(vec![]);
        for yes in yeses {
            let answers = with(yes);
            assert_eq!(on(&answers, &policy, &none).opinion, Opinion::Allow);
            let verdict = on(&answers, &policy, &unknown);
            assert_eq!(verdict.opinion, Opinion::Ask);
            assert_eq!(verdict.rule, "your standing answer 1 does not cover it: not understood");
        }
        // A no may apply to it, where a rule would let it run.
        let no = with(Coverage::no_to_finding("connects").unwrap());
        let allows = Policy { user: Rules(vec![rule(Opinion::Allow)]), ..Policy::default() };
        assert_eq!(on(&no, &allows, &none).opinion, Opinion::Allow);
        assert_eq!(on(&no, &allows, &unknown).opinion, Opinion::Ask);
    }

    #[test]
    fn rules_that_ask_or_deny_outrank_it() {
        let all = with(Coverage::All);
        assert_eq!(verdict(&all, &[rule(Opinion::Ask)], "python", &[]), Opinion::Ask);
        assert_eq!(verdict(&all, &[rule(Opinion::Deny)], "python", &[]), Opinion::Deny);
    }

    #[test]
    fn a_kind_is_the_language_and_no_more_than_was_done() {
        let (approved, found) = (proposal("python", "x"), findings(&[READS, LISTS]));
        let kind = with(Coverage::kind_of(&approved, &found));
        assert_eq!(verdict(&kind, &[], "python", &[READS]), Opinion::Allow);
        assert_eq!(verdict(&kind, &[], "python", &[LISTS]), Opinion::Allow);
        assert_eq!(verdict(&kind, &[], "python", &[CURLS]), Opinion::Ask);
        assert_eq!(verdict(&kind, &[], "python", &[("starts", "", Risk::Medium)]), Opinion::Ask);
        assert_eq!(verdict(&kind, &[], "python", &[("writes", "a", Risk::Medium)]), Opinion::Ask);
        assert_eq!(verdict(&kind, &[], "shell", &[READS]), Opinion::Ask);
        // Two programs whose names are cut look alike.
        for long in ["x".repeat(MOST_ARGUMENT), format!("/a/{CUT}")] {
            let cut = [("starts", long.as_str(), Risk::Medium)];
            let kind = with(Coverage::kind_of(&approved, &findings(&cut)));
            assert_eq!(verdict(&kind, &[], "python", &cut), Opinion::Ask);
        }
    }

    #[test]
    fn a_kind_that_holds_for_good_covers_what_it_covered_and_no_more() {
        let approved = proposal("python", "x");
        let kind = |all: &[_]| Coverage::kind_of(&approved, &findings(all)).lasting(&confinement());
        let rule = kind(&[READS, LISTS]).unwrap();
        assert_eq!(
            rule.words(),
            "allow language python, finding reads or starts, program `ls`, risk at most medium"
        );
        let none = StandingAnswers::default();
        let on =
            |language, found: &[_]| verdict(&none, std::slice::from_ref(&rule), language, found);
        assert_eq!(on("python", &[READS, LISTS]), Opinion::Allow);
        assert_eq!(on("python", &[]), Opinion::Allow);
        for found in [&[CURLS][..], &[READS, DELETES], &[OPAQUE], &[("starts", "", Risk::Medium)]] {
            assert_eq!(on("python", found), Opinion::Ask, "{found:?}");
        }
        assert_eq!(on("shell", &[READS]), Opinion::Ask);
        // Nothing that cannot be written down exactly.
        for found in [&[][..], &[("starts", "", Risk::Medium)], &[("starts", "l*", Risk::Medium)]] {
            assert_eq!(kind(found), None, "{found:?}");
        }
        assert_eq!(Coverage::All.lasting(&confinement()), None);
    }

    #[test]
    fn where_files_are_written_at_once_only_harmless_code_is_covered() {
        let (all, found) = (with(Coverage::All), findings(&[LISTS]));
        let proposal = proposal("python", "x");
        let judged = Policy::default().judge(&proposal, &found, Risk::Medium);
        let direct = Confinement { workspace: Workspace::Direct, ..confinement() };
        let on = |within| all.heard(judged.clone(), &proposal, &found, within, &Places::default());
        assert_eq!(on(&direct).opinion, Opinion::Ask);
        assert_eq!(on(&confinement()).opinion, Opinion::Allow);
    }

    #[test]
    fn a_no_denies_and_can_be_taken_back() {
        let mut answers = with(Coverage::All);
        let no = Rule { finding: Some(Patterns::one("reads")), ..rule(Opinion::Deny) };
        let number = answers.add(Span::Session, Coverage::Denied(no)).unwrap().number;
        assert_eq!(verdict(&answers, &[], "python", &[READS]), Opinion::Deny);
        assert!(answers.revoke(number) && !answers.revoke(number));
        assert_eq!(verdict(&answers, &[], "python", &[READS]), Opinion::Allow);
        assert!(answers.revoke(1));
        assert_eq!(verdict(&answers, &[], "python", &[READS]), Opinion::Ask);
    }

    #[test]
    fn those_for_a_turn_end_with_it_and_numbers_are_not_used_twice() {
        let mut answers = StandingAnswers::default();
        answers.add(Span::Turn, Coverage::All).unwrap();
        answers.end_turn();
        assert_eq!(verdict(&answers, &[], "python", &[]), Opinion::Ask);
        assert_eq!(answers.add(Span::Turn, Coverage::All).unwrap().number, 2);
    }

    proptest! {
        /// Whatever was answered before, nothing that a rule asks about or denies runs by itself, and
        /// nothing that is graver than the bound.
        #[test]
        fn no_answer_loosens_a_rule_or_the_bound(
            covers in prop::sample::subsequence(vec![
                Coverage::All,
                Coverage::Language("python".into()),
                Coverage::Kind {
                    language: "python".into(),
                    does: ["deletes".into(), "unreadable".into()].into(),
                    starts: ["ls".into()].into(),
                },
            ], 0..3),
            decision in prop::sample::select(vec![Opinion::Ask, Opinion::Deny]),
            grave in prop::sample::select(vec![DELETES, OPAQUE]),
        ) {
            let mut answers = StandingAnswers::default();
            for one in covers {
                answers.add(Span::Session, one);
            }
            let by_rule = verdict(&answers, &[rule(decision)], "python", &[READS]);
            prop_assert!(by_rule >= decision);
            prop_assert!(verdict(&answers, &[], "python", &[grave]) >= Opinion::Ask);
        }
    }
}
