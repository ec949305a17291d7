//! Colour, where it helps and is wanted. Everything reads the same without it.

use interpreter_store::Environment;

/// Whether output is painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
    links: bool,
}

impl Style {
    /// Colours for a terminal, unless the person or the terminal wants none.
    pub(super) fn new(at_terminal: bool, environment: &Environment) -> Self {
        let plain = environment.raw("NO_COLOR").is_some_and(|value| !value.is_empty())
            || environment.text("TERM") == Some("dumb");
        let is_smart = !matches!(environment.text("TERM"), None | Some("dumb" | "linux"));
        Self { colour: at_terminal && !plain, links: at_terminal && is_smart }
    }

    /// Whether a word may lead to a file of ours.
    pub(super) fn has_links(self) -> bool {
        self.links
    }

    pub(super) fn is_coloured(self) -> bool {
        self.colour
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
