//! A connection whose other end must go on reading.
//!
//! A client that never reads would hold an answer, its memory and its place for ever. Here a write
//! that makes no headway for a while fails, so everything above, HTTP and WebSocket alike, ends.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// How long a write may make no headway.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection that fails when the other end does not read.
#[derive(Debug)]
pub(super) struct Stalling<C> {
    connection: C,
    patience: Duration,
    /// Runs while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<C> Stalling<C> {
    pub(super) fn new(connection: C) -> Self {
        Self { connection, patience: PATIENCE, waits: None }
    }

    /// Passes on what came of a write, or fails if there has been no headway for too long.
    fn watched<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let patience = self.patience;
        let waits =
            self.waits.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        ready!(waits.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Stalling<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Stalling<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.watched(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.connection).poll_flush(context);
        self.watched(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.connection).poll_shutdown(context);
        self.watched(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn a_client_that_never_reads_is_dropped_and_another_is_not() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = Stalling::new(ours);
        // The control: whoever reads gets everything.
        let mut read = [0; 32];
        let (written, got) = tokio::join!(ours.write_all(&[7; 32]), theirs.read_exact(&mut read));
        assert!(written.is_ok() && got.is_ok() && read == [7; 32]);
        ours.patience = Duration::from_millis(1);
        let error = ours.write_all(&[7; 32]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }
}
