//! Where the pieces of a reply go, and whether any has gone.

use crate::{Headway, Price, ReplyPiece};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::Sender;

/// The reader of one reply.
pub(crate) struct Sink<'a> {
    to: &'a Sender<ReplyPiece>,
    begun: AtomicBool,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(to: &'a Sender<ReplyPiece>) -> Self {
        Self { to, begun: AtomicBool::new(false) }
    }

    /// Sends pieces on. A reader that is gone is no reason to stop: the reply still counts.
    pub(crate) async fn show(&self, pieces: impl IntoIterator<Item = ReplyPiece>) {
        for piece in pieces {
            self.begun.store(true, Ordering::Relaxed);
            if self.to.send(piece).await.is_err() {
                return;
            }
        }
    }

    /// Tells something of our own, which is no part of the reply.
    pub(crate) async fn tell(&self, note: String) {
        _ = self.to.send(ReplyPiece::Note(note)).await.is_ok();
    }

    /// Tells how far it has come.
    pub(crate) async fn report(&self, headway: Headway) {
        _ = self.to.send(ReplyPiece::Headway(headway)).await.is_ok();
    }

    /// Tells what the tokens of whoever is asked now cost.
    pub(crate) async fn price(&self, price: Option<Price>) {
        _ = self.to.send(ReplyPiece::Price(price)).await.is_ok();
    }

    /// Whether something of the reply has been shown, so that it cannot begin anew.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }
}
