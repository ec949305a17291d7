//! Asks the kernel where addresses lead: the facts that `interpreter_core::egress` judges by.
//!
//! Asked anew for every connection, because interfaces come and go. Netlink answers at once, so
//! nothing waits. Injected, so that tests can describe a machine.
//!
//! Must not judge: which of these addresses may be reached is the core's to say.

use interpreter_core::egress::{Interface, Route, Vicinity};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use std::{
    fmt::Debug,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    os::fd::OwnedFd,
};

/// Something that knows this machine's network.
pub(super) trait Survey: Debug + Send + Sync {
    /// The interfaces, and how each of `addresses` would be reached.
    fn look(&self, addresses: &[IpAddr]) -> io::Result<Vicinity>;
}

/// The kernel, by netlink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel;

impl Survey for Kernel {
    fn look(&self, addresses: &[IpAddr]) -> io::Result<Vicinity> {
        let netlink = Netlink::open()?;
        let routes = addresses.iter().map(|address| Ok((*address, netlink.route(*address)?)));
        Ok(Vicinity {
            routes: routes.collect::<io::Result<_>>()?,
            interfaces: netlink.interfaces()?,
        })
    }
}

// From linux/netlink.h, linux/rtnetlink.h, linux/if_addr.h and linux/if.h.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const GET_ADDRESS: u16 = 22;
const NEW_ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;
const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
/// Tells the entry of the table that matched, and not merely the address.
const MATCHED: u32 = 0x2000;
const LOCAL_ROUTE: u8 = 2;
const DESTINATION: u16 = 1;
const DEVICE: u16 = 4;
/// Ways of naming a router: directly, several, of another family, by an object.
const ROUTERS: [u16; 4] = [5, 9, 18, 30];
const ADDRESS: u16 = 1;
const OWN_ADDRESS: u16 = 2;
const POINT_TO_POINT: u32 = 0x10;

/// Interfaces that are read. A machine with more is not judged, and so reaches nothing unlisted.
const MOST_INTERFACES: usize = 65_536;

/// The header of every message.
const HEAD: usize = 16;

/// A conversation with the kernel.
struct Netlink(OwnedFd);

/// One message: its kind and what follows the header.
type Message<'a> = (u16, &'a [u8]);

impl Netlink {
    fn open() -> io::Result<Self> {
        // NETLINK_ROUTE is protocol 0, which is the default.
        let flags = SocketFlags::CLOEXEC;
        Ok(Self(socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?))
    }

    /// Sends a request and hands each message of the answer on. An error that the kernel answers
    /// with is its number.
    fn ask(
        &self,
        kind: u16,
        flags: u16,
        body: &[u8],
        mut take: impl FnMut(Message<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let length = u32::try_from(HEAD + body.len()).map_err(io::Error::other)?;
        let mut request = Vec::with_capacity(HEAD + body.len());
        request.extend(length.to_ne_bytes());
        request.extend(kind.to_ne_bytes());
        request.extend((REQUEST | flags).to_ne_bytes());
        request.extend([0; 8]);
        request.extend(body);
        send(&self.0, &request, SendFlags::empty())?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let (_, length) = recv(&self.0, &mut buffer[..], RecvFlags::TRUNC)?;
            let mut rest = buffer.get(..length).ok_or_else(cut)?;
            while !rest.is_empty() {
                let length = usize::try_from(number(rest, 0)?).map_err(io::Error::other)?;
                let message = rest.get(..length).filter(|one| one.len() >= HEAD).ok_or_else(cut)?;
                let (kind, body) = (half(message, 4)?, &message[HEAD..]);
                match kind {
                    DONE => return Ok(()),
                    ERROR => {
                        let errno = number(body, 0)?.cast_signed().wrapping_neg();
                        return Err(io::Error::from_raw_os_error(errno));
                    }
                    _ => take((kind, body))?,
                }
                if flags & DUMP == 0 {
                    return Ok(());
                }
                rest = rest.get(padded(length)..).unwrap_or_default();
            }
        }
    }

    fn interfaces(&self) -> io::Result<Vec<Interface>> {
        let mut found = Vec::new();
        self.ask(GET_ADDRESS, DUMP, &[0; 8], |(kind, body)| {
            if kind == NEW_ADDRESS && found.len() < MOST_INTERFACES {
                found.extend(interface(body)?);
                return Ok(());
            }
            Err(io::Error::other("there are too many interfaces"))
        })?;
        Ok(found)
    }

    fn route(&self, address: IpAddr) -> io::Result<Route> {
        const INET: u8 = 2;
        const INET6: u8 = 10;
        let (family, octets) = match address {
            IpAddr::V4(four) => (INET, four.octets().to_vec()),
            IpAddr::V6(six) => (INET6, six.octets().to_vec()),
        };
        let bits = u8::try_from(octets.len() * 8).map_err(io::Error::other)?;
        let mut body = vec![family, bits, 0, 0, 0, 0, 0, 0];
        body.extend(MATCHED.to_ne_bytes());
        body.extend(u16::try_from(4 + octets.len()).map_err(io::Error::other)?.to_ne_bytes());
        body.extend(DESTINATION.to_ne_bytes());
        body.extend(octets);
        let mut answer = None;
        let asked = self.ask(GET_ROUTE, 0, &body, |(kind, body)| {
            if kind == NEW_ROUTE {
                answer = Some(entry(body)?);
            }
            Ok(())
        });
        match (asked, answer) {
            (Ok(()), Some(Entry { is_local: true, .. })) => Ok(Route::Own),
            (Ok(()), Some(Entry { neighbours_on: Some(device), .. })) => {
                // A tunnel has no neighbours: its traffic comes out elsewhere.
                let tunnel = self.is_point_to_point(device)?;
                Ok(if tunnel { Route::Beyond } else { Route::OnLink })
            }
            (Ok(()), Some(_)) => Ok(Route::Beyond),
            (Ok(()), None) => Err(cut()),
            // There is no way to it: connecting will say so.
            (Err(error), _) if error.raw_os_error().is_some() => Ok(Route::Beyond),
            (Err(error), _) => Err(error),
        }
    }

    fn is_point_to_point(&self, device: u32) -> io::Result<bool> {
        let mut body = vec![0; 16];
        body[4..8].copy_from_slice(&device.to_ne_bytes());
        let mut flags = None;
        self.ask(GET_LINK, 0, &body, |(kind, body)| {
            if kind == NEW_LINK {
                flags = Some(number(body, 8)?);
            }
            Ok(())
        })?;
        Ok(flags.ok_or_else(cut)? & POINT_TO_POINT != 0)
    }
}

/// An entry of a routing table.
struct Entry {
    is_local: bool,
    /// The device on which the address is a neighbour.
    neighbours_on: Option<u32>,
}

fn entry(body: &[u8]) -> io::Result<Entry> {
    const LENGTH: usize = 12;
    let [matched, kind] = [1, 7].map(|at| body.get(at).copied().unwrap_or_default());
    let mut device = None;
    let mut has_router = false;
    each(body.get(LENGTH..).ok_or_else(cut)?, |name, value| {
        has_router |= ROUTERS.contains(&name);
        if name == DEVICE {
            device = Some(number(value, 0)?);
        }
        Ok(())
    })?;
    // A way for everything, such as the only one out, makes nobody a neighbour.
    let neighbours_on = device.filter(|_| !has_router && matched > 0);
    Ok(Entry { is_local: kind == LOCAL_ROUTE, neighbours_on })
}

fn interface(body: &[u8]) -> io::Result<Option<Interface>> {
    const LENGTH: usize = 8;
    let bits = *body.get(1).ok_or_else(cut)?;
    let (mut network, mut own) = (None, None);
    each(body.get(LENGTH..).ok_or_else(cut)?, |name, value| {
        match name {
            ADDRESS => network = address(value),
            OWN_ADDRESS => own = address(value),
            _ => {}
        }
        Ok(())
    })?;
    let network = network.or(own);
    Ok(network.map(|network| Interface { own: own.unwrap_or(network), network, bits }))
}

fn address(octets: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(octets).map(|octets| Ipv4Addr::from(octets).into());
    let six = || <[u8; 16]>::try_from(octets).map(|octets| Ipv6Addr::from(octets).into());
    four.or_else(|_| six()).ok()
}

fn each(mut rest: &[u8], mut take: impl FnMut(u16, &[u8]) -> io::Result<()>) -> io::Result<()> {
    const HEAD: usize = 4;
    /// The two highest bits say how the value is written.
    const NAME: u16 = 0x3fff;
    while rest.len() >= HEAD {
        let length = usize::from(half(rest, 0)?);
        let value = rest.get(HEAD..length).ok_or_else(cut)?;
        take(half(rest, 2)? & NAME, value)?;
        rest = rest.get(padded(length)..).unwrap_or_default();
    }
    Ok(())
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn number(bytes: &[u8], at: usize) -> io::Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_ne_bytes).ok_or_else(cut)
}

fn half(bytes: &[u8], at: usize) -> io::Result<u16> {
    let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
    two.map(u16::from_ne_bytes).ok_or_else(cut)
}

fn cut() -> io::Error {
    io::Error::other("the kernel's answer is cut short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_its_own_addresses() {
        let loopback: Vec<IpAddr> =
            vec!["127.0.0.1".parse().unwrap(), "127.9.9.9".parse().unwrap()];
        let seen = Kernel.look(&loopback).unwrap();
        assert!(seen.interfaces.iter().any(|one| one.own == loopback[0] && one.bits == 8));
        // Both are this machine's, although no interface has the second one.
        assert_eq!(seen.routes, [(loopback[0], Route::Own), (loopback[1], Route::Own)]);
    }

    #[test]
    fn an_address_without_a_route_is_no_neighbour() {
        let nowhere: IpAddr = "3fff:1:2:3::4".parse().unwrap();
        assert_eq!(Kernel.look(&[nowhere]).unwrap().routes, [(nowhere, Route::Beyond)]);
    }

    #[test]
    fn an_answer_that_is_cut_is_an_error() {
        assert!(interface(&[2]).is_err() && entry(&[2; 5]).is_err());
        let long = [&[2, 24, 0, 0, 1, 0, 0, 0][..], &[200, 0, 1, 0, 1, 2]].concat();
        assert!(interface(&long).is_err());
    }
}
