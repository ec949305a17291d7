//! Uses up what others need too. Each is small enough to do no harm where nothing bounds it.

use super::{
    Arena::Limits,
    Attack,
    Control::Plain,
    Evidence::{Flood, Printed},
    Language,
    Language::{JavaScript, Python, Shell},
};
use crate::backends::{BUBBLEWRAP, DOCKER, FIREJAIL, LANDLOCK, PODMAN};

/// The limits of these sessions.
pub(super) const SMALL: &str = "processes = 64\noutput = \"1M\"\nmemory = \"512M\"\nfile_size = \"2M\"\n\
                                open_files = 256\ntemporary = \"8M\"\n";

const fn attack(name: &'static str, language: Language, code: &'static str) -> Attack {
    Attack::new(11, name, language, Printed, code).arena(Limits)
}

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "forks",
        Python,
        r"
import signal
children = []
try:
    for _ in range(150):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
    print('ESCAPED')
except OSError:
    pass
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
",
    ),
    attack(
        "starts_many_programs",
        JavaScript,
        "const all = [];
try {
  for (let i = 0; i < 150; i++) {
    const child = require('child_process').spawn('sleep', ['1000'], { stdio: 'ignore' });
    child.on('error', () => {});
    all.push(child);
  }
} catch {}
if (all.length === 150 && all.every(child => child.pid)) console.log('ESCAPED');
for (const child of all) child.kill('SIGKILL')",
    ),
    attack(
        "starts_many_threads",
        Python,
        r"
import threading
go = threading.Event()
threads = []
try:
    for _ in range(150):
        thread = threading.Thread(target=go.wait)
        thread.start()
        threads.append(thread)
    print('ESCAPED')
except RuntimeError:
    pass
go.set()
for thread in threads:
    thread.join()
",
    ),
    attack(
        "takes_memory",
        Python,
        "try: x = bytearray(700 << 20); print('ESCAPED', len(x)); del x\nexcept MemoryError: pass",
    ),
    attack(
        "takes_memory_with_javascript",
        JavaScript,
        "try { console.log('ESCAPED', Buffer.alloc(700 * 2 ** 20).length) } catch {}",
    ),
    attack(
        "writes_a_large_file",
        Shell,
        "head -c 6M /dev/zero >$TMPDIR/@NAME@; [ $(stat -c %s $TMPDIR/@NAME@) -ge 6000000 ] && echo ESCAPED; rm -f $TMPDIR/@NAME@",
    ),
    attack(
        "fills_the_temporary_folder",
        Shell,
        "mkdir $TMPDIR/@NAME@; for i in {1..12}; do head -c 1500K /dev/zero >$TMPDIR/@NAME@/$i; done
[ $(du -s --apparent-size $TMPDIR/@NAME@ | cut -f1) -ge 17000 ] && echo ESCAPED; rm -rf $TMPDIR/@NAME@",
    )
    .through_for_all(&[FIREJAIL, LANDLOCK]),
    attack(
        "uses_up_the_inodes",
        Python,
        r"
import shutil
folder = os.path.join(os.environ['TMPDIR'], '@NAME@')
os.mkdir(folder)
try:
    for number in range(8000):
        os.close(os.open(f'{folder}/{number}', os.O_CREAT | os.O_WRONLY))
    print('ESCAPED')
except OSError:
    pass
shutil.rmtree(folder)
",
    )
    .through_for_all(&[BUBBLEWRAP, DOCKER, PODMAN, FIREJAIL, LANDLOCK]),
    attack(
        "opens_many_files",
        Python,
        r"
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, 4096), max(most, 4096)))
except (OSError, ValueError):
    pass
opened = []
try:
    for _ in range(600):
        opened.append(os.dup(1))
    print('ESCAPED')
except OSError:
    pass
for one in opened:
    os.close(one)
",
    ),
    attack(
        "takes_many_terminals",
        Python,
        r"
opened = []
try:
    for _ in range(80):
        opened.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))
    print('ESCAPED')
except OSError:
    pass
for one in opened: os.close(one)
",
    )
    .through_for_all(&[BUBBLEWRAP, DOCKER, PODMAN]),
    attack(
        "takes_space_at_once",
        Python,
        r"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
path = os.path.join(os.environ['TMPDIR'], '@NAME@')
with open(path, 'wb') as file:
    for mode in (0, 1, 1 << 32):
        if libc.fallocate(file.fileno(), mode & 0xffffffff, 0, 65536) == 0: print('ESCAPED')
    # The control of another kind: what libraries do is still done.
    os.posix_fallocate(file.fileno(), 0, 4096)
os.unlink(path)
",
    ),
    attack(
        "takes_every_watcher",
        Python,
        r"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
taken = []
while len(taken) < 64:
    one = libc.inotify_init1(0)
    if one < 0: break
    taken.append(one)
if len(taken) == 64: print('ESCAPED')
for one in taken: os.close(one)
",
    )
    .through_for_all(&[BUBBLEWRAP, DOCKER, PODMAN, FIREJAIL, LANDLOCK]),
    attack(
        "takes_large_pipes",
        Python,
        r"
import fcntl
read, write = os.pipe()
try:
    print('ESCAPED', fcntl.fcntl(write, 1031, 1 << 20))
except OSError:
    pass
os.close(read); os.close(write)
",
    ),
    Attack::new(
        11,
        "leases_a_file",
        Python,
        Printed,
        r"
import fcntl
file = open(os.path.join(os.environ['TMPDIR'], '@NAME@'), 'w')
try:
    fcntl.fcntl(file, 1024, fcntl.F_WRLCK); print('ESCAPED')
    fcntl.fcntl(file, 1024, fcntl.F_UNLCK)
except OSError:
    pass
",
    ),
    Attack::new(
        11,
        "watches_by_signals",
        Python,
        Printed,
        r"
import fcntl
folder = os.open(os.environ['TMPDIR'], os.O_RDONLY)
try:
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS); print('ESCAPED')
except OSError:
    pass
os.close(folder)
",
    ),
    Attack::new(11, "prints_without_end", Shell, Flood(16 << 20), "yes | head -c 100M")
        .arena(Limits)
        .control(Plain),
];
