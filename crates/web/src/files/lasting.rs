//! Whether whoever began to send or fetch files may still go on.
//!
//! # Threat
//! A share that is taken back, or made smaller, while a file of gigabytes is under way.
//!
//! # Mechanism
//! The right is looked up again before each piece, and before the last step. Must not remember the
//! answer.

use std::{fmt, sync::Arc};

/// A right that is looked up again each time.
#[derive(Clone)]
pub(crate) struct LastingRight(Arc<dyn Fn() -> bool + Send + Sync>);

impl LastingRight {
    /// One that holds whenever this does.
    pub(crate) fn while_holds(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(holds))
    }

    /// One that ends only with the login.
    pub(crate) fn of_owner() -> Self {
        Self::while_holds(|| true)
    }

    /// Whether it holds now.
    pub(crate) fn holds(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for LastingRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LastingRight").field(&self.holds()).finish()
    }
}
