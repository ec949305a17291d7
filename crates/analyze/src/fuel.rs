//! The work that an analysis may still take, in steps. A clock would make findings depend on the
//! machine and its load; steps do not.

use std::cell::Cell;

/// How many steps of following names and values an analysis may cost, and one more for each byte.
const MOST: u32 = 200_000;

/// Bytes of text that can be copied in one step.
const COPIED: usize = 256;

/// The steps that are left.
#[derive(Debug)]
pub(crate) struct Fuel(Cell<u32>);

impl Fuel {
    /// As much as code of this length may take.
    pub(crate) fn for_code(bytes: usize) -> Self {
        Self(Cell::new(u32::try_from(bytes).unwrap_or(u32::MAX).saturating_add(MOST)))
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
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or_default());
        left.map(|_| ())
    }

    /// Whether not everything could be followed.
    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
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
