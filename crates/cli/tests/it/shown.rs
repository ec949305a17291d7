//! Ways out of folders that are only read: sockets, pipes, locks and watchers of files, in the
//! system's folders, in granted ones, in granted files and in an environment found by `PATH`.
//!
//! Everything is judged from outside, or by a text that only the outside knows. The folders of the
//! system are the test's own, mounted there where nobody else sees them. Without a sandbox all of
//! it succeeds, which is the control.

use crate::{
    backends::{BUBBLEWRAP, DOCKER, FIREJAIL, LANDLOCK, NATIVE, PODMAN, present},
    engines::is_engine,
    scene::{Scene, Seen, Who, copy_program},
};
use interpreter_core::Backend;
use rustix::{
    fs::{CWD, FlockOperation, Mode, OFlags, fcntl_lock, flock, mkfifoat, open},
    io::{Errno, ioctl_fionbio, read, write},
    net::{RecvFlags, accept, recv},
};
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{PermissionsExt, symlink},
            net::{UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Text that is outside alone.
const CANARY: &str = "canary-7c1f";

/// Tries everything in every place, says so, and then waits for what the outside does.
const CODE: &str = r"
import ctypes, fcntl, os, select, signal, socket, struct
signal.signal(signal.SIGIO, signal.SIG_IGN)
libc = ctypes.CDLL(None)
kept, heard, events = [], {}, {}
watcher = libc.inotify_init1(os.O_NONBLOCK)
def attempt(what):
    try: return what()
    except OSError as error: print('refused', error)
def connects(place):
    one = socket.socket(socket.AF_UNIX); one.connect(place + '/stream'); one.send(b'from inside')
    heard[place] = one
def sends(place):
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'from inside', place + '/datagram')
def writes(place):
    os.write(os.open(place + '/into', os.O_WRONLY | os.O_NONBLOCK), b'from inside')
def reads(place):
    if b'CANARY' in os.read(os.open(place + '/from', os.O_RDONLY | os.O_NONBLOCK), 99): print('GOT piped', place)
def flocks(place):
    kept.append(open(place + '/flock')); fcntl.flock(kept[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
def locks(place):
    kept.append(open(place + '/posix')); fcntl.lockf(kept[-1], fcntl.LOCK_SH | fcntl.LOCK_NB)
def leases(place):
    kept.append(open(place + '/lease')); fcntl.fcntl(kept[-1], 1024, fcntl.F_RDLCK)
def watches(place):
    got = libc.inotify_add_watch(watcher, (place + '/seen').encode(), 0xfff)
    if got >= 0: events[got] = place
for place in PLACES:
    for way in (connects, sends, writes, reads, flocks, locks, leases, watches):
        attempt(lambda: way(place))
    print('content', attempt(lambda: open(place + '/seen').read()))
while select.select([watcher], [], [], 0)[0]: os.read(watcher, 4096)
print('ready', flush=True)
for place, one in heard.items():
    one.settimeout(5)
    if b'CANARY' in (attempt(lambda: one.recv(99)) or b''): print('GOT heard', place)
while events and select.select([watcher], [], [], 2)[0]:
    place = events.pop(struct.unpack('i', os.read(watcher, 16)[:4])[0], None)
    if place: print('GOT watched', place)
print('done')
";

/// Puts folders of the test's own where those of the system are. One file is mounted by itself, as
/// in most containers.
const MOUNTS: &str = "mount --bind \"$1/opt\" /opt; mount --bind \"$1/local\" /usr/local; \
    mount --bind \"$1/etc\" /etc; mount --bind \"$1/hosts\" /etc/hosts; cd \"$2\"; shift 2; \
    exec \"$@\"";

/// A way out.
type Way = &'static str;

/// Ways by sockets.
const SOCKETS: [Way; 3] = ["connected", "heard", "sent"];

/// All ways that succeed where nothing stops them.
const ALL: [Way; 9] =
    ["connected", "heard", "sent", "written", "piped", "flocked", "locked", "leased", "watched"];

/// The names of what there is to reach in a place.
const NAMES: [&str; 8] = ["stream", "datagram", "into", "from", "flock", "posix", "lease", "seen"];

/// A place with something to reach in it.
struct Place {
    /// Where it is, and where code sees it.
    at: PathBuf,
    seen: PathBuf,
    stream: UnixListener,
    datagram: UnixDatagram,
    into: OwnedFd,
    /// Kept open, so that what is in the pipe stays there.
    _from: OwnedFd,
}

impl Place {
    fn make(scene: &Scene, at: PathBuf, seen: PathBuf) -> Self {
        std::fs::create_dir_all(&at).unwrap();
        let path = |name: &str| at.join(name);
        let pipe = |name: &str| {
            mkfifoat(CWD, path(name), Mode::from_raw_mode(0o666)).unwrap();
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            open(path(name), flags, Mode::empty()).unwrap()
        };
        let (stream, datagram) = (
            UnixListener::bind(path("stream")).unwrap(),
            UnixDatagram::bind(path("datagram")).unwrap(),
        );
        let (into, from) = (pipe("into"), pipe("from"));
        ioctl_fionbio(&stream, true).unwrap();
        write(&from, CANARY.as_bytes()).unwrap();
        for name in ["flock", "posix", "lease", "seen"] {
            std::fs::write(path(name), "content").unwrap();
        }
        for name in NAMES {
            std::fs::set_permissions(path(name), PermissionsExt::from_mode(0o666)).unwrap();
            scene.give(&path(name));
        }
        std::fs::set_permissions(&at, PermissionsExt::from_mode(0o755)).unwrap();
        scene.give(&at);
        Self { seen, stream, datagram, into, _from: from, at }
    }

    /// The ways by which something has come out while code waits. Then does things for it to see.
    fn reached(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        if let Ok(one) = accept(&self.stream) {
            ways.push("connected");
            // It may have ended.
            _ = write(&one, CANARY.as_bytes());
        }
        let mut buffer = [0; 64];
        if recv(&self.datagram, &mut buffer, RecvFlags::DONTWAIT).is_ok() {
            ways.push("sent");
        }
        if read(&self.into, &mut buffer).is_ok() {
            ways.push("written");
        }
        let opened = |name: &str, flags| open(self.at.join(name), flags, Mode::empty());
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        if flock(opened("flock", flags).unwrap(), exclusive).is_err() {
            ways.push("flocked");
        }
        if fcntl_lock(opened("posix", flags).unwrap(), exclusive).is_err() {
            ways.push("locked");
        }
        if opened("lease", flags).is_err_and(|error| error == Errno::AGAIN) {
            ways.push("leased");
        }
        std::fs::read(self.at.join("seen")).unwrap();
        ways
    }
}

/// A user, and everything that is shown.
struct There {
    scene: Scene,
    backend: Backend,
    mounts: bool,
    places: Vec<Place>,
}

impl There {
    fn of(backend: Backend, who: Who) -> Self {
        let mounts = rustix::process::geteuid().is_root() && !is_engine(backend);
        let scene = Scene::of(who);
        let environment = scene.home().join("env");
        let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", environment.display());
        let scene = scene.variable("PATH", &path);
        let mut there = Self { scene, backend, mounts, places: vec![] };
        for name in ["granted", "files"] {
            let at = there.aside().join(name);
            there.add(at.clone(), at);
        }
        if !is_engine(backend) {
            there.environment(&environment);
        }
        if mounts {
            there.system();
        }
        there
    }

    /// Where what is mounted elsewhere comes from.
    fn aside(&self) -> PathBuf {
        self.scene.home().parent().unwrap().join("aside")
    }

    fn add(&mut self, at: PathBuf, seen: PathBuf) {
        self.places.push(Place::make(&self.scene, at, seen));
    }

    fn environment(&mut self, at: &Path) {
        let python = std::fs::canonicalize("/usr/bin/python3").unwrap();
        let name = python.file_name().unwrap().to_str().unwrap();
        let version = name.trim_start_matches("python");
        let config = format!("home = /usr/bin\nversion = {version}.1\n");
        self.scene.put(&at.join("pyvenv.cfg"), config.as_bytes());
        self.scene.put(&at.join(format!("lib/{name}/site-packages/one.py")), b"");
        self.scene.put(&at.join("bin/activate"), b"");
        symlink("/usr/bin/python3", at.join("bin/python3")).unwrap();
        symlink("python3", at.join("bin/python")).unwrap();
        let open_up = Command::new("chmod").arg("-R").arg("a+rX").arg(at).status().unwrap();
        assert!(open_up.success());
        let place = at.join("x");
        self.add(place.clone(), place);
    }

    fn system(&mut self) {
        let aside = self.aside();
        std::fs::write(aside.join("hosts"), "127.0.0.1 localhost # mounted\n").unwrap();
        let copied = Command::new("cp").args(["-a", "/etc"]).arg(&aside).status().unwrap();
        assert!(copied.success());
        for (name, seen) in [("opt", "/opt"), ("local", "/usr/local"), ("etc", "/etc")] {
            let at = aside.join(name);
            std::fs::create_dir_all(&at).unwrap();
            std::fs::set_permissions(&at, PermissionsExt::from_mode(0o755)).unwrap();
            self.add(at.join("x"), Path::new(seen).join("x"));
        }
        // Not in a folder of its own, but beside a mount.
        let etc = aside.join("etc");
        let top = Place::make(&self.scene, etc.clone(), "/etc".into());
        let open = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&etc, open).unwrap();
        self.places.push(top);
    }

    fn command(&self) -> Command {
        let places: Vec<_> = self.places.iter().map(|place| place.seen.display()).collect();
        let mut list = String::new();
        for place in &places {
            write!(list, "'{place}', ").unwrap();
        }
        let code = CODE.replace("PLACES", &format!("[{list}]")).replace("CANARY", CANARY);
        let aside = self.aside();
        let mut grants = vec![aside.join("granted")];
        grants.extend(NAMES.map(|name| aside.join("files").join(name)));
        let mut arguments = vec!["run".to_owned(), "--time-limit".into(), "60s".into()];
        arguments.extend(self.scene.on(self.backend).into_iter().map(String::from));
        if self.backend != Backend::NONE {
            let option = |path: &PathBuf| ["--allow-read".into(), path.display().to_string()];
            arguments.extend(grants.iter().flat_map(option));
        }
        arguments.extend(["-l".into(), "python".into(), "-c".into(), code]);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let inner = self.scene.command(&arguments);
        if !self.mounts {
            return inner;
        }
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-ec", MOUNTS, "sh"]).arg(&aside).arg(self.scene.work());
        if let Some(user) = self.scene.user() {
            let ids = ["reuid", "regid"].map(|word| format!("--{word}={user}"));
            command.arg("setpriv").args(ids).arg("--clear-groups");
        }
        command.arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// Everything that got out, each with its place; and what was said.
    fn tried(&self) -> (BTreeSet<(Way, PathBuf)>, String) {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.ends_with("ready\n") && lines.read_line(&mut said).unwrap() > 0 {}
        let mut out = BTreeSet::new();
        for place in &self.places {
            out.extend(place.reached().into_iter().map(|way| (way, place.seen.clone())));
        }
        lines.read_to_string(&mut said).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        for line in said.lines().filter_map(|line| line.strip_prefix("GOT ")) {
            let (way, place) = line.split_once(' ').unwrap();
            let way = ALL.iter().find(|known| **known == way).unwrap();
            out.insert((way, place.into()));
        }
        (out, said)
    }
}

/// The ways out that a backend has, as SECURITY.md says.
fn declared(backend: Backend) -> BTreeSet<Way> {
    // Every filter refuses leases.
    let has = |way: &Way| *way != "leased" || backend == Backend::NONE;
    // There are no such sockets, and Landlock lets nothing be written.
    let fenced = |way: &Way| !SOCKETS.contains(way) && *way != "written";
    let all = ALL.into_iter().filter(has);
    match backend {
        NATIVE => BTreeSet::new(),
        FIREJAIL | LANDLOCK => all.filter(fenced).collect(),
        _ => all.collect(),
    }
}

fn attacked(wanted: Backend) {
    for (backend, who) in present().filter(|(backend, _)| *backend == wanted) {
        let there = There::of(backend, who);
        let (out, said) = there.tried();
        let words = format!("{backend} {who:?}: {out:?}\n{said}");
        assert!(said.contains("done"), "{words}");
        let read = said.lines().filter(|line| *line == "content content").count();
        assert_eq!(read, there.places.len(), "{words}");
        let ways: BTreeSet<_> = out.iter().map(|(way, _)| *way).collect();
        std::io::stderr().write_all(format!("{backend} {who:?}: {ways:?}\n").as_bytes()).unwrap();
        assert_eq!(ways, declared(backend), "{words}");
    }
}

#[test]
fn in_the_native_sandbox_nothing_that_is_only_read_leads_outside() {
    attacked(NATIVE);
}

#[test]
fn in_bubblewrap_what_is_shown_leads_outside_as_it_says() {
    attacked(BUBBLEWRAP);
}

#[test]
fn in_containers_what_is_shown_leads_outside_as_they_say() {
    attacked(DOCKER);
    attacked(PODMAN);
}

#[test]
fn in_firejail_and_landlock_what_is_shown_leads_outside_as_they_say() {
    attacked(FIREJAIL);
    attacked(LANDLOCK);
}

/// The control.
#[test]
fn where_nothing_stops_it_all_that_is_shown_leads_outside() {
    attacked(Backend::NONE);
}

/// As under `sudo`, where `PATH` is another user's.
#[test]
fn an_interpreter_in_another_users_home_shows_nothing_beside_itself() {
    const HOMES: &str = "mount --bind \"$1\" /home; cd \"$2\"; shift 2; exec \"$@\"";
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not tried: only root can put another folder at /home");
    }
    let scene = Scene::of(Who::Ourselves);
    let homes = scene.home().parent().unwrap().join("homes");
    let python = std::fs::canonicalize("/usr/bin/python3").unwrap();
    for prefix in ["zoe", "zoe/tools/python"] {
        let at = homes.join(prefix);
        std::fs::create_dir_all(at.join("bin")).unwrap();
        copy_program(&python, &at.join("bin/python3"), "755");
        for (name, text) in
            [("lib/part.txt", "a part\n"), (".env", CANARY), ("notes.txt", "notes\n")]
        {
            scene.put(&at.join(name), text.as_bytes());
        }
    }
    let open_up = Command::new("chmod").arg("-R").arg("a+rX").arg(&homes).status().unwrap();
    assert!(open_up.success());
    let code = "import glob, sys\nprint(sys.executable)\n\
        for path in sorted(glob.glob('/home/zoe/**/*', recursive=True) + glob.glob('/home/zoe/**/.*', recursive=True)):\n\
        \x20 try: print(path, open(path).read().strip())\n\
        \x20 except OSError: pass\n\
        \x20 except UnicodeDecodeError: print(path)";
    let run = |path: &str, more: &[&str]| {
        let run = [&["run"], more, &["-l", "python", "-c", code]].concat();
        let inner = scene.command(&run);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-ec", HOMES, "sh"]).arg(&homes).arg(scene.work());
        command.arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = format!("{path}:/usr/bin:/bin");
        let output = command.env("PATH", path).output().unwrap();
        Seen(output)
    };
    let none = scene.on(Backend::NONE);
    let control = run("/home/zoe/bin", &none).exits(0);
    control.mentions("/home/zoe/notes.txt notes").mentions(CANARY);
    let home = run("/home/zoe/bin", &[]);
    home.prints("/home/zoe/bin/python3\n/home/zoe/bin/python3\n").exits(0);
    let deeper = run("/home/zoe/tools/python/bin", &[]).exits(0).lacks(CANARY);
    let deeper = deeper.mentions("/home/zoe/tools/python/lib/part.txt a part");
    deeper.lacks("/home/zoe/notes.txt");
}
