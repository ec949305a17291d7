//! Speaks for the host, or changes what speaks for the person. Garbage where a driver speaks is in
//! `hostile.rs`: the session survives it.

use super::{
    Attack,
    Evidence::Printed,
    Language::{JavaScript, Python, Shell},
};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        4,
        "writes_into_the_hosts_stream",
        Python,
        Printed,
        "for pid in (1, os.getppid(), @VICTIM@):\n\
         \x20 for number in (0, 1, 2):\n\
         \x20   try: os.close(os.open(f'/proc/{pid}/fd/{number}', os.O_WRONLY | os.O_NONBLOCK)); print('ESCAPED')\n\
         \x20   except OSError: pass",
    ),
    Attack::new(
        4,
        "takes_the_hosts_stream",
        Python,
        Printed,
        "for pid in (os.getppid(), @VICTIM@):\n\
         \x20 try: refused(438, os.pidfd_open(pid), 1, 0)\n\
         \x20 except OSError: pass",
    ),
    Attack::new(
        3,
        "changes_its_own_driver",
        Python,
        Printed,
        "import sys\nfor path in open('/proc/self/cmdline').read().split('\\0') + ['/run/interpreter/driver.py', '/run/interpreter/host']:\n\
         \x20 if path.startswith('/') and not path.startswith('/usr'):\n\
         \x20   try: os.chmod(path, 0o644); os.close(os.open(path, os.O_WRONLY)); print('ESCAPED', path)\n\
         \x20   except OSError: pass",
    ),
    Attack::new(
        12,
        "changes_the_record",
        JavaScript,
        Printed,
        "try { require('fs').closeSync(require('fs').openSync('@HOME@/.local/share/interpreter/record.db', 'r+')); console.log('ESCAPED') } catch {}",
    ),
    Attack::new(
        9,
        "grants_itself_a_rule",
        Shell,
        Printed,
        "printf '[[rule]]\\ndecision = \"allow\"\\n' >>@HOME@/.config/interpreter/config.toml && echo ESCAPED; sed -i '/rule/,$d' @HOME@/.config/interpreter/config.toml",
    ),
];
