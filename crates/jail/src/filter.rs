//! Which system calls are refused, as data, and the kernel's form of it.
//!
//! The rules stand in `filters/refuse.toml`, each with its reason and the attack that proves it;
//! the numbers of the calls stand beside it, one file for each architecture. They are compiled to
//! classic BPF here: the usual crate has one action for a whole filter and no answer to the x32
//! calls, and both are needed.
//!
//! A filter comes in two forms that refuse exactly the same. In [`Filter::program`] the kernel
//! answers by itself. In [`Filter::telling`] it asks outside about calls that are reported;
//! [`Answers`] has the replies, which are always the rule's own error.
//!
//! # Limits
//! A filter sees numbers, not the memory behind pointers. Unnamed calls are allowed.
//!
//! # See
//! [seccomp(2)] and the pages of the [kernel]. Refused calls have led to the kernel itself: new
//! namespaces ([CVE-2022-0185], [CVE-2024-1086]), `bpf` ([CVE-2021-3490]), `io_uring`
//! ([CVE-2022-29582]), keyrings ([CVE-2016-0728]); and typing into the terminal (`TIOCSTI`) leads
//! out of a sandbox ([CVE-2017-5226]).
//!
//! [seccomp(2)]: https://man7.org/linux/man-pages/man2/seccomp.2.html
//! [kernel]: https://docs.kernel.org/userspace-api/seccomp_filter.html
//! [CVE-2022-0185]: https://nvd.nist.gov/vuln/detail/CVE-2022-0185
//! [CVE-2024-1086]: https://nvd.nist.gov/vuln/detail/CVE-2024-1086
//! [CVE-2021-3490]: https://nvd.nist.gov/vuln/detail/CVE-2021-3490
//! [CVE-2022-29582]: https://nvd.nist.gov/vuln/detail/CVE-2022-29582
//! [CVE-2016-0728]: https://nvd.nist.gov/vuln/detail/CVE-2016-0728
//! [CVE-2017-5226]: https://nvd.nist.gov/vuln/detail/CVE-2017-5226

use std::collections::{BTreeMap, BTreeSet};

pub use self::{
    architecture::Architecture,
    profile::profile,
    rule::{Condition, FilterRule, rules, rules_where_shared, rules_without_network},
};
use self::{
    architecture::Number,
    rule::{Test, errno},
};

mod architecture;
mod profile;
mod rule;

/// The rules, compiled for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The names of the refused calls, sorted.
    pub refused: Vec<String>,
    /// The instructions, packed as the kernel lays them out.
    pub program: Vec<u64>,
    /// The same, but that calls which are to be told of are answered from outside.
    pub telling: Vec<u64>,
}

/// Why the rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// The file is not what it should be.
    #[error("the system-call rules do not parse")]
    Parse(#[from] toml::de::Error),
    /// There is no table for an architecture.
    #[error("there are no system-call numbers for {name}")]
    Architecture {
        /// The name that the rule has.
        name: String,
    },
    /// A name is not known on this architecture.
    #[error("the rule for `{call}` names an unknown {what}")]
    Unknown {
        /// The call of the rule.
        call: String,
        /// The kind of unknown name.
        what: &'static str,
    },
}

const LOAD: u16 = 0x20; // ld [k]
const AND: u16 = 0x54; // and #k
const EQUAL: u16 = 0x15; // jeq #k
const AT_LEAST: u16 = 0x35; // jge #k
const ANY_BIT: u16 = 0x45; // jset #k
const RETURN: u16 = 0x06; // ret #k
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000;
const ASK_OUTSIDE: u32 = 0x7fc0_0000;
const KILL: u32 = 0x8000_0000;

/// Who answers a call that people are to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answering {
    Kernel,
    Outside,
}

impl Filter {
    /// Compiles rules for the architecture that this program was made for.
    pub fn compile(rules: &[FilterRule]) -> Result<Self, FilterError> {
        Self::compile_for(rules, &Architecture::here()?)
    }

    /// Compiles rules for an architecture.
    pub fn compile_for(
        rules: &[FilterRule],
        architecture: &Architecture,
    ) -> Result<Self, FilterError> {
        let program = |answering| compile(rules, architecture, answering);
        let names: BTreeSet<_> = rules.iter().map(|rule| rule.call.clone()).collect();
        Ok(Self {
            refused: names.into_iter().collect(),
            program: program(Answering::Kernel)?,
            telling: program(Answering::Outside)?,
        })
    }
}

fn compile(
    rules: &[FilterRule],
    architecture: &Architecture,
    answering: Answering,
) -> Result<Vec<u64>, FilterError> {
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE_AT),
        instruction(EQUAL, 1, 0, architecture.audit),
        instruction(RETURN, 0, 0, KILL),
    ];
    if let Some(foreign) = architecture.foreign {
        let no_such_call = errno("ENOSYS").expect("a known name");
        program.extend([
            instruction(LOAD, 0, 0, NUMBER_AT),
            instruction(AT_LEAST, 0, 1, foreign),
            instruction(RETURN, 0, 0, REFUSE | u32::from(no_such_call)),
        ]);
    }
    for rule in rules {
        program.extend(instructions(rule, architecture, answering)?);
    }
    program.push(instruction(RETURN, 0, 0, ALLOW));
    Ok(program)
}

/// A rule's instructions. Whatever does not match falls through to what comes after them.
fn instructions(
    rule: &FilterRule,
    architecture: &Architecture,
    answering: Answering,
) -> Result<Vec<u64>, FilterError> {
    let unknown = |what| FilterError::Unknown { call: rule.call.clone(), what };
    let errno = errno(&rule.errno).ok_or_else(|| unknown("errno"))?;
    let number = match architecture.number(&rule.call).ok_or_else(|| unknown("call"))? {
        Number::Is(number) => number,
        Number::Absent => return Ok(vec![]),
    };
    let action = match (rule.tell, answering) {
        (true, Answering::Outside) => ASK_OUTSIDE,
        (false, _) | (true, Answering::Kernel) => REFUSE,
    };
    // From the end, because a jump says how far it is to there.
    let mut program = vec![instruction(RETURN, 0, 0, action | u32::from(errno))];
    for condition in rule.when.iter().rev() {
        for test in condition.tests().into_iter().rev() {
            let skip = u8::try_from(program.len()).map_err(|_| unknown("condition: too many"))?;
            program.push(match test {
                Test::Equal(value) => instruction(EQUAL, 0, skip, value),
                Test::AnyBit(bits) => instruction(ANY_BIT, 0, skip, bits),
                Test::NotEqual(value) => instruction(EQUAL, skip, 0, value),
            });
        }
        program.extend(condition.mask.map(|mask| instruction(AND, 0, 0, mask)));
        let at = ARGUMENTS_AT + 8 * u32::from(condition.argument);
        program.push(instruction(LOAD, 0, 0, at));
    }
    let skip = u8::try_from(program.len()).map_err(|_| unknown("condition: too many"))?;
    program.push(instruction(EQUAL, 0, skip, number));
    program.push(instruction(LOAD, 0, 0, NUMBER_AT));
    program.reverse();
    Ok(program)
}

fn instruction(code: u16, if_true: u8, if_false: u8, value: u32) -> u64 {
    u64::from(code) | u64::from(if_true) << 16 | u64::from(if_false) << 24 | u64::from(value) << 32
}

/// The replies, outside, to calls that the kernel asks about.
#[derive(Clone, Debug)]
pub struct Answers {
    rules: BTreeMap<u32, Vec<FilterRule>>,
}

/// An answer to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterAnswer<'a> {
    /// The number of the error.
    pub errno: u16,
    /// The name of the call.
    pub call: &'a str,
    /// Why it is refused.
    pub reason: &'a str,
}

impl Answers {
    /// The answers that follow from rules.
    pub fn of(rules: &[FilterRule]) -> Result<Self, FilterError> {
        let architecture = Architecture::here()?;
        let mut answers: BTreeMap<u32, Vec<FilterRule>> = BTreeMap::new();
        for rule in rules {
            if let Some(Number::Is(number)) = architecture.number(&rule.call) {
                answers.entry(number).or_default().push(rule.clone());
            }
        }
        Ok(Self { rules: answers })
    }

    /// The answer to a call. The kernel asks only about what a rule refuses, so there is always one
    /// that holds; if there were none, the call would be refused all the same.
    pub fn to(&self, number: u32, arguments: [u64; 6]) -> FilterAnswer<'_> {
        const NOT_PERMITTED: u16 = 1;
        let rules = self.rules.get(&number).map(Vec::as_slice).unwrap_or_default();
        let rule = rules.iter().find(|rule| rule.holds(arguments)).or(rules.first());
        rule.map_or(
            FilterAnswer {
                errno: NOT_PERMITTED,
                call: "a system call",
                reason: "it is not permitted",
            },
            |rule| FilterAnswer {
                errno: errno(&rule.errno).unwrap_or(NOT_PERMITTED),
                call: &rule.call,
                reason: &rule.reason,
            },
        )
    }
}

#[cfg(test)]
mod tests;
