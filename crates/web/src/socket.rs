//! The protocol on a Unix socket, for other programs of the same person.
//!
//! # Threat
//! Another user who connects; a path at which something else lies, or comes to lie; so many clients
//! that no descriptor is left.
//!
//! # Mechanism
//! The socket is made in a folder that only its owner can enter, and has mode 0600. The kernel says
//! who connects: the same user or root, nobody else. Only a socket that nobody listens on any more is
//! replaced, behind a lock of its folder; at the end only our own file is removed. Clients have a
//! bound, and where descriptors run out no more are accepted until one is free.

use crate::{
    Caller, RightSet, SessionHub,
    client::{AtEnd, serve},
    stream_lines::StreamLines,
};
use rustix::{
    fs::{FileType, FlockOperation, Mode, OFlags, Stat, flock, lstat, open},
    io::Errno,
    process::geteuid,
};
use std::{
    io,
    os::unix::{fs::PermissionsExt, net::UnixStream as Probe},
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    net::{UnixListener, UnixStream},
    task::JoinSet,
    time::timeout,
};

/// Clients at once.
const MOST_CLIENTS: usize = 64;

/// How long to wait for a descriptor to become free.
const BREATH: Duration = Duration::from_secs(1);

/// How long clients have to take what is still theirs when the server has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why a socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder of the socket can be entered by others.
    #[error("the folder `{}` is open to other users", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("`{}` is there already, and is no socket of this program", path.display())]
    Taken {
        /// The path.
        path: PathBuf,
    },
    /// Another server listens there.
    #[error("another program listens on `{}`", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be made.
    #[error("cannot listen on `{}`", path.display())]
    Bind {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A socket that this server listens on. Its file goes with it.
#[derive(Debug)]
pub struct ListeningSocket {
    listener: UnixListener,
    path: PathBuf,
    /// By which our own file is known.
    identity: (u64, u64),
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        if lstat(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            // If it stays, the next server finds that nobody listens there.
            _ = fs_err::remove_file(&self.path).is_ok();
        }
    }
}

fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev, found.st_ino)
}

impl ListeningSocket {
    /// Listens at a path. Its folder is made if it is missing.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let failed = |source: io::Error| SocketError::Bind { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let folder = path.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        if !folder.exists() {
            fs_err::create_dir(folder).map_err(failed)?;
            fs_err::set_permissions(folder, PermissionsExt::from_mode(0o700)).map_err(failed)?;
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let held = open(folder, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let found = rustix::fs::fstat(&held).map_err(|error| failed(error.into()))?;
        let is_private = found.st_uid == geteuid().as_raw()
            && Mode::from_raw_mode(found.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
        if !is_private {
            return Err(SocketError::NotPrivate { path: folder.to_owned() });
        }
        // Two servers that start at once must not take each other's socket for one left behind.
        flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        clear(&path)?;
        let listener = UnixListener::bind(&path).map_err(failed)?;
        let found = lstat(&path).map_err(|error| failed(error.into()))?;
        let socket = Self { listener, identity: identity(&found), path };
        fs_err::set_permissions(&socket.path, PermissionsExt::from_mode(0o600)).map_err(failed)?;
        Ok(socket)
    }

    /// Serves whoever connects, until somebody ends the server and its sessions are over.
    pub async fn serve(self, hub: &SessionHub) {
        let mut clients = JoinSet::new();
        let mut number = 0_u64;
        let wanted_to_end = hub.wanted_to_end();
        tokio::pin!(wanted_to_end);
        loop {
            let accepted = tokio::select! {
                () = &mut wanted_to_end => break,
                Some(_) = clients.join_next() => continue,
                accepted = self.listener.accept(), if clients.len() < MOST_CLIENTS => accepted,
            };
            match accepted {
                Ok((stream, _)) if is_allowed(&stream) => {
                    number += 1;
                    let name = format!("socket-{number}");
                    clients.spawn(serve_one(hub.clone(), name, stream));
                }
                // Whoever is not allowed sees the end of the stream at once.
                Ok(_) => {}
                Err(error) if is_short_of_descriptors(&error) => {
                    // The next client that leaves frees one, or something else does.
                    _ = timeout(BREATH, clients.join_next()).await.is_ok();
                }
                // A connection that broke before it was accepted.
                Err(_) => tokio::task::yield_now().await,
            }
        }
        hub.shut().await;
        let farewell = async { while clients.join_next().await.is_some() {} };
        _ = timeout(FAREWELL, farewell).await.is_ok();
        clients.shutdown().await;
    }
}

/// Makes room for our socket: where nobody listens any more, and nothing else is.
fn clear(path: &Path) -> Result<(), SocketError> {
    let taken = || SocketError::Taken { path: path.to_owned() };
    let found = match lstat(path) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => {
            return Err(SocketError::Bind { path: path.to_owned(), source: error.into() });
        }
    };
    let is_socket = FileType::from_raw_mode(found.st_mode) == FileType::Socket;
    if !is_socket || found.st_uid != geteuid().as_raw() {
        return Err(taken());
    }
    match Probe::connect(path) {
        Ok(_) => Err(SocketError::InUse { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs_err::remove_file(path)
            .map_err(|source| SocketError::Bind { path: path.to_owned(), source }),
        Err(_) => Err(taken()),
    }
}

/// Whether whoever connected is the same user, or root.
fn is_allowed(stream: &UnixStream) -> bool {
    let us = geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == us || peer.uid() == 0)
}

fn is_short_of_descriptors(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}

async fn serve_one(hub: SessionHub, name: String, stream: UnixStream) {
    let caller = Caller::operator(name, RightSet::all());
    // It takes up its place when it is back.
    _ = serve(&hub, caller, StreamLines::new(stream), AtEnd::Leave).await.is_ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(path: &Path) -> Result<ListeningSocket, SocketError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _within = runtime.enter();
        ListeningSocket::bind(path)
    }

    fn private() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs_err::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        folder
    }

    #[test]
    fn a_socket_takes_the_place_of_nothing_but_one_left_behind() {
        let folder = private();
        let path = folder.path().join("s");
        fs_err::write(&path, "mine").unwrap();
        assert!(matches!(bind(&path), Err(SocketError::Taken { .. })));
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "mine");
        fs_err::remove_file(&path).unwrap();
        fs_err::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(bind(&path), Err(SocketError::Taken { .. })));
        fs_err::remove_file(&path).unwrap();

        let first = bind(&path).unwrap();
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(bind(&path), Err(SocketError::InUse { .. })));
        // A killed server leaves its file.
        let (left, gone) = (folder.path().join("kept"), path.clone());
        fs_err::rename(&path, &left).unwrap();
        drop(first);
        assert!(left.exists() && !gone.exists());
        fs_err::rename(&left, &path).unwrap();
        let second = bind(&path).unwrap();
        // A file that somebody puts in its place is not ours to remove.
        fs_err::remove_file(&path).unwrap();
        fs_err::write(&path, "theirs").unwrap();
        drop(second);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn its_folder_is_private() {
        let folder = private();
        let path = folder.path().join("new/s");
        drop(bind(&path).unwrap());
        let made = fs_err::metadata(folder.path().join("new")).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o700);
        fs_err::set_permissions(folder.path(), PermissionsExt::from_mode(0o711)).unwrap();
        assert!(matches!(bind(&folder.path().join("s")), Err(SocketError::NotPrivate { .. })));
    }
}
