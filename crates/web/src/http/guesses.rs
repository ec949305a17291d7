//! Counts attempts to log in by a password, and says when there are too many.
//!
//! # Threat
//! Somebody tries passwords: many for one name, one for many names, from one address or from many.
//! And somebody keeps the server busy with hashes, and nobody else is served.
//!
//! # Mechanism
//! An attempt is counted before it is looked at, so a crowd of them at once is counted too; the right
//! password takes its own count back. Each name and address together, each address and each name has
//! a number of attempts in a span. Beyond it the answer is the same for the right password, for a
//! wrong one and for a name that nobody has, and nothing is computed. So has each wider network, where
//! one customer commonly has all addresses. A fixed number of places has the counts, so a crowd cannot
//! make the server forget any, nor leave no room for somebody new.
//!
//! # Limits
//! Whoever has many networks can use up the attempts of a name, and keep its person out for the rest
//! of the span. Two that share a place by chance share its count.
//! The link of whoever runs the server always works.
//!
//! Reads no clock: the time is given.

use super::failures::{network, wide_network};
use std::{
    hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState},
    iter,
    net::IpAddr,
    time::{Duration, Instant},
};

const SPAN: Duration = Duration::from_mins(1);

/// Places for counts. Their number never grows, so no crowd uses them up.
const PLACES: usize = 1 << 18;

/// Whom a count is about.
#[derive(Clone, Copy, Debug, Hash)]
enum Counted<'a> {
    Both(&'a str, IpAddr),
    Address(IpAddr),
    Wide(IpAddr),
    Name(&'a str),
}

impl<'a> Counted<'a> {
    /// Attempts in a span.
    const fn most(self) -> u8 {
        match self {
            Self::Both(..) => 5,
            Self::Address(_) => 20,
            Self::Name(_) => 40,
            Self::Wide(_) => 100,
        }
    }

    fn of(name: &'a str, address: IpAddr) -> Vec<Self> {
        let mut all = Self::of_addresses(address);
        all.extend([Self::Both(name, network(address)), Self::Name(name)]);
        all
    }

    fn of_addresses(address: IpAddr) -> Vec<Self> {
        let wide = wide_network(address).map(Self::Wide);
        iter::once(Self::Address(network(address))).chain(wide).collect()
    }
}

/// Attempts in this span.
#[derive(Debug)]
pub(super) struct Guesses {
    counts: Box<[u8]>,
    /// By which places are drawn: nobody outside knows who shares one with whom.
    seed: u64,
    since: Instant,
}

impl Guesses {
    pub(super) fn new(now: Instant) -> Self {
        Self::with_seed(RandomState::new().hash_one(PLACES), now)
    }

    fn with_seed(seed: u64, now: Instant) -> Self {
        Self { counts: vec![0; PLACES].into(), seed, since: now }
    }

    /// Counts an attempt. Whether it may be looked at.
    pub(super) fn may_try(&mut self, name: &str, address: IpAddr, now: Instant) -> bool {
        self.count(&Counted::of(name, address), now)
    }

    /// Counts a login that begins at a provider or comes back from it, when nobody has a name yet.
    /// Returns whether it may go on.
    pub(super) fn may_come(&mut self, address: IpAddr, now: Instant) -> bool {
        self.count(&Counted::of_addresses(address), now)
    }

    /// The password was right: that attempt was none.
    pub(super) fn forgive(&mut self, name: &str, address: IpAddr) {
        for one in Counted::of(name, address) {
            let place = self.place(one);
            self.counts[place] = self.counts[place].saturating_sub(1);
        }
    }

    /// Counts one attempt for all of these, unless there were too many for one of them.
    fn count(&mut self, all: &[Counted<'_>], now: Instant) -> bool {
        if now.saturating_duration_since(self.since) >= SPAN {
            self.counts.fill(0);
            self.since = now;
        }
        let places: Vec<_> = all.iter().map(|one| self.place(*one)).collect();
        if all.iter().zip(&places).any(|(one, place)| self.counts[*place] >= one.most()) {
            return false;
        }
        for place in places {
            self.counts[place] += 1;
        }
        true
    }

    fn place(&self, one: Counted<'_>) -> usize {
        let mut hasher = DefaultHasher::new();
        (self.seed, one).hash(&mut hasher);
        // The remainder is far below what a `usize` holds.
        usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn tries(guesses: &mut Guesses, name: &str, from: IpAddr, now: Instant) -> usize {
        (0..1_000).take_while(|_| guesses.may_try(name, from, now)).count()
    }

    #[test]
    fn names_and_addresses_have_a_number_of_attempts_in_a_span() {
        let now = Instant::now();
        let mut guesses = Guesses::with_seed(7, now);
        assert_eq!(tries(&mut guesses, "anna", address(1), now), 5);
        // Another name from there; another address for that name.
        assert_eq!(tries(&mut guesses, "ben", address(1), now), 5);
        assert_eq!(tries(&mut guesses, "anna", address(2), now), 5);
        let spread: usize =
            (0..100).map(|name| tries(&mut guesses, &format!("name{name}"), address(1), now)).sum();
        assert_eq!(spread, 10, "twenty from one address");
        let many: usize =
            (3..100).map(|last| tries(&mut guesses, "anna", address(last), now)).sum();
        assert_eq!(many, 30, "forty for one name");
        assert_eq!(tries(&mut guesses, "anna", address(1), now + SPAN), 5);
    }

    #[test]
    fn the_right_password_uses_nothing_up() {
        let now = Instant::now();
        let mut guesses = Guesses::with_seed(7, now);
        for _ in 0..1_000 {
            assert!(guesses.may_try("anna", address(1), now));
            guesses.forgive("anna", address(1));
        }
        assert_eq!(tries(&mut guesses, "anna", address(1), now), 5);
    }

    #[test]
    fn an_address_begins_twenty_logins_in_a_minute() {
        let now = Instant::now();
        let mut guesses = Guesses::with_seed(7, now);
        let begun = (0..50).filter(|_| guesses.may_come(address(1), now)).count();
        assert_eq!(begun, 20);
        assert!(guesses.may_come(address(2), now));
        assert!(guesses.may_come(address(1), now + SPAN));
    }

    #[test]
    fn a_crowd_from_one_wide_network_keeps_nobody_else_out() {
        let now = Instant::now();
        let mut guesses = Guesses::with_seed(7, now);
        let let_try = (0..20_000_u16)
            .filter(|part| {
                let from = Ipv6Addr::new(0x2001, 0xdb8, 7, *part, 0, 0, 0, 1);
                guesses.may_try(&part.to_string(), from.into(), now)
            })
            .count();
        assert!(let_try <= 100, "{let_try} of one wide network");
        assert!(guesses.may_try("anna", address(1), now));
        assert_eq!(guesses.counts.len(), PLACES);
        let neighbour = Ipv6Addr::new(0x2001, 0xdb8, 8, 0, 0, 0, 0, 1);
        assert!(guesses.may_try("ben", neighbour.into(), now));
    }
}
