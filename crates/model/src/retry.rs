//! Whether a call that failed is tried again, and how long to wait before.
//!
//! Pure. Asked only while nothing of the reply has been shown: a reply that broke off is never
//! begun anew, or its text would stand there twice.

use crate::{ModelError, Retries};
use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

/// The wait before the next try, or `None` if there should be no other. `tries` counts the earlier
/// retries; `chance` is from 0 to 1.
pub(crate) fn wait(
    error: &ModelError,
    tries: u32,
    retries: &Retries,
    chance: f64,
) -> Option<Duration> {
    if tries >= retries.most {
        return None;
    }
    let asked = match passing(error) {
        Passing::No => return None,
        // The network is away, or the server: one more try tells which as well as four.
        Passing::Once if tries > 0 => return None,
        Passing::Once | Passing::Yes(None) => None,
        Passing::Yes(Some(asked)) => Some(asked),
    };
    let Some(asked) = asked else {
        let doubled = retries.first_wait.saturating_mul(1 << tries.min(20));
        return Some(doubled.min(retries.longest_wait).mul_f64(0.5 + chance / 2.0));
    };
    // Never sooner than asked, and not all at the same moment.
    let fits = asked <= retries.longest_wait;
    fits.then(|| asked.mul_f64(1.0 + chance / 10.0).min(retries.longest_wait))
}

/// Whether an error may pass by itself.
enum Passing {
    No,
    Once,
    /// After so long, if the provider says so.
    Yes(Option<Duration>),
}

fn passing(error: &ModelError) -> Passing {
    match error {
        ModelError::RateLimited { retry_after, .. } => Passing::Yes(*retry_after),
        ModelError::Server { status, retry_after, .. } => match status {
            None | Some(500 | 502 | 503 | 504 | 520..=529) => Passing::Yes(*retry_after),
            Some(_) => Passing::No,
        },
        ModelError::Broken { .. } => Passing::Yes(None),
        ModelError::Unreachable { .. } => Passing::Once,
        ModelError::BadAddress { .. }
        | ModelError::BadKey { .. }
        | ModelError::Client { .. }
        | ModelError::Certificates { .. }
        | ModelError::Offline { .. }
        | ModelError::KeyInTheClear { .. }
        | ModelError::KeyMissing { .. }
        | ModelError::KeyRefused { .. }
        | ModelError::UnknownModel { .. }
        | ModelError::OutOfCredit { .. }
        | ModelError::ContextTooLong { .. }
        | ModelError::Rejected { .. }
        | ModelError::Redirected { .. }
        | ModelError::NotAStream { .. }
        | ModelError::TimedOut { .. }
        | ModelError::Malformed { .. }
        | ModelError::TooLarge { .. }
        | ModelError::NoEngine { .. }
        | ModelError::Processor { .. }
        | ModelError::BadWeights { .. }
        | ModelError::Memory { .. }
        | ModelError::NoThread { .. }
        | ModelError::Engine { .. }
        | ModelError::Script(_) => Passing::No,
    }
}

/// A number from 0 to 1 that nobody can foresee well enough to ask at the same moment.
#[expect(clippy::cast_precision_loss, reason = "any number will do")]
pub(crate) fn chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::Untrusted;
    use proptest::prelude::*;

    fn limited(seconds: Option<u64>) -> ModelError {
        ModelError::RateLimited {
            host: "h".into(),
            retry_after: seconds.map(Duration::from_secs),
            said: Untrusted::default(),
        }
    }

    fn server(status: u16) -> ModelError {
        let said = Untrusted::default();
        ModelError::Server { host: "h".into(), status: Some(status), retry_after: None, said }
    }

    #[test]
    fn waits_double_and_end() {
        let waits = |chance: f64| -> Vec<_> {
            let wait = |tries| wait(&server(503), tries, &Retries::default(), chance);
            (0..).map_while(wait).map(|wait| wait.as_millis()).collect()
        };
        assert_eq!(waits(1.0), [1000, 2000, 4000, 8000]);
        assert_eq!(waits(0.0), [500, 1000, 2000, 4000]);
    }

    #[test]
    fn what_a_provider_asks_for_is_waited_unless_it_is_too_long() {
        let wait = |error| wait(&error, 0, &Retries::default(), 0.0);
        assert_eq!(wait(limited(Some(20))), Some(Duration::from_secs(20)));
        assert_eq!(wait(limited(Some(61))), None);
        assert_eq!(wait(limited(Some(u64::MAX))), None);
        assert_eq!(wait(limited(None)), Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_does_not_pass_is_not_tried_again() {
        for status in [501, 505] {
            assert_eq!(wait(&server(status), 0, &Retries::default(), 0.5), None);
        }
        let said = Untrusted::default();
        let refused = ModelError::KeyRefused { host: "h".into(), variables: Vec::new(), said };
        assert_eq!(wait(&refused, 0, &Retries::default(), 0.5), None);
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_longest_or_sooner_than_asked(
            tries in 0..10_u32, asked in prop::option::of(0..100_u64), chance in 0.0..=1.0,
        ) {
            let retries = Retries { most: 10, ..Retries::default() };
            if let Some(wait) = wait(&limited(asked), tries, &retries, chance) {
                prop_assert!(wait <= retries.longest_wait);
                prop_assert!(asked.is_none_or(|asked| wait >= Duration::from_secs(asked)));
            }
        }
    }

    #[test]
    fn chance_is_in_its_bounds_and_differs() {
        let some: Vec<_> = (0..20).map(|_| chance()).collect();
        assert!(some.iter().all(|one| (0.0..=1.0).contains(one)));
        assert!(some.iter().any(|one| (one - some[0]).abs() > f64::EPSILON));
    }
}
