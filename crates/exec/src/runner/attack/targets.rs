//! The targets outside while a sandbox is attacked, made for that alone: our own files, processes
//! and sockets.

use crate::sandbox::Machine;
use interpreter_jail::{
    JAIL,
    attack::{Attack, Said, Targets},
};
use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::DirBuilderExt,
            net::{SocketAddr, UnixListener},
        },
    },
    path::PathBuf,
    process::Stdio,
};
use tokio::process::{Child, Command};

/// The content of a file before the attack.
const UNCHANGED: &str = "unchanged\n";

/// Everything that stands outside. It goes when this is dropped.
pub(super) struct Outside {
    folder: PathBuf,
    /// The folder's name, and that of an abstract socket.
    name: String,
    /// A text that is nowhere else.
    canary: String,
    victim: Child,
    traced: Child,
    port: TcpListener,
    sockets: [UnixListener; 2],
}

impl Outside {
    pub(super) fn prepare(machine: &Machine) -> io::Result<Self> {
        let unique = uuid::Uuid::new_v4().simple().to_string();
        // By the number of this process it is known to be in use.
        let name = format!("{}-attacked-{unique}", std::process::id());
        let folder = machine.scratch.join(&name);
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder)?;
        let canary = format!("canary-{}", uuid::Uuid::new_v4().simple());
        let address = SocketAddr::from_abstract_name(&name)?;
        let made = Self {
            victim: waiting(machine, &canary)?,
            traced: waiting(machine, &canary)?,
            port: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            sockets: [UnixListener::bind(folder.join("s"))?, UnixListener::bind_addr(&address)?],
            folder,
            name,
            canary,
        };
        fs_err::write(made.folder.join("secret"), &made.canary)?;
        fs_err::write(made.folder.join("file"), UNCHANGED)?;
        made.port.set_nonblocking(true)?;
        for socket in &made.sockets {
            socket.set_nonblocking(true)?;
        }
        Ok(made)
    }

    pub(super) fn targets(&self) -> Targets {
        let number = |child: &Child| child.id().and_then(|id| i32::try_from(id).ok());
        Targets {
            secret: self.folder.join("secret"),
            file: self.folder.join("file"),
            new: self.folder.join("new"),
            process: number(&self.victim).unwrap_or_default(),
            traced: number(&self.traced).unwrap_or_default(),
            port: self.port.local_addr().map_or(0, |address| address.port()),
            socket: self.folder.join("s"),
            name: self.name.clone(),
        }
    }

    /// Whether an attack has succeeded: by what became of its target; and where nothing can be seen
    /// of it from outside, by what it says, for it is ours.
    pub(super) fn shows(&mut self, said: &Said) -> bool {
        let has_canary = || said.got.as_ref().is_some_and(|got| got.contains(&self.canary));
        match said.attack {
            Attack::ConnectsToPort => self.port.accept().is_ok(),
            Attack::ConnectsToSocket => self.sockets.iter().any(|one| one.accept().is_ok()),
            Attack::ReadsFile | Attack::ReadsEnvironment => has_canary(),
            Attack::WritesFile => {
                let unchanged = fs_err::read_to_string(self.folder.join("file"));
                !unchanged.is_ok_and(|text| text == UNCHANGED) || self.folder.join("new").exists()
            }
            Attack::EndsProcess => has_ended(&mut self.victim),
            Attack::TracesProcess => has_ended(&mut self.traced),
            Attack::GainsPrivileges | Attack::MakesNamespace | Attack::Mounts => said.got.is_some(),
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // The next session removes leftovers.
        _ = fs_err::remove_dir_all(&self.folder).is_ok();
    }
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().is_ok_and(|status| status.is_some())
}

/// A process of ours that waits to be told something, which nobody tells it.
fn waiting(machine: &Machine, canary: &str) -> io::Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "our own program, which does nothing")]
    let mut command = Command::new(&machine.program);
    command
        .arg0(JAIL)
        .env_clear()
        .env("CANARY", canary)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}
