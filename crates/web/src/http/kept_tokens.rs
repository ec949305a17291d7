//! Tokens for scripts that outlive a server: made at the command line, and found by their hash.
//!
//! Rights and end are those of the file. A token whose file is gone is gone, for new requests and
//! for connections that it holds open.
//!
//! Must not read the disk while all others wait: [`LookUp`] is done apart from the logins.

use super::{
    logins::{KeptPass, Known, Logins, PassId},
    options::HttpError,
    random_key::RandomKey,
};
use crate::{Caller, Right};
use interpreter_core::hash::sha256;
use interpreter_store::{KeptToken, KeptTokens, StoreError, TokenKept};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// The longest text that is looked up.
const LONGEST_TOKEN: usize = 64;

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There are no random numbers.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// Its name cannot be used, or there are too many.
    #[error("{0}")]
    Refused(&'static str),
}

/// Makes a token with this name and these rights, for a number of days or for good.
pub fn make_token(
    tokens: &KeptTokens,
    name: &str,
    rights: &[Right],
    days: Option<u32>,
) -> Result<String, TokenError> {
    let token = RandomKey::new().map_err(HttpError::from)?.into_text();
    let made = seconds();
    let kept = KeptToken {
        name: name.to_owned(),
        rights: rights.iter().map(|right| right.word().to_owned()).collect(),
        made,
        ends: days.map(|days| made.saturating_add(u64::from(days) * DAY)),
    };
    match tokens.add(&sha256(token.as_bytes()), &kept)? {
        TokenKept::Done => Ok(token),
        TokenKept::NameTaken => Err(TokenError::Refused("there is a token of that name")),
        TokenKept::NotAName => {
            Err(TokenError::Refused("a name has up to 40 letters, digits, or `-`, `_`, `.`, `@`"))
        }
        TokenKept::Reserved => Err(TokenError::Refused(
            "the record calls clients without a token by that name; choose another",
        )),
        TokenKept::TooMany => Err(TokenError::Refused("there are 100 tokens; revoke one")),
    }
}

/// A token of a request that may have a file.
#[derive(Debug)]
pub(super) enum LookUp {
    /// It is known by its file, which may be gone.
    Check(Known),
    /// It is not known yet.
    Find(String),
}

/// The outcome of a look at the disk.
#[derive(Debug)]
pub(super) enum LookedUp {
    /// Nothing has changed.
    Same,
    Gone(PassId),
    Found {
        token: String,
        pass: KeptPass,
    },
}

impl LookUp {
    /// The look that this token needs, if it needs one.
    pub(super) fn of(token: &str, logins: &Logins, now: Instant) -> Option<Self> {
        match logins.by_token(token, now) {
            Some(known) => known.is_kept().then_some(Self::Check(known)),
            None if token.len() > LONGEST_TOKEN => None,
            None => Some(Self::Find(token.to_owned())),
        }
    }

    /// Looks it up. Reads the disk.
    pub(super) fn perform(self, tokens: &KeptTokens, now: Instant) -> LookedUp {
        match self {
            Self::Check(known) if known.is_gone() => LookedUp::Gone(known.pass),
            Self::Check(_) => LookedUp::Same,
            Self::Find(token) => match kept_pass(tokens, &token, now) {
                Some(pass) => LookedUp::Found { token, pass },
                None => LookedUp::Same,
            },
        }
    }
}

impl LookedUp {
    /// Makes the outcome known.
    pub(super) fn note(self, logins: &mut Logins, now: Instant) {
        match self {
            Self::Same => {}
            Self::Gone(pass) => logins.end(pass),
            // Another request may have been first.
            Self::Found { token, .. } if logins.by_token(&token, now).is_some() => {}
            Self::Found { token, pass } => {
                // Whoever revokes one and makes another leaves nothing here.
                logins.drop_gone();
                logins.add_kept(&token, pass, now);
            }
        }
    }
}

/// The token as its file has it, unless it has ended.
fn kept_pass(tokens: &KeptTokens, token: &str, now: Instant) -> Option<KeptPass> {
    let hash = sha256(token.as_bytes());
    let kept = tokens.find(&hash)?;
    let ends = match kept.ends.map(|ends| ends.saturating_sub(seconds())) {
        Some(0) => return None,
        Some(left) => now.checked_add(Duration::from_secs(left)),
        None => None,
    };
    let has = |right: &Right| kept.rights.iter().any(|word| word == right.word());
    let rights = Right::ALL.into_iter().filter(has).collect();
    let caller = Caller::operator(kept.name, rights);
    Some(KeptPass { caller, ends, file: tokens.path(&hash) })
}

/// All of it at once, where nobody waits.
#[cfg(test)]
pub(super) fn look_up(tokens: &KeptTokens, logins: &mut Logins, token: &str, now: Instant) {
    if let Some(wanted) = LookUp::of(token, logins, now) {
        wanted.perform(tokens, now).note(logins, now);
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_store::Folders;

    #[test]
    fn a_kept_token_has_its_own_rights_and_ends_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(folder.path()));
        let (mut logins, now) = (Logins::default(), Instant::now());
        let token = make_token(&tokens, "ci", &[Right::Watch], Some(1)).unwrap();
        for taken in ["ci", "page", "script"] {
            assert!(make_token(&tokens, taken, &[Right::Watch], None).is_err(), "{taken}");
        }
        look_up(&tokens, &mut logins, &token, now);
        look_up(&tokens, &mut logins, &token, now);
        assert_eq!(logins.count(), 1);
        let known = logins.by_token(&token, now).unwrap();
        assert_eq!(known.caller.name, "ci");
        assert!(known.caller.rights.has(Right::Watch) && !known.caller.rights.has(Right::Admin));
        assert!(!known.is_gone());
        let day = Duration::from_secs(DAY + 1);
        assert!(logins.by_token(&token, now + day).is_none());
        tokens.revoke("ci").unwrap();
        assert!(known.is_gone());
        look_up(&tokens, &mut logins, &token, now);
        assert!(logins.by_token(&token, now).is_none() && logins.count() == 0);
        for wrong in ["", "x", &"x".repeat(1_000)] {
            look_up(&tokens, &mut logins, wrong, now);
            assert!(logins.by_token(wrong, now).is_none());
        }
    }

    #[test]
    fn a_token_that_has_ended_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(folder.path()));
        let (mut logins, now) = (Logins::default(), Instant::now());
        let token = make_token(&tokens, "old", &[Right::Watch], Some(0)).unwrap();
        look_up(&tokens, &mut logins, &token, now);
        assert!(logins.by_token(&token, now).is_none());
    }
}
