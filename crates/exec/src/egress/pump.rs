//! Bytes between the inside and the outside, both ways, until both have ended.
//!
//! When one side closes its direction, so does the other, which may continue to send. An idle
//! connection is closed.

use super::ledger::Traffic;
use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes that are read at once.
const PIECE: usize = 32 << 10;

/// Notices whether anything moves.
#[derive(Debug, Default)]
pub(super) struct Pulse(AtomicU64);

impl Pulse {
    pub(super) fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until nothing has moved for so long.
    pub(super) async fn silence(&self, patience: Duration) {
        loop {
            let before = self.0.load(Ordering::Relaxed);
            tokio::time::sleep(patience).await;
            if self.0.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }
}

/// Copies until the source ends, and then ends the sink.
pub(super) async fn copy(
    source: &mut (impl AsyncRead + Unpin),
    sink: &mut (impl AsyncWrite + Unpin),
    count: &AtomicU64,
    pulse: &Pulse,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = source.read(&mut piece).await?;
        if length == 0 {
            return sink.shutdown().await;
        }
        sink.write_all(&piece[..length]).await?;
        count.fetch_add(length as u64, Ordering::Relaxed);
        pulse.beat();
    }
}

pub(super) async fn tunnel(
    inside: &mut (impl AsyncRead + AsyncWrite + Unpin),
    outside: &mut (impl AsyncRead + AsyncWrite + Unpin),
    traffic: &Traffic,
    patience: Duration,
) {
    let pulse = Pulse::default();
    let (mut from_inside, mut to_inside) = tokio::io::split(inside);
    let (mut from_outside, mut to_outside) = tokio::io::split(outside);
    let both = async {
        tokio::try_join!(
            copy(&mut from_inside, &mut to_outside, &traffic.sent, &pulse),
            copy(&mut from_outside, &mut to_inside, &traffic.received, &pulse),
        )
    };
    tokio::select! {
        // However it ended, both sides see it end.
        _ = both => {}
        () = pulse.silence(patience) => {}
    }
}
