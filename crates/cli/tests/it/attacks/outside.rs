//! The targets of each attack, made for it alone: a secret, a file, a process, sockets, a terminal.
//! An attack names its target by a word such as `@SECRET@`; only that one is made.

use super::{Attack, Evidence, Forged, Need};
use crate::scene::{Scene, copy_program};
use rustix::{
    fs::{CWD, Mode, OFlags, mkfifoat, open},
    io::{ioctl_fionbio, read},
    net::{RecvFlags, accept, recv},
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
};
use std::{
    net::{IpAddr, TcpListener, UdpSocket},
    os::{
        fd::{AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::{
            fs::{FileTypeExt, MetadataExt, PermissionsExt},
            net::{SocketAddr, UnixDatagram, UnixListener},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The surroundings of one attack.
pub(super) struct Outside {
    /// The text that is nowhere else.
    canary: String,
    words: Vec<(&'static str, String)>,
    file: Option<Before>,
    new: PathBuf,
    victim: Option<Victim>,
    listeners: Vec<OwnedFd>,
    receivers: Vec<OwnedFd>,
    /// Where what is written to a terminal comes out.
    terminal: Option<OwnedFd>,
    shared: Option<String>,
    /// Descriptors that must stay open.
    kept: Vec<OwnedFd>,
}

/// A file as it was.
struct Before {
    path: PathBuf,
    about: About,
}

type About = (u64, u32, i64, i64, Vec<u8>);

fn about(path: &Path) -> Option<About> {
    let data = std::fs::symlink_metadata(path).ok()?;
    let content = std::fs::read(path).ok()?;
    Some((data.ino(), data.mode(), data.mtime(), data.ctime_nsec(), content))
}

struct Victim(Child);

impl Victim {
    /// Whether it has ended, or does not go on.
    fn is_harmed(&mut self) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()));
        let state = state.ok().and_then(|text| text.rsplit(") ").next().map(str::to_owned));
        self.0.try_wait().unwrap().is_some()
            || state.is_none_or(|text| text.starts_with(['T', 't', 'Z', 'X']))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        if let Some(Victim(child)) = &mut self.victim {
            _ = child.kill();
            _ = child.wait();
        }
        if let Some(number) = &self.shared {
            _ = Command::new("ipcrm").args(["-m", number]).output();
        }
    }
}

impl Outside {
    /// Puts there what an attack wants. Names are short, because those of sockets must be.
    pub(super) fn around(scene: &Scene, attack: &Attack, number: usize) -> Self {
        let canary = format!("canary-{number}-{}", uuid(scene, number));
        let mut outside = Self {
            canary,
            words: vec![("@NAME@", format!("n{number}"))],
            file: None,
            new: scene.home().join(format!("t/{number}.new")),
            victim: None,
            listeners: vec![],
            receivers: vec![],
            terminal: None,
            shared: None,
            kept: vec![],
        };
        outside.words.push(("@HOME@", text(&scene.home())));
        outside.words.push(("@WORK@", text(&scene.work())));
        outside.files(scene, attack, number);
        outside.processes(scene, attack);
        outside.sockets(scene, attack, number);
        outside.networks(attack);
        outside
    }

    /// Lets a word stand for something.
    fn let_be(&mut self, word: &'static str, meaning: impl Into<String>) {
        self.words.push((word, meaning.into()));
    }

    fn files(&mut self, scene: &Scene, attack: &Attack, number: usize) {
        let wants = |word: &str| attack.code.contains(word);
        if wants("@SECRET@") {
            let path = scene.home().join(format!("s/{number}"));
            scene.put(&path, format!("{}\n", self.canary).as_bytes());
            self.let_be("@SECRET@", text(&path));
        }
        if wants("@FILE@") || wants("@NEW@") || wants("@LINK@") {
            let path = scene.home().join(format!("t/{number}"));
            scene.put(&path, b"mine\n");
            self.let_be("@FILE@", text(&path));
            self.let_be("@NEW@", text(&self.new));
            let link = scene.work().join(format!("l{number}"));
            if wants("@LINK@") {
                std::os::unix::fs::symlink(&path, &link).unwrap();
                self.let_be("@LINK@", text(&link));
            }
            self.file = Some(Before { about: about(&path).unwrap(), path });
        }
        if wants("@SETUID@") {
            let path = scene.work().join(format!("u{number}"));
            copy_program(Path::new("/usr/bin/id"), &path, "4755");
            self.let_be("@SETUID@", text(&path));
        }
        if wants("@SHARED@") {
            let made = Command::new("ipcmk").args(["-M", "64", "-p", "0666"]).output().unwrap();
            let made = String::from_utf8_lossy(&made.stdout).into_owned();
            let shared = made.split_whitespace().last().unwrap_or_default().to_owned();
            self.let_be("@SHARED@", shared.clone());
            self.shared = Some(shared);
        }
    }

    fn processes(&mut self, scene: &Scene, attack: &Attack) {
        let (victim, terminal) = ("@VICTIM@", "@TERMINAL@");
        if attack.code.contains(victim) {
            let mut command = Command::new("sleep");
            command.arg0(&self.canary).arg("1000").env("KEY", &self.canary);
            command.current_dir("/").stdin(Stdio::null());
            let child = scene.as_its_user(&mut command).spawn().unwrap();
            self.let_be(victim, child.id().to_string());
            self.victim = Some(Victim(child));
        }
        if attack.code.contains(terminal) {
            let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
            let outer = openpt(flags).unwrap();
            grantpt(&outer).unwrap();
            unlockpt(&outer).unwrap();
            let inner = ioctl_tiocgptpeer(&outer, flags).unwrap();
            ioctl_fionbio(&outer, true).unwrap();
            let name = format!("/proc/self/fd/{}", inner.as_raw_fd());
            let name = std::fs::read_link(name).unwrap();
            scene.give(&name);
            self.let_be(terminal, text(&name));
            self.kept.push(inner);
            self.terminal = Some(outer);
        }
    }

    fn sockets(&mut self, scene: &Scene, attack: &Attack, number: usize) {
        let wants = |word: &str| attack.code.contains(word);
        let at = |folder: PathBuf, mark: &str| folder.join(format!("{mark}{number}"));
        for (word, path) in
            [("@SOCKET@", at(scene.home(), "a")), ("@WORKSOCKET@", at(scene.work(), "w"))]
        {
            if wants(word) {
                self.listeners.push(UnixListener::bind(&path).unwrap().into());
                open_to_all(&path);
                let name = if word == "@SOCKET@" { text(&path) } else { format!("w{number}") };
                self.let_be(word, name);
            }
        }
        if wants("@ABSTRACT@") {
            let name = format!("interpreter-test-{}-{number}", scene.work().display());
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            self.listeners.push(UnixListener::bind_addr(&address).unwrap().into());
            self.let_be("@ABSTRACT@", name);
        }
        if wants("@DATAGRAM@") {
            let path = at(scene.home(), "d");
            self.receivers.push(UnixDatagram::bind(&path).unwrap().into());
            open_to_all(&path);
            self.let_be("@DATAGRAM@", text(&path));
        }
        if wants("@PIPE@") {
            let path = at(scene.work(), "p");
            mkfifoat(CWD, &path, Mode::from_raw_mode(0o666)).unwrap();
            open_to_all(&path);
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            self.receivers.push(open(&path, flags, Mode::empty()).unwrap());
            self.let_be("@PIPE@", format!("p{number}"));
        }
    }

    fn networks(&mut self, attack: &Attack) {
        let wants = |word: &str| attack.code.contains(word);
        if wants("@PORT@") {
            self.listens("@PORT@", "0.0.0.0:0");
        }
        if wants("@PORT6@") && is_here(Need::Ipv6) {
            self.listens("@PORT6@", "[::1]:0");
        }
        if wants("@DATAGRAMS@") {
            let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
            self.let_be("@DATAGRAMS@", receiver.local_addr().unwrap().port().to_string());
            self.receivers.push(receiver.into());
        }
        // Where there is none, something that nobody has.
        self.let_be("@PORT6@", "1");
        let address = own_address().map_or("192.0.2.1".into(), |address| address.to_string());
        self.let_be("@ADDRESS@", address);
        for one in self.listeners.iter().chain(&self.receivers) {
            ioctl_fionbio(one, true).unwrap();
        }
    }

    fn listens(&mut self, word: &'static str, address: &str) {
        let listener = TcpListener::bind(address).unwrap();
        self.let_be(word, listener.local_addr().unwrap().port().to_string());
        self.listeners.push(listener.into());
    }

    /// The attack's code, with what it wants by name.
    pub(super) fn spell(&self, code: &str) -> String {
        self.words.iter().fold(code.to_owned(), |code, (word, meaning)| code.replace(word, meaning))
    }

    pub(super) fn canary(&self) -> &str {
        &self.canary
    }

    /// The port that listens, if there is one.
    pub(super) fn port(&self) -> Option<&str> {
        let found = self.words.iter().find(|(word, _)| *word == "@PORT@");
        found.map(|(_, port)| port.as_str())
    }

    /// Whether the attack has succeeded, by what there is to see.
    pub(super) fn shows(
        &mut self,
        evidence: Evidence,
        said: &str,
        went_on: bool,
        work: &Path,
    ) -> bool {
        match evidence {
            Evidence::Canary => said.contains(&self.canary),
            Evidence::Printed => said.lines().any(|line| line.starts_with("ESCAPED")),
            Evidence::Flood(most) => said.len() > most,
            Evidence::End => !went_on,
            Evidence::File => {
                let changed = |before: &Before| about(&before.path) != Some(before.about.clone());
                self.file.as_ref().is_some_and(changed) || self.new.symlink_metadata().is_ok()
            }
            Evidence::Process => self.victim.as_mut().is_some_and(Victim::is_harmed),
            Evidence::Connection => {
                let reached = |one: &OwnedFd| accept(one).is_ok();
                self.listeners.iter().any(reached) || self.receivers.iter().any(receives)
            }
            Evidence::Terminal => self.terminal.as_ref().is_some_and(receives),
            Evidence::Applied(name, forged) => is_there(&work.join(name), forged),
        }
    }
}

fn is_there(path: &Path, forged: Forged) -> bool {
    let Ok(data) = std::fs::symlink_metadata(path) else { return false };
    let kind = data.file_type();
    match forged {
        Forged::Present => true,
        Forged::Special => kind.is_fifo() || kind.is_socket() || kind.is_char_device(),
        Forged::Setuid => data.mode() & 0o6000 != 0,
        Forged::Attribute(name) => rustix::fs::lgetxattr(path, name, &mut [0u8; 64]).is_ok(),
    }
}

fn receives(one: &OwnedFd) -> bool {
    let mut buffer = [0; 64];
    recv(one, &mut buffer, RecvFlags::DONTWAIT).is_ok()
        || read(one, &mut buffer).is_ok_and(|count| count > 0)
}

fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).unwrap();
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Something that is nowhere else.
fn uuid(scene: &Scene, number: usize) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("{:x}-{:x}", now.as_nanos() ^ (number as u128), text(&scene.work()).len())
}

/// The machine's own address on a network beside loopback, if it has one. Nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
}

/// Whether a machine has what a control needs.
pub(super) fn is_here(need: Need) -> bool {
    match need {
        Need::Ipv6 => UdpSocket::bind("[::1]:0").is_ok(),
        Need::Interface => own_address().is_some(),
        Need::Path(path) => Path::new(path).exists(),
        Need::SetuidProgram => rustix::process::geteuid().is_root(),
    }
}
