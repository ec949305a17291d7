//! Questions to the terminal about itself. Whatever is typed meanwhile is draft.

use super::{super::answers::COLOUR, Desk, FIRST_REPORT, REPORT, Reports, Stopped, Woken};
use crate::terminal::picture::Graphics;
use interpreter_core::Background;
use std::time::Instant;

impl Desk {
    /// Asks the terminal how it can show pictures: once, and never while a line editor could take
    /// an answer for keys. Whatever is typed meanwhile is draft.
    pub(super) fn graphics(&mut self) -> Result<Graphics, Stopped> {
        // A terminal that has answered the first question answers the others.
        let patience = [FIRST_REPORT, REPORT];
        for (question, patience) in self.answers_of_terminal.questions().into_iter().zip(patience) {
            self.answers_of_terminal.ask();
            if !self.tty.is_smart() || self.tty.device().put(question.as_bytes()).is_err() {
                break;
            }
            let until = Instant::now() + patience;
            while self.answers_of_terminal.is_awaited() {
                match self.wait(Some(until)) {
                    Woken::Strokes(strokes) => self.keep(&strokes),
                    Woken::Late => return Ok(self.answers_of_terminal.conclude()),
                    Woken::Bell => return Err(Stopped::Withdrawn),
                    Woken::Gone => return Err(Stopped::Gone),
                }
            }
        }
        Ok(self.answers_of_terminal.conclude())
    }

    /// Asks the terminal how bright its background is: only one that says where its cursor is, and
    /// never while a line editor could take the answer for keys. The cursor's place is asked for
    /// behind it, and when that comes, so has the other answer, or there is none.
    pub(super) fn background(&mut self) -> Result<Option<Background>, Stopped> {
        self.wait_for_screen()?;
        if self.reports != Reports::Given || self.tty.device().put(COLOUR.as_bytes()).is_err() {
            return Ok(None);
        }
        self.background.ask();
        let waited = self.wait_for_screen();
        let background = self.background.conclude();
        waited.map(|()| background)
    }
}
