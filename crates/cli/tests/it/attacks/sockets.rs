//! Sockets and pipes that somebody listens on outside: Docker's, an agent's, a desktop's.

use super::{
    Attack,
    Evidence::{Connection, Printed},
    Language::{JavaScript, Python, Shell},
    Need::Interface,
};
use crate::backends::{BUBBLEWRAP, DOCKER, FIREJAIL, LANDLOCK, PODMAN};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        1,
        "asks_docker",
        Python,
        Connection,
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('@SOCKET@'); s.send(b'GET /info HTTP/1.0\\r\\n\\r\\n')",
    ),
    Attack::new(
        1,
        "asks_the_ssh_agent",
        JavaScript,
        Connection,
        "await new Promise(done => require('net').connect('@SOCKET@').on('connect', done).on('error', done))",
    ),
    Attack::new(
        1,
        "asks_the_message_bus",
        Python,
        Connection,
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0@ABSTRACT@'); s.send(b'\\0AUTH EXTERNAL\\r\\n')",
    ),
    Attack::new(
        1,
        "asks_the_display",
        Python,
        Connection,
        "import socket\nfor path in ('@SOCKET@', '\\0@ABSTRACT@'):\n\
         \x20 try: s = socket.socket(socket.AF_UNIX); s.connect(path); s.send(b'l\\0\\x0b\\0')\n\
         \x20 except OSError: pass",
    ),
    Attack::new(
        1,
        "sends_a_datagram_to_a_socket",
        Python,
        Connection,
        "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '@DATAGRAM@')",
    ),
    Attack::new(
        1,
        "sends_by_a_pair_of_datagrams",
        Python,
        Connection,
        "import socket\nfor kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC):\n\
         \x20 try: s, _ = socket.socketpair(socket.AF_UNIX, kind)\n\
         \x20 except OSError: continue\n\
         \x20 try: s.sendto(b'x', '@DATAGRAM@')\n\
         \x20 except OSError: pass\n\
         \x20 try: s.connect('@DATAGRAM@'); s.send(b'x')\n\
         \x20 except OSError: pass",
    ),
    Attack::new(
        1,
        "reaches_a_socket_by_proc",
        Python,
        Connection,
        "import socket, tempfile\nos.chdir('/proc/self/root')\n\
         for path in ('.@SOCKET@', '/proc/@VICTIM@/root@SOCKET@'):\n\
         \x20 try: s = socket.socket(socket.AF_UNIX); s.connect(path)\n\
         \x20 except OSError: pass\n\
         os.chdir('@WORK@')",
    ),
    Attack::new(
        1,
        "reaches_a_socket_of_the_folder",
        Python,
        Connection,
        "import socket\nfor path in ('@WORKSOCKET@', '/run/interpreter/lower/@WORKSOCKET@', '/run/interpreter/raw/@WORKSOCKET@'):\n\
         \x20 try: s = socket.socket(socket.AF_UNIX); s.connect(path)\n\
         \x20 except OSError: pass",
    )
    .through(&[BUBBLEWRAP, DOCKER, PODMAN]),
    Attack::new(
        1,
        "writes_to_a_pipe_of_the_folder",
        Shell,
        Connection,
        "for pipe in @PIPE@ /run/interpreter/lower/@PIPE@; do [ -p $pipe ] && timeout 2 sh -c \"echo x >$pipe\"; done",
    )
    .through(&[BUBBLEWRAP, DOCKER, PODMAN, FIREJAIL, LANDLOCK]),
    Attack::new(
        4,
        "reaches_shared_objects",
        Python,
        Printed,
        r"
libc.syscall.restype = ctypes.c_long
if libc.syscall(30, ctypes.c_long(@SHARED@), ctypes.c_long(0), ctypes.c_long(0)) != -1:
    print('ESCAPED')
if libc.syscall(31, ctypes.c_long(@SHARED@), ctypes.c_long(2), ctypes.create_string_buffer(512)) != -1:
    print('ESCAPED stat')
",
    ),
    Attack::new(
        1,
        "finds_other_interfaces",
        Shell,
        Printed,
        "grep -v -e lo: -e Inter -e face /proc/net/dev && echo ESCAPED",
    )
    .through_for_all(&[LANDLOCK])
    .needs(Interface),
];
