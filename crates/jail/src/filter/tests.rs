//! The compiled filter is run by a small interpreter of the kernel's rules, so that what it does
//! is checked without installing it.

use super::*;

/// What the filter says of a call.
fn run(filter: &Filter, architecture: u32, call: u32, arguments: [u32; 6]) -> u32 {
    let mut accumulator = 0;
    let mut at = 0;
    loop {
        let [a, b, jt, jf, k @ ..] = filter.program[at].to_le_bytes();
        let k = u32::from_le_bytes(k);
        at += 1;
        let jump = |taken: bool| usize::from(if taken { jt } else { jf });
        match u16::from_le_bytes([a, b]) {
            LOAD if k == NUMBER_AT => accumulator = call,
            LOAD if k == ARCHITECTURE_AT => accumulator = architecture,
            LOAD => accumulator = arguments[((k - ARGUMENTS_AT) / 8) as usize],
            EQUAL => at += jump(accumulator == k),
            AT_LEAST => at += jump(accumulator >= k),
            ANY_BIT => at += jump(accumulator & k != 0),
            RETURN => return k,
            other => panic!("unknown instruction {other:x}"),
        }
    }
}

fn told(call: &str, arguments: [u32; 6]) -> u32 {
    let filter = Filter::compile(&rules().unwrap()).unwrap();
    run(&filter, ARCHITECTURE, number(call).unwrap(), arguments)
}

fn refused(errno: &str) -> u32 {
    REFUSE | super::errno(errno).unwrap()
}

#[test]
fn named_calls_are_refused_with_their_errno() {
    assert_eq!(told("ptrace", [0; 6]), refused("EPERM"));
    assert_eq!(told("clone3", [0; 6]), refused("ENOSYS"));
    assert_eq!(told("vhangup", [0; 6]), refused("EPERM"));
}

#[test]
fn conditions_look_at_arguments() {
    let first = |value| [value, 0, 0, 0, 0, 0];
    assert_eq!(told("clone", first(0x0120_0011)), ALLOW);
    assert_eq!(told("clone", first(0x1000_0011)), refused("EPERM"));
    assert_eq!(told("ioctl", [0, 0x5412, 0, 0, 0, 0]), refused("EPERM"));
    assert_eq!(told("ioctl", [0, 0x541c, 0, 0, 0, 0]), refused("EPERM"));
    assert_eq!(told("ioctl", [0, 0x5413, 0, 0, 0, 0]), ALLOW);
    assert_eq!(told("personality", first(0xffff_ffff)), ALLOW);
    assert_eq!(told("personality", first(0x0004_0000)), refused("EPERM"));
}

#[test]
fn only_the_usual_socket_families_are_there() {
    for family in [1, 2, 10, 16] {
        assert_eq!(told("socket", [family, 1, 0, 0, 0, 0]), ALLOW);
    }
    for family in [0, 3, 17, 38, 40] {
        assert_eq!(told("socket", [family, 1, 0, 0, 0, 0]), refused("EAFNOSUPPORT"));
    }
    assert_eq!(told("socket", [16, 3, 15, 0, 0, 0]), refused("EPROTONOSUPPORT"));
}

#[test]
fn another_architecture_is_killed_and_x32_does_not_exist() {
    let filter = Filter::compile(&rules().unwrap()).unwrap();
    assert_eq!(run(&filter, 0x4000_0003, 1, [0; 6]), KILL);
    #[cfg(target_arch = "x86_64")]
    assert_eq!(run(&filter, ARCHITECTURE, X32 | 0x65, [0; 6]), refused("ENOSYS"));
}

#[test]
fn ordinary_calls_are_allowed() {
    for call in 0..13 {
        let filter = Filter::compile(&rules().unwrap()).unwrap();
        assert_eq!(run(&filter, ARCHITECTURE, call, [0; 6]), ALLOW);
    }
}

#[test]
fn every_rule_says_why() {
    for rule in rules().unwrap() {
        assert!(!rule.reason.is_empty() && !rule.proof.is_empty(), "{}", rule.call);
    }
}
