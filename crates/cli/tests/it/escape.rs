//! Every promise of SECURITY.md, attacked: as root and as an ordinary user.
//!
//! An attack prints `tried` when it begins, and `ESCAPED` with what it got if it gets anything.
//! What it must not get stands around it for real: a key in the home, a process outside, a port
//! outside, a variable in the environment.

use crate::scene::{Scene, Who};
use interpreter_core::Backend;
use std::{
    net::TcpListener,
    os::{
        fd::OwnedFd,
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    process::{Child, Command, Stdio},
};

/// An attack: the promise of SECURITY.md it is aimed at, its name, its language, its code.
/// `OUTSIDE_PORT`, `OUTSIDE_PROCESS`, `SHARED_MEMORY`, `ABSTRACT` and `HOME` are replaced by the real
/// ones.
pub(crate) type Attack = (u8, &'static str, &'static str, &'static str);

/// Calls a system call by number and tells what it said.
const CALL: &str = r"
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    code = ctypes.get_errno()
    if result != -1 or code not in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT):
        print('ESCAPED', number, result, errno.errorcode.get(code))
print('tried')
";

pub(crate) const ATTACKS: &[Attack] = &[
    (
        1,
        "calls_an_address",
        "python",
        r"
import socket
print('tried')
for family, address in ((socket.AF_INET, '1.1.1.1'), (socket.AF_INET, '10.0.0.1'), (socket.AF_INET6, '2606:4700:4700::1111')):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(family, kind); s.settimeout(2); s.connect((address, 53)); s.send(b'x')
            print('ESCAPED', address, kind)
        except OSError as error:
            pass
",
    ),
    (
        1,
        "calls_the_machine_outside",
        "python",
        r"
import socket
print('tried')
try:
    socket.create_connection(('127.0.0.1', OUTSIDE_PORT), 2)
    print('ESCAPED')
except OSError:
    pass
",
    ),
    (
        1,
        "resolves_a_name",
        "python",
        r"
import socket
print('tried')
try:
    print('ESCAPED', socket.getaddrinfo('example.com', 80))
except OSError:
    pass
",
    ),
    (
        1,
        "finds_other_interfaces",
        "shell",
        r"
echo tried
grep -v -e lo: -e Inter -e face /proc/net/dev && echo ESCAPED
true
",
    ),
    (
        2,
        "reads_the_home",
        "shell",
        r"
echo tried
cat HOME/.ssh/id_ed25519 HOME/secret.txt /root/.bashrc /home/*/.bashrc 2>/dev/null && echo ESCAPED
ls -A HOME 2>/dev/null | grep -q . && echo ESCAPED home
ls -A /root /home 2>/dev/null | grep -v -e : -e '^$' && echo ESCAPED homes
true
",
    ),
    (
        2,
        "reads_shadow",
        "python",
        r"
print('tried')
for path in ('/etc/shadow', '/etc/gshadow', '/etc/sudoers'):
    try:
        print('ESCAPED', open(path).read(20))
    except OSError:
        pass
",
    ),
    (
        2,
        "reads_our_own_record",
        "shell",
        r"
echo tried
cat HOME/.local/share/interpreter/record.db 2>/dev/null && echo ESCAPED
find / -name record.db 2>/dev/null | grep . && echo ESCAPED
true
",
    ),
    (
        2,
        "climbs_out_by_proc",
        "shell",
        r"
echo tried
for at in /proc/*/root /proc/*/cwd /proc/self/fd /proc/*/fd/*; do
  for path in $at/HOME $at/../HOME $at/old/HOME; do
    cat $path/.ssh/id_ed25519 2>/dev/null && echo ESCAPED $path
  done
done
ls /old 2>/dev/null && echo ESCAPED
true
",
    ),
    (
        3,
        "writes_to_the_system",
        "python",
        r"
import os
print('tried')
for path in ('/usr/bin/evil', '/etc/evil', '/evil', '/bin/evil', '/lib/evil', '/opt/evil', '/run/evil', '/run/interpreter/evil', '/run/interpreter/lower/evil', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/dev/evil', '/var/evil', '/home/evil', '/sys/evil'):
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
    ),
    (
        3,
        "writes_past_the_overlay",
        "python",
        r"
import os, glob
print('tried')
for path in glob.glob('/run/interpreter/*') + glob.glob('/run/interpreter/set/*'):
    try:
        open(os.path.join(path, 'marker'), 'w').write('x')
        print('ESCAPED', path)
    except OSError:
        pass
os.symlink('/etc/passwd', 'link'); os.symlink('../../../../../../../../etc', 'folder')
try:
    open('link', 'a').write('x')
    print('ESCAPED link')
except OSError:
    pass
",
    ),
    (
        4,
        "sees_and_signals_processes",
        "python",
        r"
import os, signal
print('tried')
names = []
for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
        names.append(open(f'/proc/{pid}/cmdline').read())
    except OSError:
        pass
if any('sleep' in name for name in names) or len(names) > 20:
    print('ESCAPED', names)
try:
    os.kill(OUTSIDE_PROCESS, 9)
    print('ESCAPED kill')
except OSError:
    pass
",
    ),
    (
        4,
        "ends_the_host",
        "python",
        r"
import os, signal
print('tried', flush=True)
for number in range(1, 32):
    if number in (signal.SIGKILL, signal.SIGSTOP):
        continue
    try:
        os.kill(1, number)
    except OSError:
        pass
print('still here')
",
    ),
    (
        4,
        "reads_the_hosts_memory",
        "python",
        r"
print('tried')
for name in ('mem', 'environ', 'maps', 'syscall', 'stack', 'auxv'):
    try:
        data = open(f'/proc/1/{name}', 'rb').read(64)
        if data:
            print('ESCAPED', name, data)
    except OSError:
        pass
",
    ),
    (
        5,
        "reads_the_environment",
        "shell",
        r"
echo tried
env | grep -i canary && echo ESCAPED
cat /proc/*/environ 2>/dev/null | grep -i canary && echo ESCAPED
true
",
    ),
    (
        6,
        "has_capabilities",
        "shell",
        r"
echo tried
grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED
grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED
grep -q 'Seccomp:.2' /proc/self/status || echo ESCAPED
[ $(id -u) = 0 ] && echo ESCAPED root
true
",
    ),
    (
        6,
        "gains_by_setuid",
        "python",
        r"
import os, subprocess
print('tried')
for path in ('/usr/bin/su', '/usr/bin/passwd', '/usr/bin/mount', '/usr/bin/sudo', '/usr/bin/newgrp'):
    if os.path.exists(path):
        probe = subprocess.run(['/bin/sh', '-c', f'exec {path} --version'], capture_output=True, text=True, stdin=subprocess.DEVNULL)
try:
    os.setuid(0)
    print('ESCAPED')
except OSError:
    pass
for path in os.listdir('/'):
    pass
import shutil
shutil.copy('/bin/true', '/tmp/su'); os.chmod('/tmp/su', 0o4755)
flags = [line.split()[3] for line in open('/proc/mounts')]
if any('nosuid' not in flag.split(',') for flag in flags):
    print('ESCAPED', flags)
",
    ),
    (
        6,
        "makes_device_nodes",
        "python",
        r"
import os, stat
print('tried')
for place in ('/tmp/sda', 'sda', '/dev/shm/sda'):
    try:
        os.mknod(place, 0o666 | stat.S_IFBLK, os.makedev(8, 0))
        print('ESCAPED', open(place, 'rb').read(1))
    except OSError:
        pass
",
    ),
    (
        7,
        "new_user_namespace",
        "python",
        r"
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x80):
    refused(272, flag)
    refused(56, flag | 17, 0, 0, 0, 0)
refused(435, 0, 0)
",
    ),
    (
        7,
        "joins_a_namespace",
        "python",
        r"
fd = os.open('/proc/self/ns/net', os.O_RDONLY)
refused(308, fd, 0)
",
    ),
    (
        7,
        "mounts_something",
        "python",
        r"
refused(165, b'none', b'/tmp', b'tmpfs', 0, 0)
refused(166, b'/proc', 2)
refused(155, b'/tmp', b'/tmp')
refused(161, b'/tmp')
refused(428, -100, b'/', 1)
refused(429, -1, b'', -100, b'/tmp', 4)
refused(430, b'tmpfs', 0)
refused(431, 0, 0, 0, 0, 0)
refused(432, 0, 0, 0)
refused(433, -100, b'/', 0)
refused(442, -100, b'/', 0, 0, 0)
refused(467, -100, b'/', 1, 0, 0)
",
    ),
    (
        7,
        "traces_a_process",
        "python",
        r"
refused(101, 16, 1, 0, 0)
refused(101, 0, 0, 0, 0)
refused(310, 1, 0, 0, 0, 0, 0)
refused(311, 1, 0, 0, 0, 0, 0)
refused(438, 0, 0, 0)
refused(312, os.getpid(), 1, 0, 0, 0)
",
    ),
    (
        7,
        "reaches_rare_kernel_code",
        "python",
        r"
for number in (425, 426, 427, 321, 298, 323, 300):
    refused(number, 0, 0, 0, 0, 0)
refused(135, 0x0040000)
refused(172, 3)
refused(173, 0, 1, 1)
refused(154, 0, ctypes.create_string_buffer(16), 16)
",
    ),
    (
        7,
        "speaks_another_architecture",
        "python",
        r"
import mmap, platform
if platform.machine() == 'x86_64':
    # getpid, as 32-bit programs ask for it.
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex('b814000000cd80c3'))
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    child = os.fork()
    if child == 0:
        call()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != 31:
        print('ESCAPED', status)
    refused(0x40000000 | 101, 0, 0, 0, 0)
",
    ),
    (
        7,
        "reads_kernel_keyrings",
        "python",
        r"
refused(250, 0, -3, 0, 0, 0)
refused(248, b'user', b'x', b'y', 1, -3)
refused(249, b'user', b'x', 0, 0)
",
    ),
    (
        7,
        "opens_by_handle",
        "python",
        r"
refused(304, 3, 0, 0)
",
    ),
    (
        7,
        "administers_the_system",
        "python",
        r"
for number in (179, 443, 246, 320, 175, 313, 176, 169, 167, 168, 163, 103, 170, 171, 164, 227, 153):
    refused(number, 0, 0, 0, 0)
",
    ),
    (
        7,
        "opens_rare_sockets",
        "python",
        r"
for family in (3, 4, 5, 9, 17, 21, 29, 30, 38, 40, 44):
    refused(41, family, 2, 0)
    refused(41, family, 3, 0)
    refused(53, family, 1, 0, ctypes.create_string_buffer(8))
for family in (2, 10):
    refused(41, family, 3, 255)
    refused(41, family, 3 | 0o2000000, 1)
for protocol in (4, 6, 9, 10, 12, 15, 16, 21):
    refused(41, 16, 3, protocol)
",
    ),
    (
        6,
        "makes_setuid_files",
        "python",
        r"
import ctypes
open('plain', 'w').close()
for number, arguments in ((90, (b'plain', 0o4755)), (90, (b'plain', 0o2755)), (268, (-100, b'plain', 0o6755)), (452, (-100, b'plain', 0o4755, 0)),
                          (85, (b'new', 0o4755)), (2, (b'new', 0o101, 0o4755)), (257, (-100, b'new', 0o101, 0o4755)), (257, (-100, b'.', 0o20200002, 0o4755)), (2, (b'.', 0o20200002, 0o6755)), (133, (b'new', 0o104755, 0)), (259, (-100, b'new', 0o104755, 0)), (437, (-100, b'new', 0, 24))):
    refused(number, *arguments)
fd = os.open('plain', os.O_RDWR)
refused(91, fd, 0o4755)
import stat
for name in os.listdir('.'):
    if os.stat(name).st_mode & 0o6000:
        print('ESCAPED', name)
",
    ),
    (
        4,
        "starves_the_host",
        "python",
        r"
refused(203, 1, 8, ctypes.create_string_buffer(8))
refused(144, 1, 5, ctypes.create_string_buffer(8))
refused(142, 1, ctypes.create_string_buffer(8))
refused(314, 1, ctypes.create_string_buffer(64), 0)
refused(302, 1, 2, ctypes.create_string_buffer(16), 0)
for which, who in ((0, 1), (1, 0), (2, 0)):
    refused(141, which, who, 19)
for which, who in ((1, 1), (2, 0), (3, 0)):
    refused(251, which, who, 3 << 13)
os.nice(1)
",
    ),
    (
        1,
        "reaches_a_socket_of_the_folder",
        "python",
        r"
import socket
paths = ['s.sock', '/run/interpreter/lower/s.sock', '/run/interpreter/raw/s.sock', os.path.abspath('s.sock')]
for path in paths:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(socket.AF_UNIX, kind); s.connect(path)
            print('ESCAPED', path)
        except OSError:
            pass
for path in ('f.fifo', '/run/interpreter/lower/f.fifo'):
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        print('ESCAPED', path)
    except OSError:
        pass
",
    ),
    (
        1,
        "reaches_local_sockets",
        "python",
        r"
import socket
for address in ('HOME/agent.sock', '\0ABSTRACT'):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(socket.AF_UNIX, kind); s.connect(address)
            print('ESCAPED', repr(address))
        except OSError:
            pass
a, b = socket.socketpair(); a.send(b'x')
if b.recv(1) != b'x':
    print('no pairs')
",
    ),
    (
        4,
        "starves_others",
        "python",
        r"
pid = OUTSIDE_PROCESS
buffer = ctypes.create_string_buffer(64)
import struct
limit = ctypes.create_string_buffer(struct.pack('QQ', 9, 9))
mask = ctypes.create_string_buffer(b'\x01' + b'\0' * 127)
for number, arguments in ((302, (pid, 7, limit, 0)), (203, (pid, 128, mask)), (144, (pid, 3, buffer)), (142, (pid, buffer)), (141, (0, pid, 19)), (251, (1, pid, 3 << 13))):
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *words) == 0:
        print('ESCAPED', number)
",
    ),
    (
        4,
        "reaches_shared_objects",
        "python",
        r"
libc.syscall.restype = ctypes.c_long
if libc.syscall(30, ctypes.c_long(SHARED_MEMORY), ctypes.c_long(0), ctypes.c_long(0)) != -1:
    print('ESCAPED')
if libc.syscall(31, ctypes.c_long(SHARED_MEMORY), ctypes.c_long(2), ctypes.create_string_buffer(512)) != -1:
    print('ESCAPED stat')
",
    ),
    (
        8,
        "types_into_our_terminal",
        "python",
        r"
import fcntl, pty, termios
master, slave = pty.openpty()
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

/// Runs an attack, with everything around it that it must not get at.
pub(crate) fn attacked(who: Who, backend: Backend, attack: &Attack) -> String {
    let (_, _, language, code) = attack;
    let scene = Scene::of(who)
        .home_file(".ssh/id_ed25519", "the key\n")
        .home_file("secret.txt", "the secret\n")
        .file("here.txt", "visible\n");
    let mut outside = Outside::around(&scene);
    let code = if *language == "python" { format!("{CALL}{code}") } else { (*code).to_owned() };
    let code = code
        .replace("OUTSIDE_PORT", &outside.port.local_addr().unwrap().port().to_string())
        .replace("OUTSIDE_PROCESS", &outside.process.id().to_string())
        .replace("SHARED_MEMORY", &outside.shared_memory)
        .replace("ABSTRACT", &outside.name)
        .replace("HOME", scene.home().to_str().unwrap());
    let seen = scene.code_on(backend, language, &code);
    let lives = outside.process.try_wait().unwrap().is_none();
    assert!(lives || backend == Backend::None, "the process outside was ended");
    assert!(!scene.work().join("marker").exists());
    format!("{}{}", seen.stdout(), seen.stderr())
}

/// What stands around a sandbox: things to find that an attack must not find.
struct Outside {
    port: TcpListener,
    process: Child,
    /// The number of a piece of System V shared memory.
    shared_memory: String,
    /// The name of an abstract socket.
    name: String,
    _sockets: Vec<UnixListener>,
    _reader: OwnedFd,
}

impl Outside {
    fn around(scene: &Scene) -> Self {
        let (socket, fifo) = (scene.work().join("s.sock"), scene.work().join("f.fifo"));
        let agent = scene.home().join("agent.sock");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
        let name = format!("interpreter-test-{}", scene.work().display());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets = vec![
            UnixListener::bind(&socket).unwrap(),
            UnixListener::bind(&agent).unwrap(),
            UnixListener::bind_addr(&abstract_name).unwrap(),
        ];
        for path in [&socket, &fifo, &agent] {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            std::fs::set_permissions(path, open).unwrap();
        }
        let flags = nix::fcntl::OFlag::O_RDWR | nix::fcntl::OFlag::O_CLOEXEC;
        let reader = nix::fcntl::open(&fifo, flags, nix::sys::stat::Mode::empty()).unwrap();
        let made = Command::new("ipcmk").args(["-M", "64", "-p", "0666"]).output().unwrap();
        let made = String::from_utf8_lossy(&made.stdout).into_owned();
        let shared_memory = made.split_whitespace().last().unwrap_or_default().to_owned();
        let mut process = Command::new("sleep");
        process.arg("1000").stdin(Stdio::null()).env("CANARY_KEY", "sk-canary-of-another-process");
        Self {
            port: TcpListener::bind("127.0.0.1:0").unwrap(),
            process: scene.as_its_user(&mut process).spawn().unwrap(),
            shared_memory,
            name,
            _sockets: sockets,
            _reader: reader,
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
        _ = Command::new("ipcrm").args(["-m", &self.shared_memory]).output();
    }
}

#[test]
fn no_attack_succeeds() {
    for who in Who::all() {
        for attack in ATTACKS {
            let (promise, name, ..) = attack;
            let said = attacked(who, Backend::Native, attack);
            assert!(said.contains("tried"), "{name} did not run as {who:?}: {said}");
            assert!(!said.contains("ESCAPED"), "{name} broke promise {promise} as {who:?}: {said}");
        }
    }
}

#[test]
fn every_refused_call_has_its_proof() {
    let further =
        [interpreter_jail::rules_where_shared(), interpreter_jail::rules_without_network()];
    let further = further.into_iter().flat_map(Result::unwrap);
    for rule in interpreter_jail::rules().unwrap().into_iter().chain(further) {
        assert!(
            ATTACKS.iter().any(|(_, name, ..)| *name == rule.proof),
            "{} names the proof {}, which does not exist",
            rule.call,
            rule.proof
        );
    }
}

#[test]
fn every_promise_is_attacked_or_tested() {
    let security = include_str!("../../../../SECURITY.md");
    for (promise, name, ..) in ATTACKS {
        assert!(security.contains(&format!("\n{promise}. ")), "{name} has no promise {promise}");
    }
}

#[test]
fn what_is_promised_to_work_works() {
    for who in Who::all() {
        let scene = Scene::of(who).file("here.txt", "visible\n");
        let loopback = "import socket, threading\n\
            server = socket.create_server(('127.0.0.1', 0))\n\
            client = socket.create_connection(server.getsockname())\n\
            inside, _ = server.accept(); client.send(b'hi'); print(inside.recv(2).decode())";
        scene.code("python", loopback).prints("hi\n").exits(0);
        scene.code("shell", "cat here.txt; echo x > /tmp/t && cat /tmp/t").prints("visible\nx\n");
        scene.code("shell", "cd ~ && echo y > f && cat f; hostname").prints("y\nsandbox\n");
        let threads =
            "import threading\nt = threading.Thread(target=print, args=(1,)); t.start(); t.join()";
        scene.code("python", threads).prints("1\n").exits(0);
    }
}

#[test]
fn when_the_session_ends_nothing_is_left() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let mark = format!("86{}", std::process::id());
        let code =
            format!("(setsid sleep {mark} &) ; nohup sleep {mark} >/dev/null 2>&1 & echo left");
        scene.code("shell", &code).prints("left\n").exits(0);
        let running = std::process::Command::new("pgrep").args(["-f", &mark]).output().unwrap();
        let running = String::from_utf8_lossy(&running.stdout).into_owned();
        assert_eq!(running, "", "still running");
    }
}

#[test]
fn where_it_cannot_confine_it_runs_nothing() {
    // In a namespace where no further ones are allowed, the sandbox cannot be built.
    let scene = Scene::of(Who::Ordinary);
    let mut inner = scene.command(&["run", "-l", "shell", "-c", "echo ran"]);
    let program = inner.get_program().to_owned();
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "/bin/sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"")
        .arg("sh")
        .arg(program)
        .args(["run", "-l", "shell", "-c", "echo ran"])
        .current_dir(scene.work())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if nix::unistd::geteuid().is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(64_321).gid(64_321);
    }
    inner.env_clear();
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("cannot be built here"), "{said}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("ran"));
}

#[test]
fn secrets_stay_covered_however_the_home_is_spelled() {
    for who in Who::all() {
        let scene = Scene::of(who)
            .home_file(".ssh/id_ed25519", "the key\n")
            .home_file("dot/ssh/id", "the other key\n");
        std::os::unix::fs::symlink("dot/ssh", scene.home().join(".gnupg")).unwrap();
        std::os::unix::fs::symlink(scene.home(), scene.work().join("link")).unwrap();
        let code = "cat .ssh/id_ed25519 .gnupg/id dot/ssh/id .local/share/interpreter/record.db \
                    /run/interpreter/lower/.ssh/id_ed25519 2>/dev/null; echo tried";
        let dotted = format!("{}/../home", scene.home().display());
        for home in [scene.home(), scene.work().join("link"), dotted.into()] {
            let mut command = scene.command(&["run", "-l", "shell", "-c", code]);
            let output = command.current_dir(scene.home()).env("HOME", &home).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said, "tried\n", "with HOME={}: {errors}", home.display());
        }
    }
}

#[test]
fn what_is_covered_cannot_be_renamed_from_above() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file(".config/gcloud/token", "the token\n");
        let run = |code: &str| {
            let run = ["run", "--workspace", "direct", "-l", "shell", "-c", code];
            let output = scene.command(&run).current_dir(scene.home()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        run("mv .config c2; mv .config/gcloud g2");
        assert_eq!(run("cat c2/gcloud/token g2/token .config/gcloud/token; echo tried"), "tried\n");
    }
}

#[test]
fn output_is_bounded_in_every_field() {
    let scene = Scene::new().file(".interpreter/config.toml", "[limits]\noutput = \"1M\"\n");
    let code = "import json, os\nfor n in range(20):\n  line = json.dumps({'kind': 'result', 'mime': 'x' * (1 << 20), 'data': ''}) + '\\n'\n  os.write(40, line.encode())";
    scene.code("python", code);
    let size = std::fs::metadata(scene.data().join("record.db")).unwrap().len();
    assert!(size < 8 << 20, "the record has {size} bytes");
    scene.code("shell", "yes").mentions("limit on output").exits(1);
}

#[test]
fn no_path_is_printed_raw() {
    let scene = Scene::new();
    let folder = scene.work().join("ev\u{1b}]0;PWN\u{7}il\nyes");
    std::fs::create_dir(&folder).unwrap();
    for arguments in
        [&["run", "--explain", "-l", "python", "-c", "1"][..], &["doctor"], &["changes"]]
    {
        let output = scene.command(arguments).current_dir(&folder).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(!said.contains(&0x1b) && !said.contains(&7), "{arguments:?}");
    }
}
