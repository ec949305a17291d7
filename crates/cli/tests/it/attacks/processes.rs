//! Signals to processes outside and other ways to end, stop, take over or starve them.

use super::{
    Arena::Alone,
    Attack,
    Evidence::{End, Printed, Process},
    Language::{JavaScript, Python, Shell},
};
use crate::backends::{FIREJAIL, LANDLOCK};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(4, "kills_a_process", Python, Process, "os.kill(@VICTIM@, 9)"),
    Attack::new(4, "stops_a_process", Shell, Process, "kill -STOP @VICTIM@"),
    Attack::new(
        4,
        "kills_with_javascript",
        JavaScript,
        Process,
        "try { process.kill(@VICTIM@, 'SIGKILL') } catch {}",
    ),
    Attack::new(
        4,
        "signals_by_a_descriptor",
        Python,
        Process,
        "import signal; signal.pidfd_send_signal(os.pidfd_open(@VICTIM@), 9)",
    ),
    Attack::new(
        4,
        "queues_a_signal",
        Python,
        Process,
        "import struct\ninfo = ctypes.create_string_buffer(struct.pack('iiii', 9, 0, -1, 0) + bytes(112))\n\
         libc.syscall(129, @VICTIM@, 9, info)",
    ),
    Attack::new(
        4,
        "signals_a_thread",
        Python,
        Process,
        "libc.syscall(234, @VICTIM@, @VICTIM@, 9); libc.syscall(200, @VICTIM@, 9)",
    ),
    Attack::new(
        4,
        "has_the_kernel_signal",
        Python,
        Process,
        r"
import fcntl, socket
a, b = socket.socketpair()
fcntl.fcntl(a, fcntl.F_SETOWN, @VICTIM@)
fcntl.fcntl(a, 10, 9)
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
b.send(b'x')
",
    ),
    Attack::new(
        4,
        "takes_a_process_over",
        Python,
        Process,
        r"
child = os.fork()
if child == 0:
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    # With the tracer that it then has, it dies too.
    libc.ptrace(0x4206, @VICTIM@, 0, 0x100000)
    os._exit(0)
os.waitpid(child, 0)
",
    ),
    Attack::new(
        4,
        "starves_others",
        Python,
        Printed,
        r"
import struct
pid = @VICTIM@
buffer = ctypes.create_string_buffer(64)
limit = ctypes.create_string_buffer(struct.pack('QQ', 9, 9))
mask = ctypes.create_string_buffer(b'\x01' + b'\0' * 127)
for number, arguments in ((302, (pid, 7, limit, 0)), (203, (pid, 128, mask)), (144, (pid, 3, buffer)), (142, (pid, buffer)), (141, (0, pid, 19)), (251, (1, pid, 3 << 13))):
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *words) == 0:
        print('ESCAPED', number)
",
    ),
    Attack::new(
        4,
        "starves_the_host",
        Python,
        Printed,
        r"
host = os.getppid()
refused(203, host, 8, ctypes.create_string_buffer(8))
refused(144, host, 5, ctypes.create_string_buffer(8))
refused(142, host, ctypes.create_string_buffer(8))
refused(314, host, ctypes.create_string_buffer(64), 0)
refused(302, host, 2, ctypes.create_string_buffer(16), 0)
for which, who in ((0, host), (1, 0), (2, 0)):
    refused(141, which, who, 19)
for which, who in ((1, host), (2, 0), (3, 0)):
    refused(251, which, who, 3 << 13)
os.nice(1)
",
    )
    .arena(Alone),
    // Whoever ends the host ends with it. On a busy machine that takes a moment, in which the next
    // cell would still find its interpreter.
    Attack::new(
        4,
        "ends_the_host",
        Python,
        End,
        r"
import signal, sys, time
sys.stdout.flush()
for number in range(1, 32):
    if number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD):
        continue
    try:
        os.kill(os.getppid(), number)
    except OSError:
        pass
time.sleep(3)
",
    )
    .arena(Alone)
    .through_for_all(&[LANDLOCK, FIREJAIL]),
    Attack::new(4, "kills_the_host", Shell, End, "kill -9 $PPID; sleep 3")
        .arena(Alone)
        .through_for_all(&[LANDLOCK, FIREJAIL]),
];
