//! Bytes from a terminal, as keys.
//!
//! Used while something else than a line editor has the keyboard: while a model writes, while code
//! runs, while a question waits. Pure: bytes in, strokes out, in any pieces.
//!
//! # Threat
//! A paste that contains what would be an answer; the rest of an escape sequence that is taken for
//! a key.
//!
//! # Mechanism
//! A paste in brackets is one stroke, whatever it contains, and no sequence of an arrow or
//! function key yields a character.

use std::time::Duration;

/// How long the rest of a sequence, and of a paste, may take.
const PATIENCE: Duration = Duration::from_millis(100);
const PASTE_PATIENCE: Duration = Duration::from_secs(1);

/// The longest answer of a terminal that is kept.
const LONGEST_ANSWER: usize = 512;

/// The longest paste that is kept.
const LONGEST_PASTE: usize = 1 << 20;

/// One thing that a person did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// A character was typed.
    Typed(char),
    Enter,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-U.
    ClearLine,
    /// Text was pasted.
    Pasted(String),
    /// The terminal says where its cursor is: it has drawn everything that was written before it
    /// was asked.
    Position,
    /// The terminal answers a question about itself: the sequence without its beginning and end.
    Told(String),
    /// Any other key.
    Other,
}

/// Takes bytes apart.
#[derive(Debug, Default)]
pub(super) struct Strokes {
    state: State,
    /// The bytes of a character or of a sequence that is not whole yet.
    held: Vec<u8>,
    pasted: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// In `ESC [ … letter`.
    Sequence,
    /// In `ESC O letter`.
    Function,
    /// In a string that ends with BEL or ESC `\`.
    Words,
    /// In a paste.
    Paste,
}

/// Bytes that end a paste.
const PASTE_ENDS: &[u8] = b"\x1b[201~";

impl Strokes {
    /// The strokes that `bytes` complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Stroke> {
        let mut strokes = Vec::new();
        for &byte in bytes {
            strokes.extend(self.take(byte));
        }
        strokes
    }

    /// How long the rest of what has been begun may take; nothing if nothing has. A read can end
    /// anywhere, also right behind the first byte of a sequence.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self.state {
            State::Ground if self.held.is_empty() => None,
            State::Paste => Some(PASTE_PATIENCE),
            State::Ground | State::Escape | State::Sequence | State::Function | State::Words => {
                Some(PATIENCE)
            }
        }
    }

    /// Takes what has been begun for whole, because its rest did not come.
    pub(super) fn give_up(&mut self) -> Stroke {
        self.held.clear();
        match std::mem::take(&mut self.state) {
            State::Paste => self.paste_ended(0),
            State::Ground | State::Escape | State::Sequence | State::Function | State::Words => {
                Stroke::Other
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<Stroke> {
        match self.state {
            State::Ground => self.in_ground(byte),
            State::Escape => self.after_escape(byte),
            State::Sequence => self.in_sequence(byte),
            State::Function => {
                self.state = State::Ground;
                Some(Stroke::Other)
            }
            State::Words => self.in_words(byte),
            State::Paste => self.in_paste(byte),
        }
    }

    fn in_ground(&mut self, byte: u8) -> Option<Stroke> {
        if self.held.is_empty() {
            match byte {
                0x1b => {
                    self.state = State::Escape;
                    return None;
                }
                b'\r' | b'\n' => return Some(Stroke::Enter),
                0x08 | 0x7f => return Some(Stroke::Backspace),
                0x03 => return Some(Stroke::Interrupt),
                0x04 => return Some(Stroke::End),
                0x1a => return Some(Stroke::Suspend),
                0x15 => return Some(Stroke::ClearLine),
                b'\t' => return Some(Stroke::Typed('\t')),
                0..0x20 => return Some(Stroke::Other),
                0x20..0x80 => return Some(Stroke::Typed(byte.into())),
                _ => {}
            }
        }
        self.held.push(byte);
        match std::str::from_utf8(&self.held) {
            Ok(text) => {
                let c = text.chars().next();
                self.held.clear();
                c.map(Stroke::Typed)
            }
            // More of it may follow.
            Err(error) if error.error_len().is_none() => None,
            Err(_) => {
                self.held.clear();
                Some(Stroke::Other)
            }
        }
    }

    fn after_escape(&mut self, byte: u8) -> Option<Stroke> {
        self.held.clear();
        self.state = match byte {
            b'[' => State::Sequence,
            b'O' => State::Function,
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.held.push(byte);
                State::Words
            }
            0x1b => State::Escape,
            // A key together with Alt.
            _ => {
                self.state = State::Ground;
                return Some(Stroke::Other);
            }
        };
        None
    }

    fn in_sequence(&mut self, byte: u8) -> Option<Stroke> {
        if !(0x40..0x7f).contains(&byte) && self.held.len() < 64 {
            self.held.push(byte);
            return None;
        }
        let parameters = std::mem::take(&mut self.held);
        self.state = State::Ground;
        Some(match (byte, parameters.as_slice()) {
            (b'~', b"200") => {
                self.state = State::Paste;
                return None;
            }
            (b'R', place) if is_position(place) => Stroke::Position,
            (b'c', [b'?', ..]) | (b't', [b'6', b';', ..]) => told(&[b"[", &*parameters, &[byte]]),
            _ => Stroke::Other,
        })
    }

    /// In a string of the terminal's: its kind is held first, and then as much as an answer has.
    fn in_words(&mut self, byte: u8) -> Option<Stroke> {
        let ends = match byte {
            0x07 => true,
            b'\\' => self.held.last() == Some(&0x1b),
            _ => false,
        };
        if !ends {
            // The last byte decides whether the next one ends it.
            if self.held.len() > LONGEST_ANSWER {
                self.held.pop();
            }
            self.held.push(byte);
            return None;
        }
        let words = std::mem::take(&mut self.held);
        self.state = State::Ground;
        let words = words.strip_suffix(b"\x1b").unwrap_or(&words);
        let is_answer = matches!(words, [b']' | b'P' | b'_', ..]) && words.len() < LONGEST_ANSWER;
        Some(if is_answer { told(&[words]) } else { Stroke::Other })
    }

    fn in_paste(&mut self, byte: u8) -> Option<Stroke> {
        self.pasted.push(byte);
        if !self.pasted.ends_with(PASTE_ENDS) {
            // Keeps enough to recognise the end.
            if self.pasted.len() > LONGEST_PASTE + PASTE_ENDS.len() {
                self.pasted.remove(LONGEST_PASTE);
            }
            return None;
        }
        self.state = State::Ground;
        Some(self.paste_ended(PASTE_ENDS.len()))
    }

    /// The paste that has ended, without its last bytes.
    fn paste_ended(&mut self, without: usize) -> Stroke {
        let mut pasted = std::mem::take(&mut self.pasted);
        pasted.truncate((pasted.len() - without).min(LONGEST_PASTE));
        Stroke::Pasted(String::from_utf8_lossy(&pasted).into_owned())
    }
}

fn told(parts: &[&[u8]]) -> Stroke {
    Stroke::Told(String::from_utf8_lossy(&parts.concat()).into_owned())
}

/// Whether these are the row and the column of a cursor.
fn is_position(place: &[u8]) -> bool {
    place.contains(&b';') && place.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strokes(bytes: &[u8]) -> Vec<Stroke> {
        Strokes::default().feed(bytes)
    }

    #[test]
    fn keys_are_told_apart() {
        let typed = |text: &str| text.chars().map(Stroke::Typed).collect::<Vec<_>>();
        assert_eq!(strokes("yä漢".as_bytes()), typed("yä漢"));
        for (bytes, stroke) in [
            (&b"\r"[..], Stroke::Enter),
            (b"\n", Stroke::Enter),
            (b"\x7f", Stroke::Backspace),
            (b"\x03", Stroke::Interrupt),
            (b"\x04", Stroke::End),
            (b"\x1a", Stroke::Suspend),
            (b"\x1b[A", Stroke::Other),
            (b"\x1b[1;5y", Stroke::Other),
            (b"\x1bOa", Stroke::Other),
            (b"\x1by", Stroke::Other),
            (b"\x1b]0;yes\x07", Stroke::Told("]0;yes".into())),
            (b"\x1b]0;yes\x1b\\", Stroke::Told("]0;yes".into())),
            (b"\x1b_Gi=1;OK\x1b\\", Stroke::Told("_Gi=1;OK".into())),
            (b"\x1bP>|kitty(1)\x1b\\", Stroke::Told("P>|kitty(1)".into())),
            (b"\x1b^yes\x1b\\", Stroke::Other),
            (b"\x1b[?62;4c", Stroke::Told("[?62;4c".into())),
            (b"\x1b[6;18;9t", Stroke::Told("[6;18;9t".into())),
            (b"\x1b[1c", Stroke::Other),
            (b"\xff", Stroke::Other),
            (b"\x1b[12;40R", Stroke::Position),
        ] {
            assert_eq!(strokes(bytes), [stroke], "{bytes:?}");
        }
    }

    #[test]
    fn a_paste_is_one_stroke_whatever_it_contains() {
        let bytes = b"\x1b[200~y\ra\r\x1b[12;40R\x03\x1b[201~n";
        let pasted = "y\ra\r\u{1b}[12;40R\u{3}".to_owned();
        assert_eq!(strokes(bytes), [Stroke::Pasted(pasted), Stroke::Typed('n')]);
    }

    #[test]
    fn the_rest_of_a_sequence_is_awaited_and_not_for_ever() {
        let mut parser = Strokes::default();
        assert_eq!((parser.feed(b"\x1b"), parser.patience()), (vec![], Some(PATIENCE)));
        assert_eq!(parser.feed(b"[200~y"), []);
        assert_eq!(parser.patience(), Some(PASTE_PATIENCE));
        assert_eq!(parser.give_up(), Stroke::Pasted("y".into()));
        // Alt-P begins a string that nobody ends.
        assert_eq!(parser.feed(b"\x1bPy"), []);
        assert_eq!((parser.give_up(), parser.patience()), (Stroke::Other, None));
        assert_eq!(parser.feed(b"n"), [Stroke::Typed('n')]);
    }

    #[test]
    fn a_huge_paste_is_cut_and_still_ends() {
        let mut parser = Strokes::default();
        parser.feed(b"\x1b[200~");
        parser.feed(&vec![b'x'; LONGEST_PASTE + 10]);
        let strokes = parser.feed(b"\x1b[201~y");
        let [Stroke::Pasted(text), Stroke::Typed('y')] = strokes.as_slice() else { panic!() };
        assert_eq!(text.len(), LONGEST_PASTE);
    }

    #[test]
    fn an_endless_answer_is_none_and_still_ends() {
        let mut parser = Strokes::default();
        parser.feed(b"\x1b_G");
        parser.feed(&vec![b'y'; 100 * LONGEST_ANSWER]);
        assert!(parser.held.len() <= LONGEST_ANSWER + 1);
        assert_eq!(parser.feed(b"\x1b\\n"), [Stroke::Other, Stroke::Typed('n')]);
    }

    proptest! {
        #[test]
        fn nothing_in_a_paste_is_a_key(text in "[ -~\r\n]{0,40}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
            let bytes = format!("\u{1b}[200~{text}\u{1b}[201~");
            let mut at: Vec<_> = cuts.iter().map(|cut| 1 + cut.index(bytes.len() - 1)).collect();
            at.sort_unstable();
            let (mut parser, mut found, mut from) = (Strokes::default(), vec![], 0);
            for to in at.into_iter().chain([bytes.len()]) {
                found.extend(parser.feed(&bytes.as_bytes()[from..to]));
                from = to;
            }
            prop_assert_eq!(found, vec![Stroke::Pasted(text)]);
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            strokes(&bytes);
        }
    }
}
