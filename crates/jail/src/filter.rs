//! Which system calls are refused, as data, and the kernel's form of it.
//!
//! The rules stand in `filters/refuse.toml`, each with its reason and the attack that proves it.
//! They are compiled to classic BPF here: the usual crate has one action for a whole filter and
//! no answer to the x32 calls, and both are needed.
//!
//! # Limits
//! A filter sees numbers, not what pointers point to. What is not named is allowed.

use serde::Deserialize;
use std::collections::BTreeSet;

/// One refused call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The call's name.
    pub call: String,
    /// Conditions on its arguments, all of which must hold.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// What the code is told.
    pub errno: String,
    /// Why.
    pub reason: String,
    /// The attack that succeeds without the rule.
    pub proof: String,
}

/// A condition on the low 32 bits of one argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    argument: u8,
    equals: Option<u32>,
    has_any_of: Option<u32>,
    none_of: Option<Vec<u32>>,
}

/// The compiled rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The names of the refused calls, sorted.
    pub refused: Vec<String>,
    /// The instructions, packed as the kernel lays them out.
    pub program: Vec<u64>,
}

/// Why the rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// The file is not what it should be.
    #[error("the system-call rules do not parse")]
    Parse(#[from] toml::de::Error),
    /// A name is not known on this architecture.
    #[error("the rule for `{call}` names an unknown {what}")]
    Unknown {
        /// The call of the rule.
        call: String,
        /// What is unknown.
        what: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    refuse: Vec<Rule>,
}

/// The rules that ship with the program.
pub fn rules() -> Result<Vec<Rule>, FilterError> {
    Ok(toml::from_str::<RuleFile>(include_str!("../filters/refuse.toml"))?.refuse)
}

const LOAD: u16 = 0x20; // ld [k]
const EQUAL: u16 = 0x15; // jeq #k
const AT_LEAST: u16 = 0x35; // jge #k
const ANY_BIT: u16 = 0x45; // jset #k
const RETURN: u16 = 0x06; // ret #k
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000;
const KILL: u32 = 0x8000_0000;

/// Calls of the x32 interface have this bit; none of the rules would match them.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

impl Filter {
    /// Compiles rules.
    pub fn compile(rules: &[Rule]) -> Result<Self, FilterError> {
        let mut program = vec![
            instruction(LOAD, 0, 0, ARCHITECTURE_AT),
            instruction(EQUAL, 1, 0, ARCHITECTURE),
            instruction(RETURN, 0, 0, KILL),
        ];
        #[cfg(target_arch = "x86_64")]
        program.extend([
            instruction(LOAD, 0, 0, NUMBER_AT),
            instruction(AT_LEAST, 0, 1, X32),
            instruction(RETURN, 0, 0, REFUSE | errno("ENOSYS").expect("a known name")),
        ]);
        for rule in rules.iter().filter(|rule| !is_absent_here(&rule.call)) {
            program.extend(rule.compile()?);
        }
        program.push(instruction(RETURN, 0, 0, ALLOW));
        let names: BTreeSet<_> = rules.iter().map(|rule| rule.call.clone()).collect();
        Ok(Self { refused: names.into_iter().collect(), program })
    }
}

impl Rule {
    /// The rule's instructions. Whatever does not match falls through to what comes after them.
    fn compile(&self) -> Result<Vec<u64>, FilterError> {
        let unknown = |what| FilterError::Unknown { call: self.call.clone(), what };
        let number = number(&self.call).ok_or_else(|| unknown("call"))?;
        let errno = errno(&self.errno).ok_or_else(|| unknown("errno"))?;
        let conditions: Vec<_> = self.when.iter().map(Condition::tests).collect();
        let mut left = conditions.iter().map(|tests| tests.len() + 1).sum::<usize>() + 1;
        let byte = |count: usize| u8::try_from(count).map_err(|_| unknown("condition: too many"));
        let mut program =
            vec![instruction(LOAD, 0, 0, NUMBER_AT), instruction(EQUAL, 0, byte(left)?, number)];
        for (condition, tests) in self.when.iter().zip(conditions) {
            let at = ARGUMENTS_AT + 8 * u32::from(condition.argument);
            program.push(instruction(LOAD, 0, 0, at));
            left -= 1;
            for test in tests {
                left -= 1;
                let skip = byte(left)?;
                program.push(match test {
                    Test::Equal(value) => instruction(EQUAL, 0, skip, value),
                    Test::AnyBit(bits) => instruction(ANY_BIT, 0, skip, bits),
                    Test::NotEqual(value) => instruction(EQUAL, skip, 0, value),
                });
            }
        }
        program.push(instruction(RETURN, 0, 0, REFUSE | errno));
        Ok(program)
    }
}

enum Test {
    Equal(u32),
    AnyBit(u32),
    NotEqual(u32),
}

impl Condition {
    fn tests(&self) -> Vec<Test> {
        let mut tests = Vec::new();
        tests.extend(self.equals.map(Test::Equal));
        tests.extend(self.has_any_of.map(Test::AnyBit));
        tests.extend(self.none_of.iter().flatten().copied().map(Test::NotEqual));
        tests
    }
}

fn instruction(code: u16, if_true: u8, if_false: u8, value: u32) -> u64 {
    u64::from(code) | u64::from(if_true) << 16 | u64::from(if_false) << 24 | u64::from(value) << 32
}

fn errno(name: &str) -> Option<u32> {
    let value = match name {
        "EPERM" => libc::EPERM,
        "ENOSYS" => libc::ENOSYS,
        "EAFNOSUPPORT" => libc::EAFNOSUPPORT,
        "EPROTONOSUPPORT" => libc::EPROTONOSUPPORT,
        _ => return None,
    };
    u32::try_from(value).ok()
}

macro_rules! calls {
    ($name:expr, $($call:ident => $number:ident),* $(,)?) => {
        match $name {
            $(stringify!($call) => Some(libc::$number),)*
            _ => None,
        }
    };
}

/// The number of a call on this architecture.
fn number(name: &str) -> Option<u32> {
    let number = calls!(name,
        acct => SYS_acct, add_key => SYS_add_key, bpf => SYS_bpf, chroot => SYS_chroot,
        clock_settime => SYS_clock_settime, clone => SYS_clone, clone3 => SYS_clone3,
        delete_module => SYS_delete_module, fanotify_init => SYS_fanotify_init,
        finit_module => SYS_finit_module, fsconfig => SYS_fsconfig, fsmount => SYS_fsmount,
        fsopen => SYS_fsopen, fspick => SYS_fspick, init_module => SYS_init_module,
        io_uring_enter => SYS_io_uring_enter, io_uring_register => SYS_io_uring_register,
        io_uring_setup => SYS_io_uring_setup, ioctl => SYS_ioctl, kcmp => SYS_kcmp,
        kexec_file_load => SYS_kexec_file_load, kexec_load => SYS_kexec_load,
        keyctl => SYS_keyctl, mount => SYS_mount, mount_setattr => SYS_mount_setattr,
        move_mount => SYS_move_mount, open_by_handle_at => SYS_open_by_handle_at,
        open_tree => SYS_open_tree, perf_event_open => SYS_perf_event_open,
        personality => SYS_personality, pidfd_getfd => SYS_pidfd_getfd,
        pivot_root => SYS_pivot_root, process_vm_readv => SYS_process_vm_readv,
        process_vm_writev => SYS_process_vm_writev, ptrace => SYS_ptrace,
        quotactl => SYS_quotactl, quotactl_fd => SYS_quotactl_fd, reboot => SYS_reboot,
        request_key => SYS_request_key, setdomainname => SYS_setdomainname,
        sethostname => SYS_sethostname, setns => SYS_setns, settimeofday => SYS_settimeofday,
        socket => SYS_socket, swapoff => SYS_swapoff, swapon => SYS_swapon,
        syslog => SYS_syslog, umount2 => SYS_umount2, unshare => SYS_unshare,
        userfaultfd => SYS_userfaultfd, vhangup => SYS_vhangup, fchmod => SYS_fchmod,
        fchmodat => SYS_fchmodat, ioprio_set => SYS_ioprio_set, mknodat => SYS_mknodat,
        openat => SYS_openat, openat2 => SYS_openat2, prlimit64 => SYS_prlimit64,
        sched_setaffinity => SYS_sched_setaffinity, sched_setattr => SYS_sched_setattr,
        sched_setparam => SYS_sched_setparam, sched_setscheduler => SYS_sched_setscheduler,
        setpriority => SYS_setpriority,
    )
    .or_else(|| older(name))?;
    u32::try_from(number).ok()
}

/// Calls that newer architectures do not have any more, and one that the C library does not name
/// yet.
fn older(name: &str) -> Option<libc::c_long> {
    #[cfg(target_arch = "x86_64")]
    if let Some(number) = calls!(name,
        chmod => SYS_chmod, creat => SYS_creat, mknod => SYS_mknod, open => SYS_open,
    ) {
        return Some(number);
    }
    // The same number everywhere.
    (name == "fchmodat2").then_some(452)
}

/// Whether a call may be named in the rules although this architecture has none of it.
fn is_absent_here(name: &str) -> bool {
    cfg!(not(target_arch = "x86_64")) && ["chmod", "creat", "mknod", "open"].contains(&name)
}

#[cfg(test)]
mod tests;
