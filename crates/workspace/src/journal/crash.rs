//! Where the program could die: after each step that changes something on the disk.
//!
//! In the program this is nothing. In tests a crash can be ordered after so many steps, and
//! everything that would have come after it does not happen.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// One step is about to be done.
pub(crate) fn point() {
    #[cfg(test)]
    LEFT.with(|left| match left.get() {
        None => {}
        Some(0) => {
            left.set(None);
            // Past the hook: a crash that was ordered is no news.
            std::panic::resume_unwind(Box::new("ordered"));
        }
        Some(steps) => left.set(Some(steps - 1)),
    });
}

/// Runs `what`, but dies after `steps` steps; returns `None` if it died.
#[cfg(test)]
pub(crate) fn after<T>(steps: usize, what: impl FnOnce() -> T) -> Option<T> {
    LEFT.with(|left| left.set(Some(steps)));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
    LEFT.with(|left| left.set(None));
    match done {
        Ok(done) => Some(done),
        Err(crash) if crash.downcast_ref::<&str>() == Some(&"ordered") => None,
        Err(crash) => std::panic::resume_unwind(crash),
    }
}
