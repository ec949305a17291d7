//! Reads back, at the very end, what the kernel says of this process.
//!
//! Every step before has done what it says or ended the attempt. This asks once more, by another
//! way than the calls that were made, and ends the attempt if anything is not as it should be.
//!
//! # See
//! [proc_pid_status(5)] has the lines that are read, [capabilities(7)] the sets.
//!
//! [proc_pid_status(5)]: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
//! [capabilities(7)]: https://man7.org/linux/man-pages/man7/capabilities.7.html

use std::io;

/// Where the kernel says it.
const STATUS: &str = "/proc/self/status";

const WANTED: [(&str, &str); 7] = [
    ("CapInh", "0000000000000000"),
    ("CapPrm", "0000000000000000"),
    ("CapEff", "0000000000000000"),
    ("CapBnd", "0000000000000000"),
    ("CapAmb", "0000000000000000"),
    ("NoNewPrivs", "1"),
    // By a filter, which those that were there before do not make weaker.
    ("Seccomp", "2"),
];

/// Verifies that this process has no rights left.
pub(crate) fn verify() -> io::Result<()> {
    check(&io::read_to_string(std::fs::File::open(STATUS)?)?).map_err(io::Error::other)
}

fn check(status: &str) -> Result<(), String> {
    let said = |name: &str| {
        let lines = status.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    };
    for (name, wanted) in WANTED {
        match said(name) {
            Some(value) if value == wanted => {}
            Some(value) => return Err(format!("{name} is {value}, not {wanted}")),
            None => return Err(format!("the kernel does not tell {name}")),
        }
    }
    let users = said("Uid").unwrap_or_default();
    let is_root = users.is_empty() || users.split_whitespace().any(|user| user == "0");
    if is_root { Err(format!("the user is `{users}`")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapInh:\t0000000000000000\n\
        CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n\
        CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";

    #[test]
    fn a_process_without_rights_passes() {
        assert_eq!(check(STATUS), Ok(()));
    }

    #[test]
    fn any_right_that_is_left_is_named() {
        for (from, to, said) in [
            ("CapBnd:\t0", "CapBnd:\t1", "CapBnd is 1000000000000000, not 0000000000000000"),
            ("CapEff:\t0", "CapEff:\t8", "CapEff is 8000000000000000, not 0000000000000000"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs is 0, not 1"),
            ("Seccomp:\t2", "Seccomp:\t0", "Seccomp is 0, not 2"),
            ("CapAmb:\t0000000000000000\n", "", "the kernel does not tell CapAmb"),
            ("1000\t1000\n", "1000\t0\n", "the user is `1000\t1000\t1000\t0`"),
            ("Uid:", "Gid:", "the user is ``"),
        ] {
            assert_eq!(check(&STATUS.replace(from, to)), Err(said.to_owned()));
        }
    }
}
