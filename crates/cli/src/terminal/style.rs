//! Colour, where it helps and is wanted. Everything reads the same without it.

use interpreter_store::Environment;
use std::{io::IsTerminal, os::fd::AsFd};

/// Whether and how output is painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
    width: Option<usize>,
}

impl Style {
    /// What standard output can show and the person wants.
    pub(crate) fn of_stdout(environment: &Environment) -> Self {
        Self::of(&std::io::stdout(), environment)
    }

    /// The same of standard error.
    pub(crate) fn of_stderr(environment: &Environment) -> Self {
        Self::of(&std::io::stderr(), environment)
    }

    fn of(out: &(impl IsTerminal + AsFd), environment: &Environment) -> Self {
        if !out.is_terminal() {
            return Self { colour: false, width: None };
        }
        let plain = environment.raw("NO_COLOR").is_some_and(|value| !value.is_empty())
            || environment.text("TERM") == Some("dumb");
        let width = rustix::termios::tcgetwinsize(out).map_or(80, |size| size.ws_col.into());
        Self { colour: !plain, width: Some(std::cmp::max(width, 20)) }
    }

    /// The width of the terminal; none if output goes elsewhere.
    pub(crate) fn width(self) -> Option<usize> {
        self.width
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
