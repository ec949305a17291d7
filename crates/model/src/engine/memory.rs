//! How much memory there is for a model.
//!
//! A model that does not fit does not fail: the machine begins to swap, or the kernel ends some process. So it is looked at before.

use std::path::Path;

/// The bytes that this process may still take, where the system says so.
pub(crate) fn available() -> Option<u64> {
    let of = |path: &str| fs_err::read_to_string(Path::new(path)).unwrap_or_default();
    least(&of("/proc/meminfo"), &of("/sys/fs/cgroup/memory.max"), &of("/sys/fs/cgroup/memory.stat"))
}

/// The lesser of what the machine has and what the group that we are in may take.
fn least(machine: &str, most: &str, taken: &str) -> Option<u64> {
    let machine = figure(machine, "MemAvailable:").map(|kilobytes| kilobytes.saturating_mul(1024));
    let most = most.trim().parse::<u64>().ok();
    let group = most.map(|most| most.saturating_sub(figure(taken, "anon").unwrap_or(0)));
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// The number after a name.
fn figure(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next()? == name).then(|| words.next()?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "MemTotal: 8000 kB\nMemFree: 1 kB\nMemAvailable:    4000 kB\n";

    #[test]
    fn the_machine_says_what_is_available() {
        assert_eq!(least(MACHINE, "max\n", ""), Some(4_096_000));
        assert_eq!(least("", "", ""), None);
        assert_eq!(least("MemAvailable: much kB", "", ""), None);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(available().is_none_or(|bytes| bytes > 0));
    }

    #[test]
    fn a_group_may_have_less() {
        let taken = "anon_thp 7\nanon 1000\nfile 90000\n";
        assert_eq!(least(MACHINE, "2000\n", taken), Some(1000));
        assert_eq!(least(MACHINE, "500\n", taken), Some(0));
        assert_eq!(least("", "2000", ""), Some(2000));
    }
}
