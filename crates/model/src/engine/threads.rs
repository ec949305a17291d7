//! How many threads compute.
//!
//! Each token waits for the slowest of them, so one more than there are cores makes everything slower, and so does a second one on
//! a core that computes twice at once. What else the machine does needs a core too, where there are more than two.

use std::{num::NonZeroUsize, path::Path, thread};

/// The folder in which the kernel says which processors share a core.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// As many threads as serve best on this machine.
pub(crate) fn best() -> usize {
    let allowed = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    choose(allowed, cores(Path::new(PROCESSORS)))
}

/// From how many processors we may use, and how many cores there are.
fn choose(allowed: usize, cores: Option<usize>) -> usize {
    let usable = cores.map_or(allowed, |cores| allowed.min(cores)).max(1);
    if usable > 2 { usable - 1 } else { usable }
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
        let chosen =
            [(1, Some(1)), (2, Some(2)), (4, Some(4)), (8, Some(4)), (3, Some(16)), (8, None)];
        let chosen = chosen.map(|(allowed, cores)| choose(allowed, cores));
        assert_eq!(chosen, [1, 2, 3, 3, 2, 7]);
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
