//! The extended attributes of the person's files: where they came from, who else may read them.
//!
//! A replaced file keeps the attributes that the person gave it; those that a program sets are
//! dropped. `user.*` and the access list are carried over, as far as the file system supports them.
//! The overlay's own marks never are, because they would mean something to the next overlay, nor
//! `security.*` or `trusted.*`, which grant rights.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
use std::fs::File;

/// Bytes of names, and of one value, that the kernel allows.
const LARGEST: usize = 64 * 1024;

/// Copies the attributes of `from` to `to`. An attribute that cannot be set is left out: the
/// content matters more.
pub(crate) fn carry(from: &File, to: &File) {
    let mut names = vec![0; LARGEST];
    let Ok(length) = flistxattr(from, &mut names[..]) else { return };
    let mut value = Vec::new();
    for name in names[..length].split(|&byte| byte == 0).filter(|name| is_carried(name)) {
        value.resize(LARGEST, 0);
        if let Ok(length) = fgetxattr(from, name, &mut value[..]) {
            fsetxattr(to, name, &value[..length], XattrFlags::empty()).ok();
        }
    }
}

fn is_carried(name: &[u8]) -> bool {
    (name.starts_with(b"user.") && !name.starts_with(b"user.overlay."))
        || name == b"system.posix_acl_access"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conflict, scene::Scene};
    use fs_err as fs;
    use rustix::fs::{getxattr, setxattr};

    fn has(path: &std::path::Path, name: &str) -> bool {
        getxattr(path, name, &mut [0_u8; 64]).is_ok()
    }

    #[test]
    fn marks_of_the_overlay_and_of_the_system_are_not_carried() {
        for name in
            ["user.overlay.opaque", "user.overlay.origin", "security.capability", "trusted.x"]
        {
            assert!(!is_carried(name.as_bytes()), "{name}");
        }
        assert!(is_carried(b"user.xdg.origin.url"));
    }

    #[test]
    fn the_persons_attributes_stay_and_the_programs_do_not_come() {
        let mut scene = Scene::new_with(|work| {
            fs::write(work.join("a"), "1").unwrap();
            setxattr(work.join("a"), "user.mine", b"m", XattrFlags::empty()).unwrap();
        });
        scene.writes("a", "2").writes("new", "2");
        for name in ["a", "new"] {
            let path = scene.set.upper().join(name);
            setxattr(&path, "user.theirs", b"t", XattrFlags::empty()).unwrap();
            setxattr(&path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
        }
        scene.apply();
        let (a, new) = (scene.work.join("a"), scene.work.join("new"));
        assert!(has(&a, "user.mine"));
        for path in [&a, &new] {
            assert!(!has(path, "user.theirs") && !has(path, "user.overlay.opaque"));
        }
        scene.set.undo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "1");
        assert!(has(&a, "user.mine"));
        scene.set.redo(Conflict::Refuse).unwrap();
        assert_eq!(scene.reads("a"), "2");
        assert!(has(&a, "user.mine"));
    }
}
