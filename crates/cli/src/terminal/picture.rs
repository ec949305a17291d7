//! Pictures in the terminal: by a protocol that the terminal says it has, or as coloured cells.
//!
//! # Threat
//! The bytes are hostile: a picture that claims to be enormous, or holds sequences that a terminal
//! obeys. And a picture could cover a row of ours, or show one.
//!
//! # Mechanism
//! Pictures are decoded within bounds, scaled, and encoded again: no foreign byte reaches the
//! terminal. They are painted behind the mark of foreign rows, on rows that were made for them, and
//! never wider or higher than those.
//!
//! # Limits
//! Pixels can show anything, also letters. They cannot cover the mark before them.

use self::pixels::Pixels;
use interpreter_core::forms::{Form, FormKind};

mod blocks;
pub(super) mod colours;
pub(super) mod graphics;
mod iterm;
mod kitty;
mod pixels;
mod sixel;

pub(super) use self::{blocks::UPPER, colours::Colours, graphics::Graphics};

/// The room that a picture may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Columns behind the mark of foreign rows.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Columns that a half block takes.
    pub(super) block: usize,
    /// Width and height of a cell in pixels, where that is known.
    pub(super) cell: Option<(u32, u32)>,
}

/// The smallest room in which a picture shows anything.
const LEAST: (usize, usize) = (10, 4);

/// The most cells that a picture takes, however large the window is.
const MOST: (usize, usize) = (120, 40);

/// Pixels that are painted at most, whatever a terminal says of its cells: those of a large screen.
const MOST_PAINTED: u64 = 4 << 20;

/// Width and height of a cell of which nothing is known.
const USUAL_CELL: (u32, u32) = (10, 20);

/// A picture that is ready to be painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Painted {
    /// Rows of coloured cells.
    Cells { columns: usize, cells: Vec<String> },
    /// One sequence, for as many rows and columns.
    Over { rows: usize, columns: usize, sequence: String },
}

impl Painted {
    /// The rows and columns that it takes.
    pub(super) fn size(&self) -> (usize, usize) {
        match self {
            Self::Cells { columns, cells } => (cells.len(), *columns),
            Self::Over { rows, columns, .. } => (*rows, *columns),
        }
    }

    /// Its rows. Each begins with the mark; `taken` is the width of the mark.
    pub(super) fn rows(&self, mark: &str, taken: usize) -> String {
        match self {
            Self::Cells { cells, .. } => cells.iter().flat_map(|row| [mark, row, "\n"]).collect(),
            Self::Over { rows, sequence, .. } => {
                // First the rows, so that nothing scrolls while it is painted over them.
                let marked = format!("{mark}\n").repeat(*rows);
                let behind = taken + 1;
                format!("{marked}\u{1b}7\u{1b}[{rows}A\u{1b}[{behind}G{sequence}\u{1b}8")
            }
        }
    }
}

/// The way to paint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Kitty,
    ITerm,
    Sixel,
    Cells(Colours),
}

/// The best way to paint that a terminal has.
fn means(graphics: Graphics, colours: Option<Colours>, cell: Option<(u32, u32)>) -> Option<Means> {
    if graphics.kitty {
        Some(Means::Kitty)
    } else if graphics.iterm {
        Some(Means::ITerm)
    } else if graphics.sixel && cell.is_some() {
        // Its size is in pixels: without that of a cell it could run over other rows.
        Some(Means::Sixel)
    } else {
        colours.map(Means::Cells)
    }
}

/// Paints a form, if it is a picture that can be decoded and the terminal can show one.
pub(super) fn paint(
    form: &Form,
    room: Room,
    graphics: Graphics,
    colours: Option<Colours>,
) -> Option<Painted> {
    let cell = room.cell.or(graphics.cell);
    let means = means(graphics, colours, cell)?;
    if room.columns < LEAST.0 || room.rows < LEAST.1 {
        return None;
    }
    let pixels = match form.kind {
        FormKind::Png => Pixels::of_png(&form.bytes)?,
        FormKind::Jpeg => Pixels::of_jpeg(&form.bytes)?,
        FormKind::Gif
        | FormKind::Webp
        | FormKind::Svg
        | FormKind::Pdf
        | FormKind::Html
        | FormKind::Markdown
        | FormKind::Latex
        | FormKind::Json
        | FormKind::Text => return None,
    };
    let cell = match means {
        Means::Kitty | Means::ITerm | Means::Sixel => cell.unwrap_or(USUAL_CELL),
        Means::Cells(_) => (1, 2),
    };
    let block = if matches!(means, Means::Cells(_)) { room.block.max(1) } else { 1 };
    let most = ((room.columns / block).min(MOST.0), room.rows.min(MOST.1));
    let (width, height) = fitting((pixels.width, pixels.height), cell, most);
    let pixels = pixels.scaled(width, height);
    let count = |pixels: u32, cell: u32| usize::try_from(pixels.div_ceil(cell)).unwrap_or(1);
    let (columns, rows) = (count(width, cell.0), count(height, cell.1));
    let sequence = match means {
        Means::Kitty => kitty::sequence(&pixels.to_png()?, columns, rows),
        Means::ITerm => iterm::sequence(&pixels.to_png()?, columns, rows),
        Means::Sixel => sixel::sequence(&pixels),
        Means::Cells(colours) => {
            let columns = columns * block;
            return Some(Painted::Cells { columns, cells: blocks::rows(&pixels, colours) });
        }
    };
    Some(Painted::Over { rows, columns, sequence })
}

/// The size in pixels that fits into the given cells, never larger than the picture itself.
fn fitting(size: (u32, u32), cell: (u32, u32), most: (usize, usize)) -> (u32, u32) {
    let limit = |cells: usize, cell: u32| u64::try_from(cells).unwrap_or(1) * u64::from(cell);
    let (wide, high) = (limit(most.0, cell.0), limit(most.1, cell.1));
    let (width, height) = (u64::from(size.0.max(1)), u64::from(size.1.max(1)));
    // The smallest of 1, wide / width and high / height, as a fraction.
    let (mut up, mut down) = (1, 1);
    for (limit, side) in [(wide, width), (high, height)] {
        if limit * down < side * up {
            (up, down) = (limit, side);
        }
    }
    let scale = |side: u64| u32::try_from((side * up / down).max(1)).unwrap_or(u32::MAX);
    let (mut width, mut height) = (scale(width), scale(height));
    while u64::from(width) * u64::from(height) > MOST_PAINTED {
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
    (width, height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_way_is_one_that_the_terminal_says_it_has() {
        let none = Graphics::default();
        let all = Graphics { kitty: true, iterm: true, sixel: true, cell: None };
        let colours = Some(Colours::True);
        assert_eq!(means(all, colours, None), Some(Means::Kitty));
        assert_eq!(means(Graphics { kitty: false, ..all }, None, None), Some(Means::ITerm));
        let sixel = Graphics { sixel: true, ..none };
        assert_eq!(means(sixel, colours, Some((8, 16))), Some(Means::Sixel));
        assert_eq!(means(sixel, colours, None), Some(Means::Cells(Colours::True)));
        assert_eq!(means(none, None, Some((8, 16))), None);
    }

    #[test]
    fn a_picture_is_made_smaller_and_never_larger() {
        assert_eq!(fitting((640, 480), (8, 16), (120, 40)), (640, 480));
        assert_eq!(fitting((640, 480), (8, 16), (40, 40)), (320, 240));
        assert_eq!(fitting((640, 480), (1, 2), (100, 30)), (80, 60));
        assert_eq!(fitting((100_000, 1), (1, 2), (50, 10)), (50, 1));
    }

    proptest! {
        #[test]
        fn no_picture_leaves_its_room(
            size in (1..20_000_u32, 1..20_000_u32),
            cell in (1..200_u32, 1..200_u32),
            most in (1..200_usize, 1..100_usize),
        ) {
            let (width, height) = fitting(size, cell, most);
            prop_assert!(width >= 1 && height >= 1 && width <= size.0 && height <= size.1);
            prop_assert!(width.div_ceil(cell.0) as usize <= most.0);
            prop_assert!(height.div_ceil(cell.1) as usize <= most.1);
            prop_assert!(u64::from(width) * u64::from(height) <= MOST_PAINTED);
        }
    }

    /// A picture that no way of painting makes smaller.
    fn noise(width: u32, height: u32) -> Pixels {
        let mut state = 1_u32;
        let rgb = (0..width * height).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, red, green, blue] = state.to_be_bytes();
            [red, green, blue]
        });
        Pixels { width, height, rgb: rgb.collect() }
    }

    /// What may stand in a sequence between its beginning and its end: nothing that ends it.
    fn assert_whole(sequence: &str, beginnings: &[&str], end: &str) {
        for piece in sequence.split_inclusive(end) {
            let beginning = beginnings.iter().find(|one| piece.starts_with(**one));
            let inner = &piece[beginning.unwrap().len()..piece.len() - end.len()];
            assert!(inner.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        }
    }

    #[test]
    fn the_worst_picture_is_a_bounded_sequence_of_plain_characters() {
        let bytes = noise(1_300, 900).to_png().unwrap();
        let form = Form { kind: FormKind::Png, bytes, size: Some((1_300, 900)) };
        let room = Room { columns: 500, rows: 500, block: 1, cell: Some((200, 200)) };
        let all = Graphics { kitty: true, iterm: true, sixel: true, cell: None };
        for (graphics, beginnings, end, most) in [
            (all, &["\u{1b}_G"][..], "\u{1b}\\", 5 << 20),
            (Graphics { kitty: false, ..all }, &["\u{1b}]1337;"], "\u{7}", 5 << 20),
            (
                Graphics { kitty: false, iterm: false, ..all },
                &["\u{1b}P0;1;0q"],
                "\u{1b}\\",
                12 << 20,
            ),
        ] {
            let painted = paint(&form, room, graphics, None).unwrap();
            let Painted::Over { rows, columns, sequence } = painted else { panic!("{painted:?}") };
            assert!(rows <= MOST.1 && columns <= MOST.0, "{columns} {rows}");
            assert!(sequence.len() < most, "{}", sequence.len());
            assert_whole(&sequence, beginnings, end);
        }
        let cells = paint(&form, room, Graphics::default(), Some(Colours::True)).unwrap();
        let (rows, columns) = cells.size();
        assert!(rows <= MOST.1 && columns <= MOST.0);
        assert!(cells.rows("❚ ", 2).len() < 1 << 20);
        // Room for nothing shows nothing.
        for (columns, rows) in [(9, 40), (40, 3), (0, 0)] {
            let room = Room { columns, rows, ..room };
            assert_eq!(paint(&form, room, all, None), None);
        }
    }
}
