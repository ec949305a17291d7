//! Long output, folded: its head as it comes, then its last lines, and how many there are between.
//!
//! Pure: decides what is shown, and keeps the end of what is not, within bounds. The whole output is
//! on record whatever is folded.

/// Lines and bytes that are shown as they come.
const HEAD_LINES: u64 = 40;
const HEAD_BYTES: usize = 16 << 10;

/// Lines at the end that are shown when the output is folded.
const TAIL_LINES: usize = 12;

/// Lines after the head that are shown all the same: folding so few would hide more than it helps.
const SLACK: u64 = 20;

/// Bytes of the end that are kept; twice as many are gathered before the rest goes.
const KEPT: usize = 8 << 10;

/// The output of one run.
#[derive(Debug, Default)]
pub(super) struct Fold {
    lines: u64,
    bytes: usize,
    /// Lines after the head that have ended, and are not shown.
    hidden: u64,
    /// The end of what is not shown.
    tail: String,
    /// Whether some of it is gone.
    is_cut: bool,
}

/// The end of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    /// Lines that are left out before it.
    pub(super) more: u64,
    /// Whether anything is left out.
    pub(super) is_cut: bool,
    pub(super) tail: String,
}

impl Fold {
    /// One that shows nothing but the end, if that is asked for.
    pub(super) fn hidden() -> Self {
        Self { lines: HEAD_LINES, bytes: HEAD_BYTES, ..Self::default() }
    }

    /// Lines that are not shown.
    pub(super) fn hidden_lines(&self) -> u64 {
        self.hidden
    }

    /// Takes the next piece, and gives the part of it that is shown now.
    pub(super) fn take<'a>(&mut self, piece: &'a str) -> &'a str {
        let (head, rest) = piece.split_at(self.head_of(piece));
        self.lines += newlines(head);
        self.bytes += head.len();
        if !rest.is_empty() {
            // Whatever comes now is not the head, also if it is little.
            self.bytes = HEAD_BYTES;
            self.hide(rest);
        }
        head
    }

    fn head_of(&self, piece: &str) -> usize {
        let room = HEAD_BYTES.saturating_sub(self.bytes).min(piece.len());
        let mut left = HEAD_LINES.saturating_sub(self.lines);
        let mut at = 0;
        while left > 0 && at < room {
            at = piece[at..].find('\n').map_or(piece.len(), |end| at + end + 1);
            left -= 1;
        }
        let end = at.min(room);
        (0..=end).rev().find(|at| piece.is_char_boundary(*at)).unwrap_or(0)
    }

    fn hide(&mut self, text: &str) {
        self.hidden += newlines(text);
        let end = ending(text);
        self.is_cut |= end.len() < text.len();
        if end.len() < text.len() {
            self.tail.clear();
        }
        self.tail.push_str(end);
        if self.tail.len() > 2 * KEPT {
            self.tail = ending(&self.tail).to_owned();
            self.is_cut = true;
        }
    }

    /// Whether something is not shown.
    pub(super) fn is_hiding(&self) -> bool {
        !self.tail.is_empty()
    }

    /// The last lines, as they are now.
    pub(super) fn last(&self, count: usize) -> Vec<&str> {
        let mut lines: Vec<_> = self.tail.lines().rev().take(count).collect();
        lines.reverse();
        lines
    }

    /// The end of the output so far, which is now shown.
    pub(super) fn show(&mut self) -> Option<Folded> {
        if self.tail.is_empty() {
            return None;
        }
        let tail = std::mem::take(&mut self.tail);
        let all = std::mem::take(&mut self.hidden) + u64::from(!tail.ends_with('\n'));
        let is_cut = std::mem::take(&mut self.is_cut);
        if all <= SLACK && !is_cut {
            return Some(Folded { more: 0, is_cut: false, tail });
        }
        let ends = tail.strip_suffix('\n').unwrap_or(&tail).rmatch_indices('\n');
        let start = ends.map(|(at, _)| at + 1).nth(TAIL_LINES - 1).unwrap_or(0);
        let tail = tail[start..].to_owned();
        let shown = newlines(&tail) + u64::from(!tail.ends_with('\n'));
        let more = all.saturating_sub(shown);
        Some(Folded { more, is_cut: is_cut || more > 0, tail })
    }
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The end of a text, from the start of a line if there is one.
fn ending(text: &str) -> &str {
    let Some(least) = text.len().checked_sub(KEPT) else { return text };
    let start = (least..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = &text[start..];
    match end.find('\n') {
        Some(at) if at + 1 < end.len() => &end[at + 1..],
        Some(_) | None => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(range: std::ops::Range<u64>) -> String {
        range.fold(String::new(), |all, number| all + &format!("line {number}\n"))
    }

    #[test]
    fn a_short_output_is_shown_as_it_comes() {
        let mut fold = Fold::default();
        let text = lines(0..HEAD_LINES);
        assert_eq!(fold.take(&text), text);
        assert_eq!(fold.show(), None);
    }

    #[test]
    fn a_few_lines_more_are_shown_at_the_end() {
        let mut fold = Fold::default();
        assert_eq!(fold.take(&lines(0..50)), lines(0..HEAD_LINES));
        assert_eq!(
            fold.show(),
            Some(Folded { more: 0, is_cut: false, tail: lines(HEAD_LINES..50) })
        );
        assert_eq!(fold.show(), None);
    }

    #[test]
    fn a_long_output_is_head_and_tail() {
        let mut fold = Fold::default();
        let shown: String =
            (0..100).map(|at| fold.take(&lines(at * 1_000..(at + 1) * 1_000)).to_owned()).collect();
        assert_eq!(shown, lines(0..HEAD_LINES));
        assert_eq!(fold.last(2), ["line 99998", "line 99999"]);
        let tail = lines(100_000 - 12..100_000);
        assert_eq!(fold.show(), Some(Folded { more: 100_000 - 40 - 12, is_cut: true, tail }));
        // More of it: there is no head any more.
        assert_eq!(fold.take("a\nb"), "");
        assert_eq!(fold.show(), Some(Folded { more: 0, is_cut: false, tail: "a\nb".into() }));
    }

    #[test]
    fn one_endless_line_is_bounded_too() {
        let mut fold = Fold::default();
        let shown = fold.take(&"é".repeat(1 << 20)).len();
        assert_eq!(shown, HEAD_BYTES);
        let folded = fold.show().unwrap();
        assert_eq!((folded.more, folded.is_cut, folded.tail.len()), (0, true, KEPT));
    }

    proptest! {
        #[test]
        fn no_line_is_lost_or_counted_twice(
            pieces in prop::collection::vec("(a{0,9}\n?){0,40}", 0..12),
        ) {
            let mut fold = Fold::default();
            let mut shown: String = pieces.iter().map(|piece| fold.take(piece).to_owned()).collect();
            let whole = pieces.concat();
            prop_assert!(whole.starts_with(&shown));
            match fold.show() {
                None => prop_assert_eq!(shown, whole),
                Some(Folded { more, tail, .. }) => {
                    prop_assert!(whole.ends_with(&tail));
                    let of = |text: &str| newlines(text) + u64::from(!text.ends_with('\n'));
                    if more == 0 {
                        shown.push_str(&tail);
                        prop_assert_eq!(shown, whole);
                    } else {
                        prop_assert_eq!(newlines(&shown) + more + of(&tail), of(&whole));
                    }
                }
            }
        }
    }
}
