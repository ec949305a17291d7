//! The compiled filter is run by a small interpreter of the kernel's rules, so that what it does
//! is checked without installing it, on every architecture.

use super::*;

/// The decision of a program on a call.
fn run(program: &[u64], architecture: u32, call: u32, arguments: [u32; 6]) -> u32 {
    let mut accumulator = 0;
    let mut at = 0;
    loop {
        let [a, b, jt, jf, k @ ..] = program[at].to_le_bytes();
        let k = u32::from_le_bytes(k);
        at += 1;
        let jump = |taken: bool| usize::from(if taken { jt } else { jf });
        match u16::from_le_bytes([a, b]) {
            LOAD if k == NUMBER_AT => accumulator = call,
            LOAD if k == ARCHITECTURE_AT => accumulator = architecture,
            LOAD => accumulator = arguments[((k - ARGUMENTS_AT) / 8) as usize],
            AND => accumulator &= k,
            EQUAL => at += jump(accumulator == k),
            AT_LEAST => at += jump(accumulator >= k),
            ANY_BIT => at += jump(accumulator & k != 0),
            RETURN => return k,
            other => panic!("unknown instruction {other:x}"),
        }
    }
}

fn filter(architecture: &Architecture) -> Filter {
    Filter::compile_for(&rules().unwrap(), architecture).unwrap()
}

/// The decision of the filter of every architecture that has the call: all agree.
fn told(call: &str, arguments: [u32; 6]) -> u32 {
    let mut said = Architecture::names().filter_map(|name| {
        let architecture = Architecture::named(name).unwrap();
        let Number::Is(number) = architecture.number(call).unwrap() else { return None };
        let filter = filter(&architecture);
        let quiet = run(&filter.program, architecture.audit, number, arguments);
        let telling = run(&filter.telling, architecture.audit, number, arguments);
        let refused = |word: u32| (word & 0xffff, word & 0xffff_0000 == ALLOW);
        assert_eq!(refused(quiet), refused(telling), "{name}: {call}");
        Some(quiet)
    });
    let first = said.next().unwrap();
    assert!(said.all(|other| other == first), "{call}");
    first
}

fn refused(errno: &str) -> u32 {
    REFUSE | u32::from(rule::errno(errno).unwrap())
}

#[test]
fn named_calls_are_refused_with_their_errno() {
    assert_eq!(told("ptrace", [0; 6]), refused("EPERM"));
    assert_eq!(told("clone3", [0; 6]), refused("ENOSYS"));
    assert_eq!(told("vhangup", [0; 6]), refused("EPERM"));
    assert_eq!(told("chmod", [0, 0o4755, 0, 0, 0, 0]), refused("EPERM"));
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
    assert_eq!(told("openat", [0, 0, 0o102, 0o644, 0, 0]), ALLOW);
    assert_eq!(told("openat", [0, 0, 0o102, 0o4644, 0, 0]), refused("EPERM"));
    // Without a name, which it can be given later.
    assert_eq!(told("openat", [0, 0, 0x41_0002, 0o4644, 0, 0]), refused("EPERM"));
    assert_eq!(told("openat", [0, 0, 0, 0o4644, 0, 0]), ALLOW);
}

#[test]
fn only_the_usual_sockets_are_there() {
    const CLOSE_ON_EXEC: u32 = 0x8_0000;
    for family in [1, 2, 10, 16] {
        assert_eq!(told("socket", [family, 1, 0, 0, 0, 0]), ALLOW);
    }
    for family in [0, 3, 17, 38, 40] {
        assert_eq!(told("socket", [family, 1, 0, 0, 0, 0]), refused("EAFNOSUPPORT"));
        assert_eq!(told("socketpair", [family, 1, 0, 0, 0, 0]), refused("EAFNOSUPPORT"));
    }
    assert_eq!(told("socket", [16, 3, 15, 0, 0, 0]), refused("EPROTONOSUPPORT"));
    for family in [2, 10] {
        assert_eq!(told("socket", [family, 3 | CLOSE_ON_EXEC, 1, 0, 0, 0]), refused("EPERM"));
        assert_eq!(told("socket", [family, 2 | CLOSE_ON_EXEC, 0, 0, 0, 0]), ALLOW);
    }
    assert_eq!(told("socket", [16, 3 | CLOSE_ON_EXEC, 0, 0, 0, 0]), ALLOW);
    for family in [2, 10] {
        for usual in [0, 6, 17, 1, 58] {
            assert_eq!(told("socket", [family, 1, usual, 0, 0, 0]), ALLOW);
        }
        // SCTP, UDP-Lite, MPTCP.
        for rare in [132, 136, 262] {
            assert_eq!(told("socket", [family, 1, rare, 0, 0, 0]), refused("EPROTONOSUPPORT"));
        }
    }
}

#[test]
fn pipes_grow_to_a_usual_size_and_no_further() {
    const SET_SIZE: u32 = 1031;
    for (size, expected) in [(4096, ALLOW), (65_536, ALLOW), (131_072, refused("EPERM"))] {
        assert_eq!(told("fcntl", [3, SET_SIZE, size, 0, 0, 0]), expected, "{size}");
    }
    // Any other request with a large argument.
    assert_eq!(told("fcntl", [3, 4, 0xffff_ffff, 0, 0, 0]), ALLOW);
}

#[test]
fn what_other_profiles_refuse_is_refused() {
    for call in ["mbind", "move_pages", "lsm_set_self_attr"] {
        assert_eq!(told(call, [0; 6]), refused("EPERM"), "{call}");
    }
    for call in ["sysfs", "ustat", "memfd_secret", "io_setup", "io_submit"] {
        assert_eq!(told(call, [0; 6]), refused("ENOSYS"), "{call}");
    }
}

#[test]
fn another_architecture_is_killed_and_x32_does_not_exist() {
    for name in Architecture::names() {
        let architecture = Architecture::named(name).unwrap();
        let filter = filter(&architecture);
        for program in [&filter.program, &filter.telling] {
            assert_eq!(run(program, 0x4000_0003, 1, [0; 6]), KILL, "{name}");
            assert_eq!(run(program, 0x4000_0028, 1, [0; 6]), KILL, "{name}");
        }
    }
    let x86_64 = Architecture::named("x86_64").unwrap();
    let foreign = x86_64.foreign.unwrap();
    let said = run(&filter(&x86_64).program, x86_64.audit, foreign | 0x65, [0; 6]);
    assert_eq!(said, refused("ENOSYS"));
}

#[test]
fn ordinary_calls_are_allowed() {
    for (name, ordinary) in
        [("x86_64", [0, 1, 3, 5, 12, 59, 231]), ("aarch64", [56, 57, 63, 64, 214, 221, 94])]
    {
        let architecture = Architecture::named(name).unwrap();
        for call in ordinary {
            assert_eq!(
                run(&filter(&architecture).telling, architecture.audit, call, [0; 6]),
                ALLOW
            );
        }
    }
}

#[test]
fn every_architecture_speaks_of_the_same_calls() {
    for rule in rules().unwrap() {
        for name in Architecture::names() {
            let known = Architecture::named(name).unwrap().number(&rule.call);
            assert!(known.is_some(), "{} is neither in {name}.toml nor absent there", rule.call);
        }
    }
}

#[test]
fn no_number_stands_for_a_call_that_no_rule_names() {
    let all = [rules(), rules_where_shared(), rules_without_network()];
    let rules: Vec<_> = all.into_iter().flat_map(Result::unwrap).collect();
    for name in Architecture::names() {
        let architecture = Architecture::named(name).unwrap();
        let mut numbers = BTreeSet::new();
        for (call, number) in architecture.calls() {
            assert!(numbers.insert(number), "{name}: {call} has another's number");
            assert!(rules.iter().any(|rule| rule.call == *call), "{name}: {call}");
        }
    }
}

#[test]
fn further_rules_compile_for_every_architecture_and_refuse() {
    for further in [rules_where_shared().unwrap(), rules_without_network().unwrap()] {
        for name in Architecture::names() {
            let architecture = Architecture::named(name).unwrap();
            let missing: Vec<_> =
                further.iter().filter(|rule| architecture.number(&rule.call).is_none()).collect();
            assert!(missing.is_empty(), "{name}: {missing:?}");
        }
        assert!(!Filter::compile(&further).unwrap().refused.is_empty());
    }
}

/// The C library's own numbers, where it names the call.
#[test]
fn the_numbers_are_those_of_the_c_library() {
    macro_rules! check {
        ($($call:ident)*) => {
            [$((&stringify!($call)["SYS_".len()..], libc::$call)),*]
        };
    }
    let here = Architecture::here().unwrap();
    let known = check!(
        SYS_acct SYS_add_key SYS_bpf SYS_chroot SYS_clock_settime SYS_clone SYS_clone3
        SYS_delete_module SYS_fanotify_init SYS_fchmod SYS_fchmodat SYS_finit_module SYS_fsconfig
        SYS_fsmount SYS_fsopen SYS_fspick SYS_init_module SYS_io_uring_enter SYS_io_uring_register
        SYS_io_uring_setup SYS_ioctl SYS_ioprio_set SYS_kcmp SYS_kexec_file_load SYS_kexec_load
        SYS_keyctl SYS_mknodat SYS_mount SYS_mount_setattr SYS_move_mount SYS_open_by_handle_at
        SYS_open_tree SYS_openat SYS_openat2 SYS_perf_event_open SYS_personality SYS_pidfd_getfd
        SYS_pivot_root SYS_prlimit64 SYS_process_vm_readv SYS_process_vm_writev SYS_ptrace
        SYS_quotactl SYS_quotactl_fd SYS_reboot SYS_request_key SYS_sched_setaffinity
        SYS_sched_setattr SYS_sched_setparam SYS_sched_setscheduler SYS_setdomainname
        SYS_sethostname SYS_setns SYS_setpriority SYS_settimeofday SYS_socket SYS_socketpair
        SYS_swapoff SYS_swapon SYS_syslog SYS_umount2 SYS_unshare SYS_userfaultfd SYS_vhangup
    );
    for (call, number) in known {
        let number = Number::Is(u32::try_from(number).unwrap());
        assert_eq!(here.number(call), Some(number), "{call}");
    }
    #[cfg(target_arch = "x86_64")]
    for (call, number) in
        check!(SYS_chmod SYS_creat SYS_ioperm SYS_iopl SYS_mknod SYS_modify_ldt SYS_open)
    {
        let number = Number::Is(u32::try_from(number).unwrap());
        assert_eq!(here.number(call), Some(number), "{call}");
    }
}

#[test]
fn the_answer_from_outside_is_the_one_that_the_kernel_would_give() {
    let (rules, here) = (rules().unwrap(), Architecture::here().unwrap());
    let answers = Answers::of(&rules).unwrap();
    let program = filter(&here).program;
    let values = [0, 1, 2, 3, 10, 16, 17, 0o4755, 0x5412, 0x1000_0000, 0x8_0003];
    for rule in &rules {
        let Some(Number::Is(number)) = here.number(&rule.call) else { continue };
        for (first, second) in values.iter().flat_map(|a| values.map(|b| (*a, b))) {
            let arguments = [first, second, second, second, 0, 0];
            let said = run(&program, here.audit, number, arguments);
            if said == ALLOW {
                continue;
            }
            let answer = answers.to(number, arguments.map(u64::from));
            assert_eq!(REFUSE | u32::from(answer.errno), said, "{} {arguments:?}", rule.call);
        }
    }
    assert_eq!(answers.to(u32::MAX, [0; 6]).errno, 1);
}

#[test]
fn every_rule_says_why() {
    for rule in rules().unwrap() {
        assert!(!rule.reason.is_empty() && !rule.proof.is_empty(), "{}", rule.call);
    }
}

#[test]
fn what_programs_try_as_a_matter_of_course_is_not_told() {
    let here = Architecture::here().unwrap();
    let telling = filter(&here).telling;
    for call in ["clone3", "openat2", "io_uring_setup", "kcmp"] {
        let Some(Number::Is(number)) = here.number(call) else { panic!("{call}") };
        let said = run(&telling, here.audit, number, [0; 6]);
        assert_eq!(said & 0xffff_0000, REFUSE, "{call}");
    }
    let Some(Number::Is(mount)) = here.number("mount") else { panic!("mount") };
    assert_eq!(run(&telling, here.audit, mount, [0; 6]), ASK_OUTSIDE | 1);
}
