//! One refused call: its name, conditions, answer, reason and proof, as `refuse.toml` has them.

use super::FilterError;
use serde::Deserialize;

/// A call that is refused, and when.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterRule {
    /// The name of the call.
    pub call: String,
    /// Conditions on its arguments, all of which must hold.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// The error for the code.
    pub errno: String,
    /// Whether the refusal is reported.
    pub tell: bool,
    /// The danger that it averts.
    pub reason: String,
    /// The attack that succeeds without the rule.
    pub proof: String,
}

/// A condition on the low 32 bits of one argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub(super) argument: u8,
    /// Of those, only these bits count.
    pub(super) mask: Option<u32>,
    equals: Option<u32>,
    has_any_of: Option<u32>,
    none_of: Option<Vec<u32>>,
}

/// One comparison of a condition.
pub(super) enum Test {
    Equal(u32),
    AnyBit(u32),
    NotEqual(u32),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    refuse: Vec<FilterRule>,
}

/// The rules that ship with the program.
pub fn rules() -> Result<Vec<FilterRule>, FilterError> {
    Ok(toml::from_str::<RuleFile>(include_str!("../../filters/refuse.toml"))?.refuse)
}

/// Further rules, for a sandbox that shares processes, local sockets and System V objects with the
/// outside.
pub fn rules_where_shared() -> Result<Vec<FilterRule>, FilterError> {
    Ok(toml::from_str::<RuleFile>(include_str!("../../filters/shared.toml"))?.refuse)
}

/// Further rules, for a sandbox that shares the network with the outside and may not use it.
pub fn rules_without_network() -> Result<Vec<FilterRule>, FilterError> {
    Ok(toml::from_str::<RuleFile>(include_str!("../../filters/no-network.toml"))?.refuse)
}

impl FilterRule {
    /// Whether its conditions hold for these arguments.
    pub(super) fn holds(&self, arguments: [u64; 6]) -> bool {
        self.when.iter().all(|condition| condition.holds(arguments))
    }
}

impl Condition {
    pub(super) fn tests(&self) -> Vec<Test> {
        let mut tests = Vec::new();
        tests.extend(self.equals.map(Test::Equal));
        tests.extend(self.has_any_of.map(Test::AnyBit));
        tests.extend(self.none_of.iter().flatten().copied().map(Test::NotEqual));
        tests
    }

    fn holds(&self, arguments: [u64; 6]) -> bool {
        let value = arguments.get(usize::from(self.argument)).copied().unwrap_or_default();
        let low = u32::try_from(value & u64::from(u32::MAX)).unwrap_or_default();
        let value = self.mask.map_or(low, |mask| low & mask);
        self.tests().iter().all(|test| match test {
            Test::Equal(wanted) => value == *wanted,
            Test::AnyBit(bits) => value & bits != 0,
            Test::NotEqual(other) => value != *other,
        })
    }
}

/// The number of an error that a rule may answer with.
pub(super) fn errno(name: &str) -> Option<u16> {
    let value = match name {
        "EINVAL" => libc::EINVAL,
        "EPERM" => libc::EPERM,
        "ENOSYS" => libc::ENOSYS,
        "EOPNOTSUPP" => libc::EOPNOTSUPP,
        "EAFNOSUPPORT" => libc::EAFNOSUPPORT,
        "EPROTONOSUPPORT" => libc::EPROTONOSUPPORT,
        _ => return None,
    };
    u16::try_from(value).ok()
}
