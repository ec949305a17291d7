//! Changes what is not its own: by writing, and by links, names, modes, times and attributes.

use super::{
    Attack,
    Control::OwnNamespaces,
    Evidence::{File, Printed},
    Language::{JavaScript, Python, Shell},
};
use crate::backends::{FIREJAIL, LANDLOCK};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(3, "overwrites_a_file", Python, File, "open('@FILE@', 'w').write('theirs')"),
    Attack::new(
        3,
        "makes_a_file_outside",
        JavaScript,
        File,
        "try { require('fs').writeFileSync('@NEW@', 'theirs') } catch {}",
    ),
    Attack::new(
        3,
        "adds_to_a_file",
        JavaScript,
        File,
        "try { require('fs').appendFileSync('@FILE@', 'theirs') } catch {}",
    ),
    Attack::new(3, "makes_a_folder_outside", Shell, File, "mkdir @NEW@"),
    Attack::new(3, "removes_a_file", Shell, File, "rm -f @FILE@"),
    Attack::new(3, "renames_a_file", Shell, File, "mv @FILE@ @NEW@"),
    Attack::new(
        3,
        "renames_over_a_file",
        Shell,
        File,
        "echo theirs >$TMPDIR/@NAME@; mv -f $TMPDIR/@NAME@ @FILE@",
    ),
    Attack::new(3, "empties_a_file", Python, File, "os.truncate('@FILE@', 0)"),
    Attack::new(
        3,
        "opens_a_file_to_empty_it",
        Python,
        File,
        "os.open('@FILE@', os.O_RDONLY | os.O_TRUNC)",
    ),
    Attack::new(
        3,
        "links_into_a_folder_outside",
        Shell,
        File,
        "echo x >$TMPDIR/@NAME@; ln $TMPDIR/@NAME@ @NEW@ || ln -s $TMPDIR/@NAME@ @NEW@",
    ),
    Attack::new(
        3,
        "writes_by_a_hard_link",
        Shell,
        File,
        "ln @FILE@ $TMPDIR/@NAME@ && echo theirs >$TMPDIR/@NAME@",
    ),
    Attack::new(
        3,
        "writes_by_a_link_of_its_own",
        Shell,
        File,
        "ln -s @FILE@ $TMPDIR/@NAME@; echo theirs >$TMPDIR/@NAME@",
    ),
    Attack::new(3, "writes_by_a_link_of_the_folder", Shell, File, "echo theirs >@LINK@"),
    Attack::new(
        3,
        "writes_by_proc",
        Shell,
        File,
        "for at in /proc/self/root /proc/self/cwd/../../../../.. /proc/$PPID/root; do echo theirs >$at@FILE@; done",
    ),
    Attack::new(3, "changes_a_mode_outside", Shell, File, "chmod 777 @FILE@")
        .through(&[FIREJAIL, LANDLOCK]),
    Attack::new(3, "changes_times_outside", Python, File, "os.utime('@FILE@', (1, 1))")
        .through(&[FIREJAIL, LANDLOCK]),
    Attack::new(
        3,
        "changes_attributes_outside",
        Python,
        File,
        "os.setxattr('@FILE@', 'user.theirs', b'x')",
    )
    .through(&[FIREJAIL, LANDLOCK]),
    Attack::new(
        3,
        "writes_to_the_system",
        Python,
        Printed,
        r"
for path in ('/usr/bin/evil', '/etc/evil', '/evil', '/bin/evil', '/lib/evil', '/opt/evil', '/run/evil', '/run/interpreter/evil', '/run/interpreter/lower/evil', '/dev/evil', '/var/evil', '/home/evil', '/sys/evil'):
    try:
        open(path, 'w').write('x')
        print('ESCAPED', path)
    except OSError:
        pass
for path in ('/run/interpreter/host', '/run/interpreter/driver.py', '/proc/1/exe', '/proc/self/exe', '/etc/passwd'):
    try:
        open(path, 'r+b').write(b'x')
        print('ESCAPED', path)
    except OSError:
        pass
    try:
        os.chmod(path, 0o777)
        print('ESCAPED chmod', path)
    except OSError:
        pass
",
    )
    .control(OwnNamespaces),
    Attack::new(
        3,
        "writes_past_the_overlay",
        Python,
        Printed,
        r"
import glob
for path in glob.glob('/run/interpreter/*') + glob.glob('/run/interpreter/set/*'):
    try:
        open(os.path.join(path, 'marker'), 'w').write('x')
        print('ESCAPED', path)
    except OSError:
        pass
",
    )
    .control(OwnNamespaces),
];
