//! Addresses that lead into somebody's own network, or to no single host.
//!
//! Services there often trust whoever can reach them: a database on loopback, a router, the
//! metadata service of a cloud machine. Most platforms have that at a link-local, shared, reserved
//! or unique local address. Some use public numbers, which lead nowhere but into the platform: those
//! are listed too. An address that carries another one inside, as in NAT64, 6to4 and Teredo, is
//! judged by the one it carries too.

use super::vicinity::carried;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of a refused address, or `None` for a public one.
pub fn refused(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => version_four(address),
        IpAddr::V6(address) => version_six(address),
    }
}

/// A range of version 4: its first address, how many bits are the same, what it is.
type Four = ([u8; 4], u32, &'static str);

/// The narrower first, so that each is called by its own name.
const FOUR: &[Four] = &[
    ([0, 0, 0, 0], 32, "the unspecified address"),
    ([0, 0, 0, 0], 8, "an address of this network"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a shared address of a provider (CGNAT)"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    ([161, 26, 0, 0], 16, "an address inside a cloud (IBM)"),
    ([166, 8, 0, 0], 14, "an address inside a cloud (IBM)"),
    ([168, 63, 129, 16], 32, "the address of a cloud's platform (Azure)"),
    ([169, 254, 0, 0], 16, "a link-local address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "a documentation address"),
    ([192, 31, 196, 0], 24, "a reserved address"),
    ([192, 52, 193, 0], 24, "a reserved address"),
    ([192, 88, 99, 0], 24, "a relay address of 6to4"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([192, 175, 48, 0], 24, "a reserved address"),
    ([198, 18, 0, 0], 15, "a benchmarking address"),
    ([198, 51, 100, 0], 24, "a documentation address"),
    ([203, 0, 113, 0], 24, "a documentation address"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

fn version_four(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    let found = FOUR.iter().find(|(first, same, _)| {
        let first = u32::from(Ipv4Addr::from(*first));
        (bits ^ first).leading_zeros() >= *same
    });
    found.map(|(_, _, name)| *name)
}

/// A range of version 6: its first groups, how many bits are the same, what it is.
type Six = ([u16; 4], u32, &'static str);

const SIX: &[Six] = &[
    ([0x64, 0xff9b, 1, 0], 48, "a local NAT64 address"),
    ([0x100, 0, 0, 0], 63, "a discard address"),
    ([0x2001, 2, 0, 0], 48, "a benchmarking address"),
    ([0x2001, 0xdb8, 0, 0], 32, "a documentation address"),
    ([0x2001, 0, 0, 0], 23, "a reserved address"),
    ([0x2620, 0x4f, 0x8000, 0], 48, "a reserved address"),
    ([0x3fff, 0, 0, 0], 20, "a documentation address"),
    ([0x5f00, 0, 0, 0], 16, "a segment-routing address"),
    ([0xfc00, 0, 0, 0], 7, "a unique local address"),
    ([0xfe80, 0, 0, 0], 10, "a link-local address"),
    ([0xfec0, 0, 0, 0], 10, "a site-local address"),
    ([0xff00, 0, 0, 0], 8, "a multicast address"),
];

fn version_six(address: Ipv6Addr) -> Option<&'static str> {
    if address == Ipv6Addr::UNSPECIFIED {
        return Some("the unspecified address");
    }
    if address == Ipv6Addr::LOCALHOST {
        return Some("a loopback address");
    }
    match address.segments() {
        // Long obsolete, and reachable by nobody who means well.
        [0, 0, 0, 0, 0 | 0xffff, 0, _, _] => {
            return Some("an IPv4 address in an obsolete form");
        }
        // Of a translator's own network: a range below.
        [0x64, 0xff9b, 1, ..] => {}
        groups => {
            let inside = carried(address).into_iter().find_map(version_four);
            let is_teredo = matches!(groups, [0x2001, 0, ..]);
            if let Some(found) = inside.or(is_teredo.then_some("a Teredo address")) {
                return Some(found);
            }
        }
    }
    let bits = u128::from(address);
    let found = SIX.iter().find(|([a, b, c, d], same, _)| {
        let first = u128::from(Ipv6Addr::new(*a, *b, *c, *d, 0, 0, 0, 0));
        (bits ^ first).leading_zeros() >= *same
    });
    found.map(|(_, _, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(address: &str) -> Option<&'static str> {
        refused(address.parse().unwrap())
    }

    #[test]
    fn every_range_is_called_by_its_name() {
        for (address, name) in [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "this network"),
            ("10.0.0.0", "private"),
            ("10.255.255.255", "private"),
            ("100.64.0.1", "CGNAT"),
            ("100.127.255.255", "CGNAT"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.254", "loopback"),
            ("161.26.0.10", "inside a cloud"),
            ("166.8.0.1", "inside a cloud"),
            ("166.11.255.255", "inside a cloud"),
            ("168.63.129.16", "Azure"),
            ("169.254.169.254", "link-local"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.8", "reserved"),
            ("192.0.2.1", "documentation"),
            ("192.88.99.1", "6to4"),
            ("192.168.1.1", "private"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("198.51.100.7", "documentation"),
            ("203.0.113.9", "documentation"),
            ("224.0.0.1", "multicast"),
            ("239.255.255.255", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "broadcast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::127.0.0.1", "obsolete"),
            ("::8.8.8.8", "obsolete"),
            ("::ffff:0:127.0.0.1", "obsolete"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "link-local"),
            ("64:ff9b::10.0.0.1", "private"),
            ("::ffff:168.63.129.16", "Azure"),
            ("64:ff9b::168.63.129.16", "Azure"),
            ("2002:a83f:8110::1", "Azure"),
            ("64:ff9b:1::8.8.8.8", "NAT64"),
            ("100::1", "discard"),
            ("2001:0:808:808::f7f7:f7f7", "Teredo"),
            ("2001:0:7f00:1::1", "loopback"),
            // The client of a Teredo address, inverted, is 192.168.0.1.
            ("2001:0:808:808:0:0:3f57:fffe", "private"),
            ("2001:2::1", "benchmarking"),
            ("2001:db8::1", "documentation"),
            ("2001:10::1", "reserved"),
            ("2002:c0a8:101::1", "private"),
            ("2a00:1::5efe:192.168.0.1", "private"),
            ("2a00:1::200:5efe:10.0.0.1", "private"),
            ("2002:7f00:1::", "loopback"),
            ("3fff::1", "documentation"),
            ("fc00::1", "unique local"),
            ("fd00:ec2::254", "unique local"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
        ] {
            let said = said(address).unwrap_or("nothing");
            assert!(said.contains(name), "{address} is {said}, not {name}");
        }
    }

    /// Where the clouds tell a machine about itself, and hand out its keys.
    #[test]
    fn no_platform_of_a_cloud_is_reached() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "169.254.0.23",
            "169.254.42.42",
            "100.100.100.200",
            "100.88.222.5",
            "192.0.0.192",
            "168.63.129.16",
            "161.26.0.6",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd00:42::42",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fe80::a9fe:a9fe",
        ] {
            assert!(said(address).is_some(), "{address}");
        }
    }

    #[test]
    fn the_public_network_is_not_refused() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "161.25.255.255",
            "161.27.0.0",
            "166.7.255.255",
            "166.12.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2002:808:808::1",
            "2a00::1",
        ] {
            assert_eq!(said(address), None, "{address}");
        }
    }

    proptest! {
        #[test]
        fn no_dress_makes_a_refused_address_pass(bits in any::<u32>()) {
            let four = Ipv4Addr::from(bits);
            let [a, b] = [(bits >> 16) as u16, (bits & 0xffff) as u16];
            for dressed in [
                four.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
                Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, a, b, 0, 0, 0xf7f7, 0xf7f7),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !a, !b),
                four.to_ipv6_compatible(),
            ] {
                if version_four(four).is_some() {
                    prop_assert!(version_six(dressed).is_some(), "{} {}", four, dressed);
                }
            }
        }

        #[test]
        fn what_the_standard_library_calls_local_is_refused(bits in any::<u32>()) {
            let four = Ipv4Addr::from(bits);
            let local = four.is_private() || four.is_loopback() || four.is_link_local()
                || four.is_multicast() || four.is_broadcast() || four.is_documentation()
                || four.is_unspecified();
            prop_assert!(!local || version_four(four).is_some());
        }
    }
}
