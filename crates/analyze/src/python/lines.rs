//! The lines and columns of offsets in a text.

use ruff_text_size::{TextRange, TextSize};

/// Where the lines of a text begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// The offset of each line but the first.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, starts: text.match_indices('\n').map(|(at, _)| at + 1).collect() }
    }

    /// The line of an offset, from 1.
    pub(crate) fn number(&self, offset: TextSize) -> usize {
        self.starts.partition_point(|&start| start <= offset.to_usize()) + 1
    }

    /// The columns of a stretch on its first line, from 1.
    pub(crate) fn columns(&self, range: TextRange) -> (usize, usize) {
        let line = self.number(range.start());
        let start = if line == 1 { 0 } else { self.starts[line - 2] };
        let end = self.starts.get(line - 1).map_or(self.text.len(), |next| next - 1);
        let width = |to: usize| {
            let to = to.clamp(start, end).min(start + WIDE);
            self.text.get(start..to).map_or(to - start, |text| text.chars().count())
        };
        let first = width(range.start().to_usize());
        (first + 1, width(range.end().to_usize()).max(first) + 1)
    }
}

/// Columns beyond this are not counted.
const WIDE: usize = 4096;
