//! Whether a control group bounds the processes and the memory of a container, as seen from outside.
//!
//! # Threat
//! An engine that takes a limit, warns that it discards it, and starts the container all the same.
//! If the kernel's limit for the user were raised then, nothing would stop a fork bomb; and the
//! record would tell of a limit on memory that there is not.
//!
//! # Mechanism
//! The kernel says in which groups the container's process is, and a group's file says how much
//! there may be in it and in all below it. Both versions of control groups are looked at.
//!
//! # Order
//! After the process was met, and before it is sent its plan, which has the limit for the user.
//!
//! # Limits
//! A group that is not mounted here is not seen, and then it bounds nothing.

use super::cgroup::mounts::{group_in, mounts};
use std::path::{Component, Path};

/// How the processes of a sandbox are counted, where the kernel's limit counts those of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// A control group bounds them apart from all others, so the limit for the user is not needed.
    Apart,
    /// Nothing but the limit for the user bounds them, together with that user's others.
    WithUser,
}

/// The bounds that the processes of a sandbox have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// How they are counted.
    pub(super) counting: Counting,
    /// Whether their memory has one limit.
    pub(super) memory: bool,
}

impl Bounds {
    /// A group that was made for them bounds both.
    pub(super) const GROUP: Self = Self { counting: Counting::Apart, memory: true };

    /// Nothing does.
    pub(super) const NONE: Self = Self { counting: Counting::WithUser, memory: false };

    /// The bounds by the groups of this process, if they allow no more processes and bytes than that.
    pub(super) fn of(process: u32, most_processes: u64, most_bytes: u64) -> Self {
        let read = |path: &Path| fs_err::read_to_string(path).ok();
        let groups = |process: &str| read(&Path::new("/proc").join(process).join("cgroup"));
        let mounts = read(Path::new("/proc/self/mountinfo"));
        let all = mounts.zip(groups(&process.to_string()).zip(groups("self")));
        let Some((mounts, (theirs, ours))) = all else { return Self::NONE };
        let groups = (theirs.as_str(), ours.as_str());
        let is_bounded = |what: &Bounded, most| bounded(what, &mounts, groups, most, read);
        Self {
            counting: if is_bounded(&PROCESSES, most_processes) {
                Counting::Apart
            } else {
                Counting::WithUser
            },
            memory: is_bounded(&MEMORY, most_bytes),
        }
    }
}

/// Something that control groups bound, and the files that say how far.
struct Bounded {
    controller: &'static str,
    one: &'static str,
    two: &'static str,
}

const PROCESSES: Bounded = Bounded { controller: "pids", one: "pids.max", two: "pids.max" };

const MEMORY: Bounded =
    Bounded { controller: "memory", one: "memory.limit_in_bytes", two: "memory.max" };

/// Whether a group allows no more of it than that, by the mounts as we see them, the lines of the
/// process and our own for each hierarchy, and a reader of files. A group that we are in ourselves is
/// not theirs. Whatever cannot be read or understood bounds nothing.
fn bounded(
    what: &Bounded,
    mountinfo: &str,
    (theirs, ours): (&str, &str),
    most: u64,
    read: impl Fn(&Path) -> Option<String>,
) -> bool {
    let bounds = |file: &Path| {
        let max = read(file).and_then(|text| text.trim().parse::<u64>().ok());
        max.is_some_and(|max| max <= most)
    };
    mounts(mountinfo).any(|mount| {
        let (controller, file) = match mount.kind {
            "cgroup2" => ("", what.two),
            "cgroup" if mount.has(what.controller) => (what.controller, what.one),
            _ => return false,
        };
        let [theirs, ours] = [theirs, ours].map(|groups| {
            group_in(groups, controller).and_then(|path| path.strip_prefix(mount.root).ok())
        });
        let is_theirs = |group: &&Path| !ours.is_some_and(|ours| ours.starts_with(group));
        // A group outside of our own namespace has a path that begins with `/..`.
        let inside =
            |path: &&Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        theirs.filter(inside).is_some_and(|below| {
            below
                .ancestors()
                .filter(is_theirs)
                .any(|group| bounds(&Path::new(mount.at).join(group).join(file)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 272;

    const TWO: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";

    const ONE: &str = "\
30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
31 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    /// Whether processes of these groups are bounded, where these files are there.
    fn with(mounts: &str, groups: &str, files: &[(&str, &str)]) -> bool {
        has(&PROCESSES, mounts, groups, files)
    }

    fn has(what: &Bounded, mounts: &str, groups: &str, files: &[(&str, &str)]) -> bool {
        let ours = "8:pids:/a/us\n4:memory,pids:/us\n0::/a/us\n";
        bounded(what, mounts, (groups, ours), MOST, |path| {
            let file = files.iter().find(|(at, _)| Path::new("/sys/fs/cgroup").join(at) == path);
            file.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_group_of_version_two_bounds() {
        let of = |text| with(TWO, "0::/docker/abc\n", &[("docker/abc/pids.max", text)]);
        assert!(of("272\n") && of("1\n"));
        for text in ["max\n", "273\n", "", "-1\n", "18446744073709551616\n"] {
            assert!(!of(text), "{text}");
        }
    }

    #[test]
    fn a_group_of_version_one_bounds() {
        let groups = "8:pids:/docker/abc\n4:memory:/other\n0::/\n";
        let of = |at| with(ONE, groups, &[(at, "272\n")]);
        assert!(of("pids/docker/abc/pids.max"));
        assert!(!of("pids/other/pids.max"), "that is where its memory is counted");
        assert!(!of("memory/docker/abc/pids.max") && !of("unified/docker/abc/pids.max"));
        assert!(!with(ONE, groups, &[("pids/docker/abc/pids.max", "max\n")]));
        // Controllers can be mounted together.
        let both = "31 23 0:27 / /sys/fs/cgroup/both rw - cgroup cgroup rw,memory,pids";
        let file = [("both/docker/abc/pids.max", "5\n")];
        assert!(with(both, "8:memory,pids:/docker/abc\n", &file));
    }

    #[test]
    fn memory_has_files_of_its_own() {
        let groups = "8:pids:/docker/abc\n4:memory:/other\n0::/\n";
        let one = |at, text| has(&MEMORY, ONE, groups, &[(at, text)]);
        assert!(one("memory/other/memory.limit_in_bytes", "272\n"));
        assert!(!one("memory/other/memory.limit_in_bytes", "9223372036854771712\n"));
        assert!(!one("memory/docker/abc/memory.limit_in_bytes", "272\n"));
        assert!(!one("memory/other/memory.max", "272\n"), "that is the other version's");
        let two = |at, text| has(&MEMORY, TWO, "0::/docker/abc\n", &[(at, text)]);
        assert!(two("docker/abc/memory.max", "272\n") && two("docker/memory.max", "1\n"));
        assert!(!two("docker/abc/memory.max", "max\n") && !two("docker/abc/pids.max", "1\n"));
    }

    /// The case that this is for: control groups are there, and that controller is not.
    #[test]
    fn without_the_file_nothing_is_bounded() {
        assert!(!with(TWO, "0::/docker/abc\n", &[]));
        assert!(!with(ONE, "8:pids:/docker/abc\n0::/docker/abc\n", &[]));
        assert!(!with("", "0::/docker/abc\n", &[("docker/abc/pids.max", "5\n")]));
        assert!(!with(TWO, "", &[("pids.max", "5\n")]));
    }

    #[test]
    fn a_group_above_bounds_and_one_beside_or_below_does_not() {
        let of = |at| {
            let files = [("a/b/c/pids.max", "max\n"), (at, "272\n")];
            with(TWO, "0::/a/b/c\n", &files)
        };
        assert!(of("a/b/pids.max"));
        // A group above both of us is not theirs.
        assert!(!of("a/pids.max") && !of("pids.max"));
        assert!(!of("a/b/c/d/pids.max") && !of("a/other/pids.max") && !of("../pids.max"));
    }

    #[test]
    fn a_path_is_taken_as_far_as_it_is_mounted_here() {
        let mounts = "30 23 0:26 /docker/us /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let file = [("inner/pids.max", "5\n"), ("pids.max", "5\n")];
        assert!(with(mounts, "0::/docker/us/inner\n", &file));
        for elsewhere in ["0::/docker/them\n", "0::/../inner\n", "0::/docker/us/../inner\n"] {
            assert!(!with(mounts, elsewhere, &file), "{elsewhere}");
        }
        assert!(!with(TWO, "0::/../inner\n", &file));
    }

    #[test]
    fn a_process_that_is_gone_is_not_bounded() {
        assert_eq!(Bounds::of(u32::MAX, u64::MAX, u64::MAX), Bounds::NONE);
    }
}
