//! Rights that code was not given: capabilities, other users, devices.

use super::{
    Attack,
    Control::Root,
    Evidence::Printed,
    Language::{Python, Shell},
    Need::{Path, SetuidProgram},
};
use crate::backends::LANDLOCK;

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        6,
        "has_capabilities",
        Shell,
        Printed,
        r"
grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED
grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED
grep -q 'Seccomp:.2' /proc/self/status || echo ESCAPED
[ $(id -u) = 0 ] && echo ESCAPED root
",
    )
    .through(&[LANDLOCK]),
    Attack::new(
        6,
        "runs_a_setuid_program",
        Shell,
        Printed,
        "[ \"$(@SETUID@ -u)\" = 0 ] && echo ESCAPED",
    )
    .needs(SetuidProgram),
    Attack::new(
        6,
        "becomes_root",
        Python,
        Printed,
        "for act in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0), lambda: os.setgroups([0])):\n\
         \x20 try: act(); print('ESCAPED')\n\
         \x20 except OSError: pass",
    )
    .control(Root),
    Attack::new(
        6,
        "makes_setuid_files",
        Python,
        Printed,
        r"
os.chdir(os.environ['TMPDIR'])
open('plain', 'w').close()
for number, arguments in ((90, (b'plain', 0o4755)), (90, (b'plain', 0o2755)), (268, (-100, b'plain', 0o6755)), (452, (-100, b'plain', 0o4755, 0)),
                          (85, (b'new', 0o4755)), (2, (b'new', 0o101, 0o4755)), (257, (-100, b'new', 0o101, 0o4755)), (257, (-100, b'.', 0o20200002, 0o4755)), (2, (b'.', 0o20200002, 0o6755)), (133, (b'new', 0o104755, 0)), (259, (-100, b'new', 0o104755, 0)), (437, (-100, b'new', 0, 24))):
    refused(number, *arguments)
fd = os.open('plain', os.O_RDWR)
refused(91, fd, 0o4755)
for name in os.listdir('.'):
    if os.stat(name).st_mode & 0o6000:
        print('ESCAPED', name)
os.chdir('@WORK@')
",
    ),
    Attack::new(
        6,
        "makes_device_nodes",
        Python,
        Printed,
        r"
import stat
for place in (os.environ['TMPDIR'] + '/sda', 'sda', '/dev/shm/@NAME@'):
    for kind, number in ((stat.S_IFBLK, (8, 0)), (stat.S_IFCHR, (1, 1))):
        try:
            os.mknod(place, 0o666 | kind, os.makedev(*number))
            os.remove(place)
            print('ESCAPED')
        except OSError:
            pass
",
    )
    .control(Root),
    Attack::new(
        6,
        "opens_devices",
        Python,
        Printed,
        r"
for name in ('mem', 'kmsg', 'sda', 'vda', 'nvme0n1', 'fuse', 'kvm', 'loop-control', 'net/tun', 'vhost-net', 'uinput', 'hpet', 'rtc0'):
    try:
        os.close(os.open('/dev/' + name, os.O_RDONLY | os.O_NONBLOCK))
        print('ESCAPED', name)
    except OSError:
        pass
",
    )
    .control(Root)
    .needs(Path("/dev/kmsg")),
];
