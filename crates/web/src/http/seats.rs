//! Places for connections, so that strangers cannot keep everybody out.
//!
//! # Threat
//! Whoever can connect can hold connections open: all that there are, and for ever.
//!
//! # Mechanism
//! A connection begins as a stranger's. When there are too many of them, the one that came first
//! gives way, of the address that has the most; so nobody is turned away, and a head that arrives
//! at once is answered. A request with a login moves its connection to the places that are reserved
//! for those. A person of a team has only some of them, and some are for whoever runs the server.

use crate::Caller;
use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Connections of callers who have not logged in.
const MOST_STRANGERS: usize = 96;

/// Those of one address.
const MOST_OF_AN_ADDRESS: usize = 32;

/// Connections of callers who have.
const MOST_KNOWN: usize = 256;

/// Those of one person of a team.
const MOST_OF_A_PERSON: usize = 48;

/// Of all of them, those that no person of a team takes: whoever runs the server always comes in.
const KEPT_FREE: usize = 48;

/// All places.
#[derive(Clone, Debug, Default)]
pub(super) struct Seats(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    strangers: BTreeMap<u64, Stranger>,
    known: usize,
    people: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Stranger {
    address: IpAddr,
    leave: Arc<Notify>,
}

/// The place of one connection, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Seats,
    number: u64,
    leave: Arc<Notify>,
    known: Mutex<Option<SeatOwner>>,
}

/// Whose connection it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SeatOwner {
    /// Whoever runs the server, and their tokens and programs.
    Operator,
    /// A person of a team, by id.
    Person(String),
}

impl SeatOwner {
    pub(super) fn of(caller: &Caller) -> Self {
        caller.person.clone().map_or(Self::Operator, Self::Person)
    }
}

impl Seats {
    /// A place for a new connection. Another one may have to give way.
    pub(super) fn take(&self, address: IpAddr) -> Seat {
        let mut taken = lock(&self.0);
        let of_same = |one: &&Stranger| one.address == address;
        let crowded = if taken.strangers.values().filter(of_same).count() >= MOST_OF_AN_ADDRESS {
            Some(address)
        } else if taken.strangers.len() >= MOST_STRANGERS {
            taken.largest()
        } else {
            None
        };
        if let Some(address) = crowded {
            taken.evict(address);
        }
        taken.last += 1;
        let (number, leave) = (taken.last, Arc::new(Notify::new()));
        taken.strangers.insert(number, Stranger { address, leave: Arc::clone(&leave) });
        drop(taken);
        Seat { seats: self.clone(), number, leave, known: Mutex::new(None) }
    }

    /// The numbers of connections: of strangers, and of those who have logged in.
    pub(super) fn counts(&self) -> (usize, usize) {
        let taken = lock(&self.0);
        (taken.strangers.len(), taken.known)
    }
}

impl Taken {
    /// The address with the most connections.
    fn largest(&self) -> Option<IpAddr> {
        let mut counts = BTreeMap::<IpAddr, usize>::new();
        for one in self.strangers.values() {
            *counts.entry(one.address).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address)
    }

    /// Sends away the oldest of an address.
    fn evict(&mut self, address: IpAddr) {
        let oldest = self.strangers.iter().find(|(_, one)| one.address == address);
        if let Some(number) = oldest.map(|(number, _)| *number)
            && let Some(gone) = self.strangers.remove(&number)
        {
            gone.leave.notify_one();
        }
    }
}

impl Taken {
    fn has_room(&self, owner: &SeatOwner) -> bool {
        match owner {
            SeatOwner::Operator => self.known < MOST_KNOWN,
            SeatOwner::Person(id) => {
                self.known < MOST_KNOWN - KEPT_FREE
                    && self.people.get(id).is_none_or(|count| *count < MOST_OF_A_PERSON)
            }
        }
    }

    fn enter(&mut self, owner: &SeatOwner) {
        self.known += 1;
        if let SeatOwner::Person(id) = owner {
            *self.people.entry(id.clone()).or_default() += 1;
        }
    }

    fn leave(&mut self, owner: &SeatOwner) {
        self.known = self.known.saturating_sub(1);
        if let SeatOwner::Person(id) = owner
            && let Some(count) = self.people.get_mut(id)
        {
            *count -= 1;
            if *count == 0 {
                self.people.remove(id);
            }
        }
    }
}

impl Seat {
    /// Moves the connection to the places of those who have logged in, as that of its owner. Fails if
    /// those that they may have are taken, or if it had to give way.
    pub(super) fn promote(&self, owner: SeatOwner) -> bool {
        let mut known = lock(&self.known);
        if known.as_ref() == Some(&owner) {
            return true;
        }
        let mut taken = lock(&self.seats.0);
        // A proxy may send the requests of several people over one connection.
        if let Some(former) = known.take() {
            taken.leave(&former);
        } else if taken.strangers.remove(&self.number).is_none() {
            return false;
        }
        let has_room = taken.has_room(&owner);
        if has_room {
            taken.enter(&owner);
            *known = Some(owner);
        }
        has_room
    }

    /// Waits until the connection has to give way.
    pub(super) async fn must_leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.seats.0);
        taken.strangers.remove(&self.number);
        if let Some(owner) = lock(&self.known).take() {
            taken.leave(&owner);
        }
    }
}

/// A poisoned lock is harmless: every change is one step.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::net::Ipv4Addr;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn has_left(seat: &Seat) -> bool {
        seat.must_leave().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_of_an_address_gives_way_to_the_next() {
        let seats = Seats::default();
        let other = seats.take(address(2));
        let crowd: Vec<_> = (0..=MOST_OF_AN_ADDRESS).map(|_| seats.take(address(1))).collect();
        assert_eq!(seats.counts(), (MOST_OF_AN_ADDRESS + 1, 0));
        assert!(has_left(&crowd[0]) && !has_left(&crowd[1]) && !has_left(&other));
        assert!(!crowd[0].promote(SeatOwner::Operator));
    }

    #[test]
    fn a_crowd_of_strangers_gives_way_before_a_single_one() {
        let seats = Seats::default();
        let single = seats.take(address(200));
        let crowd: Vec<_> = (0..MOST_STRANGERS)
            .map(|count| seats.take(address(u8::try_from(count % 8).unwrap())))
            .collect();
        assert_eq!(seats.counts(), (MOST_STRANGERS, 0));
        assert!(!has_left(&single));
        assert_eq!(crowd.iter().filter(|seat| has_left(seat)).count(), 1);
    }

    #[test]
    fn whoever_has_logged_in_never_gives_way_and_is_bounded_too() {
        let seats = Seats::default();
        let known: Vec<_> = (0..MOST_KNOWN)
            .map(|_| {
                let seat = seats.take(address(1));
                let owner = || SeatOwner::Operator;
                assert!(seat.promote(owner()) && seat.promote(owner()));
                seat
            })
            .collect();
        let crowd: Vec<_> = (0..200).map(|_| seats.take(address(1))).collect();
        assert!(!known.iter().any(has_left));
        assert!(!crowd[199].promote(SeatOwner::Operator));
        drop(known);
        drop(crowd);
        assert_eq!(seats.counts(), (0, 0));
    }

    #[test]
    fn no_person_and_no_team_takes_every_place() {
        let seats = Seats::default();
        let mut held = Vec::new();
        let mut taken_by = |id: &str| {
            let mut count = 0;
            loop {
                let seat = seats.take(address(1));
                if !seat.promote(SeatOwner::Person(id.to_owned())) {
                    return count;
                }
                count += 1;
                held.push(seat);
            }
        };
        assert_eq!(taken_by("vera"), MOST_OF_A_PERSON);
        let others: usize = (0..10).map(|id| taken_by(&id.to_string())).sum();
        assert_eq!(MOST_OF_A_PERSON + others, MOST_KNOWN - KEPT_FREE);
        assert!(seats.take(address(1)).promote(SeatOwner::Operator));
        // Whoever leaves makes room for themselves, and for others.
        held.truncate(MOST_OF_A_PERSON - 1);
        let seat = seats.take(address(1));
        assert!(seat.promote(SeatOwner::Person("vera".into())));
        assert!(seat.promote(SeatOwner::Person("ben".into())), "over one connection of a proxy");
        drop((seat, held));
        assert_eq!(seats.counts(), (0, 0));
        assert!(lock(&seats.0).people.is_empty());
    }
}
