//! The kernels of each caller: sessions that were begun here, and nothing else.
//!
//! # Threat
//! A caller who names a session that is no kernel, or is another's; kernels without end.
//!
//! # Mechanism
//! Only a session that a caller began as a kernel is one for that caller. A caller has a bounded
//! number; another one takes the place of one that nobody is connected to. Pure, but for its lock.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Kernels of one caller.
pub(super) const MOST_OF_A_CALLER: usize = 16;

/// Kernels of all callers.
#[derive(Debug, Default)]
pub(in crate::http) struct Kernels(Mutex<KernelsHeld>);

#[derive(Debug, Default)]
struct KernelsHeld {
    /// By caller; the one that was begun longest ago first.
    all: BTreeMap<String, Vec<HeldKernel>>,
    /// Kernels and connections so far.
    count: u64,
}

#[derive(Debug)]
struct HeldKernel {
    number: u64,
    /// Empty until it has begun.
    session: String,
    connections: usize,
    /// Its client is done with it, and a question in it is still open.
    is_let_go: bool,
}

/// Sessions that could be closed for another kernel, the oldest first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom(pub(super) Vec<String>);

/// A place for a kernel. Dropping it before it has begun leaves nothing.
#[derive(Debug)]
pub(super) struct KernelPlace {
    kernels: Arc<Kernels>,
    caller: String,
    number: u64,
}

/// A connection to a kernel, until it is dropped.
#[derive(Debug)]
pub(in crate::http) struct ConnectedKernel {
    kernels: Arc<Kernels>,
    caller: String,
    pub(super) session: String,
    /// No other connection of this server has it.
    pub(super) number: u64,
}

impl Kernels {
    fn lock(&self) -> MutexGuard<'_, KernelsHeld> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for another kernel.
    pub(super) fn reserve(self: &Arc<Self>, caller: &str) -> Result<KernelPlace, NoRoom> {
        let mut held = self.lock();
        held.count += 1;
        let number = held.count;
        let own = held.all.entry(caller.into()).or_default();
        if own.len() >= MOST_OF_A_CALLER {
            let unused =
                own.iter().filter(|kernel| kernel.connections == 0 && !kernel.session.is_empty());
            return Err(NoRoom(unused.map(|kernel| kernel.session.clone()).collect()));
        }
        let session = String::new();
        own.push(HeldKernel { number, session, connections: 0, is_let_go: false });
        drop(held);
        Ok(KernelPlace { kernels: Arc::clone(self), caller: caller.into(), number })
    }

    /// Connects to a kernel that its client is not done with.
    pub(in crate::http) fn connect(
        self: &Arc<Self>,
        caller: &str,
        session: &str,
    ) -> Option<ConnectedKernel> {
        let mut held = self.lock();
        held.count += 1;
        let number = held.count;
        held.find(caller, session).filter(|kernel| !kernel.is_let_go)?.connections += 1;
        drop(held);
        let (caller, session) = (caller.into(), session.into());
        Some(ConnectedKernel { kernels: Arc::clone(self), caller, session, number })
    }

    /// Whether the caller has this kernel, and is not done with it.
    pub(super) fn has(&self, caller: &str, session: &str) -> bool {
        self.lock().find(caller, session).is_some_and(|kernel| !kernel.is_let_go)
    }

    /// Its client is done with it, and it stays until its question is answered.
    pub(super) fn let_go(&self, caller: &str, session: &str) {
        if let Some(kernel) = self.lock().find(caller, session) {
            kernel.is_let_go = true;
        }
    }

    /// There is no such kernel any more.
    pub(super) fn forget(&self, caller: &str, session: &str) {
        let mut held = self.lock();
        let Some(own) = held.all.get_mut(caller) else { return };
        own.retain(|kernel| kernel.session != session);
        if own.is_empty() {
            held.all.remove(caller);
        }
    }
}

impl KernelsHeld {
    fn find(&mut self, caller: &str, session: &str) -> Option<&mut HeldKernel> {
        let own = self.all.get_mut(caller)?;
        own.iter_mut().find(|kernel| !session.is_empty() && kernel.session == session)
    }
}

impl KernelPlace {
    /// The kernel has begun in this session.
    pub(super) fn begin(self, session: &str) {
        let mut held = self.kernels.lock();
        let own = held.all.get_mut(&self.caller);
        if let Some(kernel) =
            own.and_then(|own| own.iter_mut().find(|kernel| kernel.number == self.number))
        {
            session.clone_into(&mut kernel.session);
        }
    }
}

impl Drop for KernelPlace {
    fn drop(&mut self) {
        let mut held = self.kernels.lock();
        let Some(own) = held.all.get_mut(&self.caller) else { return };
        own.retain(|kernel| kernel.number != self.number || !kernel.session.is_empty());
        if own.is_empty() {
            held.all.remove(&self.caller);
        }
    }
}

impl Drop for ConnectedKernel {
    fn drop(&mut self) {
        if let Some(kernel) = self.kernels.lock().find(&self.caller, &self.session) {
            kernel.connections = kernel.connections.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_its_callers_until_that_one_is_done_with_it() {
        let all = Arc::new(Kernels::default());
        all.reserve("anna").unwrap().begin("s1");
        assert!(all.has("anna", "s1") && all.connect("anna", "s1").is_some());
        for (caller, session) in [("ben", "s1"), ("anna", "s2"), ("anna", ""), ("", "s1")] {
            assert!(!all.has(caller, session), "{caller} {session}");
            assert!(all.connect(caller, session).is_none(), "{caller} {session}");
        }
        all.let_go("ben", "s1");
        assert!(all.has("anna", "s1"));
        all.let_go("anna", "s1");
        assert!(!all.has("anna", "s1") && all.connect("anna", "s1").is_none());
        all.forget("anna", "s1");
        assert!(all.lock().all.is_empty());
    }

    #[test]
    fn a_caller_has_so_many_and_those_in_use_stay() {
        let all = Arc::new(Kernels::default());
        for number in 0..MOST_OF_A_CALLER - 1 {
            all.reserve("anna").unwrap().begin(&format!("s{number}"));
        }
        let connected = all.connect("anna", "s0").unwrap();
        let beginning = all.reserve("anna").unwrap();
        let NoRoom(unused) = all.reserve("anna").unwrap_err();
        assert_eq!((unused.len(), unused[0].as_str()), (MOST_OF_A_CALLER - 2, "s1"));
        assert!(all.reserve("ben").is_ok(), "others have their own");
        drop(connected);
        assert_eq!(all.reserve("anna").unwrap_err().0[0], "s0");
        // One that never began leaves its place.
        drop(beginning);
        assert!(all.reserve("anna").is_ok());
    }
}
