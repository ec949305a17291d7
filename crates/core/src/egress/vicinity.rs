//! Addresses that lead to this machine or to a neighbour of it, whatever their range.
//!
//! # Threat
//! A service that listens on every address answers at a public one too, and often trusts whoever
//! can reach it. The same goes for machines on the same network: no router, and no firewall on one,
//! stands between.
//!
//! # Mechanism
//! [`Vicinity`] holds facts that the kernel gave at the moment of connecting: the addresses of all
//! interfaces with their networks, and how it would send to the address in question. An address that
//! carries another one inside, as in NAT64 and 6to4, is judged by that one too.
//!
//! # Limits
//! An address that a router outside leads back to this machine is not recognised, and neither is the
//! work of packet filters that rewrite addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// This machine's network, as the kernel reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vicinity {
    /// Every address of every interface.
    pub interfaces: Vec<Interface>,
    /// How each of the addresses that [`forms`] gave would be reached.
    pub routes: Vec<(IpAddr, Route)>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The machine's own address.
    pub own: IpAddr,
    /// An address of the network behind the interface: the peer's where there is only one.
    pub network: IpAddr,
    /// How many leading bits all addresses of that network share.
    pub bits: u8,
}

/// How the kernel would send to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To this machine itself.
    Own,
    /// To a neighbour, without a router in between.
    OnLink,
    /// Through a router or a tunnel, or not at all.
    Beyond,
}

impl Vicinity {
    /// The kind of an address that leads to this machine or to a neighbour.
    pub fn holds(&self, address: IpAddr) -> Option<&'static str> {
        let forms = forms(address);
        let route =
            |wanted| self.routes.iter().any(|(to, how)| forms.contains(to) && *how == wanted);
        let is_own = |form: &IpAddr| self.interfaces.iter().any(|one| one.own == *form);
        if route(Route::Own) || forms.iter().any(is_own) {
            return Some("an address of this machine");
        }
        let is_near = |form: &IpAddr| self.interfaces.iter().any(|one| one.reaches(*form));
        (route(Route::OnLink) || forms.iter().any(is_near))
            .then_some("an address on a network of this machine")
    }
}

impl Interface {
    /// Whether an address is on the network behind the interface.
    fn reaches(&self, address: IpAddr) -> bool {
        let same = match (self.network, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                (u32::from(one) ^ u32::from(other)).leading_zeros()
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                (u128::from(one) ^ u128::from(other)).leading_zeros()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        // A network of everything says nothing.
        self.bits > 0 && same >= u32::from(self.bits)
    }
}

/// An address as the kernel would use it, and those that it carries inside.
pub fn forms(address: IpAddr) -> Vec<IpAddr> {
    let plain = address.to_canonical();
    let carried = match plain {
        IpAddr::V4(_) => vec![],
        IpAddr::V6(six) => carried(six),
    };
    std::iter::once(plain).chain(carried.into_iter().map(IpAddr::V4)).collect()
}

/// The addresses of version 4 inside one of version 6.
pub(super) fn carried(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let four = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    let groups = address.segments();
    let mut found = match groups {
        // Mapped, compatible, translated; by NAT64, whoever's; and 6to4.
        [0, 0, 0, 0, 0 | 0xffff, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, .., high, low]
        | [0x2002, high, low, ..] => vec![four(high, low)],
        // Teredo carries the server as it is and the client inverted; either may be anyone's.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            vec![four(high, low), four(!client_high, !client_low)]
        }
        _ => vec![],
    };
    // ISATAP, in whatever network.
    if let [.., 0 | 0x200, 0x5efe, high, low] = groups {
        found.push(four(high, low));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    fn interface(own: &str, network: &str, bits: u8) -> Interface {
        Interface { own: at(own), network: at(network), bits }
    }

    fn machine() -> Vicinity {
        Vicinity {
            interfaces: vec![
                interface("11.22.33.44", "11.22.33.44", 24),
                interface("2a00:1::5", "2a00:1::5", 64),
                // A tunnel: the network is the peer's.
                interface("11.99.0.1", "11.99.0.2", 32),
                interface("11.77.0.1", "0.0.0.0", 0),
            ],
            routes: vec![(at("11.55.0.1"), Route::Own), (at("11.66.0.1"), Route::OnLink)],
        }
    }

    #[test]
    fn own_addresses_and_neighbours_are_known_in_every_form() {
        for (address, words) in [
            ("11.22.33.44", "of this machine"),
            ("11.22.33.1", "on a network"),
            ("11.99.0.1", "of this machine"),
            ("11.99.0.2", "on a network"),
            ("11.55.0.1", "of this machine"),
            ("11.66.0.1", "on a network"),
            ("11.77.0.1", "of this machine"),
            ("2a00:1::5", "of this machine"),
            ("2a00:1::6", "on a network"),
            ("::ffff:11.22.33.44", "of this machine"),
            ("::11.22.33.44", "of this machine"),
            ("64:ff9b::11.22.33.44", "of this machine"),
            ("64:ff9b::11.66.0.1", "on a network"),
            ("2002:b16:212c::1", "of this machine"),
            ("2001:0:b16:212c::1", "of this machine"),
            ("2001:0:808:808::f4e9:ded3", "of this machine"),
            ("2a00:9::5efe:11.22.33.44", "of this machine"),
            ("2a00:9::200:5efe:11.22.33.1", "on a network"),
        ] {
            let said = machine().holds(at(address)).unwrap_or("nothing");
            assert!(said.contains(words), "{address} is {said}");
        }
    }

    #[test]
    fn the_world_is_elsewhere() {
        for address in ["11.22.34.44", "11.99.0.3", "8.8.8.8", "2a00:1:0:1::5", "64:ff9b::8.8.8.8"]
        {
            assert_eq!(machine().holds(at(address)), None, "{address}");
        }
    }

    proptest! {
        #[test]
        fn every_form_of_an_own_address_is_refused(bits in any::<u32>()) {
            let own = Ipv4Addr::from(bits);
            let network = IpAddr::V4(own);
            let here = Vicinity {
                interfaces: vec![Interface { own: network, network, bits: 32 }],
                routes: vec![],
            };
            let [a, b] = [(bits >> 16) as u16, (bits & 0xffff) as u16];
            for dressed in [
                own.to_ipv6_mapped(),
                own.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
                Ipv6Addr::new(0x2002, a, b, 1, 2, 3, 4, 5),
                Ipv6Addr::new(0x2001, 0, a, b, 0, 0, 0xf7f7, 0xf7f7),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !a, !b),
                Ipv6Addr::new(0x2a00, 1, 2, 3, 0, 0x5efe, a, b),
            ] {
                prop_assert!(here.holds(IpAddr::V6(dressed)).is_some(), "{} {}", own, dressed);
            }
        }
    }
}
