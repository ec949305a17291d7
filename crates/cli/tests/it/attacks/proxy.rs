//! The proxy's own weaknesses, with listed hosts: `localhost` by its name, and a port that nobody
//! listens on. The server outside is on this machine's own loopback, which is listed only by
//! number.

use super::{
    Arena::Proxy, Attack, Control::Listed, Evidence::Connection, Language, Language::Python,
};

const fn attack(name: &'static str, language: Language, code: &'static str) -> Attack {
    Attack::new(1, name, language, Connection, code).arena(Proxy).control(Listed)
}

/// The beginning of each.
pub(super) const PROXIED: &str = r"
import socket
def proxied(head):
    s = socket.create_connection(('127.0.0.1', 3128), 20)
    s.sendall(head if isinstance(head, bytes) else head.encode('latin1'))
    # What is reached never answers; by then it has been reached.
    s.settimeout(1); answer = b''
    try:
        while b'\r\n\r\n' not in answer and (piece := s.recv(65536)): answer += piece
    except OSError: pass
    return answer
";

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "connects_to_a_private_address",
        Python,
        "for host in ('127.0.0.1', '127.0.0.2', '0.0.0.0', '169.254.169.254', '10.0.0.1'):\n\
         \x20 proxied(f'CONNECT {host}:@PORT@ HTTP/1.1\\r\\n\\r\\n')",
    ),
    attack(
        "connects_to_a_private_address_of_the_newer_kind",
        Python,
        "for host in ('127.0.0.1', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'):\n\
         \x20 proxied(f'CONNECT {host}:@PORT@ HTTP/1.1\\r\\n\\r\\n')",
    ),
    attack(
        "spells_an_address_otherwise",
        Python,
        "for host in ('127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127.1', 'user@127.0.0.1', 'allowed@127.0.0.1', '127.0.0.1#allowed', '127.0.0.1%23'):\n\
         \x20 proxied(f'CONNECT {host}:@PORT@ HTTP/1.1\\r\\n\\r\\n')\n\
         \x20 proxied(f'GET http://{host}:@PORT@/ HTTP/1.1\\r\\nHost: 127.0.0.1:1\\r\\n\\r\\n')",
    ),
    // A name that is listed and leads to a private address, as one does that is bound anew.
    attack(
        "binds_a_listed_name_anew",
        Python,
        "for host in ('localhost', 'LOCALHOST', 'localhost.'):\n\
         \x20 proxied(f'CONNECT {host}:@PORT@ HTTP/1.1\\r\\n\\r\\n')\n\
         \x20 proxied(f'GET http://{host}:@PORT@/ HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n')",
    ),
    attack(
        "smuggles_a_header",
        Python,
        "for head in ('GET http://127.0.0.1:@PORT@/ HTTP/1.1\\r\\nHost: 127.0.0.1:1\\r\\n\\r\\n',\n\
         \x20            'GET http://127.0.0.1:1/ HTTP/1.1\\r\\nHost: 127.0.0.1:@PORT@\\r\\nHost: 127.0.0.1:1\\r\\n\\r\\n',\n\
         \x20            'GET http://127.0.0.1:1/ HTTP/1.1\\r\\nX: y\\nHost: 127.0.0.1:@PORT@\\r\\n\\r\\n',\n\
         \x20            'GET /hello HTTP/1.1\\r\\nHost: 127.0.0.1:@PORT@\\r\\n\\r\\n',\n\
         \x20            'GET http://allowed\\t@127.0.0.1:@PORT@/ HTTP/1.1\\r\\n\\r\\n'): proxied(head)",
    ),
    attack(
        "smuggles_a_request",
        Python,
        "second = 'GET http://127.0.0.1:@PORT@/ HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n'\n\
         for head in (second, f'POST http://127.0.0.1:1/ HTTP/1.1\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n{second}',\n\
         \x20            f'GET http://127.0.0.1:1/ HTTP/1.1\\r\\n\\r\\n{second}', f'CONNECT 127.0.0.1:1 HTTP/1.1\\r\\n\\r\\n{second}'): proxied(head)",
    ),
    attack(
        "asks_for_it_by_socks",
        Python,
        "for address in (b'\\x01\\x7f\\0\\0\\1', b'\\x03\\x09localhost', b'\\x04' + bytes(15) + b'\\1', b'\\x03\\x09127.0.0.1'):\n\
         \x20 s = socket.create_connection(('127.0.0.1', 3128), 20)\n\
         \x20 s.sendall(b'\\5\\1\\0'); s.recv(2)\n\
         \x20 s.sendall(b'\\5\\1\\0' + address + (@PORT@).to_bytes(2, 'big')); s.recv(10)",
    ),
    attack(
        "asks_at_length",
        Python,
        "for head in ('GET http://127.0.0.1:@PORT@/' + 'a' * (1 << 20) + ' HTTP/1.1\\r\\n\\r\\n', 'GET http://127.0.0.1:@PORT@/ HTTP/1.1\\r\\n' + 'X: y\\r\\n' * (1 << 17) + '\\r\\n', 'CONNECT 127.0.0.1:@PORT@ HTTP/1.1\\r\\n\\r\\n'):\n\
         \x20 try: proxied(head)\n\
         \x20 except OSError: pass",
    ),
];
