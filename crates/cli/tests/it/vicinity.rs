//! This machine's own addresses and its neighbours: public ones too are reached only by whoever
//! lists them by number.
//!
//! Each test has a network of its own: an interface with public addresses, a neighbour on the other
//! end of a cable, and a service on every address of both. Nothing of it is seen outside.

use crate::scene::{Scene, Seen, Who};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const PORT: u16 = 8099;

/// Builds the network, starts both services and runs the program as whoever runs it here.
const NETWORK: &str = r#"
set -e
log=$1 hosts=$2 serve=$3; shift 3
mount --bind "$hosts" /etc/hosts
ip link set lo up
ip link add near type veth peer name far
own= neighbour= other=
trap 'kill $own $neighbour $other' EXIT
mkfifo "$log.ready"; exec 9<>"$log.ready"
unshare --net sh -c 'echo ready >&9; exec sleep 1000' >/dev/null 2>&1 & other=$!
read -r _ <&9
ip link set far netns $other
ip addr add 11.22.33.44/24 dev near
ip -6 addr add 2a00:1::44/64 dev near nodad
ip link set near up
nsenter -t $other -n ip addr add 11.22.33.45/24 dev far
nsenter -t $other -n ip -6 addr add 2a00:1::45/64 dev far nodad
nsenter -t $other -n ip link set far up
python3 -c "$serve" "$log" own >/dev/null 2>&1 & own=$!
nsenter -t $other -n python3 -c "$serve" "$log" neighbour >/dev/null 2>&1 & neighbour=$!
read -r _ <&9; read -r _ <&9
exec 9>&-; rm "$log.ready"
status=0
"$@" || status=$?
exit $status
"#;

/// Notes what it is asked for, and answers.
const SERVE: &str = r"
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        note(f'{sys.argv[2]} {self.path}')
        body = b'REACHED'
        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
def note(line):
    with open(sys.argv[1], 'a') as log: log.write(line + '\n')
server = Server(('::', 8099), Handler)
note('ready')
open(sys.argv[1] + '.ready', 'w').write('ready\n')
server.serve_forever()
";

/// Asks in every way that the proxy speaks, whatever the answer.
const ASK: &str = r"
import socket
def say(*pieces):
    with socket.create_connection(('127.0.0.1', 3128), 20) as s:
        for piece in pieces:
            s.sendall(piece)
            if not s.recv(4096): return
        while s.recv(4096): pass
def number(host):
    for kind, family in ((b'\x01', socket.AF_INET), (b'\x04', socket.AF_INET6)):
        try: return kind + socket.inet_pton(family, host)
        except OSError: pass
    return b'\x03' + bytes([len(host)]) + host.encode()
def ask(host, path):
    place = f'[{host}]:8099' if ':' in host else f'{host}:8099'
    get = f'GET /{path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n'.encode()
    for tried in (
        lambda: say(f'GET http://{place}/{path} HTTP/1.1\r\nHost: {place}\r\n\r\n'.encode()),
        lambda: say(f'CONNECT {place} HTTP/1.1\r\n\r\n'.encode(), get),
        lambda: say(b'\5\1\0', b'\5\1\0' + number(host) + (8099).to_bytes(2, 'big'), get),
    ):
        try: tried()
        except OSError: pass
";

/// A network of the test's own.
struct Street {
    scene: Scene,
    who: Who,
    log: PathBuf,
    hosts: PathBuf,
}

impl Street {
    fn of(who: Who) -> Self {
        let scene = Scene::of(who);
        let beside = |name: &str| scene.work().parent().unwrap().join(name);
        let (log, hosts) = (beside("asked"), beside("hosts"));
        std::fs::write(&log, "").unwrap();
        std::fs::write(
            &hosts,
            "127.0.0.1 localhost\n11.22.33.44 me.example\n11.22.33.45 neighbour.example\n\
             2a00:1::44 six.example\n",
        )
        .unwrap();
        Self { scene, who, log, hosts }
    }

    /// Runs code there; what came of it, and what the services were asked for.
    fn run(&self, options: &[&str], code: &str) -> (Seen, Vec<String>) {
        std::fs::write(&self.log, "").unwrap();
        let code = format!("{ASK}{code}");
        let arguments = [&["run", "-l", "python"], options, &["-c", &code]].concat();
        let inner = self.scene.command(&arguments);
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount"]);
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["sh", "-c", NETWORK, "sh"]).args([&self.log, &self.hosts]).arg(SERVE);
        match (rustix::process::geteuid().is_root(), self.scene.user()) {
            (true, None) => {}
            (true, Some(user)) => {
                let [user, group] = ["reuid", "regid"].map(|word| format!("--{word}={user}"));
                command.args(["setpriv", &user, &group, "--clear-groups"]);
            }
            // An ordinary user is root in a namespace of their own, and steps down again.
            (false, _) => {
                command.args(["unshare", "--user", "--map-user=1000", "--map-group=1000"]);
            }
        }
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(self.scene.work());
        command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let seen = Seen(command.stdin(Stdio::null()).output().unwrap());
        let log = std::fs::read_to_string(&self.log).unwrap();
        assert_eq!(log.matches("ready").count(), 2, "{:?}: {}", self.who, seen.stderr());
        (seen, log.lines().filter(|line| *line != "ready").map(str::to_owned).collect())
    }
}

/// Whether such a network can be built here. If not, this says so.
fn can_be_built() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let script = "PATH=$PATH:/usr/sbin:/sbin; ip link add near type veth peer name far";
    let built = command.args(["sh", "-c", script]).stderr(Stdio::null()).status();
    let can = built.is_ok_and(|status| status.success()) && Path::new("/etc/hosts").exists();
    if !can {
        let words = "no network could be built, and addresses of this machine were not tried\n";
        std::io::stderr().write_all(words.as_bytes()).unwrap();
    }
    can
}

#[test]
fn an_open_network_does_not_lead_to_this_machine_or_its_neighbours() {
    if !can_be_built() {
        return;
    }
    let code = "for host in ('11.22.33.44', 'me.example', '11.22.33.45', 'neighbour.example',\n\
                \x20           '2a00:1::44', 'six.example', '2a00:1::45', '::ffff:11.22.33.44',\n\
                \x20           '64:ff9b::b16:212c', '2002:b16:212c::1'): ask(host, 'attack')";
    for who in Who::all() {
        let street = Street::of(who);
        let (seen, asked) = street.run(&["--network", "open"], code);
        assert_eq!(asked, Vec::<String>::new(), "{who:?}");
        seen.mentions("refused 11.22.33.44:8099")
            .mentions("11.22.33.44 is an address of this machine")
            .mentions("11.22.33.45 is an address on a network of this machine")
            .exits(0);
    }
}

#[test]
fn a_number_that_is_listed_is_reached_in_every_way() {
    if !can_be_built() {
        return;
    }
    let numbers = [
        ("11.22.33.44", "own"),
        ("11.22.33.45", "neighbour"),
        ("2a00:1::44", "own"),
        ("2a00:1::45", "neighbour"),
    ];
    for who in Who::all() {
        let street = Street::of(who);
        for (number, place) in numbers {
            let listed = if number.contains(':') { format!("[{number}]") } else { number.into() };
            let listed = format!("{listed}:{PORT}");
            let options = ["--network", "open", "--allow-host", &listed];
            let (seen, asked) = street.run(&options, &format!("ask('{number}', 'control')"));
            assert_eq!(asked, vec![format!("{place} /control"); 3], "{who:?} {}", seen.stderr());
        }
    }
}

#[test]
fn a_listed_name_does_not_lead_there_and_does_where_its_number_is_listed_too() {
    if !can_be_built() {
        return;
    }
    let names = format!("me.example:{PORT}");
    let number = format!("11.22.33.44:{PORT}");
    for who in Who::all() {
        let street = Street::of(who);
        let (seen, asked) = street.run(&["--allow-host", &names], "ask('me.example', 'attack')");
        assert_eq!(asked, Vec::<String>::new(), "{who:?}");
        seen.mentions(
            "it resolves to a refused address: 11.22.33.44 is an address of \
                       this machine",
        )
        .exits(0);
        let both = ["--allow-host", &names, "--allow-host", &number];
        let (_, asked) = street.run(&both, "ask('me.example', 'control')");
        assert_eq!(asked, ["own /control"; 3], "{who:?}");
    }
}
