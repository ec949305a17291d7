//! The way from JavaScript and TypeScript to a tree, and its limits.
//!
//! # Threat
//! The parser goes on after any error, and looks for the cheapest way to do so. Code that is all
//! errors, or that scans to its end for a quote again and again, keeps it busy for seconds.
//!
//! # Mechanism
//! The parser tells its progress about every hundred steps, and reads the code in pieces of a fixed
//! size. Both are counted, and beyond what ordinary code takes it is given up. A step that gets over
//! an error costs as much as a hundred others but counts as one, so the parser is also listened to:
//! it tells every error, but telling is slow, so that is done for a few steps of many.
//!
//! # Limits
//! Code without an error can still be refused, if it is long and dense.

use super::tree::{Tree, Words};
use crate::syntax::Syntax;
use std::{cell::Cell, ops::ControlFlow, rc::Rc, sync::LazyLock};
use tree_sitter::{Language, LogType, ParseOptions, ParseState, Parser};

static JAVASCRIPT: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::of(tree_sitter_javascript::LANGUAGE.into()));
static TYPESCRIPT: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::of(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()));

/// A language as the parser knows it.
struct Grammar {
    language: Language,
    words: Words,
}

impl Grammar {
    fn of(language: Language) -> Self {
        let words = Words::of(&language);
        Self { language, words }
    }
}

/// Bytes of code that the parser reads at a time.
const PIECE: usize = 4096;

/// Most calls of progress. Ordinary code of 200 kB takes about 4,000; longer code may take more.
const STEPS: usize = 4600;

/// The parser's log is read for one in so many calls of progress.
const EVERY: usize = 16;

/// Most errors that the log may show; the code then has about [`EVERY`] times as many.
const ERRORS: usize = 20;

/// The tree of a script, unless it would take too much work to build.
pub(super) fn parse(syntax: Syntax, code: &str) -> Option<Tree> {
    let grammar = if syntax == Syntax::TypeScript { &TYPESCRIPT } else { &JAVASCRIPT };
    let mut parser = Parser::new();
    parser
        .set_language(&grammar.language)
        .expect("the grammar and the parser are of versions that fit");
    let bytes = code.as_bytes();
    let budget = Rc::new(Budget::of(bytes.len()));
    for stretch in [EVERY - 1, 1].into_iter().cycle() {
        let listened = (stretch == 1).then(|| listener(&budget));
        parser.set_logger(listened);
        let left = Cell::new(stretch);
        budget.resume();
        let mut progress = |_: &ParseState| match budget.step().and_then(|()| take(&left)) {
            Some(()) if left.get() > 0 => ControlFlow::Continue(()),
            Some(()) | None => ControlFlow::Break(()),
        };
        let mut piece = |at: usize, _| {
            let end = bytes.len().min(at.saturating_add(PIECE));
            // Without any left, the code seems to end here.
            budget.read().and_then(|()| bytes.get(at..end)).unwrap_or_default()
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let parsed = parser.parse_with_options(&mut piece, None, Some(options));
        // Either too much work, or none at all: the parser has failed.
        if budget.is_spent() || (parsed.is_none() && left.get() == stretch) {
            return None;
        }
        if let Some(parsed) = parsed {
            return Some(Tree::of(&parsed, &grammar.words));
        }
    }
    None
}

/// Hears what the parser tells.
type Listener = Box<dyn FnMut(LogType, &str)>;

/// Counts the errors that the parser gets over.
fn listener(budget: &Rc<Budget>) -> Listener {
    let budget = Rc::clone(budget);
    Box::new(move |kind, said| {
        if kind == LogType::Parse && said.starts_with("resume version") {
            budget.error();
        }
    })
}

/// The work that may still go into a tree.
struct Budget {
    /// Calls of progress.
    steps: Cell<usize>,
    /// Errors while the parser is listened to.
    errors: Cell<usize>,
    /// Pieces of the code.
    pieces: Cell<usize>,
}

impl Budget {
    fn of(bytes: usize) -> Self {
        Self {
            steps: Cell::new(STEPS.max(bytes / 44)),
            errors: Cell::new(ERRORS),
            pieces: Cell::new(100 + 6 * bytes / PIECE),
        }
    }

    fn step(&self) -> Option<()> {
        take(&self.steps)?;
        (!self.is_spent()).then_some(())
    }

    fn error(&self) {
        self.errors.set(self.errors.get().saturating_sub(1));
    }

    /// Going on takes up to two pieces that were read before.
    fn resume(&self) {
        self.pieces.set(self.pieces.get() + 2);
    }

    fn read(&self) -> Option<()> {
        take(&self.pieces)
    }

    fn is_spent(&self) -> bool {
        [&self.steps, &self.errors, &self.pieces].iter().any(|left| left.get() == 0)
    }
}

fn take(left: &Cell<usize>) -> Option<()> {
    left.set(left.get().checked_sub(1)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_does_not_change_the_tree() {
        let rows = "const rows = data.map(r => ({ ...r, total: `${r.price}` * r.qty }));\n";
        let nested = format!("x = {}1{};\n", "f(".repeat(90), ")".repeat(90));
        for (line, times) in [(rows, 500), (&nested, 100)] {
            let (code, grammar) = (line.repeat(times), &JAVASCRIPT);
            let mut parser = Parser::new();
            parser.set_language(&grammar.language).unwrap();
            let whole = Tree::of(&parser.parse(&code, None).unwrap(), &grammar.words);
            let listened = parse(Syntax::JavaScript, &code).expect("so much is not refused");
            assert!(format!("{listened:?}") == format!("{whole:?}"), "{line}");
        }
    }
}
