//! Keys pressed while something else is going on: the beginning of the next prompt.
//!
//! Never an answer. Its last line is shown in passing while something else is going on, all of it with
//! the next prompt, and it is sent only when they press Enter there.

use super::strokes::Stroke;
use interpreter_core::Untrusted;

/// Bytes of a draft; more is not taken.
const LONGEST: usize = 1 << 20;

/// A prompt that has been begun.
#[derive(Debug, Default)]
pub(super) struct Draft(String);

impl Draft {
    /// Adds what was typed.
    pub(super) fn take(&mut self, stroke: &Stroke) {
        match stroke {
            Stroke::Typed(c) => self.push(c.encode_utf8(&mut [0; 4])),
            Stroke::Enter => self.push("\n"),
            Stroke::Backspace => _ = self.0.pop(),
            Stroke::ClearLine => {
                let line = self.0.rfind('\n').map_or(0, |at| at + 1);
                self.0.truncate(line);
            }
            Stroke::Pasted(text) => self.push(&plain(text)),
            Stroke::Interrupt
            | Stroke::End
            | Stroke::Suspend
            | Stroke::Position
            | Stroke::Told(_)
            | Stroke::Other => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.0.len() + text.len() <= LONGEST {
            self.0.push_str(text);
        }
    }

    /// The line that is being typed.
    pub(super) fn last_line(&self) -> &str {
        self.0.rsplit('\n').next().unwrap_or_default()
    }

    /// The text, which is the next prompt's. Empty lines around it are keys that were pressed once
    /// too often.
    pub(super) fn give(&mut self) -> String {
        std::mem::take(&mut self.0).trim_matches('\n').trim_end().to_owned()
    }
}

/// Pasted text as a person can see it: characters that do something, or are invisible, are spelled
/// out, because a line editor would show them as they are.
pub(super) fn plain(pasted: &str) -> String {
    Untrusted::new(pasted).for_terminal()
}

#[cfg(test)]
mod tests {
    use super::{super::strokes::Strokes, *};

    fn draft(bytes: &[u8]) -> String {
        let mut draft = Draft::default();
        for stroke in Strokes::default().feed(bytes) {
            draft.take(&stroke);
        }
        draft.give()
    }

    #[test]
    fn it_is_what_was_typed() {
        assert_eq!(draft(b"\rabx\x7fc\rnext\r\r"), "abc\nnext");
        assert_eq!(draft(b"one\rtwo\x15three"), "one\nthree");
        assert_eq!(draft(b"\r\r"), "");
    }

    #[test]
    fn its_last_line_is_the_one_that_is_typed() {
        let mut draft = Draft::default();
        for (keys, line) in [("", ""), ("ab", "ab"), ("\rc", "c"), ("\x7f", ""), ("\x7fd", "abd")] {
            Strokes::default().feed(keys.as_bytes()).iter().for_each(|one| draft.take(one));
            assert_eq!(draft.last_line(), line);
        }
    }

    #[test]
    fn a_paste_is_text() {
        assert_eq!(draft(b"\x1b[200~y\r\x1b[2Ja\x1b[201~"), "y\n\\u{1b}[2Ja");
    }
}
