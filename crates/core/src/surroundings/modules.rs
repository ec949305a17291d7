//! The state of AppArmor and SELinux, and whether they keep this program from its sandbox.
//!
//! Must not read anything: observations come in as text. Whether a sandbox can be built is known by
//! then, so nothing that works is called an obstacle.

use super::{Obstacle, Seen, prevents};
use crate::untrusted::is_plain;
use serde::Serialize;

/// One of the kernel's security modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecurityModule {
    /// `apparmor` or `selinux`.
    pub name: &'static str,
    /// Its state, in one line. May quote a label of the system.
    pub state: String,
    /// Whether it keeps the native sandbox from being built.
    pub in_the_way: bool,
}

/// The state of both. `is_built` is whether the native sandbox could be built.
pub fn security_modules(seen: &Seen, is_built: bool) -> [SecurityModule; 2] {
    let (name, state) = ("apparmor", apparmor_state(seen));
    let apparmor =
        SecurityModule { name, state, in_the_way: apparmor(seen).is_some() && !is_built };
    let (name, state) = ("selinux", selinux_state(seen));
    let selinux = SecurityModule { name, state, in_the_way: selinux(seen).is_some() && !is_built };
    [apparmor, selinux]
}

/// The name of the profile in `packaging/apparmor`.
const PROFILE: &str = "interpreter";

/// The text of the profile, for `/usr/bin/interpreter`.
const PROFILE_TEXT: &str = include_str!("../../../../packaging/apparmor/interpreter");

/// The profile for a program at `path`, or `None` if a profile cannot name that path plainly.
pub fn apparmor_profile(path: &str) -> Option<String> {
    let is_literal = |c: char| is_plain(c) && !"\"\\*?[]{}^@,#".contains(c);
    let fits = path.starts_with('/') && path.chars().all(is_literal);
    fits.then(|| PROFILE_TEXT.replace(" /usr/bin/interpreter ", &format!(" \"{path}\" ")))
}

/// The value of a switch of the kernel.
fn is(value: Option<&str>, wanted: &str) -> bool {
    value.map(str::trim) == Some(wanted)
}

/// The profile that confines this process: `docker-default (enforce)` without its mode.
fn profile(seen: &Seen) -> Option<&str> {
    let label = seen.apparmor_label.as_deref()?.trim_matches(['\n', '\0', ' ']);
    let name = label.rsplit_once(" (").map_or(label, |(name, _)| name);
    (!name.is_empty() && name != "unconfined").then_some(name)
}

fn restricts(seen: &Seen) -> bool {
    is(seen.apparmor_restricts.as_deref(), "1")
}

fn apparmor_state(seen: &Seen) -> String {
    if !is(seen.apparmor_enabled.as_deref(), "Y") {
        return "off".into();
    }
    let confined = match profile(seen) {
        Some(PROFILE) => "on; the profile of this program is loaded".into(),
        Some(name) => format!("on; the profile `{name}` confines this program"),
        None => "on; no profile confines this program".to_owned(),
    };
    let restriction = match (restricts(seen), profile(seen)) {
        (false, _) => "user namespaces are not restricted",
        (true, Some(PROFILE)) => "it exempts this program from the restriction of user namespaces",
        (true, _) if seen.root => "user namespaces are restricted, but not for root",
        (true, _) => "user namespaces of ordinary users are restricted",
    };
    format!("{confined}, and {restriction}")
}

/// Ubuntu 23.10 and later: a user namespace can be made, and gives nothing.
pub(super) fn apparmor(seen: &Seen) -> Option<Obstacle> {
    let fix = match (seen.apparmor_profile.is_some(), profile(seen)) {
        (_, Some(PROFILE)) => return None,
        (false, _) => {
            "`interpreter doctor --apparmor-profile | sudo tee /etc/apparmor.d/interpreter`, then \
             `sudo apparmor_parser -r /etc/apparmor.d/interpreter`, allow it for this program alone"
        }
        (true, _) => {
            "`sudo apparmor_parser -r /etc/apparmor.d/interpreter` loads the profile; if it names \
             another path, `interpreter doctor --apparmor-profile` prints the right one"
        }
    };
    (restricts(seen) && !seen.root).then(|| {
        let what =
            "AppArmor takes all rights from user namespaces of ordinary users (as Ubuntu 24.04 does)";
        prevents("apparmor", what.into(), fix)
    })
}

/// The type of a label such as `staff_u:staff_r:staff_t:s0`.
fn domain(seen: &Seen) -> Option<&str> {
    let label = seen.label.as_deref()?.trim_matches(['\n', '\0', ' ']);
    label.split(':').nth(2).filter(|domain| !domain.is_empty())
}

/// Whether SELinux lets a process of this type do what any user may.
fn is_unconfined(domain: &str) -> bool {
    domain.starts_with("unconfined")
}

fn selinux_state(seen: &Seen) -> String {
    let mode = match seen.selinux_enforces.as_deref().map(str::trim) {
        None => return "off".into(),
        Some("1") => "enforcing",
        Some(_) => "permissive",
    };
    match domain(seen) {
        Some(domain) if is_unconfined(domain) => format!("{mode}; this program is not confined"),
        Some(domain) => format!("{mode}; this program runs as `{domain}`"),
        None => mode.into(),
    }
}

/// A confined user of SELinux, whose policy may refuse user namespaces or mounts in them.
pub(super) fn selinux(seen: &Seen) -> Option<Obstacle> {
    let is_enforced = is(seen.selinux_enforces.as_deref(), "1");
    let domain = domain(seen).filter(|domain| is_enforced && !is_unconfined(domain))?;
    Some(prevents(
        "selinux",
        format!("SELinux confines this program as `{domain}`, and may refuse user namespaces"),
        "`sudo semodule -i interpreter.pp && sudo setsebool -P interpreter_userns on` allows them; \
         `sudo ausearch -m avc -c interpreter` shows what was refused",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on Ubuntu 24.04, for an ordinary user, without a profile.
    fn ubuntu() -> Seen {
        Seen {
            apparmor_enabled: Some("Y\n".into()),
            apparmor_restricts: Some("1\n".into()),
            apparmor_label: Some("unconfined\n".into()),
            ..Seen::default()
        }
    }

    /// As on Fedora, for a user who is confined.
    fn fedora() -> Seen {
        Seen {
            selinux_enforces: Some("1".into()),
            label: Some("staff_u:staff_r:staff_t:s0-s0:c0.c1023\0".into()),
            ..Seen::default()
        }
    }

    fn states(seen: &Seen, is_built: bool) -> [(String, bool); 2] {
        security_modules(seen, is_built).map(|one| (one.state, one.in_the_way))
    }

    #[test]
    fn a_machine_with_neither_says_so() {
        let none = [("off".into(), false), ("off".into(), false)];
        assert_eq!(states(&Seen::default(), false), none);
        let disabled = Seen { apparmor_enabled: Some("N\n".into()), ..Seen::default() };
        assert_eq!(states(&disabled, false), none);
    }

    #[test]
    fn the_restriction_is_in_the_way_only_if_nothing_was_built() {
        let state = "on; no profile confines this program, and user namespaces of ordinary users \
                     are restricted";
        assert_eq!(states(&ubuntu(), false)[0], (state.into(), true));
        assert_eq!(states(&ubuntu(), true)[0], (state.into(), false));
        let root = Seen { root: true, ..ubuntu() };
        assert_eq!(apparmor(&root), None);
        assert!(states(&root, false)[0].0.ends_with("restricted, but not for root"));
        let lifted = Seen { apparmor_restricts: Some("0\n".into()), ..ubuntu() };
        assert_eq!(apparmor(&lifted), None);
        assert!(states(&lifted, false)[0].0.ends_with("user namespaces are not restricted"));
    }

    #[test]
    fn the_profile_is_the_fix_and_ends_the_obstacle() {
        let fix = |seen: &Seen| apparmor(seen).unwrap().fix;
        assert!(fix(&ubuntu()).starts_with("`interpreter doctor --apparmor-profile"));
        let unloaded = Seen { apparmor_profile: Some(PROFILE_TEXT.into()), ..ubuntu() };
        assert!(fix(&unloaded).starts_with("`sudo apparmor_parser -r"));
        let label = Some("interpreter (unconfined)\n".into());
        let loaded = Seen { apparmor_label: label, ..unloaded };
        assert_eq!(apparmor(&loaded), None);
        let state = "on; the profile of this program is loaded, and it exempts this program from \
                     the restriction of user namespaces";
        assert_eq!(states(&loaded, false)[0], (state.into(), false));
        // Another program's profile does not.
        let other = Some("docker-default (enforce)\n".into());
        let other = Seen { apparmor_label: other, ..ubuntu() };
        assert!(apparmor(&other).is_some());
        assert!(states(&other, false)[0].0.contains("the profile `docker-default` confines"));
    }

    #[test]
    fn selinux_is_in_the_way_of_confined_users_alone() {
        let [_, (state, in_the_way)] = states(&fedora(), false);
        assert_eq!(
            (state.as_str(), in_the_way),
            ("enforcing; this program runs as `staff_t`", true)
        );
        assert!(!states(&fedora(), true)[1].1);
        assert!(selinux(&fedora()).unwrap().fix.contains("interpreter_userns"));
        let label = Some("unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023\0".into());
        let usual = Seen { label, ..fedora() };
        assert_eq!(
            states(&usual, false)[1],
            ("enforcing; this program is not confined".into(), false)
        );
        let permissive = Seen { selinux_enforces: Some("0".into()), ..fedora() };
        assert_eq!(
            states(&permissive, false)[1],
            ("permissive; this program runs as `staff_t`".into(), false)
        );
        // A label of AppArmor is no label of SELinux.
        let other = Seen { label: Some("unconfined\n".into()), ..fedora() };
        assert_eq!(states(&other, false)[1], ("enforcing".into(), false));
    }

    #[test]
    fn a_profile_names_its_program_or_is_none() {
        let profile = apparmor_profile("/home/ada/my tools/interpreter").unwrap();
        assert!(profile.contains("profile interpreter \"/home/ada/my tools/interpreter\" flags="));
        assert!(!profile.contains("/usr/bin/interpreter"));
        for path in ["interpreter", "/a\"b", "/a*", "/{a,b}", "/a\nb", "/@{HOME}/x", "/a\\b"] {
            assert_eq!(apparmor_profile(path), None, "{path}");
        }
    }
}
