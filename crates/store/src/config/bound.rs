//! Values of which one can be looser than another.
//!
//! The project's file may only tighten; this says what that means, for each type there is.

use crate::quantity::{Bytes, TimeLimit};
use interpreter_core::Workspace;
use std::num::{NonZeroU32, NonZeroU64};

/// A value of which one can be looser than another.
pub(super) trait Bound {
    /// Whether this leaves more freedom than `other`.
    fn is_looser_than(&self, other: &Self) -> bool;

    /// The value as a config file has it.
    fn words(&self) -> String;
}

impl Bound for Workspace {
    fn is_looser_than(&self, other: &Self) -> bool {
        let freedom = |workspace| match workspace {
            Self::ReadOnly => 0,
            Self::Stage => 1,
            Self::Direct => 2,
        };
        freedom(*self) > freedom(*other)
    }

    fn words(&self) -> String {
        format!("\"{}\"", self.word())
    }
}

impl Bound for TimeLimit {
    fn is_looser_than(&self, other: &Self) -> bool {
        self > other
    }

    fn words(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Bound for Bytes {
    fn is_looser_than(&self, other: &Self) -> bool {
        self > other
    }

    fn words(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Bound for NonZeroU32 {
    fn is_looser_than(&self, other: &Self) -> bool {
        self > other
    }

    fn words(&self) -> String {
        self.to_string()
    }
}

impl Bound for NonZeroU64 {
    fn is_looser_than(&self, other: &Self) -> bool {
        self > other
    }

    fn words(&self) -> String {
        self.to_string()
    }
}

/// None is no bound at all.
impl<T: Bound> Bound for Option<T> {
    fn is_looser_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(one), Some(other)) => one.is_looser_than(other),
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        }
    }

    fn words(&self) -> String {
        self.as_ref().map_or_else(|| "no limit".into(), T::words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_is_looser_than_stage_is_looser_than_read_only() {
        let order = [Workspace::ReadOnly, Workspace::Stage, Workspace::Direct];
        for (i, one) in order.iter().enumerate() {
            for (j, other) in order.iter().enumerate() {
                assert_eq!(one.is_looser_than(other), i > j);
            }
        }
    }

    #[test]
    fn no_bound_is_looser_than_any() {
        let five = NonZeroU32::new(5);
        assert!(None.is_looser_than(&five));
        assert!(!five.is_looser_than(&None));
        assert!(!five.is_looser_than(&five));
        assert!(!None::<NonZeroU32>.is_looser_than(&None));
    }
}
