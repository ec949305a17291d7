//! How many threads compute.
//!
//! Each token waits hundreds of times for the slowest of them. So one more than there are free cores makes everything slower, and not by
//! a little: two threads on two cores that others use write a tenth of what one would. A second thread on a core that
//! computes twice at once gains nothing either.

use std::{num::NonZeroUsize, path::Path, thread};

/// The folder in which the kernel says which processors share a core.
const PROCESSORS: &str = "/sys/devices/system/cpu";
/// The file in which it says how many programs have wanted to compute.
const LOAD: &str = "/proc/loadavg";

/// As many threads as serve best on this machine, as it is now.
pub(crate) fn best() -> usize {
    let allowed = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let load = fs_err::read_to_string(LOAD).unwrap_or_default();
    choose(allowed, cores(Path::new(PROCESSORS)), busy(&load))
}

/// From how many processors we may use, how many cores there are, and how many of them others use.
fn choose(allowed: usize, cores: Option<usize>, busy: usize) -> usize {
    let usable = cores.map_or(allowed, |cores| allowed.min(cores));
    let ours = if usable > 2 { usable - 1 } else { usable };
    ours.min(usable.saturating_sub(busy)).max(1)
}

/// How many programs have computed during the last minute, on average.
fn busy(load: &str) -> usize {
    let whole = load.split(['.', ' ']).next().unwrap_or_default();
    whole.parse().unwrap_or(0)
}

/// The cores of the machine: processors that share one have the same list.
fn cores(folder: &Path) -> Option<usize> {
    let mut lists = Vec::new();
    for entry in fs_err::read_dir(folder).ok()?.flatten() {
        let list = entry.path().join("topology/thread_siblings_list");
        if let Ok(list) = fs_err::read_to_string(list) {
            lists.push(list);
        }
    }
    lists.sort();
    lists.dedup();
    (!lists.is_empty()).then_some(lists.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_is_left_where_there_are_more_than_two() {
        let idle =
            [(1, Some(1)), (2, Some(2)), (4, Some(4)), (8, Some(4)), (3, Some(16)), (8, None)];
        let chosen = idle.map(|(allowed, cores)| choose(allowed, cores, 0));
        assert_eq!(chosen, [1, 2, 3, 3, 2, 7]);
    }

    #[test]
    fn what_others_use_is_left_to_them() {
        let chosen = [0, 1, 2, 5, 90].map(|busy| choose(8, Some(8), busy));
        assert_eq!(chosen, [7, 7, 6, 3, 1]);
        assert_eq!([0, 1, 2].map(|busy| choose(2, Some(2), busy)), [2, 1, 1]);
        let loads = ["0.37 0.27 0.26 1/189 2912\n", "3.63 4.76 5.42 9/1 1", "12.00", "", "none"];
        assert_eq!(loads.map(busy), [0, 3, 12, 0, 0]);
    }

    #[test]
    fn processors_that_share_a_core_count_once() {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, list) in [("cpu0", "0,2"), ("cpu1", "1,3"), ("cpu2", "0,2"), ("cpu3", "1,3")] {
            let topology = folder.path().join(cpu).join("topology");
            fs_err::create_dir_all(&topology).unwrap();
            fs_err::write(topology.join("thread_siblings_list"), list).unwrap();
        }
        assert_eq!(cores(folder.path()), Some(2));
        assert_eq!(cores(&folder.path().join("none")), None);
        assert!(best() >= 1);
    }
}
