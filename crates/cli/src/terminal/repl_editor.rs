//! The line editors: for prompts, and for code, which knows when a cell is whole and asks how it
//! could go on.
//!
//! Runs on the keyboard's own thread. Code chose the suggestions, so only plainly visible ones are
//! shown.

use super::{
    line_editor::{Careful, in_own_colour},
    prompt_history::PromptHistory,
};
use interpreter_agent::Completions;
use interpreter_core::{Redactor, Untrusted};
use reedline::{
    Color, ColumnarMenu, Completer, CompletionResult, KeyCode, KeyModifiers, MenuBuilder, Reedline,
    ReedlineEvent, ReedlineMenu, Span, Suggestion, ValidationResult, Validator,
    default_emacs_keybindings,
};
use std::{
    path::PathBuf,
    sync::{Arc, mpsc as thread},
};
use tokio::sync::mpsc;

const MENU: &str = "completions";

/// A completion request of the editor.
pub(crate) struct Question {
    /// The code as it stands.
    pub(crate) code: String,
    /// Where the cursor is, in bytes.
    pub(crate) cursor: usize,
    /// Where the answer goes.
    pub(crate) reply: thread::Sender<Completions>,
}

/// One way in which a line could go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) value: String,
    pub(crate) help: Option<&'static str>,
    /// The part of the line that it replaces, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// An editor for prompts, which are kept in `history` without secrets. `offers` completes them.
pub(crate) fn prompts(
    history: PathBuf,
    redactor: Arc<Redactor>,
    offers: impl FnMut(&str, usize) -> Vec<Offer> + Send + 'static,
) -> Reedline {
    let editor = completing(Box::new(Offering(offers)));
    match PromptHistory::open(history, redactor) {
        Ok(history) => editor.with_history(Box::new(history)),
        Err(_) => editor,
    }
}

/// An editor for code. `indented` code goes on until a line is empty.
pub(crate) fn editor(asks: mpsc::UnboundedSender<Question>, indented: bool) -> Reedline {
    completing(Box::new(Asking(asks))).with_validator(Box::new(Whole { indented }))
}

/// An editor whose Tab key completes.
fn completing(completer: Box<dyn Completer + Send>) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = [ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete.into()));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let own = Color::Default;
    let menu = ColumnarMenu::default()
        .with_name(MENU)
        .with_text_style(own.normal())
        .with_selected_text_style(own.reverse())
        .with_description_text_style(own.dimmed())
        .with_match_text_style(own.underline())
        .with_selected_match_text_style(own.reverse().underline());
    in_own_colour()
        .with_edit_mode(Box::new(Careful::new(keys)))
        .with_completer(completer)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_quick_completions(true)
        .with_partial_completions(true)
}

struct Offering<F>(F);

impl<F: FnMut(&str, usize) -> Vec<Offer> + Send> Completer for Offering<F> {
    fn complete(&mut self, line: &str, cursor: usize) -> CompletionResult {
        let suggestion = |offer: Offer| Suggestion {
            // A folder goes on.
            append_whitespace: !offer.value.ends_with('/'),
            value: offer.value,
            description: offer.help.map(str::to_owned),
            span: Span::new(offer.start, offer.end),
            ..Suggestion::default()
        };
        let offers = (self.0)(line, cursor).into_iter();
        CompletionResult::fresh(offers.map(suggestion).collect::<Vec<_>>())
    }
}

struct Asking(mpsc::UnboundedSender<Question>);

impl Completer for Asking {
    fn complete(&mut self, line: &str, cursor: usize) -> CompletionResult {
        let (reply, answer) = thread::channel();
        let code = line.to_owned();
        let asked = self.0.send(Question { code, cursor, reply }).is_ok();
        // Whoever answers does so soon: there is a bound on how long a kernel may think.
        let found = if asked { answer.recv().unwrap_or_default() } else { Completions::default() };
        CompletionResult::fresh(suggestions(&found))
    }
}

fn suggestions(found: &Completions) -> Vec<Suggestion> {
    let plain = |text: &&Untrusted| text.for_terminal_line(usize::MAX) == text.raw();
    let shown = found.matches.iter().filter(plain);
    shown
        .map(|text| Suggestion {
            value: text.raw().to_owned(),
            span: Span::new(found.start, found.end),
            ..Suggestion::default()
        })
        .collect()
}

struct Whole {
    indented: bool,
}

impl Validator for Whole {
    fn validate(&self, code: &str) -> ValidationResult {
        if is_whole(code, self.indented) {
            ValidationResult::Complete
        } else {
            ValidationResult::Incomplete
        }
    }
}

/// Whether code can be whole as it stands. It is only a guess that saves keys: Alt-Enter makes a
/// new line anywhere, and what is not whole after all is the interpreter's to complain about.
fn is_whole(code: &str, indented: bool) -> bool {
    let last = code.rsplit('\n').next().unwrap_or_default();
    if last.trim_end().ends_with('\\') || open_brackets(code) > 0 {
        return false;
    }
    if !indented {
        return true;
    }
    let goes_on = last.starts_with([' ', '\t']) && !last.trim().is_empty();
    !goes_on && !last.trim_end().ends_with(':') && !(last.starts_with('@'))
}

/// How many brackets are open at the end, quotes left out.
fn open_brackets(code: &str) -> i32 {
    let (mut open, mut quote, mut escaped) = (0, None, false);
    for character in code.chars() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(until), _) if character == until || character == '\n' => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') => open -= 1,
            (Some(_) | None, _) => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_whole_when_nothing_is_open() {
        for (code, indented, whole) in [
            ("x = 1", true, true),
            ("f(1,", true, false),
            ("f(1,\n  2)", false, true),
            ("print('(')", true, true),
            ("it's (", true, true),
            ("for i in x:", true, false),
            ("for i in x:\n    print(i)", true, false),
            ("for i in x:\n    print(i)\n", true, true),
            ("if (x) {", false, false),
            ("echo a \\", false, false),
            ("case $x in a) echo;; esac", false, true),
            ("@decorator", true, false),
            ("", true, true),
        ] {
            assert_eq!(is_whole(code, indented), whole, "{code:?}");
        }
    }

    #[test]
    fn only_what_is_plainly_visible_is_suggested() {
        let matches = ["print", "\u{1b}[2J", "a\u{202e}b", "ä"].map(Untrusted::new).into();
        let found = Completions { start: 1, end: 2, matches };
        let values: Vec<_> = suggestions(&found).into_iter().map(|one| one.value).collect();
        assert_eq!(values, ["print", "ä"]);
    }
}
