//! Lines over a stream of bytes, in both directions and bounded.

use crate::Lines;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

/// The longest line, in bytes.
pub(crate) const MOST_LINE: usize = 8 << 20;

/// Stands for a line that is too long or not UTF-8: it is no request, and is answered as such.
pub(crate) const UNREADABLE: &str = "\0";

/// How long a client may not read before it counts as gone. Its place is kept by itself.
const PATIENCE: Duration = Duration::from_mins(1);

/// Bytes that are read at once.
const AT_ONCE: usize = 64 << 10;

/// The lines of a stream.
pub(crate) struct StreamLines<S> {
    stream: S,
    /// The bytes that were read.
    read: Vec<u8>,
    /// Where the next line begins, and up to where no end of it was found.
    start: usize,
    searched: usize,
    is_too_long: bool,
    has_ended: bool,
}

impl<S> StreamLines<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            read: Vec::new(),
            start: 0,
            searched: 0,
            is_too_long: false,
            has_ended: false,
        }
    }

    /// The next line of what was read.
    fn whole_line(&mut self) -> Option<String> {
        let end = self.read[self.searched..].iter().position(|byte| *byte == b'\n');
        if let Some(end) = end.map(|end| self.searched + end) {
            let line = self.read[self.start..=end].to_vec();
            (self.start, self.searched) = (end + 1, end + 1);
            return Some(self.text(line));
        }
        self.read.drain(..self.start);
        self.start = 0;
        if self.read.len() > MOST_LINE {
            (self.read, self.is_too_long) = (Vec::new(), true);
        }
        self.searched = self.read.len();
        if self.has_ended && (!self.read.is_empty() || self.is_too_long) {
            self.searched = 0;
            let rest = std::mem::take(&mut self.read);
            return Some(self.text(rest));
        }
        None
    }

    fn text(&mut self, line: Vec<u8>) -> String {
        let is_too_long = std::mem::take(&mut self.is_too_long) || line.len() > MOST_LINE + 1;
        let text = String::from_utf8(line).ok().filter(|_| !is_too_long);
        text.unwrap_or_else(|| UNREADABLE.into())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Lines for StreamLines<S> {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.whole_line() {
                return Some(line);
            }
            if self.has_ended {
                return None;
            }
            self.read.reserve(AT_ONCE);
            // Either nothing was read or all of it is in the buffer, so this may be dropped.
            match self.stream.read_buf(&mut self.read).await {
                Ok(0) | Err(_) => self.has_ended = true,
                Ok(_) => {}
            }
        }
    }

    async fn send(&mut self, lines: Vec<String>) -> io::Result<()> {
        for line in lines {
            let mut bytes = line.into_bytes();
            bytes.push(b'\n');
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                // A client that reads slowly is no reason to end it, only one that does not read.
                let written = timeout(PATIENCE, self.stream.write(rest)).await??;
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                rest = &rest[written..];
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that come of bytes, however they are cut.
    fn lines(text: &[u8], cut: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (near, mut far) = tokio::io::duplex(cut);
            let text = text.to_vec();
            let sent = tokio::spawn(async move { far.write_all(&text).await });
            let mut lines = StreamLines::new(near);
            let mut seen = Vec::new();
            while let Some(line) = lines.next().await {
                seen.push(line.trim_end().to_owned());
            }
            sent.await.unwrap().unwrap();
            seen
        })
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        for cut in [1, 2, 3, 64] {
            assert_eq!(lines(b"a\n\nbc\r\n\xff\nlast", cut), ["a", "", "bc", UNREADABLE, "last"]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = [&vec![b'x'; 2 * MOST_LINE][..], b"\nnext\n"].concat();
        assert_eq!(lines(&long, 1 << 20), [UNREADABLE, "next"]);
    }
}
