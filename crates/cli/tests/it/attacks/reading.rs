//! Reads what it is not shown.

use super::{
    Attack,
    Control::Root,
    Evidence::{Canary, Printed},
    Language::{JavaScript, Python, Shell},
    Need::Path,
};
use crate::backends::{FIREJAIL, LANDLOCK};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(2, "reads_a_key", Python, Canary, "print(open('@SECRET@').read())"),
    Attack::new(
        2,
        "reads_a_key_with_javascript",
        JavaScript,
        Canary,
        "try { console.log(require('fs').readFileSync('@SECRET@', 'utf8')) } catch {}",
    ),
    Attack::new(
        2,
        "reads_the_home",
        Shell,
        Canary,
        "cat @SECRET@; find @HOME@ -type f -size -2 -exec cat {} +",
    ),
    Attack::new(
        2,
        "has_the_shell_read_it",
        Shell,
        Canary,
        "while read -r x; do echo $x; done <@SECRET@",
    ),
    Attack::new(
        2,
        "reads_by_a_link",
        Shell,
        Canary,
        "ln -s @SECRET@ $TMPDIR/@NAME@; cat $TMPDIR/@NAME@",
    ),
    Attack::new(
        2,
        "reads_by_a_hard_link",
        Shell,
        Canary,
        "ln @SECRET@ $TMPDIR/@NAME@; cat $TMPDIR/@NAME@",
    ),
    Attack::new(
        2,
        "moves_a_secret_in",
        Shell,
        Canary,
        "mv @SECRET@ $TMPDIR/@NAME@; cat $TMPDIR/@NAME@",
    ),
    Attack::new(
        2,
        "exchanges_a_secret",
        Python,
        Canary,
        "own = os.path.join(os.environ['TMPDIR'], '@NAME@'); open(own, 'w').write('x')\n\
         libc.renameat2(-100, own.encode(), -100, b'@SECRET@', 2); print(open(own).read())",
    ),
    Attack::new(
        2,
        "climbs_above_the_root",
        Python,
        Canary,
        "top = os.open('/', os.O_RDONLY)\n\
         for up in ('.', '..', '../' * 40):\n\
         \x20 try: print(os.read(os.open(up + '@SECRET@', os.O_RDONLY, dir_fd=top), 99))\n\
         \x20 except OSError: pass",
    ),
    Attack::new(
        2,
        "climbs_out_by_proc",
        Shell,
        Canary,
        "for at in /proc/*/root /proc/*/cwd /proc/self/fd/* /proc/*/task/*/root; do
  for path in $at/@SECRET@ $at/..@SECRET@ $at/old@SECRET@; do cat $path; done
done
cat /old@SECRET@ /run/interpreter/*@SECRET@",
    ),
    Attack::new(
        2,
        "maps_a_secret",
        Python,
        Canary,
        "import mmap; f = open('@SECRET@'); print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:])",
    ),
    Attack::new(
        2,
        "has_another_program_read_it",
        JavaScript,
        Canary,
        "try { console.log(require('child_process').execSync('dd if=@SECRET@ 2>/dev/null').toString()) } catch {}",
    ),
    Attack::new(
        2,
        "learns_a_name",
        Python,
        Printed,
        "print('ESCAPED', os.stat('@SECRET@').st_size)",
    )
    .through(&[FIREJAIL, LANDLOCK]),
    Attack::new(
        2,
        "reads_our_own_record",
        Shell,
        Printed,
        "cat @HOME@/.local/share/interpreter/record.db | grep -aq 'SQLite format' && echo ESCAPED",
    ),
    Attack::new(
        2,
        "reads_shadow",
        Python,
        Printed,
        "for path in ('/etc/shadow', '/etc/gshadow', '/etc/sudoers'):\n\
         \x20 try: print('ESCAPED', bool(open(path).read(20)))\n\
         \x20 except OSError: pass",
    )
    .control(Root)
    .needs(Path("/etc/shadow")),
];
