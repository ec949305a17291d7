//! Takes the listening socket that the host inside hands out. See `interpreter_host::egress`.
//!
//! The Unix socket is in a folder that only the person can enter, and is removed as soon as the
//! host has connected. The received descriptor must be a socket that listens on loopback.

use crate::socket_path::short_path;
use rustix::{
    fs::{FlockOperation, flock},
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt},
};
use std::{
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    net::SocketAddr,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};
use tokio::{
    io::Interest,
    net::{TcpListener, UnixListener, UnixStream},
};

/// A door that one host comes through, once.
#[derive(Debug)]
pub(super) struct Door {
    listener: UnixListener,
    /// Takes the file away when nobody can come any more.
    path: Removed,
}

#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // It may be gone; and if it stays, nobody answers there.
        _ = fs_err::remove_file(&self.0).is_ok();
    }
}

impl Door {
    /// Opens a door in `folder`, which is made if need be.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        match std::fs::DirBuilder::new().mode(0o700).create(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let opened = fs_err::File::open(folder)?;
        // A door that does not listen yet looks like one that was left. So nobody sweeps while
        // somebody opens one; whoever cannot sweep leaves that to a later session.
        if flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok() {
            sweep(folder, &opened);
        }
        flock(&opened, FlockOperation::LockShared)?;
        let path = folder.join(uuid::Uuid::new_v4().simple().to_string());
        let name = path.file_name().unwrap_or_default();
        let listener = UnixListener::bind(short_path(&opened, name))?;
        let path = Removed(path);
        // The folder keeps others out; inside it is another user who connects.
        fs_err::set_permissions(&path.0, std::fs::Permissions::from_mode(0o666))?;
        Ok(Self { listener, path })
    }

    /// Where it is, for the sandbox to bind in.
    pub(super) fn path(&self) -> &Path {
        &self.path.0
    }

    /// Waits for the host and takes what it brings. Then the door is gone. Who comes and brings
    /// nothing was another session that looked whether somebody answers here.
    pub(super) async fn receive(self) -> io::Result<TcpListener> {
        let brought = loop {
            let (stream, _) = self.listener.accept().await?;
            if let Some(brought) = receive_one(&stream).await? {
                break brought;
            }
        };
        drop(self);
        let listener = std::net::TcpListener::from(brought);
        let loopback =
            matches!(listener.local_addr()?, SocketAddr::V4(at) if at.ip().is_loopback());
        if !loopback || !sockopt::socket_acceptconn(&listener)? {
            return Err(io::Error::other("the host's socket does not listen on loopback"));
        }
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    }
}

/// Takes the descriptor that comes through `stream`.
pub(crate) async fn receive(stream: &UnixStream) -> io::Result<OwnedFd> {
    let brought = receive_one(stream).await?;
    brought.ok_or_else(|| io::Error::other("the host sent no socket"))
}

/// Takes the descriptor that comes through `stream`, if one does.
async fn receive_one(stream: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let read = || {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut byte)];
        recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut messages = control.drain();
        Ok(messages.find_map(|message| {
            let RecvAncillaryMessage::ScmRights(mut descriptors) = message else { return None };
            descriptors.next()
        }))
    };
    stream.async_io(Interest::READABLE, read).await
}

/// Takes away doors that were left by a program that was killed: nobody answers there.
fn sweep(folder: &Path, opened: &fs_err::File) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let answered =
            std::os::unix::net::UnixStream::connect(short_path(opened, &entry.file_name()));
        if answered.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            _ = fs_err::remove_file(entry.path()).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_host::egress::hand_out;
    use std::net::{Ipv4Addr, SocketAddrV4};

    const ANY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

    #[tokio::test]
    async fn a_listening_socket_is_handed_over_once() {
        let root = tempfile::tempdir().unwrap();
        // Longer than the path of a socket may be.
        let deep = root.path().join("x".repeat(120));
        fs_err::create_dir(&deep).unwrap();
        let door = Door::open(&deep.join("doors")).unwrap();
        let path = door.path().to_owned();
        let folder = fs_err::File::open(path.parent().unwrap()).unwrap();
        let short = short_path(&folder, path.file_name().unwrap());
        let handed = tokio::task::spawn_blocking(move || hand_out(&short, ANY));
        let listener = door.receive().await.unwrap();
        handed.await.unwrap().unwrap();
        let at = listener.local_addr().unwrap();
        let (client, server) = tokio::join!(tokio::net::TcpStream::connect(at), listener.accept());
        assert_eq!(server.unwrap().1, client.unwrap().local_addr().unwrap());
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn another_session_that_looks_does_not_close_the_door() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("doors");
        let door = Door::open(&folder).unwrap();
        let path = door.path().to_owned();
        let received = tokio::spawn(door.receive());
        let other = Door::open(&folder).unwrap();
        // The first has been looked at by now, and nobody else answers before it is asked again.
        tokio::task::yield_now().await;
        let handed = tokio::task::spawn_blocking(move || hand_out(&path, ANY));
        received.await.unwrap().unwrap();
        handed.await.unwrap().unwrap();
        assert!(other.path().exists());
    }

    #[test]
    fn many_sessions_that_start_at_once_all_have_their_door() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("doors");
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let runtime =
                        tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
                    let _inside = runtime.enter();
                    for _ in 0..200 {
                        let door = Door::open(&folder).unwrap();
                        assert!(door.path().exists());
                    }
                });
            }
        });
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn without_a_door_there_is_nothing_to_do() {
        hand_out(Path::new("/nowhere/at/all"), ANY).unwrap();
    }

    #[tokio::test]
    async fn something_else_than_a_listener_is_refused() {
        use std::io::IoSlice;
        let root = tempfile::tempdir().unwrap();
        let door = Door::open(&root.path().join("doors")).unwrap();
        let path = door.path().to_owned();
        let sent = tokio::task::spawn_blocking(move || {
            use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
            use std::os::fd::AsFd;
            let stream = std::os::unix::net::UnixStream::connect(path).unwrap();
            let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            let descriptors = [other.as_fd()];
            let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut handed = SendAncillaryBuffer::new(&mut space);
            handed.push(SendAncillaryMessage::ScmRights(&descriptors));
            sendmsg(&stream, &[IoSlice::new(b"l")], &mut handed, SendFlags::empty()).unwrap();
        });
        assert!(door.receive().await.is_err());
        sent.await.unwrap();
    }

    #[test]
    fn doors_of_the_dead_are_taken_away() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let _inside = runtime.enter();
        let root = tempfile::tempdir().unwrap();
        // Longer than the path of a socket may be.
        let folder = root.path().join("x".repeat(120));
        let alive = Door::open(&folder).unwrap();
        let dead = folder.join("dead");
        let opened = fs_err::File::open(&folder).unwrap();
        drop(UnixListener::bind(short_path(&opened, "dead".as_ref())).unwrap());
        assert!(dead.exists());
        let another = Door::open(&folder).unwrap();
        assert!(!dead.exists() && alive.path().exists() && another.path().exists());
        let mode = fs_err::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
