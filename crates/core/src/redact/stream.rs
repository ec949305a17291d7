//! Redaction of text that comes in pieces.
//!
//! Whatever may still become a secret is held back, so that no piece gives one away. Holds at most the
//! longest secret and one piece.

use super::{
    Redactor,
    search::{Found, HELD, Scope},
    shapes::End,
};

/// Bytes that are kept of what was given out: as many as are not held back, with the character before
/// them, because a token does not begin in the middle of a word.
const CONTEXT: usize = HELD;

/// A text that comes in pieces.
#[derive(Debug, Default)]
pub struct RedactedStream {
    /// The end of what was given out, and everything that was not.
    text: String,
    /// How much of it was given out.
    given: usize,
    /// Where in it the newest secret ends.
    taken: usize,
}

impl RedactedStream {
    /// Takes in the next piece; returns what can be given out by now.
    pub fn feed(&mut self, redactor: &Redactor, scope: Scope, piece: &str) -> String {
        self.text.push_str(piece);
        self.advance(redactor, scope, End::Open)
    }

    /// Gives out the rest: whatever comes next is another text.
    pub fn finish(&mut self, redactor: &Redactor, scope: Scope) -> String {
        let rest =
            if self.is_idle() { String::new() } else { self.advance(redactor, scope, End::Final) };
        *self = Self::default();
        rest
    }

    /// Whether nothing is held back.
    pub fn is_idle(&self) -> bool {
        self.given == self.text.len()
    }

    fn advance(&mut self, redactor: &Redactor, scope: Scope, end: End) -> String {
        let Some(search) = &redactor.search else {
            let rest = self.text.split_off(self.given);
            *self = Self::default();
            return rest;
        };
        let (found, open) = search.scan(&self.text, scope, end);
        let mut clean = String::with_capacity(self.text.len() - self.given);
        for Found { range, of } in found {
            if range.start >= open {
                break;
            }
            if range.end <= self.given {
                continue;
            }
            let start = range.start.max(self.given);
            clean.push_str(&self.text[self.given..start]);
            // More of a secret whose beginning was taken out already needs no second name.
            if range.start >= self.taken {
                redactor.put(of, &mut clean);
            }
            (self.given, self.taken) = (range.end, range.end);
        }
        if open > self.given {
            clean.push_str(&self.text[self.given..open]);
            self.given = open;
        }
        self.forget(open);
        clean
    }

    /// Drops what is neither held back nor needed to judge what comes.
    fn forget(&mut self, open: usize) {
        let mut from = open.min(self.given.saturating_sub(CONTEXT));
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        self.text.drain(..from);
        self.given -= from;
        self.taken = self.taken.saturating_sub(from);
    }
}
