//! The machine's own network, by number, by name, of the older and the newer kind.

use super::{
    Attack,
    Evidence::{Connection, Printed},
    Language::{JavaScript, Python, Shell},
    Need::{Interface, Ipv6},
};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        1,
        "calls_the_machine_outside",
        Python,
        Connection,
        "import socket; socket.create_connection(('127.0.0.1', @PORT@), 2)",
    ),
    Attack::new(
        1,
        "calls_with_the_shell",
        Shell,
        Connection,
        "exec 8<>/dev/tcp/127.0.0.1/@PORT@ && echo x >&8; exec 8>&-",
    ),
    Attack::new(
        1,
        "calls_with_javascript",
        JavaScript,
        Connection,
        "await new Promise(done => require('net').connect(@PORT@, '127.0.0.1').on('connect', done).on('error', done))",
    ),
    Attack::new(
        1,
        "calls_by_a_name",
        Python,
        Connection,
        "import socket; socket.create_connection(('localhost', @PORT@), 2)",
    ),
    Attack::new(
        1,
        "calls_the_newer_kind",
        Python,
        Connection,
        "import socket; socket.create_connection(('::1', @PORT6@), 2)",
    )
    .needs(Ipv6),
    Attack::new(
        1,
        "calls_a_mapped_address",
        JavaScript,
        Connection,
        "await new Promise(done => require('net').connect(@PORT@, '::ffff:127.0.0.1').on('connect', done).on('error', done))",
    )
    .needs(Ipv6),
    Attack::new(
        1,
        "calls_the_machine_by_its_own_address",
        Python,
        Connection,
        "import socket; socket.create_connection(('@ADDRESS@', @PORT@), 2)",
    )
    .needs(Interface),
    Attack::new(
        1,
        "sends_a_datagram",
        Shell,
        Connection,
        "echo x >/dev/udp/127.0.0.1/@DATAGRAMS@",
    ),
    Attack::new(
        1,
        "asks_a_resolver",
        Python,
        Connection,
        "import socket\nquery = b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\6secret\\7example\\0\\0\\1\\0\\1'\n\
         socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query, ('127.0.0.1', @DATAGRAMS@))",
    ),
    Attack::new(
        1,
        "asks_a_resolver_with_javascript",
        JavaScript,
        Connection,
        "const resolver = new (require('dns').Resolver)({ timeout: 200, tries: 1 });
resolver.setServers(['127.0.0.1:@DATAGRAMS@']);
await new Promise(done => resolver.resolve4('secret.example', done))",
    ),
    Attack::new(
        1,
        "calls_in_the_first_segment",
        Python,
        Connection,
        "import socket; socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', @PORT@))",
    ),
    Attack::new(
        1,
        "calls_an_address",
        Python,
        Printed,
        r"
import socket
for family, address in ((socket.AF_INET, '1.1.1.1'), (socket.AF_INET, '10.0.0.1'), (socket.AF_INET6, '2606:4700:4700::1111')):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(family, kind); s.settimeout(2); s.connect((address, 53)); s.send(b'x')
            print('ESCAPED', address, kind)
        except OSError:
            pass
",
    )
    .needs(Interface),
];
