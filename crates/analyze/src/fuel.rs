//! The work that an analysis may still take, in steps. A clock would make findings depend on the
//! machine and its load; steps do not.

use std::cell::Cell;

/// How many steps of following names and values an analysis may cost, and one more for each byte.
const MOST: u32 = 200_000;

/// Bytes of text that can be copied in one step.
const COPIED: usize = 256;

/// The steps that are left.
#[derive(Debug)]
pub(crate) struct Fuel {
    left: Cell<u32>,
    /// Whether another bound has ended the following of a name.
    is_cut: Cell<bool>,
}

impl Fuel {
    /// As much as code of this length may take.
    pub(crate) fn for_code(bytes: usize) -> Self {
        let left = u32::try_from(bytes).unwrap_or(u32::MAX).saturating_add(MOST);
        Self { left: Cell::new(left), is_cut: Cell::new(false) }
    }

    /// Takes one step, if there is any left.
    pub(crate) fn step(&self) -> Option<()> {
        self.take(1)
    }

    /// Takes the steps of copying a text, if there are as many left.
    pub(crate) fn copy(&self, bytes: usize) -> Option<()> {
        self.take(u32::try_from(bytes / COPIED).unwrap_or(u32::MAX).saturating_add(1))
    }

    fn take(&self, steps: u32) -> Option<()> {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or_default());
        left.map(|_| ())
    }

    /// Notes that a name was not followed to its end, because of a bound other than the steps.
    pub(crate) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// Finds a text. Where a bound ends that, the text is computed, which is judged where it is
    /// used: no name is lost by it.
    pub(crate) fn for_text<T>(&self, find: impl FnOnce() -> T) -> T {
        let before = self.is_cut.get();
        let found = find();
        self.is_cut.set(before);
        found
    }

    /// Whether not everything could be followed.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0 || self.is_cut.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_copies_draw_on_the_same_fuel() {
        let fuel = Fuel::for_code(0);
        for _ in 0..MOST / 2 - 1 {
            assert_eq!(fuel.step(), Some(()));
        }
        assert_eq!(fuel.copy(COPIED * (MOST as usize / 2 - 1)), Some(()));
        assert!(!fuel.is_spent());
        assert_eq!(fuel.step(), Some(()));
        assert!(fuel.is_spent());
        assert_eq!(fuel.step(), None);
    }

    #[test]
    fn a_copy_that_is_too_long_takes_all_of_it() {
        let fuel = Fuel::for_code(0);
        assert_eq!(fuel.copy(usize::MAX), None);
        assert!(fuel.is_spent());
    }
}
