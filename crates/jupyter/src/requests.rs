//! Requests of the host to a driver, cut out of its socket.
//!
//! A cell is a decimal length, a newline and that many bytes. An answer has a `+` before the
//! length, the end of input is `-1`, and code to be completed has a `?` before the length and
//! where the cursor stands, in bytes, after it.

use std::io;

/// Bytes of the longest head.
const LONGEST_HEAD: usize = 64;

/// A request of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Run this cell, and claim its end.
    Execute(Vec<u8>),
    /// The person's answer, or `None` at the end of input.
    Answer(Option<Vec<u8>>),
    /// Say how this could go on.
    Complete { code: Vec<u8>, cursor: usize },
}

/// Cuts requests out of pieces.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    bytes: Vec<u8>,
}

impl Requests {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next request, if it has come whole.
    pub(crate) fn next(&mut self) -> io::Result<Option<Request>> {
        let Some(line) = self.bytes.iter().take(LONGEST_HEAD).position(|&byte| byte == b'\n')
        else {
            return if self.bytes.len() < LONGEST_HEAD { Ok(None) } else { Err(broken()) };
        };
        let head = std::str::from_utf8(&self.bytes[..line]).map_err(|_| broken())?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| broken());
        let (sign, length, cursor) = match head.as_bytes().first() {
            Some(b'-') => ('-', 0, 0),
            Some(b'+') => ('+', number(&head[1..])?, 0),
            Some(b'?') => {
                let (length, cursor) = head[1..].split_once(' ').ok_or_else(broken)?;
                ('?', number(length)?, number(cursor)?)
            }
            _ => (' ', number(head)?, 0),
        };
        let start = line + 1;
        let end = start.checked_add(length).ok_or_else(broken)?;
        let Some(body) = self.bytes.get(start..end) else { return Ok(None) };
        let body = body.to_vec();
        self.bytes.drain(..end);
        Ok(Some(match sign {
            '-' => Request::Answer(None),
            '+' => Request::Answer(Some(body)),
            '?' => Request::Complete { cursor: cursor.min(body.len()), code: body },
            _ => Request::Execute(body),
        }))
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not what a host says")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_out_whole_whatever_pieces_they_come_in() {
        let bytes = b"3\na\nb+0\n-1\n?5 99\nab.cd0\n";
        for piece in [1, 2, 5, bytes.len()] {
            let mut requests = Requests::default();
            let mut all = Vec::new();
            for piece in bytes.chunks(piece) {
                requests.push(piece);
                while let Some(request) = requests.next().unwrap() {
                    all.push(request);
                }
            }
            assert_eq!(
                all,
                [
                    Request::Execute(b"a\nb".to_vec()),
                    Request::Answer(Some(vec![])),
                    Request::Answer(None),
                    Request::Complete { code: b"ab.cd".to_vec(), cursor: 5 },
                    Request::Execute(vec![]),
                ]
            );
        }
    }

    #[test]
    fn anything_else_is_broken() {
        for bytes in [b"x\n".as_slice(), b"?3\nabc", b"\n", b"+-1\n", &[b'1'; 80]] {
            let mut requests = Requests::default();
            requests.push(bytes);
            assert!(requests.next().is_err(), "{bytes:?}");
        }
    }
}
