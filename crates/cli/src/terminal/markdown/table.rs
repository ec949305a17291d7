//! Tables: held until they are complete, then laid out for the window.
//!
//! Rows begin with `|`. The second one says that it is a table; without it the rows are words. A
//! column that is too wide is wrapped between words. Where a window has no room for the columns, the
//! table is shown as it was written.

use super::{
    super::{
        rows::{Glyph, Rows},
        width::Widths,
    },
    inline,
};
use interpreter_core::untrusted::Ink;

/// Bytes of a row that is longer than any.
pub(super) const LONGEST_ROW: usize = 8 << 10;

/// Rows, and bytes, after which a table is drawn before it is complete.
const MOST_ROWS: usize = 400;
const MOST_BYTES: usize = 64 << 10;

/// Columns between two columns of a table.
const GAP: usize = 2;

/// The least columns that a column of a table is given.
const NARROWEST: usize = 4;

/// The rows so far, as they were written.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<String>,
    bytes: usize,
}

/// A cell as glyphs.
type Cell = Vec<Glyph>;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Side {
    #[default]
    Left,
    Right,
    Middle,
}

impl Table {
    /// Adds a row.
    pub(super) fn push(&mut self, row: String, rows: &mut Rows) {
        self.bytes += row.len();
        self.rows.push(row);
        let is_full = self.rows.len() > MOST_ROWS || self.bytes > MOST_BYTES;
        if is_full || self.rows.len() == 2 && sides(&self.rows[1]).is_none() {
            self.draw(rows);
        }
    }

    /// Draws the table, and is empty again.
    pub(super) fn draw(&mut self, rows: &mut Rows) {
        let Self { rows: written, .. } = std::mem::take(self);
        if written.is_empty() {
            return;
        }
        rows.set_hang(Vec::new());
        let Some(sides) = written.get(1).and_then(|row| sides(row)) else {
            return as_written(&written, rows);
        };
        let paints = rows.has_colour();
        let cells: Vec<Vec<Cell>> = written
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .map(|(at, row)| {
                let ink = if at == 0 { Ink::BOLD } else { Ink::PLAIN };
                split(row).iter().map(|cell| drawn(cell, ink, paints)).collect()
            })
            .collect();
        match widths(&cells, rows.room(), rows.widths()) {
            Some(widths) => lay_out(&cells, &widths, &sides, rows),
            None => as_written(&written, rows),
        }
    }
}

fn as_written(written: &[String], rows: &mut Rows) {
    for row in written {
        let paints = rows.has_colour();
        for (c, ink) in drawn(row, Ink::PLAIN, paints) {
            rows.put(c, ink);
        }
        rows.put('\n', Ink::PLAIN);
    }
}

fn drawn(text: &str, ink: Ink, paints: bool) -> Cell {
    let mut cell = Cell::new();
    if paints {
        inline::draw(text, ink, &mut |c, ink| cell.push((c, ink)));
    } else {
        cell.extend(text.chars().map(|c| (c, ink)));
    }
    cell
}

/// The cells of a row. A bar behind a backslash, or in code, is a character.
fn split(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let (mut escaped, mut in_code) = (false, false);
    for c in row.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push(c);
            }
            '|' if !in_code => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        in_code ^= c == '`' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    // The last bar ends the row.
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The sides of the columns, if this is the row that says that it is a table.
fn sides(row: &str) -> Option<Vec<Side>> {
    let side = |cell: &String| {
        let bare = cell.strip_prefix(':').unwrap_or(cell);
        let bare = bare.strip_suffix(':').unwrap_or(bare);
        let is_line = !bare.is_empty() && bare.chars().all(|c| c == '-');
        is_line.then_some(match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Side::Middle,
            (false, true) => Side::Right,
            (true | false, false) => Side::Left,
        })
    };
    let cells = split(row);
    if cells.is_empty() { None } else { cells.iter().map(side).collect() }
}

fn likely(cell: &[Glyph]) -> usize {
    cell.iter().map(|(c, _)| Widths::likely(*c)).sum()
}

/// The columns of each column, if there is room.
fn widths(cells: &[Vec<Cell>], room: usize, widths: Widths) -> Option<Vec<usize>> {
    let count = cells.iter().map(Vec::len).max()?;
    let of = |column: usize| cells.iter().filter_map(move |row| row.get(column));
    let wanted: Vec<usize> =
        (0..count).map(|column| of(column).map(|cell| likely(cell)).max().unwrap_or(0)).collect();
    // Terminals may draw some characters wider than that.
    let most = |cell: &Cell| cell.iter().map(|(c, _)| widths.most(*c)).sum::<usize>();
    let wider =
        |row: &Vec<Cell>| row.iter().map(|cell| most(cell) - likely(cell).min(most(cell))).sum();
    let beside = GAP * count.saturating_sub(1) + cells.iter().map(wider).max().unwrap_or(0);
    let room = room.checked_sub(beside).filter(|room| *room >= count * NARROWEST)?;
    let fits = |most: usize| wanted.iter().map(|one| (*one).min(most)).sum::<usize>() <= room;
    let mut most = wanted.iter().copied().max()?.min(room);
    while most > NARROWEST && !fits(most) {
        most -= 1;
    }
    Some(wanted.into_iter().map(|one| one.min(most)).collect())
}

fn lay_out(cells: &[Vec<Cell>], widths: &[usize], sides: &[Side], rows: &mut Rows) {
    for (at, row) in cells.iter().enumerate() {
        let wrapped: Vec<Vec<Cell>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| wrap(row.get(column).map_or(&[][..], Vec::as_slice), *width))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for line in 0..height {
            let parts = wrapped.iter().map(|cell| cell.get(line).map_or(&[][..], Vec::as_slice));
            put_line(parts, widths, sides, rows);
        }
        if at == 0 {
            let lines: Vec<Cell> =
                widths.iter().map(|width| vec![('-', Ink::DIM); *width]).collect();
            put_line(lines.iter().map(Vec::as_slice), widths, sides, rows);
        }
    }
}

fn put_line<'a>(
    parts: impl Iterator<Item = &'a [Glyph]>,
    widths: &[usize],
    sides: &[Side],
    rows: &mut Rows,
) {
    // Blanks are written once something stands behind them.
    let mut blanks = 0;
    for (column, part) in parts.enumerate() {
        let free = widths[column].saturating_sub(likely(part));
        let before = match sides.get(column).copied().unwrap_or_default() {
            Side::Left => 0,
            Side::Right => free,
            Side::Middle => free / 2,
        };
        blanks += before;
        if !part.is_empty() {
            (0..std::mem::take(&mut blanks)).for_each(|_| rows.put(' ', Ink::PLAIN));
            for (c, ink) in part {
                rows.put(*c, *ink);
            }
        }
        blanks += free - before + GAP;
    }
    rows.put('\n', Ink::PLAIN);
}

/// Wraps a cell to a width, between words if possible.
fn wrap(cell: &[Glyph], width: usize) -> Vec<Cell> {
    let mut lines = Vec::new();
    let mut line = Cell::new();
    for word in cell.split_inclusive(|(c, _)| *c == ' ') {
        let bare = word.strip_suffix(&[(' ', word.last().map_or(Ink::PLAIN, |(_, ink)| *ink))]);
        if likely(&line) + likely(bare.unwrap_or(word)) > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for glyph in word {
            if likely(&line) + Widths::likely(glyph.0) > width && glyph.0 != ' ' && !line.is_empty()
            {
                lines.push(std::mem::take(&mut line));
            }
            line.push(*glyph);
        }
    }
    lines.push(line);
    for line in &mut lines {
        while line.last().is_some_and(|(c, _)| *c == ' ') {
            line.pop();
        }
    }
    lines
}
