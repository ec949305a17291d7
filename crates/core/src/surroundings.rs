//! Obstacles to a sandbox on a machine, recognised from system files.
//!
//! Only building a sandbox shows whether it works. This explains the failure and gives a one-line
//! fix; unknown causes are not guessed.
//!
//! Must not read anything: observations come in as text.

pub use modules::{SecurityModule, apparmor_profile, security_modules};
use serde::Serialize;

mod modules;

/// Observations. A missing file is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// `/proc/sys/kernel/osrelease`.
    pub release: String,
    /// `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`.
    pub apparmor_restricts: Option<String>,
    /// `/sys/module/apparmor/parameters/enabled`.
    pub apparmor_enabled: Option<String>,
    /// `/proc/self/attr/apparmor/current`.
    pub apparmor_label: Option<String>,
    /// `/etc/apparmor.d/interpreter`.
    pub apparmor_profile: Option<String>,
    /// `/sys/fs/selinux/enforce`.
    pub selinux_enforces: Option<String>,
    /// `/proc/self/attr/current`.
    pub label: Option<String>,
    /// `/proc/sys/kernel/unprivileged_userns_clone`.
    pub clone_allowed: Option<String>,
    /// `/proc/sys/user/max_user_namespaces`.
    pub most_namespaces: Option<String>,
    /// `/proc/self/status`.
    pub status: String,
    /// Whether there is `/.dockerenv`.
    pub docker: bool,
    /// Whether there is `/run/.containerenv`.
    pub podman: bool,
    /// `/sys/kernel/security/lsm`.
    pub modules: Option<String>,
    /// The version of Landlock that the kernel answers with.
    pub landlock: Option<u32>,
    /// Whether this is root.
    pub root: bool,
}

/// The consequence of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The native sandbox cannot be built.
    Prevents,
    /// Something that would protect besides is not there.
    Weakens,
}

/// Something in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// Stable name of the obstacle.
    pub name: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// The observation.
    pub seen: String,
    /// The fix, in one line.
    pub fix: &'static str,
}

/// The first kernel with everything that the native sandbox uses.
const KERNEL: (u32, u32) = (5, 19);

/// The first kernel with Landlock.
const LANDLOCK: (u32, u32) = (5, 13);

/// Everything that is recognised.
pub fn obstacles(seen: &Seen) -> Vec<Obstacle> {
    let all = [first_wsl(seen), old_kernel(seen), no_landlock(seen)];
    let modules = [modules::apparmor(seen), modules::selinux(seen)];
    let switches = [clone_refused(seen), none_left(seen)];
    let containers = [docker(seen), podman(seen)];
    all.into_iter().chain(containers).chain(modules).chain(switches).flatten().collect()
}

fn prevents(name: &'static str, seen: String, fix: &'static str) -> Obstacle {
    Obstacle { name, weight: Weight::Prevents, seen, fix }
}

/// The version of a kernel, of what it calls itself.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The first Windows Subsystem for Linux has no Linux kernel; the second has one.
fn first_wsl(seen: &Seen) -> Option<Obstacle> {
    let release = seen.release.trim();
    let is_first = release.ends_with("-Microsoft");
    is_first.then(|| {
        let what = format!("{release} is WSL 1, which has no Linux kernel");
        prevents("wsl1", what, "in PowerShell: `wsl --set-version DISTRIBUTION 2`")
    })
}

fn old_kernel(seen: &Seen) -> Option<Obstacle> {
    let release = seen.release.trim();
    let is_old = version(release)? < KERNEL;
    let is_wsl = release.to_ascii_lowercase().contains("microsoft");
    let fix = if is_wsl {
        "in PowerShell: `wsl --update`"
    } else {
        "boot a kernel of 5.19 or later; `--sandbox landlock` needs 6.2, `--workspace read-only` less"
    };
    let what = format!("Linux {release} is older than 5.19, which has all that is used");
    (is_old && !release.ends_with("-Microsoft")).then(|| prevents("old_kernel", what, fix))
}

fn no_landlock(seen: &Seen) -> Option<Obstacle> {
    let has_it = seen.landlock.is_some() || version(&seen.release)? < LANDLOCK;
    let modules = seen.modules.as_deref().map(str::trim).unwrap_or_default();
    (!has_it).then(|| Obstacle {
        name: "no_landlock",
        weight: Weight::Weakens,
        seen: format!("the kernel has no Landlock among its modules ({modules})"),
        fix: "put `landlock` into `lsm=` on the kernel's command line, or `CONFIG_LSM`",
    })
}

/// Whether a filter of system calls is in force around us: it is not ours.
fn is_filtered(seen: &Seen) -> bool {
    seen.status
        .lines()
        .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"))
}

fn docker(seen: &Seen) -> Option<Obstacle> {
    (seen.docker && is_filtered(seen)).then(|| {
        prevents(
            "docker",
            "this is a Docker container, whose filter refuses namespaces".into(),
            "start it with `docker run --security-opt seccomp=unconfined --security-opt \
             apparmor=unconfined --security-opt systempaths=unconfined`, or use `--sandbox landlock`",
        )
    })
}

fn podman(seen: &Seen) -> Option<Obstacle> {
    seen.podman.then(|| {
        prevents(
            "podman",
            "this is a Podman container, where parts of /proc are covered".into(),
            "start it with `podman run --security-opt unmask=ALL --security-opt seccomp=unconfined`, \
             or use `--sandbox landlock`",
        )
    })
}

/// Debian's own switch.
fn clone_refused(seen: &Seen) -> Option<Obstacle> {
    let is_off = seen.clone_allowed.as_deref().map(str::trim) == Some("0");
    (is_off && !seen.root).then(|| {
        prevents(
            "userns_clone",
            "user namespaces are switched off for ordinary users".into(),
            "`sudo sysctl -w kernel.unprivileged_userns_clone=1`",
        )
    })
}

fn none_left(seen: &Seen) -> Option<Obstacle> {
    let is_none = seen.most_namespaces.as_deref().map(str::trim) == Some("0");
    is_none.then(|| {
        prevents(
            "max_user_namespaces",
            "no user namespace is allowed at all".into(),
            "`sudo sysctl -w user.max_user_namespaces=10000`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on an ordinary machine: Debian 12 with a newer kernel.
    fn debian() -> Seen {
        Seen {
            release: "6.12.9-amd64\n".into(),
            most_namespaces: Some("96220\n".into()),
            clone_allowed: Some("1\n".into()),
            status: "Name:\tcat\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n".into(),
            modules: Some(
                "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf,ipe,ima,evm".into(),
            ),
            landlock: Some(6),
            ..Seen::default()
        }
    }

    fn names(seen: &Seen) -> Vec<&'static str> {
        obstacles(seen).iter().map(|obstacle| obstacle.name).collect()
    }

    #[test]
    fn an_ordinary_machine_has_nothing_in_the_way() {
        assert_eq!(obstacles(&debian()), []);
    }

    #[test]
    fn ubuntu_restricts_ordinary_users_and_not_root() {
        let ubuntu = Seen {
            release: "6.8.0-51-generic\n".into(),
            apparmor_restricts: Some("1\n".into()),
            clone_allowed: Some("1\n".into()),
            ..debian()
        };
        assert_eq!(names(&ubuntu), ["apparmor"]);
        assert_eq!(names(&Seen { root: true, ..ubuntu.clone() }), Vec::<&str>::new());
        let lifted = Seen { apparmor_restricts: Some("0\n".into()), ..ubuntu };
        assert_eq!(names(&lifted), Vec::<&str>::new());
    }

    #[test]
    fn containers_are_recognised_by_their_marks() {
        let status = "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n".to_owned();
        let docker = Seen { docker: true, root: true, status, ..debian() };
        assert_eq!(names(&docker), ["docker"]);
        assert!(obstacles(&docker)[0].fix.contains("--sandbox landlock"));
        // Without its filter it is in nobody's way.
        let open = Seen { status: "Seccomp:\t0\n".into(), ..docker };
        assert_eq!(names(&open), Vec::<&str>::new());
        assert_eq!(names(&Seen { podman: true, ..debian() }), ["podman"]);
    }

    #[test]
    fn the_two_kinds_of_wsl_are_told_apart() {
        let wsl = |release: &str| Seen { release: release.into(), landlock: None, ..debian() };
        assert_eq!(names(&wsl("4.4.0-19041-Microsoft\n")), ["wsl1"]);
        let second = wsl("5.15.90.1-microsoft-standard-WSL2\n");
        assert_eq!(names(&second), ["old_kernel", "no_landlock"]);
        assert!(obstacles(&second)[0].fix.contains("wsl --update"));
        let newer = wsl("6.6.87.2-microsoft-standard-WSL2\n");
        assert_eq!(names(&newer), ["no_landlock"]);
    }

    #[test]
    fn old_kernels_and_switches_are_named() {
        let old = Seen { release: "4.18.0-553.el8_10.x86_64\n".into(), landlock: None, ..debian() };
        assert_eq!(names(&old), ["old_kernel"]);
        let off = Seen { clone_allowed: Some("0\n".into()), ..debian() };
        assert_eq!(names(&off), ["userns_clone"]);
        let none = Seen { most_namespaces: Some("0\n".into()), root: true, ..debian() };
        assert_eq!(names(&none), ["max_user_namespaces"]);
    }

    #[test]
    fn what_says_nothing_is_no_obstacle() {
        assert_eq!(
            names(&Seen { release: "strange".into(), ..Seen::default() }),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn a_fix_is_one_line() {
        let all = Seen {
            release: "5.0.0".into(),
            apparmor_restricts: Some("1".into()),
            clone_allowed: Some("0".into()),
            most_namespaces: Some("0".into()),
            status: "Seccomp:\t2".into(),
            docker: true,
            podman: true,
            selinux_enforces: Some("1".into()),
            label: Some("user_u:user_r:user_t:s0".into()),
            ..Seen::default()
        };
        let found = obstacles(&all);
        assert!(found.len() >= 7 && found.iter().all(|one| !one.fix.contains('\n')));
    }
}
