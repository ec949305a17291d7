//! Rows of foreign text: each begins with its mark, none is wider than the window.
//!
//! # Threat
//! Text that reaches the first column, where only marks stand; colours that run into the next row,
//! which may be ours; a carriage return that goes back before the mark.
//!
//! # Mechanism
//! Characters come one by one, already safe, each with its ink. A row starts with the mark and ends
//! with the ink taken back. Where the next character would not fit, the row ends; prose ends it
//! between words. A return goes to the first column behind the mark: the row is kept in memory and
//! drawn again as a whole, mark included. Only the last row is ever drawn again.
//!
//! # Limits
//! Where rows are not drawn again, only the first and the last state of an overwritten row are
//! shown. A window that becomes narrower than such a row leaves the old one standing.

use super::{
    style::Style,
    width::{self, Widths},
};
use interpreter_core::untrusted::{Ink, JOINER};

/// How many marks may be drawn over one character.
const PILE: u8 = 4;

/// Characters of a row that are kept so that it can be drawn again.
const KEPT: usize = 4_096;

/// Goes to the start of the row that the cursor is on, and clears it.
pub(super) const CLEAR: &str = "\r\u{1b}[2K";

/// Where a row may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    Anywhere,
    /// Between words, where that is possible.
    Words,
}

/// A character and its ink.
pub(super) type Glyph = (char, Ink);

/// Foreign text on its way to a terminal.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else about the row")]
pub(super) struct Rows {
    mark: &'static str,
    widths: Widths,
    style: Style,
    wrap: Wrap,
    /// Columns of the window, and those behind the mark.
    columns: usize,
    room: usize,
    out: String,
    /// The ink that the terminal draws with now.
    ink: Ink,
    in_row: bool,
    /// Columns of the row that are taken, the mark not counted.
    column: usize,
    /// How many marks were drawn over the last character.
    pile: u8,
    /// The row so far, and what stood there before a return.
    row: Vec<Glyph>,
    under: Vec<Glyph>,
    /// Whether a return came in this row, and whether the screen still shows the row before it.
    returned: bool,
    is_stale: bool,
    /// The word that has begun: it may have to go to the next row.
    word: Vec<Glyph>,
    word_columns: usize,
    /// Begins every row that continues one.
    hang: Vec<Glyph>,
    /// Whether the next row continues one.
    continues: bool,
}

impl Rows {
    pub(super) fn new(mark: &'static str, widths: Widths, style: Style, wrap: Wrap) -> Self {
        Self {
            mark,
            widths,
            style,
            wrap,
            columns: usize::MAX,
            room: usize::MAX,
            out: String::new(),
            ink: Ink::PLAIN,
            in_row: false,
            column: 0,
            pile: 0,
            row: Vec::new(),
            under: Vec::new(),
            returned: false,
            is_stale: false,
            word: Vec::new(),
            word_columns: 0,
            hang: Vec::new(),
            continues: false,
        }
    }

    /// Lays out what follows for a window of `columns`.
    pub(super) fn begin(&mut self, columns: usize) {
        (self.columns, self.room) = (columns, room(self.mark, self.widths, columns));
    }

    /// The columns behind the mark.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn widths(&self) -> Widths {
        self.widths
    }

    pub(super) fn has_colour(&self) -> bool {
        self.style.has_colour()
    }

    /// Whether a row has begun that has not ended.
    pub(super) fn in_row(&self) -> bool {
        self.in_row || !self.word.is_empty()
    }

    /// The text that is to be written to the terminal by now.
    pub(super) fn take(&mut self) -> String {
        if self.is_stale && self.style.redraws() {
            self.draw_again();
        }
        self.paint(Ink::PLAIN);
        std::mem::take(&mut self.out)
    }

    /// Writes the word that has begun, however it goes on.
    pub(super) fn settle(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let columns = std::mem::take(&mut self.word_columns);
        let start = if self.continues { self.hang_columns() } else { 0 };
        if self.in_row && self.column > start && self.column + columns > self.room {
            self.break_row();
        }
        for (c, ink) in word {
            self.place(c, ink);
        }
    }

    /// Ends the last row, if it has not ended.
    pub(super) fn end(&mut self) {
        self.settle();
        if self.in_row {
            self.end_row();
        }
        self.continues = false;
    }

    /// Begins every row that continues the line with this. Too much of it counts as nothing.
    pub(super) fn set_hang(&mut self, hang: Vec<Glyph>) {
        self.hang = hang;
    }

    /// The columns of what begins a row that continues one, in the window as it is now.
    fn hang_columns(&self) -> usize {
        let columns = self.hang.iter().map(|(c, _)| self.widths.most(*c)).sum();
        if columns > self.room / 2 { 0 } else { columns }
    }

    /// The next character: a safe one, the end of a line, or a tab.
    pub(super) fn put(&mut self, c: char, ink: Ink) {
        match c {
            '\n' => {
                self.settle();
                self.start_row();
                self.end_row();
                self.continues = false;
                self.pile = 0;
            }
            '\t' => self.tab(),
            ' ' if self.wrap == Wrap::Words => {
                self.settle();
                self.pile = 0;
                // A blank that would begin the next row stands between the words without it.
                if !self.in_row || self.column < self.room {
                    self.place(' ', ink);
                }
            }
            c => {
                self.pile = if width::is_drawn_over(c) { self.pile.saturating_add(1) } else { 0 };
                if self.pile > PILE {
                    c.escape_unicode().for_each(|c| self.add(c, ink));
                } else {
                    self.add(c, ink);
                }
            }
        }
    }

    fn add(&mut self, c: char, ink: Ink) {
        let wide = self.widths.most(c);
        // Scripts with wide letters break between any two.
        if self.wrap == Wrap::Anywhere || wide > 1 && c.is_alphabetic() {
            self.settle();
            self.place(c, ink);
            return;
        }
        self.word.push((c, ink));
        self.word_columns += wide;
        if self.word_columns >= self.room {
            self.settle();
        }
    }

    /// A tab's width depends on where the mark put it, so it is written as blanks.
    fn tab(&mut self) {
        self.settle();
        self.pile = 0;
        let blanks = 8 - self.column % 8;
        if self.in_row && self.column + blanks > self.room {
            self.break_row();
        } else {
            self.start_row();
            (0..blanks.min(self.room)).for_each(|_| self.place(' ', Ink::PLAIN));
        }
    }

    /// Goes back to the first column behind the mark.
    pub(super) fn carry_back(&mut self) {
        self.settle();
        if self.row.len() >= KEPT {
            return self.put('\n', Ink::PLAIN);
        }
        if self.in_row && !self.row.is_empty() {
            self.under = self.composed();
            self.row.clear();
            self.column = 0;
            self.returned = true;
        }
    }

    /// Takes away the rest of the row, or all of it.
    pub(super) fn erase(&mut self, all: bool) {
        if all && !self.row.is_empty() {
            self.row = vec![(' ', Ink::PLAIN); self.column];
            self.returned = true;
            self.is_stale = true;
        }
        if !self.under.is_empty() {
            self.under.clear();
            self.is_stale = true;
        }
    }

    /// Puts a character where the row has come to.
    fn place(&mut self, c: char, ink: Ink) {
        let wide = self.widths.most(c);
        if self.in_row && self.column + wide > self.room {
            if c == JOINER {
                return;
            }
            self.break_row();
        }
        self.start_row();
        self.draw(c, ink);
    }

    fn draw(&mut self, c: char, ink: Ink) {
        // In a window of a few columns a wide character would run over.
        let wide = self.widths.most(c);
        let (c, wide) = if wide > self.room { ('?', 1) } else { (c, wide) };
        if self.row.len() < KEPT {
            self.row.push((c, ink));
        } else if self.returned {
            // It is too long to be drawn again, so it goes on from here.
            self.draw_again();
            self.under.clear();
            self.returned = false;
        }
        if self.returned {
            self.is_stale = true;
        } else {
            self.paint(ink);
            self.out.push(c);
        }
        self.column += wide;
    }

    fn paint(&mut self, ink: Ink) {
        if self.ink != ink {
            self.ink = ink;
            self.style.ink(ink, &mut self.out);
        }
    }

    fn start_row(&mut self) {
        if self.in_row {
            return;
        }
        self.paint(Ink::PLAIN);
        self.out.push_str(self.mark);
        (self.column, self.in_row) = (0, true);
        if self.continues && self.hang_columns() > 0 {
            for (c, ink) in self.hang.clone() {
                self.draw(c, ink);
            }
        }
    }

    /// Ends a row because it is full.
    fn break_row(&mut self) {
        self.end_row();
        self.continues = true;
    }

    fn end_row(&mut self) {
        if self.is_stale {
            self.draw_again();
        }
        self.paint(Ink::PLAIN);
        self.out.push('\n');
        (self.in_row, self.column) = (false, 0);
        self.row.clear();
        self.under.clear();
        (self.returned, self.is_stale) = (false, false);
    }

    /// The row as a terminal shows it: what was written last, and beyond it what stood there.
    fn composed(&self) -> Vec<Glyph> {
        let mut all = self.row.clone();
        let mut at = 0;
        for (c, ink) in &self.under {
            if at >= self.column {
                all.push((*c, *ink));
            }
            at += self.widths.most(*c);
        }
        all
    }

    /// Draws the row again, over the old one or below it.
    fn draw_again(&mut self) {
        let row = self.composed();
        let taken =
            |glyphs: &[Glyph]| -> usize { glyphs.iter().map(|(c, _)| self.widths.most(*c)).sum() };
        let mark = columns_of(self.mark, self.widths);
        // In a window that has become narrower, the old one may stand on more than one row.
        let fits = taken(&self.under).max(taken(&row)) + mark < self.columns;
        self.paint(Ink::PLAIN);
        self.out.push_str(if self.style.redraws() && fits { CLEAR } else { "\n" });
        self.out.push_str(self.mark);
        let mut column = 0;
        for (c, ink) in row {
            column += self.widths.most(c);
            if column > self.room {
                break;
            }
            self.paint(ink);
            self.out.push(c);
        }
        self.paint(Ink::PLAIN);
        self.is_stale = false;
    }
}

/// The columns behind a mark. The last column of the window stays free: some terminals wrap when
/// it is filled.
pub(super) fn room(mark: &str, widths: Widths, columns: usize) -> usize {
    columns.saturating_sub(columns_of(mark, widths) + 1).max(1)
}

/// The most columns that a text takes.
pub(super) fn columns_of(text: &str, widths: Widths) -> usize {
    text.chars().map(|c| widths.most(c)).sum()
}
