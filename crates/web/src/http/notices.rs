//! News for whoever runs the server: requests, if they are logged, and alarms.
//!
//! A line holds the pattern of a path and never the path itself, no query, no header, no secret.
//! Nothing waits for a reader: lines that nobody takes are counted and left out.

use serde::Serialize;
use std::{
    net::IpAddr,
    sync::atomic::{AtomicU64, Ordering},
};
use tokio::sync::mpsc;

/// Lines that wait for their reader.
const MOST_WAITING: usize = 1_024;

/// One thing to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum ServerNotice {
    /// A request was answered.
    Request {
        /// Where it came from.
        peer: IpAddr,
        /// The name of the caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        who: Option<String>,
        /// `GET` or `POST`; nothing where there is no such route.
        #[serde(skip_serializing_if = "Option::is_none")]
        method: Option<&'static str>,
        /// The pattern of its path; nothing where there is no such route.
        #[serde(skip_serializing_if = "Option::is_none")]
        route: Option<&'static str>,
        /// The status of the answer.
        status: u16,
        /// The time it took.
        milliseconds: u64,
    },
    /// Somebody logged in.
    LoggedIn {
        /// Where from.
        peer: IpAddr,
    },
    /// Somebody tried a code that is wrong, old or used.
    WrongCode {
        /// Where from.
        peer: IpAddr,
    },
    /// Somebody tries codes; more of them are not reported for a while.
    ManyWrongCodes {
        /// Where from.
        peer: IpAddr,
    },
    /// Somebody who came from the login provider was not let in.
    LoginRefused {
        /// Where from.
        peer: IpAddr,
        /// The reason, as a word.
        reason: &'static str,
        /// The cause behind it.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// Somebody showed a key or a token that opens nothing, or no longer. Only if requests are
    /// logged: a tab that was logged out does it too.
    WrongKey {
        /// Where from.
        peer: IpAddr,
    },
    /// Lines were left out, because nobody read them.
    LeftOut {
        /// How many.
        count: u64,
    },
}

/// The sender of notices.
#[derive(Debug)]
pub(super) struct Notices {
    sender: mpsc::Sender<ServerNotice>,
    left_out: AtomicU64,
}

impl Notices {
    pub(super) fn new() -> (Self, mpsc::Receiver<ServerNotice>) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        (Self { sender, left_out: AtomicU64::new(0) }, receiver)
    }

    pub(super) fn say(&self, notice: ServerNotice) {
        let count = self.left_out.swap(0, Ordering::Relaxed);
        if count > 0 && self.sender.try_send(ServerNotice::LeftOut { count }).is_err() {
            self.left_out.fetch_add(count, Ordering::Relaxed);
        }
        if self.sender.try_send(notice).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_counted_and_left_out() {
        let (notices, mut receiver) = Notices::new();
        let peer = IpAddr::from([127, 0, 0, 1]);
        for _ in 0..MOST_WAITING + 5 {
            notices.say(ServerNotice::LoggedIn { peer });
        }
        while receiver.try_recv().is_ok() {}
        notices.say(ServerNotice::WrongCode { peer });
        assert_eq!(receiver.try_recv().unwrap(), ServerNotice::LeftOut { count: 5 });
        assert_eq!(receiver.try_recv().unwrap(), ServerNotice::WrongCode { peer });
    }
}
