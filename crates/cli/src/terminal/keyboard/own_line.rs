//! A line that is read key by key, without a line editor: a secret, which is not shown; and a line
//! at the controlling terminal, since an editor would also write to standard output.

use super::{
    Heard, Typing,
    desk::{Desk, Stopped},
};
use crate::terminal::{draft::plain, strokes::Stroke, width::Widths};
use rustix::termios::tcgetwinsize;

impl Desk {
    pub(super) fn own_line(&mut self, mark: &str, typing: Typing) -> Result<Heard, Stopped> {
        self.show(mark);
        let mut line = String::new();
        loop {
            for stroke in &self.next_strokes()? {
                let heard = match stroke {
                    Stroke::Typed(c) => {
                        line.push(*c);
                        continue;
                    }
                    Stroke::Pasted(text) => {
                        line.push_str(&pasted(text, typing));
                        continue;
                    }
                    Stroke::Backspace => {
                        line.pop();
                        continue;
                    }
                    Stroke::ClearLine => {
                        line.clear();
                        continue;
                    }
                    Stroke::Position | Stroke::Told(_) | Stroke::Other => continue,
                    Stroke::Enter => Heard::Text(std::mem::take(&mut line)),
                    Stroke::Interrupt => Heard::Interrupted,
                    Stroke::Suspend => Heard::Suspended,
                    Stroke::End => Heard::Ended,
                };
                // Nothing that follows a secret is kept: it may be more of it.
                self.show("\n");
                return Ok(heard);
            }
            if typing == Typing::Shown {
                self.draw(mark, &line);
            }
        }
    }

    /// Draws the line again on its one row: of a longer one its end.
    fn draw(&self, mark: &str, line: &str) {
        let columns = tcgetwinsize(self.tty.device().keys()).map_or(80, |size| size.ws_col);
        let room = usize::from(columns).saturating_sub(mark.chars().count() + 2);
        let begin = if self.tty.is_smart() { "\r\u{1b}[2K" } else { "\n" };
        self.show(&format!("{begin}{mark}{}", end_of(&plain(line), room)));
    }
}

/// Pasted text as it is taken: as one line where it can be seen, as it is where it cannot.
fn pasted(text: &str, typing: Typing) -> String {
    let text = text.trim_end_matches(['\r', '\n']);
    match typing {
        Typing::Shown => plain(&text.replace("\r\n", "\n").replace(['\r', '\n'], " ")),
        Typing::Hidden => text.replace('\r', "\n"),
    }
}

/// The end of a line that fits into this many columns.
fn end_of(line: &str, room: usize) -> &str {
    let mut taken = 0;
    for (at, c) in line.char_indices().rev() {
        taken += Widths::likely(c).max(1);
        if taken > room {
            return &line[at + c.len_utf8()..];
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_shows_its_end() {
        assert_eq!(end_of("short", 10), "short");
        assert_eq!(end_of("abcdefghij", 4), "ghij");
        assert_eq!(end_of("漢字漢字", 5), "漢字");
        assert_eq!(end_of("x", 0), "");
    }

    #[test]
    fn a_paste_is_one_line_and_holds_nothing_that_acts() {
        assert_eq!(pasted("a\r\nb\r", Typing::Shown), "a b");
        assert!(!pasted("\u{1b}[2J", Typing::Shown).contains('\u{1b}'));
        assert_eq!(pasted("sec\rret\n", Typing::Hidden), "sec\nret");
    }
}
