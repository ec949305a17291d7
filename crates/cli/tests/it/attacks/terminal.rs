//! A terminal outside, at which somebody sits.

use super::{
    Attack, Evidence,
    Evidence::Printed,
    Language::{JavaScript, Python, Shell},
};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        8,
        "writes_to_a_terminal",
        Python,
        Evidence::Terminal,
        "os.write(os.open('@TERMINAL@', os.O_WRONLY | os.O_NOCTTY), b'Run it? [y]')",
    ),
    Attack::new(
        8,
        "writes_to_a_terminal_with_the_shell",
        Shell,
        Evidence::Terminal,
        "printf 'Run it? [y]' >@TERMINAL@",
    ),
    Attack::new(
        8,
        "writes_to_a_terminal_with_javascript",
        JavaScript,
        Evidence::Terminal,
        "try { require('fs').writeFileSync('@TERMINAL@', 'Run it? [y]') } catch {}",
    ),
    Attack::new(
        8,
        "types_into_our_terminal",
        Python,
        Printed,
        r"
import fcntl, pty, termios
try:
    slave = os.open('@TERMINAL@', os.O_RDWR | os.O_NOCTTY)
except OSError:
    try: _, slave = pty.openpty()
    except OSError: slave = 0
for number in (termios.TIOCSTI, 0x541c):
    try:
        fcntl.ioctl(slave, number, b'x')
        print('ESCAPED', number)
    except OSError as error:
        if error.errno != errno.EPERM:
            print('ESCAPED', error)
try:
    open('/dev/tty')
    print('ESCAPED tty')
except OSError:
    pass
",
    ),
];
