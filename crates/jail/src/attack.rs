//! A short attack on the sandbox from inside, by our own binary in another role.
//!
//! It is started where code is started, and tries what code would try, against targets that the
//! outside put there for it and for nobody else. It says which attacks succeeded; the outside
//! judges by the state of the targets. Where only the kernel's answer shows it, that is reported.
//!
//! Must harm nothing but its targets and itself, with or without a sandbox: it also runs where
//! there is none, to show that the attacks work.

use crate::sys::{trace, unshare};
use rustix::{
    mount::{MountPropagationFlags, mount_change},
    process::{Pid, Signal, getpid, kill_process},
    thread::no_new_privs,
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    },
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The name under which our binary is started to attack.
pub const ATTACK: &str = "interpreter-attack";

/// Bytes of a file that are read.
const MOST: u64 = 64 << 10;

/// One thing that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attack {
    /// Connects to a port of the machine.
    ConnectsToPort,
    /// Connects to a socket of another process, by its path and by its abstract name.
    ConnectsToSocket,
    /// Reads a file outside.
    ReadsFile,
    /// Changes a file outside, and makes one.
    WritesFile,
    /// Ends a process outside.
    EndsProcess,
    /// Takes a process outside over.
    TracesProcess,
    /// Reads the environment of a process outside.
    ReadsEnvironment,
    /// Can gain privileges by programs that give them.
    GainsPrivileges,
    /// Makes a namespace in which it is root.
    MakesNamespace,
    /// Changes what is mounted.
    Mounts,
}

impl Attack {
    /// All of them, in the order in which they are tried: a process is read before it is ended, and
    /// the last ones change the attacker itself.
    pub const ALL: [Self; 10] = [
        Self::ConnectsToPort,
        Self::ConnectsToSocket,
        Self::ReadsFile,
        Self::WritesFile,
        Self::ReadsEnvironment,
        Self::EndsProcess,
        Self::GainsPrivileges,
        Self::TracesProcess,
        Self::MakesNamespace,
        Self::Mounts,
    ];

    /// A description of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::ConnectsToPort => "connects to a port outside",
            Self::ConnectsToSocket => "connects to a socket outside",
            Self::ReadsFile => "reads a file outside",
            Self::WritesFile => "writes a file outside",
            Self::EndsProcess => "ends a process outside",
            Self::TracesProcess => "takes a process outside over",
            Self::ReadsEnvironment => "reads the environment of a process outside",
            Self::GainsPrivileges => "can gain privileges",
            Self::MakesNamespace => "makes a namespace",
            Self::Mounts => "changes mounts",
        }
    }
}

/// Targets of the attacks, outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// A file that holds a secret.
    pub secret: PathBuf,
    /// A file that can be changed.
    pub file: PathBuf,
    /// A file that is not there.
    pub new: PathBuf,
    /// A process whose environment holds a secret.
    pub process: i32,
    /// A process that an attack may take over.
    pub traced: i32,
    /// A port that somebody listens on.
    pub port: u16,
    /// A socket that somebody listens on.
    pub socket: PathBuf,
    /// The abstract name of another one.
    pub name: String,
}

/// The result of an attack: a line of its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The attack that speaks.
    pub attack: Attack,
    /// The loot, if it can be shown.
    pub got: Option<String>,
}

/// Tries everything. The argument is [`Targets`] as JSON; what is printed is a [`Said`] a line.
#[expect(clippy::disallowed_methods, reason = "the stream of a process inside, not a person's")]
pub fn run(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let targets = arguments.next().and_then(|text| serde_json::from_str(&text).ok());
    let Some(targets) = targets else { return ExitCode::from(2) };
    for attack in Attack::ALL {
        let said = Said { attack, got: attempt(attack, &targets) };
        let Ok(mut line) = serde_json::to_vec(&said) else { return ExitCode::FAILURE };
        line.push(b'\n');
        if io::stdout().write_all(&line).and_then(|()| io::stdout().flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The loot of an attack. A refusal gives none.
fn attempt(attack: Attack, targets: &Targets) -> Option<String> {
    match attack {
        Attack::ConnectsToPort => {
            let address = (Ipv4Addr::LOCALHOST, targets.port);
            TcpStream::connect(address).ok().map(|_| done())
        }
        Attack::ConnectsToSocket => {
            let by_path = UnixStream::connect(&targets.socket).is_ok();
            let by_name = SocketAddr::from_abstract_name(&targets.name)
                .and_then(|name| UnixStream::connect_addr(&name))
                .is_ok();
            (by_path || by_name).then(done)
        }
        Attack::ReadsFile => read_around(targets, &targets.secret),
        Attack::WritesFile => write_outside(targets).then(done),
        Attack::EndsProcess => {
            let victim = other(targets.process)?;
            kill_process(victim, Signal::KILL).ok().map(|()| done())
        }
        Attack::TracesProcess => {
            let victim = other(targets.traced)?;
            trace(victim).ok().map(|()| done())
        }
        Attack::ReadsEnvironment => read(format!("/proc/{}/environ", targets.process)),
        Attack::GainsPrivileges => match no_new_privs() {
            Ok(true) => None,
            Ok(false) | Err(_) => Some(done()),
        },
        Attack::MakesNamespace => unshare(libc::CLONE_NEWUSER).ok().map(|()| done()),
        Attack::Mounts => change_mounts(),
    }
}

fn done() -> String {
    "done".into()
}

/// A process that is neither this one nor the first one of a sandbox.
fn other(number: i32) -> Option<Pid> {
    Some(number).filter(|&number| number > 1).and_then(Pid::from_raw).filter(|&pid| pid != getpid())
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty())
}

/// Reads a file by its path, and by the roots of other processes.
fn read_around(targets: &Targets, path: &Path) -> Option<String> {
    let below = path.strip_prefix("/").unwrap_or(path);
    let roots = [targets.process, 1].map(|pid| Path::new("/proc").join(format!("{pid}/root")));
    read(path).or_else(|| roots.iter().find_map(|root| read(root.join(below))))
}

fn write_outside(targets: &Targets) -> bool {
    let changed = fs::OpenOptions::new()
        .append(true)
        .open(&targets.file)
        .and_then(|mut file| file.write_all(b"changed"));
    let made = fs::File::create_new(&targets.new);
    changed.is_ok() | made.is_ok()
}

/// In a namespace of its own if it can have one, so that nothing is changed for others.
fn change_mounts() -> Option<String> {
    unshare(libc::CLONE_NEWNS).ok()?;
    let flags = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", flags).ok().map(|()| done())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_can_be_read_again() {
        for attack in Attack::ALL {
            let said = Said { attack, got: Some("x".into()) };
            let line = serde_json::to_string(&said).unwrap();
            assert_eq!(serde_json::from_str::<Said>(&line).unwrap(), said);
        }
    }

    #[test]
    fn the_first_process_and_oneself_are_no_victims() {
        assert_eq!(other(1), None);
        assert_eq!(other(-1), None);
        assert_eq!(other(getpid().as_raw_pid()), None);
    }
}
