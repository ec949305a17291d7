//! Rules, modes and projects, one by one and in any mixture.

use super::*;
use crate::{Capability, Deed, Untrusted, language};
use proptest::prelude::*;

pub(super) fn proposal(origin: Origin, code: &str) -> Proposal {
    let shell = language::example().find("shell").unwrap();
    Proposal::new("p1".into(), origin, None, shell, Untrusted::new(code))
}

fn rule(decision: Opinion, line: Option<&str>) -> Rule {
    Rule { line: line.map(Patterns::one), ..Rule::of(decision) }
}

pub(super) fn read(text: &str) -> Rule {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn places() -> Places {
    Places { work_folder: "/home/ann/work".into(), home: Some("/home/ann".into()) }
}

pub(super) fn policy(user: Vec<Rule>, project: Vec<Rule>) -> Policy {
    Policy { user: Rules(user), project: Rules(project), places: places(), ..Policy::default() }
}

pub(super) fn found(all: &[(&str, &str, Risk)]) -> Findings {
    let one = |(name, argument, severity): &(&str, &str, Risk)| {
        Capability::new(Deed::named(name).unwrap(), *argument, 1, *severity)
    };
    Findings::new(all.iter().map(one).collect()).understood()
}

fn judged(user: Vec<Rule>, project: Vec<Rule>, code: &str) -> Verdict {
    let proposal = proposal(Origin::Model, code);
    policy(user, project).judge(&proposal, &Findings::new(vec![]).understood(), Risk::Medium)
}

/// The opinion of one rule on code with these findings.
fn on(rule: &str, findings: &[(&str, &str, Risk)]) -> Opinion {
    let policy = policy(vec![read(rule)], vec![]);
    policy.judge(&proposal(Origin::Model, "x"), &found(findings), Risk::Medium).opinion
}

const READS: (&str, &str, Risk) = ("reads", "data/a.csv", Risk::Low);
const KEYS: (&str, &str, Risk) = ("reads", "../.ssh/id", Risk::High);
const LISTS: (&str, &str, Risk) = ("starts", "ls", Risk::Medium);
const CURLS: (&str, &str, Risk) = ("starts", "/usr/bin/curl", Risk::Medium);
const DELETES: (&str, &str, Risk) = ("deletes", "data", Risk::High);
const SENDS: (&str, &str, Risk) = ("connects", "https://API.example.org:443/x", Risk::High);
const COMPUTED: (&str, &str, Risk) = ("starts", "", Risk::Medium);

#[test]
fn without_a_rule_the_person_is_asked() {
    assert_eq!(judged(vec![], vec![], "ls").opinion, Opinion::Ask);
}

#[test]
fn all_rules_that_match_say_together_who_must_approve() {
    let ask = |answers, not_author| Rule { answers, not_author, ..rule(Opinion::Ask, Some("ls")) };
    let both = judged(vec![ask(Some(2), false)], vec![ask(None, true)], "ls");
    assert_eq!(both.quorum, Quorum { answers: 2, not_author: true });
    assert!(both.rule.contains("approved by 2 people other than the author"), "{}", both.rule);
    // A rule that allows, and one that only asks, take nothing back.
    let more = vec![ask(Some(3), false), rule(Opinion::Allow, None), rule(Opinion::Ask, None)];
    assert_eq!(judged(more, vec![], "ls").quorum.answers, 3);
    assert!(judged(vec![ask(Some(3), true)], vec![], "id").quorum.is_plain());
}

#[test]
fn deny_wins_over_allow_in_any_order() {
    let rules = vec![rule(Opinion::Deny, Some("rm *")), rule(Opinion::Allow, None)];
    let verdict = judged(rules.clone(), vec![], "cd x\n  rm -r build");
    assert_eq!(verdict.opinion, Opinion::Deny);
    assert_eq!(verdict.rule, "your rule: deny line `rm *`");
    assert_eq!(judged(rules.into_iter().rev().collect(), vec![], "rm a").opinion, Opinion::Deny);
}

#[test]
fn a_project_cannot_allow() {
    let verdict = judged(vec![], vec![rule(Opinion::Allow, None)], "ls");
    assert_eq!(verdict.opinion, Opinion::Ask);
}

#[test]
fn a_rule_allows_only_what_it_covers_as_a_whole() {
    let lines = || vec![rule(Opinion::Allow, Some("ls*"))];
    assert_eq!(judged(lines(), vec![], "ls -l\n\nls x").opinion, Opinion::Allow);
    assert_eq!(judged(lines(), vec![], "ls\nrm -r x").opinion, Opinion::Ask);
    let reads = "decision = 'allow'\nfinding = 'reads'";
    assert_eq!(on(reads, &[READS]), Opinion::Allow);
    assert_eq!(on(reads, &[READS, DELETES]), Opinion::Ask);
    // Who allows reading does not allow reading credentials; who denies it denies that too.
    let keys = ("credentials", "~/.aws/credentials", Risk::Medium);
    assert_eq!(on(reads, &[READS, keys]), Opinion::Ask);
    assert_eq!(on("decision = 'deny'\nfinding = 'reads'", &[keys]), Opinion::Deny);
    let both = "decision = 'allow'\npath = ['data/*', 'out/*']\nprogram = ['ls', 'cat']";
    assert_eq!(on(both, &[READS, LISTS]), Opinion::Allow);
    for other in [KEYS, CURLS, SENDS, COMPUTED, ("hides", "", Risk::High)] {
        assert_eq!(on(both, &[READS, LISTS, other]), Opinion::Ask, "{other:?}");
    }
    // A program of that name elsewhere is another program.
    assert_eq!(on(both, &[("starts", "./ls", Risk::Medium)]), Opinion::Ask);
    // Code that nobody can read may do anything.
    for risk in [Risk::Unknown, Risk::High] {
        let named = "decision = 'allow'\nfinding = ['reads', 'unreadable', 'deletes']";
        assert_eq!(on(named, &[READS, DELETES]), Opinion::Allow);
        assert_eq!(on(named, &[READS, ("unreadable", "", risk)]), Opinion::Ask, "{risk:?}");
    }
    let unread = Findings { risk: Risk::Unknown, ..found(&[]) };
    let policy = policy(vec![read(reads)], vec![]);
    let verdict = policy.judge(&proposal(Origin::Model, "x"), &unread, Risk::Medium);
    assert_eq!(verdict.opinion, Opinion::Ask);
}

#[test]
fn a_rule_denies_what_matches_in_part_and_asks_where_it_cannot_tell() {
    for (rule, fits, may_fit) in [
        ("path = '~/.ssh/*'", KEYS, ("reads", "", Risk::Low)),
        ("path = 'data/*'", READS, DELETES),
        ("program = 'curl'", ("starts", "curl", Risk::Medium), CURLS),
        ("host = '*.example.org'", SENDS, ("connects", "", Risk::High)),
    ] {
        let rule = format!("decision = 'deny'\n{rule}");
        assert_eq!(on(&rule, &[LISTS, fits]), Opinion::Deny, "{rule}");
        assert_eq!(on(&rule, &[LISTS, may_fit]), Opinion::Ask, "{rule}");
    }
    let allowed = read("decision = 'allow'");
    let denied = read("decision = 'deny'\npath = '~/.ssh/*'");
    let verdict = policy(vec![allowed, denied], vec![]).judge(
        &proposal(Origin::Model, "x"),
        &found(&[("reads", "$X", Risk::Low)]),
        Risk::Medium,
    );
    assert_eq!(verdict.opinion, Opinion::Ask);
    assert_eq!(verdict.rule, "your rule, which may apply: deny path `~/.ssh/*`");
}

#[test]
fn a_risk_is_an_upper_bound_to_allow_and_a_lower_one_to_deny() {
    assert_eq!(on("decision = 'allow'\nrisk = 'medium'", &[READS, LISTS]), Opinion::Allow);
    assert_eq!(on("decision = 'allow'\nrisk = 'medium'", &[DELETES]), Opinion::Ask);
    assert_eq!(on("decision = 'deny'\nrisk = 'high'", &[LISTS]), Opinion::Ask);
    assert_eq!(on("decision = 'deny'\nrisk = 'high'", &[DELETES]), Opinion::Deny);
}

#[test]
fn a_rule_may_be_about_who_wrote_it() {
    let policy = policy(vec![read("decision = 'deny'\norigin = 'person'")], vec![]);
    let on =
        |origin| policy.judge(&proposal(origin, "x"), &Findings::new(vec![]), Risk::Medium).opinion;
    assert_eq!((on(Origin::Person), on(Origin::Model)), (Opinion::Deny, Opinion::Ask));
}

#[test]
fn what_is_not_known_is_an_error() {
    let error = |text: &str| toml::from_str::<Rule>(text).unwrap_err().to_string();
    let said = error("decision = 'deny'\nfinding = 'delets'");
    assert!(said.contains("unknown finding `delets`; did you mean `deletes`?"), "{said}");
    assert!(error("decision = 'deny'\npaths = 'x'").contains("paths"));
    for text in ["finding = []", "risk = 'huge'", "origin = 'me'", "path = ''"] {
        error(&format!("decision = 'deny'\n{text}"));
    }
}

#[test]
fn the_mode_decides_where_no_rule_does() {
    let on = |mode, up_to, findings: &[_], ceiling| {
        let policy = Policy { mode, up_to, ..policy(vec![], vec![]) };
        policy.judge(&proposal(Origin::Model, "x"), &found(findings), ceiling)
    };
    let auto = |up_to, findings: &[_], ceiling| {
        let verdict = on(ApprovalMode::Auto, up_to, findings, ceiling);
        (verdict.opinion, verdict.ground)
    };
    let yes = (Opinion::Allow, Ground::Automatic);
    let ask = (Opinion::Ask, Ground::Default);
    assert_eq!(auto(RiskLimit::Low, &[READS], Risk::Medium), yes);
    assert_eq!(auto(RiskLimit::Low, &[LISTS], Risk::Medium), ask);
    assert_eq!(auto(RiskLimit::Medium, &[LISTS], Risk::Medium), yes);
    // Without a sandbox, or where files are written at once.
    assert_eq!(auto(RiskLimit::Medium, &[LISTS], Risk::Low), ask);
    assert_eq!(auto(RiskLimit::Medium, &[DELETES], Risk::Medium), ask);
    assert_eq!(auto(RiskLimit::Medium, &[("unreadable", "", Risk::Unknown)], Risk::Medium), ask);
    let denied = on(ApprovalMode::Deny, RiskLimit::Medium, &[READS], Risk::Medium);
    assert_eq!(denied.opinion, Opinion::Deny);
    let typed = Policy { mode: ApprovalMode::Deny, ..policy(vec![], vec![]) };
    let typed = typed.judge(&proposal(Origin::Person, "x"), &found(&[DELETES]), Risk::Low);
    assert_eq!(typed.opinion, Opinion::Allow);
}

fn opinion() -> impl Strategy<Value = Opinion> {
    prop::sample::select(vec![Opinion::Allow, Opinion::Ask, Opinion::Deny])
}

fn patterns(all: &'static [&'static str]) -> impl Strategy<Value = Option<Patterns>> {
    prop::option::of(prop::sample::select(all).prop_map(Patterns::one))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let risk = prop::option::of(prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]));
    let origin = prop::option::of(prop::sample::select(vec![Origin::Model, Origin::Person]));
    let one = (
        opinion(),
        patterns(&["rm *", "*", "ls", "*x*"]),
        patterns(&["reads", "starts", "deletes"]),
        patterns(&["data/*", "~/.ssh/*", "*"]),
        patterns(&["ls", "c*"]),
        (risk, origin, quorum()),
    );
    let one =
        one.prop_map(|(decision, line, finding, path, program, (risk, origin, quorum))| Rule {
            origin,
            line,
            finding,
            path,
            program,
            risk,
            answers: quorum.filter(|_| decision == Opinion::Ask).map(|one| one.answers),
            not_author: quorum.is_some_and(|one| decision == Opinion::Ask && one.not_author),
            ..Rule::of(decision)
        });
    prop::collection::vec(one, 0..6)
}

fn quorum() -> impl Strategy<Value = Option<Quorum>> {
    let one = (1..=crate::quorum::MOST_ANSWERS, any::<bool>());
    prop::option::of(one.prop_map(|(answers, not_author)| Quorum { answers, not_author }))
}

fn findings() -> impl Strategy<Value = Findings> {
    let all = vec![READS, KEYS, LISTS, CURLS, DELETES, SENDS, COMPUTED];
    prop::sample::subsequence(all, 0..5).prop_map(|all| found(&all))
}

fn mode() -> impl Strategy<Value = ApprovalMode> {
    let all = vec![ApprovalMode::Auto, ApprovalMode::Ask, ApprovalMode::Deny];
    prop::sample::select(all)
}

proptest! {
    #[test]
    fn a_project_only_tightens(
        user in rules(), project in rules(), more in rules(), found in findings(), mode in mode(),
        code in "(rm x|ls|echo x)",
    ) {
        let judged = |user: &[Rule], project: &[Rule]| {
            let policy = Policy { mode, ..policy(user.to_vec(), project.to_vec()) };
            policy.judge(&proposal(Origin::Model, &code), &found, Risk::Medium).opinion
        };
        let (alone, with) = (judged(&user, &[]), judged(&user, &project));
        prop_assert!(with >= alone);
        prop_assert!(judged(&user, &[project, more].concat()) >= with);
    }

    /// Neither another rule of the person's nor any of a project's makes fewer people suffice.
    #[test]
    fn more_rules_never_want_fewer_people(
        user in rules(), project in rules(), more in rules(), found in findings(), mode in mode(),
        ours: bool, at in any::<prop::sample::Index>(), code in "(rm x|ls|echo x)",
    ) {
        let judged = |user: &[Rule], project: &[Rule]| {
            let policy = Policy { mode, ..policy(user.to_vec(), project.to_vec()) };
            policy.judge(&proposal(Origin::Model, &code), &found, Risk::Medium)
        };
        let before = judged(&user, &project);
        prop_assert!(before.quorum.covers(judged(&user, &[]).quorum));
        let (mut users, mut projects) = (user, project);
        let all = if ours { &mut users } else { &mut projects };
        let at = at.index(all.len() + 1);
        all.splice(at..at, more);
        let after = judged(&users, &projects);
        prop_assert!(after.quorum.covers(before.quorum));
        // Code for which several must speak never runs unasked, and nobody alone is asked.
        prop_assert!(after.quorum.is_plain() || after.opinion >= Opinion::Ask);
        let alone = after.clone().among(People::One);
        prop_assert!(after.quorum.is_plain() || alone.opinion == Opinion::Deny);
        prop_assert!(alone.opinion >= after.opinion);
        prop_assert_eq!(after.clone().among(People::Several), after);
    }

    #[test]
    fn a_matching_deny_always_denies(user in rules(), at in any::<prop::sample::Index>()) {
        let mut user = user;
        user.insert(at.index(user.len() + 1), rule(Opinion::Deny, Some("ls")));
        prop_assert_eq!(judged(user, vec![], "ls").opinion, Opinion::Deny);
    }

    /// Doing more is never allowed where doing less was not. (A rule that asks is an exception to
    /// the mode `deny`.)
    #[test]
    fn more_findings_never_loosen(user in rules(), found in findings(), auto: bool) {
        let mode = if auto { ApprovalMode::Auto } else { ApprovalMode::Ask };
        let policy = Policy { mode, ..policy(user, vec![]) };
        let judged = |found: &Findings| {
            policy.judge(&proposal(Origin::Model, "ls"), found, Risk::Medium).opinion
        };
        let more = Findings::new([&found.capabilities[..], &self::found(&[CURLS]).capabilities].concat());
        prop_assert!(judged(&more) >= judged(&found));
    }

    #[test]
    fn the_stricter_mode_is_stricter(user in rules(), found in findings(), a in mode(), b in mode()) {
        let on = |mode| {
            let policy = Policy { mode, ..policy(user.clone(), vec![]) };
            policy.judge(&proposal(Origin::Model, "ls"), &found, Risk::Medium).opinion
        };
        prop_assert!(on(a.max(b)) >= on(a.min(b)));
    }

    #[test]
    fn a_rule_is_written_as_it_is_read(rules in rules()) {
        for rule in rules {
            let text = serde_json::to_string(&rule).unwrap();
            prop_assert_eq!(serde_json::from_str::<Rule>(&text).unwrap(), rule);
        }
    }
}
