//! Hands a sandbox its streams where the program that starts it passes no sockets on.
//!
//! # Threat
//! Somebody else who connects first and gets the streams in the sandbox's place.
//!
//! # Mechanism
//! A Unix socket in the sandbox's private folder is bound in. The jail connects, is asked who it is
//! by the kernel, and gets two descriptors: its standard input and output. One connection is
//! accepted, then the socket is gone.
//!
//! # Order
//! The socket listens before the program starts. Nothing of the plan is sent before the meeting.
//!
//! # Limits
//! Outside and inside must share a kernel. Another process of the same user that finds the private
//! folder could come first; it has that user's rights already.

use crate::socket_path::short_path;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};
use tokio::{net::UnixListener, process::Child};

/// A socket at which one sandbox is met.
#[derive(Debug)]
pub(super) struct Meeting {
    listener: UnixListener,
    path: PathBuf,
    /// Whose process the jail is.
    user: u32,
}

/// Why nobody was met.
#[derive(Debug)]
pub(super) enum Missed {
    /// The program that should have started the sandbox has ended.
    Ended,
    /// Somebody else came, or the system refused.
    Failed(io::Error),
}

impl Meeting {
    /// Listens at `path` for a process of `user`.
    pub(super) fn open(path: PathBuf, user: u32) -> io::Result<Self> {
        let folder = fs_err::File::open(path.parent().unwrap_or_else(|| Path::new("/")))?;
        let name = path.file_name().unwrap_or_default();
        let listener = UnixListener::bind(short_path(&folder, name))?;
        // As root, the jail is another user's process.
        std::os::unix::fs::chown(&path, Some(user), None)?;
        Ok(Self { listener, path, user })
    }

    /// Waits for the jail and hands it its streams. Its process, as it is numbered here.
    pub(super) async fn hand_over(
        self,
        starter: &mut Child,
        streams: [OwnedFd; 2],
    ) -> Result<u32, Missed> {
        let stream = tokio::select! {
            accepted = self.listener.accept() => accepted.map_err(Missed::Failed)?.0,
            _ = starter.wait() => return Err(Missed::Ended),
        };
        let failed = |words: String| Missed::Failed(io::Error::other(words));
        let who = stream.peer_cred().map_err(Missed::Failed)?;
        if who.uid() != self.user {
            let (is, wanted) = (who.uid(), self.user);
            return Err(failed(format!(
                "its process belongs to user {is}, not to user {wanted}. An engine that maps users \
                 (rootless, or with `userns-remap`) cannot be used: use podman, or switch that off"
            )));
        }
        // The kernel says 0 for one of a namespace that is not below ours, and whoever writes that
        // into a control group puts itself there.
        let process = who.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        let process = process.ok_or_else(|| failed("its process has no number here".into()))?;
        stream.writable().await.map_err(Missed::Failed)?;
        send(&stream, &streams).map_err(Missed::Failed)?;
        Ok(process)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // The folder that it is in goes with the sandbox.
        _ = fs_err::remove_file(&self.path).is_ok();
    }
}

fn send(stream: &impl AsFd, streams: &[OwnedFd; 2]) -> io::Result<()> {
    let descriptors = streams.each_ref().map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // A descriptor travels with at least one byte.
    sendmsg(stream, &[IoSlice::new(b"s")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// The outcome for a process of ours that connects where one of `user` is expected.
    async fn met_as(user: u32) -> (Result<u32, Missed>, bool) {
        let root = tempfile::tempdir().unwrap();
        // Longer than the path of a socket may be.
        let folder = root.path().join("x".repeat(120));
        fs_err::create_dir(&folder).unwrap();
        let path = folder.join("meeting");
        let mut meeting = Meeting::open(path.clone(), rustix::process::geteuid().as_raw()).unwrap();
        meeting.user = user;
        let opened = fs_err::File::open(&folder).unwrap();
        let came = UnixStream::connect(short_path(&opened, "meeting".as_ref())).unwrap();
        let (one, other) = UnixStream::pair().unwrap();
        #[expect(clippy::disallowed_methods, reason = "it stands for a client that keeps running")]
        let mut starter = tokio::process::Command::new("sleep").arg("60").spawn().unwrap();
        let met = meeting.hand_over(&mut starter, [one.into(), other.into()]).await;
        starter.kill().await.unwrap();
        drop(came);
        (met, path.exists())
    }

    #[tokio::test]
    async fn only_the_expected_user_is_met_and_then_the_socket_is_gone() {
        let own = rustix::process::geteuid().as_raw();
        let (met, left) = met_as(own).await;
        assert!(matches!(met, Ok(process) if process == std::process::id()), "{met:?}");
        assert!(!left);
        let (met, left) = met_as(own + 1).await;
        assert!(matches!(met, Err(Missed::Failed(_))), "{met:?}");
        assert!(!left);
    }
}
