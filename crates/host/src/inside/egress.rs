//! The way out, handed out: a listening socket in the sandbox's own network, for the proxy outside.
//!
//! # Threat
//! Code that floods or kills whatever stands between it and the proxy, or takes its place.
//!
//! # Mechanism
//! Nothing stands in between. Before anything else runs, the host opens a listening socket on
//! loopback inside and hands it, through a Unix socket that is bound in, to the proxy outside,
//! which accepts from it directly. A socket stays in the network that it was made in, so code
//! reaches it on loopback; there is no process inside to kill, nothing is copied, and the host has
//! no part in what follows. The proxy takes one such socket and closes the door, so that whoever
//! connects there later meets nobody.
//!
//! # Limits
//! Outside and inside must share a kernel.

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    os::{fd::AsFd, unix::net::UnixStream},
    path::Path,
};

/// Where the Unix socket stands inside.
pub const SOCKET: &str = "/run/interpreter/egress";

/// Where the proxy is found inside.
pub const ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// Listens on `address` and hands the listening socket to whoever waits at `socket`. Where nobody
/// does, there is no way out and nothing to do.
pub fn hand_out(socket: &Path, address: SocketAddrV4) -> io::Result<()> {
    if !socket.exists() {
        return Ok(());
    }
    let listener = TcpListener::bind(address)?;
    let stream = UnixStream::connect(socket)?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = SendAncillaryBuffer::new(&mut space);
    handed.push(SendAncillaryMessage::ScmRights(&descriptors));
    // A descriptor travels with at least one byte.
    sendmsg(&stream, &[IoSlice::new(b"l")], &mut handed, SendFlags::empty())?;
    Ok(())
}
