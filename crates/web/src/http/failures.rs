//! Counts wrong codes by address, and says when there are too many.
//!
//! No code of 256 bits is ever guessed, so this only keeps the log short and makes an attempt
//! visible. The right code is accepted whatever was tried before: nobody can lock the person out.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

/// Wrong codes of one address in one span.
const MOST: u32 = 10;

const SPAN: Duration = Duration::from_mins(1);

/// Addresses that are remembered. Beyond them all are forgotten: a crowd that large needs another
/// defence.
const MOST_ADDRESSES: usize = 1_024;

/// The consequence of a wrong code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterFailure {
    /// It is refused and logged.
    Refuse,
    /// The last that is logged: there were too many.
    Alarm,
    /// It is refused without a line in the log.
    Ignore,
}

/// Wrong codes, by address.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<IpAddr, (u32, Instant)>);

impl Failures {
    /// Counts one.
    pub(super) fn count(&mut self, address: IpAddr, now: Instant) -> AfterFailure {
        let address = network(address);
        if self.0.len() >= MOST_ADDRESSES && !self.0.contains_key(&address) {
            self.0.clear();
        }
        let (count, since) = self.0.entry(address).or_insert((0, now));
        if now.saturating_duration_since(*since) >= SPAN {
            (*count, *since) = (0, now);
        }
        *count = count.saturating_add(1);
        match *count {
            ..MOST => AfterFailure::Refuse,
            MOST => AfterFailure::Alarm,
            _ => AfterFailure::Ignore,
        }
    }
}

/// Whoever has an IPv6 address has the other 2⁶⁴ of its network, too.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.into(),
            None => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        },
    }
}

/// The wider network that one customer commonly has all of, if the address tells.
pub(super) fn wide_network(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_none() => {
            Some(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 80)).into())
        }
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_alarm_in_a_minute_and_address() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        let one: IpAddr = "192.0.2.1".parse().unwrap();
        let seen: Vec<_> = (0..30).map(|_| failures.count(one, now)).collect();
        assert_eq!(seen.iter().filter(|seen| **seen == AfterFailure::Refuse).count(), 9);
        assert_eq!(seen[9], AfterFailure::Alarm);
        assert!(seen[10..].iter().all(|seen| *seen == AfterFailure::Ignore));
        assert_eq!(failures.count("192.0.2.2".parse().unwrap(), now), AfterFailure::Refuse);
        assert_eq!(failures.count(one, now + SPAN), AfterFailure::Refuse);
    }

    #[test]
    fn addresses_of_one_network_are_one_and_their_number_is_bounded() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        for host in 0..30_u128 {
            failures.count(Ipv6Addr::from_bits((0x2001_0db8 << 96) | host).into(), now);
        }
        assert_eq!(failures.0.len(), 1);
        for network in 0..5_000_u128 {
            failures.count(Ipv6Addr::from_bits(network << 64 | 1 << 127).into(), now);
            assert!(failures.0.len() <= MOST_ADDRESSES);
        }
    }
}
