//! How many calls a minute may have, by the person's own wish.

use std::{fmt, time::Duration};

/// Keeps calls within a number a minute. Whoever makes it counts them.
pub struct Pace(Box<dyn Fn() -> Result<(), Duration> + Send + Sync>);

impl Pace {
    /// A pace by a function that takes the turn for a call that is made now, or says how long to
    /// wait before asking again.
    pub fn new(take: impl Fn() -> Result<(), Duration> + Send + Sync + 'static) -> Self {
        Self(Box::new(take))
    }

    pub(crate) fn take(&self) -> Result<(), Duration> {
        self.0()
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pace")
    }
}
