//! The rules as the profile that container engines take: JSON of the OCI runtime specification.
//!
//! # Limits
//! The form cannot say that an argument is none of several values. Rules with such a condition are
//! left out; the filter that the jail installs inside has them. The profile answers a refused call
//! before that filter does, so such refusals are not reported.

use super::{Architecture, FilterError, FilterRule, rule::Test};
use serde_json::{Value, json};

/// The rules as a seccomp profile, for the architecture that this program was made for.
pub fn profile(rules: &[FilterRule]) -> Result<String, FilterError> {
    let unknown =
        |rule: &FilterRule| FilterError::Unknown { call: rule.call.clone(), what: "errno" };
    let mut calls = Vec::new();
    for rule in rules {
        let errno = super::rule::errno(&rule.errno).ok_or_else(|| unknown(rule))?;
        for arguments in expressed(rule) {
            calls.push(json!({
                "names": [rule.call],
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": errno,
                "args": arguments,
            }));
        }
    }
    let profile = json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [Architecture::engine_name()?],
        "syscalls": calls,
    });
    Ok(profile.to_string())
}

/// The conditions of a rule: lists of comparisons that all hold, of which any one refuses. Empty if
/// they cannot be expressed.
fn expressed(rule: &FilterRule) -> Vec<Vec<Value>> {
    let mut lists = vec![vec![]];
    for condition in &rule.when {
        let same = |mask: u32, value: u32| {
            json!({
                "index": condition.argument,
                "op": "SCMP_CMP_MASKED_EQ",
                "value": mask,
                "valueTwo": value,
            })
        };
        let mask = condition.mask.unwrap_or(u32::MAX);
        let mut alternatives = Vec::new();
        for test in condition.tests() {
            match test {
                Test::Equal(value) => alternatives.push(same(mask, value)),
                Test::AnyBit(bits) => {
                    let bits = (0..32).map(|at| 1 << at).filter(|bit| bits & mask & bit != 0);
                    alternatives.extend(bits.map(|bit| same(bit, bit)));
                }
                Test::NotEqual(_) => return vec![],
            }
        }
        let with = |list: &Vec<Value>, one: &Value| [&list[..], std::slice::from_ref(one)].concat();
        lists = lists
            .iter()
            .flat_map(|list| alternatives.iter().map(move |one| with(list, one)))
            .collect();
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::rules;

    #[test]
    fn whole_calls_single_values_and_bits_are_refused() {
        let text = profile(&rules().unwrap()).unwrap();
        let profile: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(profile["defaultAction"], "SCMP_ACT_ALLOW");
        let of = |call: &str| -> Vec<Value> {
            let calls = profile["syscalls"].as_array().unwrap();
            calls.iter().filter(|one| one["names"][0] == call).cloned().collect()
        };
        assert_eq!(of("mount").len(), 1);
        assert_eq!(of("mount")[0]["args"], json!([]));
        assert_eq!(of("clone3")[0]["errnoRet"], libc::ENOSYS);
        // One for each of the bits.
        assert_eq!(of("clone").len(), 0x7e02_0080_u32.count_ones() as usize);
        // Two bits of one argument with each of two bits of another.
        assert_eq!(of("openat").len(), 4);
        assert_eq!(of("openat")[0]["args"].as_array().unwrap().len(), 2);
        // Only our own filter knows these.
        assert_eq!(of("personality"), Vec::<Value>::new());
    }

    #[test]
    fn rules_with_several_exceptions_are_all_that_is_left_out() {
        let rules = rules().unwrap();
        let left_out = rules.iter().filter(|rule| expressed(rule).is_empty());
        let names: Vec<_> = left_out.map(|rule| rule.call.as_str()).collect();
        let expected = [
            "personality",
            "socket",
            "socket",
            "socketpair",
            "setpriority",
            "ioprio_set",
            "socket",
            "socket",
        ];
        assert_eq!(names, expected);
    }
}
