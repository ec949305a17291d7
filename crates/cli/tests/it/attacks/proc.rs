//! The kernel's view of other processes and of itself.

use super::{
    Attack,
    Control::{OwnNamespaces, Root},
    Evidence::{Canary, Printed},
    Language::{JavaScript, Python, Shell},
    Need::Path,
};
use crate::backends::LANDLOCK;

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        4,
        "reads_the_hosts_memory",
        Python,
        Printed,
        r"
for pid in (1, os.getppid(), @VICTIM@):
    for name in ('mem', 'environ', 'maps', 'syscall', 'stack', 'auxv'):
        try:
            data = open(f'/proc/{pid}/{name}', 'rb').read(64)
            if data:
                print('ESCAPED', name)
        except OSError:
            pass
",
    ),
    Attack::new(
        4,
        "writes_the_hosts_memory",
        Python,
        Printed,
        "for pid in (1, os.getppid(), @VICTIM@):\n\
         \x20 try: open(f'/proc/{pid}/mem', 'r+b'); print('ESCAPED', pid)\n\
         \x20 except OSError: pass",
    ),
    Attack::new(
        4,
        "reads_a_command_line",
        Shell,
        Canary,
        "cat /proc/@VICTIM@/cmdline; cat /proc/[0-9]*/cmdline | tr '\\0' ' '",
    )
    .through_for_all(&[LANDLOCK]),
    Attack::new(
        5,
        "reads_the_environment",
        Shell,
        Canary,
        "env; cat /proc/@VICTIM@/environ; cat /proc/[0-9]*/environ | tr '\\0' ' '",
    ),
    Attack::new(
        5,
        "reads_the_environment_with_javascript",
        JavaScript,
        Canary,
        "try { console.log(require('fs').readFileSync('/proc/@VICTIM@/environ', 'utf8')) } catch {}",
    ),
    Attack::new(
        2,
        "enters_a_folder_by_a_process",
        Shell,
        Canary,
        "cat /proc/@VICTIM@/root@SECRET@; (cd /proc/@VICTIM@/cwd && cat ..@SECRET@)",
    ),
    Attack::new(
        6,
        "changes_settings_of_the_kernel",
        Shell,
        Printed,
        "for name in kernel/core_pattern vm/overcommit_memory net/ipv4/ip_forward; do
  echo 1 >/proc/sys/$name && echo ESCAPED $name
done
echo h >/proc/sysrq-trigger && echo ESCAPED",
    )
    .control(OwnNamespaces),
    Attack::new(
        6,
        "reads_the_kernels_log",
        Python,
        Printed,
        "buffer = ctypes.create_string_buffer(4096)\n\
         if libc.syscall(103, 3, buffer, 4096) > 0: print('ESCAPED')\n\
         for path in ('/dev/kmsg', '/proc/kmsg'):\n\
         \x20 try: print('ESCAPED', os.open(path, os.O_RDONLY | os.O_NONBLOCK))\n\
         \x20 except OSError: pass",
    )
    .control(Root)
    .needs(Path("/dev/kmsg")),
    Attack::new(
        6,
        "reads_the_kernels_memory",
        Python,
        Printed,
        "for path in ('/proc/kcore', '/dev/mem', '/dev/port', '/dev/kmem'):\n\
         \x20 try: print('ESCAPED', len(open(path, 'rb', 0).read(1)))\n\
         \x20 except OSError: pass",
    )
    .control(Root)
    .needs(Path("/proc/kcore")),
];
