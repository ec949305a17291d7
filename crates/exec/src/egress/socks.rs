//! SOCKS, version 5: connections by name or address, without a password. Nothing else of it.

use interpreter_core::egress::Host;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The first byte of everything.
pub(super) const VERSION: u8 = 5;

/// Replies to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Connected = 0,
    NotAllowed = 2,
    Unreachable = 4,
    UnknownCommand = 7,
    UnknownAddress = 8,
}

/// Hears what the client wants, its first byte being read already. None means that it was told
/// why not, or spoke something else.
pub(super) async fn listen(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<Option<(Host, u16)>> {
    const CONNECT: u8 = 1;
    const NO_PASSWORD: u8 = 0;
    let count = stream.read_u8().await?;
    let mut methods = vec![0; count.into()];
    stream.read_exact(&mut methods).await?;
    if !methods.contains(&NO_PASSWORD) {
        stream.write_all(&[VERSION, 0xff]).await?;
        return Ok(None);
    }
    stream.write_all(&[VERSION, NO_PASSWORD]).await?;
    let [version, command, reserved, kind] = {
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        head
    };
    if version != VERSION || reserved != 0 {
        return Ok(None);
    }
    let Some(host) = read_host(stream, kind).await? else {
        answer(stream, Reply::UnknownAddress).await?;
        return Ok(None);
    };
    let port = stream.read_u16().await?;
    if command != CONNECT || port == 0 {
        answer(stream, Reply::UnknownCommand).await?;
        return Ok(None);
    }
    Ok(Some((host, port)))
}

async fn read_host(stream: &mut (impl AsyncRead + Unpin), kind: u8) -> io::Result<Option<Host>> {
    match kind {
        1 => {
            let address = IpAddr::from(Ipv4Addr::from(stream.read_u32().await?));
            Ok(Some(Host::Address(address)))
        }
        3 => {
            let mut name = vec![0; stream.read_u8().await?.into()];
            stream.read_exact(&mut name).await?;
            Ok(String::from_utf8(name).ok().and_then(|name| name.parse().ok()))
        }
        4 => {
            let address = IpAddr::from(Ipv6Addr::from(stream.read_u128().await?));
            Ok(Some(Host::Address(address.to_canonical())))
        }
        _ => Ok(None),
    }
}

/// Replies. The code has no need to know our own address.
pub(super) async fn answer(stream: &mut (impl AsyncWrite + Unpin), reply: Reply) -> io::Result<()> {
    stream.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
