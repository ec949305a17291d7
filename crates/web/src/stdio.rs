//! The protocol on standard input and output.
//!
//! Both are read and written on threads of their own: they may be anything, and a thread that waits
//! for a key must not keep the program from ending.

use crate::{
    Caller, Lines, RightSet, SessionHub,
    client::{AtEnd, serve},
    stream_lines::{MOST_LINE, UNREADABLE},
};
use std::{
    io::{self, BufRead, BufReader, Read},
    thread,
};
use tokio::sync::{mpsc, oneshot};

/// The name of this client in the record.
const NAME: &str = "stdio";

/// Lines that are on their way, and who waits for them.
type Outgoing = (Vec<String>, oneshot::Sender<io::Result<()>>);

struct ThreadLines {
    incoming: mpsc::Receiver<String>,
    outgoing: mpsc::Sender<Outgoing>,
}

impl Lines for ThreadLines {
    async fn next(&mut self) -> Option<String> {
        self.incoming.recv().await
    }

    async fn send(&mut self, lines: Vec<String>) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (done, written) = oneshot::channel();
        self.outgoing.send((lines, done)).await.map_err(|_| gone())?;
        written.await.map_err(|_| gone())?
    }
}

/// Serves whoever is at the other end of these, until the input ends and everything with it, or
/// somebody ends the server.
pub async fn serve_stdio(
    hub: &SessionHub,
    input: impl Read + Send + 'static,
    mut write: impl FnMut(&[String]) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let (lines, incoming) = mpsc::channel(1);
    thread::Builder::new().name("input".into()).spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(line) = next_line(&mut input) {
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    })?;
    let (outgoing, mut sent) = mpsc::channel::<Outgoing>(1);
    thread::Builder::new().name("output".into()).spawn(move || {
        while let Some((lines, done)) = sent.blocking_recv() {
            // Whoever waits may have left.
            _ = done.send(write(&lines)).is_ok();
        }
    })?;
    let caller = Caller::operator(NAME, RightSet::all());
    serve(hub, caller, ThreadLines { incoming, outgoing }, AtEnd::EndAll).await
}

/// The next line. One that is too long or not UTF-8 is passed over, and stands there as unreadable.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        if piece.is_empty() {
            // The last line may lack an end.
            if line.is_empty() && !is_too_long {
                return None;
            }
            break;
        }
        let (taken, ends) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (piece.len(), false),
        };
        if line.len() + taken > MOST_LINE {
            (line, is_too_long) = (Vec::new(), true);
        }
        if !is_too_long {
            line.extend_from_slice(&piece[..taken]);
        }
        input.consume(taken);
        if ends {
            break;
        }
    }
    if is_too_long {
        return Some(UNREADABLE.into());
    }
    Some(String::from_utf8(line).unwrap_or_else(|_| UNREADABLE.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_none_is_lost() {
        let long = vec![b'x'; MOST_LINE + 1];
        let text = [b"a\n\n", &long[..], b"\nb\r\n\xff\nlast"].concat();
        let mut input = BufReader::new(&text[..]);
        let mut seen = Vec::new();
        while let Some(line) = next_line(&mut input) {
            seen.push(line.trim_end().to_owned());
        }
        assert_eq!(seen, ["a", "", UNREADABLE, "b", UNREADABLE, "last"]);
    }
}
