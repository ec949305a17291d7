//! The way from JavaScript and TypeScript to a tree, and its limits.
//!
//! # Threat
//! The parser goes on after any error, and looks for the cheapest way to do so. Code that is all
//! errors, or that scans to its end for a quote again and again, keeps it busy for seconds.
//!
//! # Mechanism
//! The parser tells its progress about every hundred steps, and reads the code in pieces of a fixed
//! size. Both are counted, and beyond what ordinary code takes it is given up: as soon as it has
//! taken more steps than the code so far should take, not only at the end. A step that gets over an
//! error costs as much as a hundred others but counts as one, so the parser is also listened to: it
//! tells every error and every token that it skips, but telling is slow, so that is done for a few
//! steps of many.
//!
//! Ordinary code is read by [`quick`], which does none of that; this parser reads the rest.
//!
//! # Limits
//! Code without an error can still be refused, if it is long, dense and not ordinary.

use super::{kinds::Numbers, quick, tree::Tree};
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
    numbers: Numbers,
}

impl Grammar {
    fn of(language: Language) -> Self {
        let numbers = Numbers::of(&language);
        Self { language, numbers }
    }
}

/// Bytes of code that the parser reads at a time.
const PIECE: usize = 4096;

/// Most calls of progress. A published library of 200 kB takes about 1,500; longer code may take
/// more.
const STEPS: usize = 2600;

/// Calls of progress that any code may take, however dense it is.
const DENSE: usize = 400;

/// Bytes of code that allow one more. A published library has 137 for each.
const BYTES: usize = 96;

/// The parser's log is read for one in so many calls of progress.
const EVERY: usize = 32;

/// Most errors that the log may show; the code then has about [`EVERY`] times as many.
const ERRORS: usize = 10;

/// Most tokens that the log may show to be skipped, likewise.
const SKIPS: usize = 60;

/// The tree of a script, unless it would take too much work to build.
pub(super) fn parse(syntax: Syntax, code: &str) -> Option<Tree> {
    quick::read(code, syntax == Syntax::TypeScript).or_else(|| parse_any(syntax, code))
}

/// The same, by the parser for all code.
pub(super) fn parse_any(syntax: Syntax, code: &str) -> Option<Tree> {
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
        let mut progress = |state: &ParseState| match budget
            .step(state.current_byte_offset())
            .and_then(|()| take(&left))
        {
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
            return Some(Tree::of(&parsed, &grammar.numbers, code));
        }
    }
    None
}

/// Hears what the parser tells.
type Listener = Box<dyn FnMut(LogType, &str)>;

/// Counts the errors that the parser gets over, and the tokens that it skips for them.
fn listener(budget: &Rc<Budget>) -> Listener {
    let budget = Rc::clone(budget);
    Box::new(move |kind, said| {
        if kind == LogType::Parse && said.starts_with("resume version") {
            budget.error();
        } else if kind == LogType::Parse && said.starts_with("skip_token") {
            budget.skip();
        }
    })
}

/// The work that may still go into a tree.
struct Budget {
    /// Calls of progress.
    steps: Cell<usize>,
    /// Calls of progress so far.
    taken: Cell<usize>,
    /// How far the code was read at the last one.
    offset: Cell<usize>,
    /// Whether the code so far took more of them than it should.
    is_dense: Cell<bool>,
    /// Errors while the parser is listened to.
    errors: Cell<usize>,
    /// Skipped tokens, likewise.
    skips: Cell<usize>,
    /// Pieces of the code.
    pieces: Cell<usize>,
}

impl Budget {
    fn of(bytes: usize) -> Self {
        Self {
            steps: Cell::new(STEPS.max(bytes / 80)),
            taken: Cell::new(0),
            offset: Cell::new(0),
            is_dense: Cell::new(false),
            errors: Cell::new(ERRORS),
            skips: Cell::new(SKIPS),
            pieces: Cell::new(100 + 6 * bytes / PIECE),
        }
    }

    fn step(&self, offset: usize) -> Option<()> {
        take(&self.steps)?;
        self.taken.set(self.taken.get() + 1);
        // At the end of the code the parser still takes some to arrange what it has.
        if self.offset.replace(offset) != offset {
            let allowed = DENSE + offset / BYTES;
            self.is_dense.set(self.is_dense.get() || self.taken.get() > allowed);
        }
        (!self.is_spent()).then_some(())
    }

    fn error(&self) {
        self.errors.set(self.errors.get().saturating_sub(1));
    }

    fn skip(&self) {
        self.skips.set(self.skips.get().saturating_sub(1));
    }

    /// Going on takes up to two pieces that were read before.
    fn resume(&self) {
        self.pieces.set(self.pieces.get() + 2);
    }

    fn read(&self) -> Option<()> {
        take(&self.pieces)
    }

    fn is_spent(&self) -> bool {
        let left = [&self.steps, &self.errors, &self.skips, &self.pieces];
        self.is_dense.get() || left.iter().any(|left| left.get() == 0)
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
        for (line, times) in [(rows, 400), (&nested, 50)] {
            let (code, grammar) = (line.repeat(times), &JAVASCRIPT);
            let mut parser = Parser::new();
            parser.set_language(&grammar.language).unwrap();
            let whole = Tree::of(&parser.parse(&code, None).unwrap(), &grammar.numbers, &code);
            let listened = parse_any(Syntax::JavaScript, &code).expect("so much is not refused");
            assert!(format!("{listened:?}") == format!("{whole:?}"), "{line}");
        }
    }
}
