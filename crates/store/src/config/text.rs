//! The text of a config file: places in it, and errors at those places.
//!
//! Must not quote a line of the file, nor anything from it unfiltered: a project's file is a
//! stranger's, and the person's own may hold a secret by mistake.

use super::{ConfigText, Fault, Layer, Provenance};
use interpreter_core::{Untrusted, similar::nearest};
use std::{path::Path, sync::Arc};

/// A config file while it is read.
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) layer: Layer,
    path: Arc<Path>,
    /// The byte at which each line starts.
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(super) fn new(file: &'t ConfigText, layer: Layer) -> Self {
        let text = file.text.as_str();
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { text, layer, path: file.path.as_path().into(), lines: lines.collect() }
    }

    /// Line and column, from 1, of a byte of the text.
    fn position(&self, at: usize) -> (usize, usize) {
        let at = if self.text.is_char_boundary(at) { at } else { self.text.len() };
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        (line, self.text[self.lines[line - 1]..at].chars().count() + 1)
    }

    /// The origin of a value that stands at a byte of the text.
    pub(super) fn provenance(&self, at: usize) -> Provenance {
        let place = Some((self.path.clone(), self.position(at).0));
        Provenance { layer: self.layer, place, decided_by: None }
    }

    pub(super) fn fault(&self, at: usize, message: &str) -> Fault {
        let (line, column) = self.position(at);
        let message = Untrusted::new(message).for_terminal_line(400);
        Fault { path: self.path.to_path_buf(), line, column, message }
    }
}

/// A value that cannot be read: the byte of the text, and why.
#[derive(Debug)]
pub(super) struct Misread {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Misread {
    /// The error of the parser; it is about the value at `at` unless it says more.
    pub(super) fn new(error: &toml::de::Error, at: usize) -> Self {
        let at = error.span().map_or(at, |span| span.start);
        Self { at, message: plain(error.message()) }
    }
}

/// serde's message in our words, with the nearest known name if one is near.
fn plain(message: &str) -> String {
    for (beginning, what) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some(rest) = message.strip_prefix(beginning) else { continue };
        let Some((name, expected)) = rest.rsplit_once("`, expected ") else { continue };
        // The names stand between backticks, so every second piece is one.
        let known = expected.split('`').skip(1).step_by(2);
        if what == "value" && nearest(name, known.clone()).is_none() {
            // Nor is this one repeated: it is not a slip of a word that is known.
            return format!(
                "unknown value; possible here: {}",
                known.collect::<Vec<_>>().join(", ")
            );
        }
        return unknown(what, name, known);
    }
    if ["invalid type: string ", "invalid value: string "]
        .iter()
        .any(|with| message.starts_with(with))
        && let Some((_, expected)) = message.rsplit_once(", expected ")
    {
        // The text is not repeated: it may be a key in the wrong place.
        return format!("expected {expected}, not a text");
    }
    message.replace("missing field", "missing key").replace("duplicate field", "duplicate key")
}

/// The message about a name that is not known, with the next step.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    if let Some(near) = nearest(name, known.clone()) {
        return format!("unknown {what} `{name}`; did you mean `{near}`?");
    }
    let known = known.collect::<Vec<_>>().join(", ");
    format!("unknown {what} `{name}`; possible here: {known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters() {
        let file = ConfigText { path: "/c.toml".into(), text: "a\nöä = 1".into() };
        let source = Source::new(&file, Layer::User);
        assert_eq!(source.position(2), (2, 1));
        assert_eq!(source.position(6), (2, 3));
        assert_eq!(source.position(700).0, 2);
    }
}
