//! Code that isn't understood: never allowed on findings, and fit for every rule that guards by them.

use super::{
    tests::{found, policy, proposal, read},
    *,
};
use crate::{Understanding, UnknownName, standing};
use proptest::prelude::*;

fn unknown(all: &[(&str, &str, Risk)]) -> Findings {
    let names = vec![UnknownName::new("pathlib.os", 2)];
    Findings { understanding: Understanding::Unknown(names), ..found(all) }
}

fn judged(rules: &[&str], findings: &Findings) -> Verdict {
    let rules = rules.iter().map(|text| read(text)).collect();
    policy(rules, vec![]).judge(&proposal(Origin::Model, "x y"), findings, Risk::Medium)
}

const WHY: &str = "not understood: `pathlib.os` (line 2)";

#[test]
fn the_automatic_mode_asks_and_says_why() {
    for up_to in [RiskLimit::Low, RiskLimit::Medium] {
        let policy = Policy { mode: ApprovalMode::Auto, up_to, ..Policy::default() };
        let on = |findings: &Findings| {
            policy.judge(&proposal(Origin::Model, "x"), findings, Risk::Medium)
        };
        let verdict = on(&unknown(&[]));
        assert_eq!((verdict.opinion, verdict.rule.as_str()), (Opinion::Ask, WHY));
        assert_eq!(on(&found(&[])).opinion, Opinion::Allow);
        // The person who typed it knows what it is.
        let typed = policy.judge(&proposal(Origin::Person, "x"), &unknown(&[]), Risk::Medium);
        assert_eq!(typed.opinion, Opinion::Allow);
    }
}

#[test]
fn a_rule_allows_it_only_without_regard_to_what_it_does() {
    for rule in [
        "finding = 'reads'",
        "path = '*'",
        "program = 'ls'",
        "host = '*'",
        "risk = 'high'",
        "line = 'x*'",
        "language = 'shell'\nfinding = 'reads'",
    ] {
        let rule = format!("decision = 'allow'\n{rule}");
        assert_eq!(judged(&[&rule], &unknown(&[])).opinion, Opinion::Ask, "{rule}");
        assert_eq!(judged(&[&rule], &found(&[])).opinion, Opinion::Allow, "{rule}");
    }
    for rule in ["", "language = 'shell'", "line = 'x y'"] {
        let rule = format!("decision = 'allow'\n{rule}");
        assert_eq!(judged(&[&rule], &unknown(&[])).opinion, Opinion::Allow, "{rule}");
        // A rule that guards by findings is heard all the same.
        let guarded = judged(&[&rule, "decision = 'deny'\nfinding = 'deletes'"], &unknown(&[]));
        assert_eq!(guarded.opinion, Opinion::Ask, "{rule}");
    }
}

#[test]
fn every_rule_that_guards_by_findings_fits_it() {
    for condition in ["finding = 'deletes'", "path = 'a'", "host = 'a'", "program = 'a'"] {
        let deny = format!("decision = 'deny'\n{condition}");
        let verdict = judged(&[&deny], &unknown(&[]));
        assert_eq!(verdict.opinion, Opinion::Ask, "{deny}");
        assert!(verdict.rule.starts_with("your rule, which may apply: deny"), "{}", verdict.rule);
        assert!(verdict.rule.ends_with(WHY), "{}", verdict.rule);
        let several = format!("decision = 'ask'\n{condition}\nanswers = 2\nnot_author = true");
        let quorum = judged(&[&several], &unknown(&[])).quorum;
        assert_eq!(quorum, Quorum { answers: 2, not_author: true }, "{several}");
        assert!(judged(&[&several], &found(&[])).quorum.is_plain(), "{several}");
        // In another language it says nothing.
        let elsewhere = format!("{several}\nlanguage = 'python'");
        assert!(judged(&[&elsewhere], &unknown(&[])).quorum.is_plain(), "{elsewhere}");
        // Also where the author typed it.
        let policy = policy(vec![read(&several)], vec![]);
        let typed = policy.judge(&proposal(Origin::Person, "x"), &unknown(&[]), Risk::Medium);
        assert_eq!((typed.opinion, typed.quorum.answers), (Opinion::Ask, 2));
    }
    let risky = judged(&["decision = 'ask'\nrisk = 'high'\nanswers = 3"], &unknown(&[]));
    assert_eq!(risky.quorum.answers, 3);
    // A finding that surely fits is named as before.
    let deletes = [("deletes", "data", Risk::High)];
    let denied = judged(&["decision = 'deny'\nfinding = 'deletes'"], &unknown(&deletes));
    assert_eq!(
        (denied.opinion, denied.rule.as_str()),
        (Opinion::Deny, "your rule: deny finding deletes")
    );
}

fn condition() -> impl Strategy<Value = String> {
    let finding = prop::sample::select(vec!["reads", "deletes", "starts", "connects"]);
    let risk = prop::sample::select(vec!["low", "medium", "high"]);
    prop_oneof![
        Just(String::new()),
        finding.prop_map(|name| format!("finding = '{name}'")),
        risk.prop_map(|risk| format!("risk = '{risk}'")),
        Just("path = '/etc/*'".into()),
        Just("language = 'shell'".into()),
        Just("language = 'shell'\nprogram = 'rm'".into()),
    ]
}

proptest! {
    /// Whatever the rules are, code that isn't understood is judged at least as strictly as the same
    /// code if it were, and by no fewer people.
    #[test]
    fn not_being_understood_never_loosens(
        rules in prop::collection::vec(
            (prop::sample::select(vec!["allow", "ask", "deny"]), condition(), 1..3_u8), 0..4),
        auto in any::<bool>(),
    ) {
        let rules: Vec<Rule> = rules
            .iter()
            .map(|(decision, condition, answers)| {
                let demand = if *decision == "ask" { format!("answers = {answers}") } else { String::new() };
                read(&format!("decision = '{decision}'\n{condition}\n{demand}"))
            })
            .collect();
        let guards = rules.iter().any(|rule| rule.decision != Opinion::Allow);
        let mode = if auto { ApprovalMode::Auto } else { ApprovalMode::Ask };
        let policy = Policy { mode, ..policy(rules, vec![]) };
        let all = [("reads", "a.csv", Risk::Low)];
        let on = |findings: &Findings| policy.judge(&proposal(Origin::Model, "x"), findings, standing_ceiling());
        let (known, unknown) = (on(&found(&all)), on(&unknown(&all)));
        prop_assert!(unknown.opinion >= known.opinion);
        prop_assert!(unknown.quorum.covers(known.quorum));
        // Any rule that asks or denies is heard.
        prop_assert!(!guards || unknown.opinion >= Opinion::Ask);
    }
}

fn standing_ceiling() -> Risk {
    standing::ceiling(&crate::session::tests::confinement())
}
