//! Requirements of the catalogue itself.

use super::{Language, all};
use std::collections::BTreeSet;

#[test]
fn there_are_enough_attacks_in_every_language() {
    let names: BTreeSet<_> = all().map(|attack| attack.name).collect();
    assert_eq!(names.len(), all().count(), "two attacks have the same name");
    assert!(names.len() >= 80, "there are {}", names.len());
    for language in [Language::Python, Language::Shell, Language::JavaScript] {
        assert!(all().filter(|attack| attack.language == language).count() >= 10, "{language:?}");
    }
}

#[test]
fn every_refused_call_has_its_proof() {
    let further =
        [interpreter_jail::rules_where_shared(), interpreter_jail::rules_without_network()];
    let further = further.into_iter().flat_map(Result::unwrap);
    for rule in interpreter_jail::rules().unwrap().into_iter().chain(further) {
        assert!(
            all().any(|attack| attack.name == rule.proof),
            "{} names the proof {}, which does not exist",
            rule.call,
            rule.proof
        );
    }
}

#[test]
fn every_promise_is_attacked_or_tested() {
    let security = include_str!("../../../../../SECURITY.md");
    for attack in all() {
        let promise = format!("\n{}. ", attack.promise);
        assert!(security.contains(&promise), "{} has no promise {promise}", attack.name);
    }
    // 10 is tested in `backends.rs`: what is left running is looked for when the session is over.
    for promise in (1..=12).filter(|&promise| promise != 10) {
        assert!(all().any(|attack| attack.promise == promise), "nothing attacks {promise}");
    }
}
