//! Answers the kernel's questions about refused calls, and notes who made them.
//!
//! # Threat
//! Code that makes refused calls without end, to keep us busy, to fill memory or to write lines of
//! its own choosing onto the screen.
//!
//! # Mechanism
//! One thread for each sandbox, at the lowest priority, answers one call after the other with the
//! error that its rule has. A call is noted before it is answered, so it is there when the run that
//! made it ends. The list is bounded; once it is full a program's name is not even read. The name is
//! whatever the program calls itself, at most fifteen bytes, and is shown through a filter.
//!
//! # Order
//! The descriptor comes from the sandbox before anything but ourselves has run in it. The thread
//! ends when nothing is left inside.
//!
//! # Limits
//! Code can keep that one thread busy, which does not count as its own processor time. If something
//! above us already handles the calls, as in some containers, the kernel answers by itself and
//! nothing is reported.

use crate::egress::receive;
use interpreter_core::{Denial, Denials};
use interpreter_jail::{Answers, Listener, Notice, rules};
use std::{
    io,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};
use tokio::net::unix::OwnedReadHalf;

/// Refusals since the last report, shared by all sandboxes of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals(Arc<Mutex<Denials>>);

impl Refusals {
    pub(crate) fn note(&self, denial: Denial) {
        self.denials().note(denial);
    }

    /// Everything since the last time.
    pub(crate) fn take(&self) -> Denials {
        std::mem::take(&mut *self.denials())
    }

    fn denials(&self) -> MutexGuard<'_, Denials> {
        // Nobody leaves it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for what a sandbox hands out, and then answers for it. Where nothing comes, the kernel
/// answers by itself, or there is no sandbox.
pub(super) fn watch(from: OwnedReadHalf, refusals: Refusals) {
    tokio::spawn(async move {
        let Ok(descriptor) = receive(from.as_ref()).await else { return };
        let listener = Listener::new(descriptor);
        let thread = std::thread::Builder::new().name("refusals".into());
        // Without a thread the descriptor is closed, and the kernel answers: no such call.
        _ = thread.spawn(move || answer(&listener, &refusals)).is_ok();
    });
}

/// The answers, once somebody wants one. Rules that do not parse build no sandbox either.
static ANSWERS: LazyLock<Option<Answers>> =
    LazyLock::new(|| rules().and_then(|rules| Answers::of(&rules)).ok());

fn answer(listener: &Listener, refusals: &Refusals) {
    const LOWEST: i32 = 19;
    // If that is refused, it has the priority of the rest.
    _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOWEST).is_ok();
    while let Ok(Some(notice)) = listener.next() {
        let Some(answers) = &*ANSWERS else { return };
        let answer = answers.to(notice.call, notice.arguments);
        let program = if refusals.denials().has_room() { program(listener, &notice) } else { None };
        let program = program.as_deref().unwrap_or("a program");
        refusals.note(Denial::call(answer.call, program, answer.reason));
        if listener.refuse(&notice, answer.errno).is_err() {
            return;
        }
    }
}

/// The name that the waiting program gives itself.
fn program(listener: &Listener, notice: &Notice) -> Option<String> {
    let name = read_name(notice.process).ok()?;
    // Otherwise it may be another's who got the number meanwhile.
    listener.still_waits(notice).then_some(name)
}

fn read_name(process: u32) -> io::Result<String> {
    let bytes = fs_err::read(format!("/proc/{process}/comm"))?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
}
