//! The one way to draw.
//!
//! # Threat
//! Foreign text (of a model, a program, a file's name, an error that quotes one) that a person
//! takes for a row of ours and answers or believes.
//!
//! # Mechanism
//! A row of ours begins with the mark of our own and holds [`Ours`], which no foreign text can
//! become. Everything else goes through [`Foreign`], which marks every row as foreign and cannot
//! show our mark. Both are wrapped here, at the width that the window has at that moment. No other
//! file of this crate writes to standard output or standard error, but for JSON, exact bytes into
//! a pipe, and the keyboard's own marks; clippy holds that.
//!
//! # Limits
//! Where the output is not a terminal there are no marks, because another program reads it.

pub(crate) use super::section::Section;
use super::{
    device::Device,
    foreign::Foreign,
    link,
    ours::{Ours, UNBROKEN},
    own_rows::own_rows,
    passing::Passing,
    picture::{self, Painted, Room},
    rows::{columns_of, room},
    style::Style,
    width::Widths,
};
use interpreter_core::{Palette, Untrusted};
use interpreter_store::Environment;
use rustix::termios::{Winsize, tcgetwinsize};
use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::Arc,
};

/// Where a screen is.
#[derive(Clone, Debug)]
enum Port {
    Stdout,
    Stderr,
    /// A terminal, wherever the standard streams lead.
    Terminal(Arc<File>),
}

/// One of the two standard streams, or a terminal, as a person sees it.
#[derive(Debug)]
pub(crate) struct Screen {
    port: Port,
    style: Style,
    widths: Widths,
    at_terminal: bool,
    /// Before rows of ours where the output is not a terminal.
    elsewhere: &'static str,
    open: Option<(Section, Foreign)>,
    /// Whether the person wants long lists folded.
    folds: bool,
    /// Rows that stand there until the next one does.
    passing: Option<Passing>,
    /// Whether the terminal has gone: whatever is left to do is done without it.
    gone: bool,
}

impl Screen {
    pub(crate) fn stdout(environment: &Environment) -> Self {
        Self::new(Port::Stdout, environment)
    }

    pub(crate) fn stderr(environment: &Environment) -> Self {
        Self::new(Port::Stderr, environment)
    }

    /// The terminal that a person is called to.
    pub(crate) fn on(device: &Device, environment: &Environment) -> Self {
        match device {
            Device::Standard => Self::stdout(environment),
            Device::Controlling { screen, .. } => {
                Self::new(Port::Terminal(Arc::clone(screen)), environment)
            }
        }
    }

    fn new(port: Port, environment: &Environment) -> Self {
        let at_terminal = port.is_terminal();
        Self {
            port,
            style: Style::new(at_terminal, environment),
            widths: Widths::of(environment),
            at_terminal,
            elsewhere: "",
            open: None,
            folds: true,
            passing: None,
            gone: false,
        }
    }

    /// The same, with `words` before rows of ours where the output is not a terminal.
    pub(crate) fn named_elsewhere(self, words: &'static str) -> Self {
        Self { elsewhere: words, ..self }
    }

    /// Whether a person looks at it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.at_terminal
    }

    /// Whether long lists, output and thoughts are folded: a person reads along, and wants it so.
    pub(super) fn folds(&self) -> bool {
        self.at_terminal && self.folds
    }

    /// Folds what is long from now on, or nothing.
    pub(super) fn be_folding(&mut self, wanted: bool) {
        self.folds = wanted;
    }

    /// The same, with every row written once and without colour, if that is wanted.
    pub(crate) fn plain_if(mut self, wanted: bool) -> Self {
        if wanted {
            self.style = Style::PLAIN;
        }
        self
    }

    /// The same in other colours, or in none.
    pub(super) fn in_colours(mut self, palette: Option<Palette>) -> Self {
        self.use_colours(palette);
        self
    }

    /// Draws in other colours from now on, or in none.
    pub(super) fn use_colours(&mut self, palette: Option<Palette>) {
        self.style = self.style.in_colours(palette);
    }

    pub(super) fn has_colour(&self) -> bool {
        self.style.has_colour()
    }

    /// Whether a row may be drawn again.
    pub(crate) fn redraws(&self) -> bool {
        self.style.redraws()
    }

    /// How many of these lines of foreign text fit on the window at this moment: at least one. Room
    /// is left for a question below.
    pub(crate) fn page(&self, section: Section, lines: &[&str]) -> usize {
        let (columns, rows) = self.port.size();
        let mut left = rows.saturating_sub(4);
        let fits = |line: &&&str| {
            let mut foreign = Foreign::new(section, self.widths, self.style);
            let laid_out = foreign.feed(line, columns) + &foreign.end(columns);
            let taken = laid_out.lines().count().max(1);
            let fits = taken <= left;
            left = left.saturating_sub(taken);
            fits
        };
        lines.iter().take_while(fits).count().max(1)
    }

    /// Says something of our own, on rows of its own.
    pub(crate) fn say(&mut self, text: impl Into<Ours>) -> io::Result<()> {
        self.own(&text.into(), |_, row| row)
    }

    /// The same, for what matters less.
    pub(crate) fn say_quietly(&mut self, text: impl Into<Ours>) -> io::Result<()> {
        self.own(&text.into(), |style, row| style.dim(&row))
    }

    /// The same, for what must not be overlooked.
    pub(crate) fn warn(&mut self, text: impl Into<Ours>) -> io::Result<()> {
        self.own(&text.into(), |style, row| style.red(&row))
    }

    /// Says what bounds code: as a warning, if that is little.
    pub(crate) fn announce(&mut self, text: Ours, is_alarming: bool) -> io::Result<()> {
        if is_alarming { self.warn(text) } else { self.say(text) }
    }

    fn own(&mut self, text: &Ours, paint: impl Fn(Style, String) -> String) -> io::Result<()> {
        self.close()?;
        let mut out = String::new();
        if self.at_terminal {
            for row in own_rows(text, self.widths, self.port.size().0) {
                out.push_str(&paint(self.style, row));
                out.push('\n');
            }
        } else {
            let text = text.as_str().replace(UNBROKEN, " ");
            for line in text.split('\n') {
                out.push_str(&paint(self.style, format!("{}{line}\n", self.elsewhere)));
            }
        }
        self.write(&out)
    }

    /// Says something of our own that stands there only until anything else does. Not while a row of
    /// foreign text has begun: that is not written over.
    pub(crate) fn say_in_passing(&mut self, text: impl Into<Ours>) -> io::Result<()> {
        self.show_in_passing(&[], text, "")
    }

    /// The same, with the last lines of a program's output above it, a row for each, and below it the
    /// end of the line that the person is typing.
    pub(crate) fn show_in_passing(
        &mut self,
        lines: &[&str],
        text: impl Into<Ours>,
        draft: &str,
    ) -> io::Result<()> {
        let in_row = self.open.as_ref().is_some_and(|(_, foreign)| foreign.in_row());
        if !self.style.redraws() || in_row {
            return Ok(());
        }
        let rows =
            Passing::new(lines, &text.into(), draft, self.port.size(), self.widths, self.style);
        self.clear()?;
        self.write(rows.text())?;
        self.passing = Some(rows);
        Ok(())
    }

    /// Clears the window, where it is one.
    pub(crate) fn wipe(&mut self) -> io::Result<()> {
        self.close()?;
        if self.at_terminal { self.write("\u{1b}[H\u{1b}[2J") } else { Ok(()) }
    }

    pub(crate) fn blank(&mut self) -> io::Result<()> {
        self.close()?;
        self.write("\n")
    }

    /// One row of text that is not ours alone, such as a line of a list. Longer ones are wrapped.
    pub(crate) fn row(&mut self, text: &str) -> io::Result<()> {
        self.row_of(Section::Output, text)
    }

    /// The same for several names or words: a longer one is wrapped between them.
    pub(crate) fn row_of_words(&mut self, text: &str) -> io::Result<()> {
        self.row_of(Section::Told, text)
    }

    fn row_of(&mut self, section: Section, text: &str) -> io::Result<()> {
        self.close()?;
        let line = text.replace('\n', "⏎");
        if self.at_terminal {
            return self.show(section, &line);
        }
        let shown = Untrusted::new(line).for_terminal().replace('\n', "⏎");
        self.write(&format!("  {shown}\n"))
    }

    /// A sentence of ours that quotes something foreign. On a terminal it counts as foreign.
    pub(crate) fn tell(&mut self, text: &str) -> io::Result<()> {
        self.close()?;
        if self.at_terminal {
            return self.show(Section::Told, &text.replace('\n', "⏎"));
        }
        let shown = Untrusted::new(text).for_terminal();
        self.write(&format!("{}{shown}\n", self.elsewhere))
    }

    /// Lines of ours that hold something foreign, such as a table. On a terminal they count as
    /// foreign.
    pub(crate) fn lines(&mut self, text: &str) -> io::Result<()> {
        if self.at_terminal {
            return self.quote(Section::Output, &Untrusted::new(text));
        }
        self.close()?;
        let shown = Untrusted::new(text).for_terminal();
        self.write(&shown)
    }

    /// A diff. In its colours on a terminal, as it is elsewhere.
    pub(crate) fn diff(&mut self, diff: &Untrusted) -> io::Result<()> {
        if self.at_terminal {
            return self.quote(Section::Diff, diff);
        }
        self.lines(diff.raw())
    }

    /// An error, and the next step. Both may quote something foreign.
    pub(crate) fn error(&mut self, message: &str, hint: Option<&str>) -> io::Result<()> {
        if self.at_terminal {
            self.warn("error:")?;
            message.split('\n').try_for_each(|line| self.tell(line))?;
            let hint = hint.map(|hint| format!("hint: {hint}"));
            return hint
                .iter()
                .flat_map(|hint| hint.split('\n'))
                .try_for_each(|line| self.tell(line));
        }
        self.close()?;
        let shown = |text: &str| Untrusted::new(text).for_terminal();
        let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {}\n", shown(hint)));
        self.write(&format!("error: {}\n{hint}", shown(message)))
    }

    /// Foreign text as a whole. Indented where the output is not a terminal.
    pub(crate) fn quote(&mut self, section: Section, text: &Untrusted) -> io::Result<()> {
        self.close()?;
        if !self.at_terminal {
            self.open = Some((section, Foreign::elsewhere(section, "    ", self.widths)));
        }
        self.show(section, text.raw())
    }

    fn show(&mut self, section: Section, text: &str) -> io::Result<()> {
        self.write_foreign(section, text)?;
        self.close()
    }

    /// The next piece of foreign text. A piece of another section begins a row of its own.
    pub(crate) fn stream(&mut self, section: Section, text: &Untrusted) -> io::Result<()> {
        self.write_foreign(section, text.raw())
    }

    fn write_foreign(&mut self, section: Section, text: &str) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != section) {
            self.close()?;
        }
        self.clear()?;
        let (columns, widths, style) = (self.columns(), self.widths, self.style);
        let at_terminal = self.at_terminal;
        let (_, foreign) = self.open.get_or_insert_with(|| {
            let foreign = if at_terminal {
                Foreign::new(section, widths, style)
            } else {
                Foreign::elsewhere(section, "", widths)
            };
            (section, foreign)
        });
        let text = foreign.feed(text, columns);
        self.write(&text)
    }

    /// The columns that foreign text is laid out for at this moment.
    fn columns(&self) -> usize {
        if self.at_terminal { self.port.size().0 } else { usize::MAX }
    }

    /// Writes the word that a model has begun, because it has stopped in its middle.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        let columns = self.columns();
        let Some((_, foreign)) = &mut self.open else { return Ok(()) };
        let text = foreign.settle(columns);
        if !text.is_empty() {
            self.clear()?;
        }
        self.write(&text)
    }

    /// The columns and rows that a program's output has at this moment, if a person looks at it.
    pub(crate) fn output_room(&self) -> Option<(usize, usize)> {
        let (columns, rows) = self.port.size();
        self.at_terminal.then(|| (room(Section::Output.mark(), self.widths, columns), rows))
    }

    /// The room that a picture has at this moment. Nothing where none can be shown.
    pub(super) fn room(&self) -> Option<Room> {
        let (columns, rows) = self.output_room().filter(|_| self.style.has_colour())?;
        let block = self.widths.most(picture::UPPER);
        Some(Room { columns, rows: rows.saturating_sub(4), block, cell: self.port.cell() })
    }

    /// Paints a picture on rows that are marked as foreign. One that no longer fits is left out.
    pub(super) fn picture(&mut self, picture: &Painted) -> io::Result<()> {
        let Some(now) = self.room() else { return Ok(()) };
        let (rows, columns) = picture.size();
        if rows > now.rows || columns > now.columns {
            return Ok(());
        }
        self.close()?;
        let mark = Section::Output.mark();
        self.write(&picture.rows(mark, columns_of(mark, self.widths)))
    }

    /// The same as [`Screen::say_quietly`], with a link from one of its words to a file of ours.
    pub(super) fn say_linked(&mut self, text: &Ours, word: &Ours, path: &Path) -> io::Result<()> {
        let link = self.style.has_links().then(|| link::to(word.as_str(), path)).flatten();
        let word = word.as_str();
        self.own(text, |style, row| {
            let row = link.as_ref().map_or_else(|| row.clone(), |to| row.replacen(word, to, 1));
            style.dim(&row)
        })
    }

    /// Whether foreign text is being written.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Notes that somebody else has ended the row that is open: the person, by typing Enter.
    pub(crate) fn row_was_ended(&mut self) -> io::Result<()> {
        let Some((_, mut foreign)) = self.open.take() else { return Ok(()) };
        let text = foreign.end(self.columns());
        self.write(text.trim_end_matches(['\r', '\n']))
    }

    /// Ends the row of foreign text that is open, so that the next row is anybody's.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.clear()?;
        let Some((_, mut foreign)) = self.open.take() else { return Ok(()) };
        let text = foreign.end(self.columns());
        self.write(&text)
    }

    /// Takes away the rows that stand there in passing.
    fn clear(&mut self) -> io::Result<()> {
        match self.passing.take() {
            Some(rows) => self.write(&rows.clearing()),
            None => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if self.gone || text.is_empty() {
            return Ok(());
        }
        match self.port.write(text.as_bytes()) {
            // A terminal that was closed must not keep the session from being ended in order.
            Err(error) if self.at_terminal && error.raw_os_error() == Some(EIO) => {
                self.gone = true;
                Ok(())
            }
            other => other,
        }
    }
}

const EIO: i32 = rustix::io::Errno::IO.raw_os_error();

#[expect(clippy::disallowed_methods, reason = "the one place that writes to the person")]
impl Port {
    fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Stderr => io::stderr().is_terminal(),
            Self::Terminal(file) => file.is_terminal(),
        }
    }

    fn window(&self) -> Option<Winsize> {
        let asked = match self {
            Self::Stdout => tcgetwinsize(io::stdout()),
            Self::Stderr => tcgetwinsize(io::stderr()),
            Self::Terminal(file) => tcgetwinsize(&**file),
        };
        asked.ok()
    }

    /// Columns and rows of the window at this moment.
    fn size(&self) -> (usize, usize) {
        let (columns, rows) = self.window().map_or((0, 0), |size| (size.ws_col, size.ws_row));
        let or = |said: u16, usual| if said == 0 { usual } else { usize::from(said) };
        (or(columns, 80), or(rows, 24))
    }

    /// Width and height of a cell in pixels, if the terminal has told the system.
    fn cell(&self) -> Option<(u32, u32)> {
        let size = self.window()?;
        let cell = |pixels: u16, cells: u16| Some(u32::from(pixels.checked_div(cells)?));
        let (width, height) =
            (cell(size.ws_xpixel, size.ws_col)?, cell(size.ws_ypixel, size.ws_row)?);
        (width > 0 && height > 0).then_some((width, height))
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        fn all(mut out: impl Write, bytes: &[u8]) -> io::Result<()> {
            out.write_all(bytes)?;
            out.flush()
        }
        match self {
            Self::Stdout => all(io::stdout().lock(), bytes),
            Self::Stderr => all(io::stderr().lock(), bytes),
            Self::Terminal(file) => all(&**file, bytes),
        }
    }
}
