//! New namespaces, other namespaces, mounts, another name and another time.

use super::{
    Attack,
    Control::OwnNamespaces,
    Evidence::Printed,
    Language::{JavaScript, Python, Shell},
};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        7,
        "new_user_namespace",
        Python,
        Printed,
        r"
import sys
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x80):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        refused(272, flag)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    child = libc.syscall(56, flag | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child > 0:
        print('ESCAPED', flag)
        os.waitpid(child, 0)
refused(435, 0, 0)
",
    ),
    Attack::new(
        7,
        "makes_a_namespace_with_the_shell",
        Shell,
        Printed,
        "unshare --user --map-root-user true && echo ESCAPED",
    ),
    Attack::new(
        7,
        "makes_a_namespace_with_javascript",
        JavaScript,
        Printed,
        "try { require('child_process').execSync('unshare --user --mount true 2>&1'); console.log('ESCAPED') } catch {}",
    ),
    Attack::new(
        7,
        "joins_a_namespace",
        Python,
        Printed,
        "fd = os.open('/proc/self/ns/uts', os.O_RDONLY)\nrefused(308, fd, 0)",
    )
    .control(OwnNamespaces),
    Attack::new(
        7,
        "mounts_something",
        Python,
        Printed,
        r"
refused(165, b'none', b'/mnt', b'tmpfs', 0, 0)
refused(166, b'/mnt', 2)
refused(155, b'/mnt', b'/mnt')
refused(161, b'/')
refused(428, -100, b'/', 1)
refused(429, -1, b'', -100, b'/mnt', 4)
refused(430, b'tmpfs', 0)
refused(431, 0, 0, 0, 0, 0)
refused(432, 0, 0, 0)
refused(433, -100, b'/', 0)
refused(442, -100, b'/', 0, 0, 0)
refused(467, -100, b'/', 1, 0, 0)
",
    )
    .control(OwnNamespaces),
    Attack::new(
        7,
        "mounts_with_the_shell",
        Shell,
        Printed,
        "mount -t tmpfs none /mnt && echo ESCAPED && umount /mnt; mount -o remount,rw,bind / && echo ESCAPED",
    )
    .control(OwnNamespaces),
    Attack::new(
        7,
        "changes_the_hostname",
        Python,
        Printed,
        "refused(170, b'evil', 4)\nrefused(171, b'evil', 4)",
    )
    .control(OwnNamespaces),
    // Nothing is set: what says so is that the arguments were looked at.
    Attack::new(
        7,
        "changes_the_time",
        Python,
        Printed,
        "refused(164, 1, 0)\nrefused(227, 0, 0)",
    ),
];
