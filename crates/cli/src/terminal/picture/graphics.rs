//! The terminal's own word about pictures, asked once in a session.
//!
//! # Threat
//! An answer that is not the terminal's: text of a program, a paste, a key. And an answer that
//! comes so late that a line editor takes it for keys.
//!
//! # Mechanism
//! The keyboard asks, and hears answers as strokes of their own, never as keys. Kitty's question
//! has a number that nobody else knows. The first question is one that every terminal answers and
//! that line editors understand; only a terminal that has answered it is asked the others. Its
//! answer to the last one says that all others have come.
//!
//! # Limits
//! Whoever can type at the terminal can answer for it, and gains a picture that is not seen.

/// The protocols for pictures that a terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graphics {
    pub(super) kitty: bool,
    pub(super) iterm: bool,
    pub(super) sixel: bool,
    /// Width and height of a cell in pixels.
    pub(super) cell: Option<(u32, u32)>,
}

/// A terminal that is being asked.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    number: u32,
    found: Graphics,
}

/// Asks for the kind of terminal: every one answers that.
const KIND: &str = "\u{1b}[c";

/// Clears whatever a terminal has made of a question that it does not know.
const CLEAR: &str = "\r\u{1b}[2K";

/// Pixels of a cell beyond which an answer is none.
const LARGEST_CELL: u32 = 200;

impl Asking {
    /// With a number that nobody can guess.
    pub(crate) fn new(number: u32) -> Self {
        Self { number, found: Graphics::default() }
    }

    /// The questions: one after the other, each once the one before is answered.
    pub(crate) fn questions(&self) -> [String; 2] {
        let kitty = format!("\u{1b}_Gi={},s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\", self.number);
        let iterm = "\u{1b}]1337;Capabilities\u{1b}\\";
        let (version, cell) = ("\u{1b}[>q", "\u{1b}[16t");
        [KIND.to_owned(), format!("{kitty}{iterm}{version}{cell}{CLEAR}{KIND}")]
    }

    /// Takes in an answer, and says whether it is the last one to a question.
    pub(crate) fn hear(&mut self, answer: &str) -> bool {
        if let Some(kind) = answer.strip_prefix("[?").and_then(|rest| rest.strip_suffix('c')) {
            // The first number is the class.
            self.found.sixel |= kind.split(';').skip(1).any(|number| number == "4");
            return true;
        }
        if let Some(kitty) = answer.strip_prefix("_G") {
            self.found.kitty |= kitty == format!("i={};OK", self.number);
        } else if let Some(features) = answer.strip_prefix("]1337;Capabilities=") {
            self.found.iterm |= has_feature(features, "F");
            self.found.sixel |= has_feature(features, "Sx");
        } else if let Some(version) = answer.strip_prefix("P>|") {
            self.found.iterm |= version.starts_with("iTerm2 ");
        } else if let Some(size) =
            answer.strip_prefix("[6;").and_then(|rest| rest.strip_suffix('t'))
        {
            self.found.cell = cell(size).or(self.found.cell);
        }
        false
    }

    /// The answers so far.
    pub(crate) fn found(&self) -> Graphics {
        self.found
    }
}

/// Whether a list of features, each a capital letter with small ones and digits, has this one.
fn has_feature(features: &str, name: &str) -> bool {
    features.match_indices(name).any(|(at, _)| {
        let behind = &features[at + name.len()..];
        !behind.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// Height and width, as a terminal reports them.
fn cell(size: &str) -> Option<(u32, u32)> {
    let (height, width) = size.split_once(';')?;
    let fits = |text: &str| text.parse().ok().filter(|size| (1..=LARGEST_CELL).contains(size));
    Some((fits(width)?, fits(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heard(answers: &[&str]) -> Graphics {
        let mut asking = Asking::new(7);
        for answer in answers {
            assert_eq!(asking.hear(answer), answer.ends_with('c'), "{answer}");
        }
        asking.found()
    }

    #[test]
    fn answers_of_terminals_are_understood() {
        let none = Graphics::default();
        assert_eq!(heard(&["[?62;22c"]), none);
        assert_eq!(heard(&["[?4c"]), none);
        assert_eq!(
            heard(&["[?62;4;22c", "[6;18;9t"]),
            Graphics { sixel: true, cell: Some((9, 18)), ..none }
        );
        assert_eq!(heard(&["_Gi=7;OK"]), Graphics { kitty: true, ..none });
        let iterm = Graphics { iterm: true, ..none };
        assert_eq!(heard(&["P>|iTerm2 3.5.0"]), iterm);
        assert_eq!(heard(&["]1337;Capabilities=T3CwLrMSc7UUw9BFGs"]), iterm);
        let both = heard(&["]1337;Capabilities=T3FSx"]);
        assert_eq!(both, Graphics { sixel: true, ..iterm });
        assert_eq!(heard(&["]1337;Capabilities=T3FoGs"]), none);
        assert_eq!(heard(&["P>|XTerm(388)"]), none);
    }

    #[test]
    fn an_answer_to_nobody_s_question_counts_for_nothing() {
        for answer in [
            "_Gi=8;OK",
            "_Gi=7;ENOENT",
            "_Gi=7;OKAY",
            "_G",
            "[6;0;9t",
            "[6;9t",
            "[6;9;900t",
            "",
            "x",
        ] {
            assert_eq!(heard(&[answer]), Graphics::default(), "{answer}");
        }
    }

    proptest! {
        #[test]
        fn anything_may_be_answered(answer in r"(\[\?|\[6;|_G|P>\||\]1337;Capabilities=)?.{0,40}[ct]?") {
            let found = { let mut asking = Asking::new(u32::MAX); asking.hear(&answer); asking.found() };
            prop_assert!(!found.kitty);
        }
    }
}
