//! Lines that a person types at a terminal for the code.
//!
//! Whoever draws on that terminal must know of each: it ends the row that the cursor was on. And
//! whoever asks the person something there holds them: what is typed then is an answer, and not the
//! code's.

use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// Lines that are typed for the code: how many so far, and whether they are held.
#[derive(Clone, Debug, Default)]
pub struct TypedLines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    /// How many hold the lines. Whoever reads the terminal for the code has this locked.
    holders: Mutex<u32>,
    released: Condvar,
}

/// Lines that are typed do not go to the code for as long as this lives.
#[derive(Debug)]
pub struct HeldLines(TypedLines);

impl TypedLines {
    /// The number of lines so far.
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Keeps what is typed from now on from the code.
    pub fn hold(&self) -> HeldLines {
        *self.holders() += 1;
        HeldLines(self.clone())
    }

    /// Waits until nobody holds the lines; nobody can before the result is dropped.
    pub(super) fn turn(&self) -> MutexGuard<'_, u32> {
        let released = self.0.released.wait_while(self.holders(), |holders| *holders > 0);
        released.unwrap_or_else(PoisonError::into_inner)
    }

    /// A line was typed.
    pub(super) fn add(&self) {
        self.0.count.fetch_add(1, Ordering::Release);
    }

    fn holders(&self) -> MutexGuard<'_, u32> {
        self.0.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HeldLines {
    fn drop(&mut self) {
        *self.0.holders() -= 1;
        self.0.0.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, thread};

    #[test]
    fn nobody_reads_for_the_code_while_lines_are_held() {
        let lines = TypedLines::default();
        let (first, second) = (lines.hold(), lines.hold());
        let (told, hears) = mpsc::channel();
        let other = lines.clone();
        let reader = thread::spawn(move || {
            let turn = other.turn();
            told.send(*turn).unwrap();
        });
        drop(first);
        assert_eq!(*lines.holders(), 1);
        assert_eq!(hears.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(second);
        assert_eq!(hears.recv(), Ok(0));
        reader.join().unwrap();
        lines.add();
        assert_eq!(lines.count(), 1);
    }
}
