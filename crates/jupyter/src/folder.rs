//! The private folder that a kernel's sockets are in, and the file that says so.

use crate::seal::{Seal, random_hex};
use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// The beginning of every socket's name.
const STEM: &str = "k";

/// Settings for kernels that are made with `IPython`'s. By itself a socket throws messages away when
/// a thousand of them wait; nothing is remembered that ends with the sandbox; and Jedi, which has no
/// cache in a sandbox, would think for many seconds before it completes anything.
const IPYTHON: &str = "\
import zmq

plain_socket = zmq.Context.socket

def socket(self, socket_type, *arguments, **options):
    made = plain_socket(self, socket_type, *arguments, **options)
    if socket_type in (zmq.PUB, zmq.XPUB):
        made.sndhwm = 0
    return made

zmq.Context.socket = socket

c = get_config()
c.HistoryManager.enabled = False
c.Completer.use_jedi = False
";

/// A kernel's sockets, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Shell,
    Iopub,
    Stdin,
    Control,
}

impl Channel {
    pub(crate) const ALL: [Self; 4] = [Self::Shell, Self::Iopub, Self::Stdin, Self::Control];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Iopub => "iopub",
            Self::Stdin => "stdin",
            Self::Control => "control",
        }
    }

    /// The number in place of a port.
    fn number(self) -> u8 {
        match self {
            Self::Shell => 1,
            Self::Iopub => 2,
            Self::Stdin => 3,
            Self::Control => 4,
        }
    }
}

/// A private folder. It goes when this does.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes one, with the connection file in it.
    pub(crate) fn make(seal: &Seal) -> io::Result<Self> {
        // Short: kernels that are made with xeus have room for 31 bytes, `ipc://` among them.
        let name = format!("j{}", &random_hex()?[..8]);
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self { path };
        let connection = serde_json::json!({
            "transport": "ipc",
            "ip": folder.path.join(STEM),
            "shell_port": Channel::Shell.number(),
            "iopub_port": Channel::Iopub.number(),
            "stdin_port": Channel::Stdin.number(),
            "control_port": Channel::Control.number(),
            "hb_port": 5,
            "key": seal.key(),
            "signature_scheme": "hmac-sha256",
            "kernel_name": "",
        });
        folder.write(&folder.connection_file(), &connection.to_string())?;
        let profile = folder.ipython().join("profile_default");
        DirBuilder::new().recursive(true).mode(0o700).create(&profile)?;
        folder.write(&profile.join("ipython_kernel_config.py"), IPYTHON)?;
        Ok(folder)
    }

    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        debug_assert!(file.starts_with(&self.path));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
        file.write_all(text.as_bytes())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that tells the kernel where its sockets are to be.
    pub(crate) fn connection_file(&self) -> PathBuf {
        self.path.join("connection.json")
    }

    /// The folder of `IPython`'s settings.
    pub(crate) fn ipython(&self) -> PathBuf {
        self.path.join("ipython")
    }

    /// Where a kernel may have put a socket. The protocol's own client joins the two parts of an
    /// address with a dash; some kernels join them as they do for ports.
    pub(crate) fn sockets(&self, channel: Channel) -> [PathBuf; 2] {
        ['-', ':'].map(|sign| self.path.join(format!("{STEM}{sign}{}", channel.number())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The kernel's code may have changed it in any way; it is gone with the sandbox at last.
        _ = fs_err::remove_dir_all(&self.path).is_ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_can_look_in_and_it_goes_in_the_end() {
        let seal = Seal::new().unwrap();
        let folder = Folder::make(&seal).unwrap();
        let path = folder.path().to_owned();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.connection_file())), (0o700, 0o600));
        let text = fs_err::read_to_string(folder.connection_file()).unwrap();
        assert!(text.contains(seal.key()) && text.contains("\"ipc\""));
        drop(folder);
        assert!(!path.exists());
    }
}
