//! Bytes that are added at the end and used up from the front.
//!
//! Both ends of a stream need one. Using up is cheap: bytes move only
//! when most of the room is waste. It has no bound of its own; each owner says what bounds it.

/// A queue of bytes in one piece.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

/// Room that is kept when everything is used up; what a rare big frame took is given back.
const KEPT: usize = 1 << 20;

impl Buffer {
    /// The bytes not used yet.
    pub(crate) fn unused(&self) -> &[u8] {
        &self.bytes[self.used..]
    }

    /// How many bytes have not been used up.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Whether everything has been used up.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds bytes at the end.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Uses up the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.used += count;
        debug_assert!(self.used <= self.bytes.len(), "only what is there can be used up");
        if self.is_empty() {
            self.clear();
        } else if self.used > KEPT && self.used > self.bytes.len() / 2 {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_the_order_they_went_in() {
        let mut buffer = Buffer::default();
        let mut out = Vec::new();
        for round in 0..2_000_u32 {
            buffer.push(&round.to_le_bytes().repeat(25));
            let count = if round % 7 == 0 { 0 } else { buffer.len().min(99) };
            out.extend_from_slice(&buffer.unused()[..count]);
            buffer.consume(count);
        }
        out.extend_from_slice(buffer.unused());
        let all: Vec<u8> = (0..2_000_u32).flat_map(|one| one.to_le_bytes().repeat(25)).collect();
        assert!(out == all);
    }

    #[test]
    fn room_for_something_big_is_given_back() {
        let mut buffer = Buffer::default();
        buffer.push(&vec![0; 20 << 20]);
        buffer.consume(20 << 20);
        assert!(buffer.is_empty() && buffer.bytes.capacity() <= KEPT);
    }
}
