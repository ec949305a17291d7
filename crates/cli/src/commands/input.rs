//! Reads standard input or a named file for a command: within a bound, and
//! never cut without a word.

use crate::report::{Error, misuse};
use std::io::Read;

/// Reads text of at most `most` bytes. Longer text is an error that suggests `next`.
pub(crate) fn read_text(
    source: impl Read,
    what: &str,
    most: usize,
    next: &str,
) -> Result<String, Error> {
    let failed = |source| Error::Io { what: format!("{what} cannot be read"), source };
    let mut bytes = Vec::new();
    // One byte past the bound, so that text of exactly that length does not look longer.
    source.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(misuse(format!("{what} is longer than {} MiB; {next}", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| misuse(format!("{what} is not UTF-8 text")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::repeat;

    #[test]
    fn text_is_read_whole_or_refused() {
        let read = |text: &[u8]| read_text(text, "it", 8, "shorten it").map_err(|e| e.to_string());
        assert_eq!(read(b"12345678"), Ok("12345678".into()));
        assert_eq!(read(b"123456789"), Err("it is longer than 0 MiB; shorten it".into()));
        assert_eq!(read(b"\xff"), Err("it is not UTF-8 text".into()));
        assert!(read_text(repeat(b'x'), "it", 4 << 20, "shorten it").is_err());
    }
}
