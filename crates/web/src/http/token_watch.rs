//! Notices at once that tokens or people have changed, so that a quiet socket or stream of a revoked
//! one ends too.
//!
//! Where the system gives no notice, the next frame still finds out by itself.

use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    io::read,
};
use std::{future::pending, io, os::fd::OwnedFd, path::Path};
use tokio::io::{Interest, unix::AsyncFd};

/// Bytes of notices that are read at once. They are not looked at.
const NOTICES: usize = 4 << 10;

/// Calls `changed` whenever a file has gone from one of these folders, for as long as it is awaited.
pub(super) async fn follow(folders: &[&Path], changed: impl Fn()) {
    if let Ok(notices) = begin(folders) {
        // One that went before the watch began.
        changed();
        while next(&notices).await.is_ok() {
            changed();
        }
    }
    pending::<()>().await;
}

#[expect(deprecated, reason = "the new form is `unsafe`, for things whose descriptor may change")]
fn begin(folders: &[&Path]) -> io::Result<AsyncFd<OwnedFd>> {
    let notices = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let wanted = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::ONLYDIR;
    for folder in folders {
        inotify::add_watch(&notices, *folder, wanted)?;
    }
    AsyncFd::with_interest(notices, Interest::READABLE)
}

async fn next(notices: &AsyncFd<OwnedFd>) -> io::Result<()> {
    let mut buffer = [0; NOTICES];
    let taken = |file: &OwnedFd| read(file, &mut buffer).map_err(io::Error::from);
    notices.async_io(Interest::READABLE, taken).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Right,
        http::{
            kept_tokens::{look_up, make_token},
            logins::Logins,
        },
    };
    use interpreter_store::{Folders, KeptTokens};
    use std::{sync::Mutex, time::Instant};

    #[tokio::test]
    async fn whoever_waits_learns_at_once_that_a_token_is_revoked() {
        let home = tempfile::tempdir().unwrap();
        let tokens = KeptTokens::new(&Folders::under(home.path()));
        let text = make_token(&tokens, "ci", &[Right::Watch], None).unwrap();
        let (logins, now) = (Mutex::new(Logins::default()), Instant::now());
        look_up(&tokens, &mut logins.lock().unwrap(), &text, now);
        let mut known = logins.lock().unwrap().by_token(&text, now).unwrap();
        let watched = [tokens.make_folder().unwrap()];
        tokio::select! {
            biased;
            () = follow(&watched, || logins.lock().unwrap().drop_gone()) => {}
            () = async {
                tokens.revoke("ci").unwrap();
                known.ended().await;
            } => {}
        }
        assert!(known.is_gone());
    }
}
